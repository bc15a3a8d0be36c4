"""Reports on price indices, alone and under classification error."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tallymark import charts
from tallymark._numbers import signed
from tallymark.reporting.builders import ReportRequest, contents, only
from tallymark.reporting.page_model import Content, Section, table_of

if TYPE_CHECKING:
    from tallymark.prices.index_errors import IndexUnderError
    from tallymark.prices.price_index import PriceIndex


@contents("PriceIndex")
def _of_indices(named: Mapping[str, PriceIndex], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    sections = [Section("Index", "", [charts.price_index(named)])]
    verdict = []
    for name, one in named.items():
        sections.append(Section(name, one.heading() + ".", (), [table_of(one.rows())]))
        change, matched = signed(100 * (one.values[-1] - 1), 2), f"{100 * one.matched[-1]:.1f} %"
        verdict.append(
            f"From {one.periods[0]} to {one.periods[-1]} prices changed by {change} % by {one.formula}; {matched} of "
            "the last period's expenditure is in matched products."
        )
    what = [f"{len(next(iter(named.values())).periods)} periods"]
    return Content(request.title or "Price index", what, verdict, (), sections)


@contents("IndexUnderError")
def _of_errors(named: Mapping[str, IndexUnderError], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    one = only(named)
    section = Section(
        "The index under error", one.heading() + ".", [charts.index_under_error(one)], [table_of(one.rows())]
    )
    what = [f"{len(one.periods)} periods"]
    return Content(request.title or "Price index under classification error", what, [_verdict(one)], (), [section])


def _verdict(one: IndexUnderError) -> str:
    last = one.rows()[-1]
    if one.fixed:
        return (
            f"With the products as they were called, the index of {last['period']} is {last['as_called']:.4f}; the "
            f"true one is {last['index']:.4f} (error {signed(last['error'], 4)}). Nothing was drawn at random."
        )
    how = "as a real classifier does" if math.isnan(one.metric_value) else f"at {one.metric} {one.metric_value:g}"
    return (
        f"With products classified {how}, the index of {last['period']} would be off by {signed(last['bias'], 4)} on "
        f"average, and in 95 of 100 draws lie between {last['low']:.4f} and {last['high']:.4f}; the true one is "
        f"{last['index']:.4f}."
    )
