"""Stopping rule of screening in rank order: a hypergeometric test that the recall reaches a target."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Floats, Ints
from tallymark._display import Row, Shown, plain
from tallymark._numbers import equals_p
from tallymark.inference.interval import checked_level

#: Moments of a screening at which the rule is looked at.
_MOMENTS = 200


@dataclass(frozen=True, eq=False, repr=False)
class Stopping(Shown):
    """State of screening in rank order: rows screened, positives found, and the test of "recall below the target".

    `p_values` has the p-value after so many `moments` (numbers of screened rows); `stop` is the first of these at which
    it is at most 1 - `level`, None where it is not.
    """

    n: int
    screened: int
    positives: int
    target: float
    level: float
    moments: Ints
    p_values: Floats
    stop: int | None

    @property
    def p_value(self) -> float:
        """The p-value after the last screened row."""
        return float(self.p_values[-1])

    def heading(self) -> str:
        """Whether screening may stop."""
        verdict = (
            f"Go on: a recall below {self.target:g} is not ruled out ({equals_p(self.p_value)})."
            if self.stop is None
            else f"Stop: a recall below {self.target:g} is ruled out at {100 * self.level:g} % since row {self.stop}."
        )
        return f"{self.screened} of {self.n} rows screened, {self.positives} positives. {verdict}"

    def rows(self) -> list[Row]:
        """One line per moment."""
        return [{"screened": int(m), "p_value": float(p)} for m, p in zip(self.moments, self.p_values, strict=True)]

    def printed_rows(self) -> list[Row]:
        """The last moment."""
        return self.rows()[-1:]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        names = ("n", "screened", "positives", "target", "level", "p_value", "stop")
        return {name: plain(getattr(self, name)) for name in names}


def stopping(verdicts: Any, n: int, *, recall: float = 0.95, pos_label: Any = None, level: float = 0.95) -> Stopping:
    r"""Whether screening in rank order may stop: a test that the recall is at least `recall`.

    With r positives among the rows screened so far, a recall below τ means at least
    :math:`K = \lfloor r/\tau\rfloor + 1` positives in all. For each earlier moment i the rows screened since are
    compared with a random draw from those that were left then: :math:`p_i = P(X \le k_i)`, X hypergeometric with
    :math:`K - r_i` positives among :math:`N - i` rows. The p-value is the least of these; both are looked at for at
    most 200 moments, evenly spread. Rows screened in a better than random order make it conservative; it is no
    guarantee where the order is random or worse. Callaghan & Müller-Hansen (2020), Syst. Rev. 9:273.

    Parameters
    ----------
    verdicts
        Labels of the screened rows in the order of screening.
    n
        Number of all rows, screened and not.
    recall
        The recall to reach.
    pos_label
        The positive label, where the labels do not say which it is.
    level
        Confidence level: screening may stop where the p-value is at most 1 - `level`.

    Returns
    -------
    Stopping
        Whether and when to stop, and the p-value after each row.

    Examples
    --------
    >>> import tallymark as tm
    >>> screened = [1] * 40 + [1, 0] * 20 + [0] * 400
    >>> print(tm.audits.stopping(screened, 2_000, recall=0.9).heading())
    480 of 2000 rows screened, 60 positives. Go on: a recall below 0.9 is not ruled out (p = 0.19).

    """
    positive, _ = _check.binary_labels(verdicts, pos_label, "verdicts", one_class=True)
    rows = _check.whole(n, "n", len(positive))
    target, confidence = _check.probability(recall, "recall"), checked_level(level)
    so_far = np.concatenate(([0], np.cumsum(positive)))
    moments = np.unique(np.linspace(1, len(positive), _MOMENTS).round().astype(np.int64))
    p_values = np.array([_least_p(so_far, moment, rows, target, moments) for moment in moments])
    reached = np.flatnonzero(p_values <= 1.0 - confidence)
    return Stopping(
        n=rows,
        screened=len(positive),
        positives=int(so_far[-1]),
        target=target,
        level=confidence,
        moments=moments,
        p_values=p_values,
        stop=int(moments[reached[0]]) if len(reached) else None,
    )


def _least_p(so_far: Ints, screened: int, rows: int, recall: float, moments: Ints) -> float:
    """The least p-value of "recall too low" over the rows screened since each earlier moment."""
    from scipy.stats import hypergeom

    # A hair up, so that 9 of 10 is a recall of .9 whatever the last bit says.
    least = math.floor(so_far[screened] / recall + 1e-9) + 1
    if least > rows - screened + so_far[screened]:
        return 0.0
    since = np.concatenate(([0], moments[moments < screened]))
    left = rows - since
    positives = np.minimum(least - so_far[since], left)
    return float(hypergeom.cdf(so_far[screened] - so_far[since], left, positives, screened - since).min())
