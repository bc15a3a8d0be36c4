# ruff: noqa: B018
# %% [markdown]
# # Is the classifier good enough for the index?
#
# *For a price statistician whose products are classified by a machine.*
#
# Scanner data come with texts, not with codes. A classifier reads the texts and says which products are yoghurt;
# the index of yoghurt is then the index of what the classifier *calls* yoghurt. What do its errors do to the index,
# how good must it be, and which products should be checked by hand?
#
# The sales are generated: 90 products of three kinds over 15 months, with short texts.
# `examples/classified_prices.py` does the same with real scanner data, where they are at hand.

# %%
import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

import tallymark as tm

rng = np.random.default_rng(4)
kinds = np.repeat(["yoghurt", "milk", "cream"], 30)
words = {
    "yoghurt": ["yog", "natur", "fruit", "cup", "drink"],
    "milk": ["milk", "uht", "fresh", "litre", "drink"],
    "cream": ["cream", "sour", "cup", "fresh", "natur"],
}
texts = np.array(
    [" ".join([*rng.choice(words[kind], 2), f"{rng.integers(1, 9)}00"]) for kind in kinds]
)
rise = np.array(
    [{"yoghurt": 0.004, "milk": 0.010, "cream": 0.002}[kind] for kind in kinds]
)  # a month

product, month = np.tile(np.arange(90), 15), np.repeat(np.arange(1, 16), 90)
sales = pd.DataFrame(
    {
        "month": month,
        "product": product,
        "text": texts[product],
        "is_yoghurt": kinds[product] == "yoghurt",
    }
)
sales["price"] = np.exp(
    rng.normal(1, 0.3, 90)[product]
    + rise[product] * month
    + rng.normal(0, 0.02, len(product))
)
sales["quantity"] = rng.integers(1, 30, len(product))
sales.head(3)

# %% [markdown]
# ## The index, if the classes were known

# %%
columns = {
    "period": "month",
    "product": "product",
    "price": "price",
    "quantity": "quantity",
}
yoghurt = sales[sales.is_yoghurt]
indices = {
    name: tm.prices.index(yoghurt, formula=name, **columns)
    for name in ("fisher", "jevons", "geks_fisher")
}
tm.charts.price_index(indices)

# %% [markdown]
# ## The classifier, judged on texts
#
# One product has one text and one label, however often it is sold. So the classifier is judged on products.
# Judged on the lines of the file, the same texts would be counted fifteen times, and the intervals would be far too narrow.
# Scores come from folds: no product is scored by a model that has seen its label.

# %%
products = sales.drop_duplicates("product")
model = make_pipeline(
    TfidfVectorizer(analyzer="char", ngram_range=(2, 3)),
    LogisticRegression(C=0.3, class_weight="balanced"),
)
score = cross_val_predict(
    model, products.text, products.is_yoghurt, cv=5, method="predict_proba"
)[:, 1]
by_product = tm.tally(products.is_yoghurt.to_numpy(), score)
tm.evaluate(
    by_product,
    threshold=0.5,
    metrics=["balanced_accuracy", "precision", "recall", "mcc", "auroc"],
)

# %%
sales["score"] = score[product]
sales["called"] = sales.score >= 0.5
by_line = tm.tally(sales, label="is_yoghurt", score="score")
tm.evaluate(by_line, threshold=0.5, metrics=["balanced_accuracy"])

# %% [markdown]
# The lines warn that they look like copies. With `cluster="product"` the lines can be used: whole products then vary together.

# %%
clustered = tm.tally(sales, label="is_yoghurt", score="score", cluster="product")
tm.evaluate(clustered, threshold=0.5, metrics=["balanced_accuracy"])

# %% [markdown]
# ## What these errors do to the index
#
# With `predicted=` the classifier's own calls are taken, product by product.

# %%
own = tm.prices.index_under_error(sales, label="is_yoghurt", predicted="called", **columns)
last = own.rows()[-1]
print(
    f"index of yoghurt: {last['index']:.4f}, of what is called yoghurt: {last['as_called']:.4f}"
)

# %% [markdown]
# That is one classifier on one set of products. What would others do that are as good?
# `index_under_error` draws classifiers that reach a level of a metric, classifies every product once for all months, and computes the index each time.

# %%
fan = tm.prices.index_under_error(
    sales,
    label="is_yoghurt",
    metric="balanced_accuracy",
    metric_value=0.9,
    draws=500,
    **columns,
)
tm.charts.index_under_error(fan)

# %%
fan.to_frame().tail(3).round(4)

# %% [markdown]
# The index of what is called yoghurt is too high on average: milk rises faster, and some milk is taken for yoghurt.
#
# ## How good must it be?
#
# `required_value` turns the question round: the balanced accuracy at which 95 % of the draws stay within a tolerance.

# %%
levels = pd.DataFrame({"tolerance": [0.02, 0.01, 0.005]})
levels["balanced accuracy"] = [
    fan.required_value(tolerance) for tolerance in levels.tolerance
]
levels.round(3)

# %% [markdown]
# Compare that with the interval above: the classifier's balanced accuracy on 90 products is
# {{ f"{(got := tm.evaluate(by_product, threshold=0.5, metrics=['balanced_accuracy'])['balanced_accuracy']).value:.2f} ({got.low:.2f} to {got.high:.2f})" }}.
#
# Errors need not fall on all products alike. With `errors="scores"` they fall where this classifier is unsure, which is another question. The root mean square error of the last month, either way:

# %%
unsure = tm.prices.index_under_error(
    sales,
    label="is_yoghurt",
    metric_value=0.9,
    errors="scores",
    score="score",
    draws=500,
    **columns,
)
print(
    f"{fan.root_mean_square[-1]:.4f} at random, {unsure.root_mean_square[-1]:.4f} by score"
)

# %% [markdown]
# ## Which metric to watch
#
# Classifiers of all kinds are drawn, and each metric is rank-correlated with the size of the error of the index.

# %%
watch = tm.prices.metrics_by_index_error(sales, label="is_yoghurt", draws=500, **columns)
watch

# %% [markdown]
# ## What to check by hand
#
# Not the least certain products, but those that are uncertain *and* move the index.

# %%
check = tm.prices.index_audit(sales, score="score", n=15, **columns)
check.to_frame().head(5).round(3)

# %% [markdown]
# When these {{ check.n }} products are known, the middle 95 % of the last month's index is expected to be
# {{ f"{check.width:.4f}" }} wide instead of {{ f"{check.width_before:.4f}" }}, if the scores are right as probabilities.
#
# On the command line:
#
# ```sh
# tallymark index sales.parquet --period month --product product --price price --quantity quantity \
#     --label is_yoghurt --metric-value 0.9 --tolerance 0.01 --report index.html
# tallymark audit index sales.parquet --period month --product product --price price --quantity quantity --score score --n 15
# ```
#
# What this does not say: how the classifier does on next year's products. Judge it again when the texts change ([Watching](../../watching.md)).
