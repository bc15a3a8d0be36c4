"""Bootstrap: every metric of one set of resampled masses, without sorting again and without copying rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from tallymark._check import Floats
from tallymark._display import Row, Shown, plain
from tallymark._mappings import FrozenDict
from tallymark.errors import InputError, Undefined
from tallymark.inference.declared import inference_of
from tallymark.inference.interval import Interval, Sampling, Seed, checked_level, checked_number, require_separate_rows
from tallymark.inference.limits.separation import separation_limits
from tallymark.inference.resampling.parallel import in_threads, seeds
from tallymark.inference.resampling.resamples import Resamples
from tallymark.inference.resampling.strata import MOST, Pool
from tallymark.inference.resampling.values import values_of
from tallymark.inference.scales import NO_SPREAD, normal_quantile
from tallymark.registry import METRICS, metric_names, require_one_of
from tallymark.summaries.tally import Tally

BootstrapMethod = Literal["percentile", "bca"]

#: Masses held at once, whatever the number of replicates: blocks large enough that two threads seldom wait for the
#: interpreter lock.
_BLOCK = 2**21

#: Replicates whose metric is undefined are left out; with more than this share of them there is no interval.
_UNDEFINED = 0.1


def over_replicates(
    tally: Tally, function: Callable[[Resamples], Any], *, replicates: int, sampling: str = "stratified",
    seed: Seed = 0, jobs: int | None = None, most: int = MOST, edges: Iterable[float] = (),
) -> list[Any]:  # fmt: skip
    """A function of every block of resamples, in order; the same for any number of jobs."""
    require_one_of("sampling", sampling, ("stratified", "plain"))
    require_separate_rows(tally.clusters, "The bootstrap")
    checked_number(replicates, "replicates", 2)
    pool = Pool.of(tally, most, edges)
    per_block = max(1, min(64, _BLOCK // pool.size))
    sizes = [min(per_block, replicates - start) for start in range(0, replicates, per_block)]

    def block(part: tuple[int, np.random.SeedSequence]) -> Any:
        times, entropy = part
        return function(_drawn(pool, np.random.Generator(np.random.SFC64(entropy)), times, sampling))

    parts = list(zip(sizes, seeds(seed, len(sizes)), strict=True))
    return in_threads(block, parts, jobs)


def _drawn(pool: Pool, rng: np.random.Generator, times: int, sampling: str) -> Resamples:
    if sampling == "stratified":
        return Resamples(pool, pool.negative.draw(rng, times), pool.positive.draw(rng, times))
    n, p = pool.negative.n + pool.positive.n, pool.positive.n
    # A sample without one of the classes has no metric; the others keep their share.
    ups = np.clip(rng.binomial(n, p / n, times), 1, n - 1)
    drawn = [
        np.concatenate([stratum.draw(rng, 1, int(size)) for size in sizes])
        for stratum, sizes in ((pool.negative, n - ups), (pool.positive, ups))
    ]
    return Resamples(pool, drawn[0], drawn[1])


@dataclass(frozen=True, eq=False, repr=False)
class Replicates(Shown, Mapping[str, Floats]):
    """Bootstrap values of each metric, and the intervals they give. A mapping from metric to its replicates."""

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

        Where no replicate differs from the others the classes do not overlap, and the limits are those of complete
        separation.
        """
        require_one_of("method", method, ("percentile", "bca"))
        confidence, values, estimate = checked_level(level), self[name], self.estimates[METRICS[name].name]
        known = values[np.isfinite(values)]
        if len(known) < (1.0 - _UNDEFINED) * len(values) or not math.isfinite(estimate):
            return Interval(estimate, math.nan, math.nan, f"{self.sampling} bootstrap, {method}", confidence)
        if float(np.ptp(known)) <= NO_SPREAD * abs(estimate) and METRICS[name].needs != "confusion":
            low, high = separation_limits(METRICS[name].name, self.tally, confidence)
            return Interval(estimate, low, high, "exact", confidence)
        tails = np.array([(1.0 - confidence) / 2, (1.0 + confidence) / 2])
        if method == "bca":
            tails = _bca(
                known,
                estimate,
                _acceleration(METRICS[name].name, self.tally, self.threshold, self.parameters.get(METRICS[name].name)),
                tails,
            )
        low, high = np.quantile(known, tails)
        return Interval(estimate, float(low), float(high), f"{self.sampling} bootstrap, {method}", confidence)

    def heading(self) -> str:
        """How many of what."""
        return f"{len(next(iter(self.samples.values())))} {self.sampling} bootstrap replicates"

    def rows(self) -> list[Row]:
        """One line per metric."""
        return [
            {"metric": name, "value": found.value, "error": self.error(name), "low": found.low, "high": found.high}
            for name in self
            for found in [self.interval(name)]
        ]

    def to_dict(self) -> dict[str, Any]:
        """Estimates, standard errors and percentile limits."""
        return {str(row["metric"]): plain({k: v for k, v in row.items() if k != "metric"}) for row in self.rows()}


def _bca(known: Floats, estimate: float, acceleration: float, tails: Floats) -> Floats:
    """Tails of the bias-corrected accelerated interval. Efron (1987), JASA 82(397)."""
    from scipy.special import ndtr

    # Ties with the estimate count one half, and no replicate below or above it is not proof of an infinite bias.
    tied = np.abs(known - estimate) <= NO_SPREAD * max(1.0, abs(estimate))
    below = float(np.mean((known < estimate) & ~tied) + np.mean(tied) / 2)
    bias = normal_quantile(min(max(below, 0.5 / len(known)), 1.0 - 0.5 / len(known)))
    z = np.array([normal_quantile(tail) for tail in tails])
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
    """Resample the rows behind a tally and compute every metric on each resample.

    `stratified` resamples within each class, `plain` all rows together. Metrics at one threshold need `threshold`, a
    number or a policy; a policy's choice is then held fixed (:func:`tallymark.intervals.chosen_threshold` resamples
    the choice too). All metrics share one set of resamples. Beyond `most` distinct scores neighbouring ones share a
    cell, and replicates are shifted by what that does to the estimate. The same seed gives the same numbers for any
    number of `jobs`. Weights: rows are resampled with theirs; where an entry holds several, their spread (Σw²) is
    drawn. `parameters` are those of metrics at a threshold, by metric. Efron & Tibshirani (1993).

    >>> import tallymark as tm
    >>> t = tm.tally([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.6, 0.4, 0.7, 0.9])
    >>> found = tm.intervals.bootstrap(t, ["auroc", "recall"], threshold=0.5, replicates=500)
    >>> found.interval("auroc", method="bca").value
    0.8888888888888888
    """
    names = metric_names(metrics)
    _require_both(tally)
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
    own = parameters or {}
    blocks = over_replicates(
        tally,
        lambda draws: {name: values_of(name, draws, cut, own.get(name)) for name in names},
        replicates=replicates,
        sampling=sampling,
        seed=seed,
        jobs=jobs,
        most=most,
        edges=edges,
    )
    estimates, values = {}, {}
    whole = Resamples.of(tally, most, edges)
    for name in names:
        facts = METRICS[name]
        try:
            estimates[name] = facts.compute(matrix if facts.needs == "confusion" else tally, **own.get(name, {}))
        except Undefined:
            estimates[name] = math.nan
        coarse = float(values_of(name, whole, cut, own.get(name))[0])
        shift = estimates[name] - coarse if math.isfinite(estimates[name] - coarse) else 0.0
        values[name] = np.concatenate([block[name] for block in blocks]) + shift
    return Replicates(estimates, values, sampling, tally, cut, own)


def _acceleration(name: str, tally: Tally, threshold: float | None, parameters: Mapping[str, float] | None) -> float:
    """Skewness of the influence values over 6: in closed form where there is one, else over groups of neighbours."""
    influence = inference_of(name).influence
    return (
        _skewness_of_groups(name, tally, threshold, parameters)
        if influence is None
        else influence(tally).spread().acceleration
    )


def _skewness_of_groups(
    name: str, tally: Tally, threshold: float | None, parameters: Mapping[str, float] | None
) -> float:
    """The same by moving the masses of groups of neighbouring scores."""
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


#: Groups of neighbouring scores whose mass is moved to learn a metric's influence, and by how much.
_GROUPS, _STEP = 256, 1e-4


def _require_both(tally: object) -> None:
    if not isinstance(tally, Tally):
        raise InputError(f"bootstrap takes a Tally, got {type(tally).__name__}. Write tm.tally(y, scores).")
    if not tally.labelled or not tally.positives or not tally.negatives:
        raise InputError("A bootstrap needs a labelled tally with rows of both classes.")
