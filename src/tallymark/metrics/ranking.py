"""Ranking metrics: AUROC, Gini coefficient, Kolmogorov–Smirnov statistic, area under the ROC convex hull."""

from __future__ import annotations

import numpy as np

from tallymark._rounding import within
from tallymark.metrics.declare import metric
from tallymark.metrics.hull import roc_hull
from tallymark.summaries.tally import Tally


def auroc_of(tally: Tally) -> float:
    """AUROC of a tally with rows of both classes; exactly 1 or 0 where their scores do not overlap."""
    if tally.separation:
        return max(0.0, float(tally.separation))
    return within(tally.views.wins / (float(tally.positives) * float(tally.negatives)), 0.0, 1.0)


def best_informedness(tally: Tally) -> float:
    """The largest tpr - fpr of any threshold; at least 0, where nothing is predicted positive."""
    gaps = (np.max(s.tp / tally.positives - s.fp / tally.negatives) for s in tally.views.step_blocks())
    return max(0.0, *map(float, gaps))


@metric(
    title="Area under the ROC curve", brief="the whole list", short="AUROC", family="ranking", needs="tally", low=0.0,
    high=1.0, better="higher", chance=0.5, prevalence_free=True, rank_only=True, bound="order",
    aliases=("roc_auc", "auc"),
    formula=r"\frac{U^+}{P N} = \Pr(s^+ > s^-) + \tfrac12 \Pr(s^+ = s^-)",
    meaning="Chance that a random positive scores higher than a random negative.",
    reference="Hanley & McNeil (1982), Radiology 143(1).",
)  # fmt: skip
def auroc(tally: Tally) -> float:
    r"""Area under the ROC curve, :math:`\Pr(s^+ > s^-) + \frac12 \Pr(s^+ = s^-)`. Hanley & McNeil (1982).

    >>> import tallymark as tm
    >>> tm.metrics.auroc(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    0.75
    """
    return auroc_of(tally)


@metric(
    title="Gini coefficient", family="ranking", needs="tally", low=-1.0, high=1.0, better="higher", chance=0.0,
    prevalence_free=True, rank_only=True, bound="order", formula=r"2\,\mathrm{AUROC} - 1",
    meaning="AUROC rescaled so that chance is 0 (Somers' D of score given label).",
    reference="Somers (1962), Am. Sociol. Rev. 27(6).",
)  # fmt: skip
def gini(tally: Tally) -> float:
    r"""Gini coefficient of the ranking, :math:`2\,\mathrm{AUROC} - 1`. Somers (1962).

    >>> import tallymark as tm
    >>> tm.metrics.gini(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    0.5
    """
    return 2.0 * auroc_of(tally) - 1.0


@metric(
    title="Kolmogorov–Smirnov statistic", family="ranking", needs="tally", low=0.0, high=1.0, better="higher",
    chance=0.0, prevalence_free=True, rank_only=True, bound="order", holds_from=(50, 50),
    formula=r"\max_t\, \mathrm{tpr}(t) - \mathrm{fpr}(t)",
    meaning="Largest gap between recall and false positive rate at any threshold: the best Youden's J.",
    reference="Kolmogorov (1933); Smirnov (1939).",
)  # fmt: skip
def ks(tally: Tally) -> float:
    r"""Kolmogorov–Smirnov distance in the stated direction, :math:`\max_t \mathrm{tpr}(t) - \mathrm{fpr}(t)`.

    >>> import tallymark as tm
    >>> tm.metrics.ks(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    0.5
    """
    return best_informedness(tally)


@metric(
    title="Area under the ROC convex hull", family="ranking", needs="tally", low=0.5, high=1.0, better="higher",
    chance=0.5, prevalence_free=True, rank_only=True, bound="order", aliases=("auch",),
    formula=r"\int_0^1 \mathrm{hull}(\mathrm{fpr})\, d\,\mathrm{fpr}",
    meaning="AUROC that could be reached by merging scores whose order is wrong.",
    reference="Provost & Fawcett (2001), Mach. Learn. 42(3).",
)  # fmt: skip
def hull_auc(tally: Tally) -> float:
    """Area under the convex hull of the ROC curve. Provost & Fawcett (2001).

    >>> import tallymark as tm
    >>> tm.metrics.hull_auc(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    0.875
    """
    hull = roc_hull(tally)
    return float(np.trapezoid(hull.tpr, hull.fpr))
