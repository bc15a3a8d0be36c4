"""Confidence limits of K class prevalences by the delta method and by profile likelihood."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallymark._check import Floats
from tallymark.inference.scales import normal_quantile
from tallymark.quantify.kernels.class_rows import ClassRows
from tallymark.quantify.kernels.class_solvers import counts_in_cells, predicted
from tallymark.quantify.kernels.joint import fit_jointly, profile_limits, region_holds


@dataclass(frozen=True, eq=False)
class ClassLimits:
    """Limits of every class's share, how they were found, and what describes the joint confidence region."""

    low: Floats
    high: Floats
    method: str
    covariance: Floats | None = None
    centre: Floats | None = None
    region: Callable[[Floats, float], bool] | None = None


def likelihood_limits(both: ClassRows, level: float, options: Mapping[str, Any]) -> ClassLimits:
    """Profile limits of every class and the joint likelihood region."""
    labelled, observed = counts_in_cells(both, both.weight[None, :], np.ones((1, both.m)), options)
    best = fit_jointly(labelled, observed)
    low, high = profile_limits(labelled, observed, best, level)
    return ClassLimits(low, high, "profile", region=lambda p, at: region_holds(labelled, observed, best, p, at))


def predicted_limits(both: ClassRows, level: float, options: Mapping[str, Any]) -> ClassLimits:  # noqa: ARG001
    """Delta-method limits of least squares on predicted classes."""
    return _delta_limits(both, level, hard=True)


def score_limits(both: ClassRows, level: float, options: Mapping[str, Any]) -> ClassLimits:  # noqa: ARG001
    """Delta-method limits of least squares on scores."""
    return _delta_limits(both, level, hard=False)


def _delta_limits(both: ClassRows, level: float, *, hard: bool) -> ClassLimits:
    r"""Limits of least squares by the delta method, around the solution that may lie outside the simplex.

    With M the classes' mean features, h the target's and B the pseudo-inverse of M's columns less the first,
    :math:`S = \mathrm{Cov}(h) + \sum_k x_k^2 \mathrm{Cov}(M_k)` gives the covariance of x. Half a row in every cell
    keeps rates of 0 and 1 from being certain.
    """
    labelled, unlabelled = (predicted(part) if hard else part for part in (both.validation_scores, both.target_scores))
    means, spreads = [], []
    for rows in both.members:
        of_class, w = labelled[rows], both.weight[rows]
        n = float(w.sum() ** 2 / (w**2).sum())
        mean = np.average(of_class, axis=0, weights=w)
        if hard:
            mean = (mean * n + 0.5) / (n + both.k / 2.0)
            spread = np.diag(mean) - np.outer(mean, mean)
        else:
            gap = of_class - mean
            spread = np.einsum("n,ni,nj->ij", w / w.sum(), gap, gap) * n / max(n - 1.0, 1.0)
        means.append(mean)
        spreads.append(spread / n)
    h = unlabelled.mean(axis=0)
    gap = unlabelled - h
    noise = np.einsum("ni,nj->ij", gap, gap) / both.m / max(both.m - 1.0, 1.0)
    matrix = np.stack(means, axis=1)
    inverse = np.linalg.pinv(matrix[:, 1:] - matrix[:, :1])
    rest = inverse @ (h - matrix[:, 0])
    x = np.concatenate(([1.0 - rest.sum()], rest))
    noise += sum(x[k] ** 2 * spreads[k] for k in range(both.k))
    slope = np.vstack((-inverse.sum(axis=0), inverse))
    covariance = slope @ noise @ slope.T
    reach = normal_quantile(0.5 + level / 2.0) * np.sqrt(np.diag(covariance))
    ends = np.clip(x - reach, 0.0, 1.0), np.clip(x + reach, 0.0, 1.0)
    return ClassLimits(*ends, "analytic", covariance=covariance, centre=x)
