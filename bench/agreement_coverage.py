"""Coverage of intervals of agreement: the default, and the usual ones on the same draws.

Worlds: a true class, of which the rarest has 3 to 50 %, and two to five raters who name it with a chance that depends on the class, else another one
(a neighbour, where classes are ordered); up to 30 % of the ratings missing; items independent or in clusters that share their class and how hard they
are. Columns: mean width and coverage of observed agreement, Cohen's kappa, Krippendorff's alpha, Gwet's AC, and kappa by linearisation with Student's t,
by the jackknife with t, and by the bootstrap of items.

    python -m bench.agreement_coverage --repeats 400
"""

from __future__ import annotations

import argparse
import math
import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

import tallymark as tm

NAMES = ("observed", "cohen_kappa", "krippendorff_alpha", "gwet_ac")


class World(NamedTuple):
    """How items are rated."""

    raters: int
    prevalences: tuple[float, ...]
    right: tuple[float, ...]
    missing: float = 0.0
    weights: str = "nominal"
    cluster_size: int = 1


WORLDS = {
    "two raters, even": World(2, (0.5, 0.5), (0.85, 0.85)),
    "two raters, 10 % class": World(2, (0.9, 0.1), (0.96, 0.75)),
    "two raters, 3 % class": World(2, (0.97, 0.03), (0.99, 0.85)),
    "two raters, 5 % class, hardly named": World(2, (0.95, 0.05), (0.98, 0.5)),
    "two raters, nearly complete": World(2, (0.8, 0.2), (0.998, 0.998)),
    "two raters, four classes": World(2, (0.5, 0.3, 0.15, 0.05), (0.9, 0.85, 0.8, 0.8)),
    "three raters, 8 % class, 25 % missing": World(3, (0.92, 0.08), (0.97, 0.8), 0.25),
    "four raters, three classes, 30 % missing": World(4, (0.5, 0.4, 0.1), (0.85, 0.85, 0.7), 0.3),
    "five raters, 3 % class": World(5, (0.97, 0.03), (0.995, 0.85)),
    "five raters, nearly complete": World(5, (0.9, 0.1), (0.999, 0.99), 0.1),
    "two raters, five grades, quadratic": World(2, (0.1, 0.2, 0.4, 0.2, 0.1), (0.75,) * 5, 0.0, "quadratic"),
    "three raters, five grades, ordinal": World(3, (0.05, 0.1, 0.3, 0.5, 0.05), (0.85,) * 5, 0.1, "ordinal"),
    "three raters, four grades, linear, 3 %": World(3, (0.67, 0.2, 0.1, 0.03), (0.93,) * 4, 0.2, "linear"),
    "two raters, clusters of 5": World(2, (0.8, 0.2), (0.93, 0.8), cluster_size=5),
    "three raters, clusters of 10": World(3, (0.7, 0.3), (0.92, 0.85), 0.1, cluster_size=10),
}


def sample(rng: np.random.Generator, world: World, n: int) -> tuple[Any, Any]:
    """Classes that raters gave, -1 where there is none, and the cluster of each item."""
    classes, size = len(world.prevalences), world.cluster_size
    clusters = -(-n // size)
    cluster = np.repeat(np.arange(clusters), size)[:n]
    truth = rng.choice(classes, n, p=world.prevalences)
    right = np.array(world.right)[truth]
    if size > 1:
        shared = rng.choice(classes, clusters, p=world.prevalences)[cluster]
        truth = np.where(rng.random(n) < 0.5, shared, truth)
        hard = rng.beta(2.0, 2.0, clusters)[cluster]
        right = 1.0 - 2.0 * hard * (1.0 - np.array(world.right)[truth])
    codes = np.repeat(truth[:, None], world.raters, axis=1)
    if world.weights == "nominal":
        other = (codes + rng.integers(1, classes, codes.shape)) % classes
    else:
        other = np.clip(codes + rng.choice([-1, 1], codes.shape), 0, classes - 1)
    codes = np.where(rng.random(codes.shape) < right[:, None], codes, other)
    return np.where(rng.random(codes.shape) < world.missing, -1, codes), cluster


def measured(codes: Any, cluster: Any, world: World) -> Any:
    """The agreement as users measure it."""
    data = {f"r{i}": np.where(column < 0, np.nan, column) for i, column in enumerate(codes.T)}
    raters = list(data)
    data["cluster"] = cluster
    return tm.raters.agreement(
        data, rater=raters, weights=world.weights, cluster="cluster" if world.cluster_size > 1 else None
    )


def kappas(codes: Any, weights: str, masses: Any) -> Any:
    """Kappa of reweighted items, for the rivals."""
    from tallymark.raters.coefficients import Agreements
    from tallymark.raters.ratings import read_ratings
    from tallymark.raters.weights import agreement_weights

    ratings = read_ratings(
        {f"r{i}": np.where(column < 0, np.nan, column) for i, column in enumerate(codes.T)}, None, None, None, None
    )
    matrix = agreement_weights(weights, ratings.patterns.classes, ordered=True)
    rated = (codes >= 0).any(axis=1)
    by_pattern = np.zeros((len(masses), len(ratings.patterns.mass)))
    np.add.at(by_pattern.T, ratings.pattern_of, masses[:, rated].T)
    return Agreements(ratings.patterns, matrix, by_pattern).coefficients()["cohen_kappa"].values


def rivals(codes: Any, world: World, kappa: Any, rng: np.random.Generator) -> dict[str, tuple[float, float]]:
    """Limits of kappa by the usual methods; independent items."""
    n = len(codes)
    t = float(stdtrit(n - 1, 0.975))
    left_out = kappas(codes, world.weights, 1.0 - np.eye(n))
    spread = math.sqrt((n - 1) / n * float(((left_out - left_out.mean()) ** 2).sum()))
    drawn = kappas(codes, world.weights, rng.multinomial(n, np.full(n, 1 / n), 400).astype(float))
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return {
        "linearised": (kappa.value - t * kappa.standard_error, kappa.value + t * kappa.standard_error),
        "jackknife": (kappa.value - t * spread, kappa.value + t * spread),
        "bootstrap": (float(low), float(high)),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 50, 100, 500])
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    compared = ("linearised", "jackknife", "bootstrap")
    print(
        f"{'world':42}{'items':>6}  "
        + " ".join(f"{name[:14]:>14}" for name in NAMES)
        + "  kappa by: "
        + " ".join(f"{name:>10}" for name in compared)
    )
    for place, (name, world) in enumerate(WORLDS.items()):
        rng = np.random.default_rng([asked.seed, place])
        truth = {
            key: one.value
            for key, one in measured(*sample(rng, world, 300_000), world._replace(cluster_size=1)).items()
        }
        for n in asked.sizes:
            hits, seen, width = (dict.fromkeys((*NAMES, *compared), 0.0) for _ in range(3))
            for _ in range(asked.repeats):
                codes, cluster = sample(rng, world, n)
                result = measured(codes, cluster, world)
                if len(result.classes) < len(world.prevalences) and world.weights != "nominal":
                    continue
                ends = {key: result[key].interval for key in NAMES}
                if world.cluster_size == 1 and n <= 100 and ends["cohen_kappa"] is not None:
                    ends |= rivals(codes, world, result["cohen_kappa"], rng)
                for key, limits in ends.items():
                    # A coefficient without a value promises nothing; AC depends on the number of classes seen.
                    if limits is None or (key == "gwet_ac" and len(result.classes) < len(world.prevalences)):
                        continue
                    true = truth[key if key in NAMES else "cohen_kappa"]
                    seen[key] += 1
                    hits[key] += limits[0] <= true <= limits[1]
                    width[key] += limits[1] - limits[0]

            def shown(key: str, hits: Any = hits, seen: Any = seen, width: Any = width) -> str:
                return f"{100 * hits[key] / seen[key]:.1f} ({width[key] / seen[key]:.3f})" if seen[key] else "–"

            usual = " ".join(f"{100 * hits[key] / seen[key]:10.1f}" if seen[key] else f"{'–':>10}" for key in compared)
            print(
                f"{name:42}{n:6d}  " + " ".join(f"{shown(key):>14}" for key in NAMES) + f"            {usual}",
                flush=True,
            )


if __name__ == "__main__":
    main()
