"""The decision curve: what acting on a model is worth, beside acting on everyone and on no one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallymark import _check
from tallymark._check import Floats
from tallymark.curves.base import Curve, of_a_tally
from tallymark.errors import InputError
from tallymark.registry import cell_metric_named
from tallymark.summaries.tally import Tally

#: Probabilities at which one would act, unless told.
PROBABILITIES = np.arange(1, 100) / 100.0


def acted_on(tally: Tally, thresholds: Floats) -> tuple[Floats, Floats]:
    """Positives and negatives with a score at or above each threshold."""
    rounded = thresholds.astype(tally.runs[0].scores.dtype)
    down, up = (run.mass_from(np.searchsorted(run.scores, rounded, "left")) for run in tally.runs)
    return up, down


@dataclass(frozen=True, eq=False, repr=False)
class DecisionCurve(Curve):
    """Net benefit at each probability from which one would act, of the model, of acting on all rows and on none."""

    threshold: Floats
    net_benefit: Floats
    treat_all: Floats
    prevalence: float

    @property
    def treat_none(self) -> Floats:
        """Acting on no one is worth nothing."""
        return np.zeros_like(self.threshold)

    def columns(self) -> Mapping[str, NDArray[Any]]:
        """The points, by column."""
        return {
            "threshold": self.threshold,
            "net_benefit": self.net_benefit,
            "treat_all": self.treat_all,
            "treat_none": self.treat_none,
        }


@of_a_tally
def decision_curve(tally: Tally, *, thresholds: Sequence[float] | None = None) -> DecisionCurve:
    r"""Decision curve of probabilities: :math:`\mathrm{NB}(t) = \frac{\mathrm{TP}}{n} - \frac{\mathrm{FP}}{n}\frac{t}{1-t}` at each t.

    Rows with a probability of t or more are acted on; t says how many false alarms one hit is worth. A model is of use
    where it lies above both acting on everyone, :math:`\pi - (1-\pi)\frac{t}{1-t}`, and on no one, 0. Speaks of the
    prevalence looked at. Vickers & Elkin (2006), Med. Decis. Making 26(6).

    >>> import tallymark as tm
    >>> curve = tm.decision_curve(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), thresholds=[0.2, 0.5])
    >>> curve.net_benefit.tolist(), curve.treat_all.tolist()
    ([0.4375, 0.25], [0.375, 0.0])
    """
    if not tally.is_probability:
        low, high = tally.range
        raise InputError(
            f"decision_curve needs probabilities, but the scores run from {low:g} to {high:g}; calibrate them first."
        )
    if thresholds is not None and (not isinstance(thresholds, Iterable) or not list(thresholds)):
        raise InputError(f"thresholds is {thresholds!r}, expected a list of probabilities such as [0.1, 0.2].")
    at = PROBABILITIES if thresholds is None else np.array([_check.real(t, "thresholds") for t in thresholds])
    if not ((at >= 0.0) & (at < 1.0)).all():
        raise InputError("thresholds must lie in [0, 1): at a probability of 1 no false alarm would be worth a hit.")
    net_benefit = cell_metric_named("net_benefit").cells
    everyone = tally.cells(np.full(len(at), tally.positives), np.full(len(at), tally.negatives))
    return DecisionCurve(
        at,
        net_benefit(*tally.cells(*acted_on(tally, at)), odds_at=at),
        net_benefit(*everyone, odds_at=at),
        tally.prevalence,
    )
