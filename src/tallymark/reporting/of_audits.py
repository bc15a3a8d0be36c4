"""The reports of an audit: what to check, and what was found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallymark import charts
from tallymark._numbers import counted, number
from tallymark.audits.estimates import AuditEstimate
from tallymark.audits.plans import AuditPlan
from tallymark.prices.index_audits import IndexAudit
from tallymark.reporting.builders import ReportRequest, contents, only
from tallymark.reporting.page_model import Content, Remark, Section, table_of


@contents(AuditPlan)
def _of_plan(named: Mapping[str, Any], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    plan = only(named)
    sections = [
        Section("Strata", "", [charts.audit_plan(plan)], [table_of(plan.rows())]),
        Section("Rows to check", "Rows are counted from 0.", (), [table_of(plan.to_dict()["sample"])]),
    ]
    return Content(request.title or "Audit plan", [counted(len(plan.inclusion), "row")], [plan.heading()], (), sections)


@contents(IndexAudit)
def _of_index(named: Mapping[str, Any], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    found = only(named)
    section = Section(
        "Products to check",
        "The most telling first; the effect is what a product's membership does to the index.",
        (),
        [table_of(found.rows())],
    )
    return Content(
        request.title or "Audit of an index", [counted(found.n, "product")], [found.heading() + "."], (), [section]
    )


@contents(AuditEstimate)
def _of_estimate(named: Mapping[str, Any], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    found = only(named)
    one = found.prevalence
    said = [found.sentence]
    if one.reason is None:
        said.insert(
            0, f"{one.count:.0f} of {number(one.n)} ({one.count_low:.0f} to {one.count_high:.0f}) are positive."
        )
    section = Section(
        "Estimates", "Nothing is assumed of the scores or of any shift.", [charts.audit_estimate(found)], [table_of(found.rows())]
    )  # fmt: skip
    return Content(
        request.title or "Audit", [counted(one.details["checked"], "checked row")], said, [Remark.of(note) for note in found.warnings], [section]
    )  # fmt: skip
