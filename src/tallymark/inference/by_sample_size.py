"""How metrics scatter with the number of rows: repeated subsamples."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Floats
from tallymark._display import Row, Shown, plain
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


#: Fewer positives than this in a subsample tell nothing.
_FEWEST = 5


#: Rows of which there is one of each class.
_HALF = 2


@dataclass(frozen=True, eq=False, repr=False)
class BySize(Shown):
    """Metrics of repeated subsamples of growing size. `values` holds, for each size, one row per repeat.

    Subsamples of more than half of the rows hardly differ from each other: `of_half` holds those of half of the rows, from which the
    scatter of larger samples follows; None where no size is larger.
    """

    sizes: tuple[int, ...]
    positives: tuple[int, ...]
    metrics: tuple[str, ...]
    values: tuple[Floats, ...]
    level: float
    #: Rows the subsamples were drawn from.
    population: int
    of_half: Floats | None = None

    def deviations(self, place: int) -> Floats:
        """How far metrics of samples of a size (by its place) from an endless population lie from their mean, a row per repeat."""
        n, values, drawn = self.sizes[place], self.values[place], self.sizes[place]
        if self.of_half is not None and n > self.population // 2:
            values, drawn = self.of_half, self.population // 2
        # Subsamples overlap; samples from an endless population scatter more. The variance falls with the number of rows.
        wider = math.sqrt(drawn / n / (1.0 - drawn / self.population))
        scatter: Floats = wider * (values - np.nanmean(values, axis=0))
        return scatter

    def rows(self) -> list[Row]:
        """One line per size: mean and central interval of each metric, and the correlation of the first two.

        Limits are nan where no subsample differs from another (complete separation): nothing tells then how sure the metric is.
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
        """By what factor the number of positives must grow to halve the interval; 4 when width falls as 1/√n.

        The scatter is that of samples from an endless population.
        """
        name = METRICS[metric].name
        if name not in self.metrics:
            raise InputError(f"{metric} was not computed; there are {', '.join(self.metrics)}.")
        column = self.metrics.index(name)
        widths = [float(np.nanstd(self.deviations(place)[:, column])) for place in range(len(self.sizes))]
        known = [(math.log(p), math.log(w)) for p, w in zip(self.positives, widths, strict=True) if w > 0]
        if len(known) < 2:
            raise InputError("Two sizes or more with some spread are needed.")
        x, y = np.array(known).T - np.mean(known, axis=0)[:, None]
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
    """How metrics scatter with the number of rows: repeated stratified subsamples without replacement.

    Subsamples overlap; the limits shown are widened to those of samples from an endless population. Beyond half of the rows they
    follow from subsamples of half of them.

    >>> import numpy as np, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.3
    >>> found = tm.by_sample_size(tm.tally(y, rng.normal(y * 1.0)), sizes=[100, 400], replicates=50)
    >>> found.sizes, found.positives
    ((100, 400), (30, 121))
    """
    if not isinstance(tally, Tally) or not tally.labelled or not tally.positives or not tally.negatives:
        raise InputError("by_sample_size takes a labelled tally with rows of both classes: tm.tally(y, scores).")
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
            f"sizes must lie below {n} and hold a row of each class, here {math.ceil(n / min(up, n - up))} or more; got {wanted}."
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
    # The seeds of the sizes asked for do not depend on whether half of the rows are drawn too.
    values = in_threads(sample, zip([*drawn, *large], seeds(seed, len(drawn) + len(large)), strict=True), jobs)
    of_half = values[-1] if large else None
    return BySize(
        tuple(size for size, _ in drawn), tuple(p for _, p in drawn), names, tuple(values[: len(drawn)]), confidence, n, of_half
    )  # fmt: skip


def _correlation(a: Floats, b: Floats) -> float:
    known = np.isfinite(a) & np.isfinite(b)
    if np.count_nonzero(known) < 3 or not a[known].std() or not b[known].std():
        return math.nan
    return float(np.corrcoef(a[known], b[known])[0, 1])
