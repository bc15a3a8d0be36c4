"""The reports of what errors do to a value, and of classifiers in ROC and PR space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallymark import charts
from tallymark._numbers import counted, per_cent
from tallymark.decisions.item_costs import Costs
from tallymark.decisions.roc_space import Space
from tallymark.prices.advice import Advice
from tallymark.prices.error_impact import Impact
from tallymark.reporting.builders import ReportRequest, contents, only
from tallymark.reporting.page_model import Content, Remark, Section, table_of


@contents(Impact)
def _of_impact(named: Mapping[str, Any], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    found = only(named)
    last = {part.label: part for part in found.parts}
    said = [
        f"Class {name}{'' if part.period is None else f', period {part.period}'}: false positives: {part.verdict('fp')}; false negatives: "
        f"{part.verdict('fn')}; together: {part.verdict('total')}."
        for name, part in last.items()
    ]
    sections = [
        Section(
            "By period and class",
            found.heading() + ".",
            [charts.impact_by_period(found, label=name) for name in last],
            [table_of(found.rows())],
        )
    ]
    sections.append(
        Section("Distributions", "", [charts.impact(found, part=found.parts.index(part)) for part in last.values()])
    )
    return Content(
        request.title or "What errors do",
        [f"{len(found.parts)} comparisons"],
        said,
        list(map(Remark.of, found.warnings)),
        sections,
    )


@contents(Advice)
def _of_advice(named: Mapping[str, Any], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    found = only(named)
    first, *doubts = found.heading().splitlines()
    tables = [table_of(found.rows()), *([table_of(found.evidence, "What the data say")] if found.evidence else [])]
    warnings = [Remark("doubtful", doubt.removeprefix("Doubtful: ")) for doubt in doubts]
    return Content(request.title or "Which metric to watch", (), [first], warnings, [Section("Why", "", (), tables)])


@contents(Costs)
def _of_costs(named: Mapping[str, Any], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    found = only(named)
    drawn = any(len(one.curve[0]) for one in found.models)
    tables = [
        table_of(found.rows()),
        *([table_of(found.pairs)] if found.pairs else []),
        *([table_of(found.by_class)] if found.by_class else []),
    ]
    section = Section("What calls earn", "Costs are negative.", [charts.costs(found)] if drawn else [], tables)
    return Content(request.title or "Costs", [counted(found.n, "row")], found.verdict, (), [section])


@contents(Space)
def _of_space(named: Mapping[str, Any], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    found = only(named)
    pictures = [
        charts.roc_space(found.confusions, prevalence=found.prevalence, metric=found.metric),
        charts.pr_space(found.confusions, prevalence=found.prevalence),
    ]
    others = [charts.roc_space(found.confusions, prevalence=share) for share in (0.1, 0.5, 0.9)]
    sections = [
        Section("At the prevalence asked for", "", pictures, [table_of(found.rows())]),
        Section(
            "Accuracy at other prevalences",
            "Accuracy rewards whoever calls what is common; its lines turn with the prevalence.",
            others,
        ),
    ]
    return Content(
        request.title or "ROC and PR space",
        [f"{len(found.points)} classifiers", f"prevalence {per_cent(found.prevalence)}"],
        found.verdict,
        (),
        sections,
    )
