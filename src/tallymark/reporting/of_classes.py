"""The report of predicted classes, or of a score per class: any number of classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallymark import charts
from tallymark._numbers import with_limits
from tallymark.evaluation.evaluate import evaluate
from tallymark.measures import Evaluation
from tallymark.reporting.content import Cell, Content, Remark, Section, Table, measured, metric_table, once
from tallymark.reporting.contents import ReportRequest, contents
from tallymark.summaries.class_panel import ClassPanel
from tallymark.summaries.class_scores import ClassScores
from tallymark.summaries.confusion import Confusion


@contents(Confusion, ClassScores, ClassPanel)
def _of_data(named: Mapping[str, Any], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    """Classes evaluated."""
    evaluations = {name: evaluate(one, level=request.level, sampling=request.sampling) for name, one in named.items()}
    return of_classes(evaluations, title=request.title or "Evaluation of a classifier")


def of_classes(evaluations: Mapping[str, Evaluation], *, title: str) -> Content:
    """The report of predicted classes, or of a score per class: any number of classes."""
    first = next(iter(evaluations.values()))
    pictures = [
        charts.confusion(ev.confusion, rates=rates, name=name)
        for name, ev in evaluations.items()
        if ev.confusion is not None
        for rates in (False, True)
    ]
    pictures += [
        charts.class_correlations(ev)
        for ev in evaluations.values()
        if ev.confusion is not None and "spcc_one_vs_one" in ev.tables
    ]
    sections = [Section("Truth and prediction", "", pictures), Section("Metrics", "", (), [metric_table(evaluations)])]
    for name, ev in evaluations.items():
        if ev.per_class:
            columns = list(next(iter(ev.per_class.values())))
            lines = [
                [Cell(label), *(measured(measures[c]) for c in columns)] for label, measures in ev.per_class.items()
            ]
            sections.append(
                Section(f"Each class against the rest: {name}", "", (), [Table(["class", *columns], lines)])
            )
    shown = [name for name in ("accuracy", "balanced_accuracy", "mcc") if name in first]
    said = ", ".join(f"{name} {with_limits(first[name].value, first[name].low, first[name].high)}" for name in shown)
    notes = once([Remark.of(note) for ev in evaluations.values() for note in ev.warnings])
    return Content(title, first.heading(), [f"{next(iter(evaluations))}: {said}."] if said else [], notes, sections)
