"""Correction of an audit's estimate for labels that are imperfect themselves (Rogan-Gladen with MOVER limits)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from tallymark.audits.rates import GivenRate, RateWithLimits, rates_of_test
from tallymark.errors import InputError
from tallymark.inference.scales import normal_quantile
from tallymark.quantify.estimation.prevalence import Prevalence

#: Bisections that leave a limit no wider than rounding.
_HALVINGS = 60


def corrected(prevalence: Prevalence, *, sensitivity: GivenRate, specificity: GivenRate) -> Prevalence:
    r"""Correct an estimated share for the errors of those who labelled the rows.

    Of the share q of rows that the checker calls positive, :math:`q = \pi\,se + (1-\pi)(1-sp)`, so that
    :math:`\hat\pi = (q + sp - 1)/(se + sp - 1)` (Rogan & Gladen 1978). Its limits are the shares :math:`\pi` at which

    .. math:: q - \pi\,se - (1-\pi)(1-sp)

    is 0 within limits that are put together from those of q, se and sp, on the side where each counts (MOVER; Zou &
    Donner 2008, Stat. Med. 27(10); Fieller's theorem where all three are normal). So the limits of the audit keep their
    shape, and with rates that are known exactly they are transformed as the estimate is. The number of wrong labels
    among the n rows of the target is random too: :math:`(\pi\,se(1-se) + (1-\pi)\,sp(1-sp))/n` is added to the squares,
    unless the estimate is a share of a value, whose rows are not known here.

    Parameters
    ----------
    prevalence
        Estimate with limits, such as that of ``tm.audits.from_audit``, as if the labels were right.
    sensitivity, specificity
        Those of the checker, each a number (known exactly), ``(value, low, high)`` (published, with limits at the
        level of the estimate) or ``(right, rows)`` (counted).

    Returns
    -------
    Prevalence
        The corrected share and count; in `details` the uncorrected share (``apparent``), the ``unclipped`` estimate,
        and its ``standard_error`` by the delta method where the estimate has one.

    Examples
    --------
    >>> import pandas as pd, tallymark as tm
    >>> rows = pd.DataFrame({"checked": [1.0] * 60 + [0.0] * 340 + [None] * 9_600})
    >>> audit = tm.audits.from_audit(rows, label="checked")
    >>> audit
    audit: 0.1500 (0.1181 to 0.1868, 95 % mid_p), 1500 (1181 to 1868) of 10 000
    >>> tm.audits.corrected(audit, sensitivity=(0.95, 0.9, 0.98), specificity=0.99)
    audit, corrected: 0.1489 (0.1147 to 0.1894, 95 % mover), 1489 (1147 to 1894) of 10 000

    """
    if not isinstance(prevalence, Prevalence):
        raise InputError(
            f"prevalence is a {type(prevalence).__name__}, expected one estimate of a share; correct those of groups "
            "one by one."
        )
    if prevalence.reason is not None:
        return prevalence
    if prevalence.low is None or prevalence.high is None or prevalence.level is None:
        raise InputError("prevalence has no limits, and the corrected ones are made from them; estimate with a level.")
    test = rates_of_test(sensitivity, specificity, prevalence.level)
    (se, _, _), (sp, _, _) = test
    apparent, youden = prevalence.prevalence, se.value + sp.value - 1.0
    raw = (apparent + sp.value - 1.0) / youden
    share = min(1.0, max(0.0, raw))
    low, high = _limits((apparent, prevalence.low, prevalence.high), test, _rows(prevalence), prevalence.level, share)
    details = {"apparent": apparent, "sensitivity": se.value, "specificity": sp.value, "unclipped": raw}
    if "standard_error" in prevalence.details:
        errors = [
            weight * math.sqrt(rate.value * (1.0 - rate.value) / rate.rows) if rate.rows else math.inf
            for weight, rate in ((raw, se), (1.0 - raw, sp))
        ]
        noise = math.sqrt(_label_noise(share, se.value, sp.value) / _rows(prevalence))
        details["standard_error"] = math.hypot(prevalence.details["standard_error"], noise, *errors) / youden
    return replace(
        prevalence,
        method=f"{prevalence.method}, corrected",
        prevalence=share,
        low=min(low, share),
        high=max(high, share),
        interval_method="mover",
        details=details,
    )


def _rows(prevalence: Prevalence) -> float:
    """Rows of the target, infinite where the share is one of a value."""
    of_value = "checked" in prevalence.details and "estimated" not in prevalence.details
    return math.inf if of_value else float(prevalence.n)


def _label_noise(share: float, sensitivity: float, specificity: float) -> float:
    """Variance of a label given the truth, over all rows."""
    return share * sensitivity * (1.0 - sensitivity) + (1.0 - share) * specificity * (1.0 - specificity)


def _limits(
    apparent: tuple[float, float, float],
    test: tuple[RateWithLimits, RateWithLimits],
    rows: float,
    level: float,
    share: float,
) -> tuple[float, float]:
    """The least and the largest share that fits the limits of the apparent share and of both rates."""
    (q, q_low, q_high), (se, sp) = apparent, test
    z2 = normal_quantile(0.5 + level / 2.0) ** 2

    def excess(pi: float) -> tuple[float, float]:
        """The apparent share less the one that `pi` leads to, and its squared label noise."""
        expected = pi * se.rate.value + (1.0 - pi) * (1.0 - sp.rate.value)
        return q - expected, z2 * _label_noise(pi, se.rate.value, sp.rate.value) / rows

    def not_too_small(pi: float) -> bool:
        difference, noise = excess(pi)
        reach = (q - q_low) ** 2 + (pi * (se.high - se.rate.value)) ** 2
        return difference <= 0.0 or difference**2 <= reach + ((1.0 - pi) * (sp.rate.value - sp.low)) ** 2 + noise

    def not_too_large(pi: float) -> bool:
        difference, noise = excess(pi)
        reach = (q_high - q) ** 2 + (pi * (se.rate.value - se.low)) ** 2
        return difference >= 0.0 or difference**2 <= reach + ((1.0 - pi) * (sp.high - sp.rate.value)) ** 2 + noise

    return _edge(not_too_small, share, 0.0), _edge(not_too_large, share, 1.0)


def _edge(fits: Callable[[float], bool], inside: float, end: float) -> float:
    """The last share that fits on the way from `inside` to `end`."""
    if fits(end):
        return end
    for _ in range(_HALVINGS):
        middle = (inside + end) / 2.0
        inside, end = (middle, end) if fits(middle) else (inside, middle)
    return (inside + end) / 2.0
