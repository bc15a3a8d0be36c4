"""The report of a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallymark import charts
from tallymark._numbers import number, with_limits
from tallymark.comparison.results import Comparison
from tallymark.decide.verdicts import comparison_facts
from tallymark.errors import InputError
from tallymark.reporting.content import Cell, Content, Section, Table
from tallymark.reporting.contents import ReportRequest, contents


def compared_section(comparison: Comparison) -> Section:
    """Every pair, with its picture."""
    lines = [
        [
            Cell(f"{p.first} − {p.second}"),
            Cell(with_limits(p.difference, p.low, p.high), p.difference),
            Cell(f"{p.p_value:.4g}", p.p_value),
            Cell(f"{p.p_holm:.4g}", p.p_holm),
            Cell(p.verdict),
            Cell(p.method),
        ]
        for p in comparison.pairs
    ]
    heads = ["pair", f"difference of {comparison.metric}", "p", "p (Holm)", "verdict", "method"]
    text = "The same rows, so most of the chance cancels. " + compared_sentence(comparison)
    return Section(
        "Which model is better",
        text,
        [charts.comparison(comparison)],
        [Table(heads, lines, f"{100 * comparison.level:g} % intervals")],
    )


def compared_sentence(comparison: Comparison) -> str:
    """The clearest difference, and how many are left open."""
    facts = comparison_facts(comparison)
    pair = facts.clearest
    limits = f"{pair.first} − {pair.second}: {with_limits(pair.difference, pair.low, pair.high)}, p = {pair.p_holm:.2g}"
    if facts.pairs > 1:
        limits += " after Holm's correction"
    verdict = pair.verdict
    if facts.ahead is not None:
        ahead, other = facts.ahead
        for word in ("better", "higher"):
            verdict = verdict.replace(f"{ahead} is {word}", f"{ahead} is {word} than {other}")
    rest = f" {facts.undecided} of {facts.pairs} pairs are undecided." if facts.pairs > 1 and facts.undecided else ""
    return f"By {comparison.metric}, {verdict} ({limits}).{rest}"


@contents(Comparison)
def _of_data(named: Mapping[str, Any], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    if len(named) > 1:
        raise InputError("A report shows one comparison; write one for each.")
    (comparison,) = named.values()
    return of_comparison(comparison, title=request.title or "Comparison of models")


def of_comparison(comparison: Comparison, *, title: str) -> Content:
    """The report of a comparison alone."""
    values = Table(
        ["model", comparison.metric],
        [[Cell(name), Cell(number(float(v)), float(v))] for name, v in comparison.values.items()],
    )
    section = compared_section(comparison)
    what = f"{len(comparison.values)} models on the same {comparison.n} rows, {comparison.positives} positive"
    first = Section("Values", tables=[values])
    return Content(title, what, [compared_sentence(comparison)], [], [first, section])
