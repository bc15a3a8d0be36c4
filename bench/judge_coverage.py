"""Coverage of what ``tm.raters.judge`` estimates, and size of its test of two systems.

Worlds: pass rates of .5 to .99, judges from useless to nearly perfect, 40 to 500 labelled items of 1 000 or 2 000; labels drawn at random, half
among those judged pass and half among those judged fail, or by whole clusters of equal or very unequal size. Columns: coverage of the corrected rate,
of the judge's sensitivity and specificity (samples in which they are defined), of the corrected difference of two systems, mean widths of the first and
the last, and the share of samples in which equal systems are told apart. Grades are of 1 to 5.

    python -m bench.judge_coverage --repeats 400
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any, NamedTuple

import numpy as np

import tallymark as tm


class World(NamedTuple):
    """Items, labels, and judge."""

    n: int
    labelled: int
    rates: tuple[float, float]
    sensitivity: float
    specificity: float
    design: str = "random"


JUDGES = {"useless": (0.5, 0.5), "fair": (0.85, 0.7), "lenient": (0.98, 0.5), "excellent": (0.98, 0.95)}
RATES = {"even": (0.5, 0.5), "apart": (0.8, 0.7), "high": (0.9, 0.9), "nearly all": (0.98, 0.98)}


def worlds() -> list[World]:
    """Every world that is tried."""
    made = [
        World(n, labelled, rates, *judge)
        for n, labelled in ((1_000, 40), (1_000, 150), (2_000, 500))
        for rates in RATES.values()
        for judge in JUDGES.values()
    ]
    made += [World(1_000, labelled, RATES["high"], *JUDGES["fair"], "by verdict") for labelled in (60, 200)]
    made += [World(1_000, labelled, RATES["apart"], *JUDGES["lenient"], "by verdict") for labelled in (60, 200)]
    made += [World(1_000, 150, rates, *JUDGES["fair"], "clusters") for rates in (RATES["even"], RATES["high"])]
    made += [World(1_000, 150, rates, *JUDGES["fair"], "unequal clusters") for rates in (RATES["even"], RATES["high"])]
    return made


def systems(rng: np.random.Generator, world: World) -> tuple[list[Any], dict[str, Any]]:
    """True verdicts of two systems on the same items, and the columns of a file."""
    n, clustered = world.n, "clusters" in world.design
    size = np.ones(n, np.int64)
    if clustered:
        size = np.full(n, 10) if world.design == "clusters" else np.tile([50] + [4] * 70, n // 330 + 1)
    cluster = np.repeat(np.arange(len(size)), size)[:n]
    mood = rng.normal(size=cluster.max() + 1)[cluster] if clustered else np.zeros(n)
    shared = rng.normal(size=n)
    truths, verdicts = [], []
    for rate in world.rates:
        z = np.sqrt(0.5) * shared + np.sqrt(0.5) * rng.normal(size=n)
        z = np.sqrt(0.7) * z + np.sqrt(0.3) * mood if clustered else z
        truth = z <= _quantile(rate)
        truths.append(truth)
        verdicts.append(np.where(truth, rng.random(n) < world.sensitivity, rng.random(n) >= world.specificity))
    seen = _labelled(rng, world, verdicts[0], cluster)
    columns: dict[str, Any] = {"cluster": cluster}
    for name, truth, verdict in zip("ab", truths, verdicts, strict=True):
        columns |= {f"j{name}": verdict.astype(int), f"h{name}": np.where(seen, truth, np.nan)}
    return truths, columns


def _quantile(rate: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(rate))


def _labelled(rng: np.random.Generator, world: World, verdict: Any, cluster: Any) -> Any:
    n = len(verdict)
    if "clusters" in world.design:
        order = rng.permutation(cluster.max() + 1)
        sizes = np.bincount(cluster)[order]
        return np.isin(cluster, order[: int(np.searchsorted(np.cumsum(sizes), world.labelled)) + 1])
    if world.design == "random":
        return rng.permutation(n) < world.labelled
    seen = np.zeros(n, np.bool_)
    for side in (True, False):
        rows = np.flatnonzero(verdict == side)
        seen[rng.permutation(rows)[: world.labelled // 2]] = True
    return seen


def held(measure: Any, truth: float) -> float:
    """Whether the limits hold the truth; nan where there are none."""
    return float("nan") if measure is None or measure.interval is None else float(measure.low <= truth <= measure.high)


def one_sample(rng: np.random.Generator, world: World) -> list[float]:
    """What one sample adds to each column."""
    (a, b), columns = systems(rng, world)
    options = {"by verdict": {"stratum": "ja"}, "random": {}}.get(world.design, {"cluster": "cluster"})
    one = tm.raters.judge(columns, judge="ja", human="ha", pos_label=1, **options)
    both = tm.raters.judge(columns, judge=["ja", "jb"], human=["ha", "hb"], pos_label=1, **options).difference
    judged = columns["ja"] == 1
    sensitivity = world.sensitivity if world.design == "random" else judged[a].mean()
    specificity = world.specificity if world.design == "random" else (~judged[~a]).mean()
    gap = float(a.mean() - b.mean())
    width = float("nan") if one.corrected.interval is None else one.corrected.high - one.corrected.low
    of_gap = float("nan") if both.interval is None else both.high - both.low
    # Equal rates are those of all items, of which these are a sample.
    options["population"] = "items"
    of_all = tm.raters.judge(columns, judge=["ja", "jb"], human=["ha", "hb"], pos_label=1, **options).difference
    told_apart = float(of_all.parameters.get("p_value", 1.0) < 0.05)
    return [
        held(one.corrected, a.mean()), held(one.sensitivity, sensitivity), held(one.specificity, specificity),
        held(both, gap), width, of_gap, told_apart if world.rates[0] == world.rates[1] else float("nan"),
    ]  # fmt: skip


def graded(rng: np.random.Generator, labelled: int, middle: float) -> list[float]:
    """Coverage and width of a corrected mean grade."""
    n = 1_000
    truth = np.clip(np.rint(rng.normal(middle, 1.0, n)), 1, 5)
    verdict = np.clip(truth + rng.choice([-1, 0, 0, 1, 1], n), 1, 5)
    human = np.where(rng.permutation(n) < labelled, truth, np.nan)
    one = tm.raters.judge({"j": verdict, "h": human}, judge="j", human="h", scale="grades").corrected
    return [held(one, truth.mean()), one.high - one.low]


def main() -> None:
    """Print a line per world."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=400)
    parser.add_argument("--seed", type=int, default=20261118)
    parser.add_argument("--design", default=None, help="only this way of labelling")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        "design             n labelled rates       judge        corrected  sens.  spec.  difference  widths       size"
    )
    with np.errstate(invalid="ignore"):
        for place, world in enumerate(one for one in worlds() if given.design in (None, one.design)):
            rng = np.random.default_rng([given.seed, place])
            table = np.nanmean([one_sample(rng, world) for _ in range(given.repeats)], axis=0)
            cover = "  ".join(f"{100 * value:6.1f}" for value in table[:4])
            print(
                f"{world.design:16} {world.n:5} {world.labelled:5}  {world.rates}  {world.sensitivity, world.specificity}  {cover}   "
                f"{table[4]:.3f} {table[5]:.3f}   {100 * table[6]:5.1f}",
                flush=True,
            )
    for labelled in (40, 100, 300):
        for middle in (3.0, 4.7):
            rng = np.random.default_rng([given.seed, labelled])
            cover, width = np.mean([graded(rng, labelled, middle) for _ in range(given.repeats)], axis=0)
            print(f"grades around {middle}, {labelled} labelled: {100 * cover:.1f}, width {width:.3f}", flush=True)


if __name__ == "__main__":
    main()
