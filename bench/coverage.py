"""Do 95 % intervals hold the truth 95 % of the time? By simulation, on many shapes of scores.

``make coverage`` prints the tables of the docs; the test suite runs a short version of the same functions. Name sections to
run some only, e.g. ``python -m bench.coverage ranking bands``.
"""

import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import tallymark as tm

#: Positives and prevalence of the samples.
SIZES = ((5, 0.05), (10, 0.5), (10, 0.05), (20, 0.5), (20, 0.05), (20, 0.005), (50, 0.5), (50, 0.05), (200, 0.05))

RANKING = ("auroc", "average_precision", "pr_auc", "partial_auc", "spearman")
AT_THRESHOLD = ("recall", "precision", "f1", "mcc", "kappa", "balanced_accuracy", "npv", "accuracy")
MOMENTS = ("spcc", "d_a")
PROBABILITIES = ("brier", "log_loss", "bias", "ece")
MAXIMA = ("ks", "hull_auc", "h_measure")


def lognormal(rng, x):
    """Weights that have nothing to do with the scores."""
    return rng.lognormal(0.0, 1.0, len(x))


def one(task):
    """Whether the default intervals of one sample hold the truth, and how wide they are."""
    world, names, positives, prevalence, seed, options = task
    design, weights = options.get("design", "random"), options.get("weights")
    rng = np.random.default_rng([seed, positives, round(1 / prevalence)])
    warnings.simplefilter("ignore")
    columns = world.sample(rng, positives, prevalence, design, weights)
    tally = tm.tally(*columns[:2], weights=columns[2] if weights else None)
    threshold = options.get("threshold", 0.5)
    ev = tm.evaluate(
        tally, metrics=list(names), threshold=threshold, sampling="plain" if design == "random" else "stratified",
        prevalence=options.get("asked"), interval=options.get("interval", "default"),
    )  # fmt: skip
    found = {}
    for name in names:
        wanted = world.truth(name, options.get("asked") or prevalence, ev.threshold)
        low, high = ev[name].interval or (np.nan, np.nan)
        found[name] = (bool(low <= wanted <= high), high - low)
    return found


def coverages(world, names, positives, prevalence, repeats, *, seed=0, workers=1, **options):
    """By metric, the share of default 95 % intervals that hold the truth, and their median width."""
    tasks = [(world, names, positives, prevalence, seed * 1_000_003 + i, options) for i in range(repeats)]
    if workers == 1:
        results = list(map(one, tasks))
    else:
        step = -(-repeats // workers)
        parts = [tasks[i : i + step] for i in range(0, repeats, step)]
        with ProcessPoolExecutor(workers) as pool:
            results = [result for part in pool.map(_all, parts) for result in part]
    return {
        name: (np.mean([r[name][0] for r in results]), np.nanmedian([r[name][1] for r in results])) for name in names
    }


def _all(tasks):
    return list(map(one, tasks))
