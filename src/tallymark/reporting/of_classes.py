"""The report of predicted classes, or of a score per class: any number of classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tallymark import charts
from tallymark._numbers import amount, count, per_cent
from tallymark.decisions.verdicts import most_confused
from tallymark.evaluation.evaluate import evaluate
from tallymark.measures import SAMPLED, Evaluation
from tallymark.metrics import headlines
from tallymark.registry import METRICS
from tallymark.reporting.builders import ReportRequest, contents
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
from tallymark.reporting.sentences import named, said
from tallymark.summaries.class_panel import ClassPanel
from tallymark.summaries.class_scores import ClassScores
from tallymark.summaries.confusion import Confusion


@contents(Confusion, ClassScores, ClassPanel)
def _of_data(named_: Mapping[str, Any], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    """Classes evaluated."""
    evaluations = {name: evaluate(one, level=request.level, sampling=request.sampling) for name, one in named_.items()}
    return of_classes(evaluations, title=request.title or "Evaluation of a classifier")


def of_classes(evaluations: Mapping[str, Evaluation], *, title: str) -> Content:
    """The report of predicted classes, or of a score per class: any number of classes."""
    sections = []
    several = len(evaluations) > 1
    for name, one in evaluations.items():
        of = f": {name}" if several else ""
        if one.confusion is not None:
            sections.append(_matrix(one.confusion, of, one, name if several else None))
        if one.per_class:
            sections.append(_by_class(one, of))
    sections.append(Section("All metrics", "A click on a name explains it.", (), metric_tables(evaluations)))
    first = next(iter(evaluations.values()))
    leading = [name for name in headlines.CLASSES if name in first][:4]
    notes = once([Remark.of(note) for one in evaluations.values() for note in one.warnings])
    return Content(
        title,
        _described(first),
        [_sentence(name if several else "", one, leading) for name, one in evaluations.items()][:3],
        notes,
        sections,
        headline=_headline(first) if not several else f"{len(evaluations)} classifiers, not tested against each other.",
        lines=[Line(name, [_bar(one, metric) for metric in leading if metric in one], i) for i, (name, one) in enumerate(evaluations.items())],
    )  # fmt: skip


def _bar(one: Evaluation, metric: str) -> Bar:
    return Bar.of(one[metric]) if metric in METRICS else Bar(label_of(metric), "", said(one[metric]))


def _described(one: Evaluation) -> list[str]:
    classes = [] if one.confusion is None else [f"{len(one.confusion.labels)} classes"]
    weight = [f"weight {amount(float(one.n))}"] if one.weighted else []
    return [f"{count(one.n_rows)} rows", *weight, *classes, SAMPLED[one.sampling], *([] if one.level is None else [f"{100 * one.level:g} % intervals"])]  # fmt: skip


def _headline(one: Evaluation) -> str:
    if one.confusion is None:
        return ""
    hits = float(np.trace(one.confusion.matrix))
    return (
        f"{amount(hits)} of {amount(float(one.n))} rows are classified as they are ({per_cent(hits / float(one.n))})."
    )


def _sentence(name: str, one: Evaluation, leading: list[str]) -> str:
    parts = [f"{named(metric) if metric in METRICS else label_of(metric)} {said(one[metric])}" for metric in leading if metric in one]  # fmt: skip
    return f"{name + ': ' if name else ''}{', '.join(parts)}."


def _matrix(confusion: Confusion, of: str, one: Evaluation, name: str | None) -> Section:
    """The matrix in counts and shares, and its largest entries off the diagonal in words."""
    pictures = [charts.confusion(confusion, rates=rates, name=name) for rates in (False, True)]
    if "spcc_one_vs_one" in one.tables:
        pictures.append(charts.class_correlations(one))
    wrong = most_confused(confusion)
    unit = "of the weight" if one.weighted else "rows"
    text = (
        "Most frequent confusions: "
        + "; ".join(f"“{truth}” taken for “{call}”, {amount(n)} {unit} ({per_cent(share)} of “{truth}”)" for truth, call, n, share in wrong[:3])
        + "."
        if wrong
        else "No row is classified wrongly."
    )  # fmt: skip
    table = Table(
        ["truth", "predicted", "rows", "share of the true class"],
        [[Cell(t), Cell(c), Cell(amount(n), n), Cell(per_cent(s), s)] for t, c, n, s in wrong],
        "Most frequent confusions",
    )
    return Section(f"Truth and prediction{of}", text, pictures, [table] if len(wrong) > 1 else [])


def _by_class(one: Evaluation, of: str) -> Section:
    """Each class against the rest, the lowest F1 first."""
    columns = list(next(iter(one.per_class.values())))
    order = sorted(one.per_class.items(), key=lambda item: np.nan_to_num(item[1]["f1"].value, nan=2.0) if "f1" in item[1] else 0.0)  # fmt: skip
    lines = [[Cell(label), *(measured(measures[c]) for c in columns)] for label, measures in order]
    heads = ["class", *map(label_of, columns)]
    table = Table(heads, lines)
    if len(lines) <= _OPEN:
        return Section(f"Each class against the rest{of}", "", (), [table])
    return Section(f"Each class against the rest{of}", f"The {_OPEN} classes with the lowest F1 first; all of them below.", (),
                   [Table(heads, lines[:_OPEN])], [Fold(f"All {len(lines)} classes", (), [table])])  # fmt: skip


#: Classes that are listed without being asked for.
_OPEN = 15
