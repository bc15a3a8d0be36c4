r"""Quantification for regression: mean and distribution of a number in rows of which only predictions are known.

Bella, Ferri, Hernández-Orallo & Ramírez-Quintana (2014), Data Min. Knowl. Discov. 28. The mean of the predictions is
the estimate of a classifier that only counts: a regression pulls predictions towards the mean of its training rows, so
that a shift of the target is seen too small. Here the numbers are cut into classes, and their shares are those under
which the predictions of the validation rows have the target's distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Floats, Ints
from tallymark._display import Row, Shown, plain
from tallymark._numbers import number, with_limits
from tallymark.errors import InputError
from tallymark.inference.interval import Seed, checked_level, checked_number
from tallymark.inference.resampling.parallel import Resampling

#: Validation rows of a class of numbers at least, and classes of predictions for each class of numbers.
_FEWEST, _FINER = 20, 2

#: Steps of the likelihood's ascent; shares move by less than a thousandth by then.
_STEPS = 300

#: Shares below which a class is empty, and the largest change (of its logarithm) within a class.
_LEAST, _MOST_TILT = 1e-6, 2.0

#: Resamples at a time.
_BLOCK = 50

#: Shares of the distribution whose numbers are stated.
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, eq=False, repr=False)
class NumericEstimate(Shown):
    """Mean and distribution of a number in a target.

    Attributes
    ----------
    mean : float
        The mean of the target, corrected for the regression's errors; `low` and `high` are its limits.
    predicted_mean : float
        The mean of the target's predictions, as a regression gives it.
    validation_mean : float
        The mean of the validation rows.
    quantiles : mapping
        Numbers below which 5, 25, 50, 75 and 95 % of the target lie, each with limits.
    weights : array
        The weight of each validation row with which they stand for the target; they add up to 1.
    """

    mean: float
    low: float | None
    high: float | None
    level: float | None
    predicted_mean: float
    validation_mean: float
    quantiles: dict[float, tuple[float, float | None, float | None]]
    weights: Floats
    n: int

    def heading(self) -> str:
        """The mean, and what the predictions alone say."""
        value = (
            number(self.mean) if self.low is None or self.high is None else with_limits(self.mean, self.low, self.high)
        )
        return f"mean of {self.n} rows: {value}; mean of their predictions {number(self.predicted_mean)}"

    def rows(self) -> list[Row]:
        """The mean and the quantiles, a line each."""
        of_mean = {"of": "mean", "value": self.mean, "low": self.low, "high": self.high}
        named = {f"{100 * share:g} % below": entry for share, entry in self.quantiles.items()}
        return [of_mean, *({"of": name, "value": v, "low": a, "high": b} for name, (v, a, b) in named.items())]

    def to_dict(self) -> dict[str, Any]:
        """Plain values; without the weights of the rows."""
        names = ("mean", "low", "high", "level", "predicted_mean", "validation_mean", "n")
        return {name: plain(getattr(self, name)) for name in names} | {"table": plain(self.rows())}


@dataclass(frozen=True)
class _Cells:
    """Classes of the validation rows by number and by prediction, and of the target rows by prediction."""

    of_number: Ints
    of_prediction: Ints
    of_target: Ints
    numbers: int
    predictions: int

    def shares(self, validation: Floats, target: Floats) -> Floats:
        """Shares of the classes of numbers in the target, where rows count as `validation` and `target` say.

        Those of the highest likelihood of the target's predictions (EM; Vardi & Lee 1993).
        """
        table = np.zeros((self.predictions, self.numbers))
        np.add.at(table, (self.of_prediction, self.of_number), validation)
        totals = table.sum(axis=0)
        rates = np.divide(table, totals, out=np.zeros_like(table), where=totals > 0.0)
        seen = np.bincount(self.of_target, target, minlength=self.predictions) / target.sum()
        shares = np.where(totals > 0.0, 1.0, 0.0) / np.count_nonzero(totals)
        for _ in range(_STEPS):
            expected = rates @ shares
            ratio = np.divide(seen, expected, out=np.zeros_like(seen), where=expected > 0.0)
            shares *= rates.T @ ratio
            shares /= shares.sum()
        return shares

    def weights(self, numbers: Floats, validation: Floats, target: Floats) -> Floats:
        """The weight of each validation row in the target: the share of its class, spread over the class's rows.

        Where classes of larger numbers become more frequent, so do the larger numbers within a class: the logarithm of
        the change is taken to be linear between the means of neighbouring classes.
        """
        share = self.shares(validation, target)
        totals = np.bincount(self.of_number, validation, minlength=self.numbers)
        used = (totals > 0.0) & (share > _LEAST)
        if np.count_nonzero(used) > 1:
            means = np.bincount(self.of_number, validation * numbers, minlength=self.numbers)[used] / totals[used]
            change = np.gradient(np.log(share[used] / totals[used]), means)
            slopes, middles = np.zeros((2, self.numbers))
            slopes[used], middles[used] = change, means
            tilt = slopes[self.of_number] * (numbers - middles[self.of_number])
            validation = validation * np.exp(np.clip(tilt, -_MOST_TILT, _MOST_TILT))
            totals = np.bincount(self.of_number, validation, minlength=self.numbers)
        each = np.divide(share, totals, out=np.zeros_like(share), where=totals > 0.0)
        return np.asarray(validation * each[self.of_number])


def regression(
    truth: Any,
    predicted: Any,
    target: Any,
    *,
    bins: int = 10,
    level: float | None = 0.95,
    replicates: int = 400,
    seed: Seed = 0,
    jobs: int | None = None,
) -> NumericEstimate:
    """Estimate the mean and the distribution of a number in rows of which only a regression's predictions are known.

    The assumption is that of prior shift: rows of one number have the same predictions in the validation rows and in
    the target; only how often each number occurs differs. Numbers beyond those of the validation rows cannot be found.

    Parameters
    ----------
    truth, predicted
        The number and its prediction of each validation row; rows that the regression was not trained on.
    target
        Predictions of the rows to be estimated, by the same regression.
    bins
        Classes into which the numbers are cut, with equally many validation rows.
    level
        Confidence level of the limits, which are quantiles of resamples of both samples; None for none.
    replicates, seed, jobs
        Number and seed of the resamples, and threads.

    Returns
    -------
    NumericEstimate
        ``mean`` with ``low`` and ``high``, ``quantiles`` and ``weights``.

    Examples
    --------
    >>> import numpy as np, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(0.0, 1.0, 4_000)
    >>> f = 0.5 * y + rng.normal(0.0, 0.5, 4_000)
    >>> hidden = rng.normal(1.0, 0.8, 4_000)
    >>> found = tm.quantify.regression(y, f, 0.5 * hidden + rng.normal(0.0, 0.5, 4_000))
    >>> round(found.predicted_mean, 1), round(found.mean, 1)
    (0.5, 1.0)
    """
    y, f, g = (
        _finite(values, name) for values, name in ((truth, "truth"), (predicted, "predicted"), (target, "target"))
    )
    if len(y) != len(f):
        raise InputError(f"There are {len(y)} numbers in truth and {len(f)} in predicted; each row needs both.")
    most = min(_check.whole(bins, "bins", 2, 200), len(y) // _FEWEST)
    if most < 2:
        raise InputError(f"There are {len(y)} validation rows; {2 * _FEWEST} or more are needed.")
    confidence = None if level is None else checked_level(level)
    checked_number(replicates, "replicates", 100)
    edges, steps = _edges(y, most), _edges(f, _FINER * most)
    cells = _Cells(
        of_number=np.searchsorted(edges, y, "right"),
        of_prediction=np.searchsorted(steps, f, "right"),
        of_target=np.searchsorted(steps, g, "right"),
        numbers=len(edges) + 1,
        predictions=len(steps) + 1,
    )
    weights = cells.weights(y, np.ones(len(y)), np.ones(len(g)))
    order = np.argsort(y, kind="stable")
    statistics = _statistics(y[order], weights[order])
    low, high = _limits(cells, y, order, len(g), confidence, Resampling(replicates, seed, jobs))
    return NumericEstimate(
        mean=float(statistics[0]),
        low=low[0],
        high=high[0],
        level=confidence,
        predicted_mean=float(g.mean()),
        validation_mean=float(y.mean()),
        quantiles={share: (float(statistics[k]), low[k], high[k]) for k, share in enumerate(_QUANTILES, 1)},
        weights=weights,
        n=len(g),
    )


def _finite(values: Any, name: str) -> Floats:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError):
        raise InputError(f"{name} holds values that are no numbers.") from None
    if numbers.ndim != 1 or not len(numbers) or not np.isfinite(numbers).all():
        raise InputError(f"{name} has the shape {numbers.shape}, expected one or more finite numbers in a row.")
    return numbers


def _edges(values: Floats, classes: int) -> Floats:
    """Where classes with equally many values begin."""
    return np.unique(np.quantile(values, np.arange(1, classes) / classes))


def _statistics(ordered: Floats, weights: Floats) -> Floats:
    """The mean and the quantiles of numbers in ascending order with weights that add up to 1."""
    places = np.searchsorted(np.cumsum(weights), np.array(_QUANTILES) - 1e-12)
    return np.concatenate(([float(weights @ ordered)], ordered[np.minimum(places, len(ordered) - 1)]))


def _limits(
    cells: _Cells, y: Floats, order: Ints, n: int, level: float | None, resampling: Resampling
) -> tuple[Sequence[float | None], Sequence[float | None]]:
    """Quantiles of the statistics over resamples of both samples."""
    none = [None] * (len(_QUANTILES) + 1)
    if level is None:
        return none, none
    ordered = y[order]

    def block(size: int, seed: np.random.SeedSequence) -> list[Floats]:
        rng = np.random.default_rng(seed)
        drawn = []
        for _ in range(size):
            rows, target = (np.bincount(rng.integers(0, m, m), minlength=m).astype(np.float64) for m in (len(y), n))
            drawn.append(_statistics(ordered, cells.weights(y, rows, target)[order]))
        return drawn

    values = np.concatenate(resampling.blocks(block, _BLOCK))
    ends = np.quantile(values, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=0)
    return ends[0].tolist(), ends[1].tolist()
