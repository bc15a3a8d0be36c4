"""Learning-curve style precision: metrics of repeated subsamples of growing size."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Floats
from tallymark._display import Row, Shown, plain
from tallymark.curves.base import with_both_classes
from tallymark.errors import InputError
from tallymark.inference.interval import Seed, checked_level, checked_number
from tallymark.inference.resampling.parallel import in_threads, seeds
from tallymark.inference.resampling.resamples import Resamples
from tallymark.inference.resampling.strata import Pool
from tallymark.inference.resampling.values import values_of
from tallymark.inference.scales import NO_SPREAD
from tallymark.registry import METRICS, metric_names
from tallymark.summaries.tally import Tally

#: Shares of the rows that are drawn unless sizes are given.
_SHARES = (0.02, 0.05, 0.1, 0.2, 0.4, 0.7)


#: Fewest rows of a class in a subsample.
_FEWEST = 5


#: Fewest rows of a subsample.
_HALF = 2


@dataclass(frozen=True, eq=False, repr=False)
class BySize(Shown):
    """Metrics of repeated subsamples of growing size, as :func:`tallymark.by_sample_size` returns them.

    Parameters
    ----------
    sizes, positives
        Rows and positives of the subsamples.
    metrics
        Names of the metrics.
    values
        For each size a row per replicate and a column per metric.
    level
        Level of the central intervals.
    population
        Rows the subsamples were drawn from.
    of_half
        Values of subsamples of half of the rows, from which the spread of larger ones follows; None where no size is
        larger.
    """

    sizes: tuple[int, ...]
    positives: tuple[int, ...]
    metrics: tuple[str, ...]
    values: tuple[Floats, ...]
    level: float
    population: int
    of_half: Floats | None = None

    def deviations(self, place: int) -> Floats:
        """Deviations from the mean of metrics of samples from an infinite population, a row per replicate.

        `place` is the index of the size.
        """
        n, values, drawn = self.sizes[place], self.values[place], self.sizes[place]
        if self.of_half is not None and n > self.population // 2:
            values, drawn = self.of_half, self.population // 2
        # The finite population correction; and the variance falls with the number of rows.
        wider = math.sqrt(drawn / n / (1.0 - drawn / self.population))
        scatter: Floats = wider * (values - np.nanmean(values, axis=0))
        return scatter

    def rows(self) -> list[Row]:
        """One line per size: mean and central interval of each metric, and the correlation of the first two.

        Limits are nan where all subsamples are equal (complete separation).
        """
        tails = [(1.0 - self.level) / 2, (1.0 + self.level) / 2]
        items: list[Row] = []
        for place, (n, p) in enumerate(zip(self.sizes, self.positives, strict=True)):
            row: dict[str, Any] = {"n": n, "positives": p}
            deviations = self.deviations(place)
            for name, mean, column in zip(
                self.metrics, np.nanmean(self.values[place], axis=0), deviations.T, strict=True
            ):
                low, high = (float(mean + end) for end in np.nanquantile(column, tails))
                low, high = max(low, METRICS[name].low), min(high, METRICS[name].high)
                if not np.nanmax(np.abs(column)) > NO_SPREAD * abs(mean):
                    low, high = math.nan, math.nan
                row |= {name: float(mean), f"{name} low": low, f"{name} high": high}
            if len(self.metrics) > 1:
                row["pearson r"] = _correlation(deviations[:, 0], deviations[:, 1])
            items.append(row)
        return items

    def halving(self, metric: str) -> float:
        """Factor by which the number of positives must grow to halve the interval; 4 when width falls as 1/√n."""
        name = METRICS[metric].name
        if name not in self.metrics:
            raise InputError(f"{metric} was not computed; there are {', '.join(self.metrics)}.")
        column = self.metrics.index(name)
        widths = [float(np.nanstd(self.deviations(place)[:, column])) for place in range(len(self.sizes))]
        points = [(math.log(p), math.log(w)) for p, w in zip(self.positives, widths, strict=True) if w > 0]
        if len(points) < 2:
            raise InputError("Two sizes or more with some spread are needed.")
        x, y = np.array(points).T - np.mean(points, axis=0)[:, None]
        slope = float(np.sum(x * y) / np.sum(x * x))
        return 2.0 ** (-1.0 / slope) if slope < 0 else math.inf

    def heading(self) -> str:
        """How many repeats."""
        return f"{len(self.values[0])} stratified subsamples of each size"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        halving = {m: plain(self.halving(m)) for m in self.metrics} if len(self.sizes) > 1 else None
        return {"rows": plain(list(self.rows())), "halving": halving}


def by_sample_size(
    tally: Tally,
    metrics: Iterable[str] = ("auroc", "pr_auc"),
    *,
    sizes: Sequence[int] | None = None,
    replicates: int = 200,
    level: float = 0.95,
    seed: Seed = 0,
    jobs: int | None = None,
) -> BySize:
    """Spread of metrics by sample size, from repeated stratified subsamples without replacement.

    Limits have the finite population correction: they are those of samples from an infinite population. Beyond half of
    the rows they follow from subsamples of half of them.

    Parameters
    ----------
    tally
        A labelled tally.
    metrics
        Names of metrics of the whole ranking.
    sizes
        Numbers of rows; by default shares of the rows from 2 % to 70 %.
    replicates
        Subsamples of each size.
    level
        Level of the central intervals.
    seed
        Seed of the subsampling.
    jobs
        Number of threads; by default one for each core, at most 8.

    Returns
    -------
    BySize

    Examples
    --------
    >>> import numpy as np, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.3
    >>> by_size = tm.by_sample_size(tm.tally(y, rng.normal(y * 1.0)), sizes=[100, 400], replicates=50)
    >>> by_size.sizes, by_size.positives
    ((100, 400), (30, 121))
    """
    with_both_classes(tally, "by_sample_size")
    confidence = checked_level(level)
    names = tuple(metric_names(metrics))
    checked_number(replicates, "replicates", 2)
    if not names:
        raise InputError("by_sample_size needs a metric or more.")
    if any(METRICS[name].needs not in {"tally", "probabilities"} for name in names):
        raise InputError("by_sample_size takes metrics of the whole ranking, such as auroc, pr_auc or brier.")
    pool = Pool.of(tally)
    n, up = pool.negative.n + pool.positive.n, pool.positive.n
    wanted = (
        [round(n * part) for part in _SHARES]
        if sizes is None
        else [checked_number(size, "sizes", 2) for size in _check.several(sizes, "sizes")]
    )
    drawn = [(size, round(size * up / n)) for size in wanted]
    if sizes is None:
        drawn = [(size, p) for size, p in drawn if p >= _FEWEST and size - p >= _FEWEST]
    if sizes is None and not drawn:
        raise InputError(
            f"{n} rows with {min(up, n - up)} of the smaller class are too few to draw smaller samples from, each with "
            f"{_FEWEST} rows of both classes; say sizes=, or gather more."
        )
    if not drawn or any(not 0 < p <= up or not 0 < size - p <= n - up for size, p in drawn):
        raise InputError(
            f"sizes must lie below {n} and hold a row of each class, here {math.ceil(n / min(up, n - up))} or more; "
            f"got {wanted}."
        )

    def sample(part: tuple[tuple[int, int], np.random.SeedSequence]) -> Floats:
        (size, p), entropy = part
        rng = np.random.default_rng(entropy)
        down, above = pool.negative.subsample(rng, size - p, replicates), pool.positive.subsample(rng, p, replicates)
        return np.stack([values_of(name, Resamples(pool, down, above), None) for name in names], axis=1)

    half = n // 2
    if half < _HALF:
        raise InputError(f"by_sample_size needs {2 * _HALF} rows or more to draw half of them; there are {n}.")
    large = [(half, min(max(round(half * up / n), 1), half - 1))] if max(size for size, _ in drawn) > half else []
    # The seeds of the given sizes do not depend on whether half of the rows are drawn too.
    values = in_threads(sample, zip([*drawn, *large], seeds(seed, len(drawn) + len(large)), strict=True), jobs)
    return BySize(
        sizes=tuple(size for size, _ in drawn),
        positives=tuple(p for _, p in drawn),
        metrics=names,
        values=tuple(values[: len(drawn)]),
        level=confidence,
        population=n,
        of_half=values[-1] if large else None,
    )


def _correlation(a: Floats, b: Floats) -> float:
    defined = np.isfinite(a) & np.isfinite(b)
    if np.count_nonzero(defined) < 3 or not a[defined].std() or not b[defined].std():
        return math.nan
    return float(np.corrcoef(a[defined], b[defined])[0, 1])
