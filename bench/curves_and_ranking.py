"""AUROC, and everything a first look needs, beside scikit-learn and beside one sort of the scores."""

from collections.abc import Iterator

import numpy as np
from sklearn import metrics as peer

import tallymark as tm
from bench.report import Measured, at_most, faster
from bench.timing import memory_bytes, ratios, rounds, run_python


def sample(rows: int, prevalence: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.random(rows) < prevalence
    return y.astype(np.int64), rng.normal(size=rows) + y


def first_look(y: np.ndarray, s: np.ndarray) -> None:
    """Tally, AUROC, average precision, best F1, Youden, and every point of both curves as rates."""
    t = tm.tally(y, s)
    tm.metrics.auroc(t)
    tm.metrics.average_precision(t)
    t.at("f1")
    t.at("youden")
    roc, pr = tm.roc(t), tm.pr(t)
    for rates in (lambda: roc.fpr, lambda: roc.tpr, lambda: pr.precision, lambda: pr.recall):
        rates()


def peers_first_look(y: np.ndarray, s: np.ndarray) -> None:
    """The same through scikit-learn; best F1 and Youden would come on top."""
    peer.roc_auc_score(y, s)
    peer.average_precision_score(y, s)
    peer.roc_curve(y, s, drop_intermediate=False)
    peer.precision_recall_curve(y, s)


def run(rows: int, repeats: int) -> Iterator[Measured]:
    for prevalence in (0.0023, 0.5):
        y, s = sample(rows, prevalence)
        name = f"{rows / 1e6:g} M rows, {100 * prevalence:g} % positive"
        assert np.isclose(tm.metrics.auroc(tm.tally(y, s)), peer.roc_auc_score(y, s))
        seconds = rounds(
            {
                "sort": lambda s=s: np.sort(s),
                "auroc": lambda y=y, s=s: tm.metrics.auroc(tm.tally(y, s)),
                "look": lambda y=y, s=s: first_look(y, s),
                "peer auroc": lambda y=y, s=s: peer.roc_auc_score(y, s),
                "peer look": lambda y=y, s=s: peers_first_look(y, s),
            },
            repeats,
        )
        yield faster(f"AUROC, {name}", ratios(seconds, "peer auroc", "auroc"), 12)
        yield faster(f"first look, {name}", ratios(seconds, "peer look", "look"), 25)
        yield at_most(f"first look, {name}", ratios(seconds, "look", "sort"), 6, "of one np.sort")
        yield at_most(f"memory of the first look, {name}", [memory(rows, prevalence)], 6, "of the score array")


def memory(rows: int, prevalence: float) -> float:
    """Peak memory of a first look beyond what the data itself takes, over the size of the scores."""
    code = f"from bench.curves_and_ranking import measure_memory; measure_memory({rows}, {prevalence})"
    return float(run_python(["-c", code]))


def measure_memory(rows: int, prevalence: float) -> None:
    """Run in a process of its own: a peak never goes down again."""
    first_look(*sample(1_000, 0.5))
    y, s = sample(rows, prevalence)
    # What making the sample needed at its peak is given back before the measured work starts.
    before = memory_bytes("VmRSS")
    first_look(y, s)
    print((memory_bytes("VmHWM") - before) / s.nbytes)
