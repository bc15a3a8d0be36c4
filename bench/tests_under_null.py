"""``python -m bench.tests_under_null``: how often paired tests at 5 % find a difference where there is none, and power.

Nulls with models of the same and of different shapes, few positives, high correlation, weights, ratings beside continuous
scores, thresholds chosen by a policy, equivalence at its margin, and probabilities that are wrong in opposite directions.
"""

import argparse
import multiprocessing
import warnings

import numpy as np
from scipy import optimize, special

import tallymark as tm
from tallymark.registry import METRICS


def panel(rng, positives, negatives, first, second, correlation=0.6):
    """Two models on the same rows, each (AUROC, sd of the positives); normal scores that share part of their noise."""
    y = np.repeat([0, 1], [negatives, positives])
    common = rng.normal(size=len(y))
    columns = {}
    for name, (auroc, sd) in zip("ab", (first, second), strict=True):
        x = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * rng.normal(size=len(y))
        columns[name] = np.where(y, special.ndtri(auroc) * np.hypot(1, sd) + sd * x, x)
    return tm.panel(y, columns)


def random_rows(rng, n, prevalence, models, correlation=0.5, weighted=False, clustered=False):
    """Rows drawn at random, each model (mean and sd of the positives, a map of its scores).

    Weights are lognormal; clusters are of five rows.
    """
    y = rng.random(n) < prevalence
    y[:4] = (0, 0, 1, 1)
    common = rng.normal(size=n)
    columns = {}
    for name, (mean, sd, shown) in zip("ab", models, strict=True):
        x = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * rng.normal(size=n)
        columns[name] = shown(np.where(y, mean + sd * x, x))
    weights = rng.lognormal(0.0, 1.0, n) if weighted else None
    return tm.panel(y, columns, weights=weights, clusters=np.arange(n) // 5 if clustered else None)


def as_it_is(x):
    return x


def in_ratings(x):
    """Four ratings."""
    return np.clip(np.rint(x + 0.5), -1, 2)


def in_five_ratings(x):
    return np.clip(np.rint(x + 0.5), -1, 3)


def _population(metric, prevalence, model, threshold=None):
    """A metric of a model in the population, read off its quantiles."""
    mean, sd, shown = model
    q = special.ndtri((np.arange(20_000) + 0.5) / 20_000)
    tally = tm.tally(np.repeat([0, 1], len(q)), shown(np.concatenate((q, mean + sd * q)))).at_prevalence(prevalence)
    return METRICS[metric].compute(tally if threshold is None else tally.at(threshold))


def alike(metric, prevalence, model, other, threshold=None):
    """The two models, the second of them moved until it has the first one's value of the metric in the population."""
    wanted, (_, sd, shown) = _population(metric, prevalence, model, threshold), other
    off = lambda mean: _population(metric, prevalence, (mean, sd, shown), threshold) - wanted
    return model, (optimize.brentq(off, -1.0, 12.0, xtol=1e-3), sd, shown)


def _shifted_losses(metric):
    """Log odds moved down and up so that both models have the same expected loss at a prevalence of about 11 %."""
    z = np.random.default_rng(0).normal(-3.0, 1.5, 400_000)
    p = special.expit(z)
    loss = {"brier": lambda q: p * (1 - q) ** 2 + (1 - p) * q**2,
            "log_loss": lambda q: -p * np.log(q) - (1 - p) * np.log1p(-q)}[metric]  # fmt: skip
    low = loss(special.expit(z - 0.5)).mean()
    return -0.5, optimize.brentq(lambda d: loss(special.expit(z + d)).mean() - low, 0.0, 3.0)


def losses_panel(rng, n, shifts):
    """Rows drawn at random, with probabilities that are too low in one model and too high in the other."""
    z = rng.normal(-3.0, 1.5, n)
    y = rng.random(n) < special.expit(z)
    y[:4] = (0, 0, 1, 1)
    return tm.panel(y, {m: special.expit(z + shift) for m, shift in zip("ab", shifts, strict=True)})


def rejected(make, repeats, seed=0, **options):
    """Share of samples in which the test says there is a difference."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.mean([
            tm.compare(make(np.random.default_rng([seed, i])), **options).p_value < 0.05 for i in range(repeats)
        ])  # fmt: skip


def called_equivalent(make, margin, repeats, seed=0, **options):
    """Share of samples in which a pair is called equivalent."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.mean([
            "equivalent" in tm.compare(make(np.random.default_rng([seed, i])), equivalence=margin, **options).verdict
            for i in range(repeats)
        ])  # fmt: skip


NULLS = {
    "same shape, 0.85, 10 + 990": (10, 990, (0.85, 1), (0.85, 1)),
    "same shape, 0.85, 20 + 380": (20, 380, (0.85, 1), (0.85, 1)),
    "same shape, 0.85, 50 + 50": (50, 50, (0.85, 1), (0.85, 1)),
    "sd 2 and 1/2, 0.85, 10 + 190": (10, 190, (0.85, 2), (0.85, 0.5)),
    "sd 2 and 1/2, 0.85, 20 + 380": (20, 380, (0.85, 2), (0.85, 0.5)),
    "sd 2 and 1/2, 0.95, 50 + 950": (50, 950, (0.95, 2), (0.95, 0.5)),
    "same shape, 0.98, 20 + 380": (20, 380, (0.98, 1), (0.98, 1)),
    "same shape, 0.5, 20 + 380": (20, 380, (0.5, 1), (0.5, 1)),
}
ALTERNATIVES = {
    "0.85 and 0.75, 20 + 380": (20, 380, (0.85, 1), (0.75, 1)),
    "0.85 and 0.75, 50 + 950": (50, 950, (0.85, 1), (0.75, 1)),
    "0.99 and 0.94, 20 + 380": (20, 380, (0.99, 1), (0.94, 1)),
}


SAME = ((1.5, 1.0, as_it_is),) * 2
WIDE, NARROW, RATED = (1.5, 2.0, as_it_is), (1.5, 0.5, as_it_is), (1.5, 1.0, in_ratings)

#: Rows, prevalence, correlation of models of unlike shape and equal average precision.
UNLIKE = (
    (100, 0.5, 0.5),
    (400, 0.5, 0.5),
    (200, 0.5, 0.8),
    (150, 0.3, 0.5),
    (200, 0.1, 0.5),
    (300, 0.1, 0.8),
    (400, 0.05, 0.5),
)

#: Policies, and the metrics compared at the thresholds they choose; the last is the one that the policy maximises.
CHOSEN = {
    "youden": ("recall", "specificity", "precision", "f1", "balanced_accuracy"),
    "f1": ("recall", "precision", "f1"),
    "tpr:0.8": ("specificity", "precision"),
}


def _unlike(n):
    """Models of unlike shape, weights, and proportions of few predicted positives."""
    for rows, prevalence, correlation in UNLIKE:
        models = alike("average_precision", prevalence, WIDE, NARROW)
        make = lambda rng, m=models, r=rows, p=prevalence, c=correlation: random_rows(rng, r, p, m, c)
        name = f"average_precision, sd 2 and 1/2, {rows} at {prevalence:.0%}, correlation {correlation}"
        yield name, rejected(make, n, metric="average_precision")
    for metric in ("auroc", "average_precision", "spcc", "precision", "f1"):
        options = {"threshold": 1.0} if metric in {"precision", "f1"} else {}
        make = lambda rng: random_rows(rng, 300, 0.15, SAME, weighted=True)
        yield f"{metric}, same shape, lognormal weights, 300 at 15%", rejected(make, n, metric=metric, **options)
    strict = lambda x: x - 1.5
    for rows in (300, 1_500):
        models = alike("precision", 0.3, (1.5, 1.0, as_it_is), (0.5, 1.0, strict), 0.5)
        make = lambda rng, m=models, r=rows: random_rows(rng, r, 0.3, m)
        yield (
            f"precision, strict and lax threshold, {rows} at 30%",
            rejected(make, n, metric="precision", threshold=0.5),
        )


def _maxima(n):
    """Maxima over thresholds, and thresholds chosen by a policy."""
    for metric in ("ks", "h_measure"):
        rated = alike(metric, 0.15, SAME[0], RATED)
        for second, models in (("continuous", SAME), ("four ratings", rated)):
            make = lambda rng, m=models: random_rows(rng, 300, 0.15, m)
            yield f"{metric}, continuous and {second}, 300 at 15%", rejected(make, n, metric=metric, replicates=300)
    variants = {
        "": {},
        ", lognormal weights": {"weighted": True},
        ", five ratings": {"models": ((1.5, 1.0, in_five_ratings),) * 2},
        ", clusters of five": {"clustered": True},
    }
    for policy, metrics in CHOSEN.items():
        for what, options in variants.items():
            make = lambda rng, o=options: random_rows(rng, 300, 0.1, **({"models": SAME} | o))
            for metric in metrics:
                name = f"{metric} at {policy}, 300 at 10%{what}"
                yield name, rejected(make, n, metric=metric, threshold=policy, replicates=500)


def _row(task):
    name, cell, repeats = task
    make = lambda rng: panel(rng, *cell)
    return name, [rejected(make, repeats, method=m) for m in ("mover", "delong")]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1_000)
    n = parser.parse_args().repeats
    for title, cells in (("AUROC, no difference", NULLS), ("AUROC, a difference: power", ALTERNATIVES)):
        print(f"\n| {title} | MOVER (default) | DeLong's z |\n| --- | ---: | ---: |")
        with multiprocessing.Pool(2) as pool:
            for name, found in pool.imap(_row, [(name, cell, n) for name, cell in cells.items()]):
                print(f"| {name} | " + " | ".join(f"{100 * f:.1f}" for f in found) + " |", flush=True)
    print("\n| other metrics, no difference | rejected |\n| --- | ---: |")
    for metric in ("brier", "log_loss"):
        shifts = _shifted_losses(metric)
        for rows in (400, 2_000):
            found = rejected(lambda rng, s=shifts, r=rows: losses_panel(rng, r, s), n, metric=metric)
            print(f"| {metric}, opposite errors, {rows} random rows | {100 * found:.1f} |", flush=True)
    cells = {"average_precision": {}, "spcc": {}, "f1": {"threshold": 0.75, "replicates": 300},
             "accuracy": {"threshold": 0.75}, "ks": {"replicates": 300}}  # fmt: skip
    for metric, options in cells.items():
        for size in ((20, 380), (50, 450)):
            make = lambda rng, s=size: panel(rng, *s, (0.85, 1), (0.85, 1))
            found = rejected(make, n // (4 if "replicates" in options else 1), metric=metric, **options)
            print(f"| {metric}, same shape, {size[0]} + {size[1]} | {100 * found:.1f} |", flush=True)
    for cells, repeats in ((_unlike, n), (_maxima, n // 5)):
        print(f"\n| no difference, {repeats} samples | rejected |\n| --- | ---: |")
        for name, found in cells(repeats):
            print(f"| {name} | {100 * found:.1f} |", flush=True)
    print("\n| called equivalent at the margin | share |\n| --- | ---: |")
    for size in ((20, 180), (50, 450), (200, 800)):
        make = lambda rng, s=size: panel(rng, *s, (0.85, 1), (0.80, 1))
        print(
            f"| auroc, margin 0.05, {size[0]} + {size[1]} | {100 * called_equivalent(make, 0.05, n):.1f} |", flush=True
        )


if __name__ == "__main__":
    main()
