"""Confidence limits under complete separation, where the sample has no variance."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from tallymark.errors import Undefined
from tallymark.registry import METRICS
from tallymark.summaries.run import Run
from tallymark.summaries.tally import Tally


def separation_limits(name: str, tally: Tally, level: float) -> tuple[float, float]:
    r"""Clopper–Pearson limits: the upper limit of the share of misranked rows of one class is moved to the wrong end.

    Of m rows that all are ranked right, up to :math:`1 - (\alpha/2)^{1/m}` of the population may be wrong;
    that share of the positives is put below everything, then that share of the negatives above everything. Where the
    classes overlap the limits are nan.
    """
    if not tally.separation:
        return math.nan, math.nan
    items = [METRICS[name].compute(tally)]
    upside_down = tally.separation < 0
    for side in (0, 1):
        wrong = 1.0 - ((1.0 - level) / 2) ** (1.0 / tally.runs[side].n_rows)
        try:
            items.append(
                METRICS[name].compute(
                    _with_wrong(tally, side, wrong, beyond=METRICS[name].rank_only, upside_down=upside_down)
                )
            )
        except Undefined:
            continue
    return (min(items), max(items)) if max(items) > min(items) else (math.nan, math.nan)


def _with_wrong(tally: Tally, side: int, wrong: float, *, beyond: bool, upside_down: bool) -> Tally:
    """The tally with a share of one class moved to the far end of all scores, or just beyond it."""
    to_the_top = (side == 0) != upside_down
    end = tally.range[int(to_the_top)]
    if beyond:
        end = math.nextafter(end, math.inf if to_the_top else -math.inf)
    runs = []
    for index, run in enumerate(tally.runs):
        scores, weights = run.scores.astype(np.float64), run.mass.astype(np.float64)
        if index == side:
            scores, weights = np.append(scores, end), np.append(weights * (1.0 - wrong), weights.sum() * wrong)
        runs.append(Run.of(scores, weights=weights))
    return replace(tally, runs=tuple(runs), grid=None)
