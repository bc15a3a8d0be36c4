"""``python -m bench.groups_under_null``: how often tests at 5 % calls groups different that are alike, and power."""

import argparse
import warnings

import numpy as np
import pandas as pd

import tallymark as tm

METRICS = ("auroc", "average_precision", "f1", "recall", "precision", "specificity", "npv")
#: Groups, positives and negatives of each (on average), distance of the classes in standard deviations.
NULLS = [
    (k, *size, gap) for k in (3, 12) for size in ((20, 20), (20, 120), (30, 100), (200, 800)) for gap in (1.0, 2.5)
] + [(40, 30, 120, 1.5)]


def evaluated(rng, groups, positives, negatives, gap, odd=None):
    rows = positives + negatives
    label = np.repeat(np.arange(groups), rows)
    y = rng.random(len(label)) < positives / rows
    gaps = np.where(label == 0, gap if odd is None else odd, gap)
    frame = pd.DataFrame({"y": y, "p": rng.normal(y * gaps), "g": label})
    return tm.evaluate(tm.tally(frame, label="y", score="p", by="g"), metrics=METRICS, threshold=gap / 2)


def rejected(cell, repeats, **options):
    found = dict.fromkeys(METRICS, 0)
    for i in range(repeats):
        one = evaluated(np.random.default_rng([0, i]), *cell, **options)
        for metric in METRICS:
            found[metric] += tm.intervals.heterogeneity(one, metric).p_value < 0.05
    return [100 * found[metric] / repeats for metric in METRICS]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=200)
    repeats = parser.parse_args().repeats
    warnings.simplefilter("ignore")
    print(f"| groups alike: % called different | {' | '.join(METRICS)} |\n|---|{'---:|' * len(METRICS)}")
    for cell in NULLS:
        k, up, down, gap = cell
        name = f"{k} groups of {up} + {down}, {gap} sd apart"
        print(f"| {name} | " + " | ".join(f"{v:.1f}" for v in rejected(cell, repeats)) + " |", flush=True)
    print(
        f"\n| one group 1 sd apart, the others 2: power in % | {' | '.join(METRICS)} |\n|---|{'---:|' * len(METRICS)}"
    )
    for cell in [(k, *size, 2.0) for k in (3, 12) for size in ((30, 100), (200, 800))]:
        name = f"{cell[0]} groups of {cell[1]} + {cell[2]}"
        print(f"| {name} | " + " | ".join(f"{v:.1f}" for v in rejected(cell, repeats, odd=1.0)) + " |", flush=True)


if __name__ == "__main__":
    main()
