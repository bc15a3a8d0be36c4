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
from tallymark.summaries.class_panel import ClassPanel
from tallymark.summaries.class_scores import ClassScores
from tallymark.summaries.run import Run

#: Weight of the pseudo-observation (chosen by simulation, see the docs).
EXTRA = 0.15

#: Placements computed at most; of larger classes as many rows are drawn, and the variance is scaled to all of them.
_MOST = 2**21

#: Rows of a class whose placements are computed in any case.
_LEAST = 2_000

#: Weights of the pairs of classes in a metric, from the masses of the classes: of i and j the product of the first
#: factor of i and the second of j, which is their mass or constant.
PairWeights = Callable[[Floats], tuple[Floats, Floats]]


def macro(masses: Floats) -> tuple[Floats, Floats]:
    """Weights of the mean over classes of the AUROC of each against the rest."""
    return 1.0 / (masses.shape[-1] * (masses.sum(axis=-1, keepdims=True) - masses)), masses


def by_size(masses: Floats) -> tuple[Floats, Floats]:
    """Weights of the same mean, weighted by the size of the class."""
    of_own, of_other = macro(masses)
    return of_own * masses.shape[-1] * masses / masses.sum(axis=-1, keepdims=True), of_other


def one_vs_one(masses: Floats) -> tuple[Floats, Floats]:
    """Weights of the mean over pairs of classes (Hand and Till)."""
    k = masses.shape[-1]
    return np.full(masses.shape, 1.0 / (k * (k - 1))), np.ones(masses.shape)


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
    chosen, shrink = [], []
    for c in range(k):
        rows = members = np.flatnonzero((panel.codes == c) & (panel.mass > 0))
        if len(members) > most:
            rows = np.sort(np.random.default_rng(0).choice(members, most, replace=False))
        chosen.append(rows)
        shrink.append(len(rows) / len(members))
    placed = np.concatenate(chosen)
    above = np.empty((len(placed), k))
    for i in range(k):
        above[:, i] = 1.0 - _below(scores.runs[i][i], panel.scores[placed, i])
    won, lost = scores.wins
    return Placements(
        won / np.where(np.eye(k, dtype=np.bool_), 1.0, won + lost),
        scores.moments.mass.astype(np.float64),
        tuple(_below_by_class(scores, c, panel.scores[rows, c]) for c, rows in enumerate(chosen)),
        tuple(np.split(above, np.cumsum([len(rows) for rows in chosen])[:-1])),
        tuple(_entries(panel, rows) for rows in chosen),
        tuple(shrink),
    )


def _below_by_class(scores: ClassScores, c: int, wanted: Floats) -> Floats:
    """The share of each class (columns) below each of some values of score c, ties counting one half."""
    distinct, of_row = np.unique(wanted, return_inverse=True)
    values, codes = scores.component(c)
    # Even cells lie below a distinct value, odd ones at it.
    cell = np.searchsorted(distinct, values, "left") + np.searchsorted(distinct, values, "right")
    width = 2 * len(distinct) + 1
    mass = np.broadcast_to(scores.masses(c), len(values))
    upto = np.bincount(codes * width + cell, mass, len(scores.labels) * width).reshape(-1, width).cumsum(axis=1)
    shares = (upto[:, :-1:2] + upto[:, 1::2]) / (2.0 * upto[:, -1:])
    return np.ascontiguousarray(shares.T[of_row])


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
        of_own, of_other = weights(masses)
        g = of_own[:, None] * of_other * ~np.eye(len(masses), dtype=np.bool_)
        means = np.einsum("ij,j->i", areas, of_other)

        def of_changed(step: float) -> Floats:
            """The metric where the mass of one class is changed, for each class."""
            own, other = weights(masses + np.diag(step * masses))
            values: Floats = (own * (means + areas.T * (np.diag(other) - of_other)[:, None])).sum(axis=1)
            return values

        sides, ends = [], []
        for c in range(len(masses)):
            # Not a dot product of BLAS: its results depend on the number of threads.
            values = np.einsum("rk,k->r", placed.in_class[c] - areas[c], g[c])
            values += np.einsum("rk,k->r", placed.other[c] - areas[:, c], g[:, c])
            sides.append(Influence(values, placed.entries[c]))
            # In the worst place a row is last in the score of its class and first in another; in the best, right in
            # all.
            worst = -float((g[c] * areas[c]).sum()) - float((g[:, c] * areas[:, c]).max())
            best = float((g[c] * (1.0 - areas[c])).sum()) + float((g[:, c] * (1.0 - areas[:, c])).sum())
            ends.append((worst, best))
        by_mass = (of_changed(STEP) - of_changed(-STEP)) / (2.0 * STEP)
        return ClassEffect(float((g * areas).sum()), tuple(sides), tuple(by_mass.tolist()), tuple(ends), placed.shrink)

    return effect
