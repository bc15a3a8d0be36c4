"""How often 95 % limits of clustered rows hold the truth, and what limits that take rows one by one do.

``python -m bench.cluster_coverage [--repeats 200]`` draws samples of clusters: copies (all rows of a cluster have its score and label),
scores (labels vary, scores have an effect of the cluster), both, and copies of very different sizes.
"""

from __future__ import annotations

import argparse
import math
import warnings
from typing import Any

import numpy as np

import tallymark as tm

METRICS = (
    "auroc",
    "average_precision",
    "brier",
    "log_loss",
    "ks",
    "spcc",
    "accuracy",
    "recall",
    "precision",
    "f1",
    "mcc",
)
KINDS = ("copies", "scores", "both", "skewed")


def sample(rng: np.random.Generator, clusters: int, kind: str) -> tuple[Any, Any, Any]:
    """Cluster, label and probability of every row."""
    sizes = rng.integers(1, 20, clusters)
    if kind == "skewed":
        sizes = np.minimum((rng.pareto(1.2, clusters) * 5).astype(int) + 1, 500)
    c = np.repeat(np.arange(clusters), sizes)
    own = rng.random(clusters) < 0.35
    if kind in {"copies", "skewed"}:
        y, s = own[c], rng.normal(1.3 * own)[c]
    elif kind == "scores":
        y = rng.random(len(c)) < rng.beta(1.5, 2.5, clusters)[c]
        s = 0.7 * rng.normal(1.3 * y) + rng.normal(0, 0.7, clusters)[c]
    else:
        y = np.where(rng.random(len(c)) < 0.9, own[c], rng.random(len(c)) < 0.35)
        s = rng.normal(1.3 * y) + rng.normal(0, 1, clusters)[c]
    return c, y, 1 / (1 + np.exp(1.3 - 1.3 * s))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=200)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'rows':8}{'clusters':>9}  " + " ".join(f"{name[:9]:>9}" for name in METRICS) + "  auroc, rows one by one")
    for clusters in (10, 20, 40, 100):
        for kind in KINDS:
            rng = np.random.default_rng([clusters, KINDS.index(kind)])
            _, y, p = sample(rng, 60_000, kind)
            truth = {
                name: m.value
                for name, m in tm.evaluate(tm.tally(y, p), threshold=0.5, metrics=METRICS, level=None).items()
            }
            hits, seen, naive = dict.fromkeys(METRICS, 0), dict.fromkeys(METRICS, 0), 0
            for _ in range(asked.repeats):
                c, y, p = sample(rng, clusters, kind)
                if y.all() or not y.any():
                    continue
                found = tm.evaluate(tm.tally(y, p, clusters=c), threshold=0.5, metrics=METRICS)
                for name, m in found.items():
                    # A metric without limits, or without a value, promises nothing.
                    if m.low is not None and not math.isnan(m.value):
                        seen[name] += 1
                        hits[name] += m.low <= truth[name] <= m.high
                alone = tm.evaluate(tm.tally(y, p), metrics=["auroc"])["auroc"]
                naive += alone.low is not None and alone.low <= truth["auroc"] <= alone.high
            shares = " ".join(f"{100 * hits[name] / max(seen[name], 1):9.1f}" for name in METRICS)
            print(f"{kind:8}{clusters:9d}  {shares}  {100 * naive / asked.repeats:.0f}", flush=True)


if __name__ == "__main__":
    main()
