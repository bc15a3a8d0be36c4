"""How numbers and their intervals depend on how much data there is, and how much is needed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Floats
from tallymark._frozen import FrozenDict
from tallymark._show import Row, Shown, plain
from tallymark.errors import InputError
from tallymark.intervals.base import Seed, checked_level, checked_number, in_threads, normal_quantile, seeds
from tallymark.intervals.draws import Draws, values_of
from tallymark.intervals.pool import Pool
from tallymark.registry import METRICS, metric_names
from tallymark.summaries.tally import Tally

#: Shares of the rows that are drawn unless sizes are given.
_SHARES = (0.02, 0.05, 0.1, 0.2, 0.4, 0.7)

#: Fewer positives than this in a subsample tell nothing.
_FEWEST = 5


@dataclass(frozen=True, eq=False, repr=False)
class BySize(Shown):
    """Metrics of repeated subsamples of growing size. `values` holds, for each size, one row per repeat."""

    sizes: tuple[int, ...]
    positives: tuple[int, ...]
    metrics: tuple[str, ...]
    values: tuple[Floats, ...]
    level: float
    #: Rows the subsamples were drawn from.
    population: int

    def rows(self) -> list[Row]:
        """One line per size: mean and central interval of each metric, and the correlation of the first two."""
        tails = [(1.0 - self.level) / 2, (1.0 + self.level) / 2]
        found: list[Row] = []
        for n, p, values in zip(self.sizes, self.positives, self.values, strict=True):
            row: dict[str, Any] = {"n": n, "positives": p}
            for name, column in zip(self.metrics, values.T, strict=True):
                mean = float(np.nanmean(column))
                # Large subsamples overlap; samples from an endless population scatter more.
                wider = 1.0 / math.sqrt(1.0 - n / self.population) if n < self.population else 1.0
                low, high = (mean + wider * (float(end) - mean) for end in np.nanquantile(column, tails))
                low, high = max(low, METRICS[name].low), min(high, METRICS[name].high)
                row |= {name: mean, f"{name} low": low, f"{name} high": high}
            if len(self.metrics) > 1:
                row["pearson r"] = _correlation(values[:, 0], values[:, 1])
            found.append(row)
        return found

    def halving(self, metric: str) -> float:
        """By what factor the number of positives must grow to halve the interval; 4 when width falls as 1/√n.

        Large subsamples overlap; their scatter is first widened to that of samples from an endless population.
        """
        name = METRICS[metric].name
        if name not in self.metrics:
            raise InputError(f"{metric} was not computed; there are {', '.join(self.metrics)}.")
        column = self.metrics.index(name)
        widths = [
            float(np.nanstd(values[:, column])) / math.sqrt(1.0 - n / self.population) if n < self.population else 0.0
            for n, values in zip(self.sizes, self.values, strict=True)
        ]
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
    tally: Tally, metrics: Iterable[str] = ("auroc", "pr_auc"), *, sizes: Sequence[int] | None = None, repeats: int = 200,
    level: float = 0.95, seed: Seed = 0,
) -> BySize:  # fmt: skip
    """How metrics scatter with the number of rows: repeated stratified subsamples without replacement.

    Subsamples of many of the rows overlap; the limits shown are widened to those of samples from an endless population.

    >>> import numpy as np, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.3
    >>> found = tm.by_sample_size(tm.tally(y, rng.normal(y * 1.0)), sizes=[100, 400], repeats=50)
    >>> found.sizes, found.positives
    ((100, 400), (30, 121))
    """
    if not isinstance(tally, Tally) or not tally.labelled or not tally.positives or not tally.negatives:
        raise InputError("by_sample_size takes a labelled tally with rows of both classes: tm.tally(y, scores).")
    share = checked_level(level)
    names = tuple(metric_names(metrics))
    checked_number(repeats, "repeats", 2)
    if not names:
        raise InputError("by_sample_size needs a metric or more.")
    if any(METRICS[name].needs not in {"tally", "probabilities"} for name in names):
        raise InputError("by_sample_size takes metrics of the whole ranking, such as auroc, pr_auc or brier.")
    pool = Pool.of(tally)
    n, up = pool.negative.n + pool.positive.n, pool.positive.n
    wanted = (
        [round(n * part) for part in _SHARES] if sizes is None else [checked_number(size, "sizes", 2) for size in sizes]
    )
    drawn = [(size, round(size * up / n)) for size in wanted]
    if sizes is None:
        drawn = [(size, p) for size, p in drawn if p >= _FEWEST and size - p >= _FEWEST]
    if not drawn or any(not 0 < p <= up or not 0 < size - p <= n - up for size, p in drawn):
        raise InputError(
            f"sizes must lie below {n} and hold a row of each class, here {math.ceil(n / min(up, n - up))} or more; got {wanted}."
        )
    pool.placements  # noqa: B018 - cached before threads share it

    def sample(part: tuple[tuple[int, int], np.random.SeedSequence]) -> Floats:
        (size, p), entropy = part
        rng = np.random.default_rng(entropy)
        down, above = pool.negative.subsample(rng, size - p, repeats), pool.positive.subsample(rng, p, repeats)
        return np.stack([values_of(name, Draws(pool, down, above), None) for name in names], axis=1)

    values = tuple(in_threads(sample, zip(drawn, seeds(seed, len(drawn)), strict=True), None))
    return BySize(tuple(size for size, _ in drawn), tuple(p for _, p in drawn), names, values, share, n)


def _correlation(a: Floats, b: Floats) -> float:
    known = np.isfinite(a) & np.isfinite(b)
    if np.count_nonzero(known) < 3 or not a[known].std() or not b[known].std():
        return math.nan
    return float(np.corrcoef(a[known], b[known])[0, 1])


@dataclass(frozen=True, eq=False, repr=False)
class SampleSize(Shown):
    """Rows and positives needed to show a difference of AUROCs."""

    n: int
    positives: int
    conditions: Mapping[str, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "conditions", FrozenDict(self.conditions))

    def heading(self) -> str:
        """The answer."""
        return f"{self.n} rows, {self.positives} of them positive"

    def rows(self) -> list[Row]:
        """What it was computed for."""
        return [dict(self.conditions)]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"n": self.n, "positives": self.positives, **self.conditions}


def sample_size(
    *, auroc: float, difference: float, prevalence: float = 0.5, correlation: float = 0.5, sd_ratio: float = 1.0,
    power: float = 0.8, level: float = 0.95,
) -> SampleSize:  # fmt: skip
    r"""Rows needed to tell two models on the same rows apart by their AUROC, before any data.

    Scores are taken as normal in each class, those of the positives `sd_ratio` times as spread as the negatives'. With
    :math:`V_1, V_2` the variances of AUROCs of `auroc` ± `difference`/2 for one positive and r the `correlation` of the two
    estimates, :math:`P = (z_{1-\alpha/2} + z_{\mathrm{power}})^2 (V_1 + V_2 - 2 r \sqrt{V_1 V_2}) / \delta^2`, and a few more,
    because with P positives the test looks at Student's t. From a pilot, use
    ``tm.compare(panel).sample_size(difference)`` instead. Obuchowski & McClish (1997), Stat. Med. 16(13).

    >>> import tallymark as tm
    >>> tm.sample_size(auroc=0.85, difference=0.05, prevalence=0.1).positives
    127
    """
    shares = {"auroc": auroc, "difference": difference, "prevalence": prevalence, "power": power}
    for name, value in shares.items():
        if not 0.0 < _check.real(value, name) < 1.0:
            raise InputError(f"{name} is {value!r}, expected a number between 0 and 1.")
    if not -1.0 < _check.real(correlation, "correlation") < 1.0:
        raise InputError(f"correlation is {correlation!r}, expected a number between -1 and 1.")
    if not 0.0 < _check.real(sd_ratio, "sd_ratio") < math.inf:
        raise InputError(f"sd_ratio is {sd_ratio!r}, expected a number above 0.")
    if not difference / 2 < min(auroc, 1.0 - auroc):
        raise InputError(f"Two AUROCs around {auroc!r} cannot differ by {difference!r}.")
    share = checked_level(level)
    ratio = (1.0 - prevalence) / prevalence
    first, second = (binormal_variance(auroc + side * difference / 2, sd_ratio, ratio) for side in (-1.0, 1.0))
    variance = first + second - 2.0 * correlation * math.sqrt(first * second)
    ratio_of_errors = (normal_quantile(0.5 + share / 2) + normal_quantile(power)) / difference
    needed = variance * ratio_of_errors * min(ratio_of_errors, _TOO_MANY)
    if not needed < _TOO_MANY:
        raise InputError(
            f"A difference of {difference!r} would take more rows than can be counted; ask for a larger one."
        )
    positives = math.ceil(_with_student(needed, ratio, share, power))
    return SampleSize(
        math.ceil(positives / prevalence), positives,
        {**shares, "correlation": correlation, "sd_ratio": sd_ratio, "level": share},
    )  # fmt: skip


#: Positives beyond which a plan is not one.
_TOO_MANY = 1e15


def _with_student(positives: float, ratio: float, level: float, power: float) -> float:
    """More positives, so that Student's quantiles at their number promise the same power as normal ones."""
    from scipy.special import stdtrit

    normal = normal_quantile(0.5 + level / 2) + normal_quantile(power)
    wanted = positives
    for _ in range(_ROUNDS):
        freedom = max(wanted * min(1.0, ratio) - 1.0, 1.0)
        student = float(stdtrit(freedom, 0.5 + level / 2)) + float(stdtrit(freedom, power))
        wanted = positives * (student / normal) ** 2
    return wanted


#: Rounds after which a number of positives and its quantiles agree.
_ROUNDS = 20


def binormal_variance(auroc: float, sd_ratio: float, negatives: float) -> float:
    r"""Variance of an AUROC of normal scores, for one positive and so many negatives.

    :math:`\mathrm{Var}(\Phi(X^+)) + \mathrm{Var}(1 - G(X^-)) / (N/P)`, the variances of the two classes' placements, by
    Gauss–Hermite quadrature.
    """
    from scipy.special import ndtr, ndtri

    z, weight = np.polynomial.hermite_e.hermegauss(_NODES)
    weight = weight / weight.sum()
    apart = float(ndtri(auroc)) * math.hypot(1.0, sd_ratio)
    of_positive, of_negative = ndtr(apart + sd_ratio * z), ndtr((apart - z) / sd_ratio)
    up, down = (float(np.sum(weight * p**2) - np.sum(weight * p) ** 2) for p in (of_positive, of_negative))
    return up + down / negatives


#: Points of the quadrature.
_NODES = 200
