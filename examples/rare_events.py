"""A rare class: what accuracy hides, what AUROC and average precision say, and what another prevalence would do."""

import numpy as np

import tallymark as tm

rng = np.random.default_rng(7)
is_fraud = rng.random(50_000) < 0.004
score = 1 / (1 + np.exp(-(rng.normal(size=50_000) + 3 * is_fraud - 2)))

tally = tm.tally(is_fraud, score)
print(
    tm.evaluate(
        tally, threshold="cost:1,50", metrics=["accuracy", "auroc", "average_precision", "precision", "recall", "mcc"]
    )
)

print(tm.compare_thresholds(tally, "youden", "f1", "cost:1,50", "fpr:0.01", "rate:0.004"))

# The same classifier where fraud is ten times rarer, and where it is ten times more common.
print(tm.over_prevalence(tally.at("cost:1,50"), ["precision", "npv", "f1"], [0.0004, 0.004, 0.04]))
