"""``tallymark evaluate``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._numbers import amount, equals_p, number, per_cent, with_limits
from tallymark.cli.commands.requirements import Requirement, require_all
from tallymark.cli.naming import listed
from tallymark.cli.printing import (
    masses_wanted,
    positive_label,
    print_json,
    print_notes,
    print_table,
    print_text,
    print_written,
    progress_bar,
    require_report_place,
    shown_command,
    table,
)
from tallymark.decide.verdicts import most_confused
from tallymark.errors import InputError, shown
from tallymark.evaluation.evaluate import evaluate
from tallymark.evaluation.request import Progress
from tallymark.inference.hypothesis_tests.heterogeneity import Heterogeneity, heterogeneity
from tallymark.measures import Evaluation, Evaluations, Measure
from tallymark.metrics.averages import CLASS_METRICS
from tallymark.notes import Note, emit
from tallymark.registry import METRICS
from tallymark.simple import without_simple
from tallymark.sources.columns import rows_by_group
from tallymark.sources.constructors import class_panel, confusion, is_saved, load
from tallymark.sources.files import read_files
from tallymark.sources.formats import Wanted
from tallymark.sources.roles import OPTION, Roles
from tallymark.sources.rows import Rows
from tallymark.summaries.confusion import Confusion
from tallymark.summaries.guards import hard_labels, hard_labels_of
from tallymark.summaries.panel import Panel
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally

#: What a first look needs, in the order it is read.
_HEADLINE = (
    "auroc", "average_precision", "h_measure", "spcc",
    "accuracy", "balanced_accuracy", "precision", "recall", "specificity", "f1", "mcc",
    "brier", "ece", "bias", "positive_estimate", "predicted_prevalence",
)  # fmt: skip
_BY_GROUP = ("auroc", "average_precision", "f1")

#: Classes listed when there are many: those with the lowest F1.
_WORST = 15


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
        tests = {"heterogeneity": [{"model": str(model), **test.to_dict()} for model, test in _tests(result)]} if len(result.names) > result.by_model else {}  # fmt: skip
        print_json("evaluate", result.to_dict() | tests, notes)
    else:
        _print(result, asked)
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
    wanted = [*_columns(asked, asked.label), *(Wanted(name, "--predicted") for name in asked.predicted)]
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
    positive = positive_label(columns, asked.label, asked.pos_label)
    # The classes of all rows: a group may lack one, and is still a part of the same table.
    classes = sorted(
        {
            *(
                value
                for name in (asked.label, *asked.predicted)
                for value in _check.distinct(_check.labels(columns[name], name), name)
            )
        }
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
    return [Wanted(label, "--label"), *masses_wanted(asked.weight, asked.count)]


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
                for name in (_BY_GROUP if groups else _HEADLINE)
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


def _print(result: Evaluations, asked: Asked) -> None:
    file, metrics, every = asked.file, asked.metrics, asked.every
    first = next(iter(result.values()))
    if len(result.names) > 1:
        print_table(_group_table(result, asked))
        _say(first)
        for line in _differ(result):
            print_text(line, "dim", indent="  ")
        for reason in _reasons(result, asked):
            print_text(reason, "dim", indent="  ")
        return
    if first.per_class:
        for name, evaluation in result.items():
            print_table(
                _value_table(
                    f"{file}: {name}, {evaluation.size()}, {len(evaluation.per_class)} classes",
                    {name: evaluation},
                    list(evaluation),
                )
            )
            if len(evaluation.per_class) == 2:
                print_text("Two classes: say --pos-label to see precision, recall and F1 of the positive one.", "dim")
            if evaluation.confusion is not None:
                _print_matrix(evaluation.confusion)
                print_table(_class_table(evaluation, evaluation.confusion, every=every))
        return
    lens = "" if first.prevalence is None else f", seen at prevalence {number(first.prevalence)}"
    title = f"{file}: {first.size()}{lens}"
    names = list(first) if every or metrics else [name for name in _HEADLINE if name in first]
    print_table(_value_table(title, dict(result), names))
    _say(first)
    if len(result) > 1:
        undefined = (e[name].reason for e in result.values() for name in names)
        reasons = [reason for reason in dict.fromkeys(undefined) if reason is not None]
        for line in (*reasons, "`tallymark metrics NAME` says what a metric means."):
            print_text(line, "dim", indent="  ")


def _say(first: Evaluation) -> None:
    """What the numbers in brackets are, and what choosing the threshold on the same rows did."""
    if first.intervals is None:
        return
    hint = "; for class sizes fixed by design add --sampling stratified" if first.sampling == "plain" else ""
    hint = "" if first.prevalence is not None else hint
    print_text(f"In brackets: {first.intervals}{hint}.", "dim", indent="  ")
    if first.policy is not None and any(measure.optimism is not None for measure in first.values()):
        print_text(
            f"The threshold was chosen on these rows ({first.policy}): values at it are too good by about their "
            "optimism (--json), and their intervals allow for it.",
            "dim",
            indent="  ",
        )


def _value_table(title: str, evaluations: dict[str, Evaluation], names: Sequence[str]) -> Any:
    """Metrics down, models across; one model alone leaves room for what each metric means."""
    alone = len(evaluations) == 1
    bounded = any(e[name].bound for e in evaluations.values() for name in names)
    heads: list[tuple[Any, ...]] = [
        ("metric", "left"),
        *(("value" if alone else name, "right") for name in evaluations),
        ("chance", "right", True),
    ]
    heads += [*([("bound", "right")] if bounded else []), *([("what it means", "prose")] if alone else [])]
    rows = []
    if any(e.threshold is not None for e in evaluations.values()):
        thresholds = [number(e.threshold) + (f" ({e.policy})" if e.policy else "") for e in evaluations.values()]
        meaning = "score from which a row is predicted positive"
        rows.append(["threshold", *thresholds, "", *([""] if bounded else []), *([meaning] if alone else [])])
    for name in names:
        measures = [e[name] for e in evaluations.values()]
        classes = any(e.per_class for e in evaluations.values())
        meaning = (
            measures[0].reason
            or (CLASS_METRICS[name].meaning if classes and name in CLASS_METRICS else None)
            or METRICS[name].meaning
        )
        rows.append([name, *map(_with_interval, measures), _same(measures),
                     *([_bounds(measures)] if bounded else []), *([meaning] if alone else [])])  # fmt: skip
    return table(title, heads, rows)


def _with_interval(measure: Measure) -> str:
    return number(measure.value) if measure.interval is None else with_limits(measure.value, *measure.interval)


def _same(measures: Sequence[Measure]) -> str:
    levels = [m.chance for m in measures if m.chance is not None]
    if not levels:
        return ""
    return number(levels[0]) if np.allclose(levels, levels[0], rtol=1e-9) else " / ".join(map(number, levels))


def _bounds(measures: Sequence[Measure]) -> str:
    """How far the value can be off on either side."""
    off = [max(m.value - m.bound[0], m.bound[1] - m.value) for m in measures if m.bound]
    return f"±{max(off):.1g}" if off and max(off) > 0 else "exact"


#: Classes up to which the matrix is printed; of more, the most frequent confusions.
_MATRIX = 12


def _print_matrix(matrix: Confusion) -> None:
    labels = [str(label) for label in matrix.labels]
    if len(labels) <= _MATRIX:
        rows = [[label, *map(amount, line)] for label, line in zip(labels, matrix.matrix.tolist(), strict=True)]
        heads = [("truth \\ predicted", "left"), *((label, "right") for label in labels)]
        print_table(table("Confusion matrix", heads, rows))
        return
    lines = [[truth, call, amount(n), per_cent(share)] for truth, call, n, share in most_confused(matrix)]
    heads = [("truth", "left"), ("predicted", "left"), ("rows", "right"), ("of the true class", "right")]
    print_table(table("Most frequent confusions", heads, lines))


def _class_table(evaluation: Evaluation, matrix: Confusion, *, every: bool) -> Any:
    # A class whose F1 is undefined has neither rows nor predictions and comes last.
    rows = sorted(evaluation.per_class.items(), key=lambda item: np.nan_to_num(item[1]["f1"].value, nan=2.0))
    listed = rows if every else rows[:_WORST]
    sizes = dict(zip(map(str, matrix.labels), matrix.truth.tolist(), strict=True))
    names = list(rows[0][1])
    hidden = len(rows) - len(listed)
    title = "By class, lowest F1 first" + (f" ({hidden} more with --all)" if hidden else "")
    return table(
        title,
        [("class", "left"), ("n", "right"), *((name, "right") for name in names)],
        [
            [label, number(sizes[label]), *(_with_interval(measures[name]) for name in names)]
            for label, measures in listed
        ],
    )


def _group_table(result: Evaluations, asked: Asked) -> Any:
    names = _group_metrics(result, asked)
    cuts = {e.threshold for e in result.values()}
    policy = next(iter(result.values())).policy
    said = (
        ""
        if cuts == {None}
        else f", threshold {number(next(iter(cuts)))}"
        if len(cuts) == 1
        else f", threshold by {policy} in each"
    )
    heads = [*((name, "left") for name in result.names), ("n", "right"), ("positive", "right")]
    heads += [("threshold", "right")] if len(cuts) > 1 else []
    rows = [
        [
            *map(str, key),
            number(e.n),
            number(e.positives),
            *([number(e.threshold)] if len(cuts) > 1 else []),
            *(_with_interval(e[name]) for name in names),
        ]
        for key, e in result.entries.items()
    ]
    return table(f"{asked.file} by {', '.join(result.names[1:])}{said}", [*heads, *((n, "right") for n in names)], rows)


def _tests(result: Evaluations) -> list[tuple[str, Heterogeneity]]:
    """Cochran's test of each model's groups; none where too few are large enough."""
    models: dict[str, dict[Any, Evaluation]] = {}
    for key, one in result.entries.items():
        models.setdefault(str(key[0]) if result.by_model else "model", {})[key] = one
    found = []
    for model, own in models.items():
        try:
            found.append((model, heterogeneity(own, "auroc")))
        except InputError:
            continue
    return found


def _differ(result: Evaluations) -> list[str]:
    """Whether each model's groups differ by more than chance explains."""
    lines = []
    tests = _tests(result)
    for model, found in tests:
        whose = f"{model}: " if len(tests) > 1 else ""
        said = "differs between groups by more than chance explains" if found.p_value < 1.0 - _LEVEL else "is not shown to differ between groups"  # fmt: skip
        lines.append(f"{whose}AUROC {said} (Cochran's Q over {len(found.groups)} groups, {equals_p(found.p_value)}).")
    return lines


#: Level at which groups are said to differ.
_LEVEL = 0.95


def _group_metrics(result: Evaluations, asked: Asked) -> list[str]:
    first = next(iter(result.values()))
    return [METRICS[name].name for name in asked.metrics or (first if asked.every else _BY_GROUP) if name in first]


def _reasons(result: Evaluations, asked: Asked) -> list[str]:
    """Why values of the group table are undefined, each reason once."""
    names = _group_metrics(result, asked)
    items = (
        f"{', '.join(map(str, key))}: {evaluation[name].reason}"
        for key, evaluation in result.entries.items()
        for name in names
        if evaluation[name].reason
    )
    return list(dict.fromkeys(items))
