"""An index of thousands of drawn classifiers: all at once beside a pandas loop over a few of them, and in seconds."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

import tallymark as tm
from bench.report import Measured, at_most, faster
from bench.timing import rounds

_PERIODS, _PRODUCTS, _LOOPED = 36, 80, 20
_COLUMNS = {"period": "t", "product": "id", "price": "p", "quantity": "q"}


def _sales() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    t, i = np.repeat(np.arange(_PERIODS), _PRODUCTS), np.tile(np.arange(_PRODUCTS), _PERIODS)
    price = np.exp(rng.normal(0, 0.3, _PRODUCTS)[i] + np.where(i < 40, 0.004, 0.01) * t + rng.normal(0, 0.03, len(t)))
    return pd.DataFrame({"t": t, "id": i, "p": price, "q": rng.integers(1, 30, len(t)).astype(float), "own": i < 40})


def _fisher(frame: pd.DataFrame) -> pd.Series:
    """Fisher against the first period, as one would write it with pandas."""
    first = frame[frame.t == 0].set_index("id")
    both = frame.join(first[["p", "q"]], on="id", rsuffix="0").dropna()
    sums = (
        both.assign(a=both.p * both.q0, b=both.p0 * both.q0, c=both.p * both.q, d=both.p0 * both.q)
        .groupby("t")[["a", "b", "c", "d"]]
        .sum()
    )
    return np.sqrt(sums.a / sums.b * sums.c / sums.d)


def run(size: int, repeats: int) -> Iterator[Measured]:
    frame = _sales()
    rng = np.random.default_rng(1)
    sets = [
        set(np.flatnonzero(rng.random(_PRODUCTS) < np.where(np.arange(_PRODUCTS) < 40, 0.9, 0.1)))
        for _ in range(_LOOPED)
    ]

    def ours():
        return tm.prices.index_under_error(frame, label="own", metric_value=0.9, draws=size, **_COLUMNS)

    def multilateral():
        return tm.prices.index_under_error(
            frame, label="own", metric_value=0.9, draws=size, formula="geks_fisher", **_COLUMNS
        )

    def loop():
        return [_fisher(frame[frame.id.isin(kept)]) for kept in sets]

    took = rounds({"ours": ours, "geks": multilateral, "loop": loop}, repeats)
    beside = [loop * size / _LOOPED / own for loop, own in zip(took["loop"], took["ours"], strict=True)]
    note = f"{min(took['ours']):.2f} s; the loop over {_LOOPED}, scaled"
    shape = f"{size} classifiers x {_PERIODS} x {_PRODUCTS}"
    yield faster(f"Fisher of {shape} beside pandas", beside, 20.0)
    yield at_most(f"the same in tens of seconds ({note})", [own / 10.0 for own in took["ours"]], 1.0, "of 10 s")
    yield at_most(
        "GEKS-Fisher in tens of seconds",
        [own / 10.0 for own in took["geks"]],
        1.0,
        "of 10 s",
        f"{min(took['geks']):.2f} s",
    )
