# ruff: noqa: B018, E402
# %% [markdown]
# # Two in a thousand
#
# *For a data scientist whose positives are 0.2 % of the rows.*
#
# Two models score transactions; about two in a thousand are fraud. Which is better, where to cut, what will it be worth
# where fraud is rarer still, and how sure is any of that?

# %%
import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import tallymark as tm

X, y = make_classification(
    n_samples=70_000,
    n_features=12,
    n_informative=6,
    n_clusters_per_class=3,
    weights=[0.9983],
    flip_y=0.0006,
    class_sep=1.6,
    random_state=5,
)
train, test = np.arange(30_000), np.arange(30_000, 70_000)
models = {
    "quadratic": make_pipeline(
        PolynomialFeatures(2),
        StandardScaler(),
        LogisticRegression(C=0.02, solver="newton-cholesky"),
    ),
    "linear": make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cholesky")),
}
scores = {
    name: model.fit(X[train], y[train]).predict_proba(X[test])[:, 1]
    for name, model in models.items()
}
panel = tm.panel(y[test], scores)
panel

# %% [markdown]
# A **panel** keeps several models' scores of the same rows together. Everything below starts from it.
#
# ## First look

# %%
metrics = ["accuracy", "auroc", "average_precision", "brier_skill"]
first = tm.evaluate(panel, metrics=metrics)
first

# %% [markdown]
# Accuracy looks splendid and tells nothing: saying no to every row reaches
# {{ f"{1 - y[test].mean():.4f}" }}. The column `chance` is what predictions unrelated to the labels reach.
# AUROC averages over all false positive rates, most of which nobody would ever use here.
# Average precision looks at the top of the list, and its chance level is the prevalence. Look at its intervals: the few positives are what limits them, not the {{ len(test) }} rows.

# %%
tm.charts.pr(panel, thresholds=["f1"])

# %% [markdown]
# ## Is one of them better?
#
# Both scored the same rows, so the difference is known better than each value.

# %%
compared = tm.compare(panel, metric="average_precision")
compared

# %%
tm.compare(panel, metric="auroc")

# %% [markdown]
# By average precision: {{ compared.verdict }}. Where "no difference" is shown, that does not mean that there is none.
# How many positives would it take to see a difference of 0.05?

# %%
compared.sample_size(0.05)

# %% [markdown]
# ## Where to cut
#
# A missed fraud costs, say, fifty times a false alarm. `cost:1,50` is the threshold at which these rows cost least.
# Other policies: the best F1, the threshold that finds nine in ten, the one that raises as many alarms as there are positives.

# %%
best = panel.tally("quadratic")
tm.compare_thresholds(best, "f1", "cost:1,50", "tpr:0.9", "rate:0.002", "youden")

# %% [markdown]
# A threshold that was chosen on the same rows tends to look better than it is. `evaluate` says by how much (`optimism`), and its intervals allow for it.

# %%
chosen = tm.evaluate(
    best,
    threshold="cost:1,50",
    metrics=["precision", "recall", "f1", "mcc", "expected_cost"],
)
chosen

# %% [markdown]
# The costs of the policy are also those of `expected_cost`. Its `chance` is what unrelated calls at this rate would cost.

# %%
tm.charts.over_thresholds(best)

# %% [markdown]
# ## Elsewhere
#
# In another country fraud may be ten times rarer. If each class's scores stay as they are, recall stays and precision falls.
# `at_prevalence` states a prevalence and leaves the counts alone.

# %%
cut = best.at(chosen.threshold)
tm.over_prevalence(cut, ["precision", "recall", "f1"], [0.0002, 0.002, 0.02])

# %%
tm.charts.over_prevalence(best, threshold=chosen.threshold)

# %% [markdown]
# ## Can the probabilities be believed?
#
# `brier_skill` is the share of the Brier score of a constant that a model saves. Below zero, the constant would have done better.
# The sum of the probabilities is another quick check.

# %%
for name in panel.models:
    t = panel.tally(name)
    print(
        f"{name}: {tm.metrics.positive_estimate(t):.0f} expected, {t.positives} seen, calibration slope {tm.metrics.calibration_slope(t):.2f}"
    )

# %% [markdown]
# ## The report
#
# One file with the verdict, the sliders and every table; it opens anywhere and asks nothing of the network.

# %%
from pathlib import Path
from tempfile import TemporaryDirectory

with TemporaryDirectory() as folder:
    path = tm.report(
        panel, Path(folder) / "fraud.html", threshold="cost:1,50", title="Fraud, two models"
    )
    print(f"{path.name}, {path.stat().st_size / 1e3:.0f} kB")

# %% [markdown]
# On the command line, with a file of labels and scores:
#
# ```sh
# tallymark evaluate scores.parquet --label fraud --score quadratic,linear --threshold cost:1,50 --report fraud.html
# tallymark compare scores.parquet --label fraud --score quadratic,linear --metric average_precision
# tallymark thresholds scores.parquet --label fraud --score quadratic --policy f1 --policy cost:1,50
# ```
#
# Next: [how to read the report](../../reading.md), [which metric when](../../choosing_metrics.md).
