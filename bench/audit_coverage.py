"""How often the 95 % limits of an audit hold the truth, and how far its estimates are off.

``python -m bench.audit_coverage [--repeats 400]`` prints, for rare and common classes, few and many labels, good and bad scores and each
design, the share of intervals that hold the true share (of all rows, and of groups), the root mean squared error, that of a plain share
of a simple random sample, and what ppi-python's interval does, where it is installed. Design ``sizes`` draws rows by a size that is
log-normal with deviation 1.2 and unrelated to the truth. ``--strata`` prints the same for count, precision and recall of strata that were
checked at different rates, some of them completely; ``--cells`` for groups so small that some strata have no checked row in them; ``--sizes`` coverage and guards
(TM113, TM117) where rows are drawn in proportion to a size and the positives are among the small, any, or the large rows.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tallymark.audits.checked_rows import audit_of
from tallymark.audits.designs import Layers, allocated, chances, cut_strata, doubt, drawn_by, drawn_within
from tallymark.audits.estimates import estimate
from tallymark.audits.prevalences import audited

Floats = NDArray[np.float64]

ROWS = 10_000


def population(rng: np.random.Generator, share: float, kind: str) -> tuple[Floats, NDArray[np.bool_]]:
    """Scores and labels; normal scores in both classes, two deviations apart unless the kind says otherwise."""
    y = np.zeros(ROWS, dtype=np.bool_)
    y[: round(share * ROWS)] = True
    rng.shuffle(y)
    apart = 1.0 if kind == "weak" else 2.0
    z = rng.normal(size=ROWS) + apart * y
    logit = apart * z - apart**2 / 2 + np.log(share / (1 - share))
    if kind == "too high":
        logit += 3.0
    elif kind == "too sure":
        logit *= 2.0
    elif kind == "useless":
        logit = rng.normal(size=ROWS) - 3.0
    p = 1.0 / (1.0 + np.exp(-logit))
    if kind == "two values":
        p = np.where(p > share, 0.9, 0.1)
    elif kind == "any scale":
        p = 1_000.0 * logit
    elif kind == "zeros":
        # Four fifths of the negatives and a quarter of the positives score exactly 0, as trees and rules do.
        p = np.where(rng.random(ROWS) < np.where(y, 0.25, 0.8), 0.0, p)
    return p, y


def sampled(p: Floats, n: int, design: str, rng: np.random.Generator) -> tuple[NDArray[np.int64], Floats | None]:
    """Rows to check, and each row's probability to be drawn."""
    if design == "simple":
        return rng.choice(len(p), n, replace=False), None
    if design == "stratified":
        codes = cut_strata(p, 5)
        taken = allocated(Layers.of(codes, p, np.ones(len(p))), n, 2, "neyman")
        return drawn_within(codes, taken, rng), (taken / np.bincount(codes))[codes]
    if design == "sizes":
        size = np.exp(1.2 * rng.normal(size=len(p)))
        chance = np.minimum(n * size / size.sum(), 1.0)
    else:
        chance = chances(doubt(p), n)
    return drawn_by(chance, rng), chance


def cases() -> Iterator[tuple[str, float, int, str]]:
    """Scores, share, labels and design."""
    for design in ("simple", "stratified", "uncertainty", "sizes"):
        for kind in ("calibrated", "too high", "too sure", "useless", "weak", "two values", "any scale", "zeros"):
            if (design in {"stratified", "uncertainty"} and kind == "any scale") or (
                design == "sizes" and kind != "useless"
            ):
                continue
            for share, n in (
                (0.01, 50),
                (0.01, 100),
                (0.01, 400),
                (0.05, 50),
                (0.05, 100),
                (0.05, 400),
                (0.3, 50),
                (0.3, 400),
                (0.9, 100),
            ):
                yield kind, share, n, design


#: Strata by name: rows, checked rows, true positives, and whether the stratum is called positive.
STRATA = {
    "elusion: 8000 all, 1534 of 92 000": ((8_000, 8_000, 8_000, 1), (92_000, 1_534, 300, 0)),
    "40 of 20 000, 60 of 500, 500, 300": (
        (20_000, 40, 200, 0),
        (500, 60, 100, 0),
        (500, 60, 150, 1),
        (300, 60, 100, 1),
    ),
    "50 of 500 called, 150 of 10 000 not": ((500, 50, 450, 1), (10_000, 150, 100, 0)),
    "10 of 100 called, 30 of 1000 not": ((100, 10, 90, 1), (1_000, 30, 40, 0)),
    "ten strata, 20 of 1000 each, 1 %": tuple((1_000, 20, 10, int(place > 7)) for place in range(10)),
    "a group: 5 all, 4 of 30, 20 of 700": ((5, 5, 1, 1), (30, 4, 1, 1), (700, 20, 14, 0)),
    "five strata of 10 checked": (
        (2_000, 10, 20, 0),
        (1_000, 10, 50, 0),
        (500, 10, 100, 0),
        (300, 10, 150, 1),
        (200, 10, 180, 1),
    ),
}


def strata(repeats: int, seed: int) -> None:
    """Print the coverage of count, precision and recall in strata checked at different rates."""
    print(f"{'strata':38} {'count':>7} {'width':>7} {'precision':>9} {'recall':>7}")
    for place, (name, cells) in enumerate(STRATA.items()):
        rng = np.random.default_rng([seed, place])
        layer = np.repeat(np.arange(len(cells)), [cell[0] for cell in cells])
        called = np.repeat([cell[3] for cell in cells], [cell[0] for cell in cells])
        hits = sum(cell[2] for cell in cells if cell[3])
        truth = sum(cell[2] for cell in cells)
        wanted = {"precision": hits / called.sum(), "recall": hits / truth}
        held, defined, widths = dict.fromkeys(("count", *wanted), 0), dict.fromkeys(wanted, 0), []
        for _ in range(repeats):
            label = np.full(len(layer), np.nan)
            for code, (size, n, positives, _) in enumerate(cells):
                found = rng.hypergeometric(positives, size - positives, n)
                label[np.flatnonzero(layer == code)[:n]] = np.arange(n) < found
            columns = {"y": label, "h": layer, "c": called}
            one = estimate(columns, label="y", predicted="c", stratum="h", pos_label=1)
            held["count"] += one.prevalence.count_low - 1e-6 <= truth <= one.prevalence.count_high + 1e-6
            widths.append(one.prevalence.count_high - one.prevalence.count_low)
            for metric, value in wanted.items():
                # What is undefined in a sample has no limits to hold anything.
                if one[metric].reason is None:
                    defined[metric] += 1
                    held[metric] += one[metric].low - 1e-9 <= value <= one[metric].high + 1e-9
        parts = [100 * held["count"] / repeats, *(100 * held[key] / max(defined[key], 1) for key in wanted)]
        print(f"{name:38} {parts[0]:7.1f} {np.mean(widths):7.0f} {parts[1]:9.1f} {parts[2]:7.1f}", flush=True)


def small_groups(repeats: int, seed: int) -> None:
    """Print the coverage of small groups by the number of positives found in them: 48 groups, three strata, 800 of 30 000 rows checked."""
    rng = np.random.default_rng(seed)
    held, number = np.zeros(3), np.zeros(3)
    for _ in range(repeats):
        layer = rng.choice(3, 30_000, p=[0.94, 0.05, 0.01])
        y = rng.random(30_000) < np.array([0.001, 0.02, 0.3])[layer]
        group = rng.integers(48, size=30_000)
        sizes = np.bincount(layer)
        taken = np.minimum(sizes, [300, 200, 300])
        label = np.full(30_000, np.nan)
        rows = drawn_within(layer, taken, rng)
        label[rows] = y[rows]
        columns = {"y": label, "h": layer, "g": group}
        for key, one in audited(audit_of(columns, "y", None, ["g"], None, ["h"], None, 1), 0.95).items():
            if one.reason is None:
                cell = min(int(one.details["found"]), 2)
                number[cell] += 1
                held[cell] += one.count_low - 1e-6 <= y[group == key].sum() <= one.count_high + 1e-6
    for cell, name in enumerate(("none found", "one found", "two or more")):
        print(f"{name:12} {100 * held[cell] / max(number[cell], 1):6.1f} of {int(number[cell])} groups")


#: Distributions of the sizes that rows are drawn by.
SIZES: Mapping[str, Callable[[np.random.Generator], Floats]] = {
    **{f"log-normal {sd}": partial(np.random.Generator.lognormal, sigma=sd, size=ROWS) for sd in (0.6, 0.8, 1.0, 1.2)},
    **{f"gamma {shape}": partial(np.random.Generator.gamma, shape=shape, size=ROWS) for shape in (3.0, 1.5)},
    **{f"pareto {a}": lambda rng, a=a: 1.0 + rng.pareto(a, size=ROWS) for a in (3.0, 2.0)},
    "1 or 4": lambda rng: np.where(rng.random(ROWS) < 0.7, 4.0, 1.0),
    "1 or 10": lambda rng: np.where(rng.random(ROWS) < 0.1, 10.0, 1.0),
}

#: Share and labels.
SIZE_SAMPLES = ((0.02, 600), (0.05, 300), (0.1, 60), (0.1, 100), (0.1, 300), (0.2, 100))


def by_size(repeats: int, seed: int) -> None:
    """Print the coverage of the share, its width, and how often a guard fires, with rows drawn in proportion to a size.

    The odds of a positive fall by a factor e for so many standard deviations of the logarithm of the size.
    """
    print(f"{'size':14} {'fall':>4} {'share':>5} {'labels':>6} {'covers':>7} {'width':>7} {'guarded':>8}")
    cells = itertools.product(SIZES.items(), (2.0, 1.0, 0.0, -1.0), SIZE_SAMPLES)
    for place, ((name, sizes), fall, (share, n)) in enumerate(cells):
        rng = np.random.default_rng([seed, place])
        held, fired, width = 0, 0, 0.0
        for _ in range(repeats):
            size = sizes(rng)
            log = np.log(size)
            odds = np.exp(-fall * np.clip((log - log.mean()) / log.std(), -4.0, 4.0))
            y = np.zeros(ROWS, dtype=np.bool_)
            y[rng.choice(ROWS, round(share * ROWS), replace=False, p=odds / odds.sum())] = True
            chance = np.minimum(n * size / size.sum(), 1.0)
            rows = drawn_by(chance, rng)
            label = np.full(ROWS, np.nan)
            label[rows] = y[rows]
            one = audited(audit_of({"y": label, "i": chance}, "y", None, [], "i", [], None, 1), 0.95)
            held += one.low <= share <= one.high
            width += one.high - one.low
            fired += any(note.code in {"TM113", "TM117"} for note in one.warnings)
        shown = f"{100 * held / repeats:7.1f} {width / repeats:7.4f} {100 * fired / repeats:8.1f}"
        print(f"{name:14} {fall:4.0f} {share:5.2f} {n:6d} {shown}", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--design")
    parser.add_argument("--scores")
    parser.add_argument("--strata", action="store_true")
    parser.add_argument("--cells", action="store_true")
    parser.add_argument("--sizes", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for section, chosen in ((strata, asked.strata), (small_groups, asked.cells), (by_size, asked.sizes)):
        if chosen:
            section(asked.repeats, asked.seed)
            return
    try:
        from ppi_py import ppi_mean_ci
    except ImportError:
        ppi_mean_ci = None
    print(
        f"{'scores':11} {'design':11} {'share':>5} {'labels':>6} {'covers':>7} {'groups':>7} {'width':>7} {'rmse':>7} {'plain':>7} {'ppi_py':>7} {'guarded':>8}"
    )
    for place, (kind, share, n, design) in enumerate(cases()):
        if (asked.design and design != asked.design) or (asked.scores and kind != asked.scores):
            continue
        rng = np.random.default_rng([asked.seed, place])
        hits = group_hits = groups = peer = guarded = 0.0
        errors, plain, widths = [], [], []
        for _ in range(asked.repeats):
            p, y = population(rng, share, kind)
            rows, chance = sampled(p, n, design, rng)
            label = np.full(ROWS, np.nan)
            label[rows] = y[rows]
            part = rng.integers(4, size=ROWS)
            columns = {"y": label, "p": p, "g": part} | ({} if chance is None else {"i": chance})
            inclusion = None if chance is None else "i"
            one = audited(audit_of(columns, "y", "p", [], inclusion, [], None, None), 0.95)
            truth = y.mean()
            guarded += any(note.code in {"TM113", "TM117"} for note in one.warnings)
            hits += one.low <= truth <= one.high
            errors.append(one.prevalence - truth)
            widths.append(one.high - one.low)
            plain.append(y[rng.choice(ROWS, n, replace=False)].mean() - truth)
            for key, group in audited(audit_of(columns, "y", "p", ["g"], inclusion, [], None, None), 0.95).items():
                if group.reason is None:
                    groups += 1
                    group_hits += group.low <= y[part == key].mean() <= group.high
            if ppi_mean_ci is not None and design == "simple":
                rest = np.setdiff1d(np.arange(ROWS), rows)
                low, high = ppi_mean_ci(y[rows].astype(float), p[rows], p[rest], alpha=0.05)
                peer += low[0] <= truth <= high[0]
        shown = f"{100 * peer / asked.repeats:7.1f}" if ppi_mean_ci is not None and design == "simple" else "      –"
        rmse, own = (float(np.sqrt(np.mean(np.square(e)))) for e in (errors, plain))
        print(
            f"{kind:11} {design:11} {share:5.2f} {n:6d} {100 * hits / asked.repeats:7.1f} {100 * group_hits / max(groups, 1):7.1f} {np.mean(widths):7.4f} {rmse:7.4f} {own:7.4f} {shown} {100 * guarded / asked.repeats:8.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
