"""Comparison of outcomes: size of the tests where systems are equally good, and coverage of differences and means.

Worlds: pass rates .5 to .98, systems that agree more or less on an item; grades 1 to 5; repeated runs of an item; clusters. Columns: share of tests at
5 % that find a difference although there is none, coverage of the difference, coverage of the first system's mean.

    python -m bench.outcome_coverage --repeats 2000
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

import tallymark as tm

WORLDS: dict[str, dict[str, Any]] = {
    "0/1, rate .5": {"rate": 0.5},
    "0/1, rate .8": {"rate": 0.8},
    "0/1, rate .95": {"rate": 0.95},
    "0/1, rate .98": {"rate": 0.98},
    "grades 1 to 5": {"rate": 0.7, "grades": True},
    "4 runs of an item, rate .8": {"rate": 0.8, "runs": 4},
    "4 runs of an item, rate .95": {"rate": 0.95, "runs": 4},
    "clusters of 10, rate .8": {"rate": 0.8, "cluster": 10},
}


def sample(
    rng: np.random.Generator, n: int, rate: float, runs: int = 1, cluster: int = 1, *, grades: bool = False
) -> Any:
    """Outcomes of two equally good systems that share how hard an item is; every 1 in 5 of its variance is a cluster's."""
    items = max(n // runs, 2)
    groups = np.arange(items) // cluster
    share = 0.2 if cluster > 1 else 0.0
    hard = math.sqrt(0.5) * rng.normal(size=items) + math.sqrt(share) * rng.normal(size=groups.max() + 1)[groups]
    item = np.repeat(np.arange(items), runs)
    # Systems have strengths and weaknesses of their own in a cluster.
    latent = [
        hard[item]
        + math.sqrt(share) * rng.normal(size=groups.max() + 1)[groups][item]
        + math.sqrt(0.5 - share) * rng.normal(size=len(item))
        for _ in range(2)
    ]
    spread = 1.0 if cluster == 1 else math.sqrt(1.0 + share)
    if grades:
        values = [np.clip(np.rint(5.0 * ndtr(one) + 0.5), 1, 5) for one in latent]
    else:
        values = [(one / spread < float(ndtri(rate))).astype(float) for one in latent]
    return tm.outcomes(
        {"a": values[0], "b": values[1]},
        items=item if runs > 1 else None,
        clusters=groups[item] if cluster > 1 else None,
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=11)
    asked = parser.parse_args()
    print(f"{'world':30}{'rows':>6}{'size':>8}{'difference':>12}{'mean':>8}{'no test':>9}")
    for place, (name, world) in enumerate(WORLDS.items()):
        rng = np.random.default_rng([asked.seed, place])
        true = 3.0 if world.get("grades") else world["rate"]
        for n in (40, 100, 200, 500):
            errs = held = covered = undefined = 0
            for _ in range(asked.repeats):
                try:
                    comparison = tm.compare(sample(rng, n, **world))
                except tm.Undefined:
                    # A difference that is the same in every one of a few clusters; no test is made.
                    undefined += 1
                    continue
                errs += comparison.p_value <= 0.05
                held += comparison.low <= 0.0 <= comparison.high
                covered += comparison.rates["a"].low <= true <= comparison.rates["a"].high
            share = 100 / max(asked.repeats - undefined, 1)
            print(
                f"{name:30}{n:6d}{share * errs:8.1f}{share * held:12.1f}{share * covered:8.1f}{undefined:9d}",
                flush=True,
            )


if __name__ == "__main__":
    main()
