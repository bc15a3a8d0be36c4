"""What choosing a threshold on the same rows that judge it does."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tallymark._show import Row, Shown, plain
from tallymark.errors import InputError, Undefined
from tallymark.intervals.base import Seed, checked_level
from tallymark.intervals.draws import Draws
from tallymark.intervals.replicates import over_replicates
from tallymark.registry import METRICS, parse_policy
from tallymark.summaries.tally import Tally


@dataclass(frozen=True, repr=False)
class ChosenThreshold(Shown):
    """A policy's threshold, how far it moves from sample to sample, and how much it flatters itself.

    `apparent` is the metric at the threshold on the rows that chose it, `optimism` what that is too good by on
    average, `corrected` the difference.
    """

    policy: str
    threshold: float
    low: float
    high: float
    metric: str
    apparent: float
    optimism: float
    corrected: float
    level: float
    replicates: int

    def heading(self) -> str:
        """The policy."""
        return f"Threshold by {self.policy}, {self.replicates} resamples"

    def rows(self) -> list[Row]:
        """One line."""
        return [{name: value for name, value in asdict(self).items() if name not in {"policy", "replicates"}}]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {name: plain(value) for name, value in asdict(self).items()}


def chosen_threshold(
    tally: Tally, policy: str, *, metric: str = "f1", level: float = 0.95, replicates: int = 500, seed: Seed = 0,
    jobs: int | None = None,
) -> ChosenThreshold:  # fmt: skip
    r"""Resample the choice of a threshold: its spread, and the optimism of judging it on the same rows.

    In each resample the policy chooses anew; the metric there, less the metric of that threshold on the original
    rows, is the optimism, and its mean is taken off the apparent value. Efron & Gong (1983), Am. Stat. 37(1);
    Harrell, Lee & Mark (1996), Stat. Med. 15(4).

    >>> import numpy as np, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(200) < 0.2
    >>> found = tm.intervals.chosen_threshold(tm.tally(y, rng.normal(y * 1.0)), "f1")
    >>> found.corrected < found.apparent
    True
    """
    if not isinstance(tally, Tally) or not tally.labelled or not tally.positives or not tally.negatives:
        raise InputError("chosen_threshold takes a labelled tally with rows of both classes: tm.tally(y, scores).")
    facts, share = METRICS[metric], checked_level(level)
    if facts.needs != "confusion":
        raise InputError(f"{metric} is not a metric at one threshold; take one such as f1 or balanced_accuracy.")
    if not isinstance(policy, str):
        raise InputError(f"policy is {policy!r}, expected a policy such as 'f1': a number is not chosen from the data.")
    chooser, numbers = parse_policy(policy)
    threshold = float(chooser.choose(tally, *numbers))

    def judged(draws: Draws) -> list[tuple[float, float]]:
        found = []
        for resample in draws.tallies_by_cell:
            try:
                cut = float(chooser.choose(resample, *numbers))
                found.append((cut, facts.compute(resample.at(cut)) - facts.compute(tally.at(cut))))
            except Undefined:
                continue
        return found

    pairs = [
        pair for block in over_replicates(tally, judged, replicates=replicates, seed=seed, jobs=jobs) for pair in block
    ]
    if len(pairs) < replicates / 2:
        raise Undefined(f"the policy {policy!r} or {metric} is undefined in most resamples")
    cuts, optimism = (np.array(column) for column in zip(*pairs, strict=True))
    tails = [(1.0 - share) / 2, (1.0 + share) / 2]
    low, high = (float(v) for v in np.quantile(cuts, tails, method="nearest"))
    apparent = facts.compute(tally.at(threshold))
    known = optimism[np.isfinite(optimism)]
    off = float(known.mean()) if len(known) else math.nan
    return ChosenThreshold(
        policy, threshold, low, high, facts.name, apparent, off, apparent - off, share, len(pairs)
    )  # fmt: skip
