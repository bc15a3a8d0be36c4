"""The report of a watch: what to do now, and the history drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallymark import charts
from tallymark._numbers import counted
from tallymark.monitor.results import Watch
from tallymark.reporting.builders import ReportRequest, contents, only
from tallymark.reporting.page_model import Content, Remark, Section, table_of

#: Columns of the history that a page does without.
_LEFT_OUT = frozenset({"reference", "mean_score", "count", "fit_distance", "value_mean", "value_ks"})


@contents(Watch)
def _of_watch(named: Mapping[str, Any], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    found = only(named)
    # The rest is in the data; on paper it would push the signals off the page.
    shown = [name for name in dict.fromkeys(key for row in found.history for key in row) if name not in _LEFT_OUT]
    said = [f"{found.verdict}.", f"{found.rate}."]
    sections = [
        Section(
            "History",
            "",
            [charts.watch(found), charts.watch_signals(found)],
            [table_of([{name: row.get(name) for name in shown if name in row} for row in found.history])],
        ),
    ]
    if found.plan is not None:
        sections.append(
            Section(
                "Rows to label",
                found.plan.heading(),
                [charts.audit_plan(found.plan)],
                [table_of(found.plan.to_dict()["sample"])],
            )
        )
    remarks = list(map(Remark.of, found.warnings))
    return Content(request.title or "Watch", [counted(len(found.periods), "period")], said, remarks, sections)
