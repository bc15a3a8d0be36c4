"""Evaluate models: metrics with intervals.

It takes labels and scores, predicted classes, a score per class, or a saved tally.

Example: tallymark evaluate scores.parquet --label y --score a,b --threshold f1 --by region
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import typer
from numpy.typing import NDArray

from tallymark import _check
from tallymark._check import Label
from tallymark.cli.evaluation_tables import Shown, print_evaluations, tests_of_groups
from tallymark.cli.options import (
    FILE_HELP,
    Called,
    ClusteredRowOptions,
    EngineOptions,
    LevelOrNone,
    MetricParameters,
    OptionGroup,
    Sampling,
    Scores,
    Seed,
    Threshold,
    WeightedRowOptions,
    column,
    columns,
    data_file,
    flag,
    names,
    number,
    number_or_text,
    text,
)
from tallymark.cli.output import ReportedOutput, progress_bar, shown_command
from tallymark.cli.predictions import panel_of_predictions
from tallymark.cli.reading import read_columns
from tallymark.cli.requirements import Require, Requirement, as_json, checks_of, end_unless_met, print_checks
from tallymark.errors import InputError, UnnamedColumnError, shown
from tallymark.evaluation.against import NotWorse, not_worse
from tallymark.evaluation.evaluate import evaluate
from tallymark.measures import Evaluations
from tallymark.metrics import headlines
from tallymark.notes import Note, emit
from tallymark.registry import METRICS
from tallymark.simple import without_simple
from tallymark.sources.columns import rows_by_group
from tallymark.sources.constructors import class_panel, confusion, is_saved, load
from tallymark.sources.formats import Wanted
from tallymark.sources.roles import OPTION, Roles
from tallymark.sources.rows import Rows
from tallymark.summaries.panel import Panel
from tallymark.summaries.private import private
from tallymark.summaries.score_notes import hard_labels_of
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally


@dataclass(frozen=True)
class Evaluated:
    """Evaluations, and what a report needs of the rows behind them."""

    evaluations: Evaluations
    #: None of predicted classes, and of probabilities of several.
    tallies: Tallies | None = None
    #: The same rows scored by several models, where a report compares them.
    panel: Panel | None = None
    #: Whether all models scored the same rows: columns of one file did, saved summaries do not say.
    same_rows: bool = True

    @property
    def notes(self) -> list[Note]:
        """Every note, each once."""
        of_scores = () if self.tallies is None else hard_labels_of(self.tallies)
        return list(dict.fromkeys([*of_scores, *self.evaluations.warnings]))


@dataclass(frozen=True)
class ColumnOptions(OptionGroup):
    """The columns of truth and predictions."""

    heading: ClassVar[str] = "Columns"

    label: Annotated[str | None, column("Column with the true class.", "class")] = None
    score: Scores = None
    predicted: Annotated[list[str] | None, columns("Columns with predicted classes, any number", "class")] = None
    probability: Annotated[
        list[str] | None, typer.Option(metavar="CLASS=COLUMN", help="Score column of a class, once per class.")
    ] = None
    by: Annotated[list[str] | None, columns("Evaluate each group of these columns")] = None


@dataclass(frozen=True)
class ScannedRowOptions(ClusteredRowOptions):
    """Which rows are read, and whether large files are quantised."""

    exact: Annotated[bool, flag("exact", "Never quantise scores, whatever the size.")] = False
    private: Annotated[
        int | None,
        number("K", "Put scores into bins of K rows of either class or more; groups with fewer are left out.", least=2),
    ] = None


@dataclass(frozen=True)
class MetricOptions(OptionGroup):
    """Which metrics, at which threshold."""

    heading: ClassVar[str] = "Metrics"

    metric: Annotated[list[str] | None, names("METRIC", "Only these metrics")] = None
    every: Annotated[bool, flag("all", "List every metric, not only the headline ones.")] = False
    threshold: Threshold = None
    called: Called = None
    classes: Annotated[list[str] | None, names("CLASS", "Averages are over these classes only")] = None
    prevalence: Annotated[float | None, number("SHARE", "Report metrics at this prevalence, not the sample's.")] = None
    require: Require = None
    against: Annotated[
        str | None, text("FILE", "End with status 1 unless shown to be not worse than this saved tally by the margin.")
    ] = None
    margin: Annotated[
        float, number("NUMBER", "With --against: a loss of the metric that would not matter.", least=0.0)
    ] = 0.0


@dataclass(frozen=True)
class IntervalOptions(OptionGroup):
    """How intervals are computed."""

    heading: ClassVar[str] = "Intervals"

    level: LevelOrNone = 0.95
    interval: Annotated[str, text("METHOD", "default (best for each metric), percentile or bca.")] = "default"
    sampling: Sampling = "plain"
    seed: Seed = 0


def run(
    file: Annotated[str, data_file("FILE", f"{FILE_HELP.removesuffix('.')}; or a saved tally.")],
    columns: ColumnOptions,
    rows: ScannedRowOptions,
    metrics: MetricOptions,
    parameters: MetricParameters,
    intervals: IntervalOptions,
    engine: EngineOptions,
    output: ReportedOutput,
) -> Evaluations:
    """Read, evaluate, write the report, print; gives back what was printed."""
    output.require_place(file)
    requirements = [Requirement.of(written) for written in metrics.require or ()]
    only_with_scores = {"cluster": rows.cluster, "exact": rows.exact, "private": rows.private}
    options = _options(metrics, parameters, intervals, requirements)
    if is_saved(file):
        _refuse(columns, replace(rows, private=None), engine, why="to read rows, and a saved summary has none")
        evaluated = _of_saved(file, options, rows.private)
    elif columns.label is None or sum(map(bool, (columns.score, columns.predicted, columns.probability))) != 1:
        raise UnnamedColumnError(
            "Say what to evaluate: --label COLUMN and --score COLUMN, --predicted COLUMN, "
            "or --probability CLASS=COLUMN for each class."
        )
    elif columns.score:
        everything = metrics.every or output.as_json or output.report is not None or bool(requirements)
        evaluated = _of_scores(
            file, columns, rows, engine, options, everything=everything, panel=output.report is not None
        )
    elif columns.predicted:
        _refuse(engine, why="only with --score", also=only_with_scores)
        evaluated = _of_predictions(file, columns, rows, options, panel=output.report is not None)
    else:
        _refuse(engine, why="only with --score", also=only_with_scores)
        _refuse(why="only with --score or --predicted", also={"pos_label": rows.pos_label, "by": columns.by})
        evaluated = _of_probabilities(file, columns, rows, options)
    if output.report is not None:
        _write_report(evaluated, file, output.report, options, rows.private)
    result = evaluated.evaluations
    checks = checks_of(requirements, ((", ".join(map(str, key)), one) for key, one in result.entries.items()))
    margins = _against(metrics, evaluated, options)
    if output.as_json:
        compared = {"against": [one.to_dict() for one in margins]} if margins else {}
        output.answer("evaluate", result.to_dict() | _tests(result) | as_json(checks) | compared, evaluated.notes)
    else:
        print_evaluations(result, Shown(file, metrics.metric or None, metrics.every), output)
        print_checks(checks, output)
        for one in margins:
            output.text(one.heading())
        output.notes(evaluated.notes)
        output.say_where()
    end_unless_met(checks)
    if any(not one.shown for one in margins):
        raise typer.Exit(1)
    return result


def _options(
    metrics: MetricOptions, parameters: MetricParameters, intervals: IntervalOptions, required: Sequence[Requirement]
) -> dict[str, Any]:
    """The options of ``tm.evaluate``; metrics that are required are evaluated too."""
    wanted = metrics.metric or None
    if wanted is not None:
        wanted = list(dict.fromkeys([*wanted, *(one.metric for one in required)]))
    return {
        "metrics": wanted,
        "threshold": metrics.threshold,
        "prevalence": metrics.prevalence,
        "classes": metrics.classes,
        "called": metrics.called,
        "level": intervals.level or None,
        "interval": intervals.interval,
        "sampling": intervals.sampling,
        "seed": intervals.seed,
        **parameters.given(),
    }


def _against(metrics: MetricOptions, evaluated: Evaluated, options: Mapping[str, Any]) -> list[NotWorse]:
    """Each model against the saved tally, by every metric that was named."""
    if metrics.against is None:
        if metrics.margin:
            raise InputError("--margin: only with --against.")
        return []
    tallies, saved = evaluated.tallies, load(metrics.against)
    if tallies is None or not isinstance(saved, Tally | Tallies):
        raise InputError("--against compares scores with a saved tally; this is neither.")
    if len(tallies.names) > tallies.by_model:
        raise InputError("--against compares models, not groups; leave out --by.")
    given = {"threshold": options["threshold"], "margin": metrics.margin, "level": options["level"] or 0.95}
    return [
        replace(not_worse(tally, _saved_of(saved, model), metric=metric, **given), name=str(model))
        for model, tally in tallies.items()
        for metric in metrics.metric or ["auroc"]
    ]


def _saved_of(saved: Tally | Tallies, model: str) -> Tally:
    """The saved tally of a model: the only one there is, or the one of its name."""
    if isinstance(saved, Tally):
        return saved
    if len(saved) == 1 and len(saved.names) == 1:
        return next(iter(saved.values()))
    if saved.names != ("model",) or model not in saved:
        raise InputError(f"--against has no tally of the model {model}; it has {shown(list(saved))}.")
    return saved[model]


def _tests(result: Evaluations) -> dict[str, Any]:
    """The test of each model's groups, where there are groups."""
    if len(result.names) <= result.by_model:
        return {}
    return {"heterogeneity": [{"model": str(model), **test.to_dict()} for model, test in tests_of_groups(result)]}


def _refuse(*groups: Any, why: str, also: Mapping[str, Any] | None = None) -> None:
    """Refuse options that would have no effect."""
    given = {name: value for group in groups for name, value in vars(group).items()} | dict(also or {})
    if used := [f"--{name.replace('_', '-')}" for name, value in given.items() if value]:
        raise InputError(f"{', '.join(used)}: {why}.")


def _of_saved(file: str, options: Mapping[str, Any], least: int | None) -> Evaluated:
    """A saved summary, or several."""
    saved = load(file)
    if least is not None:
        if not isinstance(saved, Tally | Tallies | Panel):
            raise InputError("--private: only with --score, or a saved tally.")
        saved = private(saved, least)
    tallies = Tallies(("model",), {(file,): saved}) if isinstance(saved, Tally) else saved
    if isinstance(tallies, Tallies):
        emit(hard_labels_of(tallies))
    result = evaluate(saved, **options)
    evaluations = result if isinstance(result, Evaluations) else Evaluations(("model",), {(file,): result})
    if not isinstance(tallies, Tallies):
        return Evaluated(evaluations)
    return Evaluated(evaluations, tallies, same_rows=len(tallies) == 1)


def _of_scores(
    file: str,
    columns: ColumnOptions,
    rows: ScannedRowOptions,
    engine: EngineOptions,
    options: dict[str, Any],
    *,
    everything: bool,
    panel: bool,
) -> Evaluated:
    """Scores of two classes; with `panel`, the rows are kept so that a report can compare the models."""
    scores, groups = columns.score or [], columns.by or []
    roles = Roles(
        label=columns.label,
        scores=tuple(scores),
        by=tuple(groups),
        weight=rows.weight,
        count=rows.count,
        cluster=rows.cluster,
        pos_label=rows.pos_label,
        spelling=OPTION,
    )
    cut = number_or_text(options["threshold"] or "")
    with progress_bar(f"Reading {file}") as progress:
        described = Rows(
            paths=file,
            roles=roles,
            where=rows.where,
            drop_missing=rows.drop_missing,
            memory_limit=engine.memory_limit,
            threads=engine.threads,
            progress=progress,
        )
        with described.open() as table:
            tallies = table.tallies(
                exact=rows.exact or None, thresholds=[0.5, *([cut] if isinstance(cut, float) else [])]
            )
            together = panel and len(scores) > 1 and not groups and table.small
            same_rows = table.panel() if together else None
    if rows.private is not None:
        tallies, same_rows = private(tallies, rows.private), same_rows and private(same_rows, rows.private)
    emit(hard_labels_of(tallies))
    if options["metrics"] is None and not everything:
        # Only what will be shown: intervals of the rest would be computed for nothing.
        probabilities = all(tally.is_probability for tally in tallies.values())
        headline = headlines.BY_GROUP if groups else headlines.TABLE
        shown_metrics = [name for name in headline if probabilities or METRICS[name].needs != "probabilities"]
        options = options | {"metrics": shown_metrics}
    with progress_bar(f"Evaluating {file}") as progress:
        return Evaluated(evaluate(tallies, **options, progress=progress), tallies, same_rows)


def _of_predictions(
    file: str, columns: ColumnOptions, rows: ScannedRowOptions, options: Mapping[str, Any], *, panel: bool
) -> Evaluated:
    """Predicted classes, any number of them; with `panel`, two classes are kept so that a report can compare."""
    label, predicted, groups = columns.label or "", columns.predicted or [], columns.by or []
    _refuse_two_masses(rows)
    data = read_columns(file, rows, columns)
    for name in predicted:
        _check.require_shared_label(data[label], data[name], label, name)
    classes = _classes([data[name] for name in (label, *predicted)], [label, *predicted])
    parts = rows_by_group([_check.groups(data[name], name) for name in groups]) if groups else [((), slice(None))]
    matrices = {
        (name, *key): confusion(
            data[label][part], data[name][part], pos_label=rows.pos_label, classes=classes, **_masses(data, rows, part)
        )
        for name in predicted
        for key, part in parts
    }
    options = _with_known(options, classes)
    evaluations = {key: evaluate(matrix, **options) for key, matrix in matrices.items()}
    same_rows = None
    if panel and len(predicted) > 1 and not groups and len(classes) == 2:
        same_rows = panel_of_predictions(data, label, predicted, rows)
    return Evaluated(Evaluations(("model", *groups), evaluations, by_model=True), panel=same_rows)


def _classes(columns: Sequence[NDArray[Any]], columns_named: Sequence[str]) -> list[Label]:
    """The classes of all rows: a group may lack one, and is still a part of the same table."""
    present = {
        value
        for column, name in zip(columns, columns_named, strict=True)
        for value in _check.distinct(_check.labels(column, name), name)
    }
    # Numbers before texts: a column of labels may be of either kind.
    return sorted(present, key=lambda value: (isinstance(value, str), value))


def _of_probabilities(
    file: str, columns: ColumnOptions, rows: ScannedRowOptions, options: Mapping[str, Any]
) -> Evaluated:
    """One score per class."""
    label = columns.label or ""
    pairs = [class_and_column(written) for written in columns.probability or ()]
    _refuse_two_masses(rows)
    data = read_columns(file, rows, columns, more=[Wanted(name, "--probability", "number") for _, name in pairs])
    present = _check.distinct(_check.labels(data[label], label), label)
    by_text = {str(value): value for value in present}
    # A class that has a column but no rows is known by its text alone.
    classes = [by_text.get(name, name) for name, _ in pairs]
    if absent := [value for value in present if value not in classes]:
        raise InputError(f"No --probability column for the class {shown(absent)}; give CLASS=COLUMN for every class.")
    matrix = np.column_stack([_check.scores(data[name], name) for _, name in pairs])
    panel = class_panel(data[label], matrix, classes=classes, **_masses(data, rows))
    return Evaluated(Evaluations(("model",), {("probability",): evaluate(panel, **_with_known(options, classes))}))


def _with_known(options: Mapping[str, Any], classes: Sequence[Label]) -> Mapping[str, Any]:
    """The options, with the classes to average over as they are in the data, where they may be numbers."""
    named = options["classes"]
    by_text = {str(label): label for label in classes}
    return {**options, "classes": None if named is None else [by_text.get(name, name) for name in named]}


def _refuse_two_masses(rows: WeightedRowOptions) -> None:
    if rows.weight is not None and rows.count is not None:
        raise InputError("Give --weight (survey weights) or --count (repeated rows), not both.")


def _masses(data: Mapping[str, NDArray[Any]], rows: WeightedRowOptions, part: Any = slice(None)) -> dict[str, Any]:
    return {
        "counts": None if rows.count is None else data[rows.count][part],
        "weights": None if rows.weight is None else data[rows.weight][part],
    }


def class_and_column(written: str) -> tuple[str, str]:
    """The two parts of CLASS=COLUMN."""
    name, equals, column_name = written.partition("=")
    if not equals or not name or not column_name:
        raise InputError(f"--probability {written!r}: write CLASS=COLUMN, e.g. --probability cat=p_cat.")
    return name, column_name


def _write_report(evaluated: Evaluated, file: str, path: str, options: Mapping[str, Any], least: int | None) -> None:
    from tallymark.reporting.of_classes import compared_predictions, of_classes
    from tallymark.reporting.of_groups import of_groups
    from tallymark.reporting.of_models import compared, of_models
    from tallymark.reporting.pages import write

    title, panel, tallies = Path(file).name, evaluated.panel, evaluated.tallies
    with progress_bar(f"Writing {path}") as progress:
        entries = {", ".join(map(str, key)): one for key, one in evaluated.evaluations.entries.items()}
        if tallies is None:
            comparisons = () if panel is None else compared_predictions(panel, options["level"] or 0.95)
            content = of_classes(entries, title=title, comparisons=comparisons)
        elif len(tallies.names) > tallies.by_model:
            content = of_groups(tallies, evaluated.evaluations, options, title=title, notes=evaluated.notes)
        else:
            level, sampling = options["level"] or 0.95, options["sampling"]
            content = of_models(
                {", ".join(map(str, key)): tally for key, tally in tallies.entries.items()},
                entries,
                title=title,
                same_rows=evaluated.same_rows,
                comparisons=() if panel is None else compared(panel, entries, level, sampling),
                simple=None if panel is None or least is not None else without_simple(panel),
                notes=evaluated.notes,
            )
        write(
            replace(content, private=least), path, progress, command=shown_command(), files=[file], seed=options["seed"]
        )
