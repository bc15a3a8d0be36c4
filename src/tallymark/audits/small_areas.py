r"""``tm.audits.pooled``: shares of small groups, each drawn towards the share of all (Fay & Herriot 1979).

The true share of a group is taken as :math:`\mu + u_g`, with :math:`u_g` of variance A, and its audit's estimate as
the true share plus an error of the variance :math:`v_g` of its design. Given A the pooled estimate is
:math:`\mu + \gamma_g (y_g - \mu)`, :math:`\gamma_g = A / (A + v_g)`. Estimates and errors are means over the values
that A may have (Morris 1983, J. Am. Stat. Assoc. 78): at a single estimate of A limits are too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallymark._check import Floats, Label
from tallymark._display import Row, Shown, plain
from tallymark._numbers import number
from tallymark.audits.class_estimates import AuditEstimate, AuditMeasure, require_estimate
from tallymark.errors import InputError, shown
from tallymark.inference.scales import critical_value

#: Groups from which a variance between groups is estimated.
_FEWEST = 4

#: Values of the variance between groups that are tried, and the least variance of a share times its rows.
_GRID, _LEAST = 400, 1e-9


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PooledShares(Shown):
    """Shares of a class in every group: by the audit of the group alone, and pooled.

    Attributes
    ----------
    alone, pooled : mapping
        Share of each group by its own checked rows, and shrunken towards that of all.
    between : float
        Standard deviation of the true shares between groups.
    """

    label: Label
    by: tuple[str, ...]
    mean: float
    between: float
    alone: Mapping[tuple[Any, ...], AuditMeasure]
    pooled: Mapping[tuple[Any, ...], AuditMeasure]

    def heading(self) -> str:
        """What is assumed."""
        return (
            f"Share of {self.label} pooled over {len(self.pooled)} groups: each is drawn towards {number(self.mean)}. "
            f"It assumes that the groups' true shares vary around it by chance (standard deviation "
            f"{number(self.between)}); a group that is unlike the others is biased"
        )

    def rows(self) -> list[Row]:
        """One line per group."""
        return [
            {
                **dict(zip(self.by, map(str, key), strict=True)),
                "alone": self.alone[key].value,
                "alone_low": self.alone[key].low,
                "alone_high": self.alone[key].high,
                "pooled": one.value,
                "low": one.low,
                "high": one.high,
            }
            for key, one in self.pooled.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"class": plain(self.label), "mean": self.mean, "between": self.between, "groups": plain(self.rows())}


def pooled(estimate: AuditEstimate, of: Label) -> PooledShares:
    """Shares of small groups that borrow from the others, where each group's own checked rows say too little.

    Parameters
    ----------
    estimate
        The result of :func:`tallymark.audits.estimate` with ``by=``.
    of
        The class.

    Returns
    -------
    PooledShares

    Examples
    --------
    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> area = rng.integers(20, size=8_000)
    >>> truth = rng.random(8_000) < 0.2 + 0.01 * area
    >>> frame = pd.DataFrame({"area": area, "y": np.where(rng.random(8_000) < 0.05, truth, np.nan)})
    >>> shares = tm.audits.pooled(tm.audits.estimate(frame, label="y", by="area"), 1)
    >>> len(shares.pooled), 0.0 < shares.between < 0.15
    (20, True)
    """
    require_estimate(estimate, "estimate")
    if of not in estimate.classes:
        raise InputError(f"No class {of!r}; the audit has {shown(estimate.classes)}.")
    if not estimate.names_of_groups:
        raise InputError("pooled takes an audit by groups: name them with by=.")
    everything = ("(all)",) * len(estimate.names_of_groups)
    lines = [line for line in estimate.shares() if line[1] == of]
    alone = {key: share for key, _, share, checked in lines if key != everything and not share.reason and checked}
    rows = np.array([float(checked) for key, _, _, checked in lines if key in alone])
    if len(alone) < _FEWEST:
        raise InputError(f"{len(alone)} groups have an estimate, fewer than {_FEWEST}; read each alone.")
    values = np.array([share.value for share in alone.values()])
    common = float(rows @ values) / float(rows.sum())
    between, mean, estimates, errors = _posterior(values, _variances(list(alone.values()), rows, common))
    level = next((share.level for share in alone.values() if share.level is not None), 0.95)
    reach = critical_value(level) * errors
    measures = {
        key: AuditMeasure(
            name="prevalence",
            value=float(value),
            low=max(float(value - far), 0.0),
            high=min(float(value + far), 1.0),
            standard_error=float(error),
            interval_method="pooled over groups (Fay-Herriot)",
            level=level,
        )
        for key, value, far, error in zip(alone, np.clip(estimates, 0.0, 1.0), reach, errors, strict=True)
    }
    return PooledShares(
        label=of,
        by=estimate.names_of_groups,
        mean=mean,
        between=between,
        alone=alone,
        pooled=measures,
    )


def _variances(shares: Sequence[AuditMeasure], rows: Floats, common: float) -> Floats:
    """Variance of each group's estimate at the share of all: at its own it would be least where the estimate is.

    A design that differs from a simple random sample multiplies it by its design effect, that of the middle group.
    """
    effects = [
        share.standard_error**2 * n / (share.value * (1.0 - share.value))
        for share, n in zip(shares, rows.tolist(), strict=True)
        if share.standard_error and 0.0 < share.value < 1.0
    ]
    design_effect = float(np.median(effects)) if effects else 1.0
    return np.asarray(max(design_effect * common * (1.0 - common), _LEAST) / rows)


def _posterior(values: Floats, variances: Floats) -> tuple[float, float, Floats, Floats]:
    """Standard deviation between groups, mean, and each group's weight and standard error, over what A may be.

    A has a uniform prior, and its likelihood is that of the residuals (REML); the errors include that A and the mean
    are estimated.
    """
    most = 4.0 * float(values.var(ddof=1)) + float(variances.max())
    grid = most * ((np.arange(_GRID) + 0.5) / _GRID) ** 2
    weights = 1.0 / (grid[:, None] + variances)
    total = weights.sum(axis=1)
    means = (weights @ values) / total
    residuals = (weights * (values - means[:, None]) ** 2).sum(axis=1)
    log = 0.5 * (np.log(weights).sum(axis=1) - np.log(total) - residuals) + 0.5 * np.log(grid)
    chances = np.exp(log - log.max())
    chances /= chances.sum()
    gamma = grid[:, None] * weights
    estimates = means[:, None] + gamma * (values - means[:, None])
    within = gamma * variances + (1.0 - gamma) ** 2 / total[:, None]
    pooled = chances @ estimates
    errors = np.sqrt(chances @ (within + (estimates - pooled) ** 2))
    return math.sqrt(float(chances @ grid)), float(chances @ means), pooled, errors
