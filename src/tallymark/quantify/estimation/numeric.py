r"""Quantification for regression: mean and distribution of a number in rows of which only predictions are known.

Bella, Ferri, Hernández-Orallo & Ramírez-Quintana (2014), Data Min. Knowl. Discov. 28. The mean of the predictions is
the estimate of a classifier that only counts: a regression pulls predictions towards the mean of its training rows, so
that a shift of the target is seen too small. Here the validation rows get weights, smooth in the number, under which
their predictions have the target's distribution (exponential tilting; Qin 1998, Biometrika 85).
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

#: Validation rows at least, and those of a class of predictions.
_FEWEST, _IN_CLASS = 40, 20

#: Classes of predictions at most.
_CLASSES = 50

#: Steps and halvings of the likelihood's ascent, the longest step, the gradient at which it ends, and the least
#: probability of a class of predictions.
_STEPS, _HALVED, _LONGEST, _SETTLED, _LEAST = 60, 20, 1.0, 1e-9, 1e-12

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
class _Tilted:
    r"""Validation rows with weights :math:`w_i \propto \exp(\theta^\top\phi(y_i))`, in powers of the number."""

    powers: Floats
    #: The class of each row's prediction, of validation rows and of the target's.
    of_prediction: Ints
    of_target: Ints
    classes: int

    def weights(self, validation: Floats, target: Floats) -> Floats:
        """The weights under which the target's predictions are most likely; they add up to 1.

        Fisher scoring with halved steps. Rows count as often as `validation` and `target` say.
        """
        seen = np.bincount(self.of_target, target, minlength=self.classes) / target.sum()
        theta = np.zeros(self.powers.shape[1])
        weights, best = self._at(theta, validation, seen)
        for _ in range(_STEPS):
            gradient, information = self._slope(weights, seen)
            if np.abs(gradient).max() < _SETTLED:
                break
            step = np.linalg.lstsq(information, gradient, rcond=1e-10)[0]
            step *= min(1.0, _LONGEST / max(float(np.abs(step).max()), _SETTLED))
            for _ in range(_HALVED):
                moved, value = self._at(theta + step, validation, seen)
                if value >= best:
                    break
                step = step / 2.0
            else:
                break
            theta, weights, best = theta + step, moved, value
        return weights

    def _at(self, theta: Floats, validation: Floats, seen: Floats) -> tuple[Floats, float]:
        """The weights of a parameter, and the mean logarithm of the likelihood of the target's predictions."""
        exponent = self.powers @ theta
        weights = validation * np.exp(exponent - exponent.max())
        weights /= weights.sum()
        expected = np.bincount(self.of_prediction, weights, minlength=self.classes)
        used = seen > 0.0
        # A class of predictions that no validation row has cannot be explained by any weights.
        return weights, float(seen[used] @ np.log(np.maximum(expected[used], _LEAST)))

    def _slope(self, weights: Floats, seen: Floats) -> tuple[Floats, Floats]:
        """Gradient and Fisher information of the likelihood."""
        expected = np.bincount(self.of_prediction, weights, minlength=self.classes)
        sums = [np.bincount(self.of_prediction, weights * power, minlength=self.classes) for power in self.powers.T]
        means = np.stack([np.divide(one, expected, out=np.zeros_like(one), where=expected > 0.0) for one in sums])
        overall = means @ expected
        seen = np.where(expected > 0.0, seen, 0.0)
        return means @ seen - seen.sum() * overall, (means * expected) @ means.T - np.outer(overall, overall)


def regression(
    truth: Any,
    predicted: Any,
    target: Any,
    *,
    degree: int = 2,
    level: float | None = 0.95,
    replicates: int = 400,
    seed: Seed = 0,
    jobs: int | None = None,
) -> NumericEstimate:
    """Estimate the mean and the distribution of a number in rows of which only a regression's predictions are known.

    The assumption is that of prior shift: rows of one number have the same predictions in the validation rows and in
    the target; only how often each number occurs differs, by a factor that is smooth in the number. Numbers beyond
    those of the validation rows cannot be found.

    Parameters
    ----------
    truth, predicted
        The number and its prediction of each validation row; rows that the regression was not trained on.
    target
        Predictions of the rows to be estimated, by the same regression.
    degree
        Powers of the number in the logarithm of the change: with 2 the number may become larger or smaller, and more or
        less spread; a normal distribution that becomes another normal one is met exactly.
    level
        Confidence level of the limits, from resamples of both samples; None for none.
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
    named = ((truth, "truth"), (predicted, "predicted"), (target, "target"))
    y, f, g = (_check.scores(values, name).astype(np.float64) for values, name in named)
    if len(y) != len(f):
        raise InputError(f"There are {len(y)} numbers in truth and {len(f)} in predicted; each row needs both.")
    if len(y) < _FEWEST or y.min() == y.max():
        raise InputError(f"There are {len(y)} validation rows; {_FEWEST} or more with different numbers are needed.")
    powers = _check.whole(degree, "degree", 1, 4)
    confidence = None if level is None else checked_level(level)
    checked_number(replicates, "replicates", 100)
    steps = _edges(f, min(_CLASSES, len(y) // _IN_CLASS))
    if len(steps) < powers:
        raise InputError(
            f"The predictions have too few different values (classes: {len(steps) + 1}) to tell the numbers of the "
            f"target with degree={powers}; {powers + 1} or more are needed."
        )
    standardised = _standardised(y)
    tilted = _Tilted(
        powers=np.stack([standardised**power for power in range(1, powers + 1)], axis=1),
        of_prediction=np.searchsorted(steps, f, "right"),
        of_target=np.searchsorted(steps, g, "right"),
        classes=len(steps) + 1,
    )
    weights = tilted.weights(np.ones(len(y)), np.ones(len(g)))
    order = np.argsort(y, kind="stable")
    naive = _statistics(y[order], weights[order])
    drawn = _resampled(tilted, y, order, len(g), Resampling(replicates, seed, jobs))
    # The validation sample stands for its population in the likelihood, which pulls the estimate towards that sample;
    # resamples are pulled alike, and the bias of theirs is taken off.
    corrected = np.clip(2.0 * naive - drawn.mean(axis=0), y.min(), y.max())
    corrected[1:] = np.maximum.accumulate(corrected[1:])
    low, high = _limits(naive, drawn, confidence)
    return NumericEstimate(
        mean=float(corrected[0]),
        low=low[0],
        high=high[0],
        level=confidence,
        predicted_mean=float(g.mean()),
        validation_mean=float(y.mean()),
        quantiles={share: (float(corrected[k]), low[k], high[k]) for k, share in enumerate(_QUANTILES, 1)},
        weights=weights,
        n=len(g),
    )


def _standardised(values: Floats) -> Floats:
    """The numbers with mean 0 and standard deviation 1, of any size."""
    scaled = values / np.abs(values).max()  # so that no square overflows
    moved = scaled - scaled.mean()
    standardised: Floats = moved / moved.std()
    return standardised


def _edges(values: Floats, classes: int) -> Floats:
    """Where classes with equally many values begin."""
    return np.unique(np.quantile(values, np.arange(1, classes) / classes))


def _statistics(ordered: Floats, weights: Floats) -> Floats:
    """The mean and the quantiles of numbers in ascending order with weights that add up to 1."""
    places = np.searchsorted(np.cumsum(weights), np.array(_QUANTILES) - 1e-12)
    return np.concatenate(([float(weights @ ordered)], ordered[np.minimum(places, len(ordered) - 1)]))


def _resampled(tilted: _Tilted, y: Floats, order: Ints, n: int, resampling: Resampling) -> Floats:
    """The statistics of resamples of both samples, a row each."""
    ordered = y[order]

    def block(size: int, seed: np.random.SeedSequence) -> list[Floats]:
        rng = np.random.default_rng(seed)
        drawn = []
        for _ in range(size):
            rows, target = (np.bincount(rng.integers(0, m, m), minlength=m).astype(np.float64) for m in (len(y), n))
            drawn.append(_statistics(ordered, tilted.weights(rows, target)[order]))
        return drawn

    return np.concatenate(resampling.blocks(block, _BLOCK))


def _limits(naive: Floats, drawn: Floats, level: float | None) -> tuple[Sequence[float | None], Sequence[float | None]]:
    """Basic bootstrap limits, which allow for the bias that the estimate is corrected for."""
    if level is None:
        none = [None] * len(naive)
        return none, none
    low, high = np.quantile(drawn, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=0)
    return (2.0 * naive - high).tolist(), (2.0 * naive - low).tolist()
