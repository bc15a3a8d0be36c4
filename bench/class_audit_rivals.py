"""Width of the limits of an audit of K classes beside the narrowest rival that covers, where strata are the predicted classes.

``python -m bench.class_audit_rivals [--repeats 300] [--seed 0] [--design TEXT]`` prints, for each design, the ratio of our mean width to that of the
narrowest rival that holds the truth of every class in 93 % of samples or more, for the count and the recall: the mean and the largest over the
classes, and the lowest coverage over the classes of ours and of each rival. Rivals are posteriors of each stratum's shares
(Dirichlet with Jeffreys' prior of 1/2 a class, and Perks' of 1/K), and Wilson's and Clopper and Pearson's limits of each stratum put together (MOVER).
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bench.class_audit_coverage import DESIGNS, drawn, truth_of
from tallymark.audits.class_estimates import AuditEstimate
from tallymark.audits.class_estimation import estimates_of
from tallymark.inference.limits.mover import ratio_limits
from tallymark.inference.limits.proportions import limits

Floats = NDArray[np.float64]

#: A limit by rival, metric and class.
Limits = dict[tuple[str, str, int], tuple[float, float]]

DRAWS, HELD = 2_000, 0.93


def of_ours(audit: AuditEstimate) -> Limits:
    """Our limits."""
    return {
        ("ours", name, label): (one.low, one.high)
        for name, measures in (("count", audit.counts), ("recall", audit.recall))
        for label, one in measures.items()
        if one.reason is None
    }


def posterior(name: str, found: Floats, sizes: Floats, prior: float, rng: np.random.Generator) -> Limits:
    """Quantiles of the posterior of independent strata; rows that were checked are known."""
    left = sizes - found.sum(axis=1)
    rest = np.stack([rng.dirichlet(row + prior, DRAWS) for row in found], axis=1)
    whole = found + left[:, None] * rest
    count = whole.sum(axis=1)
    out: Limits = {}
    for k in range(found.shape[1]):
        out[name, "count", k] = tuple(np.quantile(count[:, k], (0.025, 0.975)))
        if k < len(found):
            recall = whole[:, k, k] / np.maximum(count[:, k], 1e-9)
            out[name, "recall", k] = tuple(np.quantile(recall, (0.025, 0.975)))
    return out


def put_together(name: str, method: str, found: Floats, sizes: Floats) -> Limits:
    """Limits of each stratum put together (MOVER), of the count and of the ratio of missed to hits."""
    checked = found.sum(axis=1)
    out: Limits = {}
    for k in range(found.shape[1]):
        share = found[:, k] / checked
        low, high = limits(found[:, k], checked, 0.95, method)
        low, high = (np.where(checked >= sizes, share, end) for end in (low, high))

        def total(
            kept: NDArray[np.bool_], low: Floats = low, high: Floats = high, share: Floats = share
        ) -> tuple[float, float, float]:
            value = float((sizes * share)[kept].sum())
            below, above = (np.sqrt((((sizes * (end - share))[kept]) ** 2).sum()) for end in (low, high))
            return value, value - float(below), value + float(above)

        of_class = np.arange(len(sizes)) == k
        everything, hits, missed = total(np.ones(len(sizes), bool)), total(of_class), total(~of_class)
        out[name, "count", k] = everything[1:]
        if hits[0] > 0.0:
            least, most = ratio_limits(missed, hits)
            out[name, "recall", k] = (1.0 / (1.0 + most) if np.isfinite(most) else 0.0, 1.0 / (1.0 + max(least, 0.0)))
    return out


def every(found: Floats, sizes: Floats, rng: np.random.Generator) -> Iterator[Limits]:
    """The limits of all rivals."""
    yield posterior("Jeffreys", found, sizes, 0.5, rng)
    yield posterior("Perks", found, sizes, 1.0 / found.shape[1], rng)
    yield put_together("Wilson", "wilson", found, sizes)
    yield put_together("Clopper-Pearson", "clopper_pearson", found, sizes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--design", default="", help="part of the names of the designs to run")
    options = parser.parse_args()
    for place, (design, (cells, checked)) in enumerate(DESIGNS.items()):
        sizes = cells.sum(axis=(1, 2)).astype(float)
        if options.design not in design or not all(
            (np.delete(part, h, axis=0) == 0).all() for h, part in enumerate(cells)
        ):
            continue
        rng, truth = np.random.default_rng([options.seed, place]), truth_of(cells)
        held, width, number = defaultdict(int), defaultdict(float), defaultdict(int)
        for _ in range(options.repeats):
            sample = drawn(cells, checked, rng, known_calls=True)
            ours = of_ours(estimates_of(sample, 0.95))
            found = np.zeros((len(sizes), cells.shape[2]))
            np.add.at(found, (sample.predicted, sample.truth), 1.0)
            kept = sizes > 0
            for part in (ours, *every(found[kept], sizes[kept], rng)):
                for key, (low, high) in part.items():
                    if ("ours", *key[1:]) not in ours:
                        continue
                    value = truth[key[1:]]
                    number[key] += 1
                    held[key] += low - 1e-9 <= value <= high + 1e-9
                    width[key] += high - low
        for metric in ("count", "recall"):
            classes = sorted({key[2] for key in number if key[:2] == ("ours", metric)})
            rivals = sorted({key[0] for key in number} - {"ours"})
            lowest = {
                name: min(held[name, metric, k] / max(number[name, metric, k], 1) for k in classes)
                for name in ("ours", *rivals)
            }
            mean = {key: total / number[key] for key, total in width.items()}
            covering = [name for name in rivals if lowest[name] >= HELD]
            best = [min((mean[name, metric, k] for name in covering), default=0.0) for k in classes]
            ratios = [mean["ours", metric, k] / one for k, one in zip(classes, best, strict=True) if one > 0.0]
            shown = f"{np.mean(ratios):.2f} (largest {max(ratios):.2f})" if ratios else "no rival covers"
            print(
                f"{design[:46]:46} {metric:6} {shown:22} "
                + "  ".join(f"{name} {100 * value:.0f}" for name, value in lowest.items()),
                flush=True,
            )


if __name__ == "__main__":
    main()
