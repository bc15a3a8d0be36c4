"""Reports on audits: the plan of the rows to check, and the estimates from checked rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tallymark import charts
from tallymark._numbers import amount, counted, number, per_cent
from tallymark.reporting.builders import ReportRequest, contents, only
from tallymark.reporting.page_model import Cell, Content, Remark, Section, Table, table_of
from tallymark.reporting.sentences import at_level

if TYPE_CHECKING:
    from tallymark.audits.class_estimates import AuditEstimate
    from tallymark.audits.estimates import BinaryAuditEstimate
    from tallymark.audits.plan_results import AuditPlan
    from tallymark.prices.index_audits import IndexAudit
    from tallymark.quantify.estimation.prevalence import Prevalence

#: Classes that the headline names.
_NAMED = 4


@contents("AuditPlan")
def _of_plan(named: Mapping[str, AuditPlan], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    plan = only(named)
    sections = [
        Section("Strata", "", [charts.audit_plan(plan)], [table_of(plan.rows())]),
        Section("Rows to check", "Rows are counted from 0.", (), [table_of(plan.to_dict()["sample"])]),
    ]
    what = [counted(len(plan.inclusion), "row")]
    return Content(request.title or "Audit plan", what, [plan.heading()], (), sections)


@contents("IndexAudit")
def _of_index(named: Mapping[str, IndexAudit], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    audit = only(named)
    text = "The most informative first; the effect is the change of the index by a product's membership."
    section = Section("Products to check", text, (), [table_of(audit.rows())])
    what = [counted(audit.n, "product")]
    return Content(request.title or "Audit of an index", what, [audit.heading() + "."], (), [section])


@contents("AuditEstimate")
def _of_classes(named: Mapping[str, AuditEstimate], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    audit = only(named)
    overall = [f"{one.name.replace('_', ' ').capitalize()} {one.written}." for one in audit.overall()]
    counts = [f"{label} {one.written}" for label, one in audit.counts.items()]
    more = f" and {len(counts) - _NAMED} more classes" if len(counts) > _NAMED else ""
    verdict = [f"{'; '.join(counts[:_NAMED])}{more} {audit.unit}.", *overall]
    text = "Design-based: no assumption on the scores or on any shift. Limits are quantiles of draws."
    tables = [table_of(audit.printed_rows())]
    sections = [Section("Counts and accuracies by class", text, [charts.audit_counts(audit)], tables)]
    sections += _matrix(audit)
    sections.append(Section("All estimates", "With design-based standard errors.", (), [table_of(audit.rows())]))
    sections += [*_where_next(audit), *_publication(audit)]
    remarks = [Remark("", sentence) for sentence in audit.explanations]
    facts = [counted(audit.checked, "checked row"), f"{amount(audit.n)} {audit.unit}"]
    return Content(request.title or "Audit", facts, verdict, [*remarks, *map(Remark.of, audit.warnings)], sections)


@contents("BinaryAuditEstimate")
def _of_estimate(named: Mapping[str, BinaryAuditEstimate], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    estimate = only(named)
    one = estimate.prevalence
    verdict = [estimate.sentence]
    if one.reason is None:
        verdict.insert(0, f"{_count(one)} of {amount(float(one.n))} are positive.")
    text = "Design-based: no assumption on the scores or on any shift."
    section = Section("Estimates", text, [charts.audit_estimate(estimate)], [table_of(estimate.rows())])
    what = [counted(one.details["checked"], "checked row"), *at_level(one.level)]
    sections = [
        *_counts_by_group(estimate),
        section,
        *_matrix(estimate),
        *_where_next(estimate),
        *_publication(estimate),
    ]
    remarks = [*(Remark("", sentence) for sentence in estimate.explanations), *map(Remark.of, estimate.warnings)]
    return Content(request.title or "Audit", what, verdict, remarks, sections)


def _count(one: Prevalence) -> str:
    """A count with its limits."""
    if one.reason is not None:
        return "–"
    if one.count_low is None or one.count_high is None:
        return amount(round(one.count))
    return f"{amount(round(one.count))} ({amount(round(one.count_low))} to {amount(round(one.count_high))})"


def _counts_by_group(estimate: BinaryAuditEstimate) -> list[Section]:
    """How many positives each group has, and their share."""
    if estimate.by_group is None:
        return []
    names = list(estimate.by_group.names)
    groups = [*estimate.by_group.entries.items(), (("(all)",) * len(names), estimate.prevalence)]
    lines = [
        [
            *(Cell(str(part)) for part in key),
            Cell(_count(one), None if one.reason else one.count),
            Cell(number(one.n), float(one.n)),
            Cell(one.reason or one.written, None if one.reason else one.prevalence),
        ]
        for key, one in groups
    ]
    table = Table(
        [*names, "positives", "rows", "share of positives"], lines, " ".join(at_level(estimate.prevalence.level))
    )
    return [Section(f"Positives by {', '.join(names)}", "", (), [table])]


def _matrix(audit: AuditEstimate) -> list[Section]:
    """The estimated confusion matrix of all rows."""
    if audit.matrix is None:
        return []
    what = f"Estimated {audit.unit}, predicted class by true class."
    return [Section("Matrix", what, (), [table_of(audit.matrix.printed_rows())])]


def _where_next(audit: AuditEstimate) -> list[Section]:
    """The strata by what they add to the variance."""
    if not audit.uncertainty:
        return []
    lines = [{**line, "share_of_variance": per_cent(line["share_of_variance"])} for line in audit.uncertainty]
    what = "What each adds to the variance of the counts: check more rows where it is most."
    return [Section("Where to check next", what, (), [table_of(lines)])]


def _publication(audit: AuditEstimate) -> list[Section]:
    """What a publication rule says of each share."""
    if not audit.decisions:
        return []
    text = "A rule decides about each share; nothing was left out of the tables above."
    return [Section("Publication", text, (), [table_of(audit.decisions)])]
