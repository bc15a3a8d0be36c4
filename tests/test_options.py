"""Options are never swallowed: every public function refuses an unknown one, and each one it has does something or is refused.

`CALLS` has a valid call of every public function and, for each of its options, another value; options that only say how the work is done
are in `ONLY_HOW`. A function or option that is missing here fails.
"""

import dataclasses
import functools
import inspect
import json
import warnings
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest

import tallymark as tm
from tallymark.rare.files import TextColumn
from tallymark.registry import LOSSES, METRICS, POLICIES, QUANTIFIERS

pytestmark = pytest.mark.slow

#: These change how long the work takes, where it is done, or who is told of it, never the answer.
ONLY_HOW = {"jobs", "n_jobs", "progress", "memory_limit", "threads", "command", "files"}

RNG = np.random.default_rng(0)
N = 160
Y = np.arange(N) % 2
P = np.round(np.clip(RNG.normal(0.4 + 0.2 * Y, 0.15), 0.01, 0.99), 2)
Q = np.round(np.clip(RNG.normal(0.45 + 0.1 * Y, 0.15), 0.01, 0.99), 2)
W = RNG.integers(1, 5, N) / 2
C = np.arange(N) // 8
FRAME = pd.DataFrame({
    "y": Y, "p": P, "q": Q, "w": W, "k": RNG.integers(1, 4, N), "c": C, "hat": (P >= 0.5).astype(int), "hat2": (Q >= 0.5).astype(int),
    "v": RNG.integers(1, 50, N).astype(float), "v2": RNG.integers(1, 50, N).astype(float),
    "t": np.arange(N) * 8 // N + 2001, "g": np.where(np.arange(N) % 3, "a", "b"), "item": np.arange(N) % 5, "z": (np.arange(N) % 8 < 3 + 2 * (np.arange(N) >= N / 2)).astype(int),
})  # fmt: skip


@functools.cache
def tally(kind="p"):
    return tm.tally(Y, P if kind == "p" else Q)


@functools.cache
def weighted():
    return tm.tally(Y, P, weights=W)


@functools.cache
def target():
    return tm.tally(scores=np.round(np.clip(RNG.normal(0.5, 0.2, 120), 0.01, 0.99), 2))


@functools.cache
def panel():
    return tm.panel(Y, {"a": P, "b": Q})


@functools.cache
def matrix():
    return tm.confusion(Y, (P >= 0.5).astype(int))


@functools.cache
def files(tmp):
    FRAME.to_csv(tmp / "rows.csv", index=False)
    return str(tmp / "rows.csv")


@dataclasses.dataclass(frozen=True)
class With:
    """Another value of an option, and what else the call then needs, both before and after."""

    value: object
    also: Mapping[str, object] = dataclasses.field(default_factory=dict)
    #: Positional arguments of its own.
    first: tuple | None = None


@dataclasses.dataclass(frozen=True)
class Call:
    """Positional arguments, named ones, and other values of its options."""

    arguments: tuple
    named: Mapping[str, object]
    others: Mapping[str, object]


def call(*arguments, named=None, **others):
    return Call(arguments, named or {}, others)


def fingerprint(thing):
    """What a result says, as text."""
    if isinstance(thing, np.ndarray):
        return repr((thing.dtype.kind, thing.tolist()))
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        return repr([(field.name, fingerprint(getattr(thing, field.name))) for field in dataclasses.fields(thing)])
    if isinstance(thing, Mapping):
        return repr([(str(key), fingerprint(value)) for key, value in thing.items()])
    if isinstance(thing, list | tuple):
        return repr([fingerprint(value) for value in thing])
    if type(thing).__module__.startswith("altair"):
        chart = thing.to_dict()
        # Names of data sets are hashes of them, and of selections running numbers.
        return json.dumps(chart, sort_keys=True, default=str)
    if isinstance(thing, TextColumn):
        return repr(list(thing))
    if callable(thing) and not hasattr(thing, "to_dict"):
        return type(thing).__name__
    return repr(thing)


def answer(function, arguments, named):
    """What a call says, or that it was refused."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = function(*arguments, **named)
        except tm.TallymarkError as error:
            return "refused", str(error)
        return "answered", fingerprint(found) + repr(sorted(str(one.message) for one in told))


CURVE = call(tally())
BACKWARDS = sorted(FRAME["t"].unique().tolist(), reverse=True)
#: What data are asked for where nobody says it.
READ = {"prevalence_stable": None, "values_stable": None}
CALLS = {
    "brier_curve": CURVE, "cost_curve": CURVE, "det": CURVE, "gain": CURVE, "positive_tradeoff": CURVE, "pr": CURVE,
    "predictive_roc": CURVE, "roc": CURVE,
    "advise": call(
        named={"prevalence_stable": True, "values_stable": True}, classes=4, prevalence_stable=False, values_stable=False, prevalence="low", true_negatives_matter=With(True, {"prevalence": "low"}), emphasise="fp",
        cost_fp=With(5.0, {"cost_fn": 1.0}), cost_fn=With(5.0, {"cost_fp": 1.0}),
        period=With("t", {"label": "y", "value": "v"} | READ, (FRAME,)), label=With("y", {"period": "t", "value": "v"} | READ, (FRAME,)),
        value=With("v", {"period": "t", "label": "y"} | READ, (FRAME,)), data=With(FRAME, {"period": "t", "label": "y"}),
        pos_label=With(0, {"period": "t", "label": "y", "value": "v"} | READ, (FRAME,)),
        level=With(0.5, {"period": "t", "label": "z", "value": "v"} | READ, (FRAME,)),
        impact=tm.prices.impact(FRAME, label="y", value="v", predicted="hat"),
        order=With(BACKWARDS, {"period": "t", "label": "y", "value": "v"} | READ, (FRAME,)),
    ),
    "bound": call(tally().quantise(), "auroc"),
    "brier_parts": call(tally(), bins=5),
    "by_sample_size": call(tally(), named={"metrics": ["auroc"], "replicates": 20, "sizes": [40, 80]}, metrics=["ks"], sizes=[50],
                           replicates=30, level=0.5, seed=1),
    "calibration_curve": call(tally(), bins=5, by="width"),
    "class_panel": call(named={"scores": np.column_stack((1 - P, P)), "classes": [0, 1]}, y=Y, scores=np.column_stack((P, 1 - P)),
                        classes=["x", "z"], label=With("y", {"score": {0: "p", 1: "q"}}, (FRAME,)), score=With({0: "p", 1: "q"}, {}, (FRAME,)), weight="w",
                        count="k", counts=np.arange(N) + 1, weights=W),
    "class_scores": call(Y, named={"scores": np.column_stack((1 - P, P)), "classes": [0, 1]}, scores=np.column_stack((P, 1 - P)),
                         classes=[1, 0], label="y", score={0: "p", 1: "q"}, weight="w", count="k", counts=np.arange(N) + 1, weights=W),
    "compare": call(panel(), metric="ks", method="delong", threshold=With(0.3, {"metric": "accuracy"}), level=0.5, equivalence=0.1, noninferiority=0.5,
                    sampling="stratified", mcnemar_kind=With("exact", {"metric": "accuracy", "method": "mcnemar", "threshold": 0.5}),
                    replicates=With(300, {"method": "bootstrap"}), seed=With(1, {"method": "bootstrap"}),
                    strict=With(True, {}, (tm.panel(Y[:12], {"a": P[:12], "b": Q[:12]}),))),
    "compare_thresholds": call(tally()),
    "confusion": call(Y, (P >= 0.5).astype(int), label="y", weight="w", count="k", pos_label=0, classes=[1, 0],
                      counts=np.arange(N) + 1, weights=W),
    "decision_curve": call(tally(), thresholds=[0.2, 0.4]),
    "evaluate": call(tally(), named={"metrics": ["auroc", "f1"]}, classes=With([0, 1], {"metrics": ["f1"]}, (tm.confusion(np.arange(N) % 3, np.arange(N) % 5 % 3),)), metrics=["ks"], threshold=0.3, level=0.5, prevalence=0.1, called="cats",
                     interval="percentile", sampling="stratified", seed=With(1, {"interval": "percentile"}),
                     strict=With(True, {}, (tm.tally(Y[:12], P[:12]),))),
    "mann_whitney": call(tm.tally(np.arange(12) % 2, np.arange(12) ** 2 % 13 + np.arange(12) / 100), method="normal", alternative="greater", level=0.5),
    "moments": call(Y, np.column_stack((1 - P, P)), named={"classes": [0, 1]}, counts=np.arange(N) + 1, weights=W, classes=[1, 0]),
    "over_prevalence": call(tally().at(0.5), ["precision"], [0.1, 0.2]),
    "over_thresholds": call(tally(), metrics=["mcc"]),
    "outcomes": call({"a": Y, "b": FRAME["hat"].to_numpy()}, items=FRAME["item"].to_numpy(), clusters=C),
    "panel": call(Y, named={"scores": {"a": P, "b": Q}}, scores={"a": Q, "b": P}, label="y", score=["p", "q"], weight="w", count="k",
                  cluster="c", counts=np.arange(N) + 1, weights=W, clusters=C, pos_label=0, extra={"price": W}),
    "sample_size": call(named={"auroc": 0.8, "difference": 0.05}, prevalence=0.2, correlation=0.1, sd_ratio=2.0, power=0.9, level=0.9,
                        auroc=0.7, difference=0.1),
    "score_histogram": call(tally(), bins=10, logit=True),
    "score_parts": call(tally(), score="log_loss"),
    "tally": call(Y, named={"scores": P}, y=With(Y, {}, ()), scores=Q, label="y", score="p", by="g", weight="w", count="k", cluster="c",
                  counts=np.arange(N) + 1, weights=W, clusters=C, pos_label=0, exact=False, drop_missing=True,
                  strict=With(True, {"scores": (P >= 0.5).astype(float)})),
    "without_simple": call(panel()),
    "calibration.beta": CURVE, "calibration.isotonic": CURVE, "calibration.platt": CURVE,
    "calibration.calibrate": call(tally(), "platt"),
    "calibration.temperature": call(tally(), bias=True),
    "intervals.auroc": call(tally(), level=0.5, method="logit"),
    "intervals.bootstrap": call(tally(), ["auroc"], named={"replicates": 100}, threshold=With(0.3, {}, (tally(), ["f1"])), replicates=150,
                                sampling="stratified", seed=1, most=With(50), parameters=With({"fbeta": {"beta": 3.0}}, {"threshold": 0.5}, (tally(), ["fbeta"]))),
    "intervals.calibration_band": call(tally(), bins=5, by="width", level=0.5, simultaneous=True),
    "intervals.chosen_threshold": call(tally(), "youden", named={"replicates": 50}, metric="f1", level=0.5, replicates=60, seed=1,
                                       sampling="stratified"),
    "intervals.delong": call(panel()),
    "intervals.heterogeneity": call({"a": tm.evaluate(tally(), metrics=["auroc", "ks"]), "b": tm.evaluate(tally("q"), metrics=["auroc", "ks"])}, metric="ks"),
    "intervals.pr_band": call(tally(), named={"replicates": 100}, level=0.5, simultaneous=True, sampling="stratified", replicates=150, seed=1),
    "intervals.proportion": call(3, 10, level=0.5, method="wilson"),
    "intervals.roc_band": call(tally(), named={"replicates": 100}, level=0.5, method=With("fixed_threshold"), simultaneous=True,
                               replicates=With(150, {"simultaneous": True}), seed=With(1, {"simultaneous": True}), at=[0.1, 0.2]),
    "quantify.adjusted_count_error": call(tally().at(0.5)),
    "quantify.bayesian_calibration": call(tally(), target(), density="kde", bins=5, bandwidth=With(0.5, {"density": "kde"}), monotone=True,
                                          level=0.5, seed=With(1, {"density": "kde"}), strict=With(True, {}, (tm.tally(Y, P), tm.tally(scores=P * 3)))),
    "quantify.class_drift": call(tm.tally(FRAME[:16], label="y", score="p", by="g"), named={"permutations": 99}, level=0.5, permutations=199, seed=1),
    "quantify.estimate": call("ac", tally(), target(), threshold=0.3, training_prevalence=With(0.2, {}, ("em", tally(), target())), level=0.5,
                              interval="bootstrap", population=1000, replicates=With(150, {"interval": "bootstrap"}),
                              seed=With(1, {"interval": "bootstrap"}), strict=With(True, {"threshold": 0.5}, ("ac", tm.tally(Y, P), tm.tally(scores=P * 3)))),
    "quantify.estimate_many": call("ac", tally(), P, [[0, 1, 2, 5], [3, 4, 8, 9]], named={"threshold": 0.5}, threshold=0.3,
                                   training_prevalence=With(0.2, {"threshold": None}, ("em", tally(), P, [[0, 1, 2, 5], [3, 4, 8, 9]]))),
    "quantify.expected": call(tally(), target(), threshold=0.3, metrics=["f1"], method="ac", level=0.5, seed=1),
    "audits.from_counts": call(matrix(), named={"predicted_positive": 30, "n": 100}, predicted_positive=40, n=90, method="cc", level=0.5,
                                 population=200, n_effective=50, seed=With(1, {"method": "bayes"}),
                                 confusion=With(matrix(), {"sensitivity": 0.9, "specificity": 0.8}, ()),
                                 sensitivity=With(0.9, {"sensitivity": 0.8, "specificity": 0.8}, ()),
                                 specificity=With(0.9, {"sensitivity": 0.8, "specificity": 0.8}, ())),
    "audits.corrected": call(tm.results.Prevalence(method="audit", prevalence=0.2, n=900, low=0.1, high=0.3, level=0.95),
                             named={"sensitivity": 0.9, "specificity": 0.9}, sensitivity=(57, 60), specificity=0.95),
    "audits.two_tests": call([[[14, 4], [9, 528]], [[887, 31], [37, 367]]], tests=("x", "y"), level=0.5),
    "quantify.mixture_fit": call(tally(), target(), bins=5, strict=With(True, {}, (tally(), tm.tally(scores=P[Y == 1] * 0.2)))),
    "quantify.regression": call(FRAME["v"], P, Q, named={"replicates": 100}, degree=1, level=0.5, replicates=150, seed=1),
    "quantify.sensitivity": call(tally(), target(), methods=["ac"], threshold=0.3, training_prevalence=With(0.2, {"methods": ["em"]})),
    "scorers.scorer": call("auroc", threshold=With(0.3, {}, ("f1",)), pos_label=0),
    "study.critical_difference": call(4, 10, level=0.9, control=True),
}  # fmt: skip

TABLE = [
    [0.1, 0.3, 0.2],
    [0.2, 0.1, 0.4],
    [0.3, 0.2, 0.5],
    [0.1, 0.4, 0.6],
    [0.2, 0.3, 0.7],
    [0.15, 0.1, 0.3],
    [0.11, 0.41, 0.21],
]
PAIR = [line[:2] for line in TABLE]
RANKS = call(TABLE, better="higher")
PRICES = {"period": "t", "product": "item", "price": "v"}
CALLS |= {
    "decisions.costs": call(FRAME, named={"label": "y", "score": "p"}, label="hat2", score="q", predicted=With("hat2", {"score": None, "predicted": "hat"}),
                         threshold=0.3, cost_fp=2.0, cost_fn="v", value_tp=1.0, value_tn=1.0,
                         matrix=With({0: {0: 0.0, 1: 1.0}, 1: {0: 5.0, 1: 0.0}}, {"score": None, "predicted": "hat"}), weight="w", cluster="c", pos_label=0, level=0.5,
                         seed=1, where="v > 10"),
    "prices.impact": call(FRAME, named={"label": "y", "value": "v", "predicted": "hat"}, label="hat2", value="v2", predicted="hat2",
                          score=With("p", {"predicted": None, "score": "q", "threshold": 0.5}), threshold=With(0.3, {"predicted": None, "score": "q", "threshold": 0.5}),
                          period="t", weight="w", cluster="c", pos_label=0, tolerance=0.5, level=0.5, where="v > 10", order=With(BACKWARDS, {"period": "t"})),
    "prices.index": call(FRAME, named=PRICES | {"quantity": "v2"}, period="item", product="g", price="v2", quantity="w", formula="laspeyres", chained=True,
                         window=With(4, {"formula": "geks_fisher"}), splice=With("half", {"formula": "geks_fisher", "window": 4}), where="v > 10", order=BACKWARDS),
    "decisions.space": call(FRAME, named={"label": "y", "predicted": ["hat", "hat2"], "replicates": 100}, label="hat2", predicted=["hat2", "hat"],
                         threshold=With(0.3, {"label": None, "predicted": None}, (panel(),)), cluster="c", pos_label=0, prevalence=0.1, metric="f1", replicates=150, seed=1),
    "rare.split": call(np.arange(100) < 30, named={"positives": 10, "negatives": 20, "prevalence": 0.1}, positives=12, negatives=25, prevalence=0.2,
                       pos_label=False, seed=1),
    "study.friedman": call(TABLE, better="higher", ties=With(False, {}, ([[1, 1, 2], [1, 2, 2], [3, 1, 2], [1, 1, 3]],)), exact=False),
    "study.iman_davenport": call(TABLE, better="higher", ties=With(False, {}, ([[1, 1, 2], [1, 2, 2], [3, 1, 2], [1, 1, 3]],))),
    "study.nemenyi": call(TABLE, better="higher", level=0.5),
    "study.shaffer": call(TABLE, better="higher", level=0.5),
    "study.bonferroni_dunn": call(TABLE, "1", better="higher", level=0.5),
    "study.westfall_young": call(TABLE, control=1, better="higher", on="values", replicates=With(150, {"replicates": 100}, (TABLE * 2,)), level=0.5, seed=With(1, {"replicates": 100}, (TABLE * 2,))),
    "study.holm": call(TABLE, control=1, better="higher", level=0.5),
    "study.hochberg": call(TABLE, control=1, better="higher", level=0.5),
    "study.hommel": call(TABLE, control=1, better="higher", level=0.5),
    "study.wilcoxon": call([[a, a + 0.1 + a**2] for a in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)], better="higher", zeros=With("drop", {}, ([[1.0, 1.0], *PAIR],)), exact=False, level=0.5),
    "study.bayesian_signed_rank": call(PAIR, named={"draws": 1000}, rope=0.1, better="higher", draws=2000, seed=1),
    "study.correlated_t": call(PAIR, folds=3, rope=0.1, better="higher"),
    "study.protocol": call(Y, kind="app", folds=5, prevalences=With([0.1, 0.5], {"kind": "app"}), samples=With(3, {"kind": "app"}), size=With(20, {"kind": "app"}),
                           seed=1),
    "learners.detectors": call(names=["lof"], n_neighbors=3, standardise=False, seed=7),
    "scan": call(named={"label": "y", "score": "p"}, label="hat2", score="q", weight="w", count="k", cluster="c", by="g", where="v > 10",
                 thresholds=With([0.3], {"exact": False}), pos_label=0, exact=False, drop_missing=With(True, {"score": "m"}), strict=With(True, {"score": "hat"})),
    "scan_panel": call(named={"label": "y", "score": ["p", "q"]}, label="hat2", score=["q", "p"], weight="w", count="k", cluster="c", where="v > 10",
                       pos_label=0, drop_missing=With(True, {"score": ["p", "m"]})),
}  # fmt: skip
#: A two-sided test of pairs is the same whichever direction is better; it takes the option as all tests of a table do.
DIRECTION_ONLY = {("study.wilcoxon", "better")}
#: Rows of which half were checked, and sales of 20 products in 8 periods, half of them of a class.
CHECKED = FRAME.assign(y=FRAME["y"].where(np.arange(N) % 4 < 2), pi=0.5 + 0.02 * (np.arange(N) % 5), s=np.arange(N) % 2)
SALES = pd.DataFrame({
    "t": np.repeat(np.arange(2001, 2009), 20), "id": np.tile(np.arange(20), 8), "shop": np.arange(N) % 2, "q": RNG.integers(1, 9, N).astype(float),
    "q2": RNG.integers(1, 9, N).astype(float), "p": np.exp(RNG.normal(0, 0.3, N)), "p2": np.exp(RNG.normal(0, 0.3, N)),
    "x": np.tile(np.arange(20) % 2, 8), "x2": np.tile(np.arange(20) % 4 // 2, 8), "s": np.tile(np.linspace(0.05, 0.95, 20), 8),
    "s2": np.tile(np.linspace(0.9, 0.1, 20), 8), "hat": np.tile(np.arange(20) % 3 % 2, 8), "word": np.tile(np.arange(20) // 4, 8),
})  # fmt: skip
SOLD = {"period": "t", "product": "id", "price": "p", "quantity": "q"}
OF_PRICES = {
    "period": With("shop"), "product": "word", "price": "p2", "quantity": "q2", "formula": "laspeyres", "chained": True,
    "seed": 1, "order": sorted(SALES["t"].unique().tolist(), reverse=True),
}  # fmt: skip
MATRICES = [tm.audits.from_matrix([[20, 3], [4, 60]], sizes) for sizes in ([300, 2_000], [500, 2_000])]
OF_AUDITS = {
    "label": "z", "score": "q", "by": "g", "inclusion": "pi", "stratum": "s", "value": "v", "pos_label": 0, "estimator": "expansion",
    "level": 0.5, "where": "v > 10", "strict": With(True, {}, (CHECKED.assign(y=CHECKED["y"] * 0.0),)),
}  # fmt: skip
DRAWN = {"label": "x2", "pos_label": 0, "tilt": With(2.0, {"errors": "price"}), "errors": "price",
         "score": With("s2", {"errors": "scores", "score": "s"}), "together": "word", "draws": 120}  # fmt: skip
CALLS |= {
    "quantify.count": call(tally(), target(), named={"methods": ["ac"]}, methods=["ms"], same_population=True, called="cats", audit=With(tm.audits.from_audit(CHECKED, label="y", score="p"), {"same_population": True}),
                           labelled=tm.tally(FRAME[:16], label="y", score="p", by="g"), expect=["accuracy"], level=0.5,
                           growth=With("g", {}, (tally(), tm.tally(FRAME, score="p", by="g"))),
                           order=With(["b", "a"], {"growth": "g"}, (tally(), tm.tally(FRAME, score="p", by="g"))),
                           seed=With(1, {"methods": ["ms"]}), strict=With(True, {}, (tm.tally(Y, P), tm.tally(scores=P * 3)))),
    "audits.estimate": call(
        CHECKED, named={"label": "y", "score": "p"}, threshold=0.3, predicted="hat", id="g", size=With({0: 90, 1: 500}, {"stratum": "s"}, (CHECKED.dropna(subset="y"),)),
        cluster=With("k", {"score": None}, (CHECKED.assign(k=np.arange(N) // 4, y=FRAME["y"].where(np.arange(N) // 4 % 2 == 0)),)), **OF_AUDITS,
    ),
    "audits.from_matrix": call(
        [[20, 3], [4, 60]], [300, 2_000], classes=["a", "b"], unit=2.0, finite=True, level=0.5,
    ),
    "audits.change": call(MATRICES[0], MATRICES[1]),
    "audits.paired_change": call(
        CHECKED.assign(y2=CHECKED["y"].where(CHECKED["v"] > 20, 1 - CHECKED["y"])), named={"before": "y", "after": "y2"}, before="y2", after="y", stratum="s", inclusion="pi",
        cluster="g", level=0.5, where="v > 10",
    ),
    "audits.from_replicates": call(
        FRAME, named={"label": "z", "weight": "w", "replicate_weights": ["k", "v", "v2"]}, label="hat", weight="v", replicate_weights=["k", "v"], kind="jackknife",
        rho=With(0.5, {"kind": "brr"}), predicted="hat", by="g", level=0.5, where="v > 10",
    ),
    "audits.pooled": call(tm.audits.estimate(CHECKED, label="y", by="item"), 1),
    "not_worse": call(tally(), tally("q"), metric="average_precision", margin=0.1, threshold=With(0.3, {"metric": "f1"}), level=0.9),
    "audits.publication": call(MATRICES[0], "variation"),
    "audits.stopping": call([1] * 20 + [0] * 60, 100, recall=0.5, pos_label=0, level=0.5),
    "audits.accuracy_size": call([0.2, 0.8], [0.9, 0.8], named={"standard_error": 0.02}, standard_error=0.03),
    "audits.elusion_size": call(500, 20_000, named={"recall": 0.9}, recall=0.8, missed=0.001, level=0.5),
    "audits.from_audit": call(CHECKED, named={"label": "y", "score": "p"}, **OF_AUDITS),
    "audits.plan": call(
        CHECKED, named={"score": "p", "size": 40}, score="q", size=30, width=With(0.3, {"size": None, "width": 0.2}), measure=With("precision", {"threshold": 0.5}),
        predicted="hat", stratum="s", checked="y", pos_label=With(0, {"checked": "y"}),
        threshold=With(0.3, {"measure": "precision", "threshold": 0.5}), by="g", value="v", design="simple", allocation="power", strata=3,
        least=With(25, {"size": 60}), level=0.5, seed=1,
    ),
    "prices.index_audit": call(SALES, named=SOLD | {"score": "s", "n": 5}, score="s2", n=6, width=With(0.2, {"n": None, "width": 0.1}), level=0.5, **OF_PRICES),
    "prices.index_under_error": call(
        SALES, named=SOLD | {"label": "x", "draws": 100}, metric="recall", metric_value=0.7, predicted=With("hat", {}), **DRAWN, **OF_PRICES,
    ),
    "prices.metrics_by_index_error": call(SALES, named=SOLD | {"label": "x", "draws": 100}, metrics=["recall"], **DRAWN, **OF_PRICES),
    "raters.judge": call(
        CHECKED.assign(h=CHECKED["y"], h2=CHECKED["y"].where(np.arange(N) > 40), i=np.arange(N) // 2), named={"judge": "hat", "human": "h"}, judge="z", human="h2", by="g", level=0.5,
        pos_label=0, system="s", item="i", cluster="g", stratum="hat", inclusion="pi", scale="classes", population="items",
        equivalence=With(0.2, {"judge": ["hat", "z"], "human": ["h", "h2"]}), noninferiority=With(0.9, {"judge": ["hat", "z"], "human": ["h", "h2"]}), where="v > 10",
        id=With("row", {"labels": CHECKED.assign(row=np.arange(N))[["row", "y"]].rename(columns={"y": "h"})}, (CHECKED.assign(row=np.arange(N)),)),
        labels=With(CHECKED.assign(row=np.arange(N))[["row", "y"]].rename(columns={"y": "h"})[20:], {"id": "row"}, (CHECKED.assign(row=np.arange(N)),)),
        strict=With(True, {"judge": "one"}, (CHECKED.assign(h=CHECKED["y"] * 0.0, one=1),)),
    ),
    "raters.judge_drift": call(
        CHECKED.assign(h=CHECKED["y"]), named={"judge": ["hat", "hat2"]}, judge=["hat", "z"], human="h", pos_label=0, level=0.5, where="v > 10",
    ),
    "raters.plan": call(
        CHECKED.assign(h=CHECKED["y"].where(np.arange(N) < 60), h2=CHECKED["y"]), named={"judge": "hat", "human": "h", "width": 0.2}, judge="z", human=None, width=0.15,
        difference=With(0.2, {"judge": ["hat", "hat2"], "human": ["h", "h2"], "width": None}),
        power=With(0.95, {"judge": ["hat", "hat2"], "human": ["h", "h2"], "width": None, "difference": 0.3}), pos_label=0, level=0.5, where="v > 10", seed=1,
    ),
    "raters.agreement": call(
        FRAME, named={"rater": ["hat", "hat2", "z"]}, rater=["hat", "hat2"], item="c", rating="hat", weights=[[1.0, 0.5], [0.5, 1.0]], level=0.5, cluster="c",
    ),
    "monitor.watch": call(
        CHECKED.assign(y=FRAME["y"]), named={"score": "p", "period": "t", "label": "y", "method": "ac"}, score="q", period="item", label="z", value="v", reference=4,
        audit=True, threshold=0.3, method="ms", metrics=["recall"], run_length=50.0, pos_label=0, level=0.5, seed=With(1, {"method": "ms"}), where="v > 10",
        order=BACKWARDS, store=With(5), item="item", check_cost=With(5.0, {"item": "q", "check_cost": 1.0, "error_cost": 1.0}),
        error_cost=With(5.0, {"item": "q", "check_cost": 1.0, "error_cost": 1.0}),
    ),
}  # fmt: skip
WORDS = RNG.choice(["alpha", "beta", "gamma", "delta", "omega", "the", "and", "von", "een"], (60, 5))
TEXTS = [" ".join([*words, "rare" if i % 4 == 0 and i % 3 else "usual"]) for i, words in enumerate(WORDS)]
KNOWN = ((np.arange(60) % 4 == 0) & (np.arange(60) % 7 > 0)).astype(int)
OF_TEXTS = {
    "target_labels": KNOWN, "pos_label": 0, "cleaning": tm.rare.Cleaning(min_letters=5), "C": 0.01, "level": 0.5, "seed": 5,
}  # fmt: skip
CALLS |= {
    "rare.class_weight_sweep": call(TEXTS, KNOWN, TEXTS, named={"weights": [1.0, 5.0], "machines": 2}, weights=[1.0, 20.0], machines=3, **OF_TEXTS),
    "rare.balanced": call(TEXTS, KNOWN, TEXTS, named={"machines": 1}, machines=3, **OF_TEXTS),
    "rare.compare": call(TEXTS, KNOWN, TEXTS, named={"methods": {"balanced": {}}}, methods={"bootstrap": {"machines": 5}}, **OF_TEXTS),
    "rare.bootstrap": call(TEXTS, KNOWN, TEXTS, named={"machines": 5}, machines=6, negatives=15, **OF_TEXTS),
    "rare.ensemble": call(TEXTS, KNOWN, TEXTS, named={"machines": 3, "ensembles": 1}, machines=4, ensembles=2, **OF_TEXTS),
    "rare.texts_in": call(named={"text": "g"}, text="c", where="v > 10"),
}  # fmt: skip
#: What `tm.report` is about; its test writes no page but compares the content.
PERIODS = tm.tally(FRAME, score="p", by="t")
PAGE = (tm.quantify.estimate("cc", tally(), PERIODS, replicates=100), "page.html")
ADVICE = tm.advise(prevalence_stable=True, values_stable=True)
CALLS["report"] = call(
    tally(), "page.html", title="Another", threshold="f1", level=0.5, prevalence=0.1, sampling="stratified", advice=ADVICE, private=4,
)  # fmt: skip


@functools.cache
def learner(name, *methods):
    """A function of a learner's options that says what it gives after a fit."""
    made = getattr(tm.learners, name)
    rows = np.column_stack((P, Q, np.sin(np.arange(N) * 7)))
    unequal = np.arange(N) % 4 != 1

    def fitted(**options):
        found = made(**options).fit(rows[unequal], Y[unequal])
        if options.get("warm_start"):
            found.fit(rows[unequal], Y[unequal])
        return [getattr(found, method)(rows[::-1] * 1.1) for method in methods]

    fitted.__signature__ = inspect.signature(made)
    return fitted


def declaration(kind, registry, function, use=None):
    """A function of the options of a declaration that says what is then known of it, and what it gives."""
    declare = getattr(tm.extend, kind)

    def declared(**options):
        try:
            declare("declared_here", **options)(function)
            facts = vars(registry["declared_here"])
            known = {name: value for name, value in facts.items() if not callable(value)}
            return [known, None if use is None else use()]
        finally:
            registry.remove_user_defined("declared_here")

    declared.__signature__ = inspect.signature(declare)
    return declared


TEXT = {"meaning": "Another.", "reference": "Somebody.", "aliases": ("other_name",)}
TITLED = TEXT | {"title": "Another", "formula": "x"}
LEARNERS = {
    "learners.MOD": learner("MOD", "predict", "decision_function"),
    "learners.PWKClassifier": learner("PWKClassifier", "predict", "predict_proba"),
    "learners.StructuredSVM": learner("StructuredSVM", "decision_function"),
    "rare.Cleaning": lambda **options: tm.rare.bootstrap(TEXTS, KNOWN, TEXTS, machines=3, cleaning=tm.rare.Cleaning(**options)),
    "extend.metric": declaration(
        "metric", METRICS, lambda tally: float(tally.positives > 3) / 2,
        lambda: [tm.evaluate(tally(), metrics=["declared_here"], prevalence=p, level=None) for p in (None, 0.2)],
    ),
    "extend.policy": declaration("policy", POLICIES, lambda tally, *numbers: 0.4 + sum(numbers)),
    "extend.loss": declaration("loss", LOSSES, lambda truth, estimate: abs(truth - estimate).max(axis=1)),
    "extend.quantifier": declaration(
        "quantifier", QUANTIFIERS, lambda validation, scores, **_: 0.3,
        lambda: tm.quantify.estimate("declared_here", tally(), target(), level=None),
    ),
}  # fmt: skip
LEARNERS["rare.Cleaning"].__signature__ = inspect.signature(tm.rare.Cleaning)
CALLS |= {
    "learners.MOD": call(n_neighbors=5, iterations=1, contamination=0.3),
    "learners.PWKClassifier": call(n_neighbors=5, alpha=1.0, metric="manhattan", metric_params=With({"p": 1}, {"metric": "minkowski"})),
    "learners.StructuredSVM": call(
        loss="f1", beta=0.5, classification="precision", quantification="ae", C=10.0, tol=1e-9, max_iter=2, intercept_scaling=0.1,
        warm_start=With(True, {"max_iter": 3}),
    ),
    "rare.Cleaning": call(min_letters=5, min_words=8, min_df=30, languages=["nl", "de"], stem=lambda word: word[:1]),
    "extend.metric": call(
        named={"needs": "tally", "range": (0, 1), "better": "higher", "meaning": "One."}, needs="cells", range=(0, 2), better="lower",
        prevalence_free=True, rank_only=True, chance=0.5, parameters={"power": 3.0}, **TITLED,
    ),
    "extend.policy": call(
        named={"meaning": "One."}, arguments=("least",), defaults=With((0.1,), {"arguments": ("least",)}), example="declared_here:3", judged_by="f1", **TEXT,
    ),
    "extend.loss": call(named={"meaning": "One."}, range=(0, 1), better="higher", ordinal=True, **TITLED),
    "extend.quantifier": call(named={"meaning": "One."}, probabilities=True, shift_proof=False, options={"k": 1}, batched=True, **TITLED),
}  # fmt: skip
#: Functions of files, whose rows are written before they are called.
OF_FILES = {"scan", "scan_panel", "rare.texts_in"}
#: What is tried elsewhere: it takes a folder or a name and nothing else.
ELSEWHERE = {"data_file", "load", "look", "study.dataset"}


def public_functions():
    rooms = {"": tm} | {f"{name}.": getattr(tm, name) for name in tm.__all__ if inspect.ismodule(getattr(tm, name))}
    return {
        f"{prefix}{name}": function
        for prefix, room in rooms.items()
        # Charts and metrics have tests of their own below.
        if prefix not in {"charts.", "metrics."}
        for name in room.__all__
        if inspect.isfunction(function := getattr(room, name))
        and not (prefix and name in tm.__all__ and getattr(tm, name) is function)
    }


FUNCTIONS = public_functions() | LEARNERS


@pytest.fixture(autouse=True)
def content_only(monkeypatch):
    """Reports are compared by their content: pages with pictures take seconds."""
    monkeypatch.setattr("tallymark.reporting.pages.write", lambda content, *_, **__: content)


TRIED = CALLS


def options_of(function):
    """Parameters that may be left out, or are given by name."""
    return [
        p.name
        for p in inspect.signature(function).parameters.values()
        if p.kind is p.KEYWORD_ONLY or (p.kind is p.POSITIONAL_OR_KEYWORD and p.default is not p.empty)
    ]


def test_every_public_function_is_here():
    assert set(FUNCTIONS) == set(TRIED) | ELSEWHERE


@pytest.mark.parametrize("name", TRIED)
def test_every_option_is_here(name):
    assert set(options_of(FUNCTIONS[name])) - ONLY_HOW <= set(TRIED[name].others) | set(TRIED[name].named)
    assert set(TRIED[name].others) <= set(options_of(FUNCTIONS[name])) | {"y", "data"}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("options") / "rows.csv"
    FRAME.assign(m=FRAME["p"].where(FRAME["v"] > 5)).to_csv(path, index=False)
    return str(path)


def arguments_of(name, rows, known):
    return (rows,) if name in OF_FILES else known


@pytest.mark.parametrize("name", TRIED)
def test_an_unknown_option_is_refused_by_name(name, rows):
    known = TRIED[name]
    arguments = arguments_of(name, rows, known.arguments)
    assert answer(FUNCTIONS[name], arguments, known.named)[0] == "answered"
    with pytest.raises((TypeError, tm.TallymarkError), match="no_such_option"):
        FUNCTIONS[name](*arguments, **known.named, no_such_option=1)


@pytest.mark.parametrize(("name", "option"), [(name, option) for name in TRIED for option in TRIED[name].others])
def test_an_option_does_something_or_is_refused(name, option, rows):
    known, function = TRIED[name], FUNCTIONS[name]
    other = known.others[option]
    other = other if isinstance(other, With) else With(other)
    arguments = arguments_of(name, rows, known.arguments if other.first is None else other.first)
    named = dict(known.named) | other.also
    if other.first is not None and isinstance(arguments[0] if arguments else None, pd.DataFrame):
        named = {key: value for key, value in named.items() if key not in {"scores", "classes"}}
    before = answer(function, arguments, named)
    after = answer(function, arguments, named | {option: other.value})
    assert "answered" in {before[0], after[0]}, "the call in the table is not valid"
    assert after != before or (name, option) in DIRECTION_ONLY


SCORES = np.column_stack((1 - P, P, np.full(N, 0.4))) / (1.4)
CODES = np.where(np.arange(N) % 5 == 0, 2, Y)
EVALUATED = {
    "threshold": 0.3, "level": 0.5, "prevalence": 0.1, "sampling": "stratified", "beta": 3.0, "metrics": ["accuracy"],
}  # fmt: skip
COUNTED = {
    "threshold": 0.3,
    "training_prevalence": 0.2,
    "level": 0.5,
    "population": 1000,
    "bandwidth": 0.3,
    "far_enough": 0.1,
    "bins": 7,
}
#: Kinds of input that a function takes: (function, arguments, named, options). An option that speaks of another kind is refused.
KINDS = {
    **{
        f"evaluate {type(data).__name__}{place}": (tm.evaluate, (data,), {"metrics": ["auroc", "fbeta"]}, EVALUATED)
        for place, data in enumerate((tally(), tm.tally(Y, P, clusters=C), tm.tally(FRAME, label="y", score="p", by="g"), panel()))
    },
    **{
        f"evaluate {type(data).__name__}{place}": (tm.evaluate, (data,), {}, EVALUATED | {"interval": "percentile"})
        for place, data in enumerate((
            matrix(),
            tm.confusion(CODES, SCORES.argmax(axis=1)), tm.moments(CODES, SCORES, classes=range(3)),
            tm.class_scores(CODES, SCORES, classes=range(3)),
        ))
    },
    **{
        f"estimate {name}": (tm.quantify.estimate, (name, tally(), target()), {"replicates": 100}, COUNTED)
        for name in ("bl", "cc", "ac", "x", "ms", "sweep", "cs", "pacc", "em", "kde", "bayes", "energy")
    },
    **{
        f"estimate_many {name}": (
            tm.quantify.estimate_many, (name, tally(), P, [[0, 1, 2, 5], [3, 4, 8, 9]]), {},
            {"threshold": 0.3, "training_prevalence": 0.2},
        )
        for name in ("ac", "ms", "em", "bayes")
    },
    **{
        f"estimate classes {name}": (
            tm.quantify.estimate,
            (name, tm.class_panel(CODES, SCORES, classes=range(3)), tm.class_panel(scores=SCORES[::3], classes=range(3))),
            {"replicates": 100}, {"threshold": 0.3, "training_prevalence": [0.2, 0.3, 0.5], "population": 1000, "bandwidth": 0.3},
        )
        for name in ("ac", "em", "bayes")
    },
    **{
        f"compare {method}": (
            tm.compare, (panel(),), {"method": method, "replicates": 200} | ({"metric": "accuracy", "threshold": 0.5} if method == "mcnemar" else {}),
            {"threshold": 0.3, "mcnemar_kind": "exact", "level": 0.5, "equivalence": 0.1, "beta": 2.0},
        )
        for method in ("mover", "delong", "mcnemar", "bootstrap")
    },
    "compare clusters": (tm.compare, (tm.panel(Y, {"a": P, "b": Q}, clusters=C),), {}, {"sampling": "stratified", "mcnemar_kind": "exact"}),
    "roc_band": (tm.intervals.roc_band, (tally(),), {"method": "fixed_threshold"}, {"at": [0.1, 0.2]}),
    "tally of a frame": (
        tm.tally, (FRAME,), {"label": "y", "score": "p"},
        {"scores": Q, "weights": W, "counts": np.arange(N), "clusters": C, "cluster": "c", "weight": "w", "count": "k", "exact": False},
    ),
    "panel of a frame": (
        tm.panel, (FRAME,), {"label": "y", "score": ["p", "q"]},
        {"scores": {"a": P}, "weights": W, "counts": np.arange(N), "clusters": C, "cluster": "c", "weight": "w", "count": "k", "extra": {"x": W}},
    ),
    "confusion of a frame": (
        tm.confusion, (FRAME, "hat"), {"label": "y"}, {"weights": W, "counts": np.arange(N), "weight": "w", "count": "k", "classes": [1, 0]},
    ),
    **{
        f"{maker.__name__} of a frame": (
            maker, (FRAME,), {"label": "y", "score": {0: "p", 1: "q"}},
            {"scores": SCORES, "classes": [1, 0], "weights": W, "counts": np.arange(N), "weight": "w", "count": "k"},
        )
        for maker in (tm.class_scores, tm.class_panel)
    },
    "advise without data": (
        tm.advise, (), {"prevalence_stable": True, "values_stable": True}, {"period": "t", "label": "y", "value": "v", "pos_label": 1},
    ),
    "costs of calls": (tm.decisions.costs, (FRAME,), {"label": "y", "predicted": "hat"}, {"threshold": 0.3, "weight": "w", "cluster": "c"}),
    "costs of a matrix": (
        tm.decisions.costs, (FRAME,), {"label": "y", "predicted": "hat", "matrix": {0: {1: 1.0}, 1: {0: 5.0}}},
        {"cost_fp": 2.0, "cost_fn": 2.0, "value_tp": 1.0, "value_tn": 1.0, "pos_label": 0},
    ),
    "impact of calls": (tm.prices.impact, (FRAME,), {"label": "y", "value": "v", "predicted": "hat"}, {"threshold": 0.3}),
    "index": (tm.prices.index, (FRAME,), PRICES | {"quantity": "v2"}, {"splice": "half", "window": 4}),
    "index of many periods": (
        tm.prices.index, (FRAME,), PRICES | {"quantity": "v2", "formula": "geks_fisher"}, {"splice": "half", "chained": True, "window": 4},
    ),
    "scorer": (tm.scorers.scorer, ("auroc",), {}, {"threshold": 0.3, "beta": 2.0}),
    **{
        f"report {type(data).__name__}{place}": (
            tm.report, (data, "page.html"), {},
            {"threshold": 0.3, "level": 0.5, "prevalence": 0.1, "sampling": "stratified", "beta": 3.0, "advice": ADVICE},
        )
        for place, data in enumerate((
            tally(), tm.tally(FRAME, label="y", score="p", by="g"), matrix(), tm.compare(panel()), PAGE[0], ADVICE,
            tm.prices.impact(FRAME, label="y", value="v", predicted="hat"), tm.prices.index(FRAME, **PRICES, quantity="v2"),
            tm.decisions.costs(FRAME, label="y", predicted="hat"), tm.audits.plan(FRAME, score="p", size=40),
        ))
    },
    **{
        f"StructuredSVM {loss}": (
            LEARNERS["learners.StructuredSVM"], (), {"loss": loss}, {"beta": 0.5, "classification": "precision", "quantification": "ae"},
        )
        for loss in ("f1", "fbeta", "ae")
    },
    "detectors without neighbours": (tm.learners.detectors, ("iforest",), {}, {"n_neighbors": 3}),
}  # fmt: skip


@functools.cache
def without_option(kind):
    function, arguments, named, _ = KINDS[kind]
    return answer(function, arguments, named)


@pytest.mark.parametrize(
    ("kind", "option"), [(kind, option) for kind, (*_, options) in KINDS.items() for option in options]
)
def test_an_option_of_another_kind_is_refused(kind, option):
    function, arguments, named, options = KINDS[kind]
    before = without_option(kind)
    assert before[0] == "answered"
    assert answer(function, arguments, named | {option: options[option]}) != before


def test_arrays_of_clusters_are_used_or_refused():
    """Names of the option for frames beside arrays were ignored once, and the intervals three times too short."""
    with pytest.raises(tm.InputError, match="cluster= names a column of a dataframe"):
        tm.panel(Y, {"a": P, "b": Q}, cluster=C)
    rows, clusters = (tm.compare(made).pairs[0] for made in (panel(), tm.panel(Y, {"a": P, "b": Q}, clusters=C)))
    assert (rows.low, rows.high) != (clusters.low, clusters.high)


ANY_NAMES = {
    f"{room.__name__.split('.')[-1]}.{name}": function
    for room in (tm.charts, tm.metrics)
    for name in room.__all__
    if inspect.isfunction(function := getattr(room, name))
    and any(p.kind is p.VAR_KEYWORD for p in inspect.signature(function, follow_wrapped=False).parameters.values())
}
SUMMARIES = {
    "confusion": matrix(), "tally": tally(), "probabilities": tally(), "moments": tm.moments(CODES, SCORES, classes=range(3)),
    "multiclass": tm.class_scores(CODES, SCORES, classes=range(3)),
}  # fmt: skip


@pytest.mark.parametrize("name", ANY_NAMES)
def test_metrics_and_charts_refuse_an_unknown_option(name):
    room, _, short = name.partition(".")
    if room == "metrics":
        data = SUMMARIES[METRICS[short].needs] if short in METRICS else matrix()
    else:
        data = {"a": matrix(), "b": tm.confusion(Y, (Q >= 0.5).astype(int))}
    with pytest.raises((TypeError, tm.TallymarkError), match="no_such_option"):
        ANY_NAMES[name](data, no_such_option=1)


WRONG = {
    "title": 3, "meaning": 3, "formula": 3, "reference": None, "example": 3, "prevalence_free": "no", "rank_only": "no", "ordinal": "no",
    "probabilities": "no", "shift_proof": 3, "batched": "no", "chance": 7.0, "aliases": "abc", "arguments": "abc", "defaults": (1.0,), "parameters": {"power": "x"},
    "options": "abc", "range": (3, 1), "better": "up", "needs": "rows", "judged_by": "nothing",
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "option"),
    [(name, o) for name in CALLS if name.startswith("extend.") for o in CALLS[name].others],
)
def test_a_declaration_refuses_a_value_of_another_kind(name, option):
    """A text where names are expected was read as a list of letters, any text as True."""
    assert answer(FUNCTIONS[name], (), dict(CALLS[name].named) | {option: WRONG[option]})[0] == "refused"
