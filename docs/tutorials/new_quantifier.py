# ruff: noqa: B018, E402
# %% [markdown]
# # A quantifier of your own
#
# *For a researcher who has an idea for counting and wants to know whether it is any good.*
#
# The idea: a target row beats a random negative of the validation sample with probability ½ if it is negative, and with probability
# AUROC if it is positive. So over the whole target that probability is π·AUROC + (1 − π)/2, and π can be solved for.
# It uses the order of the scores alone.

# %%
import numpy as np

import tallymark as tm


@tm.extend.quantifier(
    "ranks",
    meaning="The target's mean rank among the negatives, placed between one half and AUROC.",
)
def ranks(validation, scores):
    negative, positive = validation.negative, validation.positive
    mass = np.concatenate(([0.0], np.cumsum(negative.mass)))

    def beaten(these):  # share of the negatives that a row beats; ties count one half
        low, high = (
            mass[np.searchsorted(negative.scores, these, side)]
            for side in ("left", "right")
        )
        return (low + high) / (2 * mass[-1])

    auroc = np.average(beaten(positive.scores), weights=positive.mass)
    return (np.mean(beaten(scores)) - 0.5) / (auroc - 0.5)


# %% [markdown]
# That is all. It is now known by its name wherever ours are, with an interval that resamples both samples.
# Resampled tallies are weighted, so the function counts by `mass`, not by rows.

# %%
rng = np.random.default_rng(0)
known = rng.random(600) < 0.5
labelled = tm.tally(known, rng.normal(1.5 * known))
target = tm.tally(
    scores=rng.normal(1.5 * (np.arange(3000) < 600))
)  # 20 % of them, which the method does not know
print(tm.quantify.estimate("cc", labelled, target, threshold=0.75))
for name in ("ms", "bayes", "ranks"):
    print(tm.quantify.estimate(name, labelled, target))

# %% [markdown]
# ## Is it right on average, and do its intervals hold?
#
# One number shows nothing. Draw the same situation again and again.

# %%
repeats, truth = 60, 0.2
estimates = []
for _ in range(repeats):
    known = rng.random(300) < 0.5
    labelled = tm.tally(known, rng.normal(1.5 * known))
    target = tm.tally(scores=rng.normal(1.5 * (rng.random(1000) < truth)))
    estimates.append(tm.quantify.estimate("ranks", labelled, target, replicates=200))
held = sum(one.low <= truth <= one.high for one in estimates)
mean = np.mean([one.prevalence for one in estimates])
print(
    f"mean {mean:.3f} where the truth is {truth}, {held} of {repeats} intervals of 95 % hold it"
)

# %% [markdown]
# With {{ repeats }} repeats that share is known to about three points. `python -m bench.quantify_coverage` does it at length for the built-in ones.
#
# ## Against the others
#
# A claim that it is better needs many data sets and every prevalence. A **study** takes data sets, methods and a classifier,
# draws samples of eleven prevalences from each test fold, and keeps every estimate.
# Here: nine small problems made from scikit-learn's bundled data.

# %%
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

sets = [("breast cancer", *load_breast_cancer(return_X_y=True))]
X, y = load_wine(return_X_y=True)
sets += [(f"wine {label}", X[:, :4], (y == label).astype(int)) for label in range(3)]
X, y = load_digits(return_X_y=True)
hard = rng.permutation(len(y))[:700]
sets += [
    (f"digit {label}", X[hard][:, 20:36], (y[hard] == label).astype(int))
    for label in (1, 3, 5, 8, 9)
]
[(name, *data.shape, round(float(labels.mean()), 2)) for name, data, labels in sets]

# %%
from pathlib import Path
from tempfile import TemporaryDirectory

methods = {
    "Ranks": "ranks",
    "CC": "cc",
    "AC": "ac",
    "MS": "ms",
    "PACC": "pacc",
    "EM": "em",
    "SORD": "sord",
}
study = tm.study.Study(
    "ranks", sets, methods, LinearDiscriminantAnalysis(), protocol={"folds": 5}
)
with (
    TemporaryDirectory() as folder
):  # say store="ranks.sqlite" to keep it: a killed run goes on where it was
    run = study.run(store=Path(folder) / "ranks.sqlite")
    results = study.results(Path(folder) / "ranks.sqlite")
run

# %%
results

# %%
tm.charts.errors_by_prevalence(results)

# %% [markdown]
# ## What may be claimed
#
# Methods are ranked on each data set; the test counts data sets, not test samples.

# %%
test = results.test("ae")
test

# %%
tm.charts.critical_difference(test)

# %% [markdown]
# Methods joined by a bar cannot be told apart at 5 % with {{ len(sets) }} data sets. That is not the same as being equal: nine data sets show only large differences.
# To report: the table of mean errors, the ranks with the critical difference, the number of data sets, the classifier and the protocol.
# `results.to_latex()` and `results.to_csv()` write them down, `tm.report(results, "study.html")` puts them on a page.
#
# As one file that others can run, see [Studies](../../studies.md); for methods that are kernels over many samples at once (`batched=True`), [Your own](../../extend.md).
