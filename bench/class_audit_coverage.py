"""How often the 95 % limits of an audit of K classes hold the truth, and how wide they are beside ± 1.96 standard errors.

``python -m bench.class_audit_coverage [--repeats 400] [--seed 0]`` prints, for each design, the lowest and the mean coverage over the classes
of the count, precision, recall and F1, the coverage of accuracy and average recall, that of Wald limits (± 1.96 standard errors cut to
the possible values, as published) for count and recall, and the ratio of the mean widths. What is undefined in a sample counts neither
way. A second table has clusters drawn whole.
"""

from __future__ import annotations

import argparse
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from tallymark.audits.class_estimates import AuditEstimate
from tallymark.audits.class_estimation import estimates_of
from tallymark.audits.class_rows import POST_STRATUM
from tallymark.audits.class_sample import ClassSample

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Rows by stratum, predicted and true class, and the checked rows of each stratum.
Design = tuple[Ints, list[int]]


def by_prediction(rows: list[list[int]], checked: list[int]) -> Design:
    """Strata that are the predicted classes."""
    matrix = np.array(rows)
    cells = np.zeros((len(matrix), len(matrix), matrix.shape[1]), np.int64)
    for code, row in enumerate(matrix):
        cells[code, code] = row
    return cells, checked


def crossed(sizes: list[int], shares: list[float], accuracy: float, checked: list[int], drift: float = 0.0) -> Design:
    """Strata that are not the predicted classes: the same classes in each, in shares that `drift` from one to the next."""
    classes = len(shares)
    cells = np.zeros((len(sizes), classes, classes), np.int64)
    for place, size in enumerate(sizes):
        part = np.array(shares) * np.exp(drift * place * np.arange(classes))
        part = part / part.sum()
        for k in range(classes):
            right = round(size * part[k] * accuracy)
            cells[place, k, k] = right
            wrong = round(size * part[k]) - right
            for c in range(classes):
                if c != k:
                    cells[place, c, k] = wrong // (classes - 1)
    return cells, checked


DESIGNS: dict[str, Design] = {
    "Olofsson's map, 75 to 325 checked": by_prediction(
        [
            [176_000, 0, 13_333, 10_667],
            [0, 110_000, 16_000, 24_000],
            [19_394, 0, 2_967_273, 213_333],
            [39_692, 19_846, 178_615, 6_211_847],
        ],
        [75, 75, 165, 325],
    ),
    "the same map, 30 checked each": by_prediction(
        [
            [176_000, 0, 13_333, 10_667],
            [0, 110_000, 16_000, 24_000],
            [19_394, 0, 2_967_273, 213_333],
            [39_692, 19_846, 178_615, 6_211_847],
        ],
        [30, 30, 30, 30],
    ),
    "3 classes, one of .5 %, 10 checked each": by_prediction(
        [[400, 60, 40], [80, 29_000, 920], [20, 1_500, 67_980]], [10, 10, 10]
    ),
    "3 classes, one of .5 %, 50 100 150": by_prediction(
        [[400, 60, 40], [80, 29_000, 920], [20, 1_500, 67_980]], [50, 100, 150]
    ),
    "2 classes, all found checked, 600 of the rest": by_prediction([[900, 100], [120, 18_880]], [1_000, 600]),
    "2 classes, 8000 all, 1534 of 92 000": by_prediction([[8_000, 0], [300, 91_700]], [8_000, 1_534]),
    "6 classes, 25 checked each": by_prediction(
        [
            [n if c == k else n // 40 for k in range(6)]
            for c, n in enumerate((50_000, 20_000, 8_000, 3_000, 1_000, 300))
        ],
        [25] * 6,
    ),
    "6 classes, 100 checked each": by_prediction(
        [
            [n if c == k else n // 40 for k in range(6)]
            for c, n in enumerate((50_000, 20_000, 8_000, 3_000, 1_000, 300))
        ],
        [100] * 6,
    ),
    "a class nobody predicted": by_prediction([[9_000, 800, 200], [500, 4_300, 200], [0, 0, 0]], [60, 60, 0]),
    "half of small strata checked": by_prediction([[30, 5, 5], [6, 90, 4], [2, 8, 150]], [20, 50, 80]),
    "4 regions, 3 classes, 30 checked each": crossed([20_000, 10_000, 5_000, 2_000], [0.05, 0.25, 0.7], 0.85, [30] * 4),
    "4 regions, 3 classes, 100 checked each": crossed(
        [20_000, 10_000, 5_000, 2_000], [0.05, 0.25, 0.7], 0.85, [100] * 4, drift=-0.3
    ),
    "one sample of 300, 3 classes, one of 2 %": crossed([50_000], [0.02, 0.28, 0.7], 0.9, [300]),
    "one sample of 100, 2 classes, one of 5 %": crossed([50_000], [0.05, 0.95], 0.9, [100]),
}

#: Designs whose number of rows with each prediction is not known either, as in a list of checked rows alone.
UNKNOWN_CALLS = (
    "4 regions, 3 classes, 30 checked each",
    "4 regions, 3 classes, 100 checked each",
    "one sample of 300, 3 classes, one of 2 %",
)


def truth_of(cells: Ints) -> dict[tuple[str, int], float]:
    """The true values."""
    matrix = cells.sum(axis=0).astype(float)
    n, right = matrix.sum(), np.diag(matrix)
    predicted, true = matrix.sum(axis=1), matrix.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        recall = right / true
        values = {"count": true, "precision": right / predicted, "recall": recall, "f1": 2 * right / (predicted + true)}
    out = {(name, k): float(value[k]) for name, value in values.items() for k in range(len(true))}
    return out | {("accuracy", -1): float(right.sum() / n), ("average_recall", -1): float(np.mean(recall[true > 0]))}


def drawn(cells: Ints, checked: list[int], rng: np.random.Generator, *, known_calls: bool) -> ClassSample:
    """A sample: so many rows of each stratum."""
    strata, predicted, truth, cell, sizes, unchecked = [], [], [], [], [], []
    for h, n in enumerate(checked):
        flat = cells[h].ravel()
        if not flat.sum():
            continue
        seen = rng.multivariate_hypergeometric(flat, n)
        places = np.repeat(np.arange(flat.size), seen)
        c, k = np.divmod(places, cells.shape[2])
        calls = cells[h].sum(axis=1)
        # Post-stratified by prediction where enough rows of each were checked, as `tm.audits.estimate` does.
        split = known_calls and all((c == code).sum() >= min(POST_STRATUM, rows) for code, rows in enumerate(calls))
        groups = (
            [(c == code, rows) for code, rows in enumerate(calls) if rows]
            if split
            else [(np.ones(n, bool), flat.sum())]
        )
        codes = np.zeros(n, np.int64)
        for members, rows in groups:
            codes[members] = len(sizes)
            sizes.append(float(rows))
        strata.append(np.full(n, h))
        predicted.append(c)
        truth.append(k)
        cell.append(codes)
        unchecked.append(np.full(n, 1.0 - n / flat.sum()))
    stratum = np.concatenate(strata)
    rows = len(stratum)
    whole = cells.sum(axis=(1, 2))
    return ClassSample(
        classes=tuple(range(cells.shape[2])), truth=np.concatenate(truth), predicted=np.concatenate(predicted), cell=np.concatenate(cell),
        sizes=np.array(sizes), names=("",) * len(sizes), stratum=stratum, unit=np.arange(rows), worth=np.ones(rows),
        mass=(whole / np.maximum(np.array(checked), 1))[stratum], unchecked=np.concatenate(unchecked),
    )  # fmt: skip


def measures(estimate: AuditEstimate) -> dict[tuple[str, int], object]:
    """Every measure by name and class."""
    found = {(one.name, label): one for label, _, one in estimate.measures_by_class()}
    return found | {(one.name, -1): one for one in estimate.overall()}


class Tallied:
    """Coverage and widths, ours and of Wald limits."""

    def __init__(self, truth: dict[tuple[str, int], float]) -> None:
        self.truth = truth
        self.held, self.wald, self.number = defaultdict(int), defaultdict(int), defaultdict(int)
        self.width, self.wald_width = defaultdict(float), defaultdict(float)

    def add(self, estimate: AuditEstimate) -> None:
        for key, one in measures(estimate).items():
            value = self.truth.get(key, np.nan)
            if key[0] == "prevalence" or one.reason is not None or np.isnan(value):
                continue
            slack = 1e-9 * max(abs(value), 1.0)
            most = estimate.n if key[0] == "count" else 1.0
            half = 1.96 * one.standard_error
            ends = max(one.value - half, 0.0), min(one.value + half, most)
            self.number[key] += 1
            self.held[key] += one.low - slack <= value <= one.high + slack
            self.wald[key] += ends[0] - slack <= value <= ends[1] + slack
            self.width[key] += one.high - one.low
            self.wald_width[key] += ends[1] - ends[0]

    def line(self, name: str) -> str:
        cells = []
        for metric in ("count", "precision", "recall", "f1"):
            keys = [key for key in self.number if key[0] == metric]
            covered = [100 * self.held[key] / self.number[key] for key in keys]
            cells.append(f"{min(covered):5.1f} {np.mean(covered):5.1f}")
        overall = [
            100 * self.held[key] / max(self.number[key], 1) for key in (("accuracy", -1), ("average_recall", -1))
        ]
        wald = [
            min(100 * self.wald[key] / self.number[key] for key in self.number if key[0] == metric)
            for metric in ("count", "recall")
        ]
        ratio = np.mean([self.width[key] / self.wald_width[key] for key in self.number if self.wald_width[key] > 0])
        return (
            f"{name:48} "
            + "  ".join(cells)
            + f"  {overall[0]:5.1f} {overall[1]:5.1f}  {wald[0]:5.1f} {wald[1]:5.1f}  {ratio:5.2f}"
        )


HEAD = f"{'design (lowest, mean over classes)':48} {'count':>11}  {'precision':>11}  {'recall':>11}  {'f1':>11}  {'acc':>5} {'avg r':>5}  {'Wald n':>5} {'rec':>5}  width"


def clustered(repeats: int, seed: int) -> None:
    """Print the coverage where clusters of rows are drawn and checked whole."""
    print("\nclusters drawn whole, 2 classes\n" + HEAD)
    for place, (number, size, share, between) in enumerate(
        ((20, 10, 0.2, 0.05), (20, 10, 0.2, 0.3), (50, 5, 0.05, 0.1), (50, 20, 0.3, 0.2), (12, 8, 0.4, 0.1))
    ):
        rng = np.random.default_rng([seed, 1_000 + place])
        clusters = 2_000
        rate = rng.beta(share * (1 / between - 1), (1 - share) * (1 / between - 1), clusters)
        sizes = rng.poisson(size - 1, clusters) + 1
        code = np.repeat(np.arange(clusters), sizes)
        truth = (rng.random(len(code)) < rate[code]).astype(np.int64)
        predicted = np.where(rng.random(len(code)) < 0.85, truth, 1 - truth)
        cells = np.zeros((1, 2, 2), np.int64)
        np.add.at(cells[0], (predicted, truth), 1)
        tallied = Tallied(truth_of(cells))
        for _ in range(repeats):
            kept = np.isin(code, rng.choice(clusters, number, replace=False))
            rows = int(kept.sum())
            sample = ClassSample(
                classes=(0, 1), truth=truth[kept], predicted=predicted[kept], cell=np.zeros(rows, np.int64), sizes=np.array([float(len(code))]),
                names=("",), stratum=np.zeros(rows, np.int64), unit=code[kept], worth=np.ones(rows), mass=np.ones(rows),
                unchecked=np.full(rows, 1 - number / clusters),
            )  # fmt: skip
            tallied.add(estimates_of(sample, 0.95))
        print(tallied.line(f"{number} clusters of {size}, share {share:g}, between {between:g}"), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(HEAD)
    for place, (name, (cells, checked)) in enumerate(DESIGNS.items()):
        for known in (True, False) if name in UNKNOWN_CALLS else (True,):
            rng = np.random.default_rng([options.seed, place])
            tallied = Tallied(truth_of(cells))
            for _ in range(options.repeats):
                tallied.add(estimates_of(drawn(cells, checked, rng, known_calls=known), 0.95))
            print(tallied.line(name if known else f"{name}, calls unknown"[:48]), flush=True)
    clustered(options.repeats, options.seed)


if __name__ == "__main__":
    main()
