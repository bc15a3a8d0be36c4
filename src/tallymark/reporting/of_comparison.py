"""Report on a comparison of models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tallymark import charts
from tallymark._numbers import amount, number, p_value, with_limits
from tallymark.measures import SAMPLED
from tallymark.reporting.builders import ReportRequest, contents, only
from tallymark.reporting.page_model import Cell, Content, Fold, Remark, Section, Table, table_of
from tallymark.reporting.sentences import at_level, comparison_headline, comparison_sentences, named

if TYPE_CHECKING:
    from tallymark.comparison.of_outcomes import OutcomeComparison
    from tallymark.comparison.results import Comparison


def compared_section(comparison: Comparison) -> Section:
    """The models, best first with their letters, and every pair with its difference."""
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
    pairs = Table(heads, lines, " ".join(at_level(comparison.level)))
    sentences = [
        "The same rows, so most of the chance cancels.",
        *(["Limits of all pairs hold together."] if several else []),
        comparison_headline(comparison),
        *comparison_sentences(comparison),
    ]
    chart = [charts.comparison(comparison)]
    drawn, listed = len(lines) <= _DRAWN, len(lines) <= _LISTED
    folded = [] if listed else [Fold(f"All {len(lines)} pairs", () if drawn else chart, [pairs])]
    return Section(
        f"Compare by {named(comparison.metric)}",
        " ".join(sentences),
        chart if drawn else [],
        [_values(comparison), *([pairs] if listed else [])],
        folded,
    )


#: Pairs up to which the table, and the chart, are shown open.
_LISTED, _DRAWN = 6, 21


def _values(comparison: Comparison) -> Table:
    letters = comparison.letters if len(comparison.letters) > 2 else {}
    lines = []
    for name in comparison.ranked:
        value = float(comparison.values[name])
        lines.append([Cell(name), Cell(number(value), value), *([Cell(letters[name])] if letters else [])])
    caption = "Models that share a letter cannot be told apart." if letters else ""
    return Table(["model", named(comparison.metric), *(["letter"] if letters else [])], lines, caption)


@contents("Comparison")
def _of_data(named_: Mapping[str, Comparison], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    return of_comparison(only(named_, "comparison"), title=request.title or "Comparison of models")


def of_comparison(comparison: Comparison, *, title: str) -> Content:
    """The report on a comparison alone."""
    what = [
        f"{len(comparison.values)} models on the same {amount(comparison.n)} rows",
        f"{amount(comparison.positives)} positive",
        SAMPLED[comparison.sampling],
        *([comparison.choice] if comparison.choice else []),
        *at_level(comparison.level),
    ]
    return Content(
        title,
        what,
        comparison_sentences(comparison),
        list(map(Remark.of, comparison.warnings)),
        [compared_section(comparison)],
        headline=comparison_headline(comparison),
    )


@contents("OutcomeComparison")
def _of_outcomes(named_: Mapping[str, OutcomeComparison], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    comparison = only(named_, "comparison")
    letters = comparison.letters
    means = [
        {"system": name, comparison.metric: one.value, "low": one.low, "high": one.high, "letter": letters[name]}
        for name in comparison.ranked
        for one in (comparison.rates[name],)
    ]
    sections = [
        Section("Systems", "Systems that share a letter cannot be told apart.", [], [table_of(means)]),
        Section("Pairs", "The same items, so most of the chance cancels.", [], [table_of(comparison.rows())]),
    ]
    what = [f"{len(comparison.values)} systems on the same {amount(comparison.n)} rows"]
    verdict = [f"{pair.first} and {pair.second}: {pair.verdict}." for pair in comparison.pairs]
    return Content(request.title or "Comparison of outcomes", what, verdict, [], sections)
