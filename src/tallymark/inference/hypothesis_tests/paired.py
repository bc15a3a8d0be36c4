"""Paired differences of models on the same rows, by influence functions and by the bootstrap."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tallymark._check import Floats, Ints, Masses
from tallymark.errors import InputError, Undefined
from tallymark.inference.declared import inference_of
from tallymark.inference.hypothesis_tests.delong import covariance
from tallymark.inference.hypothesis_tests.difference import Difference, student_difference
from tallymark.inference.interval import Sampling, checked_number
from tallymark.inference.limits.effect import Effect
from tallymark.inference.limits.influence import Design, design_of
from tallymark.inference.resampling.parallel import Resampling, in_threads, seeds
from tallymark.inference.resampling.resamples import Resamples
from tallymark.inference.resampling.strata import Pool
from tallymark.inference.resampling.threshold_choice import at_choices, chosen_in
from tallymark.inference.resampling.values import at_rates, values_of
from tallymark.inference.scales import NO_SPREAD
from tallymark.registry import METRICS, Metric
from tallymark.summaries.confusion import BinaryConfusion
from tallymark.summaries.panel import Panel
from tallymark.summaries.tally import Tally

#: Masses held at once by a block of resamples of all models.
_BLOCK = 2**20

#: Entries of a model among which a policy chooses: a threshold between two of as many cells is near enough.
CHOICES = 2**12


@dataclass(frozen=True, eq=False)
class PairedInfluence:
    """Influence function and design of each model, and the covariance of their estimates on the same rows."""

    effects: Mapping[str, Effect]
    designs: Mapping[str, Design]
    covariance: Floats

    @classmethod
    def of(
        cls, panel: Panel, tallies: Mapping[str, Tally], metric: str, *, plain: bool, jobs: int | None = None
    ) -> PairedInfluence:
        """From the influence of every row on the metric of each model."""
        influence = inference_of(metric).influence
        if influence is None:
            raise InputError(f"{metric} has no influence function in closed form; use method='bootstrap'.")
        rows = np.zeros((len(panel.models), panel.n))
        sides = [np.flatnonzero(panel.is_positive == positive) for positive in (False, True)]

        def of_model(place: int) -> tuple[Effect, Design]:
            model = panel.models[place]
            effect = influence(tallies[model])
            for positive, side in enumerate(sides):
                rows[place, side] = effect.of_rows(panel.scores[model][side], positive=bool(positive))
            return effect, design_of(metric, tallies[model], plain=plain, by_odds=effect.by_odds)

        effects, designs = zip(*in_threads(of_model, range(len(panel.models)), jobs), strict=True)
        covariances = covariance(
            rows,
            panel.is_positive,
            panel.mass.astype(np.float64),
            weighted=panel.weights is not None,
            by_mass=np.array([design.by_mass for design in designs]),
            plain=plain,
        )
        return cls(
            dict(zip(panel.models, effects, strict=True)), dict(zip(panel.models, designs, strict=True)), covariances
        )


@dataclass(frozen=True, eq=False)
class PairedProportions:
    """Confusion matrix of each model, the covariance of their proportions, and the fewest effective rows of any."""

    confusions: Mapping[str, BinaryConfusion]
    covariance: Floats
    fewest: float

    @classmethod
    def of(
        cls, panel: Panel, tallies: Mapping[str, Tally], facts: Metric, thresholds: Mapping[str, float | None]
    ) -> PairedProportions:
        """Of a metric that is a proportion, from the contribution of every row to it."""
        hits, misses = facts.proportion or ((), ())
        mass = panel.mass.astype(np.float64)
        # A count of c is c rows of weight 1.
        part = mass if panel.weights is not None else np.sqrt(mass)
        rows, sizes = np.zeros((len(panel.models), panel.n)), []
        for row, model in zip(rows, panel.models, strict=True):
            called = panel.scores[model] >= thresholds[model]
            cell = np.where(called, np.where(panel.is_positive, "tp", "fp"), np.where(panel.is_positive, "fn", "tn"))
            hit, counted = np.isin(cell, hits), np.isin(cell, (*hits, *misses))
            total = float(mass[counted].sum())
            if total <= 0.0:
                raise InputError(
                    f"{facts.name} of {model!r} is undefined at its threshold: no row is among those it is a share of. "
                    "Compare at another threshold, or by another metric."
                )
            row[:] = part * counted * (hit - float(mass[hit].sum()) / total) / total
            sizes.append(total**2 / float((part[counted] ** 2).sum()))
        n = float(panel.n) if panel.weights is not None else float(mass.sum())
        confusions = {model: tallies[model].at(float(cut or 0.0)) for model, cut in thresholds.items()}
        return cls(confusions, np.einsum("ik,jk->ij", rows, rows) * (n / (n - 1.0)), min(sizes))


class Resampler:
    """Bootstrap of the rows of a panel, or of its clusters, with the same resamples for every model.

    Beyond `most` distinct scores of a model neighbouring ones share a cell.
    """

    def __init__(self, panel: Panel, models: Sequence[str], most: int | None = None) -> None:
        present = panel.mass > 0
        self._sides = [np.flatnonzero(present & side) for side in (~panel.is_positive, panel.is_positive)]
        if min(map(len, self._sides)) < 2:
            raise InputError("Two rows or more of each class are needed.")
        self._panel = panel
        self._models = {model: self._entries(model, most) for model in models}
        self._masses = [panel.mass[rows] for rows in self._sides]
        self._clusters = None if panel.cluster is None else np.unique(panel.cluster, return_inverse=True)[1]

    def _entries(self, model: str, most: int | None) -> tuple[Pool, list[Ints]]:
        """A model's pool of distinct scores, and the entry of every row of each class."""
        pool = Pool.of(self._panel.tally(model), self._panel.n if most is None else most)
        return pool, [
            np.searchsorted(stratum.cells, self._panel.scores[model][rows], "right") - 1
            for rows, stratum in zip(self._sides, pool.strata, strict=True)
        ]

    def _drawn(self, rng: np.random.Generator, times: int, sampling: Sampling) -> list[Masses]:
        """Masses of the rows of each class in `times` resamples."""
        if self._clusters is not None:
            number = int(self._clusters.max()) + 1
            often = rng.multinomial(number, np.full(number, 1.0 / number), times)
            return [often[:, self._clusters[rows]] * mass for rows, mass in zip(self._sides, self._masses, strict=True)]
        if sampling == "plain":
            together = self._resample(np.concatenate(self._masses), rng, times)
            cut = len(self._masses[0])
            return [together[:, :cut], together[:, cut:]]
        return [self._resample(mass, rng, times) for mass in self._masses]

    def _resample(self, mass: Masses, rng: np.random.Generator, times: int) -> Masses:
        n = len(mass)
        if self._panel.counts is not None:
            drawn: Masses = rng.multinomial(int(mass.sum()), mass / mass.sum(), times)
            return drawn
        place = rng.integers(0, n, (times, n)) + np.arange(times)[:, None] * n
        counts = np.bincount(place.ravel(), minlength=times * n).reshape(times, n)
        return counts if self._panel.weights is None else counts * mass

    def values(
        self,
        metric: str,
        thresholds: dict[str, float | None],
        resampling: Resampling,
        parameters: Mapping[str, Mapping[str, float]] | None = None,
    ) -> dict[str, Floats]:
        """The metric of every model in every resample."""

        def value(model: str, draws: Resamples) -> Floats:
            return values_of(metric, draws, thresholds[model], None if parameters is None else parameters[model])

        return self._each(value, resampling)

    def at_choices(
        self,
        metric: str,
        policy: str,
        resampling: Resampling,
        parameters: Mapping[str, float] | None = None,
    ) -> dict[str, Floats]:
        """The metric of every model in every resample, at the threshold that the policy chooses in that resample.

        Replicates are shifted by what joining neighbouring scores does to the estimate.
        """
        facts, given = METRICS[metric], parameters or {}

        def value(draws: Resamples) -> Floats:
            return at_choices(facts, *chosen_in(draws, policy), given)

        drawn = self._each(lambda _, draws: value(draws), resampling)
        for model, (pool, _) in self._models.items():
            tally = pool.tally
            if sum(run.n_distinct for run in tally.runs) > pool.size:
                exact = value_of(facts, tally, tally.threshold_for(policy), given)
                drawn[model] += exact - value(Resamples(pool, *(stratum.mass[None, :] for stratum in pool.strata)))
        return drawn

    def _each(self, value: Callable[[str, Resamples], Floats], resampling: Resampling) -> dict[str, Floats]:
        """A value of every model in every resample; the same for any number of jobs."""

        def block(times: int, entropy: np.random.SeedSequence) -> dict[str, Floats]:
            drawn = self._drawn(np.random.Generator(np.random.SFC64(entropy)), times, resampling.sampling)
            entries = {}
            for model, (pool, places) in self._models.items():
                sides = [
                    np.stack([np.bincount(entry, row, len(stratum.cells)) for row in masses])
                    for masses, entry, stratum in zip(drawn, places, pool.strata, strict=True)
                ]
                # A resample without one of the classes has no metric.
                with np.errstate(divide="ignore", invalid="ignore"):
                    entries[model] = value(model, Resamples(pool, sides[0], sides[1]))
            return entries

        blocks = resampling.blocks(block, max(1, min(64, _BLOCK // sum(map(len, self._sides)))))
        return {model: np.concatenate([values[model] for values in blocks]) for model in self._models}


def cell_values(
    panel: Panel,
    metric: str,
    thresholds: dict[str, float | None],
    resampling: Resampling,
    parameters: Mapping[str, Mapping[str, float]] | None = None,
) -> dict[str, Floats]:
    """A metric at one threshold of every model in every resample of unweighted rows.

    A row enters only by the models that predict it positive, so resampling draws counts of these patterns.
    """
    replicates = checked_number(resampling.replicates, "replicates", 2)
    rng = np.random.default_rng(seeds(resampling.seed, 1)[0])
    called = np.stack([panel.scores[model] >= thresholds[model] for model in panel.models])
    # The class is one more bit of a row's pattern.
    patterns, which = np.unique(np.vstack((panel.is_positive[None, :], called)), axis=1, return_inverse=True)
    counts = np.bincount(which.ravel(), panel.mass)
    up = patterns[0].astype(np.bool_)
    sides = [up | ~up] if resampling.sampling == "plain" else [~up, up]
    drawn = np.zeros((replicates, len(counts)), dtype=np.int64)
    for side in sides:
        n = counts[side].sum()
        drawn[:, side] = rng.multinomial(int(n), counts[side] / n, replicates)
    hits = {positive: drawn[:, side] @ patterns[1:, side].T.astype(np.int64) for positive, side in ((0, ~up), (1, up))}
    totals = drawn[:, up].sum(axis=1), drawn[:, ~up].sum(axis=1)
    return {
        model: at_rates(
            METRICS[metric], hits[1][:, i], hits[0][:, i], *totals, None if parameters is None else parameters[model]
        )
        for i, model in enumerate(panel.models)
    }


def bootstrap_difference(estimate: float, drawn: Floats, freedom: float) -> Difference:
    """Student's test with the standard error of the differences of paired resamples.

    It keeps its size where percentiles of few positives do not.
    """
    defined = _defined(estimate, drawn)
    return student_difference(estimate, float(defined.std(ddof=1)), "paired bootstrap", freedom)


#: The mean overshoot of resamples counts one and a half times, as in the interval of a single maximum.
_SHORT_OF = 1.5


def percentile_difference(
    estimate: float, drawn: Floats, freedom: float, method: str, *, at_least_student: bool, maximum: bool = False
) -> Difference:
    r"""Percentiles of the differences of paired resamples, without a bias correction.

    :math:`p = 2 (c + 1) / (B + 1)` with c of the B differences on the other side of 0 or at it. Below what B resamples
    can resolve, and everywhere with `at_least_student`, limits are never narrower than Student's with the resamples'
    standard error. Resamples of a `maximum` over thresholds exceed the estimate by about as much as it exceeds the true
    value, and more for the model with more thresholds: the limit on that side is moved out by 1.5 times the overshoot.
    """
    defined = np.sort(_defined(estimate, drawn))
    error = float(defined.std(ddof=1))
    student = student_difference(estimate, error, method, freedom)
    size = len(defined) + 1
    overshoot = _SHORT_OF * (float(defined.mean()) - estimate) if maximum else 0.0
    below, above = max(overshoot, 0.0), min(overshoot, 0.0)

    def limits(level: float) -> tuple[float, float]:
        place = math.ceil((1.0 - level) / 2 * size) - 1
        beyond = max(place, 1)
        low, high = float(defined[beyond - 1]), float(defined[-beyond])
        if at_least_student or place < 1:
            least, most = student.limits(level)
            low, high = min(low, least), max(high, most)
        return min(low - below, estimate), max(high - above, estimate)

    # The same for a difference above 0.
    sign = 1.0 if estimate > 0.0 else -1.0
    nearer = max(sign * overshoot, 0.0)
    left = sign * estimate - nearer
    if left <= 0.0:
        return Difference(estimate, error, 1.0, method, limits)
    # Sums of weights that cancel leave rounding.
    other_side = int(np.count_nonzero(sign * defined - nearer <= NO_SPREAD * float(np.abs(defined).max())))
    of_student = student_difference(left, error, method, freedom).p_value
    p = min(1.0, 2.0 * (other_side + 1) / size)
    if at_least_student:
        p = max(p, of_student) if other_side else of_student
    elif not other_side:
        p = min(p, of_student)
    return Difference(estimate, error, p, method, limits)


def _defined(estimate: float, drawn: Floats) -> Floats:
    """The differences of the resamples in which the metric of both models is defined."""
    if not math.isfinite(estimate):
        raise Undefined("the metric of a model is infinite, so there is no difference to compare")
    defined: Floats = drawn[np.isfinite(drawn)]
    if len(defined) < 0.9 * len(drawn):
        raise Undefined("the metric is undefined in many resamples; more rows are needed")
    return defined


def value_of(metric: Metric, tally: Tally, threshold: float | None, parameters: Mapping[str, float]) -> float:
    """A metric of a tally, at a threshold where it needs one."""
    if metric.needs == "confusion":
        return metric.compute(tally.at(threshold if threshold is not None else 0.5), **parameters)
    return metric.compute(tally)


def metric_named(name: str) -> Metric:
    """A metric two models can be compared by."""
    if not isinstance(name, str):
        raise InputError(f"metric is {name!r}; compare by one metric at a time, given by name.")
    facts = METRICS[name]
    if facts.needs not in {"tally", "probabilities", "confusion"}:
        raise InputError(f"{name} is a metric of K classes; compare takes metrics of two.")
    return facts


PairedMethod = Literal["clusters", "mover", "delong", "influence", "mcnemar", "bootstrap", "permutation"]
