# %%
import numpy as np

import tallymark as tm

rng = np.random.default_rng(0)
y = rng.random(2_000) < 0.05  # one in twenty is positive
labelled = tm.tally(y, rng.normal(2.0 * y))  # labels and scores, summarised
metrics = ["auroc", "average_precision", "precision", "recall"]
tm.evaluate(labelled, threshold="f1", metrics=metrics)

# %%
hidden = np.arange(5_000) < 100  # 100 of 5 000, which nobody knows
unseen = tm.tally(scores=rng.normal(2.0 * hidden))
tm.quantify.estimate("bayes", labelled, unseen)
