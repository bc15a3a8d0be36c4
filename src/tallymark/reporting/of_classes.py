"""Report on predictions of K classes, or on a score per class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tallymark import charts
from tallymark._numbers import amount, counted, per_cent
from tallymark.comparison.compare import compare
from tallymark.comparison.results import Comparison
from tallymark.decisions.verdicts import alarms, most_confused
from tallymark.evaluation.evaluate import evaluate
from tallymark.measures import SAMPLED, Evaluation, Measure
from tallymark.metrics import headlines
from tallymark.registry import METRICS
from tallymark.reporting.builders import ReportRequest, contents
from tallymark.reporting.methods import of_evaluations
from tallymark.reporting.of_comparison import compared_section
from tallymark.reporting.page_model import (
    Bar,
    Cell,
    Content,
    Fold,
    Line,
    Remark,
    Section,
    Table,
    label_of,
    measured,
    metric_tables,
    once,
)
from tallymark.reporting.sentences import (
    at_level,
    comparison_headline,
    comparison_sentences,
    found,
    measure_text,
    named,
    with_shares,
)
from tallymark.summaries.confusion import BinaryConfusion, Confusion
from tallymark.summaries.panel import Panel


@contents("Confusion", "ClassScores", "ClassPanel", uses=("level", "sampling"))
def _of_data(named_: Mapping[str, Any], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    """The report on classes, evaluated first."""
    evaluations = {name: evaluate(one, level=request.level, sampling=request.sampling) for name, one in named_.items()}
    return of_classes(evaluations, title=request.title or "Evaluation of a classifier")


def compared_predictions(panel: Panel, level: float) -> list[Comparison]:
    """Comparisons of predictions of two classes by the metrics that the page leads with."""
    return [compare(panel, metric=metric, threshold=0.5, level=level) for metric in _OF_TWO[:3]]


def of_classes(evaluations: Mapping[str, Evaluation], *, title: str, comparisons: Sequence[Comparison] = ()) -> Content:
    """The report on predictions of K classes, or on a score per class."""
    sections = [compared_section(one) for one in comparisons]
    several = len(evaluations) > 1
    for name, one in evaluations.items():
        of = f": {name}" if several else ""
        if one.confusion is not None:
            sections.append(_matrix(one.confusion, of, one, name if several else None))
        if one.per_class:
            sections.append(_by_class(one, of))
    sections.append(Section("All metrics", "A click on a name explains it.", (), metric_tables(evaluations)))
    first = next(iter(evaluations.values()))
    wanted = _OF_TWO if isinstance(first.confusion, BinaryConfusion) else headlines.CLASSES
    leading = [name for name in wanted if name in first][:4]
    headline = _headline(first)
    if comparisons:
        headline = comparison_headline(comparisons[0])
    elif several:
        headline = f"{len(evaluations)} classifiers, not tested against each other."
    lines = [
        Line(name, [_bar(one, metric) for metric in leading if metric in one], place)
        for place, (name, one) in enumerate(evaluations.items())
    ]
    return Content(
        title,
        _described(first),
        [
            *(sentence for one in comparisons[:1] for sentence in comparison_sentences(one)),
            *[_sentence(name if several else "", one, leading) for name, one in evaluations.items()][:3],
        ],
        once([Remark.of(note) for one in evaluations.values() for note in one.warnings]),
        sections,
        headline=headline,
        lines=lines,
        methods=of_evaluations(evaluations, leading, comparisons),
    )


#: Metrics that lead a page on predictions of two classes.
_OF_TWO = ("balanced_accuracy", "recall", "precision", "mcc")


def _bar(one: Evaluation, metric: str) -> Bar:
    return Bar.of(one[metric]) if metric in METRICS else Bar(label_of(metric), "", measure_text(one[metric]))


def _described(one: Evaluation) -> list[str]:
    parts = [counted(one.n_rows, "row")]
    parts += [f"weight {amount(float(one.n))}"] if one.weighted else []
    parts += [] if one.confusion is None else [f"{len(one.confusion.labels)} classes"]
    parts.append(SAMPLED[one.sampling])
    return [*parts, *at_level(one.level)]


def _headline(one: Evaluation) -> str:
    if one.confusion is None:
        return ""
    hits = float(np.trace(one.confusion.matrix))
    return (
        f"{amount(hits)} of {amount(float(one.n))} rows are classified as they are ({per_cent(hits / float(one.n))})."
    )


def _sentence(name: str, one: Evaluation, leading: list[str]) -> str:
    counts = alarms(one) if isinstance(one.confusion, BinaryConfusion) else None
    if counts is not None:
        return with_shares(found(name or "It", one, counts), counts)
    parts = [
        f"{named(metric) if metric in METRICS else label_of(metric)} {measure_text(one[metric])}"
        for metric in leading
        if metric in one
    ]
    return f"{name + ': ' if name else ''}{', '.join(parts)}."


def _matrix(confusion: Confusion, of: str, one: Evaluation, name: str | None) -> Section:
    """The matrix in counts and shares, and its largest entries off the diagonal in words."""
    pictures = [charts.confusion(confusion, rates=rates, name=name) for rates in (False, True)]
    if "spcc_one_vs_one" in one.tables:
        pictures.append(charts.class_correlations(one))
    wrong = most_confused(confusion)
    unit = "of the weight" if one.weighted else "rows"
    parts = [
        f"“{truth}” taken for “{predicted}”, {amount(n)} {unit} ({per_cent(share)} of “{truth}”)"
        for truth, predicted, n, share in wrong[:3]
    ]
    text = f"Most frequent confusions: {'; '.join(parts)}." if wrong else "No row is classified wrongly."
    table = Table(
        ["truth", "predicted", "rows", "share of the true class"],
        [[Cell(t), Cell(c), Cell(amount(n), n), Cell(per_cent(s), s)] for t, c, n, s in wrong],
        "Most frequent confusions",
    )
    return Section(f"Truth and prediction{of}", text, pictures, [table] if len(wrong) > 1 else [])


def _by_class(one: Evaluation, of: str) -> Section:
    """Each class against the rest, the lowest F1 first."""
    columns = list(next(iter(one.per_class.values())))
    lines = [
        [Cell(label), *(measured(measures[column]) for column in columns)]
        for label, measures in sorted(one.per_class.items(), key=lambda item: _f1(item[1]))
    ]
    heads = ["class", *map(label_of, columns)]
    table, title = Table(heads, lines), f"Each class against the rest{of}"
    if len(lines) <= _OPEN:
        return Section(title, "", (), [table])
    text = f"The {_OPEN} classes with the lowest F1 first; all of them below."
    return Section(title, text, (), [Table(heads, lines[:_OPEN])], [Fold(f"All {len(lines)} classes", (), [table])])


def _f1(measures: Mapping[str, Measure]) -> float:
    """F1 of a class; undefined values come last."""
    return float(np.nan_to_num(measures["f1"].value, nan=2.0)) if "f1" in measures else 0.0


#: Classes up to which the table is shown open.
_OPEN = 15
