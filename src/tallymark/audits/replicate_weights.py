r"""``tm.audits.from_replicates``: estimates from checked rows with survey weights and replicate weights.

The variance of an estimate :math:`\hat\theta` is :math:`c \sum_r (\hat\theta_r - \bar\theta)^2` over the replicates,
with c set by how they were made: :math:`1/(R(1 - \rho)^2)` of balanced repeated replication (with Fay's
:math:`\rho`), :math:`(R - 1)/R` of the jackknife, :math:`1/(R - 1)` of the bootstrap. Wolter (2007), Introduction to
Variance Estimation; Judkins (1990), J. Off. Stat. 6(3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallymark import _check
from tallymark._check import Bools, Floats, Label
from tallymark.audits.class_estimates import AuditEstimate, AuditMeasure
from tallymark.audits.class_rows import ClassLabels
from tallymark.errors import InputError, shown
from tallymark.inference.interval import checked_level
from tallymark.inference.limits.proportions import limits
from tallymark.inference.scales import student_value
from tallymark.registry import choose
from tallymark.sources.any_columns import any_columns, numbers
from tallymark.sources.columns import rows_by_group
from tallymark.sources.formats import Wanted, column_names
from tallymark.sources.frames import named_columns

#: The factor c of each kind of replicates, from their number and Fay's coefficient.
_FACTORS: Mapping[str, Callable[[int, float], float]] = {
    "brr": lambda number, rho: 1.0 / (number * (1.0 - rho) ** 2),
    "jackknife": lambda number, rho: (number - 1.0) / number,  # noqa: ARG005
    "bootstrap": lambda number, rho: 1.0 / (number - 1.0),  # noqa: ARG005
}

#: An estimate as a function of weights, a row per set of weights.
_Estimator = Callable[[Floats], Floats]


@named_columns
def from_replicates(
    data: Any,
    *,
    label: str,
    weight: str,
    replicate_weights: Sequence[str],
    kind: str = "bootstrap",
    rho: float = 0.0,
    predicted: str | None = None,
    by: str | Sequence[str] | None = None,
    level: float = 0.95,
    where: str | None = None,
) -> AuditEstimate:
    """Estimate counts, shares and accuracies of classes from checked rows with replicate weights.

    Standard errors are those of R's survey package (``svrepdesign``, not centred at the full estimate). Limits of
    shares are mid-p limits at the effective number of rows, with the replicates' degrees of freedom.

    Parameters
    ----------
    data
        A dataframe, the path of a file, or arrays by name with the checked rows.
    label
        Column with the class of each row.
    weight
        Column with the survey weight.
    replicate_weights
        Columns with the replicate weights.
    kind
        ``"bootstrap"``, ``"brr"`` or ``"jackknife"``.
    rho
        Fay's coefficient of ``"brr"``, from 0 to below 1.
    predicted
        Column with the predicted class.
    by
        Columns of groups (domains).
    level
        Confidence level.
    where
        Of a file: only rows that satisfy this SQL condition.

    Returns
    -------
    AuditEstimate

    Examples
    --------
    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"y": rng.choice(["a", "b"], 200), "w": 50.0})
    >>> for r in range(60):
    ...     frame[f"r{r}"] = frame.w * rng.multinomial(200, np.full(200, 1 / 200))
    >>> result = tm.audits.from_replicates(frame, label="y", weight="w", replicate_weights=[f"r{r}" for r in range(60)])
    >>> result.counts["a"].value, 200 < result.counts["a"].standard_error < 500
    (4450.0, True)
    """
    confidence, groups = checked_level(level), column_names(by, "by=")
    columns_of_weights = column_names(replicate_weights, "replicate_weights=")
    factor = choose("kind", kind, _FACTORS)
    if len(columns_of_weights) < 2:
        raise InputError(f"replicate_weights= names {shown(columns_of_weights)}, expected two columns or more.")
    if not 0.0 <= _check.real(rho, "rho") < 1.0 or (rho and kind != "brr"):
        raise InputError(f"rho is {rho!r}, expected Fay's coefficient of kind='brr', from 0 to below 1.")
    wanted = [Wanted(label, "label=", "class")]
    wanted += [] if predicted is None else [Wanted(predicted, "predicted=", "class")]
    wanted += [Wanted(name, "by=") for name in groups]
    wanted += [Wanted(name, "weight=", "number") for name in (weight, *columns_of_weights)]
    columns = any_columns(data, wanted, where=where)
    weights = np.stack([_weights(columns[name], name) for name in (weight, *columns_of_weights)])
    labels = ClassLabels.of(columns, label, predicted, np.ones(weights.shape[1], np.bool_))
    if len(labels.classes) < 2:
        raise InputError(f"Every row is {shown(labels.classes)}; an audit needs two classes.")
    work = _Replicated(weights, factor(len(columns_of_weights), rho), confidence)
    truth = _check.encode(labels.truth, labels.classes, label)
    called = None if labels.called is None else _check.encode(labels.called, labels.classes, str(predicted))
    everything = np.ones(len(truth), np.bool_)
    result = work.estimates(labels.classes, truth, called, everything)
    if not groups:
        return result
    parts = {}
    for key, rows in rows_by_group([_check.groups(columns[name], name) for name in groups]):
        inside = np.zeros(len(truth), np.bool_)
        inside[rows] = True
        parts[key] = work.estimates(labels.classes, truth, called, inside)
    return AuditEstimate(**{**vars(result), "by": tuple(groups), "groups": parts})


def _weights(column: NDArray[Any], name: str) -> Floats:
    values = numbers(column, name)
    if not (np.isfinite(values) & (values >= 0.0)).all():
        raise InputError(f"{name} has weights that are missing, negative or not finite.")
    if not values.any():
        raise InputError(f"{name} is 0 in every row; at least one must count.")
    return values


class _Replicated:
    """Estimates with the variance over replicates.

    Parameters
    ----------
    weights
        The full weights in the first row, those of the replicates in the others.
    factor
        What the sum of squared deviations is multiplied by.
    level
        Confidence level.
    """

    def __init__(self, weights: Floats, factor: float, level: float) -> None:
        self._weights, self._factor, self._level = weights, factor, level
        self._freedom = len(weights) - 2.0

    def _estimated(self, values: Floats) -> tuple[float, float]:
        others = values[1:][np.isfinite(values[1:])]
        if not math.isfinite(values[0]) or len(others) < 2:
            return float(values[0]), math.nan
        return float(values[0]), math.sqrt(self._factor * float(((others - others.mean()) ** 2).sum()))

    def total(self, kept: Bools) -> AuditMeasure:
        """The sum of the weights of some rows."""
        value, error = self._estimated(self._weights @ kept)
        reach = student_value(self._level, self._freedom) * error
        return self._measure("count", value, max(value - reach, 0.0), value + reach, error, "t of replicates")

    def ratio(self, name: str, over: Floats | Bools, under: Floats | Bools) -> AuditMeasure:
        """A share."""
        with np.errstate(divide="ignore", invalid="ignore"):
            value, error = self._estimated((self._weights @ over) / (self._weights @ under))
        if math.isnan(value):
            return AuditMeasure(name=name, value=math.nan, reason="no row that the share is of has a weight")
        rows = float(np.count_nonzero(under))
        size = rows
        if error > 0.0:
            wider = student_value(self._level, self._freedom) / student_value(self._level, math.inf)
            size = min(value * (1.0 - value) / (error * wider) ** 2, rows)
        low, high = (float(end) for end in limits(value * size, size, self._level, "mid_p"))
        return self._measure(name, value, low, high, error, "mid_p, effective size of replicates")

    def _measure(self, name: str, value: float, low: float, high: float, error: float, method: str) -> AuditMeasure:
        return AuditMeasure(
            name=name, value=value, low=min(low, value), high=max(high, value), standard_error=error,
            interval_method=method, level=self._level,
        )  # fmt: skip

    def estimates(
        self, classes: Sequence[Label], truth: NDArray[Any], called: NDArray[Any] | None, inside: Bools
    ) -> AuditEstimate:
        """All estimates of the rows of a group."""
        true = {label: inside & (truth == code) for code, label in enumerate(classes)}
        result: dict[str, Any] = {
            "counts": {label: self.total(rows) for label, rows in true.items()},
            "prevalences": {label: self.ratio("prevalence", rows, inside) for label, rows in true.items()},
        }
        if called is not None:
            of = {label: inside & (called == code) for code, label in enumerate(classes)}
            hits = {label: true[label] & of[label] for label in classes}
            result |= {
                "precision": {label: self.ratio("precision", hits[label], of[label]) for label in classes},
                "recall": {label: self.ratio("recall", hits[label], true[label]) for label in classes},
                "f1": {
                    label: self.ratio("f1", hits[label], (true[label].astype(np.float64) + of[label]) / 2.0)
                    for label in classes
                },
                "accuracy": self.ratio("accuracy", inside & (truth == called), inside),
            }
        return AuditEstimate(
            classes=tuple(classes), n=float(self._weights[0] @ inside), checked=int(inside.sum()), **result
        )
