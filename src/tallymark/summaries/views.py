"""Ranks, cut-offs and scaled moments of the two classes of a tally, computed once and kept for the metrics."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tallymark._check import Ints
from tallymark.errors import InputError
from tallymark.summaries.cutoffs import Cutoffs, Outcomes, Steps, all_cutoffs, outcomes_of, steps_at
from tallymark.summaries.run import Run, ScoreMoments
from tallymark.summaries.sorting import BLOCK, blocks, placements, starts_of_groups

#: Scores below 2**300 in size have finite third powers, above 2**-300 ones that do not vanish.
_SAFE_EXPONENT = 300

#: Means nearer to each other than this, relative to their size, are compared around a score between them.
_LOST = 1e-2

#: Spreads stored in floats too small to keep their digits.
_FAINT = 1e-290


@dataclass(frozen=True, eq=False)
class Views:
    """What kernels ask of the runs of a tally; the same at every stated prevalence."""

    runs: tuple[Run, ...]

    @property
    def classes(self) -> tuple[Run, Run]:
        """The negatives and the positives."""
        if len(self.runs) != 2:
            raise InputError(
                "This tally has no labels, so it has no positives or negatives; make it with tm.tally(y, scores)."
            )
        return self.runs

    @cached_property
    def placements(self) -> tuple[Ints, Ints]:
        """For each entry of the positive run, the negative entries strictly below it and at or below it."""
        negative, positive = self.classes
        return placements(negative.scores, positive.scores)

    @cached_property
    def first_of_score(self) -> Ints | None:
        """Where each distinct score begins in the positive run; None when all are distinct anyway."""
        positive = self.classes[1]
        return None if positive.n_distinct == len(positive) else starts_of_groups(positive.scores)

    @cached_property
    def untied(self) -> bool:
        """Whether no two rows have the same score."""
        below, at_or_below = self.placements
        return below is at_or_below and all(run.kind == "unit" and run.n_distinct == len(run) for run in self.runs)

    @cached_property
    def wins(self) -> float:
        """Mass of (positive, negative) pairs in which the positive scores higher; ties count one half."""
        negative, positive = self.classes
        below, at_or_below = self.placements
        if positive.kind == negative.kind == "unit":
            return (int(below.sum()) + int(at_or_below.sum())) / 2
        beaten = negative.mass_before(below) + negative.mass_before(at_or_below)
        # As floats: counts times counts overflow int64 at about 3e9 rows a class.
        return float(np.sum(positive.mass.astype(np.float64) * beaten)) / 2

    def steps(self) -> Steps:
        """Masses at the distinct positive scores, as they are in the sample (no stated prevalence applied)."""
        return self._few_steps or self._steps_at(slice(0, self._n_steps))

    def step_blocks(self) -> Iterator[Steps]:
        """The same steps in blocks that stay in a core's cache, from the highest threshold down."""
        if self._few_steps is not None:
            yield self._few_steps
            return
        for block in reversed(list(blocks(self._n_steps))):
            yield self._steps_at(block)

    @cached_property
    def _few_steps(self) -> Steps | None:
        """All steps, kept because several metrics need them, where they make up one block."""
        return self._steps_at(slice(0, self._n_steps)) if 0 < self._n_steps <= BLOCK else None

    def _steps_at(self, block: slice) -> Steps:
        negative, positive = self.classes
        return steps_at(block, positive, negative, self.placements, self.first_of_score)

    @property
    def _n_steps(self) -> int:
        return len(self.classes[1]) if self.first_of_score is None else len(self.first_of_score)

    @cached_property
    def cutoffs(self) -> Cutoffs:
        """Masses at every distinct score, as they are in the sample."""
        negative, positive = self.classes
        return all_cutoffs(positive, negative, self.placements[0])

    def outcomes(self, scale: tuple[float, float]) -> Outcomes:
        """The share of positives at every distinct score, with a unit of (negative, positive) mass counting `scale`."""
        if scale not in self._outcomes:
            self._outcomes.clear()
            self._outcomes[scale] = outcomes_of(self.cutoffs, scale)
        return self._outcomes[scale]

    @cached_property
    def _outcomes(self) -> dict[tuple[float, float], Outcomes]:
        """Those of the last scale."""
        return {}

    @cached_property
    def extremes(self) -> tuple[Views, Views]:
        """Two orders of the scores that the truth lies between: in each cell positives above negatives, and below."""
        negative, positive = (
            run if run.lo is not None else replace(run, lo=run.scores, hi=run.scores) for run in self.classes
        )

        def at(run: Run, scores: Any) -> Run:
            return replace(run, scores=scores, lo=None, hi=None, known_moments=None)

        return (
            Views((at(negative, negative.lo), at(positive, positive.hi))),
            Views((at(negative, negative.hi), at(positive, positive.lo))),
        )

    @cached_property
    def scaled_moments(self) -> tuple[ScoreMoments, ...]:
        """Moments of each run for numbers that do not depend on the unit of the scores.

        Squares of 1e-200 vanish and those of 1e200 overflow, so scores that far out are first scaled by a power of two.
        """
        exponent = self._unit_exponent
        if not exponent:
            return tuple(run.moments for run in self.runs)
        return tuple(_scaled_moments(run, -exponent) for run in self.runs)

    @cached_property
    def scaled_gap(self) -> float:
        """Mean score of the positives less that of the negatives, in the unit of :attr:`scaled_moments`.

        Two means far from 0 and near each other have lost digits to rounding; then their difference is taken around a
        score.
        """
        down, up = self.scaled_moments
        gap = up.mean - down.mean
        if abs(gap) > _LOST * max(abs(up.mean), abs(down.mean)) or any(run.known_moments for run in self.runs):
            return gap
        positive, exponent = self.classes[1], self._unit_exponent
        pivot = float(positive.scores[len(positive) // 2])
        means = [run.sum_of(lambda s: np.ldexp(s - pivot, -exponent)) / float(run.total) for run in self.runs]
        return means[1] - means[0]

    @cached_property
    def range(self) -> tuple[float, float]:
        """Lowest and highest score."""
        ends = [
            (float(run.scores[0]), float(run.scores[-1] if run.hi is None else run.hi[-1]))
            for run in self.runs
            if len(run)
        ]
        if not ends:
            return math.nan, math.nan
        return min(low for low, _ in ends), max(high for _, high in ends)

    @property
    def _unit_exponent(self) -> int:
        """The power of two that scores far out are first divided by; 0 for all others."""
        _, exponent = math.frexp(max(map(abs, self.range)))
        return exponent if abs(exponent) > _SAFE_EXPONENT else 0


def _scaled_moments(run: Run, exponent: int) -> ScoreMoments:
    """Moments of a run's scores times a power of two; nan where stored ones have lost their digits."""
    stored = run.known_moments
    if stored is None:
        return Run(np.ldexp(run.scores, exponent), run.counts, run.weights).moments
    kept = math.isfinite(stored.m2) and (stored.m2 > _FAINT or float(run.scores[0]) == float(run.scores[-1]))
    m2 = math.ldexp(stored.m2, 2 * exponent) if kept else math.nan
    m3 = math.ldexp(stored.m3, 3 * exponent) if math.isfinite(stored.m3) else math.nan
    return ScoreMoments(stored.mass, math.ldexp(stored.mean, exponent), m2, m3)
