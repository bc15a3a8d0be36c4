"""The report of one or several models on labelled data, or of models in several groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tallymark import charts
from tallymark._numbers import number, with_limits
from tallymark.charts.estimates import in_forest
from tallymark.charts.inputs import tallies_of
from tallymark.comparison.comparing import compare
from tallymark.comparison.results import Comparison
from tallymark.curves.base import Curve
from tallymark.decide.advice import Advice
from tallymark.decide.verdicts import MANY_SIMPLE, ModelFacts, model_facts
from tallymark.errors import InputError
from tallymark.evaluation.evaluate import evaluate
from tallymark.measures import Evaluation, Evaluations
from tallymark.notes import Note
from tallymark.reporting.content import Content, Remark, Section, metric_table, once
from tallymark.reporting.contents import ReportRequest, contents
from tallymark.reporting.of_comparison import compared_section, compared_sentence
from tallymark.simple import without_simple
from tallymark.summaries.panel import Panel
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally

#: Metrics that are drawn; the table has all.
_HEADLINE = (
    "auroc", "average_precision", "h_measure", "spcc", "recall", "precision", "f1", "mcc", "balanced_accuracy", "kappa",
)  # fmt: skip


@contents(Tally, Tallies, Panel, Curve)
def _of_data(named: Mapping[str, Any], data: Any, request: ReportRequest) -> Content:
    """Models evaluated and, on the same rows, compared."""
    tallies = tallies_of(data if isinstance(data, Tallies | Panel) else named)
    evaluations = {
        name: evaluate(tally, threshold=request.threshold, level=request.level, sampling=request.sampling)
        for name, tally in tallies.items()
    }
    panel = data if isinstance(data, Panel) and len(tallies) > 1 else None
    compared = None if panel is None else compare(panel, metric="auroc", level=request.level, sampling=request.sampling)
    return of_models(
        tallies,
        evaluations,
        title=request.title or "Evaluation of a classifier",
        comparison=compared,
        simple=None if panel is None else without_simple(panel),
        advice=request.advice,
    )


def of_models(
    tallies: Mapping[str, Tally],
    evaluations: Mapping[str, Evaluation],
    *,
    title: str,
    comparison: Comparison | None = None,
    simple: Any = None,
    notes: Sequence[Note] | None = None,
    same_rows: bool | None = None,
    advice: Advice | None = None,
) -> Content:
    """The report of one or several models on labelled data, or of models in several groups.

    `same_rows` says that all are models of the same rows; left out, that is so if their numbers of rows and positives agree.
    """
    one_class = [name for name, tally in tallies.items() if not tally.positives or not tally.negatives]
    tallies = {name: tally for name, tally in tallies.items() if name not in one_class}
    if not tallies:
        raise InputError("There is nothing to draw: no model or group has rows of both classes.")
    first = evaluations[next(iter(tallies))]
    thresholds = {
        name: float(evaluations[name].threshold or 0.0) for name in tallies if evaluations[name].threshold is not None
    }
    facts = model_facts({name: evaluations[name] for name in tallies}, same_rows=same_rows)
    said = (
        [
            Remark(note.code, note.message if len(evaluations) == 1 else f"{name}: {note.message}")
            for name, ev in evaluations.items()
            for note in ev.warnings
        ]
        if notes is None
        else list(map(Remark.of, notes))
    )
    warnings = [*(_remarks(facts) if facts.same_rows else []), *said]
    warnings += [
        Remark("one class", f"{name} has rows of one class only and is left out of the pictures.") for name in one_class
    ]
    if simple is not None and simple.share > MANY_SIMPLE:
        warnings.append(
            Remark(
                "simple",
                f"{100 * simple.share:.0f} % of the rows are right for every model at any threshold; "
                "differences between models hide behind them.",
            )
        )
    cut = {name: tally.at(thresholds[name]) for name, tally in tallies.items() if name in thresholds}
    one = len(tallies) == 1
    # Bands need resampling; of a million rows they are thinner than the line.
    band = one and first.n_rows <= 100_000 and next(iter(tallies.values())).clusters is None
    pictures: list[Any] = [charts.roc(tallies, band=band, thresholds=sorted(set(thresholds.values())) if one else ())]
    pictures.append(
        charts.pr(tallies, thresholds=sorted(set(thresholds.values())) if one else (), prevalence=first.prevalence)
    )
    first_of = () if advice is None else advice.metrics
    by_model = [charts.score_histogram({name: tally}, log=facts.rare) for name, tally in tallies.items()]
    probabilities = all(tally.is_probability for tally in tallies.values())
    shape = [charts.calibration_curve(tallies)] if probabilities else []
    sections = [
        Section("Ranking", "How well the scores put positives above negatives, over all thresholds.", pictures),
        Section("Metrics", "Every number with its interval; a click on a name explains it. Grey ticks are what chance reaches.",
                _forest(evaluations, first_of), [metric_table(evaluations, first_of)]),
        Section("Scores", "How the scores of each class are distributed, and whether probabilities mean what they say.", [*by_model, *shape]),
        Section("At the threshold", "What the chosen threshold predicts positive, and what other thresholds would give.",
                [*(charts.confusion(c, name=n) for n, c in cut.items()), *(charts.over_thresholds({n: t}) for n, t in tallies.items())]),
        Section("At other prevalences and costs", "What would become of the same classifier where positives are rarer or commoner.",
                [*(charts.over_prevalence({n: t}, threshold=thresholds.get(n, 0.5)) for n, t in tallies.items()), charts.gain(tallies), charts.cost_curve(tallies),
                 *([charts.decision_curve(tallies)] if probabilities else [])]),
    ]  # fmt: skip
    if comparison is not None:
        sections.insert(2, compared_section(comparison))
    if simple is not None:
        sections.append(
            Section(
                "Without simple objects",
                "Objects that every model gets right at any threshold flatter all models.",
                [charts.without_simple(simple)],
            )
        )
    advised = [] if advice is None else [advice.heading().splitlines()[0]]
    verdict = [
        *advised,
        *_sentences(evaluations, facts),
        *([compared_sentence(comparison)] if comparison is not None else []),
    ]
    what = (
        first.heading()
        if facts.same_rows
        else f"{len(evaluations)} evaluations of groups, {sum(ev.n_rows for ev in evaluations.values())} rows in all"
    )
    return Content(
        title, what, verdict[: 3 + len(advised)], once(warnings), sections, tallies, thresholds,
        {k: v for k, v in first.parameters.items() if k in {"cost_fp", "cost_fn", "beta"}}, first.prevalence,
    )  # fmt: skip


def _forest(evaluations: Mapping[str, Evaluation], first: Sequence[str] = ()) -> list[Any]:
    """The headline metrics drawn, recommended ones too, or whatever was asked for instead; nothing where no number can stand beside others."""
    drawable = {m.name for ev in evaluations.values() for m in ev.values() if in_forest(m)}
    chosen = tuple(name for name in dict.fromkeys((*first, *_HEADLINE)) if name in drawable) or tuple(drawable)
    together = Evaluations(("model",), {(name,): ev for name, ev in evaluations.items()})
    return [charts.forest(together, metrics=chosen)] if chosen else []


def _remarks(facts: ModelFacts) -> list[Remark]:
    """What rare or few positives mean for the reader."""
    items = []
    if facts.rare:
        items.append(
            Remark(
                "imbalance",
                f"Only {100 * facts.share:.3g} % of the rows are positive: saying no to everything has an accuracy "
                f"of {1 - facts.share:.4f}. Read precision, recall and average precision instead.",
            )
        )
    if facts.few:
        items.append(
            Remark("few", f"Few positives ({number(facts.positives)}): a handful of rows can turn the picture.")
        )
    return items


def _sentences(evaluations: Mapping[str, Evaluation], facts: ModelFacts) -> list[str]:
    """The facts in words."""

    def said(name: str, metric: str) -> str:
        measure = evaluations[name][metric]
        return with_limits(measure.value, measure.low, measure.high)

    sentences = []
    best = facts.leaders.get("auroc")
    if best is not None:
        ranked = facts.same_rows and len(evaluations) > 1
        sentence = (
            f"{best} {'has the highest AUROC in these rows,' if ranked else 'has an AUROC of'} {said(best, 'auroc')}"
        )
        if "average_precision" in facts.leaders and "average_precision" in evaluations[best]:
            chance = evaluations[best]["average_precision"].chance
            beside = "." if chance is None else f", where chance has {number(chance)}."
            sentence += f" and an average precision of {said(best, 'average_precision')}{beside}"
            if facts.rivals is not None:
                top = facts.rivals[1]
                sentence += f" At the top of the list {top} is ahead: its average precision is {said(top, 'average_precision')}."
        else:
            sentence += "."
        sentences.append(sentence)
    name = facts.speaks
    ev = evaluations[name]
    if "recall" in ev and "precision" in ev and ev.threshold is not None:
        off = ev["recall"].optimism
        flatters = "" if off is None else f"; that flatters recall by about {number(off)}"
        policy = f" ({ev.policy}, chosen on these rows{flatters})" if ev.policy else ""
        right = (
            "nothing is predicted positive"
            if ev["precision"].reason
            else f"{said(name, 'precision')} of its predicted positives are right"
        )
        sentences.append(
            f"At threshold {number(ev.threshold)}{policy} {name} finds {said(name, 'recall')} of the positives; {right}."
        )
    return sentences
