"""The facts behind a report's sentences: who leads, what is rare, which estimate speaks, what disagrees.

Nothing here is text; a sentence that cannot be read off these facts has no place in a report.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tallymark.comparison.results import Comparison, Pair
from tallymark.measures import Evaluation
from tallymark.quantify.estimation.prevalence import Prevalence
from tallymark.registry import QUANTIFIERS

#: Below this share of positives accuracy says nothing; below this number of them every figure is shaky.
RARE_SHARE, FEW_POSITIVES = 0.05, 50

#: Share of rows that every model gets right from which their differences hide behind them.
MANY_SIMPLE = 0.3

#: Metrics by which models are ranked over all thresholds, the first one leading.
LEADING = ("auroc", "average_precision")


@dataclass(frozen=True)
class ModelFacts:
    """What evaluations of one or several models say. `leaders` names the model with the highest value of each metric."""

    leaders: Mapping[str, str]
    #: The model that the sentences are about: the leader by the first metric, else the first model.
    speaks: str
    #: All are models of the same rows, so that ranking them means something.
    same_rows: bool
    #: Share of positives in the first sample, and how many they are.
    share: float
    positives: float

    @property
    def rare(self) -> bool:
        """Whether positives are so rare that accuracy says nothing."""
        return self.share < RARE_SHARE

    @property
    def few(self) -> bool:
        """Whether positives are so few that a handful of rows can turn the picture."""
        return self.positives < FEW_POSITIVES

    @property
    def rivals(self) -> tuple[str, str] | None:
        """The leaders by the two metrics, where they are two different models of the same rows."""
        names = [self.leaders.get(metric) for metric in LEADING]
        if not self.same_rows or None in names or names[0] == names[1]:
            return None
        return names[0], names[1]  # type: ignore[return-value]


def model_facts(evaluations: Mapping[str, Evaluation], *, same_rows: bool | None = None) -> ModelFacts:
    """The facts of evaluations by model or group; left out, rows are the same where all have as many of each class."""
    first = next(iter(evaluations.values()))
    if same_rows is None:
        # Sums of weights agree up to the order they were added in.
        same_rows = len({(ev.n_rows, f"{float(ev.positives or 0):.9g}") for ev in evaluations.values()}) == 1
    leaders = {}
    for metric in LEADING:
        values = {n: ev[metric].value for n, ev in evaluations.items() if metric in ev and ev[metric].reason is None}
        if values:
            leaders[metric] = max(values, key=lambda name: values[name])
    speaks = leaders.get(LEADING[0], next(iter(evaluations)))
    positives = float(first.positives or 0)
    return ModelFacts(leaders, speaks, same_rows, positives / float(first.n), positives)


@dataclass(frozen=True)
class ComparisonFacts:
    """What a comparison shows: its clearest pair, who is ahead in it, and how many pairs are left open."""

    clearest: Pair
    #: The model that is ahead and the other one, where the clearest difference is shown.
    ahead: tuple[str, str] | None
    undecided: int
    pairs: int


def comparison_facts(comparison: Comparison) -> ComparisonFacts:
    """The facts of a comparison."""
    pair = min(comparison.pairs, key=lambda one: one.p_value)
    open_pairs = sum(one.p_holm >= 1.0 - comparison.level for one in comparison.pairs)
    ahead = None
    if pair.p_holm < 1.0 - comparison.level:
        names = (pair.first, pair.second)
        ahead = names if pair.verdict.startswith(pair.first) else names[::-1]
    return ComparisonFacts(pair, ahead, open_pairs, len(comparison.pairs))


@dataclass(frozen=True)
class CountFacts:
    """What several estimates of one count say."""

    #: The estimate that speaks for the count, by the declared order of the methods; never picked by its interval.
    speaks: Prevalence | None
    #: A count that is not corrected for the classifier's errors, to set beside it.
    naive: Prevalence | None
    #: The first two corrected estimates whose intervals do not meet.
    apart: tuple[str, str] | None


def count_facts(estimates: Sequence[Prevalence]) -> CountFacts:
    """The facts of estimates of one and the same count by different methods."""
    known = [one for one in estimates if one.reason is None]
    corrected = [one for one in known if QUANTIFIERS[one.method].shift_proof]
    naive = [one for one in known if not QUANTIFIERS[one.method].shift_proof]
    speaks = min(corrected, key=lambda one: QUANTIFIERS[one.method].precedence, default=None)
    apart = next((pair for pair in itertools.combinations(corrected, 2) if _apart(*pair)), None)
    return CountFacts(
        speaks, naive[0] if naive else None, None if apart is None else (apart[0].method, apart[1].method)
    )


def _apart(one: Prevalence, other: Prevalence) -> bool:
    a, b = one.interval, other.interval
    return a is not None and b is not None and (a[0] > b[1] or b[0] > a[1])
