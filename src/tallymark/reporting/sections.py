"""What a report says: sentences, warnings, pictures and tables, from results that are computed already."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tallymark import charts
from tallymark._show import number
from tallymark.comparison import Comparison
from tallymark.errors import InputError
from tallymark.quantify.classes import ClassPrevalences
from tallymark.quantify.prevalence import Prevalence, Prevalences
from tallymark.quantify.shift import MixtureFit, MixtureFits
from tallymark.quantify.unseen import Sensitivity
from tallymark.registry import QUANTIFIERS
from tallymark.results import Evaluation, Evaluations, Note
from tallymark.summaries.tally import Tally


@dataclass(frozen=True)
class Cell:
    """What a table shows, and what it sorts and copies by."""

    text: str
    value: float | str | None = None
    metric: str | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Table:
    """Columns and lines; a column of numbers stands to the right."""

    columns: Sequence[str]
    lines: Sequence[Sequence[Cell]]
    caption: str = ""


@dataclass(frozen=True)
class Section:
    """A heading with pictures and tables below it."""

    title: str
    text: str = ""
    pictures: Sequence[Any] = ()
    tables: Sequence[Table] = ()


@dataclass(frozen=True)
class Content:
    """Everything a page shows."""

    title: str
    what: str
    verdict: Sequence[str]
    warnings: Sequence[Note] = ()
    sections: Sequence[Section] = ()
    #: Tallies and thresholds the sliders run over.
    tallies: Mapping[str, Tally] = field(default_factory=dict)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    #: Costs and beta that were asked for, and the stated prevalence: where the sliders start.
    parameters: Mapping[str, float] = field(default_factory=dict)
    prevalence: float | None = None


#: Metrics that are drawn; the table has all.
_HEADLINE = (
    "auroc", "average_precision", "h_measure", "spcc", "recall", "precision", "f1", "mcc", "balanced_accuracy", "kappa",
)  # fmt: skip

#: Below this share of positives accuracy says nothing; below this number of them every figure is shaky.
_RARE, _FEW = 0.05, 50


def _with_limits(value: float, low: float | None, high: float | None) -> str:
    return number(value) if low is None or high is None else f"{number(value)} ({number(low)} to {number(high)})"


def measured(measure: Any) -> Cell:
    """A measure with its interval."""
    if measure.reason is not None:
        return Cell("undefined", None)
    return Cell(_with_limits(measure.value, measure.low, measure.high), measure.value, None, measure.low, measure.high)


def of_models(
    tallies: Mapping[str, Tally], evaluations: Mapping[str, Evaluation], *, title: str, comparison: Comparison | None = None,
    simple: Any = None, notes: Sequence[Note] | None = None, same_rows: bool | None = None,
) -> Content:  # fmt: skip
    """The report of one or several models on labelled data, or of models in several groups.

    `same_rows` says that all are models of the same rows; left out, that is so if their numbers of rows and positives agree.
    """
    one_class = [name for name, tally in tallies.items() if not tally.positives or not tally.negatives]
    tallies = {name: tally for name, tally in tallies.items() if name not in one_class}
    if not tallies:
        raise InputError("There is nothing to draw: no model or group has rows of both classes.")
    first = evaluations[next(iter(tallies))]
    share = float((first.positives or 0) / first.n)
    thresholds = {
        name: float(evaluations[name].threshold or 0.0) for name in tallies if evaluations[name].threshold is not None
    }
    if same_rows is None:
        # Sums of weights agree up to the order they were added in.
        same_rows = len({(ev.n_rows, f"{float(ev.positives or 0):.9g}") for ev in evaluations.values()}) == 1
    said = [
        Note(note.code, note.message if len(evaluations) == 1 else f"{name}: {note.message}")
        for name, ev in evaluations.items() for note in ev.warnings
    ] if notes is None else list(notes)  # fmt: skip
    warnings = [*(_of_shares(first, share) if same_rows else []), *said]
    warnings += [
        Note("one class", f"{name} has rows of one class only and is left out of the pictures.") for name in one_class
    ]
    if simple is not None and simple.share > 0.3:
        warnings.append(Note("simple", f"{100 * simple.share:.0f} % of the rows are right for every model at any threshold; "
                                    "differences between models hide behind them."))  # fmt: skip
    cut = {name: tally.at(thresholds[name]) for name, tally in tallies.items() if name in thresholds}
    one = len(tallies) == 1
    # Bands need resampling; of a million rows they are thinner than the line.
    band = one and first.n_rows <= 100_000
    pictures: list[Any] = [charts.roc(tallies, band=band, thresholds=sorted(set(thresholds.values())) if one else ())]
    pictures.append(
        charts.pr(tallies, thresholds=sorted(set(thresholds.values())) if one else (), prevalence=first.prevalence)
    )
    by_model = [charts.score_histogram({name: tally}, log=share < _RARE) for name, tally in tallies.items()]
    probabilities = all(tally.is_probability for tally in tallies.values())
    shape = [charts.reliability(tallies)] if probabilities else []
    sections = [
        Section("Ranking", "How well the scores put positives above negatives, over all thresholds.", pictures),
        Section("Metrics", "Every number with its interval; a click on a name explains it. Grey ticks are what chance reaches.",
                [charts.forest(_some(evaluations), metrics=_HEADLINE)], [_metric_table(evaluations)]),
        Section("Scores", "How the scores of each class are distributed, and whether probabilities mean what they say.", [*by_model, *shape]),
        Section("At the threshold", "What the chosen threshold calls positive, and what other thresholds would give.",
                [*(charts.confusion(c, name=n) for n, c in cut.items()), *(charts.over_thresholds({n: t}) for n, t in tallies.items())]),
        Section("At other prevalences and costs", "What would become of the same classifier where positives are rarer or commoner.",
                [*(charts.over_prevalence({n: t}, threshold=thresholds.get(n, 0.5)) for n, t in tallies.items()), charts.gain(tallies), charts.cost_curve(tallies),
                 *([charts.decision(tallies)] if probabilities else [])]),
    ]  # fmt: skip
    if comparison is not None:
        sections.insert(2, _compared(comparison))
    if simple is not None:
        sections.append(
            Section(
                "Without simple objects",
                "Objects that every model gets right at any threshold flatter all models.",
                [charts.no_simple(simple)],
            )
        )
    verdict = [*_verdict(evaluations, same_rows=same_rows), *([_said(comparison)] if comparison is not None else [])]
    what = (
        first.heading()
        if same_rows
        else f"{len(evaluations)} evaluations of groups, {sum(ev.n_rows for ev in evaluations.values())} rows in all"
    )
    return Content(
        title, what, verdict[:3], _once(warnings), sections, tallies, thresholds,
        {k: v for k, v in first.parameters.items() if k in {"cost_fp", "cost_fn", "beta"}}, first.prevalence,
    )  # fmt: skip


def of_classes(evaluations: Mapping[str, Evaluation], *, title: str) -> Content:
    """The report of predicted classes, or of a score per class: any number of classes."""
    first = next(iter(evaluations.values()))
    pictures = [
        charts.confusion(ev.confusion, rates=rates, name=name) for name, ev in evaluations.items() if ev.confusion is not None for rates in (False, True)
    ]  # fmt: skip
    pictures += [
        charts.class_correlations(ev)
        for ev in evaluations.values()
        if ev.confusion is not None and "spcc_one_vs_one" in ev.tables
    ]
    sections = [Section("Truth and prediction", "", pictures), Section("Metrics", "", (), [_metric_table(evaluations)])]
    for name, ev in evaluations.items():
        if ev.per_class:
            columns = list(next(iter(ev.per_class.values())))
            lines = [
                [Cell(label), *(measured(measures[c]) for c in columns)] for label, measures in ev.per_class.items()
            ]
            sections.append(
                Section(f"Each class against the rest: {name}", "", (), [Table(["class", *columns], lines)])
            )
    shown = [name for name in ("accuracy", "balanced_accuracy", "mcc") if name in first]
    said = ", ".join(f"{name} {_with_limits(first[name].value, first[name].low, first[name].high)}" for name in shown)
    notes = _once([note for ev in evaluations.values() for note in ev.warnings])
    return Content(title, first.heading(), [f"{next(iter(evaluations))}: {said}."] if said else [], notes, sections)


def _some(evaluations: Mapping[str, Evaluation]) -> Any:
    return Evaluations(("model",), {(name,): ev for name, ev in evaluations.items()})


def _of_shares(first: Evaluation, share: float) -> list[Note]:
    found = []
    if share < _RARE:
        found.append(Note("imbalance", f"Only {100 * share:.3g} % of the rows are positive: saying no to everything has an accuracy "
                                       f"of {1 - share:.4f}. Read precision, recall and average precision instead."))  # fmt: skip
    if (first.positives or 0) < _FEW:
        found.append(
            Note(
                "few",
                f"Few positives ({number(first.positives)}): a handful of rows can turn the picture.",
            )
        )
    return found


def _once(notes: Sequence[Note]) -> list[Note]:
    return list(dict.fromkeys(notes))


def _verdict(evaluations: Mapping[str, Evaluation], *, same_rows: bool) -> list[str]:
    def said(ev: Evaluation, name: str) -> str:
        m = ev[name]
        return _with_limits(m.value, m.low, m.high)

    def first_by(metric: str) -> str | None:
        ranked = {
            name: ev[metric].value for name, ev in evaluations.items() if metric in ev and ev[metric].reason is None
        }
        return max(ranked, key=lambda name: ranked[name]) if ranked else None

    best, top = first_by("auroc"), first_by("average_precision")
    sentences = []
    if best is not None:
        ev = evaluations[best]
        verb = "has the highest AUROC in these rows," if same_rows and len(evaluations) > 1 else "has an AUROC of"
        sentence = f"{best} {verb} {said(ev, 'auroc')}"
        if top is not None and "average_precision" in ev:
            chance = ev["average_precision"].chance
            sentence += f" and an average precision of {said(ev, 'average_precision')}" + (
                "." if chance is None else f", where chance has {number(chance)}."
            )
            if same_rows and top != best:
                sentence += f" At the top of the list {top} is ahead: its average precision is {said(evaluations[top], 'average_precision')}."
        else:
            sentence += "."
        sentences.append(sentence)
    name = best or next(iter(evaluations))
    ev = evaluations[name]
    if "recall" in ev and "precision" in ev and ev.threshold is not None:
        off = ev["recall"].optimism
        flatters = "" if off is None else f"; that flatters recall by about {number(off)}"
        policy = f" ({ev.policy}, chosen on these rows{flatters})" if ev.policy else ""
        right = (
            "nothing is called positive"
            if ev["precision"].reason
            else f"{said(ev, 'precision')} of its calls are right"
        )
        sentences.append(
            f"At threshold {number(ev.threshold)}{policy} {name} finds {said(ev, 'recall')} of the positives; {right}."
        )
    return sentences


def _metric_table(evaluations: Mapping[str, Evaluation]) -> Table:
    names = list(dict.fromkeys(name for ev in evaluations.values() for name in ev))
    lines = []
    for name in names:
        chances = [ev[name].chance for ev in evaluations.values() if name in ev and ev[name].chance is not None]
        shown = dict.fromkeys(number(chance) for chance in chances)
        cells = [measured(ev[name]) if name in ev else Cell("") for ev in evaluations.values()]
        lines.append([Cell(name, name, name), *cells, Cell(" / ".join(shown), chances[0] if chances else None)])
    first = next(iter(evaluations.values()))
    return Table(["metric", *evaluations, "chance"], lines, first.intervals or "")


def _compared(found: Comparison) -> Section:
    lines = [
        [Cell(f"{p.first} − {p.second}"), Cell(_with_limits(p.difference, p.low, p.high), p.difference), Cell(f"{p.p_value:.4g}", p.p_value),
         Cell(f"{p.p_holm:.4g}", p.p_holm), Cell(p.verdict), Cell(p.method)]
        for p in found.pairs
    ]  # fmt: skip
    heads = ["pair", f"difference of {found.metric}", "p", "p (Holm)", "verdict", "method"]
    text = "The same rows, so most of the chance cancels. " + _said(found)
    return Section(
        "Which model is better",
        text,
        [charts.comparison(found)],
        [Table(heads, lines, f"{100 * found.level:g} % intervals")],
    )


def _said(found: Comparison) -> str:
    """The clearest difference, and how many are left open."""
    pair = min(found.pairs, key=lambda p: p.p_value)
    limits = (
        f"{pair.first} − {pair.second}: {_with_limits(pair.difference, pair.low, pair.high)}, p = {pair.p_holm:.2g}"
    )
    if len(found.pairs) > 1:
        limits += " after Holm's correction"
    verdict = pair.verdict
    for one, other in ((pair.first, pair.second), (pair.second, pair.first)):
        verdict = verdict.replace(f"{one} is better", f"{one} is better than {other}").replace(
            f"{one} is higher", f"{one} is higher than {other}"
        )
    undecided = sum(p.p_holm >= 1.0 - found.level for p in found.pairs)
    rest = f" {undecided} of {len(found.pairs)} pairs are undecided." if len(found.pairs) > 1 and undecided else ""
    return f"By {found.metric}, {verdict} ({limits}).{rest}"


def of_comparison(found: Comparison, *, title: str) -> Content:
    """The report of a comparison alone."""
    values = Table(
        ["model", found.metric], [[Cell(name), Cell(number(float(v)), float(v))] for name, v in found.values.items()]
    )
    section = _compared(found)
    what = f"{len(found.values)} models on the same {found.n} rows, {found.positives} positive"
    first = Section("Values", tables=[values])
    return Content(title, what, [_said(found)], [], [first, section])


Estimates = Mapping[str, Any]

#: Which method speaks for the count when there are several.
_ORDER = ("bayes", "ms", "pacc", "ac", "em", "kde")


def of_counts(
    estimates: Estimates, *, title: str, fit: MixtureFit | None = None, expectation: Evaluation | None = None,
    warnings: Sequence[Note] = (), growth: str | None = None, fits: MixtureFits | None = None,
    unseen: Sensitivity | None = None, known: tuple[float, float] | None = None,
) -> Content:  # fmt: skip
    """The report of a count: estimates by method, group or class."""
    lines = []
    grouped: list[str] = []
    for entry in estimates.values():
        if isinstance(entry, Prevalences):
            grouped = list(entry.names)
            sums = [
                (tuple(key[0] if own == name else "(all)" for own in entry.names), one)
                for name, by in entry.subtotals().items() for key, one in by.entries.items()
            ]  # fmt: skip
            pairs = [*entry.entries.items(), *sums, (("(all)",) * len(entry.names), entry.total)]
            lines += [[Cell(one.method), *(Cell(str(k)) for k in key), *_counted(one)] for key, one in pairs]
        elif isinstance(entry, ClassPrevalences):
            grouped = ["class"]
            lines += [[Cell(one.method), Cell(str(label)), *_counted(one)] for label, one in entry.items()]
        else:
            lines.append([Cell(entry.method), *_counted(entry)])
    table = Table(["method", *grouped, "prevalence", "count", "of", "interval"], lines)
    flat = {name: entry for name, entry in estimates.items() if not isinstance(entry, ClassPrevalences)}
    pictures = [charts.prevalences(flat)] if flat else []
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
                [charts.mixture(fit)],
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
    return Content(title, what, _counts_said(ones, fit, fits), list(warnings), sections)


def _counted(one: Prevalence) -> list[Cell]:
    if one.reason is not None:
        return [Cell("–"), Cell("–"), Cell(number(one.n), float(one.n)), Cell(one.reason)]
    count = (
        f"{one.count:.0f}"
        if one.low is None or one.high is None
        else f"{one.count:.0f} ({one.low * one.n:.0f} to {one.high * one.n:.0f})"
    )
    return [
        Cell(_with_limits(one.prevalence, one.low, one.high), one.prevalence),
        Cell(count, one.count),
        Cell(number(one.n), float(one.n)),
        Cell(one.interval or ""),
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
        [*(Cell(str(row[name])) for name in fits.names), Cell(number(row["misfit"]), row["misfit"]),
         Cell(f"{row['p_value']:.3g}", row["p_value"]), Cell("contradicted" if row["contradicted"] else "not contradicted")]
        for row in fits.rows()
    ]  # fmt: skip
    return Table([*fits.names, "misfit", "p", "prior shift"], lines)


def _unseen_table(unseen: Sensitivity) -> Table:
    names = list(unseen.changes)
    lines = [
        [Cell(f"{row['shift']:+.1f} sd", row["shift"]), Cell(f"{100 * row['noticed']:.0f} %", row["noticed"]),
         *(Cell(f"{row[name]:+.0f}", row[name]) for name in names)]
        for row in unseen.rows()
    ]  # fmt: skip
    return Table(["positives' scores move by", "noticed", *(f"count by {name} moves by" for name in names)], lines)


def _counts_said(ones: Sequence[Prevalence], fit: MixtureFit | None, fits: MixtureFits | None = None) -> list[str]:
    sentences = []
    good = [one for one in ones if one.reason is None and QUANTIFIERS[one.method].shift_proof]
    naive = [one for one in ones if one.reason is None and not QUANTIFIERS[one.method].shift_proof]
    if good:
        # In a fixed order: to pick the narrowest interval afterwards would flatter it.
        best = min(good, key=lambda one: _ORDER.index(one.method) if one.method in _ORDER else len(_ORDER))
        limits = (
            "" if best.low is None or best.high is None else f" ({best.low * best.n:.0f} to {best.high * best.n:.0f})"
        )
        sentences.append(f"There are about {best.count:.0f}{limits} positives among {number(best.n)} ({best.method}).")
    if naive and good:
        sentences.append(
            f"Counting calls ({naive[0].method}) gives {naive[0].count:.0f}, which is not corrected for the classifier's errors."
        )
    if len(good) > 1:
        apart = [
            f"{a.method} and {b.method}" for a, b in itertools.combinations(good, 2)
            if None not in (a.low, a.high, b.low, b.high) and (a.low > b.high or b.low > a.high)  # type: ignore[operator]
        ]  # fmt: skip
        if apart:
            sentences.append(
                f"The methods disagree beyond their intervals ({apart[0]}): doubt the assumption behind them."
            )
    if fit is not None and len(sentences) < 3:
        sentences.append(_fit_said(fit, fits, None))
    return sentences
