"""Test of the difference between an audit's count and the quantifiers'."""

from __future__ import annotations

from collections.abc import Mapping

from tallymark.inference.limits.mover import sum_limits
from tallymark.notes import Note
from tallymark.quantify.estimation.prevalence import Prevalence


def disagreement(
    audit: Prevalence, estimates: Mapping[str, Prevalence], labelled: tuple[float, float]
) -> tuple[Note, ...]:
    """A note where the audit and a quantifier differ by more than both intervals together explain.

    The audit estimates all rows, a quantifier those without a label; `labelled` are the labelled rows and the
    positives among them. Both use the same labels, so that taking them for independent is conservative.
    """
    if audit.reason is not None or audit.low is None or audit.high is None:
        return ()
    for name, one in estimates.items():
        if one.reason is not None or one.low is None or one.high is None:
            continue
        counts = tuple(share * one.n + labelled[1] for share in (one.prevalence, one.low, one.high))
        audited = tuple(share * audit.n for share in (audit.prevalence, audit.low, audit.high))
        low, high = sum_limits((1.0, audited), (-1.0, counts))  # type: ignore[arg-type]
        if low > 0.0 or high < 0.0:
            text = (
                f"The audit counts {audited[0]:.0f} ({audited[1]:.0f} to {audited[2]:.0f}), {name} {counts[0]:.0f} "
                f"({counts[1]:.0f} to {counts[2]:.0f}): more than chance explains. The audit assumes nothing of the "
                "classes' scores; believe it."
            )
            return (Note("TM118", text),)
    return ()
