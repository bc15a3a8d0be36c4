"""Neighbours: the whole grid of PWKα and its error rates beside a scikit-learn loop, and MOD beside plain searches."""

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

import tallymark as tm
from bench.report import at_most, faster
from bench.timing import ratios, rounds

_ALPHAS = (1, 2, 3, 4, 5)
#: Cells of the grid that the loop is timed on; every one costs the same.
_TIMED = (5, 45)


def run(size, repeats):
    rng = np.random.default_rng(0)
    y = (rng.random(size) < 0.2).astype(int)
    X = rng.normal(size=(size, 20))
    X[:, :5] += 0.6 * y[:, None]
    cells = 9 * len(_ALPHAS)

    def loop():
        for k in _TIMED:
            cross_val_predict(
                KNeighborsClassifier(k, n_jobs=2), X, y, cv=StratifiedKFold(5, shuffle=True, random_state=0)
            )

    seconds = rounds({"ours": lambda: tm.quantify.PWK(alpha=_ALPHAS, n_jobs=2).fit(X, y), "loop": loop}, repeats)
    # Two times five folds for every cell of the grid.
    scaled = [spent * 2 * cells / len(_TIMED) for spent in seconds["loop"]]
    gain = [theirs / ours for theirs, ours in zip(scaled, seconds["ours"], strict=True)]
    yield faster(f"PWKα, {cells} cells in 2 x 5 folds and leave-one-out, {size} x 20", gain, 10.0)
    yield at_most("the same", [spent / 2.0 for spent in seconds["ours"]], 1.0, "of 2 s")
    n = 2 * size
    rows = rng.normal(size=(n, 20))

    def searches():
        for _ in range(3):
            NearestNeighbors(n_neighbors=30, algorithm="brute", n_jobs=2).fit(rows).kneighbors(rows)

    seconds = rounds({"mod": lambda: tm.learners.MOD(30, n_jobs=2).fit(rows), "searches": searches}, 1)
    yield at_most(
        f"MOD, {n} x 20, k = 30",
        ratios(seconds, "mod", "searches"),
        2.0,
        "of three bare searches",
        f"({seconds['mod'][0]:.1f} s)",
    )
