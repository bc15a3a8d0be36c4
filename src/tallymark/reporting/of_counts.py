"""The report of a count: estimates by method, group or class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tallymark import charts
from tallymark._numbers import number, with_limits
from tallymark.decide.verdicts import count_facts
from tallymark.measures import Evaluation
from tallymark.notes import Note
from tallymark.quantify.audits.from_audit import METHOD as AUDIT
from tallymark.quantify.estimation.class_prevalences import ClassPrevalences
from tallymark.quantify.estimation.mixture_test import MixtureFit, MixtureFits
from tallymark.quantify.estimation.prevalence import Prevalence, Prevalences
from tallymark.quantify.estimation.sensitivity import Sensitivity
from tallymark.reporting.content import Cell, Content, Remark, Section, Table, measured
from tallymark.reporting.contents import ReportRequest, contents

Estimates = Mapping[str, Any]


@contents(Prevalence, Prevalences, ClassPrevalences)
def _of_data(named: Mapping[str, Any], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    return of_counts(
        named, title=request.title or "Count", fit=request.fit, expectation=request.expectation, warnings=request.warnings,
        growth=request.growth, fits=request.fits, unseen=request.unseen, known=request.known, audit=request.audit,
    )  # fmt: skip


def of_counts(
    estimates: Estimates, *, title: str, fit: MixtureFit | None = None, expectation: Evaluation | None = None,
    warnings: Sequence[Note] = (), growth: str | None = None, fits: MixtureFits | None = None,
    unseen: Sensitivity | None = None, known: tuple[float, float] | None = None,
    audit: Prevalence | Prevalences | None = None,
) -> Content:  # fmt: skip
    """The report of a count: estimates by method, group or class."""
    lines = []
    grouped: list[str] = []
    audits = {} if audit is None else {AUDIT: audit}
    for entry in (*estimates.values(), *audits.values()):
        if isinstance(entry, Prevalences):
            grouped = list(entry.names)
            sums = [
                (tuple(key[0] if own == name else "(all)" for own in entry.names), one)
                for name, by in entry.subtotals().items()
                for key, one in by.entries.items()
            ]
            pairs = [*entry.entries.items(), *sums, (("(all)",) * len(entry.names), entry.total)]
            lines += [[Cell(one.method), *(Cell(str(k)) for k in key), *_counted(one)] for key, one in pairs]
        elif isinstance(entry, ClassPrevalences):
            grouped = ["class"]
            lines += [[Cell(one.method), Cell(str(label)), *_counted(one)] for label, one in entry.items()]
        else:
            lines.append([Cell(entry.method), *_counted(entry)])
    table = Table(["method", *grouped, "prevalence", "count", "of", "interval"], lines)
    flat = {name: entry for name, entry in estimates.items() if not isinstance(entry, ClassPrevalences)}
    pictures = [charts.prevalences(flat | audits)] if flat else []
    sections = [Section("Estimates", _known_said(estimates, known), pictures, [table])]
    if growth is not None:
        sections.append(_grown(estimates, growth))
    if fit is not None:
        heads = ["from", "to", "observed", "expected", "negative", "positive"]
        bins = [
            [
                Cell(number(row[h]) if np.isfinite(row[h]) else str(row[h]), row[h] if np.isfinite(row[h]) else None)
                for h in heads
            ]
            for row in fit.rows()
        ]
        sections.append(
            Section(
                "Is this prior shift?",
                _fit_said(fit, fits, unseen),
                [charts.mixture_fit(fit)],
                [
                    *([] if fits is None else [_fits_table(fits)]),
                    *([] if unseen is None else [_unseen_table(unseen)]),
                    Table(heads, bins),
                ],
            )
        )
    if expectation is not None:
        rows = [[Cell(name, name, name), measured(m)] for name, m in expectation.items()]
        text = f"At threshold {number(expectation.threshold)} and the estimated prevalence, if the classes' scores have not changed."
        sections.append(
            Section("What to expect there", text, [charts.forest(expectation)], [Table(["metric", "value"], rows)])
        )
    ones = [
        entry.total if isinstance(entry, Prevalences) else entry
        for entry in estimates.values()
        if not isinstance(entry, ClassPrevalences)
    ]
    whole = next(iter(ones), None)
    what = "" if whole is None else f"{number(whole.n)} rows without labels"
    return Content(title, what, _counts_said(ones, fit, fits), list(map(Remark.of, warnings)), sections)


def _counted(one: Prevalence) -> list[Cell]:
    if one.reason is not None:
        return [Cell("–"), Cell("–"), Cell(number(one.n), float(one.n)), Cell(one.reason)]
    count = (
        f"{one.count:.0f}"
        if one.low is None or one.high is None
        else f"{one.count:.0f} ({one.low * one.n:.0f} to {one.high * one.n:.0f})"
    )
    return [
        Cell(with_limits(one.prevalence, one.low, one.high), one.prevalence),
        Cell(count, one.count),
        Cell(number(one.n), float(one.n)),
        Cell(one.interval_method or ""),
    ]


def _known_said(estimates: Estimates, known: tuple[float, float] | None) -> str:
    """The counts with the labelled rows of the same population added."""
    if known is None:
        return ""
    totals = [entry.total if isinstance(entry, Prevalences) else entry for entry in estimates.values()]
    sums = ", ".join(
        f"{one.method} {one.count + known[1]:.0f}" for one in totals if isinstance(one, Prevalence) and not one.reason
    )
    return f"With the {number(known[0])} labelled rows, {number(known[1])} of them positive, the whole population has: {sums}."


def _grown(estimates: Estimates, along: str) -> Section:
    """Growth along a key, by method and group."""
    lines = []
    others: list[str] = []
    for name, entry in estimates.items():
        if not isinstance(entry, Prevalences):
            continue
        others = [key for key in entry.names if key != along]
        for line in entry.growths(along):
            groups = [Cell(str(line["group"][key]) if line["group"] else "(all)") for key in others]
            told = (
                line["reason"]
                or f"{100 * line['growth']:+.1f} % ({100 * line['low']:+.1f} to {100 * line['high']:+.1f} %)"
            )
            lines.append(
                [Cell(name), *groups, Cell(str(line["from"])), Cell(str(line["to"])), Cell(told, line["growth"])]
            )
    text = "Both periods are counted with the same labelled rows, so most of their error cancels."
    return Section("Growth of the count", text, (), [Table(["method", *others, "from", "to", "growth"], lines)])


def _fit_said(fit: MixtureFit, fits: MixtureFits | None, unseen: Sensitivity | None) -> str:
    verdict = fit.verdict if fits is None else fits.verdict
    return f"{verdict[0].upper()}{verdict[1:]}." + ("" if unseen is None else f" {unseen.sentence}")


def _fits_table(fits: MixtureFits) -> Table:
    lines = [
        [
            *(Cell(str(row[name])) for name in fits.names),
            Cell(number(row["misfit"]), row["misfit"]),
            Cell(f"{row['p_value']:.3g}", row["p_value"]),
            Cell("contradicted" if row["contradicted"] else "not contradicted"),
        ]
        for row in fits.rows()
    ]
    return Table([*fits.names, "misfit", "p", "prior shift"], lines)


def _unseen_table(unseen: Sensitivity) -> Table:
    names = list(unseen.changes)
    lines = [
        [
            Cell(f"{row['shift']:+.1f} sd", row["shift"]),
            Cell(f"{100 * row['noticed']:.0f} %", row["noticed"]),
            *(Cell(f"{row[name]:+.0f}", row[name]) for name in names),
        ]
        for row in unseen.rows()
    ]
    return Table(["positives' scores move by", "noticed", *(f"count by {name} moves by" for name in names)], lines)


def _counts_said(ones: Sequence[Prevalence], fit: MixtureFit | None, fits: MixtureFits | None = None) -> list[str]:
    facts = count_facts(ones)
    sentences = []
    best, naive = facts.speaks, facts.naive
    if best is not None:
        limits = (
            "" if best.interval is None else f" ({best.interval[0] * best.n:.0f} to {best.interval[1] * best.n:.0f})"
        )
        sentences.append(f"There are about {best.count:.0f}{limits} positives among {number(best.n)} ({best.method}).")
        if naive is not None:
            sentences.append(
                f"Counting predicted positives ({naive.method}) gives {naive.count:.0f}, which is not corrected for the classifier's errors."
            )
    if facts.apart is not None:
        sentences.append(
            f"The methods disagree beyond their intervals ({' and '.join(facts.apart)}): doubt the assumption behind them."
        )
    if fit is not None and len(sentences) < 3:
        sentences.append(_fit_said(fit, fits, None))
    return sentences
