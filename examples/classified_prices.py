"""From product texts to an index: classify the texts, see what the errors do to it, and what to check by hand.

Scanner data with Polish product texts and COICOP codes is read from the folder that ``TALLYMARK_DATA`` names; without
it, generated sales of the same form take its place. Run it with scikit-learn installed.
"""

import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

import tallymark as tm

FILE = Path(os.environ.get("TALLYMARK_DATA", "")) / "prices" / "milk_products_coicop.csv.gz"
SALES = {"period": "time", "product": "product_id", "price": "price", "quantity": "quantity"}


def generated() -> pd.DataFrame:
    """Sales of sixty products with texts; yoghurt is one of three kinds."""
    rng = np.random.default_rng(0)
    kind = np.repeat(["yoghurt", "milk", "cream"], 20)
    words = {
        "yoghurt": ["yog", "natur", "fruit", "cup"],
        "milk": ["milk", "uht", "fresh", "litre"],
        "cream": ["cream", "sour", "cup", "fresh"],
    }
    texts = [" ".join([*rng.choice(words[k], 3), f"{rng.integers(1, 9)}00"]) for k in kind]
    product, month = np.tile(np.arange(60), 15), np.repeat(np.arange(15), 60)
    drift = np.array([{"yoghurt": 0.004, "milk": 0.008, "cream": 0.002}[k] for k in kind])
    price = np.exp(rng.normal(1.0, 0.3, 60)[product] + drift[product] * month + rng.normal(0, 0.02, 900))
    return pd.DataFrame(
        {
            "time": month,
            "product_id": product,
            "price": price,
            "quantity": rng.integers(1, 30, 900),
            "description": np.array(texts)[product],
            "coicop6": kind[product],
        }
    )


sales = pd.read_csv(FILE) if FILE.exists() else generated()
sales = sales[sales.quantity > 0]
target = sales.coicop6.value_counts().index[0]

# One text, one label: a classifier of texts is judged on texts, not on the thousands of lines that repeat them.
products = sales.drop_duplicates("product_id")[["product_id", "description", "coicop6"]]
is_target = (products.coicop6 == target).to_numpy()
# Few labelled texts make a classifier that errs, as one does on a new retailer's texts.
model = make_pipeline(
    TfidfVectorizer(analyzer="char", ngram_range=(2, 3)), LogisticRegression(C=0.3, class_weight="balanced")
)
probability = cross_val_predict(model, products.description, is_target, cv=4, method="predict_proba")[:, 1]
sales = sales.merge(products.assign(probability=probability)[["product_id", "probability"]], on="product_id")
sales["is_target"] = sales.coicop6 == target
sales["called"] = sales.probability >= 0.5

by_line = tm.tally(sales, label="is_target", score="probability")
by_text = tm.tally(sales, label="is_target", score="probability", cluster="description")
for name, tally in (("lines one by one", by_line), ("texts as clusters", by_text)):
    with warnings.catch_warnings():
        # Taken one by one, lines that repeat a text are warned of (TM120): that is the point of this comparison.
        warnings.simplefilter("ignore", tm.GuardWarning)
        found = tm.evaluate(tally, threshold=0.5, metrics=["balanced_accuracy"])["balanced_accuracy"]
    print(f"balanced accuracy, {name:<18} {found.value:.3f} ({found.low:.3f} to {found.high:.3f})")

with warnings.catch_warnings():
    # Few products with skewed prices are warned of; the note is printed below instead.
    warnings.simplefilter("ignore", tm.GuardWarning)
    impact = tm.prices.impact(sales, label="is_target", predicted="called", value="price", cluster="product_id")
for note in impact.warnings:
    print(note.code, note.message)
print(f"false positives: {impact.parts[0].verdict('fp')}; false negatives: {impact.parts[0].verdict('fn')}")

columns = SALES | {"label": "is_target"}
fan = tm.prices.index_under_error(
    sales, **columns, errors="scores", score="probability", together="description", metric_value=0.9, draws=500
)
last = fan.rows()[-1]
print(
    f"index of {target}: {last['index']:.4f}; at balanced accuracy 0.9 it would lie "
    f"between {last['low']:.4f} and {last['high']:.4f}"
)
print(f"to stay within half a point: balanced accuracy {fan.required_value(0.005):.3f}")
print(f"the metric that predicts its error best: {tm.prices.metrics_by_index_error(sales, **columns, draws=500).best}")

plan = tm.audits.plan(products.assign(probability=probability), score="probability", size=min(30, len(products) // 2))
print(plan.heading())
