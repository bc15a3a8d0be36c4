"""Do 95 % intervals hold the truth 95 % of the time, and do tests err 5 % of the time? By simulation.

``make coverage`` prints the tables of the docs; the test suite runs a short version of the same functions.
"""

import argparse
import sys
import warnings
from collections import Counter

import numpy as np
from scipy import integrate, special, stats

import tallymark as tm
from tallymark.metrics.expressions import to_numpy
from tallymark.registry import METRICS

#: Negatives are N(0, 1), positives N(DISTANCE, 1); the threshold lies where recall is 0.77.
DISTANCE = 1.5
THRESHOLD = 0.75

POSITIVES = (20, 50, 200)
PREVALENCES = (0.5, 0.05, 0.002)
METRICS_SHOWN = ("auroc", "average_precision", "spcc", "precision", "f1", "mcc", "balanced_accuracy")


def truth(name, prevalence, scores="raw"):
    """The metric of the whole population at a prevalence."""
    if name == "auroc":
        return float(special.ndtr(DISTANCE / np.sqrt(2)))
    if name == "average_precision":
        odds = (1 - prevalence) / prevalence
        return integrate.quad(
            lambda x: stats.norm.pdf(x - DISTANCE) * special.ndtr(DISTANCE - x)
            / (special.ndtr(DISTANCE - x) + odds * special.ndtr(-x)), -8, 10, limit=200)[0]  # fmt: skip
    if name == "spcc":
        means, squares = zip(*(_moments(centre, prevalence, scores) for centre in (0.0, DISTANCE)), strict=True)
        spread = [b - a * a for a, b in zip(means, squares, strict=True)]
        gap, share = means[1] - means[0], prevalence * (1 - prevalence)
        within = (1 - prevalence) * spread[0] + prevalence * spread[1]
        return float(np.sqrt(share) * gap / np.sqrt(share * gap**2 + within))
    tpr, fpr = special.ndtr(DISTANCE - THRESHOLD), special.ndtr(-THRESHOLD)
    cells = prevalence * tpr, (1 - prevalence) * fpr, prevalence * (1 - tpr), (1 - prevalence) * (1 - fpr)
    return float(to_numpy(METRICS[name].expression)(*cells))


def _moments(centre, prevalence, scores):
    return [
        integrate.quad(lambda x, p=p: stats.norm.pdf(x - centre) * shown(x, prevalence, scores) ** p, -9, 11, limit=200)[0]
        for p in (1, 2)
    ]  # fmt: skip


def shown(x, prevalence, scores):
    """A score as it is, or as the probability it stands for."""
    if scores == "raw":
        return x
    return special.expit(DISTANCE * x - DISTANCE**2 / 2 + special.logit(prevalence))


def sample(rng, positives, prevalence, scores="raw", weights=None):
    """A stratified sample as a tally."""
    negatives = round(positives / prevalence) - positives
    x = np.concatenate([rng.normal(size=negatives), rng.normal(DISTANCE, size=positives)])
    y = np.concatenate([np.zeros(negatives, np.int64), np.ones(positives, np.int64)])
    return tm.tally(y, shown(x, prevalence, scores), weights=None if weights is None else weights(rng, x))


def coverages(names, positives, prevalence, repeats, seed=0, scores="raw", weights=None, intervals=None):
    """Share of simulated 95 % intervals that hold the truth, by metric (and by method, if `intervals` gives several)."""
    rng = np.random.default_rng([seed, positives, round(1 / prevalence)])
    wanted = {name: truth(name, prevalence, scores) for name in names}
    held = Counter()
    for i in range(repeats):
        tally = sample(rng, positives, prevalence, scores, weights).at_prevalence(prevalence)
        for key, (low, high) in (intervals or default_intervals)(tally, names, i).items():
            held[key] += low <= wanted[key[0]] <= high
    return {key: n / repeats for key, n in held.items()}


def default_intervals(tally, names, _):
    found = tm.evaluate(tally, metrics=names, threshold=THRESHOLD)
    return {(name,): found[name].interval or (np.nan, np.nan) for name in names}


def bootstrap_intervals(tally, names, seed):
    found = tm.intervals.bootstrap(tally, names, threshold=THRESHOLD, replicates=1_000, seed=seed)
    ends = {(n, m): found.interval(n, method=m) for n in names for m in ("percentile", "bca")}
    return {key: (interval.low, interval.high) for key, interval in ends.items()}


def coverage(name, positives, prevalence, repeats, **options):
    """The same for one metric and its default interval."""
    return coverages([name], positives, prevalence, repeats, **options).get((name,), 0.0)


def null_panel(rng, positives, negatives):
    """Two models that are equally good, and agree in part."""
    y = np.concatenate([np.zeros(negatives, np.int64), np.ones(positives, np.int64)])
    common = rng.normal(size=len(y))
    return tm.panel(y, {m: DISTANCE * y + (common + rng.normal(size=len(y))) / np.sqrt(2) for m in "ab"})


def size(repeats, positives, negatives, seed=0, **options):
    """Share of paired tests that reject at 5 % where there is no difference."""
    rng = np.random.default_rng([seed, positives, negatives])
    return np.mean(
        [tm.compare(null_panel(rng, positives, negatives), **options).p_value < 0.05 for _ in range(repeats)]
    )


def _print_row(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def _table(title, names, repeats, prevalences=PREVALENCES, **options):
    print(f"\n{title}\n")
    heads = [(p, n) for p in prevalences for n in POSITIVES]
    columns = []
    for prevalence, positives in heads:
        if sys.stderr.isatty():
            print(f"\r{title[:40]} {100 * prevalence:g} %, {positives}    ", end="", file=sys.stderr)
        times = max(200, repeats // 4) if positives / prevalence > 20_000 else repeats
        columns.append(coverages(names, positives, prevalence, times, **options))
    _print_row(["metric", *(f"{100 * p:g} %, {n}" for p, n in heads)])
    _print_row(["---", *["---:"] * len(heads)])
    for key in sorted({key for column in columns for key in column}, key=lambda key: (names.index(key[0]), key)):
        _print_row([", ".join(key), *(f"{100 * column.get(key, 0.0):.1f}" for column in columns)])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=2_000)
    repeats = parser.parse_args().repeats
    warnings.simplefilter("ignore", tm.GuardWarning)
    names, few = list(METRICS_SHOWN), max(200, repeats // 5)
    _table("Default intervals: share that holds the truth (prevalence, positives)", names, repeats)
    _table("The same of probabilities instead of raw scores", ["spcc"], repeats, scores="probability")
    _table("Bootstrap", names, few, PREVALENCES[:2], intervals=bootstrap_intervals)
    print("\nPaired tests at 5 % where there is no difference\n")
    _print_row(["test", "50 + 450 rows", "200 + 800 rows"])
    _print_row(["---", "---:", "---:"])
    tests = {
        "DeLong (auroc)": (repeats, {"metric": "auroc"}),
        "influence (average precision)": (repeats, {"metric": "average_precision"}),
        "influence (spcc)": (repeats, {"metric": "spcc"}),
        "McNemar mid-p (accuracy)": (repeats, {"metric": "accuracy", "threshold": THRESHOLD}),
        "McNemar exact (accuracy)": (repeats, {"metric": "accuracy", "threshold": THRESHOLD, "mcnemar_kind": "exact"}),
        "bootstrap (f1)": (repeats // 2, {"metric": "f1", "threshold": THRESHOLD, "replicates": 300}),
        "bootstrap (average precision)": (
            few,
            {"metric": "average_precision", "method": "bootstrap", "replicates": 300},
        ),
        "permutation (auroc)": (few, {"metric": "auroc", "method": "permutation", "replicates": 199}),
    }
    for name, (times, options) in tests.items():
        _print_row([name, *(f"{100 * size(times, *rows, **options):.1f} %" for rows in ((50, 450), (200, 800)))])


if __name__ == "__main__":
    main()
