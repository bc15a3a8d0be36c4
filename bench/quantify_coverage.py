"""``python -m bench.quantify_coverage``: do intervals of prevalences hold the truth? Beside resampling the target alone.

Scores are the posteriors of N(±1.5, 1) at one half, validation samples have 100 rows of each class, targets are drawn at
another prevalence. The docs show the table; the test suite runs a short version.
"""

import argparse
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import tallymark as tm
from tallymark.quantify.estimation.problem import problem_of
from tallymark.quantify.kernels.samples import Samples
from tallymark.registry import QUANTIFIERS

DISTANCE = 1.5
VALIDATION = 200
TARGETS = (500, 5_000)
SHARES = (0.2, 0.02)
#: What is biased by design covers nothing.
METHODS = tuple(name for name, method in QUANTIFIERS.items() if method.shift_proof)


def draw(rng, y):
    return 1 / (1 + np.exp(-2 * DISTANCE * rng.normal(DISTANCE * (2 * y - 1))))


def one(task):
    """Which intervals of one simulated data set hold the truth."""
    names, rows, share, seed, naive = task
    warnings.simplefilter("ignore", tm.GuardWarning)
    rng = np.random.default_rng([seed, rows, round(1000 * share)])
    y = np.arange(VALIDATION) % 2
    validation = tm.tally(y, draw(rng, y))
    target = tm.tally(scores=draw(rng, (rng.random(rows) < share).astype(int)))
    found = {}
    for name in names:
        trained_at = {"training_prevalence": 0.5} if QUANTIFIERS[name].uses_training_prevalence else {}
        entry = tm.quantify.estimate(name, validation, target, replicates=400, seed=seed, **trained_at)
        found[name] = bool(entry.low <= share <= entry.high)
        found[name, "width"] = entry.high - entry.low
        if naive:
            low, high = np.quantile(_target_alone(name, validation, target, rng), [0.025, 0.975])
            found[name, "target alone"] = bool(low <= share <= high)
    return found


def _target_alone(name, validation, target, rng):
    """Shares in resamples of the target, with the validation sample taken as the truth."""
    problem = problem_of(QUANTIFIERS[name], validation, [target], None, 0.5)
    scores = target.runs[0].scores
    index = rng.integers(0, len(scores), (200, len(scores)))
    return problem.shares(problem.clean(target), Samples(scores, index=index))


def coverages(names, rows, share, repeats, *, naive=False, workers=1):
    """Share of intervals that hold the truth, by method."""
    tasks = [(names, rows, share, seed, naive) for seed in range(repeats)]
    held = Counter()
    if workers == 1:
        results = map(one, tasks)
    else:
        with ProcessPoolExecutor(workers) as pool:
            results = list(pool.map(one, tasks, chunksize=4))
    for result in results:
        held.update(result)
    return {key: held[key] / repeats for key in held}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=500)
    parser.add_argument("--methods", nargs="*", default=METHODS)
    options = parser.parse_args()
    print("| method | " + " | ".join(f"{rows} rows, {100 * share:g} %" for rows in TARGETS for share in SHARES) + " |")
    print("|---" * 5 + "|")
    columns = [
        coverages(tuple(options.methods), rows, share, options.repeats, naive=True, workers=2)
        for rows in TARGETS for share in SHARES
    ]  # fmt: skip
    for name in options.methods:
        cells = [f"{100 * c[name]:.1f} ({100 * c[name, 'target alone']:.0f})" for c in columns]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
