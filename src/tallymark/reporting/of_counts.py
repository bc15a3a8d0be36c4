"""The report of a count: estimates by method, group or class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tallymark import charts
from tallymark._numbers import amount, change, count, number, p_value, per_cent, share_of_rows, signed
from tallymark.audits.prevalences import METHOD as AUDIT
from tallymark.decisions.verdicts import NAMED_CLASSES, class_facts, count_facts
from tallymark.errors import InputError
from tallymark.measures import Evaluation
from tallymark.notes import Note
from tallymark.quantify.estimation.class_prevalences import ClassPrevalences
from tallymark.quantify.estimation.count import Count
from tallymark.quantify.estimation.mixture_test import MixtureFit, MixtureFits
from tallymark.quantify.estimation.prevalence import SUM_OF_GROUPS, Prevalence, Prevalences
from tallymark.quantify.estimation.sensitivity import Sensitivity
from tallymark.registry import QUANTIFIERS
from tallymark.reporting.builders import ReportRequest, contents
from tallymark.reporting.page_model import Cell, Content, Fold, Remark, Section, Table, measured
from tallymark.reporting.sentences import listed

Estimates = Mapping[str, Any]


#: Options of a count, and the one that each is shown beside.
_USED = {
    "fit": None, "expectation": None, "warnings": None, "growth": None, "order": "growth", "fits": "fit", "unseen": "fit",
    "known": None, "audit": None,
}  # fmt: skip


@contents(Prevalence, Prevalences, ClassPrevalences, uses=tuple(_USED))
def _of_data(named: Mapping[str, Any], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    for option, beside in _USED.items():
        if beside is not None and getattr(request, option) is not None and getattr(request, beside) is None:
            raise InputError(f"{option}= is shown together with {beside}=; state {beside}= too.")
    return of_counts(
        named, title=request.title or "Count", fit=request.fit, expectation=request.expectation, warnings=request.warnings,
        growth=request.growth, order=request.order, fits=request.fits, unseen=request.unseen, known=request.known, audit=request.audit,
    )  # fmt: skip


@contents(Count)
def _of_count(named: Mapping[str, Any], data: Count, request: ReportRequest) -> Content:  # noqa: ARG001
    return of_counts(
        data.estimates, title=request.title or "Count", fit=data.fit, expectation=data.expected,
        warnings=data.warnings, growth=data.growth, order=data.order, fits=data.fits, unseen=data.sensitivity,
        known=data.labelled, audit=data.audit,
    )  # fmt: skip


def of_counts(
    estimates: Estimates, *, title: str, fit: MixtureFit | None = None, expectation: Evaluation | None = None,
    warnings: Sequence[Note] = (), growth: str | None = None, order: Sequence[Any] | None = None, fits: MixtureFits | None = None,
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
                (tuple(key[0] if own == name else SUM_OF_GROUPS for own in entry.names), one)
                for name, by in entry.subtotals().items()
                for key, one in by.entries.items()
            ]
            pairs = [*entry.entries.items(), *sums, ((SUM_OF_GROUPS,) * len(entry.names), entry.total)]
            lines += [[Cell(one.method), *(Cell(str(k)) for k in key), *_counted(one)] for key, one in pairs]
        elif isinstance(entry, ClassPrevalences):
            grouped = ["class"]
            lines += [[Cell(one.method), Cell(str(label)), *_counted(one)] for label, one in entry.items()]
        else:
            lines.append([Cell(entry.method), *_counted(entry)])
    table = Table(["method", *grouped, "prevalence", "count", "of", "interval"], lines)
    sections = [
        Section("Estimates", _known_said(estimates, known), _pictures(estimates, audits, growth, order), [table])
    ]
    if growth is not None:
        sections.append(_grown(estimates, growth, order))
    if fit is not None:
        heads = ["from", "to", "observed", "expected", "negative", "positive"]
        bins = [[Cell(number(row[h]), row[h] if np.isfinite(row[h]) else None) for h in heads] for row in fit.rows()]
        sections.append(
            Section(
                "Is this prior shift?",
                _fit_said(fit, fits, unseen),
                [charts.mixture_fit(fit), *([] if unseen is None else [charts.sensitivity(unseen)])],
                [] if fits is None else [_fits_table(fits)],
                [
                    *([] if unseen is None else [Fold("What a move would do", (), [_unseen_table(unseen)])]),
                    Fold("Bins of the scores", (), [Table(heads, bins)]),
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
    what = [] if whole is None else [f"{_of_rows(float(whole.n))} without labels"]
    classes = {name: entry for name, entry in estimates.items() if isinstance(entry, ClassPrevalences)}
    headline, said = _counts_said(ones, fit, fits) if ones else _classes_said(classes)
    return Content(title, what, said, list(map(Remark.of, warnings)), sections, headline=headline)


def _pictures(estimates: Estimates, audits: Estimates, along: str | None, order: Sequence[Any] | None) -> list[Any]:
    """Counts along time where they are followed, the classes' shares, or estimates side by side."""
    classes = {name: entry for name, entry in estimates.items() if isinstance(entry, ClassPrevalences)}
    flat = {name: entry for name, entry in estimates.items() if name not in classes} | dict(audits)
    pictures = [charts.class_prevalences(classes)] if classes else []
    if along is not None:
        followed = {n: e for n, e in flat.items() if isinstance(e, Prevalences) and _has_value(e)}
        pictures += [charts.counts_over_time(followed, along=along, order=order)] if followed else []
    else:
        totals = {n: e.total if isinstance(e, Prevalences) else e for n, e in flat.items()}
        if len(totals) > 1 and totals != flat and any(map(_has_value, totals.values())):
            pictures.append(charts.prevalences(totals, counts=True))
        pictures += [charts.prevalences(flat)] if any(map(_has_value, flat.values())) else []
    return pictures


def _has_value(entry: Any) -> bool:
    ones = entry.values() if isinstance(entry, Prevalences) else (entry,)
    return any(one.reason is None for one in ones)


def _counted(one: Prevalence) -> list[Cell]:
    if one.reason is not None:
        return [Cell("–"), Cell("–"), Cell(number(one.n), float(one.n)), Cell(one.reason)]
    shown = (
        count(one.count)
        if one.low is None or one.high is None
        else f"{count(one.count)} ({count(one.low * one.n)} to {count(one.high * one.n)})"
    )
    return [
        Cell(one.written, one.prevalence),
        Cell(shown, one.count),
        Cell(number(one.n), float(one.n)),
        Cell(one.interval_method or ""),
    ]


def _known_said(estimates: Estimates, known: tuple[float, float] | None) -> str:
    """The counts with the labelled rows of the same population added."""
    if known is None:
        return ""
    totals = [entry.total if isinstance(entry, Prevalences) else entry for entry in estimates.values()]
    sums = ", ".join(
        f"{one.method} {count(one.count + known[1])}"
        for one in totals
        if isinstance(one, Prevalence) and not one.reason
    )
    return f"With the {number(known[0])} labelled rows, {number(known[1])} of them positive, the whole population has: {sums}."


def _grown(estimates: Estimates, along: str, order: Sequence[Any] | None) -> Section:
    """Growth along a key, by method and group."""
    lines = []
    others: list[str] = []
    for name, entry in estimates.items():
        if not isinstance(entry, Prevalences):
            continue
        others = [key for key in entry.names if key != along]
        for line in entry.growths(along, order):
            groups = [Cell(str(line["group"][key]) if line["group"] else SUM_OF_GROUPS) for key in others]
            told = line["reason"] or change(line["growth"], line["low"], line["high"])
            lines.append(
                [Cell(name), *groups, Cell(str(line["from"])), Cell(str(line["to"])), Cell(told, line["growth"])]
            )
    text = "Both periods are counted with the same labelled rows, so most of their error cancels."
    drawable = {
        name: entry.growths(along, order) for name, entry in estimates.items()
        if isinstance(entry, Prevalences) and any(line["reason"] is None for line in entry.growths(along, order))
    }  # fmt: skip
    pictures = [charts.growth(drawable)] if drawable else []
    return Section("Growth of the count", text, pictures, [Table(["method", *others, "from", "to", "growth"], lines)])


def _fit_said(fit: MixtureFit, fits: MixtureFits | None, unseen: Sensitivity | None) -> str:
    verdict = fit.verdict if fits is None else fits.verdict
    return f"{verdict[0].upper()}{verdict[1:]}." + ("" if unseen is None else f" {unseen.sentence}")


def _fits_table(fits: MixtureFits) -> Table:
    lines = [
        [
            *(Cell(str(row[name])) for name in fits.names),
            Cell(number(row["misfit"]), row["misfit"]),
            Cell(p_value(row["p_value"]), row["p_value"]),
            Cell("contradicted" if row["contradicted"] else "not contradicted"),
        ]
        for row in fits.rows()
    ]
    return Table([*fits.names, "misfit", "p", "prior shift"], lines)


def _unseen_table(unseen: Sensitivity) -> Table:
    names = list(unseen.changes)
    lines = [
        [
            Cell(f"{signed(row['shift'], 1)} sd", row["shift"]),
            Cell(f"{100 * row['noticed']:.0f} %", row["noticed"]),
            *(Cell(signed(row[name]), row[name]) for name in names),
        ]
        for row in unseen.rows()
    ]
    return Table(["positives' scores move by", "noticed", *(f"count by {name} moves by" for name in names)], lines)


def _counts_said(
    ones: Sequence[Prevalence], fit: MixtureFit | None, fits: MixtureFits | None = None
) -> tuple[str, list[str]]:
    """The count that speaks in a line, and what stands against it."""
    facts = count_facts(ones)
    sentences = []
    best, naive = facts.speaks, facts.naive
    headline = ""
    if best is None:
        why = next((one.reason for one in ones if one.reason is not None), None)
        headline = (
            "No count is corrected for the classifier's errors."
            if why is None
            else f"No method gives a corrected count: {why}."
        )
    else:
        limits = "" if best.interval is None else f" ({_told(best.interval[0], best.n)} to {_told(best.interval[1], best.n)})"  # fmt: skip
        headline = (
            f"There are about {_told(best.prevalence, best.n)}{limits} positives among {_of_rows(float(best.n))}."
        )
        sentences.append(
            f"That is the estimate by {best.method}: of the methods asked for, the first in an order fixed beforehand."
        )
    if facts.range is not None:
        low, high = facts.range
        sentences.append(f"Methods that correct for the classifier's errors say {count(low)} to {count(high)}.")
    if naive is not None:
        sentences.append(f"{naive.method} gives {_told(naive.prevalence, naive.n)}, which is not corrected for the classifier's errors.")  # fmt: skip
    if facts.apart is not None:
        sentences.append(f"The methods disagree beyond their intervals ({' and '.join(facts.apart)}): doubt the assumption behind them.")  # fmt: skip
    if fit is not None:
        sentences.append(_fit_said(fit, fits, None))
    return headline, sentences


def _told(share: float, n: float) -> str:
    """A count, or a sum of weights so small that whole numbers say nothing."""
    value = share_of_rows(share, n) * n
    return count(value) if value == 0 or abs(value) >= 10 else amount(value)


def _of_rows(n: float) -> str:
    """Rows, or what rows weigh where that is no whole number."""
    return f"{amount(n)} rows" if n.is_integer() else f"rows of weight {amount(n)}"


def _classes_said(classes: Mapping[str, ClassPrevalences]) -> tuple[str, list[str]]:
    """The largest classes by the method that speaks, as far as intervals show which they are."""
    known = {name: entry for name, entry in classes.items() if any(one.reason is None for one in entry.values())}
    if not known:
        return "", []
    name = min(known, key=lambda one: QUANTIFIERS[one].precedence if one in QUANTIFIERS and QUANTIFIERS[one].shift_proof else 1_000)  # fmt: skip
    shares = {str(label): one for label, one in known[name].items()}
    facts = class_facts(shares)
    named = facts.order[: facts.largest or NAMED_CLASSES]
    parts = listed([f"{label} {per_cent(shares[label].prevalence, shares[label].low, shares[label].high)}" for label in named])  # fmt: skip
    if not facts.largest:
        headline = f"No class is shown to be the largest: {parts}."
    else:
        order = "" if facts.ordered else "; their order is not shown"
        headline = f"The largest class{'es are' if len(named) > 1 else ' is'} {parts}{order}."
    return headline, [f"Shares by {name}; the table has every class and method."]
