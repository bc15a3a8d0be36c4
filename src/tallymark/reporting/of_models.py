"""The report of one or several models on labelled data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tallymark import charts
from tallymark._numbers import per_cent
from tallymark.charts.inputs import tallies_of
from tallymark.comparison.compare import compare
from tallymark.comparison.results import Comparison
from tallymark.curves.base import Curve
from tallymark.decisions.verdicts import (
    MANY_SIMPLE,
    metrics_to_compare,
    model_facts,
)
from tallymark.errors import InputError, Undefined
from tallymark.evaluation.evaluate import evaluate
from tallymark.measures import Evaluation
from tallymark.notes import Note
from tallymark.prices.advice import Advice
from tallymark.registry import METRICS
from tallymark.reporting.builders import ReportRequest, contents, require_used
from tallymark.reporting.explorer import BANDS_UP_TO
from tallymark.reporting.of_comparison import compared_section
from tallymark.reporting.of_groups import of_groups
from tallymark.reporting.page_model import Bar, Content, Fold, Line, Remark, Section, metric_tables, once
from tallymark.reporting.remarks import described, flattered, leaks, no_sums, rarity
from tallymark.reporting.sentences import model_headline, model_sentences
from tallymark.simple import without_simple
from tallymark.summaries.panel import Panel
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally

#: What an evaluation is asked for.
_EVALUATED = ("threshold", "level", "prevalence", "parameters", "sampling")


@contents(Tally, Tallies, Panel, Curve, uses=(*_EVALUATED, "advice"))
def _of_data(named_: Mapping[str, Any], data: Any, request: ReportRequest) -> Content:
    """Models evaluated and, on the same rows, compared; groups beside their total."""
    options: dict[str, Any] = {
        "threshold": request.threshold,
        "level": request.level,
        "sampling": request.sampling,
        "prevalence": request.prevalence,
        **request.parameters,
    }
    title = request.title or "Evaluation of a classifier"
    if isinstance(data, Tallies) and len(data.names) > data.by_model:
        require_used(request, ("title", *_EVALUATED), data)
        return of_groups(data, evaluate(data, **options), options, title=title)
    tallies = tallies_of(data if isinstance(data, Tallies | Panel) else named_)
    evaluations = {name: evaluate(tally, **options) for name, tally in tallies.items()}
    panel = data if isinstance(data, Panel) and len(tallies) > 1 else None
    return of_models(
        tallies,
        evaluations,
        title=title,
        same_rows=panel is not None or len(tallies) == 1,
        comparisons=() if panel is None else compared(panel, evaluations, request.level, request.sampling),
        simple=None if panel is None else without_simple(panel),
        advice=request.advice,
    )


def compared(
    panel: Any, evaluations: Mapping[str, Evaluation], level: float, sampling: Any, metrics: Sequence[str] | None = None
) -> list[Comparison]:
    """The models of a panel compared by the metrics that a verdict rests on, at the thresholds they were evaluated at."""
    first = next(iter(evaluations.values()))
    found = []
    for metric in metrics_to_compare(first) if metrics is None else metrics:
        facts = METRICS[metric]
        at_cut = facts.needs == "confusion"
        given: dict[str, Any] = {name: v for name, v in first.parameters.items() if name in facts.parameters and at_cut}
        threshold = (first.policy or first.threshold) if at_cut else None
        try:
            found.append(compare(panel, metric=metric, threshold=threshold, level=level, sampling=sampling, **given))
        except (InputError, Undefined):
            # Too few rows to compare: the page then says that models were not tested.
            continue
    return found


def of_models(
    tallies: Mapping[str, Tally],
    evaluations: Mapping[str, Evaluation],
    *,
    title: str,
    same_rows: bool,
    comparisons: Sequence[Comparison] = (),
    simple: Any = None,
    notes: Sequence[Note] | None = None,
    advice: Advice | None = None,
) -> Content:
    """The report of one model, of several on the same rows (`same_rows`), or of several that have nothing to do with each other."""
    one_class = [name for name, tally in tallies.items() if not tally.positives or not tally.negatives]
    tallies = {name: tally for name, tally in tallies.items() if name not in one_class}
    if not tallies:
        raise InputError("There is nothing to draw: no model or group has rows of both classes.")
    drawn = {name: evaluations[name] for name in tallies}
    first = next(iter(drawn.values()))
    facts = model_facts(drawn, comparisons)
    rare = facts.rare
    # Pictures speak of the prevalence that the numbers speak of.
    seen = {name: tally.at_prevalence(first.prevalence) for name, tally in tallies.items()}
    advised = () if advice is None else advice.metrics
    leading = tuple(dict.fromkeys((*(name for name in advised if name in first), *facts.metrics)))
    warnings = [
        *(rarity(facts, first) if same_rows else []),
        *(leaks(tallies) if same_rows else []),
        *(no_sums(drawn) if same_rows else []),
        *flattered(drawn, facts.leading),
        *_noted(evaluations, notes),
        *(Remark("one class", f"{name} has rows of one class only and is left out of the pictures.",
                 "Curves and rankings need positives and negatives.") for name in one_class),
        *_many_simple(simple),
    ]  # fmt: skip
    order = facts.order if same_rows else tuple(drawn)
    index = {name: i for i, name in enumerate(tallies)}
    sections = [
        *(compared_section(one) for one in comparisons),
        *([] if all(one.threshold is not None for one in drawn.values()) else [_ranking(tallies, first)]),
        _lists(seen, rare=rare),
        _scores(tallies, drawn, rare=rare),
        _elsewhere(seen, drawn, rare=rare),
        *([] if simple is None else [_without_simple(simple)]),
        Section("All metrics", "Every number with its interval; a click on a name explains it.",
                (), metric_tables({name: evaluations[name] for name in (*order, *one_class)}, leading)),
    ]  # fmt: skip
    advised_line = [] if advice is None else [advice.heading().splitlines()[0]]
    return Content(
        title,
        described(first) if same_rows else [f"{len(drawn)} evaluations, each of rows of its own"],
        [*advised_line, *(model_sentences(drawn, facts) if same_rows else _apart(drawn))],
        once(warnings),
        sections,
        headline=model_headline(drawn, facts) if same_rows else f"{len(drawn)} evaluations that were not compared.",
        lines=[
            Line(name, [Bar.of(drawn[name][m]) for m in leading[:4] if m in drawn[name]], index[name]) for name in order
        ],
        tallies=tallies,
        evaluations=drawn,
    )


def _apart(evaluations: Mapping[str, Evaluation]) -> list[str]:
    """Models whose rows may differ, one by one."""
    told = list(evaluations.items())[:3]
    rest = len(evaluations) - len(told)
    return [
        *(f"{name}: {' '.join(model_sentences({name: one}, model_facts({name: one})))}" for name, one in told),
        *([f"{rest} more stand below."] if rest else []),
    ]


def _noted(evaluations: Mapping[str, Evaluation], notes: Sequence[Note] | None) -> list[Remark]:
    """Guards that fired: those passed on, or each evaluation's own."""
    if notes is not None:
        return list(map(Remark.of, notes))
    several = len(evaluations) > 1
    return [
        Remark.of(Note(note.code, f"{name}: {note.message}" if several else note.message))
        for name, one in evaluations.items()
        for note in one.warnings
    ]


def _many_simple(simple: Any) -> list[Remark]:
    if simple is None or simple.share <= MANY_SIMPLE:
        return []
    return [
        Remark(
            "simple",
            f"{per_cent(simple.share)} of the rows are right for every model at any threshold; differences between models hide behind them.",
            "Rows that nobody gets wrong flatter every model alike. The section “Without simple objects” leaves them out.",
        )
    ]


def bands(tallies: Mapping[str, Tally]) -> bool:
    """Whether curves get bands: rows are few enough to be resampled, and not in clusters."""
    return all(t.clusters is None and sum(run.n_rows for run in t.runs) <= BANDS_UP_TO for t in tallies.values())


def _ranking(tallies: Mapping[str, Tally], first: Evaluation) -> Section:
    """The curves of models without a threshold to explore."""
    band = bands(tallies)
    pictures = [charts.roc(tallies, band=band), charts.pr(tallies, band=band, prevalence=first.prevalence)]
    return Section("Ranking", "How well the scores put positives above negatives, over all thresholds.", pictures)


def _lists(tallies: Mapping[str, Tally], *, rare: bool) -> Section:
    pictures = [charts.gain(tallies, log=rare), charts.gain(tallies, lift=True, log=rare)]
    return Section("Ranking and lists", "How many positives a list from the top holds, and how much better that is than a list drawn at random.", pictures)  # fmt: skip


def _scores(tallies: Mapping[str, Tally], evaluations: Mapping[str, Evaluation], *, rare: bool) -> Section:
    cut = {name: one.threshold for name, one in evaluations.items()}
    shapes = {
        name: charts.score_histogram({name: tally}, logit=rare and tally.is_probability, threshold=cut[name])
        for name, tally in tallies.items()
    }
    folded = list(shapes.items())[_OPEN:]
    reliable = [charts.calibration_curve(tallies, log=rare)] if all(t.is_probability for t in tallies.values()) else []
    return Section(
        "Scores and calibration",
        "How the scores of each class are distributed"
        + (
            ", and whether probabilities mean what they say: below the line they promise too much." if reliable else "."
        ),
        [*list(shapes.values())[:_OPEN], *reliable],
        folded=[Fold(name, [picture]) for name, picture in folded],
    )


#: Models whose own pictures are open; those of others are folded.
_OPEN = 2


def _elsewhere(tallies: Mapping[str, Tally], evaluations: Mapping[str, Evaluation], *, rare: bool) -> Section:
    """What other thresholds, prevalences and costs would give."""
    own: dict[str, list[Any]] = {}
    for name, tally in tallies.items():
        cut = evaluations[name].threshold
        logit = rare and tally.is_probability
        own[name] = [charts.over_thresholds({name: tally}, threshold=cut, logit=logit)]
        if cut is not None:
            own[name].append(charts.over_prevalence({name: tally}, threshold=cut))
            own[name].append(charts.confusion(tally.at(cut), name=name))
    probabilities = all(t.is_probability for t in tallies.values())
    shared = [charts.cost_curve(tallies), *([charts.decision_curve(tallies)] if probabilities else [])]
    # One model's pictures are open, those of several are folded.
    open_ = next(iter(own.values())) if len(own) == 1 else []
    return Section(
        "At other thresholds, prevalences and costs",
        "What would become of the same classifier with another threshold, where positives are rarer or commoner, or where errors cost otherwise.",
        [*shared, *open_],
        folded=[] if open_ else [Fold(name, pictures) for name, pictures in own.items()],
    )


def _without_simple(simple: Any) -> Section:
    return Section(
        "Without simple objects",
        "Rows that every model gets right at any threshold flatter all models.",
        [charts.without_simple(simple)],
    )
