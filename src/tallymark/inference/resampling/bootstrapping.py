"""The bootstrap of a tally: metrics of resampled masses, without sorting or copying rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from tallymark._check import Floats
from tallymark._display import Row, Shown, plain
from tallymark._mappings import FrozenDict
from tallymark.curves.base import with_both_classes
from tallymark.errors import InputError, Undefined
from tallymark.inference.declared import inference_of
from tallymark.inference.interval import Interval, Sampling, Seed, checked_level, checked_number, require_separate_rows
from tallymark.inference.limits.separation import separation_limits
from tallymark.inference.resampling.parallel import Resampling
from tallymark.inference.resampling.resamples import Resamples
from tallymark.inference.resampling.strata import MOST, Pool
from tallymark.inference.resampling.values import values_of
from tallymark.inference.scales import NO_SPREAD, normal_quantile
from tallymark.registry import METRICS, metric_names, require_one_of
from tallymark.summaries.tally import Tally

BootstrapMethod = Literal["percentile", "bca"]

#: Masses in memory at once, whatever the number of replicates: blocks large enough that threads seldom wait for the
#: interpreter lock.
_BLOCK = 2**21

#: Replicates whose metric is undefined are left out; with more than this share of them there is no interval.
_UNDEFINED = 0.1


def over_replicates(
    tally: Tally,
    function: Callable[[Resamples], Any],
    resampling: Resampling,
    *,
    most: int = MOST,
    edges: Iterable[float] = (),
) -> list[Any]:
    """A function of every block of resamples, in order; the same for any number of jobs."""
    require_one_of("sampling", resampling.sampling, ("stratified", "plain"))
    require_separate_rows(tally.clusters, "The bootstrap")
    pool = Pool.of(tally, most, edges)

    def block(times: int, entropy: np.random.SeedSequence) -> Any:
        return function(_drawn(pool, np.random.Generator(np.random.SFC64(entropy)), times, resampling.sampling))

    return resampling.blocks(block, max(1, min(64, _BLOCK // pool.size)))


def _drawn(pool: Pool, rng: np.random.Generator, times: int, sampling: str) -> Resamples:
    if sampling == "stratified":
        return Resamples(pool, pool.negative.draw(rng, times), pool.positive.draw(rng, times))
    n, p = pool.negative.n + pool.positive.n, pool.positive.n
    # Every resample has a row of each class.
    ups = np.clip(rng.binomial(n, p / n, times), 1, n - 1)
    drawn = [
        np.concatenate([stratum.draw(rng, 1, int(size)) for size in sizes])
        for stratum, sizes in ((pool.negative, n - ups), (pool.positive, ups))
    ]
    return Resamples(pool, drawn[0], drawn[1])


@dataclass(frozen=True, eq=False, repr=False)
class Replicates(Shown, Mapping[str, Floats]):
    """Bootstrap replicates of each metric: a mapping from metric to its values in resamples.

    Parameters
    ----------
    estimates
        The metrics of the sample.
    samples
        The metrics of every resample.
    sampling
        How rows were drawn.
    tally
        The sample.
    threshold, parameters
        Of metrics of a confusion matrix.
    """

    estimates: Mapping[str, float]
    samples: Mapping[str, Floats]
    sampling: str
    tally: Tally
    threshold: float | None = None
    parameters: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("estimates", "samples"):
            object.__setattr__(self, name, FrozenDict(getattr(self, name)))

    def __getitem__(self, name: str) -> Floats:
        return self.samples[METRICS[name].name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.samples)

    def __len__(self) -> int:
        return len(self.samples)

    def error(self, name: str) -> float:
        """Bootstrap standard error."""
        return float(np.nanstd(self[name], ddof=1))

    def interval(self, name: str, *, level: float = 0.95, method: BootstrapMethod = "percentile") -> Interval:
        """Percentile or BCa interval of one metric; nan limits when it is undefined in many replicates.

        Where all replicates are equal, because the classes do not overlap, the limits are those of complete separation.
        """
        require_one_of("method", method, ("percentile", "bca"))
        confidence, values, estimate = checked_level(level), self[name], self.estimates[METRICS[name].name]
        defined = values[np.isfinite(values)]
        if len(defined) < (1.0 - _UNDEFINED) * len(values) or not math.isfinite(estimate):
            return Interval(estimate, math.nan, math.nan, f"{self.sampling} bootstrap, {method}", confidence)
        facts = METRICS[name]
        if float(np.ptp(defined)) <= NO_SPREAD * abs(estimate) and facts.needs != "confusion":
            low, high = separation_limits(facts.name, self.tally, confidence)
            return Interval(estimate, low, high, "exact", confidence)
        tails = np.array([(1.0 - confidence) / 2, (1.0 + confidence) / 2])
        if method == "bca":
            acceleration = _acceleration(facts.name, self.tally, self.threshold, self.parameters.get(facts.name))
            tails = _bca(defined, estimate, acceleration, tails)
        low, high = np.quantile(defined, tails)
        return Interval(estimate, float(low), float(high), f"{self.sampling} bootstrap, {method}", confidence)

    def heading(self) -> str:
        """Number of replicates."""
        return f"{len(next(iter(self.samples.values())))} {self.sampling} bootstrap replicates"

    def rows(self) -> list[Row]:
        """One line per metric."""
        intervals = {name: self.interval(name) for name in self}
        return [
            {"metric": name, "value": one.value, "error": self.error(name), "low": one.low, "high": one.high}
            for name, one in intervals.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Estimates, standard errors and percentile limits."""
        return {str(row["metric"]): plain({k: v for k, v in row.items() if k != "metric"}) for row in self.rows()}


def _bca(drawn: Floats, estimate: float, acceleration: float, tails: Floats) -> Floats:
    """Tails of the bias-corrected accelerated interval. Efron (1987), JASA 82(397)."""
    from scipy.special import ndtr

    # Ties with the estimate count one half; with no replicate below or above it the bias is kept finite.
    tied = np.abs(drawn - estimate) <= NO_SPREAD * max(1.0, abs(estimate))
    below = float(np.mean((drawn < estimate) & ~tied) + np.mean(tied) / 2)
    bias = normal_quantile(min(max(below, 0.5 / len(drawn)), 1.0 - 0.5 / len(drawn)))
    z = normal_quantile(tails)
    values: Floats = ndtr(bias + (bias + z) / (1.0 - acceleration * (bias + z)))
    return values


def bootstrap(
    tally: Tally,
    metrics: str | Iterable[str],
    *,
    threshold: float | str | None = None,
    replicates: int = 2_000,
    sampling: Sampling = "plain",
    seed: Seed = 0,
    jobs: int | None = None,
    most: int = MOST,
    parameters: Mapping[str, Mapping[str, float]] | None = None,
) -> Replicates:
    """Bootstrap replicates of metrics of a tally; all metrics share one set of resamples.

    Weighted rows are resampled with their weights; where an entry has several, their spread (Σw²) is drawn. Efron &
    Tibshirani (1993), An Introduction to the Bootstrap.

    Parameters
    ----------
    tally
        A labelled tally.
    metrics
        Names of metrics.
    threshold
        For metrics of a confusion matrix: a number, or a policy whose choice is then held fixed
        (:func:`tallymark.intervals.chosen_threshold` resamples the choice too).
    replicates, seed
        Number and seed of the resamples; the same seed gives the same numbers for any `jobs`.
    sampling
        ``"plain"`` resamples all rows together, ``"stratified"`` within each class.
    jobs
        Number of threads; by default one for each core, at most 8.
    most
        Beyond so many distinct scores neighbouring ones share a cell, and replicates are shifted by the effect of that
        on the estimate.
    parameters
        Parameters of metrics of a confusion matrix, by metric.

    Returns
    -------
    Replicates

    Examples
    --------
    >>> import tallymark as tm
    >>> t = tm.tally([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.6, 0.4, 0.7, 0.9])
    >>> replicates = tm.intervals.bootstrap(t, ["auroc", "recall"], threshold=0.5, replicates=500)
    >>> replicates.interval("auroc", method="bca").value
    0.8888888888888888
    """
    names = metric_names(metrics)
    with_both_classes(tally, "intervals.bootstrap")
    checked_number(most, "most", 2)
    if parameters is not None and not (
        isinstance(parameters, Mapping) and all(isinstance(one, Mapping) for one in parameters.values())
    ):
        raise InputError(f"parameters is {parameters!r}, expected a mapping from a metric's name to its parameters.")
    for name in names:
        if METRICS[name].needs not in {"tally", "probabilities", "confusion"}:
            raise InputError(f"{name} needs rows of K classes, which a tally of two does not have.")
    matrix = None if threshold is None else tally.at(threshold)
    cut = None if matrix is None else matrix.threshold
    edges = () if cut is None or math.isinf(cut) else (cut,)
    settings = parameters or {}
    blocks = over_replicates(
        tally,
        lambda draws: {name: values_of(name, draws, cut, settings.get(name)) for name in names},
        Resampling(replicates, seed, jobs, sampling),
        most=most,
        edges=edges,
    )
    estimates, values = {}, {}
    whole = Resamples.of(tally, most, edges)
    for name in names:
        facts = METRICS[name]
        try:
            estimates[name] = facts.compute(matrix if facts.needs == "confusion" else tally, **settings.get(name, {}))
        except Undefined:
            estimates[name] = math.nan
        coarse = float(values_of(name, whole, cut, settings.get(name))[0])
        shift = estimates[name] - coarse if math.isfinite(estimates[name] - coarse) else 0.0
        values[name] = np.concatenate([block[name] for block in blocks]) + shift
    return Replicates(estimates, values, sampling, tally, cut, settings)


def _acceleration(name: str, tally: Tally, threshold: float | None, parameters: Mapping[str, float] | None) -> float:
    """Skewness of the influence values over 6: in closed form where there is one, else over groups of neighbours."""
    influence = inference_of(name).influence
    if influence is not None:
        return influence(tally).spread().acceleration
    return _skewness_of_groups(name, tally, threshold, parameters)


def _skewness_of_groups(
    name: str, tally: Tally, threshold: float | None, parameters: Mapping[str, float] | None
) -> float:
    """The same by numerical derivatives with respect to the masses of groups of neighbouring scores."""
    pool = Pool.of(tally, _GROUPS, () if threshold is None or math.isinf(threshold) else (threshold,))
    whole = [stratum.mass[None, :] for stratum in pool.strata]
    squares = cubes = 0.0
    for side, stratum in enumerate(pool.strata):
        entries = len(stratum.rows)
        masses = np.repeat(whole[side], 2 * entries, axis=0)
        masses[np.arange(entries), np.arange(entries)] *= 1.0 + _STEP
        masses[np.arange(entries) + entries, np.arange(entries)] *= 1.0 - _STEP
        moved = [np.repeat(mass, len(masses), axis=0) for mass in whole]
        moved[side] = masses
        values = values_of(name, Resamples(pool, *moved), threshold, parameters)
        rows = stratum.rows.astype(np.float64)
        slopes = np.nan_to_num((values[:entries] - values[entries:]) / (2 * _STEP)) / rows
        slopes -= np.sum(slopes * rows) / rows.sum()
        squares += float(np.sum(rows * slopes**2))
        cubes += float(np.sum(rows * slopes**3))
    return cubes / (6.0 * squares**1.5) if squares**1.5 > 0.0 else 0.0


#: Groups of neighbouring scores for a numerical influence function, and the relative step of their mass.
_GROUPS, _STEP = 256, 1e-4
