"""Bootstrap beside a scikit-learn loop, DeLong beside pairwise peers."""

import itertools
import time
from collections.abc import Iterator

import numpy as np
from confidenceinterval import roc_auc_score as peer_interval
from MLstatkit import Delong_test
from sklearn import metrics as sk

import tallymark as tm
from bench.report import Measured, at_most, faster
from bench.timing import memory_bytes, ratios, rounds, run_python

_METRICS = (
    "auroc", "average_precision", "ks", "spcc", "brier", "log_loss",
    "precision", "recall", "f1", "mcc", "balanced_accuracy", "accuracy",
)  # fmt: skip
_REPLICATES = 2_000
#: Rounds of a peer's loop that are timed; all rounds cost the same.
_PEER_ROUNDS = 5
_MODELS = 20
#: Pairs of models a peer is timed on; all pairs cost the same.
_PEER_PAIRS = 3


def sample(rows, share, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(rows) < share).astype(np.int64)
    return y, 1 / (1 + np.exp(-rng.normal(1.5 * y - 0.75)))


def one_peer_round(y, s, rng):
    """One stratified resample, and the twelve metrics of it through scikit-learn and NumPy."""
    rows = np.concatenate([rng.choice(np.flatnonzero(y == side), np.sum(y == side)) for side in (0, 1)])
    truth, score = y[rows], s[rows]
    called = (score >= 0.5).astype(np.int64)
    fpr, tpr, _ = sk.roc_curve(truth, score)
    return (
        sk.roc_auc_score(truth, score), sk.average_precision_score(truth, score), np.max(tpr - fpr),
        np.corrcoef(truth, score)[0, 1], sk.brier_score_loss(truth, score), sk.log_loss(truth, score),
        sk.precision_score(truth, called), sk.recall_score(truth, called), sk.f1_score(truth, called),
        sk.matthews_corrcoef(truth, called), sk.balanced_accuracy_score(truth, called), sk.accuracy_score(truth, called),
    )  # fmt: skip


def run(rows: int, repeats: int) -> Iterator[Measured]:
    for share in (0.02, 0.5):
        y, s = sample(rows, share)
        tally, rng = tm.tally(y, s), np.random.default_rng(0)
        seconds = rounds(
            {
                "ours": lambda tally=tally: tm.intervals.bootstrap(
                    tally, _METRICS, threshold=0.5, replicates=_REPLICATES
                ),
                "peer": lambda y=y, s=s, rng=rng: [one_peer_round(y, s, rng) for _ in range(_PEER_ROUNDS)],
            },
            repeats,
        )
        found = [r * _REPLICATES / _PEER_ROUNDS for r in ratios(seconds, "peer", "ours")]
        yield faster(f"{_REPLICATES} bootstrap replicates of 12 metrics, {rows} rows, {100 * share:g} %", found, 100)
    yield _memory(rows)
    yield from _delong(rows, repeats)


def _memory(rows: int) -> Measured:
    """The peak of four times as many replicates beside that of some."""
    few, many = (int(run_python(["-c", f"from bench.intervals import peak; peak({rows}, {n})"])) for n in (500, 2_000))
    return at_most("memory of 2000 replicates", [many / few], 1.1, "of that of 500")


def peak(rows: int, replicates: int) -> None:
    """Run in a process of its own."""
    tm.intervals.bootstrap(tm.tally(*sample(rows, 0.5)), _METRICS, threshold=0.5, replicates=replicates)
    print(memory_bytes("VmHWM"))


def _delong(rows: int, repeats: int) -> Iterator[Measured]:
    y, s = sample(rows, 0.2)
    rng = np.random.default_rng(1)
    columns = {f"m{i}": s + rng.normal(0.0, 0.1 + i / 50, rows) for i in range(_MODELS)}
    panel = tm.panel(y, columns)
    pairs = list(itertools.combinations(columns, 2))
    ours, pairwise, single = [], [], []
    for _ in range(repeats):
        ours.append(_seconds(lambda: tm.compare(panel)))
        pairwise.append(_seconds(lambda: [Delong_test(y, columns[a], columns[b]) for a, b in pairs[:_PEER_PAIRS]]))
        single.append(_seconds(lambda: [peer_interval(y, columns[m]) for m in list(columns)[:_PEER_PAIRS]]))
    agree = Delong_test(y, columns["m0"], columns["m1"])
    if abs(agree[1] - tm.compare(panel)["m0", "m1"].p_value) > 1e-6:
        raise ValueError("the peer's p-value is another one")
    times = [len(pairs) / _PEER_PAIRS * p / o for p, o in zip(pairwise, ours, strict=True)]
    yield faster(f"DeLong of {_MODELS} models, all {len(pairs)} pairs, {rows} rows, MLstatkit", times, 20)
    times = [_MODELS / _PEER_PAIRS * p / o for p, o in zip(single, ours, strict=True)]
    yield faster(f"the same beside confidenceinterval's {_MODELS} single intervals", times, 1)


def _seconds(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
