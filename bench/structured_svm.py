"""The structured SVM: its most violated labelling, its fits beside LinearSVC's hinge loss, and how both grow with the rows."""

import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

import tallymark as tm
from bench.report import at_most
from tallymark.learners.most_violated import most_violated
from tallymark.learners.table_losses import table_loss

#: Losses whose argmax must be found in 20 ms at 100 000 rows, and spreads of scores from untrained to far apart.
_LOSSES, _SPREADS = ("ae", "nas", "f1", "geometric_mean", "q"), (1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 1e-3)
_GOAL_MILLISECONDS = 20.0


def _sample(n, attributes, seed=0):
    rng = np.random.default_rng(seed)
    y = (np.arange(n) < 0.2 * n).astype(int)
    X = rng.normal(size=(n, attributes))
    X[:, :5] += 0.6 * y[:, None]
    return X, y


def _seconds(work, times):
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        spent.append(time.perf_counter() - start)
    return float(np.median(spent))


def run(size, repeats):
    rng = np.random.default_rng(0)
    positives = size // 5
    for name in _LOSSES:
        loss = table_loss(name, positives, size - positives)
        spent = []
        for spread in _SPREADS:
            scores = rng.normal(size=size) * spread
            scores[:positives] += 0.6 * spread
            spent.append(
                1e3 * _seconds(lambda s=scores, d=loss: most_violated(d, s[:positives], s[positives:]), repeats)
            )
        note = f"(median {np.median(spent):.0f} ms, worst of {len(spent)} spreads {max(spent):.0f} ms)"
        yield at_most(
            f"argmax of {name}, {size} rows, worst spread", [max(spent) / _GOAL_MILLISECONDS], 1.0, "of 20 ms", note
        )
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y = _sample(2_000, 20)
    hinge = _seconds(lambda: LinearSVC(loss="hinge", max_iter=100_000).fit(X, y), 5)
    for name in ("q", "f1", "geometric_mean", "nas", "accuracy"):
        ours = _seconds(lambda n=name: tm.learners.StructuredSVM(n, C=1000.0).fit(X, y), 5)
        yield at_most(
            f"fit of {name}, 2 000 x 20, C 1 000", [ours / hinge], 20.0, "of LinearSVC's hinge", f"({ours:.2f} s)"
        )
    for n in (size // 100, size // 10, size):
        X, y = _sample(n, 50)
        for name in ("q", "f1", "nas"):
            made = tm.learners.StructuredSVM(name, C=1000.0)
            spent = _seconds(lambda m=made, a=X, b=y: m.fit(a, b), 1)
            note = f"({spent:.2f} s, {made.n_iter_} steps, gap {made.gap_:.1g})"
            yield at_most(f"fit of {name}, {n} x 50, C 1 000", [spent / 10.0], 1.0, "of 10 s", note)
