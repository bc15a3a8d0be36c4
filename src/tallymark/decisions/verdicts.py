"""Facts behind a report's sentences: the leading metrics, the best model after a test, the worst group, the chosen
estimate.

They are values, not text; a report states only what follows from them.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tallymark.comparison.results import Comparison, Pair
from tallymark.errors import InputError
from tallymark.inference.guards import FEW_ROWS
from tallymark.inference.hypothesis_tests.heterogeneity import FEWEST, Heterogeneity, heterogeneity
from tallymark.measures import Evaluation, Measure
from tallymark.metrics import headlines
from tallymark.registry import METRICS, QUANTIFIERS
from tallymark.summaries.confusion import Confusion
from tallymark.summaries.tally import Tally

if TYPE_CHECKING:
    from tallymark.quantify.estimation.prevalence import Prevalence

#: Share of positives below which accuracy is uninformative, and their number below which estimates are unreliable.
RARE_SHARE, FEW_POSITIVES = 0.05, 50

#: Share of rows that every model gets right from which their differences hide behind them.
MANY_SIMPLE = 0.3


def leading_metrics(evaluation: Evaluation) -> tuple[str, ...]:
    """The metrics to report first at this prevalence and these costs, among those evaluated.

    >>> import tallymark as tm
    >>> leading_metrics(tm.evaluate(tm.tally([1] + [0] * 49, range(50)), level=None))
    ('average_precision', 'precision', 'recall', 'auroc')
    """
    evaluated = [name for name in headlines.LEADING[_matters(evaluation)] if name in evaluation]
    return tuple(evaluated) or tuple(itertools.islice(evaluation, 4))


def metrics_to_compare(evaluation: Evaluation) -> tuple[str, ...]:
    """The metrics that models are to be compared by before one of them is called best.

    Comparisons are at the prevalence of the data: where another one is stated, only metrics free of prevalence are.
    """
    names = dict.fromkeys(name for name in (leading_metrics(evaluation)[0], *headlines.RANKING) if name in evaluation)
    return tuple(name for name in names if evaluation.prevalence is None or METRICS[name].prevalence_free)


def _matters(evaluation: Evaluation) -> str:
    share = _share(evaluation)
    if {"cost_fp", "cost_fn"} & set(evaluation.parameters):
        return "costs"
    return "rare" if share < RARE_SHARE else "common"


def _share(evaluation: Evaluation) -> float:
    """The prevalence of the evaluation: the stated one, or that of the data."""
    observed = float(evaluation.positives or 0) / float(evaluation.n)
    return observed if evaluation.prevalence is None else evaluation.prevalence


@dataclass(frozen=True)
class Alarms:
    """True positives at a threshold as numbers of rows: `found` of `positives`, and `found` of `called`."""

    found: float
    positives: float
    called: float
    recall: Measure
    #: Undefined where nothing is predicted positive.
    precision: Measure


def alarms(evaluation: Evaluation) -> Alarms | None:
    """The counts at the threshold; None where they are not counts of rows, or their metrics were not evaluated."""
    if evaluation.confusion is None or not {"recall", "precision"} <= set(evaluation.measures):
        return None
    if evaluation.prevalence is not None or evaluation.weighted:
        # At a stated prevalence, and with weights, the cells are no counts of rows.
        return None
    c = evaluation.confusion.cells
    return Alarms(float(c.tp), float(c.tp + c.fn), float(c.tp + c.fp), evaluation["recall"], evaluation["precision"])


@dataclass(frozen=True)
class ModelFacts:
    """Facts of models evaluated on the same rows, or of one model, and of the tests between them."""

    #: The leading metric, and those reported beside it.
    metrics: tuple[str, ...]
    #: Models by the leading metric, the best value first.
    order: tuple[str, ...]
    #: The comparison by the leading metric, where models were compared by it.
    tested: Comparison | None
    #: The model shown to be better than every other one by the leading metric.
    best: str | None
    #: Where none is: the models that the one with the best value, which comes first, is not shown to be better than.
    tied: tuple[str, ...]
    #: A comparison by another metric in which a model is shown to be better that is not first by the leading one, and
    #: the pair.
    otherwise: tuple[Comparison, Pair] | None
    #: The prevalence of the evaluation, and the rows of the positive class.
    share: float
    positives: float

    @property
    def pairwise(self) -> bool:
        """Whether no two of the tied models are told apart, not only none from the first."""
        tested = self.tested
        return tested is not None and all(not tested.told_apart(a, b) for a, b in itertools.combinations(self.tied, 2))

    @property
    def leading(self) -> str:
        """The metric that leads."""
        return self.metrics[0]

    @property
    def speaks(self) -> str:
        """The model that the sentences are about."""
        return self.order[0]

    @property
    def rare(self) -> bool:
        """Whether positives are so rare that accuracy is uninformative."""
        return self.share < RARE_SHARE

    @property
    def few(self) -> bool:
        """Whether positives are so few that a handful of rows can turn the picture."""
        return self.positives < FEW_POSITIVES


def model_facts(evaluations: Mapping[str, Evaluation], comparisons: Sequence[Comparison] = ()) -> ModelFacts:
    """The facts of models evaluated on the same rows (or of one model), and of the comparisons between them."""
    first = next(iter(evaluations.values()))
    metrics = leading_metrics(first)
    order = by_metric(evaluations, metrics[0])
    tested = next((one for one in comparisons if one.metric == metrics[0]), None)
    best, tied = None, tuple(order)
    if len(order) == 1:
        tied = ()
    elif tested is not None:
        best = tested.best
        tied = () if best else tuple(n for n in order if n == order[0] or not tested.told_apart(order[0], n))
    others = ((one, _ahead_of(one, order[0])) for one in comparisons if one.metric != metrics[0])
    otherwise = next(((one, pair) for one, pair in others if pair is not None), None)
    return ModelFacts(
        metrics=metrics,
        order=tuple(order),
        tested=tested,
        best=best,
        tied=tied,
        otherwise=otherwise,
        share=_share(first),
        positives=_positive_rows(first),
    )


def _positive_rows(evaluation: Evaluation) -> float:
    return float(evaluation.positives or 0) if evaluation.class_rows is None else float(evaluation.class_rows[1])


def by_metric(evaluations: Mapping[str, Evaluation], metric: str) -> list[str]:
    """Names by a metric, the best value first and those without one last."""
    sign = {"lower": 1.0}.get(METRICS[metric].better, -1.0)

    def key(name: str) -> tuple[bool, float]:
        one = evaluations[name]
        missing = metric not in one or one[metric].reason is not None
        return missing, 0.0 if missing else sign * one[metric].value

    return sorted(evaluations, key=key)


def _ahead_of(comparison: Comparison, model: str) -> Pair | None:
    """The clearest pair in which another model is shown to be better than this one."""
    pairs = [
        pair
        for pair in comparison.pairs
        if model in {pair.first, pair.second}
        and comparison.told_apart(pair.first, pair.second)
        and comparison.ranked.index(model) > comparison.ranked.index(_other(pair, model))
    ]
    return min(pairs, key=lambda pair: pair.p_holm, default=None)


def _other(pair: Pair, model: str) -> str:
    return pair.second if pair.first == model else pair.first


#: A mean score that is off by less than this share of the prevalence does no harm worth a warning.
_HARMLESS_BIAS = 0.1


def sums_mislead(evaluation: Evaluation) -> bool:
    """Whether scores of [0, 1] are shown not to add up to the positives: the interval of their bias leaves out 0, by
    more than a tenth of the prevalence.
    """
    one = evaluation.get("bias")
    if one is None or one.reason is not None or one.low is None or one.high is None:
        return False
    return not one.low <= 0.0 <= one.high and abs(one.value) > _HARMLESS_BIAS * _share(evaluation)


def separated(tally: Tally) -> bool:
    """Whether every positive row scores above every negative one, and there are enough of both for that to be no
    accident.
    """
    down, up = tally.runs
    return min(down.n_rows, up.n_rows) >= FEW_ROWS and bool(down.scores[-1] < up.scores[0])


@dataclass(frozen=True)
class GroupFacts:
    """What the groups of one model say: all rows together, the range over groups large enough, and
    whether they differ.
    """

    metric: str
    total: Evaluation
    #: Groups with at least ten rows of each class, the best value first, and the others.
    order: tuple[str, ...]
    small: tuple[str, ...]
    #: Whether the groups differ by more than chance explains; None where fewer than two are large enough.
    test: Heterogeneity | None

    @property
    def worst(self) -> str | None:
        """The group with the worst value, where there are at least two."""
        return self.order[-1] if len(self.order) > 1 else None


def group_facts(evaluations: Mapping[str, Evaluation], total: Evaluation, metric: str) -> GroupFacts:
    """The facts of one model's groups by a metric."""
    large = {name: one for name, one in evaluations.items() if one.fewest >= FEWEST and _known(one, metric)}
    small = tuple(name for name in evaluations if name not in large)
    try:
        test = heterogeneity(large, metric)
    except InputError:
        test = None
    return GroupFacts(metric, total, tuple(by_metric(large, metric)), small, test)


def _known(one: Evaluation, metric: str) -> bool:
    return metric in one and one[metric].reason is None


def group_metrics(evaluations: Mapping[str, Evaluation]) -> tuple[str, ...]:
    """Metrics that groups can be compared by: those that do not move with the prevalence, at one threshold only if it
    is the same.
    """
    first = next(iter(evaluations.values()))
    one_cut = len({one.threshold for one in evaluations.values()}) == 1
    return tuple(
        name
        for name in ("auroc", "recall", "precision", "specificity")
        if name in first and (one_cut or METRICS[name].needs != "confusion")
    )


#: Most frequent confusions that are told.
_TOLD = 10


def most_confused(confusion: Confusion) -> list[tuple[str, str, float, float]]:
    """True class, predicted class, rows and their share of the true class, the most frequent first."""
    matrix = np.array(confusion.matrix, dtype=np.float64)
    totals = matrix.sum(axis=1)
    np.fill_diagonal(matrix, 0.0)
    labels = [str(label) for label in confusion.labels]
    places = np.argsort(-matrix, axis=None, kind="stable")[:_TOLD]
    pairs = (divmod(int(place), len(labels)) for place in places)
    return [
        (labels[i], labels[j], float(matrix[i, j]), float(matrix[i, j] / totals[i]))
        for i, j in pairs
        if matrix[i, j] > 0
    ]


@dataclass(frozen=True)
class CountFacts:
    """Facts of several estimates of one count."""

    #: The estimate to report, by the declared order of the methods; never chosen by its interval.
    speaks: Prevalence | None
    #: A count that is not corrected for the classifier's errors, to set beside it.
    naive: Prevalence | None
    #: The first two corrected estimates whose intervals do not meet.
    apart: tuple[str, str] | None
    #: Least and most of the corrected estimates' counts.
    range: tuple[float, float] | None


def count_facts(estimates: Sequence[Prevalence]) -> CountFacts:
    """The facts of estimates of one and the same count by different methods."""
    defined = [one for one in estimates if one.reason is None]
    corrected = [one for one in defined if QUANTIFIERS[one.method].shift_proof]
    naive = [one for one in defined if not QUANTIFIERS[one.method].shift_proof]
    speaks = min(corrected, key=lambda one: QUANTIFIERS[one.method].precedence, default=None)
    apart = next((pair for pair in itertools.combinations(corrected, 2) if _apart(*pair)), None)
    counts = sorted(one.count for one in corrected)
    return CountFacts(
        speaks,
        naive[0] if naive else None,
        None if apart is None else (apart[0].method, apart[1].method),
        (counts[0], counts[-1]) if len(counts) > 1 else None,
    )


@dataclass(frozen=True)
class ClassFacts:
    """The order of several classes by their shares."""

    #: Classes by their share, the largest first.
    order: tuple[str, ...]
    #: How many of the first are shown to be larger than every other class: intervals that do not meet.
    largest: int
    #: Whether the order of these is shown too.
    ordered: bool


#: Classes that a sentence names.
NAMED_CLASSES = 3


def class_facts(shares: Mapping[str, Prevalence]) -> ClassFacts:
    """The order of classes as far as their intervals show it; those without a value are left out."""
    defined = {str(label): one for label, one in shares.items() if one.reason is None}
    order = sorted(defined, key=lambda label: -defined[label].prevalence)
    sizes = range(min(NAMED_CLASSES, len(order) - 1), 0, -1)
    largest = next((k for k in sizes if all(_apart(defined[a], defined[b]) for a in order[:k] for b in order[k:])), 0)
    ordered = all(_apart(defined[a], defined[b]) for a, b in itertools.pairwise(order[:largest]))
    return ClassFacts(tuple(order), largest, ordered)


def _apart(one: Prevalence, other: Prevalence) -> bool:
    a, b = one.interval, other.interval
    return a is not None and b is not None and (a[0] > b[1] or b[0] > a[1])
