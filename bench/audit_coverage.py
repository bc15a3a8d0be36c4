"""How often the 95 % limits of an audit hold the truth, and how far its estimates are off.

``python -m bench.audit_coverage [--repeats 400]`` prints, for rare and common classes, few and many labels, good and bad scores and each
design, the share of intervals that hold the true share (of all rows, and of groups), the root mean squared error, that of a plain share
of a simple random sample, and what ppi-python's interval does, where it is installed.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tallymark.decide.audit_designs import Layers, allocated, chances, cut_strata, doubt, drawn_by, drawn_within
from tallymark.quantify.audits.from_audit import audited
from tallymark.quantify.audits.samples import audit_of

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
    return p, y


def sampled(p: Floats, n: int, design: str, rng: np.random.Generator) -> tuple[NDArray[np.int64], Floats | None]:
    """Rows to check, and each row's probability to be drawn."""
    if design == "simple":
        return rng.choice(len(p), n, replace=False), None
    if design == "stratified":
        codes = cut_strata(p, 5)
        taken = allocated(Layers.of(codes, p, np.ones(len(p))), n, 2, "neyman")
        return drawn_within(codes, taken, rng), (taken / np.bincount(codes))[codes]
    chance = chances(doubt(p), n)
    return drawn_by(chance, rng), chance


def cases() -> Iterator[tuple[str, float, int, str]]:
    """Scores, share, labels and design."""
    for design in ("simple", "stratified", "uncertainty"):
        for kind in ("calibrated", "too high", "too sure", "useless", "weak", "two values", "any scale"):
            if design != "simple" and kind == "any scale":
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


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--design")
    asked = parser.parse_args()
    try:
        from ppi_py import ppi_mean_ci
    except ImportError:
        ppi_mean_ci = None
    warnings.simplefilter("ignore")
    print(
        f"{'scores':11} {'design':11} {'share':>5} {'labels':>6} {'covers':>7} {'groups':>7} {'width':>7} {'rmse':>7} {'plain':>7} {'ppi_py':>7}"
    )
    for place, (kind, share, n, design) in enumerate(cases()):
        if asked.design and design != asked.design:
            continue
        rng = np.random.default_rng([asked.seed, place])
        hits = group_hits = groups = peer = 0.0
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
            f"{kind:11} {design:11} {share:5.2f} {n:6d} {100 * hits / asked.repeats:7.1f} {100 * group_hits / max(groups, 1):7.1f} {np.mean(widths):7.4f} {rmse:7.4f} {own:7.4f} {shown}",
            flush=True,
        )


if __name__ == "__main__":
    main()
