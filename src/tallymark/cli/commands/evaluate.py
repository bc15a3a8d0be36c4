"""``tallymark evaluate``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tallymark import _check
from tallymark.cli.commands.evaluated import print_evaluations, tests_of_groups
from tallymark.cli.commands.requirements import Requirement, require_all
from tallymark.cli.naming import listed
from tallymark.cli.printing import (
    masses_wanted,
    positive_label,
    print_json,
    print_notes,
    print_written,
    progress_bar,
    require_report_place,
    shown_command,
)
from tallymark.errors import InputError, shown
from tallymark.evaluation.evaluate import evaluate
from tallymark.evaluation.request import Progress
from tallymark.measures import Evaluations
from tallymark.metrics import headlines
from tallymark.notes import Note, emit
from tallymark.registry import METRICS
from tallymark.simple import without_simple
from tallymark.sources.columns import rows_by_group
from tallymark.sources.constructors import class_panel, confusion, is_saved, load
from tallymark.sources.files import read_files
from tallymark.sources.formats import Wanted
from tallymark.sources.roles import OPTION, Roles
from tallymark.sources.rows import Rows
from tallymark.summaries.panel import Panel
from tallymark.summaries.score_notes import hard_labels, hard_labels_of
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally


@dataclass(frozen=True)
class Asked:
    """What the command line asked for."""

    file: str
    label: str | None
    scores: Sequence[str] = ()
    predicted: Sequence[str] = ()
    probabilities: Sequence[str] = ()
    pos_label: str | None = None
    weight: str | None = None
    count: str | None = None
    cluster: str | None = None
    by: Sequence[str] = ()
    where: str | None = None
    threshold: str | None = None
    prevalence: float | None = None
    level: float | None = 0.95
    interval: str = "default"
    sampling: str = "plain"
    seed: int = 0
    metrics: Sequence[str] | None = None
    require: Sequence[str] = ()
    exact: bool | None = None
    drop_missing: bool = False
    memory_limit: str | None = None
    threads: int | None = None
    every: bool = False
    strict: bool = False
    as_json: bool = False
    report: str | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)


@dataclass
class _Read:
    """What a report needs of the rows beside the evaluations."""

    #: None where there are predicted classes, or probabilities of several.
    tallies: Tallies | None = None
    panel: Panel | None = None
    #: Whether all models scored the same rows: columns of one file did, saved summaries do not say.
    same_rows: bool = True


def run(asked: Asked) -> Evaluations:
    """Read, evaluate, print, write the report; gives back what was printed."""
    require_report_place(asked.report, asked.file)
    required = [Requirement.of(text) for text in asked.require]
    options: dict[str, Any] = {
        "metrics": asked.metrics
        if asked.metrics is None
        else [*asked.metrics, *(one.metric for one in required if one.metric not in asked.metrics)],
        "threshold": asked.threshold,
        "prevalence": asked.prevalence,
        "level": asked.level,
        "interval": asked.interval,
        "sampling": asked.sampling,
        "seed": asked.seed,
        "strict": asked.strict,
        **asked.parameters,
    }
    read = _Read()
    result = _evaluate(asked, options, read)
    met = [note for key, tally in _entries(read.tallies) for note in hard_labels(tally, str(key[0]))]
    notes = list(dict.fromkeys([*met, *result.warnings]))
    if asked.report is not None:
        with progress_bar(f"Writing {asked.report}") as progress:
            _report(asked, result, read, notes, options, progress)
    if asked.as_json:
        tests = {"heterogeneity": [{"model": str(model), **test.to_dict()} for model, test in tests_of_groups(result)]} if len(result.names) > result.by_model else {}  # fmt: skip
        print_json("evaluate", result.to_dict() | tests, notes)
    else:
        print_evaluations(result, asked)
        print_notes(notes)
        print_written(asked.report)
    require_all(required, result)
    return result


def _report(
    asked: Asked,
    result: Evaluations,
    read: _Read,
    notes: Sequence[Note],
    options: Mapping[str, Any],
    progress: Progress | None,
) -> None:
    from tallymark.reporting.of_classes import of_classes
    from tallymark.reporting.of_groups import of_groups
    from tallymark.reporting.of_models import compared, of_models
    from tallymark.reporting.pages import write

    title = Path(asked.file).name
    entries = {", ".join(map(str, key)): one for key, one in result.entries.items()}
    if read.tallies is None:
        content = of_classes(entries, title=title)
    elif len(read.tallies.names) > read.tallies.by_model:
        content = of_groups(read.tallies, result, options, title=title, notes=notes)
    else:
        tallies = {", ".join(map(str, key)): tally for key, tally in read.tallies.entries.items()}
        panel = read.panel
        content = of_models(
            tallies,
            entries,
            title=title,
            same_rows=read.same_rows,
            comparisons=() if panel is None else compared(panel, entries, asked.level or 0.95, asked.sampling),
            simple=None if panel is None else without_simple(panel),
            notes=notes,
        )
    write(content, asked.report or "", progress, command=shown_command(), seed=asked.seed)


def _entries(tallies: Tallies | None) -> Iterable[tuple[tuple[Any, ...], Tally]]:
    return () if tallies is None else tallies.entries.items()


def _evaluate(asked: Asked, options: dict[str, Any], read: _Read) -> Evaluations:
    """Evaluate what was asked for; leaves behind what a report needs of the rows."""
    if is_saved(asked.file):
        return _of_saved(asked, options, read)
    if asked.label is None or sum(map(bool, (asked.scores, asked.predicted, asked.probabilities))) != 1:
        raise InputError(
            "Say what to evaluate: --label COLUMN and --score COLUMN, --predicted COLUMN, "
            "or --probability CLASS=COLUMN for each class."
        )
    if asked.weight is not None and asked.count is not None:
        raise InputError("Give --weight (survey weights) or --count (repeated rows), not both.")
    groups = listed(asked.by)
    if asked.scores:
        return _of_scores(asked, asked.label, groups, options, read)
    _refuse(asked, "only with --score", "where", "cluster", "drop_missing", "exact", "memory_limit", "threads")
    pairs = [class_and_column(text) for text in asked.probabilities]
    wanted = [*_columns(asked, asked.label), *(Wanted(name, "--predicted", "class") for name in asked.predicted)]
    wanted += [Wanted(name, "--probability", "number") for _, name in pairs] + [Wanted(name, "--by") for name in groups]
    columns = read_files(asked.file, wanted)
    masses: dict[str, Any] = {
        "counts": None if asked.count is None else columns[asked.count],
        "weights": None if asked.weight is None else columns[asked.weight],
    }
    if pairs:
        _refuse(asked, "only with --score or --predicted", "pos_label", "by")
        scored = evaluate(_class_panel(columns, asked.label, pairs, masses), **options)
        return Evaluations(("model",), {("probability",): scored})
    for name in asked.predicted:
        _check.require_shared_label(columns[asked.label], columns[name], asked.label, name)
    positive = positive_label(columns, asked.label, asked.pos_label)
    # The classes of all rows: a group may lack one, and is still a part of the same table.
    classes = sorted(
        {
            *(
                value
                for name in (asked.label, *asked.predicted)
                for value in _check.distinct(_check.labels(columns[name], name), name)
            )
        },
        # Numbers before texts: a column of labels may be of either kind.
        key=lambda value: (isinstance(value, str), value),
    )
    parts = {
        (name, *key): confusion(
            columns[asked.label][rows], columns[name][rows], pos_label=positive, classes=classes,
            **{kind: None if mass is None else mass[rows] for kind, mass in masses.items()},
        )
        for name in asked.predicted
        for key, rows in (rows_by_group([_check.groups(columns[one], one) for one in groups]) if groups else [((), slice(None))])
    }  # fmt: skip
    return Evaluations(
        ("model", *groups), {key: evaluate(part, **options) for key, part in parts.items()}, by_model=True
    )


def _of_saved(asked: Asked, options: dict[str, Any], read: _Read) -> Evaluations:
    """A saved summary knows its rows already: options that name columns have nothing to say."""
    named = ("label", "scores", "predicted", "probabilities", "pos_label", "weight", "count", "cluster", "by", "where")
    _refuse(
        asked, "to read rows, and a saved summary has none", *named, "drop_missing", "exact", "memory_limit", "threads"
    )
    saved = load(asked.file)
    if isinstance(saved, Tally):
        read.tallies = Tallies(("model",), {(asked.file,): saved})
    elif isinstance(saved, Tallies):
        read.tallies = saved
        read.same_rows = len(saved) == 1
    for key, tally in _entries(read.tallies):
        emit(hard_labels(tally, ", ".join(map(str, key))), strict=asked.strict)
    evaluated = evaluate(saved, **options)
    return evaluated if isinstance(evaluated, Evaluations) else Evaluations(("model",), {(asked.file,): evaluated})


#: Options whose name on the command line is not that of what they fill.
_SPELLED = {"scores": "score", "probabilities": "probability"}


def _refuse(asked: Asked, why: str, *fields: str) -> None:
    """Refuse options that would do nothing."""
    used = [f"--{_SPELLED.get(name, name).replace('_', '-')}" for name in fields if getattr(asked, name)]
    if used:
        raise InputError(f"{', '.join(used)}: {why}.")


def _columns(asked: Asked, label: str) -> list[Wanted]:
    """Columns every way of evaluating may name."""
    return [Wanted(label, "--label", "class"), *masses_wanted(asked.weight, asked.count)]


def _of_scores(asked: Asked, label: str, groups: Sequence[str], options: dict[str, Any], read: _Read) -> Evaluations:
    roles = Roles(
        label=label,
        scores=tuple(asked.scores),
        by=tuple(groups),
        weight=asked.weight,
        count=asked.count,
        cluster=asked.cluster,
        spelling=OPTION,
    )
    with progress_bar(f"Reading {asked.file}") as progress:
        rows = Rows(
            paths=asked.file,
            roles=roles,
            where=asked.where,
            drop_missing=asked.drop_missing,
            memory_limit=asked.memory_limit,
            threads=asked.threads,
            progress=progress,
        )
        with rows.open() as table:
            table.choose_positive(asked.pos_label)
            tallies = table.tallies(exact=asked.exact, thresholds=[0.5, *_numbers(asked.threshold)])
            # The same rows side by side: which model is better, and what every model gets right.
            together = asked.report is not None and len(asked.scores) > 1 and not groups and table.small
            panel = table.panel() if together else None
    emit(hard_labels_of(tallies), strict=asked.strict)
    read.panel = panel
    read.tallies = tallies
    if asked.metrics is None and not asked.every and not asked.as_json and asked.report is None and not asked.require:
        # Only what will be shown: intervals of the rest would be computed for nothing.
        probabilities = all(tally.is_probability for tally in tallies.values())
        options = options | {
            "metrics": [
                name
                for name in (headlines.BY_GROUP if groups else headlines.TABLE)
                if probabilities or METRICS[name].needs != "probabilities"
            ]
        }
    with progress_bar(f"Evaluating {asked.file}") as progress:
        evaluations: Evaluations = evaluate(tallies, **options, progress=progress)
    return evaluations


def _numbers(threshold: str | None) -> list[float]:
    try:
        return [] if threshold is None else [float(threshold)]
    except ValueError:
        return []


def _class_panel(columns: Any, label: str, pairs: Sequence[tuple[str, str]], masses: Any) -> Any:
    present = _check.distinct(_check.labels(columns[label], label), label)
    by_text = {str(value): value for value in present}
    # A class that has a column but no rows is known by its text alone.
    classes = [by_text.get(name, name) for name, _ in pairs]
    absent = [value for value in present if value not in classes]
    if absent:
        raise InputError(f"No --probability column for the class {shown(absent)}; give CLASS=COLUMN for every class.")
    matrix = np.column_stack([_check.scores(columns[name], name) for _, name in pairs])
    return class_panel(columns[label], matrix, classes=classes, **masses)


def class_and_column(text: str) -> tuple[str, str]:
    """The two parts of CLASS=COLUMN."""
    name, equals, column = text.partition("=")
    if not equals or not name or not column:
        raise InputError(f"--probability {text!r}: write CLASS=COLUMN, e.g. --probability cat=p_cat.")
    return name, column
