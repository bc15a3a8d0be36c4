"""The report of a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallymark import charts
from tallymark._numbers import amount, number, p_value, with_limits
from tallymark.comparison.results import Comparison
from tallymark.measures import SAMPLED
from tallymark.reporting.builders import ReportRequest, contents, only
from tallymark.reporting.page_model import Cell, Content, Fold, Remark, Section, Table
from tallymark.reporting.sentences import comparison_headline, comparison_sentences, named


def compared_section(comparison: Comparison) -> Section:
    """The models best first with their letters, every pair, and its picture."""
    lines = [
        [
            Cell(f"{p.first} − {p.second}"),
            Cell(with_limits(p.difference, p.low, p.high), p.difference, None, p.low, p.high),
            Cell(p_value(p.p_value), p.p_value),
            *([Cell(p_value(p.p_holm), p.p_holm)] if len(comparison.pairs) > 1 else []),
            Cell(p.verdict),
            Cell(p.method),
        ]
        for p in comparison.pairs
    ]
    several = ["p (Holm)"] if len(comparison.pairs) > 1 else []
    heads = ["pair", f"difference of {named(comparison.metric)}", "p", *several, "verdict", "method"]
    pairs = Table(heads, lines, f"{100 * comparison.level:g} % intervals")
    few = len(lines) <= _OPEN
    together = " Limits of all pairs hold together." if several else ""
    text = f"The same rows, so most of the chance cancels.{together} {comparison_headline(comparison)} {' '.join(comparison_sentences(comparison))}"
    return Section(
        f"Compare by {named(comparison.metric)}",
        text,
        [charts.comparison(comparison)] if few or len(lines) <= _DRAWN else [],
        [_values(comparison), *([pairs] if few else [])],
        []
        if few
        else [
            Fold(f"All {len(lines)} pairs", () if len(lines) <= _DRAWN else [charts.comparison(comparison)], [pairs])
        ],
    )


#: Pairs that are listed, and that are drawn, without being asked for.
_OPEN, _DRAWN = 6, 21


def _values(comparison: Comparison) -> Table:
    letters = comparison.letters
    lettered = len(letters) > 2
    lines = [
        [Cell(name), Cell(number(float(comparison.values[name])), float(comparison.values[name])), *([Cell(letters[name])] if lettered else [])]
        for name in comparison.ranked
    ]  # fmt: skip
    caption = "Models that share a letter cannot be told apart." if lettered else ""
    return Table(["model", named(comparison.metric), *(["letter"] if lettered else [])], lines, caption)


@contents(Comparison)
def _of_data(named_: Mapping[str, Any], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    return of_comparison(only(named_, "comparison"), title=request.title or "Comparison of models")


def of_comparison(comparison: Comparison, *, title: str) -> Content:
    """The report of a comparison alone."""
    what = [
        f"{len(comparison.values)} models on the same {amount(comparison.n)} rows",
        f"{amount(comparison.positives)} positive",
        SAMPLED[comparison.sampling],
        *([comparison.choice] if comparison.choice else []),
        f"{100 * comparison.level:g} % intervals",
    ]
    return Content(
        title,
        what,
        comparison_sentences(comparison),
        list(map(Remark.of, comparison.warnings)),
        [compared_section(comparison)],
        headline=comparison_headline(comparison),
    )
