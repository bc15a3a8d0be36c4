"""Coefficients of agreement between raters, of many reweightings of the items at once.

Items that were rated alike are one pattern, so that a reweighting is a row of pattern weights and a coefficient is a
ratio of matrix products. Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tallymark._check import Floats, Ints, Label

#: The coefficients, in the order they are listed in.
COEFFICIENTS = (
    "observed", "cohen_kappa", "scott_pi", "fleiss_kappa", "krippendorff_alpha", "gwet_ac", "brennan_prediger",
)  # fmt: skip

#: Shares that differ by less are the same.
_ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class Patterns:
    """Items by the way they were rated.

    Attributes
    ----------
    classes
        The classes, in order.
    counts
        Ratings of each class, a row per pattern.
    mass
        Number of items of each pattern.
    codes
        The class that each rater gave, -1 where there is none, a row per pattern; None where only counts are known.
    """

    classes: tuple[Label, ...]
    counts: Floats
    mass: Floats
    codes: Ints | None

    @cached_property
    def ratings(self) -> Floats:
        """Number of ratings of an item of each pattern."""
        ratings: Floats = self.counts.sum(axis=1)
        return ratings

    @cached_property
    def paired(self) -> Floats:
        """1 for patterns with two ratings or more, else 0."""
        return (self.ratings >= 2).astype(np.float64)

    @cached_property
    def shares(self) -> Floats:
        """Share of each class among the ratings of an item."""
        shares: Floats = self.counts / np.maximum(self.ratings, 1.0)[:, None]
        return shares

    @cached_property
    def pairs_of_an_item(self) -> Floats:
        """One less than the ratings of an item, the divisor of its pairs; 1 where there is no pair."""
        return np.maximum(self.ratings - 1.0, 1.0)

    def given_by(self, rater: int) -> Floats:
        """1 for the class that a rater gave, a row per pattern; all 0 where the rater gave none."""
        codes = self._known_codes[:, rater]
        given: Floats = (codes[:, None] == np.arange(len(self.classes))).astype(np.float64)
        return given

    @property
    def n_raters(self) -> int:
        """Number of raters, 0 where they are not known."""
        return 0 if self.codes is None else self.codes.shape[1]

    @property
    def _known_codes(self) -> Ints:
        if self.codes is None:
            raise ValueError("only counts of ratings are known")
        return self.codes

    def with_pseudo_items(self, codes: Ints) -> Patterns:
        """The patterns followed by patterns of no mass, one per row of `codes`."""
        added = np.zeros((len(codes), len(self.classes)))
        for rater in range(codes.shape[1]):
            added[np.arange(len(codes)), codes[:, rater]] += 1.0
        return Patterns(
            self.classes,
            np.vstack([self.counts, added]),
            np.r_[self.mass, np.zeros(len(codes))],
            None if self.codes is None else np.vstack([self.codes, codes]),
        )


@dataclass(frozen=True, eq=False)
class Value:
    """A coefficient of every reweighting, and the effect of an item of each pattern on that of the first one."""

    values: Floats
    influence: Floats


class Agreements:
    """Observed and expected agreement of reweighted patterns.

    Parameters
    ----------
    patterns
        The patterns.
    agreement
        What a pair of ratings counts, by class: 1 where both are the same (K × K, symmetric).
    weights
        Weight of each pattern, a row per reweighting. Influence is that on the first row.
    ranked
        Whether Krippendorff's α takes its own ordinal distance, that of the classes' midranks.
    """

    def __init__(self, patterns: Patterns, agreement: Floats, weights: Floats, *, ranked: bool = False) -> None:
        self.patterns, self.agreement, self.weights, self.ranked = patterns, agreement, weights, ranked

    def coefficients(self) -> dict[str, Value]:
        """Every coefficient that the patterns allow, by name."""
        functions: Mapping[str, Callable[[], Value]] = {
            "observed": self.observed,
            "cohen_kappa": self.cohen_kappa,
            "scott_pi": self.fleiss_kappa,
            "fleiss_kappa": self.fleiss_kappa,
            "krippendorff_alpha": self.krippendorff_alpha,
            "gwet_ac": self.gwet_ac,
            "brennan_prediger": self.brennan_prediger,
        }
        with np.errstate(divide="ignore", invalid="ignore"):
            return {
                name: function()
                for name, function in functions.items()
                if self.patterns.n_raters or name != "cohen_kappa"
            }

    def observed(self) -> Value:
        """Share of pairs of ratings of an item that agree, mean over the items with two ratings or more."""
        return self._observed

    @cached_property
    def _observed(self) -> Value:
        p = self.patterns
        pairs = np.maximum(p.ratings * p.pairs_of_an_item, 1.0)
        alike = ((p.counts @ self.agreement - 1.0) * p.counts).sum(axis=1) / pairs * p.paired
        items = self.weights @ p.paired
        values = (self.weights @ alike) / items
        return Value(values, p.paired * (alike - values[0]) / items[0])

    @cached_property
    def _prevalences(self) -> tuple[Floats, Floats]:
        """Mean share of each class per reweighting, and the effect of each pattern on the first."""
        p = self.patterns
        rated = (p.ratings > 0).astype(np.float64)
        items = self.weights @ rated
        prevalences = (self.weights @ p.shares) / items[:, None]
        return prevalences, (p.shares - prevalences[0] * rated[:, None]) / items[0]

    def _beyond(self, expected: Floats, effect: Floats | float) -> Value:
        """(observed - expected) / (1 - expected), nan where 1 is expected."""
        observed = self._observed
        room = np.where(1.0 - expected > 1e-12, 1.0 - expected, np.nan)
        # Differences of rounding would be printed as 2.1e-15.
        beyond = np.where(np.abs(observed.values - expected) < _ROUNDING, 0.0, observed.values - expected)
        values = beyond / room
        return Value(values, (observed.influence - (1.0 - values[0]) * effect) / room[0])

    def fleiss_kappa(self) -> Value:
        """Chance agreement from the mean prevalences: Scott's π, and Fleiss's κ of more raters."""
        prevalences, effects = self._prevalences
        weighted = prevalences @ self.agreement
        return self._beyond((weighted * prevalences).sum(axis=1), 2.0 * effects @ weighted[0])

    def gwet_ac(self) -> Value:
        """Chance agreement of ratings that are guesses: AC1, and AC2 with weights."""
        prevalences, effects = self._prevalences
        q = len(self.patterns.classes)
        scale = self.agreement.sum() / (q * (q - 1)) if q > 1 else np.nan
        expected = scale * (prevalences * (1.0 - prevalences)).sum(axis=1)
        return self._beyond(expected, scale * effects @ (1.0 - 2.0 * prevalences[0]))

    def brennan_prediger(self) -> Value:
        """Chance agreement of classes drawn at random, all alike."""
        expected = self.agreement.mean() if len(self.patterns.classes) > 1 else np.nan
        return self._beyond(np.full(len(self.weights), expected), 0.0)

    def cohen_kappa(self) -> Value:
        """Chance agreement of each rater's own prevalences: Cohen's κ, Conger's of more raters."""
        p, raters = self.patterns, self.patterns.n_raters
        shares, effects = [], []
        for rater in range(raters):
            given = p.given_by(rater)
            rated = given.sum(axis=1)
            items = self.weights @ rated
            share = (self.weights @ given) / items[:, None]
            shares.append(share)
            effects.append((given - share[0] * rated[:, None]) / items[0])
        total = np.sum(shares, axis=0)
        pairs = raters * (raters - 1)
        same = np.sum([((share @ self.agreement) * share).sum(axis=1) for share in shares], axis=0)
        expected = (((total @ self.agreement) * total).sum(axis=1) - same) / pairs
        effect = np.sum(
            [own @ self.agreement @ (total[0] - share[0]) for own, share in zip(effects, shares, strict=True)], axis=0
        )
        return self._beyond(expected, 2.0 * effect / pairs)

    def krippendorff_alpha(self) -> Value:
        """One less the ratio of observed to expected disagreement of all ratings that can be paired."""
        p = self.patterns
        counts = p.counts * p.paired[:, None]
        totals = self.weights @ counts
        n = totals.sum(axis=1)
        if self.ranked:
            observed, expected, effect = self._ranked_disagreement(counts, totals, n)
        else:
            apart = ((p.ratings[:, None] - p.counts @ self.agreement) * counts).sum(axis=1) / p.pairs_of_an_item
            observed = self.weights @ apart
            unlike = totals @ (1.0 - self.agreement)
            expected = (unlike * totals).sum(axis=1) / n
            d_expected = (2.0 * counts @ unlike[0] - expected[0] * counts.sum(axis=1)) / n[0]
            effect = apart / observed[0] - d_expected / expected[0] if observed[0] > 0.0 else np.zeros(len(counts))
        # Pairs of ratings are drawn without replacement from the n ratings at hand.
        ratio = observed * np.maximum(n - 1.0, 0.0) / (n * np.where(expected > 1e-12 * n, expected, np.nan))
        return Value(1.0 - ratio, -ratio[0] * effect)

    def _ranked_disagreement(self, counts: Floats, totals: Floats, n: Floats) -> tuple[Floats, Floats, Floats]:
        """Observed and expected disagreement by squared differences of midranks, and the effect on their log ratio."""
        p = self.patterns
        upper = np.tril(np.ones((len(p.classes),) * 2)) - np.eye(len(p.classes)) / 2
        ranks = totals @ upper.T
        pairs = p.pairs_of_an_item
        sums = counts @ ranks.T
        squares = (self.weights * (p.ratings / pairs)) @ counts
        observed = 2.0 * ((squares * ranks**2).sum(axis=1) - np.einsum("bp,pb->b", self.weights / pairs, sums**2))
        mean = (totals * ranks).sum(axis=1) / n
        expected = 2.0 * ((totals * ranks**2).sum(axis=1) - n * mean**2)
        if not observed[0] > 0.0:
            return observed, expected, np.zeros(len(counts))
        rank, weight = ranks[0], self.weights[0]
        apart = 2.0 * (p.ratings * (counts @ rank**2) - sums[:, 0] ** 2) / pairs
        by_rank = 4.0 * (squares[0] * rank - (weight * sums[:, 0] / pairs) @ counts)
        d_observed = apart + counts @ (upper.T @ by_rank)
        by_rank = 4.0 * totals[0] * (rank - mean[0])
        d_expected = 2.0 * counts @ (rank - mean[0]) ** 2 + counts @ (upper.T @ by_rank)
        size = counts.sum(axis=1) / n[0]
        # Ranks grow with the number of ratings, which changes no ratio: only shares of the classes count.
        effect = (d_observed / observed[0] - 3.0 * size) - (d_expected / expected[0] - 3.0 * size)
        return observed, expected, effect


def specific_agreement(patterns: Patterns, weights: Floats) -> Floats:
    """Of the ratings that name a class, the share of the item's other ratings that name it too; a column per class.

    Fleiss (1971), Psychol. Bull. 76(5); of two classes the positive and the negative agreement of Cicchetti &
    Feinstein (1990), J. Clin. Epidemiol. 43(6).
    """
    counts = patterns.counts
    alike = weights @ (counts * (counts - 1.0))
    possible = weights @ (counts * (patterns.ratings[:, None] - 1.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        shares: Floats = np.where(possible > 0.0, alike / possible, np.nan)
    return shares
