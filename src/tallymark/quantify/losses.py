r"""Losses of an estimated class distribution :math:`p'` against the true one :math:`p`.

Each takes a truth and an estimate: two numbers (shares of the positive class), two distributions over K classes, or
two arrays with one distribution per line, which give one value per line. Absolute and squared errors are means over
the classes, so that two classes give the binary formulas; ``total=True`` sums instead. Logarithms are natural.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Floats
from tallymark.errors import InputError
from tallymark.registry import LOSSES, Better, Loss

_FORMAN = "Forman (2008), Data Min. Knowl. Discov. 17."
_SEBASTIANI = "Sebastiani (2020), Inf. Retr. J. 23."
_BARRANQUERO = "Barranquero, Díez & del Coz (2015), Pattern Recognit. 48."

#: How far a distribution's sum may be from one.
_ROUNDING = 1e-6


def distributions(truth: object, estimate: object) -> tuple[Floats, Floats, bool]:
    """Both sides as (samples, classes), and whether one value was asked for."""
    sides = [_distribution(truth, "truth"), _distribution(estimate, "estimate")]
    if sides[0].shape[-1] != sides[1].shape[-1]:
        raise InputError(
            f"truth has {sides[0].shape[-1]} classes and the estimate {sides[1].shape[-1]}; pass both over the same "
            "classes."
        )
    single = all(side.ndim == 1 for side in sides)
    true, estimated = np.broadcast_arrays(*(np.atleast_2d(side) for side in sides))
    return true, estimated, single


def _distribution(value: object, name: str) -> Floats:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {value!r}, expected shares: a number, or one share for each class.") from None
    if array.ndim == 0:
        array = np.stack([1.0 - array, array])
    if array.ndim > 2 or array.shape[-1] < 2:
        raise InputError(f"{name} has shape {array.shape}, expected one share for each of two or more classes.")
    if not np.isfinite(array).all() or (array < -_ROUNDING).any() or (np.abs(array.sum(axis=-1) - 1) > _ROUNDING).any():
        raise InputError(f"{name} is not a distribution: shares must lie between 0 and 1 and add up to 1.")
    return np.clip(array, 0.0, 1.0)


def on_distributions(compute: Callable[..., Floats]) -> Callable[..., Any]:
    """A loss of clean (samples, classes) arrays as one of whatever people pass; a number for a single pair."""

    def public(truth: object, estimate: object, **options: Any) -> Any:
        true, estimated, single = distributions(truth, estimate)
        value = compute(true, estimated, **options)
        return float(value[0]) if single else value

    return public


def _loss(
    name: str,
    title: str,
    formula: str,
    meaning: str,
    reference: str,
    *,
    low: float = 0.0,
    high: float = 1.0,
    better: Better = "lower",
    **facts: Any,
) -> Callable[[Callable[..., Floats]], Callable[..., Any]]:
    """Declare a loss; `facts` are those of :class:`Loss`.

    The decorated function takes clean (samples, classes) arrays, the public one anything that can become them.
    """

    def declare(compute: Callable[..., Floats]) -> Callable[..., Any]:
        loss = Loss(
            name=name,
            title=title,
            formula=formula,
            meaning=meaning,
            reference=reference,
            low=low,
            high=high,
            better=better,
            compute=compute,
            **facts,
        )
        LOSSES.add(loss)

        public = on_distributions(compute)
        public.__name__ = public.__qualname__ = name
        public.__module__ = __name__
        public.__doc__ = f"{title}: :math:`{formula}`. {meaning} {reference}\n\n{compute.__doc__ or ''}".rstrip()
        return public

    return declare


def _over_classes(values: Floats, total: bool) -> Floats:
    summed: Floats = values.sum(axis=1)
    return np.asarray(summed if total else summed / values.shape[1])


def _smoothed(shares: Floats, size: float | None) -> Floats:
    """Half a row added to each class of a sample of `size` rows; as it is without a size."""
    if size is None:
        return shares
    extra = 0.5 / _size(size)
    return np.asarray((shares + extra) / (1.0 + extra * shares.shape[1]))


def _size(size: object) -> float:
    rows = _check.real(size, "size")
    if rows <= 0:
        raise InputError(f"size is {size!r}, expected the number of rows of the sample.")
    return rows


@_loss("bias", "Estimation bias", "p'_+ - p_+", "Positive when there are too many positives; averages hide errors.",
       _FORMAN, low=-1.0, better="zero")  # fmt: skip
def bias(true: Floats, estimated: Floats) -> Floats:
    """Of the last class, which is the positive one of two.

    >>> import tallymark as tm
    >>> round(tm.quantify.losses.bias(0.2, 0.25), 4)
    0.05
    """
    return estimated[:, -1] - true[:, -1]


@_loss(
    "ae",
    "Absolute error",
    r"\frac1K \sum_c |p'_c - p_c|",
    "Points of prevalence the estimate is off.",
    _FORMAN,
    aliases=("absolute_error",),
)
def ae(true: Floats, estimated: Floats, *, total: bool = False) -> Floats:
    """`total` sums over the classes (up to 2).

    >>> import tallymark as tm
    >>> round(tm.quantify.losses.ae(0.2, 0.25), 4)
    0.05
    """
    return _over_classes(np.abs(estimated - true), total)


@_loss(
    "se",
    "Squared error",
    r"\frac1K \sum_c (p'_c - p_c)^2",
    "Large errors weigh more.",
    "Bella et al. (2010), ICDM.",
    aliases=("squared_error",),
)
def se(true: Floats, estimated: Floats, *, total: bool = False) -> Floats:
    """`total` sums over the classes (up to 2).

    >>> import tallymark as tm
    >>> round(tm.quantify.losses.se([0.5, 0.3, 0.2], [0.4, 0.3, 0.3]), 6)
    0.006667
    """
    return _over_classes((estimated - true) ** 2, total)


@_loss("rae", "Relative absolute error", r"\frac1K \sum_c \frac{|p'_c - p_c|}{p_c}",
       "The error beside the share it is an error of: harsh on rare classes.", _SEBASTIANI, high=np.inf,
       aliases=("relative_absolute_error",), smoothed_by_size=True)  # fmt: skip
def rae(true: Floats, estimated: Floats, *, size: float | None = None, total: bool = False) -> Floats:
    """`size`, the rows of the sample, adds half a row to each class on both sides; without it a class of share 0 that
    was estimated above 0 gives infinity.

    >>> import tallymark as tm
    >>> round(tm.quantify.losses.rae(0.1, 0.15), 4)
    0.2778
    """
    true, estimated = _smoothed(true, size), _smoothed(estimated, size)
    gap = np.abs(estimated - true)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(gap == 0.0, 0.0, gap / true)
    return _over_classes(relative, total)


@_loss(
    "kld",
    "Kullback-Leibler divergence",
    r"\sum_c p_c \ln\frac{p_c}{p'_c}",
    "Information lost by taking the estimate for the truth; infinite where a class is missed altogether.",
    _FORMAN,
    high=np.inf,
    smoothed_by_size=True,
)
def kld(true: Floats, estimated: Floats, *, size: float | None = None, smooth: bool = False) -> Floats:
    """`size`, the rows of the sample, moves an estimated share of 0 or 1 half a row inwards, as Forman does, which
    makes a jump there; with `smooth` half a row is added to every class on both sides instead. 0 ln 0 = 0.

    >>> import tallymark as tm
    >>> round(tm.quantify.losses.kld(0.2, 0.25), 6)
    0.007002
    >>> round(tm.quantify.losses.kld(0.2, 0.0, size=100), 4)
    0.5633
    """
    if smooth and size is None:
        raise InputError("smooth=True needs size=, the number of rows of the sample.")
    if smooth:
        true, estimated = _smoothed(true, size), _smoothed(estimated, size)
    elif size is not None:
        extreme = (estimated == 0.0) | (estimated == 1.0)
        estimated = np.where(extreme, np.abs(estimated - 0.5 / _size(size)), estimated)
        # Of more than two classes not all are moved, and the shares must still add up to one.
        estimated = estimated / estimated.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(true == 0.0, 0.0, true * (np.log(true) - np.log(estimated)))
    total: Floats = terms.sum(axis=1)
    return total


@_loss(
    "nkld",
    "Normalised Kullback-Leibler divergence",
    r"\frac{2 e^{KLD}}{1 + e^{KLD}} - 1",
    "The divergence brought into 0 to 1 by a logistic.",
    "Gao & Sebastiani (2015), ASONAM.",
    smoothed_by_size=True,
)
def nkld(true: Floats, estimated: Floats, *, size: float | None = None, smooth: bool = False) -> Floats:
    """Options as for ``kld``.

    >>> import tallymark as tm
    >>> tm.quantify.losses.nkld(0.2, 0.0)
    1.0
    """
    divergence: Floats = LOSSES["kld"].compute(true, estimated, size=size, smooth=smooth)
    # The same as the formula, without the overflow: it is tanh of half the divergence.
    return np.tanh(divergence / 2.0)


@_loss(
    "nas",
    "Normalised absolute score",
    r"1 - \frac{|p' - p|}{\max(p, 1-p)}",
    "One minus the absolute error as a share of the largest possible one.",
    _BARRANQUERO,
    better="higher",
)
def nas(true: Floats, estimated: Floats) -> Floats:
    r"""With K classes :math:`1 - \sum_c |p'_c - p_c| / 2(1 - \min_c p_c)`.

    >>> import tallymark as tm
    >>> round(tm.quantify.losses.nas(0.2, 0.4), 4)
    0.75
    """
    worst = 2.0 * (1.0 - true.min(axis=1))
    return np.asarray(1.0 - np.abs(estimated - true).sum(axis=1) / worst)


@_loss(
    "nss",
    "Normalised squared score",
    r"1 - \left(\frac{p' - p}{\max(p, 1-p)}\right)^2",
    "One minus the squared error as a share of the largest possible one.",
    _BARRANQUERO,
    better="higher",
)
def nss(true: Floats, estimated: Floats) -> Floats:
    """With K classes the largest is reached by calling everything the rarest class.

    >>> import tallymark as tm
    >>> round(tm.quantify.losses.nss(0.2, 0.4), 4)
    0.9375
    """
    worst = (true**2).sum(axis=1) + 1.0 - 2.0 * true.min(axis=1)
    return np.asarray(1.0 - ((estimated - true) ** 2).sum(axis=1) / worst)


@_loss(
    "nmd",
    "Normalised match distance",
    r"\frac{1}{K-1} \sum_{c<K} \left|\sum_{j \le c} (p'_j - p_j)\right|",
    "For ordered classes: how far mass must be moved, as a share of the farthest way.",
    "Sakai (2018), SIGIR; Werman, Peleg & Rosenfeld (1985).",
    ordinal=True,
)
def nmd(true: Floats, estimated: Floats) -> Floats:
    """Classes in their order.

    >>> import tallymark as tm
    >>> round(tm.quantify.losses.nmd([0.5, 0.3, 0.2], [0.4, 0.3, 0.3]), 4)
    0.1
    """
    values: Floats = LOSSES["emd"].compute(true, estimated) / (true.shape[1] - 1)
    return values


@_loss(
    "emd",
    "Earth mover's distance",
    r"\sum_{c<K} \left|\sum_{j \le c} (p'_j - p_j)\right|",
    "For ordered classes: mass times the number of classes it must be moved.",
    "Esuli & Sebastiani (2010), IEEE Intell. Syst. 25.",
    high=np.inf,
    ordinal=True,
)
def emd(true: Floats, estimated: Floats) -> Floats:
    """Classes in their order.

    >>> import tallymark as tm
    >>> round(tm.quantify.losses.emd([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]), 4)
    0.6
    """
    total: Floats = np.abs(np.cumsum(estimated - true, axis=1)[:, :-1]).sum(axis=1)
    return total


def q_measure(classification: float, quantification: float, *, beta: float = 2.0) -> float:
    r"""Q-measure: :math:`Q_\beta = \frac{(1+\beta^2)\, c\, q}{\beta^2 c + q}`, 0 when either part is.

    Any classification score c in [0, 1] (Barranquero et al. take recall) and any quantification score q in [0, 1] (such
    as :func:`nas`). β = 0 gives c, β = ∞ gives q. Barranquero, Díez & del Coz (2015), Pattern Recognit. 48.

    >>> import tallymark as tm
    >>> c = tm.confusion([1] * 10 + [0] * 90, [1] * 8 + [0] * 2 + [1] * 4 + [0] * 86)
    >>> q = tm.quantify.losses.nas(c.prevalence, (c.tp + c.fp) / c.n)
    >>> round(tm.quantify.losses.q_measure(tm.metrics.recall(c), q), 4)
    0.9362
    """
    c, q = _check.real(classification, "classification"), _check.real(quantification, "quantification")
    if not (0.0 <= c <= 1.0 and 0.0 <= q <= 1.0):
        raise InputError(f"Q-measure takes two scores between 0 and 1, got {c:g} and {q:g}.")
    if not beta >= 0.0:
        raise InputError(f"beta is {beta!r}, expected a number of 0 or more.")
    if c == 0.0 or q == 0.0:
        return 0.0
    if np.isinf(beta):
        return q
    return (1.0 + beta**2) * c * q / (beta**2 * c + q)
