"""Do 95 % intervals hold the truth 95 % of the time? By simulation, on many shapes of scores.

``make coverage`` prints the tables of the docs; the test suite runs a short version of the same functions. Name sections to
run some only, e.g. ``python -m bench.coverage ranking chosen --repeats 400``.
"""

import argparse
import math
import multiprocessing
import warnings

import numpy as np

import tallymark as tm
from bench import worlds

#: Positives and prevalence of the samples.
SIZES = ((10, 0.5), (10, 0.05), (20, 0.5), (20, 0.05), (20, 0.005), (50, 0.5), (50, 0.05), (200, 0.05))

RANKING = ("auroc", "average_precision", "partial_auc", "partial_average_precision", "spearman", "spcc")
AT_THRESHOLD = ("recall", "precision", "f1", "mcc", "kappa", "balanced_accuracy", "npv", "accuracy")
PROBABILITIES = ("brier", "log_loss", "brier_skill", "bias", "calibration_slope", "ece", "integrated_calibration_index")
WEIGHTED = ("auroc", "average_precision", "recall", "specificity", "precision", "npv", "f1")
CLASS_RANKING = ("auroc_ovr", "auroc_ovr_weighted", "auroc_ovo")
MAXIMA = ("ks", "hull_auc", "h_measure")
CALIBRATED = (worlds.calibrated(1.5), worlds.calibrated(3.0), worlds.overconfident(2.0, 2.5))


def lognormal(rng, x):
    """Weights that have nothing to do with the scores."""
    return rng.lognormal(0.0, 1.0, len(x))


def one(world, names, positives, prevalence, seed, *, design="random", weights=None, threshold=None, asked=None):
    """Whether the default intervals of one sample hold the truth, and how wide they are, by metric."""
    rng = np.random.default_rng([seed, positives, round(1 / prevalence)])
    columns = world.sample(rng, positives, prevalence, design, weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tally = tm.tally(*columns[:2], weights=columns[2] if len(columns) > 2 else None)
        ev = tm.evaluate(
            tally, metrics=list(names), threshold=threshold, prevalence=asked, seed=seed,
            sampling="stratified" if design == "fixed" else "plain",
        )  # fmt: skip
    found = {}
    for name in names:
        wanted = world.truth(name, asked or prevalence, ev.threshold)
        low, high = ev[name].interval or (math.nan, math.nan)
        found[name] = (bool(low <= wanted <= high), high - low)
    return found


def coverages(world, names, positives, prevalence, repeats, *, seed=0, **options):
    """By metric, the share of default 95 % intervals that hold the truth, and their median width."""
    found = [one(world, names, positives, prevalence, seed * 1_000_003 + i, **options) for i in range(repeats)]
    return {name: (np.mean([f[name][0] for f in found]), np.nanmedian([f[name][1] for f in found])) for name in names}


#: What workers are to do: worlds hold functions, which do not travel, so workers are forked.
_TASKS: list = []


def _work(i):
    world, names, size, repeats, options = _TASKS[i]
    return coverages(world, names, *size, repeats, **options)


def table(title, of_worlds, names, repeats, sizes=SIZES, **options):
    """Print coverage in per cent by world and size, one table a metric; samples beyond 3 000 rows are fewer."""
    _TASKS[:] = [
        (world, names, size, max(100, repeats // (1 if size[0] / size[1] < 3_000 else 4)), options)
        for world in of_worlds
        for size in sizes
    ]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map(_work, range(len(_TASKS)), chunksize=1)
    print(f"\n{title}")
    for name in names:
        print(f"\n| {name} | " + " | ".join(f"{p} at {100 * share:g} %" for p, share in sizes) + " |")
        print("| --- |" + " ---: |" * len(sizes))
        for i, world in enumerate(of_worlds):
            cells = [f"{100 * found[i * len(sizes) + j][name][0]:.1f}" for j in range(len(sizes))]
            print(f"| {world.name} | " + " | ".join(cells) + " |", flush=True)


def bands(repeats):
    """Share of points, and of whole curves, that bands hold."""
    print("\nBands (1 000 weightings): lowest share of points held between 1 and 99 %, and whole curves held\n")
    print("| band, world | 20 at 50 % | 50 at 50 % | 20 at 5 % | 50 at 5 % |\n| --- |" + " ---: |" * 4)
    for kind in ("roc", "pr"):
        for world in (worlds.binormal(0.85), worlds.binormal(0.97), worlds.undetectable(0.2, 3.0)):
            cells = [
                band_coverage(kind, world, p, share, repeats)
                for p, share in ((20, 0.5), (50, 0.5), (20, 0.05), (50, 0.05))
            ]
            print(
                f"| {kind}, {world.name} | " + " | ".join(f"{100 * a:.0f}, {100 * b:.0f}" for a, b in cells) + " |",
                flush=True,
            )


def band_coverage(kind, world, positives, prevalence, repeats, replicates=300):
    """The lowest share of points held by pointwise bands, and the share of curves held by simultaneous ones."""
    population = world.population(prevalence)
    cut = population.cutoffs
    fpr, tpr = cut.fp / population.negatives, cut.tp / population.positives
    points, whole = [], []
    for i in range(repeats):
        tally = tm.tally(*world.sample(np.random.default_rng([i, positives]), positives, prevalence))
        for simultaneous in (False, True):
            make = tm.intervals.roc_band if kind == "roc" else tm.intervals.pr_band
            band = make(tally, replicates=replicates, seed=i, simultaneous=simultaneous).points
            x = band["x"]
            truth = np.interp(x, fpr, tpr)
            if kind == "pr":
                false = np.interp(x, tpr, fpr)
                truth = prevalence * x / (prevalence * x + (1 - prevalence) * false)
            inside = (band["low"] - 1e-9 <= truth) & (truth <= band["high"] + 1e-9)
            (whole if simultaneous else points).append(inside.all() if simultaneous else inside)
    return float(np.mean(points, axis=0)[1:-1].min()), float(np.mean(whole))


def proportions():
    """The least coverage of a proportion's intervals over all true shares, computed and not simulated."""
    from scipy.stats import binom

    print("\nProportions: least and mean coverage over all true shares, exact\n")
    print("| method | 5 rows | 10 | 20 | 50 | 200 |\n| --- |" + " ---: |" * 5)
    shares = np.linspace(0.0005, 0.9995, 2_000)[:, None]
    for method in ("mid_p", "wilson", "jeffreys", "clopper_pearson"):
        cells = []
        for n in (5, 10, 20, 50, 200):
            low, high = tm.intervals.proportions.limits(np.arange(n + 1), np.full(n + 1, n), 0.95, method)
            held = (binom.pmf(np.arange(n + 1), n, shares) * ((low <= shares) & (shares <= high))).sum(axis=1)
            cells.append(f"{100 * held.min():.1f}, {100 * held.mean():.1f}")
        print(f"| {method} | " + " | ".join(cells) + " |", flush=True)


def classes(repeats):
    """K-class averages, class sizes drawn."""
    print(
        "\nK classes, rows drawn at random\n\n| metric | 3 classes, 60 rows | 3 classes, 300 | 10 classes, 300 |\n| --- |"
        + " ---: |" * 3
    )
    names = ("f1_macro", "precision_macro", "kappa", "accuracy", "mcc")
    columns = [class_coverage(k, n, names, repeats) for k, n in ((3, 60), (3, 300), (10, 300))]
    for name in names:
        print(f"| {name} | " + " | ".join(f"{100 * column[name]:.1f}" for column in columns) + " |", flush=True)


def class_coverage(k, n, names, repeats):
    """Coverage of K-class averages of a matrix with rows drawn at random."""
    rng = np.random.default_rng([k, n])
    share = np.arange(1, k + 1) / np.arange(1, k + 1).sum()
    rates = 0.7 * np.eye(k) + 0.3 / k
    truth = tm.evaluate(tm.Confusion(share[:, None] * rates * 1e6, tuple(range(k))), level=None)
    held = dict.fromkeys(names, 0)
    for i in range(repeats):
        table_ = rng.multinomial(n, (share[:, None] * rates).ravel()).reshape(k, k)
        ev = tm.evaluate(tm.Confusion(table_, tuple(range(k))), seed=i)
        for name in names:
            low, high = ev[name].interval or (math.nan, math.nan)
            held[name] += bool(low <= truth[name].value <= high)
    return {name: count / repeats for name, count in held.items()}


def class_scores(repeats, seed):
    """AUROC averaged over classes, rows drawn at random, some of them with uneven weights."""
    settings = {"150 rows": (150, None), "600 rows": (600, None), "600 rows, lognormal weights": (600, lognormal)}
    print("\nAUROC over classes: coverage, and median width over 3.92 standard deviations of the estimate\n")
    print("| world, metric | " + " | ".join(settings) + " |\n| --- |" + " ---: |" * len(settings))
    for world in worlds.CLASS_WORLDS:
        columns = [class_score_coverage(world, n, repeats, weights, seed) for n, weights in settings.values()]
        for name in CLASS_RANKING:
            cells = [f"{100 * held:.1f}, {width:.2f}" for held, width in (column[name] for column in columns)]
            print(f"| {world.name}, {name} | " + " | ".join(cells) + " |", flush=True)


def class_score_coverage(world, n, repeats, weights=None, seed=0):
    """By metric, the share of 95 % intervals that hold the truth, and their median width by the spread of the estimate."""
    rng = np.random.default_rng([seed, n])
    labels = list(range(len(world.shares)))
    truth = tm.evaluate(tm.class_scores(*world.sample(rng, 300_000), classes=labels), metrics=CLASS_RANKING, level=None)
    found = {name: [] for name in CLASS_RANKING}
    for _ in range(repeats):
        y, x = world.sample(rng, n)
        mass = {} if weights is None else {"weights": weights(rng, y)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ev = tm.evaluate(tm.class_panel(y, x, classes=labels, **mass), metrics=CLASS_RANKING)
        for name in CLASS_RANKING:
            low, high = ev[name].interval or (math.nan, math.nan)
            found[name].append((low <= truth[name].value <= high, high - low, ev[name].value))
    columns = {name: np.array(rows, dtype=float).T for name, rows in found.items()}
    return {name: (c[0].mean(), np.nanmedian(c[1]) / (3.92 * c[2].std())) for name, c in columns.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*")
    parser.add_argument("--repeats", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    n, seed, few = asked.repeats, asked.seed, ((20, 0.5), (20, 0.05), (50, 0.5), (50, 0.05))
    some = (worlds.binormal(0.7), worlds.binormal(0.85), worlds.binormal(0.95), worlds.binormal(0.85, 2.0), worlds.TIES)
    sections = {
        "proportions": proportions,
        "ranking": lambda: table("Metrics of the ranking, random samples", worlds.WORLDS, RANKING, n, seed=seed),
        "fresh": lambda: table("The same, worlds no method was chosen on", worlds.FRESH, RANKING, n, seed=seed + 1),
        "audit": lambda: table("Shapes of a second audit", worlds.AUDIT, RANKING, n, seed=seed + 2),
        "fixed": lambda: table("Class sizes fixed by design", some, RANKING[:2], n, few, design="fixed", seed=seed),
        "threshold": lambda: table("At a fixed threshold", some, AT_THRESHOLD, n, threshold=1.0, seed=seed),
        "weights": lambda: table("Lognormal weights", some, WEIGHTED, n, few,
                                 weights=lognormal, threshold=1.0, seed=seed),
        "unequal": lambda: table("Rows drawn with unequal probabilities, by their scores", some, WEIGHTED, n, few,
                                 design="unequal", threshold=1.0, seed=seed),
        "probabilities": lambda: table("Losses of probabilities", CALIBRATED, PROBABILITIES, n, seed=seed),
        "maxima": lambda: table("Metrics of the best threshold", some, MAXIMA, n // 4, few, seed=seed),
        "chosen": lambda: [
            table(f"At a threshold chosen on the same rows by {policy}", some[:3], ("f1", "precision", "recall", "mcc"),
                  n // 4, few, threshold=policy, seed=seed)
            for policy in ("youden", "f1")
        ],
        "lens": lambda: table("Average precision asked at 1 %, sampled 1 : 1", some[:4], ("average_precision",), n // 2,
                              ((50, 0.5), (200, 0.5), (1_000, 0.5)), design="fixed", asked=0.01, seed=seed),
        "bands": lambda: bands(max(50, n // 5)),
        "classes": lambda: classes(max(100, n // 5)),
        "class_scores": lambda: class_scores(n, seed),
    }  # fmt: skip
    for name in asked.sections or sections:
        sections[name]()


if __name__ == "__main__":
    main()
