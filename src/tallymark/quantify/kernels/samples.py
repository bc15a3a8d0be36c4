"""Samples of one pool of scores, as the quantifiers' kernels read them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tallymark._check import Floats, Ints, Masses, Scores
from tallymark._rounding import rounding
from tallymark.inference.resampling.strata import Stratum
from tallymark.summaries.run import Run
from tallymark.summaries.tally import Tally

#: Numbers gathered at a time.
_BLOCK = 2**16


@dataclass(frozen=True, eq=False)
class Samples:
    """A pool of scores and the samples taken from it.

    Each line of `index` lists a sample's places in the pool; or each line of `mass` says what every place counts; with
    neither, the pool itself is the only sample. Scores ascend unless there is an `index`. `effective_size` is Kish's,
    for a weighted sample; `terms` are the weights that its masses are sums of, 0 where these are whole counts.
    """

    scores: Scores
    index: Ints | None = None
    mass: Masses | None = None
    effective_size: float | None = None
    terms: int = 0

    @classmethod
    def of_run(cls, run: Run) -> Samples:
        """A run as the only sample; cells stand at their middle."""
        scores = run.scores if run.hi is None else (run.scores + run.hi) / 2
        mass = None if run.kind == "unit" else run.mass[None, :]
        return cls(scores, None, mass, run.effective_size, run.terms)

    @classmethod
    def of_stratum(cls, stratum: Stratum, mass: Masses) -> Samples:
        """Resamples of the rows of a run."""
        size = float(stratum.mass.sum() ** 2 / stratum.squares.sum())
        terms = 0 if mass.dtype.kind in "iu" else stratum.n
        return cls(stratum.scores, None, mass.astype(np.float64, copy=False), size, terms)

    def __len__(self) -> int:
        lines = self.mass if self.index is None else self.index
        return 1 if lines is None else len(lines)

    @cached_property
    def totals(self) -> Floats:
        """Mass of each sample."""
        if self.mass is not None:
            return np.asarray(self.mass.sum(axis=1), dtype=np.float64)
        size = len(self.scores) if self.index is None else self.index.shape[1]
        return np.full(len(self), float(size))

    @property
    def rows(self) -> float:
        """Rows of a sample; effective ones with weights."""
        return float(self.totals.mean()) if self.effective_size is None else self.effective_size

    def mean(self, feature: Any) -> Floats:
        """Mean of a feature of each place, one value per sample; a feature may differ by sample."""
        if self.index is not None:
            return self._gathered_mean(self.index, feature)
        if self.mass is None:
            means: Floats = np.atleast_1d(feature.mean(axis=-1))
            return means
        # Not a matrix product: BLAS results depend on the number of threads.
        return np.asarray(np.einsum("...k,...k->...", feature, self.mass) / self.totals)

    def _gathered_mean(self, index: Ints, feature: Any) -> Floats:
        """Means over the listed places, a few samples at a time, so that what is gathered stays in a core's cache."""
        gathered = np.empty(len(index))
        step = max(1, _BLOCK // index.shape[1])
        for start in range(0, len(index), step):
            rows = index[start : start + step]
            if feature.ndim == 1:
                # The places were checked when they came; to clip them is cheaper than to check them again.
                values = feature.take(rows, mode="clip")
            else:
                values = np.take_along_axis(feature[start : start + step], rows, axis=1)
            # Bytes add up without becoming floats first.
            gathered[start : start + step] = values.sum(axis=1, dtype=np.int64 if values.dtype.kind == "b" else None)
        return np.asarray(gathered / index.shape[1])

    def cells(self, thresholds: Scores) -> Ints | None:
        """How many of ascending thresholds each score of an indexed pool reaches; None where order says it all."""
        return None if self.index is None else np.searchsorted(thresholds, self.scores, "right")

    def above(self, thresholds: Scores, cells: Ints | None = None) -> Floats:
        """Share of each sample at or above each of ascending thresholds; `cells` are known already in a second call."""
        if self.index is not None:
            return np.asarray(1.0 - self.below(thresholds, cells) / self.index.shape[1])
        place = np.searchsorted(self.scores, thresholds, "left")
        if self.mass is None:
            return ((len(self.scores) - place) / len(self.scores))[None, :]
        over = np.zeros((len(self.mass), len(self.scores) + 1))
        np.cumsum(self.mass[:, ::-1], axis=1, out=over[:, -2::-1])
        # By the sum that the same additions gave: what lies below the lowest row is then exactly 0.
        return np.asarray(over[:, place] / over[:, :1])

    def below(self, thresholds: Scores, cells: Ints | None = None) -> Ints:
        """How many rows of each indexed sample lie below each of ascending thresholds."""
        reached = np.searchsorted(thresholds, self.scores, "right") if cells is None else cells
        return np.cumsum(self._counted(reached, len(thresholds) + 1)[:, :-1], axis=1)

    def within(self, edges: Scores) -> Floats:
        """Share of each sample in each bin between neighbouring edges; the outer bins take what lies beyond."""
        over = self.above(edges[1:-1])
        full, none = np.ones((len(over), 1)), np.zeros((len(over), 1))
        return np.concatenate((full, over), axis=1) - np.concatenate((over, none), axis=1)

    def gathered(self, *features: Floats) -> tuple[list[Floats], Floats | None]:
        """Features of each row of each sample, and what the rows count (None: one each)."""
        if self.index is None:
            return [np.atleast_2d(feature) for feature in features], self.mass
        return [
            feature[self.index] if feature.ndim == 1 else np.take_along_axis(feature, self.index, axis=1)
            for feature in features
        ], None

    def on(self, places: Ints, size: int) -> Floats:
        """Share of each sample at each of `size` places, where the pool's scores have the given places."""
        if self.index is not None:
            return np.asarray(self._counted(places, size) / self.index.shape[1])
        mass = np.ones((1, len(self.scores))) if self.mass is None else self.mass
        values = np.zeros((len(mass), size))
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        values[:, places[starts]] = np.add.reduceat(mass, starts, axis=1)
        return values / self.totals[:, None]

    def _counted(self, cells: Ints, size: int) -> Ints:
        """How many rows of each sample lie in each cell."""
        index: Any = self.index
        place = cells.take(index, mode="clip")
        place += (np.arange(len(index)) * size)[:, None]
        return np.bincount(place.ravel(), minlength=len(index) * size).reshape(len(index), size)


@dataclass(frozen=True, eq=False)
class Validation:
    """Scores of known negatives and positives, as sampled or resampled, and the prevalence the model was trained at."""

    negative: Samples
    positive: Samples
    #: One for each resample, or one for all.
    training_prevalence: Floats
    #: Lowest and highest score there can be: 0 and 1 for probabilities.
    range: tuple[float, float]

    @classmethod
    def of(cls, tally: Tally, target: Tally, training_prevalence: float | None) -> Validation:
        """A labelled sample beside the target it will be used on."""
        share = tally.positives / tally.n if training_prevalence is None else training_prevalence
        return cls(
            Samples.of_run(tally.negative),
            Samples.of_run(tally.positive),
            np.array([share]),
            score_range(tally, target),
        )

    def rates(self, thresholds: Scores) -> tuple[Floats, Floats]:
        """True and false positive rates at thresholds."""
        return self.positive.above(thresholds), self.negative.above(thresholds)

    @cached_property
    def rounding(self) -> float:
        """How far equal rates or means of the two classes may differ by rounding."""
        return rounding(max(self.negative.terms, self.positive.terms))

    @cached_property
    def candidates(self) -> Scores:
        """Every score of the validation sample: all thresholds that matter."""
        return np.unique(np.concatenate((self.negative.scores, self.positive.scores)))


def score_range(*tallies: Tally) -> tuple[float, float]:
    """0 and 1 for probabilities, else the lowest and highest score of all."""
    if all(tally.is_probability for tally in tallies):
        return 0.0, 1.0
    ends = [tally.range for tally in tallies]
    return min(low for low, _ in ends), max(high for _, high in ends)
