r"""Limits of AUROC averaged over classes, by the influence of every row and a pseudo-observation.

Each of these metrics is :math:`\theta = \sum_{i \ne j} g_{ij} A_{ij}`, with :math:`A_{ij}` the AUROC of score i between
rows of class i and of class j. A row of class c moves :math:`A_{cj}` by its placement among the rows of j in score
c, and :math:`A_{ic}` by its placement among the rows of i in score i. With two classes and complementary scores
this is DeLong's influence function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from tallymark._check import Floats, Ints
from tallymark.inference.limits.influence import STEP, Entries, Influence
from tallymark.inference.limits.pseudo_observation import ClassPart, beta_limits, shared_out
from tallymark.inference.scales import including
from tallymark.metrics.ranking import auroc_of
from tallymark.summaries.class_panel import ClassPanel
from tallymark.summaries.class_scores import ClassScores
from tallymark.summaries.run import Run

#: Weight of the pseudo-observation (chosen by simulation, see the docs).
EXTRA = 0.15

#: Placements computed at most; of larger classes as many rows are drawn, and the variance is scaled to all of them.
_MOST = 2**21

#: Rows of a class whose placements are computed in any case.
_LEAST = 2_000

#: Weights of the pairs of classes in a metric, from the masses of the classes.
PairWeights = Callable[[Floats], Floats]


def macro(masses: Floats) -> Floats:
    """Weights of the mean over classes of the AUROC of each against the rest."""
    weights: Floats = masses[None, :] / (len(masses) * (masses.sum() - masses)[:, None])
    return weights


def by_size(masses: Floats) -> Floats:
    """Weights of the same mean, weighted by the size of the class."""
    weights: Floats = macro(masses) * (len(masses) * masses / masses.sum())[:, None]
    return weights


def one_vs_one(masses: Floats) -> Floats:
    """Weights of the mean over pairs of classes (Hand and Till)."""
    k = len(masses)
    return np.full((k, k), 1.0 / (k * (k - 1)))


@dataclass(frozen=True, eq=False)
class Placements:
    """AUROC of every pair of classes, and the placements of rows of each class.

    ``in_class[c][r, j]`` is the share of class j below row r of class c in score c; ``other[c][r, i]`` the share of
    class i above it in score i. `shrink` is the share of the rows of each class that was placed.
    """

    areas: Floats
    masses: Floats
    in_class: tuple[Floats, ...]
    other: tuple[Floats, ...]
    entries: tuple[Entries, ...]
    shrink: tuple[float, ...]

    @classmethod
    def of(cls, panel: ClassPanel) -> Placements:
        """Of the rows of a panel; computed once for all metrics."""
        if panel not in _PLACEMENTS:
            _PLACEMENTS[panel] = _placements(panel)
        return _PLACEMENTS[panel]


_PLACEMENTS: WeakKeyDictionary[ClassPanel, Placements] = WeakKeyDictionary()


def _placements(panel: ClassPanel) -> Placements:
    scores = panel.class_scores
    k = len(scores.labels)
    most = max(_LEAST, _MOST // k**2)
    in_class, other, entries, shrink = [], [], [], []
    for c in range(k):
        members = np.flatnonzero((panel.codes == c) & (panel.mass > 0))
        rows = members
        if len(members) > most:
            rows = np.sort(np.random.default_rng(0).choice(members, most, replace=False))
        below = [_below(scores.runs[c][j], panel.scores[rows, c]) for j in range(k)]
        above = [1.0 - _below(scores.runs[i][i], panel.scores[rows, i]) for i in range(k)]
        in_class.append(np.stack(below, axis=1))
        other.append(np.stack(above, axis=1))
        entries.append(_entries(panel, rows))
        shrink.append(len(rows) / len(members))
    return Placements(
        _areas(scores),
        scores.moments.mass.astype(np.float64),
        tuple(in_class),
        tuple(other),
        tuple(entries),
        tuple(shrink),
    )


def _areas(scores: ClassScores) -> Floats:
    k = len(scores.labels)
    return np.array([[auroc_of(scores.one_vs_one(i, j)) if i != j else 0.0 for j in range(k)] for i in range(k)])


def _below(run: Run, scores: Floats) -> Floats:
    """The share of a run below each score, ties counting one half."""
    left, right = (run.mass_before(np.searchsorted(run.scores, scores, side)) for side in ("left", "right"))
    values: Floats = (left + right) / (2.0 * float(run.total))
    return values


def _entries(panel: ClassPanel, rows: Ints) -> Entries:
    mass = panel.mass[rows].astype(np.float64)
    return Entries(mass, mass, mass) if panel.weights is None else Entries(mass, mass**2, np.ones(len(rows)))


@dataclass(frozen=True, eq=False)
class ClassEffect:
    """Influence of the rows of each of K classes on a metric in [0, 1].

    `ends` are the influence of a row in the worst and in the best place; `by_mass` the derivatives with respect to the
    log masses of the classes.
    """

    value: float
    sides: tuple[Influence, ...]
    by_mass: tuple[float, ...]
    ends: tuple[tuple[float, float], ...]
    shrink: tuple[float, ...]

    def limits(self, level: float, *, plain: bool, extra: float = EXTRA) -> tuple[float, float]:
        """Limits of the metric; `plain` takes the sizes of the classes as drawn at random."""
        parts = [
            ClassPart(shrink * side.variance(slope, plain=plain), side.entries.effective_rows / shrink, *ends)
            for side, slope, ends, shrink in zip(self.sides, self.by_mass, self.ends, self.shrink, strict=True)
        ]
        masses = shared_out(extra, [part.rows for part in parts])
        low, high = beta_limits(self.value, parts, masses, np.array((1.0 - level) / 2))
        return including(self.value, float(low), float(high))


def class_auroc_effect(weights: PairWeights) -> Callable[[ClassPanel], ClassEffect]:
    """The influence function of an average of AUROCs over pairs of classes with these weights."""

    def effect(panel: ClassPanel) -> ClassEffect:
        placed = Placements.of(panel)
        areas, masses = placed.areas, placed.masses
        k = len(masses)

        def of(masses: Floats) -> float:
            return float((_off_diagonal(weights(masses)) * areas).sum())

        g = _off_diagonal(weights(masses))
        sides, ends, by_mass = [], [], []
        for c in range(k):
            # Not a dot product of BLAS: its results depend on the number of threads.
            values = np.einsum("rk,k->r", placed.in_class[c] - areas[c], g[c])
            values += np.einsum("rk,k->r", placed.other[c] - areas[:, c], g[:, c])
            sides.append(Influence(values, placed.entries[c]))
            # In the worst place a row is last in the score of its class and first in another; in the best, right in
            # all.
            worst = -float((g[c] * areas[c]).sum()) - float((g[:, c] * areas[:, c]).max())
            best = float((g[c] * (1.0 - areas[c])).sum()) + float((g[:, c] * (1.0 - areas[:, c])).sum())
            ends.append((worst, best))
            up, down = (of(np.where(np.arange(k) == c, masses * (1.0 + step), masses)) for step in (STEP, -STEP))
            by_mass.append((up - down) / (2.0 * STEP))
        return ClassEffect(of(masses), tuple(sides), tuple(by_mass), tuple(ends), placed.shrink)

    return effect


def _off_diagonal(matrix: Floats) -> Floats:
    values: Floats = np.where(np.eye(len(matrix), dtype=np.bool_), 0.0, matrix)
    return values
