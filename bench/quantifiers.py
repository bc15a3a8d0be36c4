"""Quantifiers beside QuaPy on the same samples, and counting ten million scores beside tallying them."""

import time
import warnings
from collections.abc import Iterator

import numpy as np
from quapy import evaluation
from quapy.data import LabelledCollection
from quapy.method import aggregative as qp
from quapy.method._kdey import KDEyML
from quapy.method._threshold_optim import MAX, MS, MS2, T50, X
from quapy.protocol import AbstractProtocol
from sklearn.base import BaseEstimator, ClassifierMixin

import tallymark as tm
from bench.report import Measured, at_most, faster
from bench.timing import ratios, rounds

_SAMPLES, _SIZE, _POOL, _VALIDATION = 2_100, 500, 20_000, 2_000
#: Samples a peer is timed on; all samples cost the same.
_PEER_SAMPLES = 100


class Scores(ClassifierMixin, BaseEstimator):
    """A classifier whose only attribute is its score."""

    def __init__(self):
        self.classes_ = np.array([0, 1])

    def fit(self, X, y):  # noqa: ARG002
        return self

    def predict_proba(self, X):
        return np.column_stack((1 - X[:, 0], X[:, 0]))

    def decision_function(self, X):
        return X[:, 0]

    def predict(self, X):
        return (X[:, 0] >= 0.5).astype(int)


class Listed(AbstractProtocol):
    """The samples of an index matrix."""

    def __init__(self, data, index):
        self.data, self.index = data, index

    def __call__(self):
        for rows in self.index:
            yield self.data.sampling_from_index(rows).Xp

    def on_preclassified_instances(self, predictions):
        return Listed(LabelledCollection(predictions, self.data.labels, classes=[0, 1]), self.index)

    def total(self):
        return len(self.index)


def draw(rng, n, share):
    y = (rng.random(n) < share).astype(int)
    return y, 1 / (1 + np.exp(-1.5 * rng.normal(1.5 * y - 0.75)))


def peers():
    """Our name and options, QuaPy's quantifier, what it learns from, and the goal."""
    made = Scores()
    return [
        ("pcc", {}, qp.PCC(made, False), "soft", 70), ("ac", {}, qp.ACC(made, False), "hard", 70),
        ("pacc", {}, qp.PACC(made, False), "soft", 70), ("x", {}, X(made, False), "score", 70),
        ("max", {}, MAX(made, False), "score", 70), ("t50", {}, T50(made, False), "score", 70),
        ("ms", {}, MS2(made, False), "score", 70), ("sweep", {}, MS(made, False), "score", 70),
        ("hdy", {}, qp.HDy(made, False), "soft", 70),
        ("dys", {"bins": (8,), "distance": "hellinger"}, qp.DyS(made, False), "soft", 70),
        ("kde", {}, KDEyML(made, False), "soft", 70), ("energy", {}, qp.EDy(made, False), "soft", 70),
        ("em", {}, qp.EMQ(made, False), "soft", 10),
    ]  # fmt: skip


def learnt(peer, kind, y, s, share):
    """QuaPy's quantifier fitted on scores."""
    if isinstance(peer, qp.EMQ):
        peer.train_prevalence = np.array([1 - share, share])
        return peer
    if hasattr(peer, "_check_init_parameters"):
        peer._check_init_parameters()  # noqa: SLF001
    given = {"hard": (s >= 0.5).astype(int), "soft": np.column_stack((1 - s, s)), "score": s}[kind]
    peer.aggregation_fit(given, y)
    return peer


def sampled(rng):
    y, pool = draw(rng, _POOL, 0.5)
    positive, negative = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    counts = rng.integers(0, _SIZE + 1, _SAMPLES)
    index = np.stack([np.concatenate((rng.choice(positive, k), rng.choice(negative, _SIZE - k))) for k in counts])
    return y, pool, index


def agreement(name, options, peer, validation, pool, index):
    """The largest difference of the estimates over some samples."""
    features = {"soft": np.column_stack((1 - pool, pool)), "hard": (pool >= 0.5).astype(int), "score": pool}
    ours = tm.quantify.estimate_many(name, validation, pool, index, **options)
    # QuaPy's own stopping rule ends expectation maximisation early; asked to go on, it comes to the same share.
    more = {"epsilon": 1e-9} if name == "em" else {}
    theirs = [peer[0].aggregate(features[peer[1]][rows], **more)[1] for rows in index]
    return float(np.abs(ours - theirs).max())


def run(rows: int, repeats: int) -> Iterator[Measured]:
    warnings.filterwarnings("ignore")
    rng = np.random.default_rng(0)
    y, s = draw(rng, _VALIDATION, 0.5)
    validation = tm.tally(y, s)
    truth, pool, index = sampled(rng)
    data = LabelledCollection(pool[:, None], truth)
    for name, options, peer, kind, goal in peers():
        fitted = learnt(peer, kind, y, s, validation.prevalence)
        gap = agreement(name, options, (fitted, kind), validation, pool, index[:20])
        if gap > 1e-4:
            raise ValueError(f"{name}: QuaPy's estimate is another one, by {gap:.2g}")
        protocol = Listed(data, index[:_PEER_SAMPLES])
        seconds = rounds(
            {
                "ours": lambda name=name, options=options: tm.quantify.estimate_many(
                    name, validation, pool, index, **options
                ),
                "peer": lambda fitted=fitted, protocol=protocol: evaluation.prediction(
                    fitted, protocol, aggr_speedup=False
                ),
            },
            repeats,
        )
        found = [r * _SAMPLES / _PEER_SAMPLES for r in ratios(seconds, "peer", "ours")]
        yield faster(f"{_SAMPLES} samples of {_SIZE}: {name}", found, goal)
    yield from _large(rows, repeats)


def _large(rows: int, repeats: int) -> Iterator[Measured]:
    rng = np.random.default_rng(1)
    validation = tm.tally(*draw(rng, _VALIDATION, 0.5))
    scores = draw(rng, rows, 0.1)[1]
    tallied, counted = [], {name: [] for name in ("ac", "pacc", "em", "bayes")}
    for _ in range(repeats):
        start = time.perf_counter()
        target = tm.tally(scores=scores)
        tallied.append(time.perf_counter() - start)
        for name, seconds in counted.items():
            start = time.perf_counter()
            tm.quantify.estimate(name, validation, target)
            seconds.append(time.perf_counter() - start)
    for name, seconds in counted.items():
        found = [a / b for a, b in zip(seconds, tallied, strict=True)]
        yield at_most(f"{name} with its interval, {rows} scores", found, 5, "of making the tally")
