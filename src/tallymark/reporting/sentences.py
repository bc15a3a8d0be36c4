"""Sentences of reports, each derived from a fact of ``decisions/verdicts.py`` and numbers of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tallymark._numbers import amount, counted, equals_p, number, per_cent, with_limits
from tallymark.comparison.results import Comparison, Pair
from tallymark.decisions.verdicts import Alarms, GroupFacts, ModelFacts, alarms
from tallymark.measures import Evaluation, Measure
from tallymark.registry import METRICS


def listed(names: Sequence[str]) -> str:
    """Names as a list in a sentence: a, b and c."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def at_level(level: float | None) -> list[str]:
    """The level of a page's intervals, where there is one."""
    return [] if level is None else [f"{100 * level:g} % intervals"]


def measure_text(measure: Measure) -> str:
    """A measure with its limits, or why it is undefined."""
    if measure.reason:
        return f"undefined ({measure.reason.removeprefix(f'{measure.name}: ')})"
    return with_limits(measure.value, measure.low, measure.high)


def named(metric: str) -> str:
    """A metric's name inside a sentence."""
    label = METRICS[metric].label
    # Acronyms and names of people keep their capitals.
    kept = label[:2].isupper() or label.partition(" ")[0].removesuffix("'s") in _PEOPLE
    return label if kept else label[0].lower() + label[1:]


#: People after whom metrics are named.
_PEOPLE = frozenset({
    "Bayes", "Bernoulli", "Brier", "Cohen", "Gini", "Jaccard", "Kendall", "Kolmogorov–Smirnov", "Matthews", "Spearman",
    "Youden",
})  # fmt: skip


def model_headline(evaluations: Mapping[str, Evaluation], facts: ModelFacts) -> str:
    """The verdict in a line: one model in natural frequencies, several by the test between them."""
    metric = named(facts.leading)
    if len(facts.order) == 1:
        counts = alarms(evaluations[facts.speaks])
        if counts is not None and counts.called > 0:
            return f"{found('It', evaluations[facts.speaks], counts)}, and {_right(counts)}."
        return f"{_first_upper(metric)}: {measure_text(evaluations[facts.speaks][facts.leading])}."
    many = len(facts.order)
    if facts.tested is None:
        return f"{many} models, not tested against each other by {metric}."
    if facts.tested.too_few:
        return _too_few(facts.tested)
    if facts.best is not None:
        return f"{facts.best} is the {_best_of(many)} by {metric}."
    if not facts.pairwise:
        return f"{facts.speaks} has the best {metric}, but is not shown to be better than {listed(facts.tied[1:])}."
    if len(facts.tied) == many:
        return f"{listed(facts.order)} cannot be told apart by {metric}."
    return f"{listed(facts.tied)} lead by {metric} and cannot be told apart."


def model_sentences(evaluations: Mapping[str, Evaluation], facts: ModelFacts) -> list[str]:
    """The evidence for the headline."""
    sentences = []
    name = facts.speaks
    one = evaluations[name]
    several = len(facts.order) > 1
    counts = alarms(one)
    if counts is not None:
        other = facts.order[1] if len(facts.order) == 2 else None
        of_other = None if other is None else alarms(evaluations[other])
        text = found(name if several else "It", one, counts)
        sentences.append(with_shares(text, counts, other, of_other))
    elif (one.prevalence is not None or one.weighted) and {"recall", "precision"} <= set(one.measures):
        sentences.append(_expected(name if several else "it", one))
    if facts.tested is not None:
        sentences.append(_difference(facts.tested, facts))
    elif not several and facts.leading not in {"recall", "precision"}:
        chance = one[facts.leading].chance
        beside = "" if chance is None else f", where chance reaches {number(chance)}"
        sentences.append(f"{_first_upper(named(facts.leading))} is {measure_text(one[facts.leading])}{beside}.")
    if facts.otherwise is not None:
        sentences.append(_otherwise(*facts.otherwise))
        if advice := _which_for_what(facts):
            sentences.append(advice)
    return sentences


def _which_for_what(facts: ModelFacts) -> str:
    """Which model to take for what, where two metrics prefer different ones."""
    if facts.otherwise is None or facts.best is None:
        return ""
    comparison, pair = facts.otherwise
    other = min((pair.first, pair.second), key=comparison.ranked.index)
    first, second = METRICS[facts.leading].brief, METRICS[comparison.metric].brief
    return f"Take {facts.best} for {first}, {other} for {second}." if first and second else ""


def _right(one: Alarms) -> str:
    """How many predicted positives are positive."""
    return f"{amount(one.found)} of its {counted(one.called, 'alarm')} {'is' if one.found == 1 else 'are'} right"


def found(who: str, evaluation: Evaluation, counts: Alarms) -> str:
    """How many of the positive rows are found, in the words that they were given."""
    return f"{who} finds {amount(counts.found)} of {evaluation.words.counted(counts.positives)}"


def with_shares(text: str, one: Alarms, other: str | None = None, beside: Alarms | None = None) -> str:
    """What a model finds with its shares, and how many of its alarms are right; the same of another model in short."""
    share = "" if one.recall.reason else f" ({_share(one.recall)})"
    text += share
    if one.called > 0:
        text += f", and {_right(one)} ({_share(one.precision)})"
    else:
        text += " and raises no alarm"
    if other is not None and beside is not None:
        text += f"; {other} finds {amount(beside.found)} with {counted(beside.called, 'alarm')}"
    return text + "."


def _share(measure: Measure) -> str:
    """Per cent with limits inside brackets: 44 %, 35–53."""
    return per_cent(measure.value, measure.low, measure.high).replace(" (", ", ").replace(")", "")


def _expected(who: str, one: Evaluation) -> str:
    """Recall and precision as shares, for weighted rows or a stated prevalence, where there are no counts."""
    at = "By weight" if one.prevalence is None else f"At a prevalence of {per_cent(one.prevalence)}"
    recall, precision = one["recall"], one["precision"]
    text = f"{at} the recall of {who} is undefined"
    if not recall.reason:
        text = f"{at} {who} finds {per_cent(recall.value, recall.low, recall.high)} of the {one.words.plural}"
    if precision.reason:
        return text + "."
    are = "are" if one.prevalence is None else "would be"
    return f"{text}, and {per_cent(precision.value, precision.low, precision.high)} of its alarms {are} right."


def _difference(tested: Comparison, facts: ModelFacts) -> str:
    """The values by the leading metric, and the difference between the first two models."""
    metric = _first_upper(named(tested.metric))
    values = tested.values
    first = facts.order[0]
    if len(facts.order) == 2:
        other = facts.order[1]
        pair = _pair(tested, first, other)
        return f"{metric} is {_value(values[first], pair)} against {_value(values[other], pair)} ({_gap(pair, first)})."
    worse = [name for name in facts.order[1:] if tested.told_apart(first, name)]
    second = facts.order[1]
    nearest = _pair(tested, first, second)
    text = (
        f"{metric} is {_value(values[first], nearest)} for {first} and {_value(values[second], nearest)} for {second} "
        f"({_gap(nearest, first)}, all pairs corrected together)"
    )
    if facts.best is None and worse:
        text += f"; {listed(worse)} {'is' if len(worse) == 1 else 'are'} shown to be worse than {first}"
    return text + "."


def _otherwise(comparison: Comparison, pair: Pair) -> str:
    better, other = sorted((pair.first, pair.second), key=comparison.ranked.index)
    values = comparison.values
    how = METRICS[comparison.metric].brief
    return (
        f"By {named(comparison.metric)}{f' ({how})' if how else ''} {better} is better than {other}: "
        f"{_value(values[better], pair)} against {_value(values[other], pair)} ({_gap(pair, better)})."
    )


def _pair(comparison: Comparison, one: str, other: str) -> Pair:
    return next(pair for pair in comparison.pairs if {pair.first, pair.second} == {one, other})


def _value(value: float, pair: Pair) -> str:
    """A value to the digits of the difference's limits."""
    low, high = (end - pair.difference + value for end in (pair.low, pair.high))
    return with_limits(value, low, high).partition(" (")[0]


def _gap(pair: Pair, first: str) -> str:
    sign = 1.0 if pair.first == first else -1.0
    ends = sorted((sign * pair.low, sign * pair.high))
    text = with_limits(sign * pair.difference, *ends).replace(" (", ", ").replace(")", "")
    return f"difference {text}, {equals_p(pair.p_holm)}"


def _too_few(comparison: Comparison) -> str:
    rows = min(comparison.positives, comparison.n - comparison.positives)
    which = "positives" if rows == comparison.positives else "negatives"
    return f"Too few {which} ({amount(rows)}) to call a model better by {named(comparison.metric)}."


def comparison_headline(comparison: Comparison) -> str:
    """The best model by the test, or the models that do not differ significantly."""
    metric, models = named(comparison.metric), comparison.ranked
    if comparison.too_few:
        return _too_few(comparison)
    if comparison.best is not None:
        return f"{comparison.best} is the {_best_of(len(models))} by {metric}."
    first = comparison.alike[0]
    if len(first) == 1:
        # The metric has no better direction: the pairs show the differences.
        return f"{listed(models)} differ by {metric}."
    return f"{listed(first)} cannot be told apart by {metric}."


def comparison_sentences(comparison: Comparison) -> list[str]:
    """The difference of the first two models, and how many pairs do not differ significantly."""
    first, second, *_ = comparison.ranked
    pair = _pair(comparison, first, second)
    values = comparison.values
    together = ", all pairs corrected together" if len(comparison.pairs) > 1 else ""
    sentences = [
        f"{_first_upper(named(comparison.metric))} is {_value(values[first], pair)} for {first} and "
        f"{_value(values[second], pair)} for {second} ({_gap(pair, first)}{together})."
    ]
    undecided = sum(not comparison.told_apart(one.first, one.second) for one in comparison.pairs)
    if len(comparison.pairs) > 1:
        sentences.append(
            f"{undecided} of {len(comparison.pairs)} pairs cannot be told apart."
            if undecided
            else f"All {len(comparison.pairs)} pairs are told apart."
        )
    if comparison.equivalence is not None:
        equal = [f"{one.first} and {one.second}" for one in comparison.pairs if "equivalent" in one.verdict]
        within = f"within {number(comparison.equivalence)}"
        sentences.append(
            f"Shown to be equivalent {within}: {'; '.join(equal)}."
            if equal
            else f"No pair is shown to be equivalent {within}."
        )
    return sentences


def group_headline(facts: Mapping[str, GroupFacts], by: str) -> str:
    """Whether the groups of each model differ, by the test of heterogeneity."""
    if len(facts) == 1:
        (one,) = facts.values()
        metric = named(one.metric)
        if one.test is None:
            return f"{_first_upper(metric)} over all rows is {measure_text(one.total[one.metric])}."
        if one.test.p_value < _ALPHA:
            p = equals_p(one.test.p_value)
            return f"{_first_upper(metric)} differs between groups of {by} by more than chance explains ({p})."
        return f"No difference of {metric} between groups of {by} is shown ({equals_p(one.test.p_value)})."
    tested = {model: one.test.p_value for model, one in facts.items() if one.test is not None}
    differ = [model for model, p in tested.items() if p < _ALPHA]
    alike = [model for model in tested if model not in differ]
    metric = _first_upper(named(next(iter(facts.values())).metric))
    parts = [f"differs between groups of {by} for {listed(differ)}"] if differ else []
    parts += [f"is not shown to differ for {listed(alike)}"] if alike else []
    return f"{metric} {' and '.join(parts)}." if parts else f"{metric} of {len(facts)} models by {by}."


#: Level of the test between groups.
_ALPHA = 0.05


def group_sentences(facts: GroupFacts, evaluations: Mapping[str, Evaluation]) -> list[str]:
    """All rows, the range of the groups, the worst group, and groups too small to compare."""
    sentences = []
    counts = alarms(facts.total)
    if counts is not None:
        sentences.append("Over all rows: " + with_shares(found("it", facts.total, counts), counts))
    elif facts.total.weighted and {"recall", "precision"} <= set(facts.total.measures):
        sentences.append(_expected("it", facts.total))
    if facts.test is not None:
        sentences.append(
            f"{_first_upper(named(facts.metric))} over all rows is {measure_text(facts.total[facts.metric])}; "
            f"the test of equality over {len(facts.test.groups)} groups has {equals_p(facts.test.p_value)}."
        )
    if facts.worst is not None:
        best, worst = facts.order[0], facts.worst
        low, high = (measure_text(evaluations[group][facts.metric]) for group in (worst, best))
        sentences.append(f"By group it runs from {low} ({worst}) to {high} ({best}).")
    if facts.small:
        few = len(facts.small)
        sentences.append(
            f"{few} group{'s have' if few > 1 else ' has'} fewer than ten rows of a class, or no value, and "
            f"{'are' if few > 1 else 'is'} left out of this comparison."
        )
    return sentences


def _best_of(models: int) -> str:
    return "better of the two" if models == 2 else f"best of the {models} models"


def _first_upper(text: str) -> str:
    return text[:1].upper() + text[1:]
