"""Reports on counts: estimated prevalences by method, group or class, their growth, fit and expected metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tallymark import charts
from tallymark._numbers import amount, change, count, number, p_value, per_cent, share_of_rows, signed
from tallymark.charts.theme import Chart
from tallymark.decisions.verdicts import NAMED_CLASSES, class_facts, count_facts
from tallymark.quantify.estimation.class_prevalences import ClassPrevalences
from tallymark.quantify.estimation.count import Count, total_of
from tallymark.quantify.estimation.prevalence import SUM_OF_GROUPS, Prevalence, Prevalences
from tallymark.registry import QUANTIFIERS
from tallymark.reporting.builders import ReportRequest, contents
from tallymark.reporting.methods import of_counts
from tallymark.reporting.page_model import Cell, Content, Fold, Methods, Remark, Section, Table, measured
from tallymark.reporting.sentences import at_level, listed

if TYPE_CHECKING:
    from tallymark.measures import Evaluation
    from tallymark.quantify.estimation.mixture_test import MixtureFits
    from tallymark.quantify.estimation.sensitivity import Sensitivity


@contents("Prevalence", "Prevalences", "ClassPrevalences")
def _of_data(named: Mapping[str, Any], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    return of_count(Count(estimates=named), request.title)


@contents("Count")
def _of_count(named: Mapping[str, Any], data: Count, request: ReportRequest) -> Content:  # noqa: ARG001
    return of_count(data, request.title)


def of_count(answer: Count, title: str | None) -> Content:
    """The report on a count: estimates by method, group or class, and everything that qualifies them."""
    sections = [_estimates(answer), _growth(answer), _shift(answer), _expected(answer.expected)]
    totals = list(answer.totals.values())
    headline, sentences = _verdict(totals, answer) if totals else _class_verdict(_classes(answer))
    return Content(
        title or "Count",
        [f"{_of_rows(float(totals[0].n))} without labels", *at_level(totals[0].level)] if totals else [],
        sentences,
        list(map(Remark.of, answer.warnings)),
        [section for section in sections if section is not None],
        headline=headline,
        methods=_methods(answer, totals),
    )


def _methods(answer: Count, totals: Sequence[Prevalence]) -> Methods:
    if not totals:
        return Methods()
    return of_counts(answer.estimates, float(totals[0].n), [one.interval_method for one in totals], totals[0].level)


def _classes(answer: Count) -> dict[str, ClassPrevalences]:
    """Estimates of K classes."""
    return {name: one for name, one in answer.estimates.items() if isinstance(one, ClassPrevalences)}


def _flat(answer: Count) -> dict[str, Prevalence | Prevalences]:
    """Estimates of one share, or of one share per group."""
    return {name: one for name, one in answer.estimates.items() if not isinstance(one, ClassPrevalences)}


def _grouped(answer: Count) -> dict[str, Prevalences]:
    """Estimates by group."""
    return {name: one for name, one in answer.estimates.items() if isinstance(one, Prevalences)}


def _audits(answer: Count) -> dict[str, Prevalence | Prevalences]:
    """The estimate from labelled rows alone, where there is one, by its method."""
    return {} if answer.audit is None else {total_of(answer.audit).method: answer.audit}


def _estimates(answer: Count) -> Section:
    """Every estimate with its interval."""
    lines = []
    keys: list[str] = []
    for entry in (*answer.estimates.values(), *_audits(answer).values()):
        if isinstance(entry, Prevalences):
            keys = list(entry.names)
            sums = [
                (tuple(key[0] if other == name else SUM_OF_GROUPS for other in entry.names), one)
                for name, by in entry.subtotals().items()
                for key, one in by.entries.items()
            ]
            pairs = [*entry.entries.items(), *sums, ((SUM_OF_GROUPS,) * len(entry.names), entry.total)]
            lines += [[Cell(one.method), *(Cell(str(k)) for k in key), *_cells(one)] for key, one in pairs]
        elif isinstance(entry, ClassPrevalences):
            keys = ["class"]
            lines += [[Cell(one.method), Cell(str(label)), *_cells(one)] for label, one in entry.items()]
        else:
            lines.append([Cell(entry.method), *_cells(entry)])
    table = Table(["method", *keys, "prevalence", "count", "of", "interval"], lines)
    return Section("Estimates", _with_labelled(answer), _pictures(answer), [table])


def _cells(one: Prevalence) -> list[Cell]:
    """Prevalence, count, rows and method of the interval."""
    rows = Cell(number(one.n), float(one.n))
    if one.reason is not None:
        return [Cell("–"), Cell("–"), rows, Cell(one.reason)]
    text = count(one.count)
    if one.interval is not None:
        text += f" ({count(one.interval[0] * one.n)} to {count(one.interval[1] * one.n)})"
    return [Cell(one.written, one.prevalence), Cell(text, one.count), rows, Cell(one.interval_method or "")]


def _pictures(answer: Count) -> list[Chart]:
    """Counts over time where growth is asked for, the classes' shares, or estimates side by side."""
    along, flat = answer.growth, _flat(answer) | _audits(answer)
    pictures = [charts.class_prevalences(_classes(answer))] if _classes(answer) else []
    if along is not None:
        over_time = {n: e for n, e in flat.items() if isinstance(e, Prevalences) and _has_value(e)}
        if over_time:
            pictures.append(charts.counts_over_time(over_time, along=along, order=answer.order))
        return pictures
    totals = {name: total_of(entry) for name, entry in flat.items()}
    if len(totals) > 1 and totals != flat and any(map(_has_value, totals.values())):
        pictures.append(charts.prevalences(totals, counts=True))
    if any(map(_has_value, flat.values())):
        pictures.append(charts.prevalences(flat))
    return pictures


def _has_value(entry: Any) -> bool:
    ones = entry.values() if isinstance(entry, Prevalences) else (entry,)
    return any(one.reason is None for one in ones)


def _with_labelled(answer: Count) -> str:
    """The counts with the labelled rows of the same population added."""
    if answer.labelled is None:
        return ""
    rows, positives = answer.labelled
    totals = list(answer.totals.values())
    sums = ", ".join(f"{one.method} {count(one.count + positives)}" for one in totals if not one.reason)
    labelled = f"{number(rows)} labelled rows, {number(positives)} of them {answer.words.kind}"
    return f"With the {labelled}, the whole population has: {sums}."


def _growth(answer: Count) -> Section | None:
    """Growth along a key, by method and group."""
    along = answer.growth
    if along is None:
        return None
    growths = {name: entry.growths(along, answer.order) for name, entry in _grouped(answer).items()}
    lines = []
    others: list[str] = []
    for name, steps in growths.items():
        others = [key for key in _grouped(answer)[name].names if key != along]
        for step in steps:
            groups = [Cell(str(step["group"][key]) if step["group"] else SUM_OF_GROUPS) for key in others]
            text = step["reason"] or change(step["growth"], step["low"], step["high"])
            ends = [Cell(str(step["from"])), Cell(str(step["to"]))]
            lines.append([Cell(name), *groups, *ends, Cell(text, step["growth"])])
    drawable = {name: steps for name, steps in growths.items() if any(step["reason"] is None for step in steps)}
    return Section(
        "Growth of the count",
        "Both periods are counted with the same labelled rows, so most of their error cancels.",
        [charts.growth(drawable)] if drawable else [],
        [Table(["method", *others, "from", "to", "growth"], lines)],
    )


def _shift(answer: Count) -> Section | None:
    """The test of prior shift: fit of the mixture, its power, and the fit by group."""
    fit, fits, unseen = answer.fit, answer.fits, answer.sensitivity
    if fit is None:
        return None
    heads = ["from", "to", "observed", "expected", "negative", "positive"]
    bins = [[Cell(number(row[h]), row[h] if np.isfinite(row[h]) else None) for h in heads] for row in fit.rows()]
    pictures, folded = [charts.mixture_fit(fit)], [Fold("Bins of the scores", (), [Table(heads, bins)])]
    text = _fit_verdict(answer)
    if unseen is not None:
        text += f" {unseen.sentence}"
        pictures.append(charts.sensitivity(unseen))
        folded.insert(0, Fold("What a move would do", (), [_power_table(unseen)]))
    return Section("Is this prior shift?", text, pictures, [] if fits is None else [_fits_table(fits)], folded)


def _fit_verdict(answer: Count) -> str:
    fit = answer.fit if answer.fits is None else answer.fits
    return "" if fit is None else f"{fit.verdict[0].upper()}{fit.verdict[1:]}."


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


def _power_table(unseen: Sensitivity) -> Table:
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


def _expected(expectation: Evaluation | None) -> Section | None:
    """Metrics at the estimated prevalence."""
    if expectation is None:
        return None
    rows = [[Cell(name, name, name), measured(m)] for name, m in expectation.items()]
    text = (
        f"At threshold {number(expectation.threshold)} and the estimated prevalence, if the classes' scores have not "
        "changed."
    )
    return Section("What to expect there", text, [charts.forest(expectation)], [Table(["metric", "value"], rows)])


def _verdict(totals: Sequence[Prevalence], answer: Count) -> tuple[str, list[str]]:
    """The preferred count in a line, and how the other counts compare."""
    facts = count_facts(totals)
    best, naive = facts.speaks, facts.naive
    sentences = []
    if best is not None:
        limits = "" if best.interval is None else " ({} to {})".format(*(_count(end, best.n) for end in best.interval))
        headline = (
            f"There are about {_count(best.prevalence, best.n)}{limits} {answer.words.plural} among "
            f"{_of_rows(float(best.n))}."
        )
        sentences.append(
            f"That is the estimate by {best.method}: of the methods requested, the first in an order fixed beforehand."
        )
    elif why := next((one.reason for one in totals if one.reason is not None), None):
        headline = f"No method gives a corrected count: {why}."
    else:
        headline = "No count is corrected for the classifier's errors."
    if facts.range is not None:
        low, high = facts.range
        sentences.append(f"Methods that correct for the classifier's errors say {count(low)} to {count(high)}.")
    if naive is not None:
        value = _count(naive.prevalence, naive.n)
        sentences.append(f"{naive.method} gives {value}, which is not corrected for the classifier's errors.")
    if facts.apart is not None:
        pair = " and ".join(facts.apart)
        sentences.append(f"The methods disagree beyond their intervals ({pair}): doubt the assumption behind them.")
    if answer.fit is not None:
        sentences.append(_fit_verdict(answer))
    return headline, sentences


def _count(share: float, n: float) -> str:
    """A count; a sum of weights that is too small for whole numbers keeps its digits."""
    value = share_of_rows(share, n) * n
    return count(value) if value == 0 or abs(value) >= 10 else amount(value)


def _of_rows(n: float) -> str:
    """The number of rows, or their weight where it is not a whole number."""
    return f"{amount(n)} rows" if n.is_integer() else f"rows of weight {amount(n)}"


def _class_verdict(classes: Mapping[str, ClassPrevalences]) -> tuple[str, list[str]]:
    """The largest classes by the preferred method, as far as intervals separate them from the others."""
    estimated = {name: entry for name, entry in classes.items() if any(one.reason is None for one in entry.values())}
    if not estimated:
        return "", []
    name = min(estimated, key=_precedence)
    shares = {str(label): one for label, one in estimated[name].items()}
    facts = class_facts(shares)
    named = facts.order[: facts.largest or NAMED_CLASSES]
    parts = listed(
        [f"{label} {per_cent(shares[label].prevalence, shares[label].low, shares[label].high)}" for label in named]
    )
    if not facts.largest:
        headline = f"No class is shown to be the largest: {parts}."
    else:
        order = "" if facts.ordered else "; their order is not shown"
        headline = f"The largest class{'es are' if len(named) > 1 else ' is'} {parts}{order}."
    return headline, [f"Shares by {name}; the table has every class and method."]


def _precedence(method: str) -> int:
    """Place of a method in the order of preference; methods that prior shift biases are last."""
    return QUANTIFIERS[method].precedence if method in QUANTIFIERS and QUANTIFIERS[method].shift_proof else 1_000
