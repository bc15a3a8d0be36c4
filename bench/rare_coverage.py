"""``python -m bench.rare_coverage``: how often the interval of a rare count holds the truth, on generated texts."""

import argparse

import numpy as np

import tallymark as tm
from bench.rare import Texts

#: Labelled positives and negatives, target texts, prevalence of the target.
SETTINGS = [
    (200, 600, 10_000, 0.02),
    (200, 600, 10_000, 0.005),
    (200, 5_000, 20_000, 0.0023),
    (698, 1_628, 29_712, 0.0023),
]
METHODS = {
    "bootstrap": (tm.rare.bootstrap, {"machines": 50}),
    "class_weight_sweep": (tm.rare.class_weight_sweep, {"weights": [1.0, 10.0, 100.0], "machines": 3}),
    "ensemble": (tm.rare.ensemble, {"machines": 5, "ensembles": 2}),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.rare_coverage", description=__doc__)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    options = parser.parse_args()
    print(
        f"{'method':<20} {'labelled':>12} {'target':>8} {'share':>8} {'held':>7} {'mean':>8} {'truth':>6} {'width':>8}"
    )
    for name in options.methods:
        count, settings = METHODS[name]
        for positives, negatives, size, share in SETTINGS:
            held, estimates, widths = 0, [], []
            truth = round(share * size)
            for repeat in range(options.repeats):
                rng = np.random.default_rng([repeat, size])
                known = np.arange(positives + negatives) < positives
                target = rng.permutation(np.arange(size) < truth)
                seed = 10 * repeat
                found = count(Texts(known, seed + 1), known, Texts(target, seed + 2), seed=repeat, **settings).count
                held += found.count_low <= truth <= found.count_high
                estimates.append(found.count)
                widths.append(found.count_high - found.count_low)
            rows = f"{positives}+{negatives}"
            print(f"{name:<20} {rows:>12} {size:>8} {100 * share:>7.2f}% {100 * held / options.repeats:>6.1f}% "
                  f"{np.mean(estimates):>8.1f} {truth:>6} {np.mean(widths):>8.1f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
