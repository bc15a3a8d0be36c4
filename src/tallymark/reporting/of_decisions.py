"""Reports on the impact of errors on a value, advice on metrics, costs, and classifiers in ROC and PR space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tallymark import charts
from tallymark._numbers import counted, per_cent
from tallymark.reporting.builders import ReportRequest, contents, only
from tallymark.reporting.page_model import Content, Remark, Section, table_of

if TYPE_CHECKING:
    from tallymark.decisions.item_costs import Costs
    from tallymark.decisions.roc_space import Space
    from tallymark.prices.advice import Advice
    from tallymark.prices.error_impact import Impact


@contents("Impact")
def _of_impact(named: Mapping[str, Impact], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    impact = only(named)
    last = {part.label: part for part in impact.parts}
    verdict = [
        f"Class {name}{'' if part.period is None else f', period {part.period}'}: false positives: "
        f"{part.verdict('fp')}; false negatives: {part.verdict('fn')}; together: {part.verdict('total')}."
        for name, part in last.items()
    ]
    by_period = [charts.impact_by_period(impact, label=name) for name in last]
    distributions = [charts.impact(impact, part=impact.parts.index(part)) for part in last.values()]
    sections = [
        Section("By period and class", impact.heading() + ".", by_period, [table_of(impact.rows())]),
        Section("Distributions", "", distributions),
    ]
    return Content(
        request.title or "What errors do",
        [f"{len(impact.parts)} comparisons"],
        verdict,
        list(map(Remark.of, impact.warnings)),
        sections,
    )


@contents("Advice")
def _of_advice(named: Mapping[str, Advice], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    advice = only(named)
    first, *doubts = advice.heading().splitlines()
    tables = [table_of(advice.rows()), *([table_of(advice.evidence, "What the data say")] if advice.evidence else [])]
    warnings = [Remark("doubtful", doubt.removeprefix("Doubtful: ")) for doubt in doubts]
    return Content(request.title or "Which metric to watch", (), [first], warnings, [Section("Why", "", (), tables)])


@contents("Costs")
def _of_costs(named: Mapping[str, Costs], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    costs = only(named)
    pictures = [charts.costs(costs)] if any(len(one.curve[0]) for one in costs.models) else []
    tables = [table_of(lines) for lines in (costs.rows(), costs.pairs, costs.by_class) if lines]
    section = Section("Payoff of predictions", "Costs are negative.", pictures, tables)
    return Content(request.title or "Costs", [counted(costs.n, "row")], costs.verdict, (), [section])


@contents("Space")
def _of_space(named: Mapping[str, Space], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    space = only(named)
    pictures = [
        charts.roc_space(space.confusions, prevalence=space.prevalence, metric=space.metric),
        charts.pr_space(space.confusions, prevalence=space.prevalence),
    ]
    others = [charts.roc_space(space.confusions, prevalence=share) for share in (0.1, 0.5, 0.9)]
    text = "Accuracy rewards predicting the common class; its isolines turn with the prevalence."
    sections = [
        Section("At the stated prevalence", "", pictures, [table_of(space.rows())]),
        Section("Accuracy at other prevalences", text, others),
    ]
    what = [f"{len(space.points)} classifiers", f"prevalence {per_cent(space.prevalence)}"]
    return Content(request.title or "ROC and PR space", what, space.verdict, (), sections)
