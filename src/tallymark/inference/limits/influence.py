r"""Influence functions and the standard errors that follow from them.

With class sizes held fixed, the variance of a smooth metric is the sum over the classes of
:math:`\sum_i w_i^2 \mathrm{IF}_i^2 / (\sum_i w_i)^2`; counts are repeated rows, weights enter by their squares.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tallymark._check import Floats, Ints, Masses
from tallymark.registry import METRICS
from tallymark.summaries.run import Run, ScoreMoments
from tallymark.summaries.tally import Tally


@dataclass(frozen=True)
class Spread:
    """Standard error of an estimate, its Welch–Satterthwaite degrees of freedom and its skewness."""

    error: float
    freedom: float
    #: Acceleration of the BCa interval, one sixth of the skewness of the influence values.
    acceleration: float


@dataclass(frozen=True, eq=False)
class Entries:
    """Mass, squared weights and number of rows of each entry of a class."""

    mass: Floats
    squares: Floats
    rows: Floats

    @classmethod
    def of(cls, run: Run) -> Entries:
        """The entries of a run."""
        return cls(*masses(run))

    @cached_property
    def total(self) -> float:
        """Mass of the class."""
        return float(self.mass.sum())

    @cached_property
    def n(self) -> int:
        """Rows of the class."""
        return int(self.total if self.rows is self.mass else self.rows.sum())

    @cached_property
    def shares_of_squares(self) -> Floats:
        """Squared weights, as shares of the squared mass."""
        # Two divisions: the square of a total of 1e-160 would vanish.
        return self.squares / self.total / self.total

    @cached_property
    def effective_rows(self) -> float:
        """Kish's effective sample size."""
        return 1.0 / float(self.shares_of_squares.sum())

    @cached_property
    def up_to(self) -> Floats:
        """Mass of each entry and all before it."""
        return self.mass.cumsum()

    @cached_property
    def from_here(self) -> Floats:
        """Mass of each entry and all behind it."""
        return self.mass[::-1].cumsum()[::-1]


@dataclass(frozen=True, eq=False)
class Influence:
    """Influence of the rows of one class, by entry."""

    values: Floats
    entries: Entries

    def moments(self, by_mass: float = 0.0, *, plain: bool = False) -> tuple[float, float, int]:
        """Variance and third cumulant of the class's contribution to the estimate, and its rows.

        `by_mass` is the derivative of the metric with respect to the log mass of the class. That mass is random when
        rows are drawn from all classes (`plain`), and when rows of a class of fixed size differ in weight.
        """
        n, squares, rows = self.entries.n, self.entries.shares_of_squares, self.entries.rows
        # The correction of a sample variance.
        correction = n / (n - 1) if n > 1 else math.nan
        each = np.divide(squares**1.5, np.sqrt(rows), out=np.zeros_like(squares), where=rows > 0)
        cubes = float(np.sum(each * self.values**3))
        return self.variance(by_mass, plain=plain) * correction, cubes, n

    def variance(self, by_mass: float = 0.0, *, plain: bool = False) -> float:
        """Variance of the class's contribution, Σ w² IF² / (Σ w)², without the correction of a sample variance."""
        if (by_mass, plain) not in self._variances:
            self._variances[by_mass, plain] = self._summed_variance(by_mass, plain=plain)
        return self._variances[by_mass, plain]

    @cached_property
    def _variances(self) -> dict[tuple[float, bool], float]:
        """Variances by design: limits at many levels share one."""
        return {}

    def _summed_variance(self, by_mass: float, *, plain: bool) -> float:
        n, squares = self.entries.n, self.entries.shares_of_squares
        if plain:
            parts = squares * (self.values + by_mass) ** 2
        else:
            share = self.entries.mass / self.entries.total
            uneven = squares - 2.0 * share / n + self.entries.rows / n**2
            parts = squares * self.values**2 + by_mass**2 * uneven + 2.0 * by_mass * self.values * (squares - share / n)
        return max(0.0, float(parts.sum()))

    @property
    def shares_of_variance(self) -> Floats:
        """Contribution of one row of each entry to the variance."""
        values: Floats = self.entries.shares_of_squares * self.values**2 / np.maximum(self.entries.rows, 1.0)
        return values


@dataclass(frozen=True)
class Design:
    """Sampling design: derivatives of the metric with respect to the log mass of each class; are class sizes random?"""

    by_mass: tuple[float, float] = (0.0, 0.0)
    plain: bool = False


#: Class sizes held fixed, every row of equal weight.
FIXED = Design()


def spread(negative: Influence, positive: Influence, design: Design) -> Spread:
    """Standard error of a metric from the influence of both classes."""
    parts = [
        side.moments(by_mass, plain=design.plain)
        for side, by_mass in zip((negative, positive), design.by_mass, strict=True)
    ]
    variance = sum(v for v, _, _ in parts)
    if design.plain:
        # The number of all rows is fixed.
        variance -= sum(design.by_mass) ** 2 / sum(n for _, _, n in parts)
    if not variance > 0.0:
        return Spread(math.nan if math.isnan(variance) else 0.0, math.inf, 0.0)
    freedom = 1.0 / sum((v / variance) ** 2 / (n - 1) for v, _, n in parts if n > 1)
    cubes = sum(c for _, c, _ in parts)
    acceleration = cubes / (6.0 * variance**1.5) if variance**1.5 > 0.0 else 0.0
    return Spread(math.sqrt(variance), freedom, acceleration)


def design_of(name: str, tally: Tally, *, plain: bool, by_odds: float | None = None) -> Design:
    """The sampling design: derivatives of the metric with respect to the classes' log masses, where these are random.

    `by_odds` is the derivative with respect to the log odds of a positive, where it has a closed form.
    """
    if not plain and not tally.weighted:
        return FIXED
    facts = METRICS[name]
    if facts.prevalence_free:
        return Design(plain=plain)
    if facts.extensive:
        down, up = (
            (facts.compute(_scaled(tally, side, 1.0 + STEP)) - facts.compute(_scaled(tally, side, 1.0 - STEP)))
            / (2.0 * STEP)
            for side in (0, 1)
        )
        return Design((down, up), plain)
    if tally.prior is not None:
        return Design(plain=plain)
    # Intensive metrics depend on class masses only through the prevalence.
    if by_odds is not None:
        return Design((-by_odds, by_odds), plain)
    odds = tally.prevalence / (1.0 - tally.prevalence)
    above, below = (
        facts.compute(tally.at_prevalence(o / (1.0 + o))) for o in (odds * (1.0 + STEP), odds * (1.0 - STEP))
    )
    slope = (above - below) / (2.0 * STEP)
    return Design((-slope, slope), plain)


#: Relative step of numerical derivatives.
STEP = 1e-4


def _scaled(tally: Tally, side: int, factor: float) -> Tally:
    """The tally with the mass of one class multiplied."""
    runs = list(tally.runs)
    mass, squares, rows = masses(runs[side])
    m = runs[side].moments
    moments = ScoreMoments(factor * m.mass, m.mean, factor * m.m2, factor * m.m3)
    other = runs[1 - side]
    if other.kind != "weights":
        weights, of_weights, n = masses(other)
        runs[1 - side] = replace(other, counts=None, weights=weights, squares=of_weights, rows=n.astype(np.int64))
    runs[side] = replace(
        runs[side],
        counts=None,
        weights=factor * mass,
        squares=factor**2 * squares,
        rows=rows.astype(np.int64),
        known_moments=moments,
    )
    return replace(tally, runs=tuple(runs))


def masses(run: Run) -> tuple[Floats, Floats, Floats]:
    """Mass, squared weight and rows of each entry, as floats."""
    mass = run.mass.astype(np.float64)
    if run.squares is not None and run.rows is not None:
        return mass, run.squares, run.rows.astype(np.float64)
    return mass, mass, mass


def sums_between(values: Masses, edges: Ints) -> Floats:
    """Sums of consecutive values, cut at ascending places."""
    return np.diff(np.concatenate(([0.0], np.cumsum(values)))[edges])
