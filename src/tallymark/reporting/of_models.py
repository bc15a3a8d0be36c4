"""Reports on one or several models: on labelled data, or on evaluations alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tallymark import charts
from tallymark._display import Row
from tallymark._numbers import per_cent
from tallymark.charts.inputs import group_name, tallies_of
from tallymark.charts.pictures import picture
from tallymark.charts.theme import Chart
from tallymark.comparison.compare import compare
from tallymark.comparison.results import Comparison
from tallymark.decisions.verdicts import MANY_SIMPLE, metrics_to_compare, model_facts
from tallymark.errors import InputError, Undefined
from tallymark.evaluation.evaluate import evaluate
from tallymark.inference.hypothesis_tests.mann_whitney import mann_whitney
from tallymark.measures import Evaluation, Evaluations
from tallymark.notes import Note
from tallymark.registry import METRICS
from tallymark.reporting.builders import ReportRequest, contents, require_used
from tallymark.reporting.explorer import BANDS_UP_TO
from tallymark.reporting.methods import of_evaluations
from tallymark.reporting.of_comparison import compared_section
from tallymark.reporting.page_model import (
    Bar,
    Content,
    Fold,
    Line,
    Methods,
    Remark,
    Section,
    metric_tables,
    once,
    table_of,
)
from tallymark.reporting.remarks import described, flattered, leaks, no_sums, rarity
from tallymark.reporting.sentences import model_headline, model_sentences
from tallymark.simple import without_simple
from tallymark.summaries.panel import Panel
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally

if TYPE_CHECKING:
    from tallymark.prices.advice import Advice


#: Options of the evaluation of tallies.
_EVALUATED = ("threshold", "level", "prevalence", "parameters", "sampling")


@contents("Tally", "Tallies", "Panel", "Curve", uses=(*_EVALUATED, "advice", "private"))
def _of_data(named_: Mapping[str, Any], data: Any, request: ReportRequest) -> Content:
    """Models are evaluated and, on the same rows, compared; groups are shown beside their total."""
    options: dict[str, Any] = {
        "threshold": request.threshold,
        "level": request.level,
        "sampling": request.sampling,
        "prevalence": request.prevalence,
        **request.parameters,
    }
    title = request.title or "Evaluation of a classifier"
    if request.private is not None:
        named_, data = _in_bins(named_, data, request.private)
    if isinstance(data, Tallies) and len(data.names) > data.by_model:
        from tallymark.reporting.of_groups import of_groups

        require_used(request, ("title", "private", *_EVALUATED), data)
        content = of_groups(data, evaluate(data, **options), options, title=title)
        return replace(content, private=request.private)
    tallies = tallies_of(data if isinstance(data, Tallies | Panel) else named_)
    evaluations = {name: evaluate(tally, **options) for name, tally in tallies.items()}
    panel = data if isinstance(data, Panel) and len(tallies) > 1 else None
    content = of_models(
        tallies,
        evaluations,
        title=title,
        same_rows=panel is not None or len(tallies) == 1,
        comparisons=() if panel is None else compared(panel, evaluations, request.level, request.sampling),
        simple=None if panel is None or request.private is not None else without_simple(panel),
        advice=request.advice,
    )
    return replace(content, private=request.private)


def _in_bins(named_: Mapping[str, Any], data: Any, least: int) -> tuple[Mapping[str, Any], Any]:
    """The data, alone or by name, with scores in bins."""
    from tallymark.summaries.private import private

    if isinstance(data, Tally | Tallies | Panel):
        binned = private(data, least)
        return dict.fromkeys(named_, binned), binned
    if not all(isinstance(one, Tally) for one in named_.values()):
        raise InputError("private= is for a tally, a panel, tallies by group, or several tallies by name.")
    parts = {name: private(one, least) for name, one in named_.items()}
    return parts, parts


@contents("Evaluation", "Evaluations")
def _of_evaluations(named_: Mapping[str, Evaluation | Evaluations], data: Any, request: ReportRequest) -> Content:
    """Evaluations alone have no curves and no sliders: verdict, headline metrics, and the table of all metrics."""
    evaluations: dict[str, Evaluation] = {}
    for name, one in named_.items():
        if isinstance(one, Evaluation):
            evaluations[name] = one
        else:
            prefix = f"{name}, " if len(named_) > 1 else ""
            evaluations |= {prefix + group_name(key): part for key, part in one.entries.items()}
    title = request.title or "Evaluation of a classifier"
    if any(one.confusion is not None or not one.positives for one in evaluations.values()):
        from tallymark.reporting.of_classes import of_classes

        return of_classes(evaluations, title=title)
    first = next(iter(evaluations.values()))
    facts = {name: model_facts({name: one}) for name, one in evaluations.items()}
    leading = next(iter(facts.values())).metrics
    warnings = [*no_sums(evaluations), *_noted(evaluations, None)]
    what, sentences, methods = [f"{len(evaluations)} evaluations"], _apart(evaluations), Methods()
    headline = f"{len(evaluations)} evaluations that were not compared."
    if len(evaluations) == 1:
        (alone,) = facts.values()
        what, sentences = described(first), model_sentences(evaluations, alone)
        headline, warnings = model_headline(evaluations, alone), [*rarity(alone, first), *warnings]
        methods = of_evaluations(evaluations, leading[:4])
    chart = picture(data)
    sections = [] if chart is None else [Section("Headline metrics", "", [chart])]
    sections.append(Section("All metrics", _EXPLAINED, (), metric_tables(evaluations, leading)))
    lines = [
        Line(name, [Bar.of(one[metric]) for metric in leading[:4] if metric in one], place)
        for place, (name, one) in enumerate(evaluations.items())
    ]
    return Content(title, what, sentences, once(warnings), sections, headline=headline, lines=lines, methods=methods)


#: The text above a table of all metrics.
_EXPLAINED = "Every number with its interval; a click on a name explains it."


def compared(
    panel: Any, evaluations: Mapping[str, Evaluation], level: float, sampling: Any, metrics: Sequence[str] | None = None
) -> list[Comparison]:
    """Comparisons of a panel's models by the metrics of the verdict, at the thresholds of their evaluations."""
    first = next(iter(evaluations.values()))
    comparisons = []
    for metric in metrics_to_compare(first) if metrics is None else metrics:
        facts = METRICS[metric]
        at_cut = facts.needs == "confusion"
        given: dict[str, Any] = {name: v for name, v in first.parameters.items() if name in facts.parameters and at_cut}
        threshold = (first.policy or first.threshold) if at_cut else None
        try:
            one = compare(panel, metric=metric, threshold=threshold, level=level, sampling=sampling, **given)
        except (InputError, Undefined):
            # Too few rows to compare: the page then says that models were not tested.
            continue
        comparisons.append(one)
    return comparisons


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
    """The report on one model, on several of the same rows (`same_rows`), or on several that are not compared."""
    one_class = [name for name, tally in tallies.items() if not tally.positives or not tally.negatives]
    tallies = {name: tally for name, tally in tallies.items() if name not in one_class}
    if not tallies:
        raise InputError("There is nothing to draw: no model or group has rows of both classes.")
    drawn = {name: evaluations[name] for name in tallies}
    first = next(iter(drawn.values()))
    facts = model_facts(drawn, comparisons)
    rare = facts.rare
    # Charts are at the stated prevalence, as the numbers are.
    stated = {name: tally.at_prevalence(first.prevalence) for name, tally in tallies.items()}
    advised = () if advice is None else advice.metrics
    leading = tuple(dict.fromkeys((*(name for name in advised if name in first), *facts.metrics)))
    warnings = [
        *([*rarity(facts, first), *leaks(tallies), *no_sums(drawn)] if same_rows else []),
        *flattered(drawn, facts.leading),
        *_noted(evaluations, notes),
        *map(_one_class, one_class),
        *_many_simple(simple),
    ]
    order = facts.order if same_rows else tuple(drawn)
    index = {name: i for i, name in enumerate(tallies)}
    sections = [
        *(compared_section(one) for one in comparisons),
        *([] if all(one.threshold is not None for one in drawn.values()) else [_ranking(tallies, first)]),
        _lists(stated, rare=rare),
        _scores(tallies, drawn, rare=rare),
        _elsewhere(stated, drawn, rare=rare),
        *([] if simple is None else [_without_simple(simple)]),
        Section(
            "All metrics",
            _EXPLAINED,
            (),
            metric_tables({name: evaluations[name] for name in (*order, *one_class)}, leading),
        ),
    ]
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
        methods=of_evaluations(drawn, leading[:4], comparisons) if same_rows else Methods(),
    )


def _apart(evaluations: Mapping[str, Evaluation]) -> list[str]:
    """Sentences on models that are not compared, each alone."""
    described_ = list(evaluations.items())[:3]
    rest = len(evaluations) - len(described_)
    return [
        *(f"{name}: {' '.join(model_sentences({name: one}, model_facts({name: one})))}" for name, one in described_),
        *([f"{rest} more stand below."] if rest else []),
    ]


def _noted(evaluations: Mapping[str, Evaluation], notes: Sequence[Note] | None) -> list[Remark]:
    """Warnings as remarks: those in `notes`, or those of each evaluation."""
    if notes is not None:
        return list(map(Remark.of, notes))
    several = len(evaluations) > 1
    return [
        Remark.of(Note(note.code, f"{name}: {note.message}" if several else note.message))
        for name, one in evaluations.items()
        for note in one.warnings
    ]


def _one_class(name: str) -> Remark:
    message = f"{name} has rows of one class only and is left out of the pictures."
    return Remark("one class", message, "Curves and rankings need positives and negatives.")


def _many_simple(simple: Any) -> list[Remark]:
    if simple is None or simple.share <= MANY_SIMPLE:
        return []
    return [
        Remark(
            "simple",
            f"{per_cent(simple.share)} of the rows are right for every model at any threshold; differences between "
            "models hide behind them.",
            "Rows that every model classifies correctly raise the metrics of all models alike. The section “Without "
            "simple objects” leaves them out.",
        )
    ]


def _ranking(tallies: Mapping[str, Tally], first: Evaluation) -> Section:
    """The curves of models without a threshold; with bands where rows are few and not in clusters."""
    band = all(t.clusters is None and sum(run.n_rows for run in t.runs) <= BANDS_UP_TO for t in tallies.values())
    pictures = [charts.roc(tallies, band=band), charts.pr(tallies, band=band, prevalence=first.prevalence)]
    text = "How well the scores put positives above negatives, over all thresholds."
    tests = _rank_sums(tallies)
    caption = "Mann–Whitney test, two-sided: rank sums of the classes, the smaller U, and the p-value"
    return Section("Ranking", text, pictures, [table_of(tests, caption)] if tests else [])


def _rank_sums(tallies: Mapping[str, Tally]) -> list[Row]:
    """The Mann–Whitney test of each model; none where rows are weighted, in clusters or quantised: it counts rows."""
    if any(tally.weighted or tally.clusters is not None or not tally.exact for tally in tallies.values()):
        return []
    tests = {name: mann_whitney(tally) for name, tally in tallies.items()}
    return [
        {
            "model": name,
            "T_positive": test.rank_sum_positive,
            "T_negative": test.rank_sum_negative,
            "U": test.u,
            "z": test.z,
            "p_value": test.p_value,
        }
        for name, test in tests.items()
    ]


def _lists(tallies: Mapping[str, Tally], *, rare: bool) -> Section:
    pictures = [charts.gain(tallies, log=rare), charts.gain(tallies, lift=True, log=rare)]
    text = "How many positives a list from the top holds, and how much better that is than a list drawn at random."
    return Section("Ranking and lists", text, pictures)


def _scores(tallies: Mapping[str, Tally], evaluations: Mapping[str, Evaluation], *, rare: bool) -> Section:
    cut = {name: one.threshold for name, one in evaluations.items()}
    shapes = {
        name: charts.score_histogram({name: tally}, logit=rare and tally.is_probability, threshold=cut[name])
        for name, tally in tallies.items()
    }
    folded = list(shapes.items())[_OPEN:]
    reliable = [charts.calibration_curve(tallies, log=rare)] if all(t.is_probability for t in tallies.values()) else []
    more = ", and whether probabilities mean what they say: below the line they promise too much." if reliable else "."
    return Section(
        "Scores and calibration",
        f"How the scores of each class are distributed{more}",
        [*list(shapes.values())[:_OPEN], *reliable],
        folded=[Fold(name, [picture]) for name, picture in folded],
    )


#: Models whose charts are shown open; those of further models are folded.
_OPEN = 2


def _elsewhere(tallies: Mapping[str, Tally], evaluations: Mapping[str, Evaluation], *, rare: bool) -> Section:
    """The same models at other thresholds, prevalences and costs."""
    of_model: dict[str, list[Chart]] = {}
    for name, tally in tallies.items():
        cut = evaluations[name].threshold
        logit = rare and tally.is_probability
        of_model[name] = [charts.over_thresholds({name: tally}, threshold=cut, logit=logit)]
        if cut is not None:
            of_model[name].append(charts.over_prevalence({name: tally}, threshold=cut))
            of_model[name].append(charts.confusion(tally.at(cut), name=name))
    probabilities = all(t.is_probability for t in tallies.values())
    shared = [charts.cost_curve(tallies), *([charts.decision_curve(tallies)] if probabilities else [])]
    # One model's charts are open, those of several are folded.
    open_ = next(iter(of_model.values())) if len(of_model) == 1 else []
    text = (
        "What would become of the same classifier with another threshold, where positives are rarer or commoner, or "
        "where errors cost otherwise."
    )
    return Section(
        "At other thresholds, prevalences and costs",
        text,
        [*shared, *open_],
        folded=[] if open_ else [Fold(name, pictures) for name, pictures in of_model.items()],
    )


def _without_simple(simple: Any) -> Section:
    return Section(
        "Without simple objects",
        "Rows that every model classifies correctly at any threshold raise the metrics of all models.",
        [charts.without_simple(simple)],
    )
