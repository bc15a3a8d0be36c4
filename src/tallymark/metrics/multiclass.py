"""Metrics of K-class scores: correlations by pairs of classes, averaged AUROC, losses and calibration errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from tallymark._check import Floats
from tallymark.errors import InputError, Undefined, shown
from tallymark.metrics.declare import GUBBELS, metric
from tallymark.metrics.probability import log_to_one
from tallymark.registry import METRICS, require_one_of
from tallymark.summaries.class_scores import ClassScores
from tallymark.summaries.moments import Moments
from tallymark.summaries.tally import Tally

_HAND_TILL = "Hand & Till (2001), Mach. Learn. 45(2)."

Scheme = Literal["ovo", "ovr"]


def spcc_one_vs_one(data: Moments | ClassScores) -> Floats:
    """K×K correlations: row i, column j is component i's sPCC between classes i and j; zero diagonal.

    A low value means that the score for class i does not separate i from j. ``nan`` where one of the two classes has no
    rows or the component is constant on them. Gubbels (2023).

    Parameters
    ----------
    data : Moments or ClassScores
        A score for each class.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> import tallymark as tm
    >>> m = tm.moments(["a", "a", "b", "b"], [[0.9, 0.1], [0.7, 0.3], [0.2, 0.8], [0.4, 0.6]], classes=["a", "b"])
    >>> tm.metrics.spcc_one_vs_one(m).round(4).tolist()
    [[0.0, 0.9285], [0.9285, 0.0]]
    """
    moments = _moments(data, "spcc_one_vs_one")
    of_class = np.diag(moments.mean)[:, None], np.diag(moments.m2)[:, None], moments.mass[:, None]
    values = _correlation(*of_class, moments.mean.T, moments.m2.T, moments.mass[None, :])
    np.fill_diagonal(values, 0.0)
    return values


def spcc_one_vs_rest(data: Moments | ClassScores) -> Floats:
    """K correlations: component i's sPCC between class i and all other rows. Gubbels (2023).

    Parameters
    ----------
    data : Moments or ClassScores
        A score for each class.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> import tallymark as tm
    >>> m = tm.moments(["a", "a", "b", "b"], [[0.9, 0.1], [0.7, 0.3], [0.2, 0.8], [0.4, 0.6]], classes=["a", "b"])
    >>> tm.metrics.spcc_one_vs_rest(m).round(4).tolist()
    [0.9285, 0.9285]
    """
    moments = _moments(data, "spcc_one_vs_rest")
    others = moments.mass[:, None] * (1.0 - np.eye(len(moments.labels)))
    mass = others.sum(axis=0)
    class_mean = np.diag(moments.mean)
    with np.errstate(invalid="ignore"):
        mean = class_mean + (others * (moments.mean - class_mean)).sum(axis=0) / mass
    m2 = np.where(others > 0, moments.m2 + others * (moments.mean - mean) ** 2, 0.0).sum(axis=0)
    return _correlation(class_mean, np.diag(moments.m2), moments.mass, mean, m2, mass)


def _moments(data: object, name: str) -> Moments:
    if isinstance(data, ClassScores):
        return data.moments
    if not isinstance(data, Moments):
        raise InputError(
            f"{name} takes moments or class scores, got {type(data).__name__}. Write tm.moments(y, scores, classes=…)."
        )
    return data


def _correlation(mean1: Floats, m2_1: Floats, mass1: Floats, mean0: Floats, m2_0: Floats, mass0: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        between = mass1 * mass0 / (mass1 + mass0)
        r = np.sqrt(between) * (mean1 - mean0) / np.sqrt(between * (mean1 - mean0) ** 2 + m2_1 + m2_0)
    return np.where((mass1 > 0) & (mass0 > 0), np.clip(r, -1.0, 1.0), np.nan)


def _geometric(values: Floats) -> float:
    if (values < 0).any():
        raise Undefined("the geometric mean needs correlations of 0 or more, some are negative")
    return float(np.exp(np.mean(np.log(values)))) if (values > 0).all() else 0.0


#: Correlations closer to 1 or -1 than this are equal to it up to rounding.
_TO_ONE = 1e-12


def _fisher(values: Floats) -> float:
    # A correlation of 1 up to rounding has an infinite arctanh.
    values = np.where(np.abs(values) >= 1.0 - _TO_ONE, np.sign(values), values)
    if (values == 1.0).any() and (values == -1.0).any():
        raise Undefined("the Fisher average of 1 and -1 is undefined")
    with np.errstate(divide="ignore"):
        return float(np.tanh(np.mean(np.arctanh(values))))


_REDUCTIONS: dict[str, tuple[Callable[[Floats], float], str, str]] = {
    "min": (np.min, r"\min r", "The worst of"),
    "geometric": (_geometric, r"\left(\prod r\right)^{1/m}", "Geometric mean of"),
    "fisher": (_fisher, r"\tanh\left(\tfrac1m \sum \mathrm{artanh}\, r\right)", "Fisher average of"),
}


def reduce_spcc(moments: Moments, scheme: Scheme, how: str) -> float:
    """Minimum, geometric mean or Fisher average (`how`) of the sPCC over class pairs (`ovo`) or classes (`ovr`)."""
    require_one_of("scheme", scheme, ("ovo", "ovr"))
    if scheme == "ovo":
        values = spcc_one_vs_one(moments)[~np.eye(len(moments.labels), dtype=np.bool_)]
    else:
        values = spcc_one_vs_rest(moments)
    if np.isnan(values).any():
        empty = [label for label, mass in zip(moments.labels, moments.mass, strict=True) if mass == 0]
        why = f"class {shown(empty)} has no rows" if empty else "a score component is constant on two classes"
        raise Undefined(f"multiclass sPCC: {why}")
    return float(_REDUCTIONS[how][0](values))


def _declare(scheme: Scheme, how: str) -> Callable[[Moments], float]:
    _, formula, words = _REDUCTIONS[how]
    what = "class pairs" if scheme == "ovo" else "classes against the rest"

    def spcc(moments: Moments) -> float:
        return reduce_spcc(moments, scheme, how)

    spcc.__name__ = spcc.__qualname__ = f"spcc_{scheme}_{how}"
    spcc.__doc__ = f"""{words} the sPCC over {what}, :math:`{formula}`. Gubbels (2023).

    >>> import tallymark as tm
    >>> m = tm.moments(["a", "a", "b", "b"], [[0.9, 0.1], [0.7, 0.3], [0.2, 0.8], [0.4, 0.6]], classes=["a", "b"])
    >>> round(tm.metrics.{spcc.__name__}(m), 4)
    0.9285
    """
    return metric(
        title=f"sPCC over {what} ({how})", family="correlation", needs="moments", low=-1.0, high=1.0,
        better="higher", chance=0.0, formula=formula, reference=GUBBELS,
        meaning=f"{words} the correlations over {what}; look at the matrix too, one number hides failures.",
    )(spcc)  # fmt: skip


spcc_ovo_min = _declare("ovo", "min")
spcc_ovo_geometric = _declare("ovo", "geometric")
spcc_ovo_fisher = _declare("ovo", "fisher")
spcc_ovr_min = _declare("ovr", "min")
spcc_ovr_geometric = _declare("ovr", "geometric")
spcc_ovr_fisher = _declare("ovr", "fisher")


def _one_vs_rest(scores: ClassScores) -> Floats:
    """AUROC of each class against the rest."""
    won, lost = (pairs.sum(axis=1) for pairs in _wins(scores))
    values: Floats = won / (won + lost)
    return values


def _wins(scores: ClassScores) -> tuple[Floats, Floats]:
    for label, mass in zip(scores.labels, scores.moments.mass, strict=True):
        if mass == 0:
            raise Undefined(f"multiclass AUROC: there is no row of class {label!r}")
    return scores.wins


@metric(
    title="AUROC one-vs-rest, macro", family="ranking", needs="multiclass", low=0.0, high=1.0, better="higher",
    chance=0.5, rank_only=True, formula=r"\frac1K \sum_c \mathrm{AUROC}_c",
    meaning="Mean over classes of the chance that a row of the class scores higher for it than a row of another class.",
    reference="Provost & Domingos (2000), NYU CeDER working paper.",
)  # fmt: skip
def auroc_ovr(scores: ClassScores) -> float:
    r"""Mean one-vs-rest AUROC over classes, :math:`\frac1K\sum_c \mathrm{AUROC}_c`. Provost & Domingos (2000).

    >>> import tallymark as tm
    >>> s = tm.class_scores(["a", "b", "c"], [[.8, .1, .1], [.3, .6, .1], [.5, .1, .4]], classes=["a", "b", "c"])
    >>> tm.metrics.auroc_ovr(s)
    1.0
    """
    return float(np.mean(_one_vs_rest(scores)))


@metric(
    title="AUROC one-vs-rest, weighted by class size", family="ranking", needs="multiclass", low=0.0, high=1.0,
    better="higher", chance=0.5, rank_only=True, formula=r"\sum_c \frac{n_c}{n}\, \mathrm{AUROC}_c",
    meaning="One-vs-rest AUROC in which large classes count more.",
    reference="Provost & Domingos (2000), NYU CeDER working paper.",
)  # fmt: skip
def auroc_ovr_weighted(scores: ClassScores) -> float:
    r"""One-vs-rest AUROC weighted by class size, :math:`\sum_c \frac{n_c}{n}\mathrm{AUROC}_c`.

    Provost & Domingos (2000).

    >>> import tallymark as tm
    >>> s = tm.class_scores(["a", "b", "c"], [[.8, .1, .1], [.3, .6, .1], [.5, .1, .4]], classes=["a", "b", "c"])
    >>> tm.metrics.auroc_ovr_weighted(s)
    1.0
    """
    return float(np.sum(_one_vs_rest(scores) * scores.moments.mass) / scores.moments.n)


@metric(
    title="AUROC one-vs-one (Hand–Till M)", family="ranking", needs="multiclass", low=0.0, high=1.0, better="higher",
    chance=0.5, prevalence_free=True, rank_only=True, formula=r"\frac{1}{K(K-1)} \sum_{i \ne j} A(i \mid j)",
    meaning="Mean over pairs of classes of the AUROC between the two.",
    reference=_HAND_TILL,
)  # fmt: skip
def auroc_ovo(scores: ClassScores) -> float:
    r"""Hand and Till's M, :math:`\frac{1}{K(K-1)}\sum_{i\ne j} A(i \mid j)`; independent of class sizes.

    >>> import tallymark as tm
    >>> s = tm.class_scores(["a", "b", "c"], [[.8, .1, .1], [.3, .6, .1], [.5, .1, .4]], classes=["a", "b", "c"])
    >>> tm.metrics.auroc_ovo(s)
    1.0
    """
    won, lost = (pairs[~np.eye(len(pairs), dtype=np.bool_)] for pairs in _wins(scores))
    return float(np.mean(won / (won + lost)))


def _shares(moments: Moments) -> Floats:
    values: Floats = moments.mass / moments.mass.sum()
    return values


def _require_distributions(moments: Moments, name: str) -> None:
    """Refuse scores that are no probabilities: those of a row add up to 1, so the means by class do."""
    means = moments.mean[moments.mass > 0]
    if not len(means):
        raise Undefined(f"{name}: there are no rows")
    if (means < 0.0).any() or (np.abs(means.sum(axis=1) - 1.0) > _SUM).any():
        raise Undefined(f"{name}: the scores are no probabilities that add up to 1 in each row")


#: Tolerance of the sum of mean probabilities.
_SUM = 1e-4


@metric(
    title="Brier score of K classes",
    family="probability",
    needs="moments",
    low=0.0,
    high=2.0,
    better="lower",
    chance=lambda moments: 1.0 - float(np.sum(_shares(moments) ** 2)),
    formula=r"\frac1n \sum_i \sum_c (p_{ic} - y_{ic})^2",
    meaning="Mean squared distance of the probabilities from the outcome, summed over the classes: twice the Brier "
    "score for two classes.",
    reference="Brier (1950), Mon. Weather Rev. 78(1).",
)
def brier_multiclass(moments: Moments) -> float:
    r"""Brier score of K classes, :math:`\frac1n\sum_i\sum_c (p_{ic} - y_{ic})^2`.

    From 0 to 2, twice :func:`brier` for two classes. Brier (1950).

    >>> import tallymark as tm
    >>> m = tm.moments(["a", "b"], [[0.8, 0.2], [0.4, 0.6]], classes=["a", "b"])
    >>> round(tm.metrics.brier_multiclass(m), 4)
    0.2
    """
    _require_distributions(moments, "brier_multiclass")
    some = moments.mass > 0
    errors = (moments.mean - np.eye(len(moments.labels)))[some] ** 2 + (moments.m2[some] / moments.mass[some][:, None])
    return float(np.sum(_shares(moments)[some] * errors.sum(axis=1)))


@metric(
    title="Log loss of K classes",
    family="probability",
    needs="multiclass",
    low=0.0,
    high=np.inf,
    better="lower",
    chance=lambda scores: -float(sum(p * np.log(p) for p in _shares(scores.moments) if p > 0)),
    formula=r"-\frac1n \sum_i \ln p_{i y_i}",
    meaning="Mean of −ln of the true class's probability; infinite when an outcome of probability 0 occurs.",
    reference="Good (1952), J. R. Stat. Soc. B 14(1).",
)
def log_loss_multiclass(scores: ClassScores) -> float:
    r"""Log loss of K classes, :math:`-\frac1n\sum_i \ln p_{i y_i}`; nothing is clipped. Good (1952).

    >>> import tallymark as tm
    >>> s = tm.class_scores(["a", "b"], [[0.8, 0.2], [0.4, 0.6]], classes=["a", "b"])
    >>> round(tm.metrics.log_loss_multiclass(s), 4)
    0.367
    """
    _require_distributions(scores.moments, "log_loss_multiclass")
    total = sum(run.sum_of(log_to_one) for c in range(len(scores.labels)) if len(run := scores.runs[c][c]))
    return float(total) / scores.moments.n


@metric(
    title="Class-wise calibration error", family="probability", needs="multiclass", low=0.0, high=1.0, better="lower",
    chance=lambda scores, **_: _mean_of_classes(scores, METRICS["ece"].chance),
    formula=r"\frac1K \sum_c \mathrm{ECE}_c",
    meaning="Mean over classes of the gap between stated probability and observed share, over bins of equal width.",
    reference="Kull et al. (2019), NeurIPS; Nixon et al. (2019), CVPR Workshops.",
)  # fmt: skip
def ece_classwise(scores: ClassScores, *, bins: int = 10) -> float:
    r"""Class-wise calibration error, :math:`\frac1K\sum_c \mathrm{ECE}_c`, each class against the rest.

    Kull et al. (2019), NeurIPS.

    Parameters
    ----------
    scores : ClassScores
        A probability for each class.
    bins : int
        Number of bins of equal width.

    Returns
    -------
    float

    Examples
    --------
    >>> import tallymark as tm
    >>> s = tm.class_scores(["a", "b"], [[0.8, 0.2], [0.4, 0.6]], classes=["a", "b"])
    >>> round(tm.metrics.ece_classwise(s), 4)
    0.3
    """
    _require_distributions(scores.moments, "ece_classwise")
    return _mean_of_classes(scores, lambda tally: METRICS["ece"].compute(tally, bins=bins))


@metric(
    title="Top-label calibration error",
    family="probability",
    needs="multiclass",
    low=0.0,
    high=1.0,
    better="lower",
    chance=lambda scores, **_: METRICS["ece"].chance(top_label_answers(scores)),
    formula=r"\sum_b \frac{n_b}{n} |\mathrm{acc}_b - \mathrm{conf}_b|",
    meaning="Mean gap between the predicted class's probability and its accuracy, over bins of equal width.",
    reference="Guo et al. (2017), ICML.",
)
def ece_top_label(scores: ClassScores, *, bins: int = 10) -> float:
    r"""Top-label calibration error, :math:`\sum_b \frac{n_b}{n}|\mathrm{acc}_b - \mathrm{conf}_b|`. Guo et al. (2017).

    The calibration error of the highest probability of each row.

    Parameters
    ----------
    scores : ClassScores
        A probability for each class.
    bins : int
        Number of bins of equal width.

    Returns
    -------
    float

    Examples
    --------
    >>> import tallymark as tm
    >>> s = tm.class_scores(["a", "b"], [[0.8, 0.2], [0.4, 0.6]], classes=["a", "b"])
    >>> round(tm.metrics.ece_top_label(s), 4)
    0.3
    """
    _require_distributions(scores.moments, "ece_top_label")
    return METRICS["ece"].compute(top_label_answers(scores), bins=bins)


def _mean_of_classes(scores: ClassScores, value: Callable[[Tally], float]) -> float:
    """The mean of a metric over classes, each against the rest."""
    return float(np.mean([value(scores.one_vs_rest(c)) for c in range(len(scores.labels))]))


def top_label_answers(scores: ClassScores) -> Tally:
    """Probability of the predicted class, for rows that are predicted wrongly (negative) and correctly (positive)."""
    if scores.answers is None:
        raise Undefined("ece_top_label: these class scores were stored without the probability of the predicted class")
    return Tally(scores.answers, (False, True))
