"""Decision curve: net benefit of acting on a model, on all rows and on none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tallymark import _check
from tallymark._check import Floats
from tallymark.curves.base import Columns, Curve, of_a_tally
from tallymark.errors import InputError
from tallymark.registry import cell_metric_named
from tallymark.summaries.tally import Tally

#: Default probabilities from which one would act.
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
        """Net benefit of acting on no row: 0."""
        return np.zeros_like(self.threshold)

    def columns(self) -> Columns:
        """Threshold and net benefits."""
        return {**super().columns(), "treat_none": self.treat_none}


@of_a_tally
def decision_curve(tally: Tally, *, thresholds: Sequence[float] | None = None) -> DecisionCurve:
    r"""Net benefit :math:`\frac{\mathrm{TP}}{n} - \frac{\mathrm{FP}}{n}\frac{t}{1-t}` at each probability t.

    Rows with a probability of t or more are acted on; t states how many false positives one true positive is worth. A
    model is useful where it lies above both acting on all rows, :math:`\pi - (1-\pi)\frac{t}{1-t}`, and on none, 0, at
    the tally's prevalence. Vickers & Elkin (2006), Med. Decis. Making 26(6).

    Parameters
    ----------
    tally : Tally
        Labelled probabilities with rows of both classes.
    thresholds : sequence of float, optional
        Probabilities t in [0, 1) from which one would act; 0.01 to 0.99 by default.

    Returns
    -------
    DecisionCurve

    Examples
    --------
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
        raise InputError("thresholds must lie in [0, 1): the odds of a probability of 1 are infinite.")
    net_benefit = cell_metric_named("net_benefit").cells
    everyone = tally.cells(np.full(len(at), tally.positives), np.full(len(at), tally.negatives))
    return DecisionCurve(
        at,
        net_benefit(*tally.cells(*acted_on(tally, at)), odds_at=at),
        net_benefit(*everyone, odds_at=at),
        tally.prevalence,
    )
