"""The threshold that a policy chooses in every resample, and metrics at these thresholds."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from tallymark._check import Floats
from tallymark._policies import parse_policy
from tallymark.errors import Undefined
from tallymark.inference.resampling.resamples import Resamples
from tallymark.inference.resampling.values import at_rates
from tallymark.registry import PARAMETERS, Metric
from tallymark.summaries.tally import Tally

#: True and false positives, positives and negatives, each for many thresholds.
Rates = tuple[Floats, Floats, Floats, Floats]


def chosen_in(draws: Resamples, policy: str) -> tuple[Floats, Rates]:
    """The policy's threshold in every resample, and the masses above it; nan where it is undefined."""
    chooser, numbers = parse_policy(policy)
    lines = np.full((5, len(draws)), np.nan)
    both = (draws.totals[0] > 0.0) & (draws.totals[1] > 0.0)
    for place in np.flatnonzero(both):
        resample = draws.tallies_by_cell[place]
        with contextlib.suppress(Undefined):
            cut = float(chooser.choose(resample, *numbers))
            lines[:, place] = cut, *masses_above(resample, cut)
    cuts, tp, fp, up, down = lines
    return cuts, (tp, fp, up, down)


def masses_above(tally: Tally, cut: float) -> tuple[float, float, float, float]:
    """Positives and negatives at or above a threshold, and all of them."""
    above = [
        float(run.mass_from(np.array(np.searchsorted(run.scores, run.scores.dtype.type(cut), "left"))))
        for run in tally.runs
    ]
    return above[1], above[0], float(tally.positives), float(tally.negatives)


def at_choices(facts: Metric, cuts: Floats, rates: Rates, given: Mapping[str, float]) -> Floats:
    """A metric at many thresholds; a parameter that is the threshold itself follows each of them."""
    settings: dict[str, Any] = {**facts.parameters, **given}
    parameter = facts.threshold_parameter
    if parameter is not None and parameter not in given:
        limits = PARAMETERS[parameter]
        settings[parameter] = np.where((cuts >= limits.low) & (cuts <= limits.high), cuts, np.nan)
    return at_rates(facts, *rates, settings)
