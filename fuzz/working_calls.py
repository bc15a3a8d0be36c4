"""A call that works of every public function, on small data; tests change one argument of it at a time."""

import numpy as np
import pandas as pd

import tallymark as tm

_rng = np.random.default_rng(0)
N = 60
Y = (np.arange(N) % 3 == 0).astype(int)
P = np.clip(_rng.normal(0.35 + 0.3 * Y, 0.15), 0.01, 0.99)
Q = np.clip(_rng.normal(0.35 + 0.2 * Y, 0.2), 0.01, 0.99)
KIND = np.array(["a", "b", "c"])[np.arange(N) % 3]
SHARES = np.column_stack((P, 1 - P, np.full(N, 0.5))) / 1.5
FRAME = pd.DataFrame(
    {
        "y": Y, "p": P, "q": Q, "hat": (P > 0.5).astype(int), "other": (Q > 0.5).astype(int), "kind": KIND, "w": 1.0 + (np.arange(N) % 2),
        "month": 202401 + np.arange(N) // 10, "product": np.arange(N) % 10, "price": 10.0 + np.arange(N) % 7, "quantity": 1.0 + np.arange(N) % 4,
        "inclusion": np.full(N, 0.5), "pair": np.arange(N) // 2, "in_class": (np.arange(N) % 10 < 4).astype(int),
    }
)  # fmt: skip
TALLY = tm.tally(Y, P)
TARGET = tm.tally(scores=Q)
PANEL = tm.panel(Y, {"a": P, "b": Q})
TABLE = {"a": [0.1, 0.2, 0.15, 0.3, 0.12], "b": [0.2, 0.25, 0.1, 0.35, 0.2], "c": [0.3, 0.2, 0.3, 0.4, 0.25]}
TEXTS = ["red apple pie", "green pear", "blue plum tart", "red plum", "green apple"] * 12
INDEX = {"period": "month", "product": "product", "price": "price", "quantity": "quantity"}

AUDIT = tm.audits.from_matrix([[20, 3], [4, 60]], [300, 2_000])

#: Functions that write, load from a place, or declare something for the whole process, and those that draw for seconds.
LEFT_OUT = {
    tm.report, tm.load, tm.scan, tm.scan_panel, tm.rare.texts_in, tm.extend.loss, tm.extend.metric, tm.extend.policy, tm.extend.quantifier,
    tm.study.dataset,
}  # fmt: skip

CALLS = {
    tm.advise: ((FRAME,), {"period": "month", "label": "y", "value": "price"}),
    tm.data_file: (("rows.csv",), {}),
    tm.bound: ((TALLY, "auroc"), {}),
    tm.by_sample_size: ((TALLY,), {"sizes": [20, 40], "replicates": 5}),
    tm.look: ((FRAME,), {}),
    tm.class_panel: ((KIND, SHARES), {"classes": ["a", "b", "c"]}),
    tm.class_scores: ((KIND, SHARES), {"classes": ["a", "b", "c"]}),
    tm.compare: ((PANEL,), {"replicates": 20}),
    tm.not_worse: ((TALLY, TALLY), {}),
    tm.compare_thresholds: ((TALLY, ["youden", "f1"]), {}),
    tm.confusion: ((Y, (P > 0.5).astype(int)), {}),
    tm.evaluate: ((TALLY,), {"metrics": ["auroc", "f1"]}),
    tm.moments: ((KIND, SHARES), {"classes": ["a", "b", "c"]}),
    tm.outcomes: (({"a": Y, "b": (P > 0.5).astype(int)},), {}),
    tm.over_prevalence: ((TALLY.at(0.5), ["precision"], [0.1, 0.5]), {}),
    tm.panel: ((Y, {"a": P, "b": Q}), {}),
    tm.sample_size: ((), {"auroc": 0.8, "difference": 0.05}),
    tm.tally: ((Y, P), {}),
    tm.without_simple: ((PANEL,), {}),
    tm.intervals.bootstrap: ((TALLY, ["auroc"]), {"replicates": 20}),
    tm.intervals.chosen_threshold: ((TALLY, "youden"), {"replicates": 20}),
    tm.intervals.delong: ((PANEL,), {}),
    tm.intervals.pr_band: ((TALLY,), {"replicates": 20}),
    tm.intervals.proportion: ((5, 20), {}),
    tm.intervals.roc_band: ((TALLY,), {"replicates": 20}),
    tm.intervals.heterogeneity: ((tm.evaluate(tm.tally(FRAME, label="y", score="p", by="w"), metrics=["auroc"]),), {}),
    tm.calibration.calibrate: ((TALLY, "platt"), {}),
    tm.learners.detectors: ((("mod",),), {}),
    tm.quantify.adjusted_count_error: ((TALLY.at(0.5),), {}),
    tm.quantify.bayesian_calibration: ((TALLY, TARGET), {}),
    tm.quantify.class_drift: ((tm.tally(FRAME, label="y", score="p", by="w"),), {"permutations": 99}),
    tm.quantify.count: ((TALLY, TARGET, ["ac"]), {}),
    tm.quantify.estimate: (("ac", TALLY, TARGET), {"replicates": 20}),
    tm.quantify.estimate_many: (("ac", TALLY, Q, [np.arange(20), np.arange(20, 40)]), {}),
    tm.quantify.expected: ((TALLY, TARGET), {}),
    tm.audits.from_audit: ((FRAME,), {"label": "y"}),
    tm.audits.from_counts: ((TALLY.at(0.5),), {"predicted_positive": 20, "n": 100}),
    tm.audits.corrected: (
        (tm.audits.from_counts(TALLY.at(0.5), predicted_positive=20, n=100),),
        {"sensitivity": (57, 60), "specificity": 0.95},
    ),
    tm.audits.two_tests: (([[[14, 4], [9, 528]], [[887, 31], [37, 367]]],), {}),
    tm.quantify.mixture_fit: ((TALLY, TARGET), {}),
    tm.quantify.regression: ((list(range(60)), P, Q), {"replicates": 100}),
    tm.quantify.sensitivity: ((TALLY, TARGET), {}),
    tm.rare.balanced: ((TEXTS, list(Y), TEXTS), {}),
    tm.rare.compare: ((TEXTS, list(Y), TEXTS), {"methods": ["balanced"]}),
    tm.rare.bootstrap: ((TEXTS, list(Y), TEXTS), {"machines": 3}),
    tm.rare.class_weight_sweep: ((TEXTS, list(Y), TEXTS), {"weights": [1.0, 2.0], "machines": 2}),
    tm.rare.ensemble: ((TEXTS, list(Y), TEXTS), {"machines": 2, "ensembles": 2}),
    tm.rare.split: ((Y,), {"positives": 5, "negatives": 20, "prevalence": 0.2}),
    tm.raters.judge: ((FRAME,), {"judge": "hat", "human": "y"}),
    tm.raters.judge_drift: ((FRAME,), {"judge": ["hat", "other"], "human": "y"}),
    tm.raters.plan: ((FRAME,), {"judge": "hat", "human": "y", "width": 0.3}),
    tm.raters.agreement: ((FRAME,), {"rater": ["hat", "other"]}),
    tm.study.critical_difference: ((3, 10), {}),
    tm.study.bonferroni_dunn: ((TABLE, "a"), {}),
    tm.study.bayesian_signed_rank: (({"a": TABLE["a"], "b": TABLE["b"]},), {"draws": 100}),
    tm.study.correlated_t: (({"a": TABLE["a"], "b": TABLE["b"]},), {"folds": 5}),
    tm.study.wilcoxon: (({"a": TABLE["a"], "b": TABLE["b"]},), {}),
    tm.study.protocol: ((Y,), {"folds": 3}),
    **{getattr(tm.study, name): ((TABLE,), {}) for name in ("friedman", "hochberg", "holm", "hommel", "iman_davenport", "nemenyi", "shaffer", "westfall_young")},
    tm.audits.estimate: ((FRAME,), {"label": "y", "score": "p", "threshold": 0.5}),
    tm.audits.from_replicates: ((FRAME,), {"label": "kind", "weight": "w", "replicate_weights": ["price", "quantity"]}),
    tm.audits.paired_change: ((FRAME,), {"before": "hat", "after": "other"}),
    tm.audits.accuracy_size: (([0.2, 0.8], [0.9, 0.8]), {"standard_error": 0.02}),
    tm.audits.elusion_size: ((500, 20_000), {"recall": 0.9}),
    tm.audits.change: ((AUDIT, AUDIT), {}),
    tm.audits.publication: ((AUDIT, "variation"), {}),
    tm.audits.pooled: ((tm.audits.estimate(FRAME, label="y", by="month"), 1), {}),
    tm.audits.from_matrix: (([[20, 3], [4, 60]], [300, 2_000]), {}),
    tm.audits.stopping: (([1, 1, 0, 0, 1, 0, 0, 0], 20), {}),
    tm.audits.plan: ((FRAME,), {"score": "p", "size": 20}),
    tm.decisions.costs: ((FRAME,), {"label": "y", "score": "p", "threshold": 0.5}),
    tm.prices.impact: ((FRAME,), {"label": "y", "value": "price", "predicted": "hat"}),
    tm.prices.index: ((FRAME,), INDEX),
    tm.prices.index_audit: ((FRAME,), {**INDEX, "score": "p", "n": 5}),
    tm.prices.index_under_error: ((FRAME,), {**INDEX, "label": "in_class", "draws": 100}),
    tm.prices.metrics_by_index_error: ((FRAME,), {**INDEX, "label": "in_class", "draws": 100}),
    tm.decisions.space: ((FRAME,), {"label": "y", "predicted": ["hat", "other"], "replicates": 100}),
    tm.monitor.watch: ((FRAME,), {"score": "p", "period": "month", "label": "y", "reference": 3, "metrics": ["accuracy"], "method": "ac"}),
    tm.scorers.scorer: (("auroc",), {}),
}  # fmt: skip
