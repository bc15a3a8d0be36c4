"""Report on a monitored classifier: verdict, history, control charts, rows to label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tallymark import charts
from tallymark._numbers import counted
from tallymark.reporting.builders import ReportRequest, contents, only
from tallymark.reporting.page_model import Content, Remark, Section, table_of

if TYPE_CHECKING:
    from tallymark.monitor.results import Watch

#: Columns of the history that are left out: they would push the signals off a printed page.
_LEFT_OUT = frozenset({"reference", "mean_score", "count", "fit_distance", "value_mean", "value_ks"})


@contents("Watch")
def _of_watch(named: Mapping[str, Watch], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    watch = only(named)
    names = dict.fromkeys(name for row in watch.history for name in row if name not in _LEFT_OUT)
    history = [{name: row[name] for name in names if name in row} for row in watch.history]
    sections = [Section("History", "", [charts.watch(watch), charts.watch_signals(watch)], [table_of(history)])]
    if watch.plan is not None:
        sample = table_of(watch.plan.to_dict()["sample"])
        sections.append(Section("Rows to label", watch.plan.heading(), [charts.audit_plan(watch.plan)], [sample]))
    if watch.new_items is not None:
        sections.append(Section("New items", f"{watch.new_items.heading()}.", [], [table_of(watch.new_items.rows())]))
    verdict = [f"{watch.verdict}.", f"{watch.rate}."]
    return Content(
        request.title or "Watch",
        [counted(len(watch.periods), "period")],
        verdict,
        list(map(Remark.of, watch.warnings)),
        sections,
    )
