# ruff: noqa: B018
# %% [markdown]
# # Did the search miss anything?
#
# *For lawyers, reviewers and fraud desks who read everything that was found and a sample of the rest.*
#
# A search of 100 000 documents returned 8 000, and people read them all: every one is relevant.
# Of the 92 000 others they read 1 534, drawn at random, and found 5 more. What is the recall of the search?

# %%
import numpy as np

import tallymark as tm

review = tm.audits.from_matrix(
    {"relevant": {"relevant": 8_000}, "other": {"relevant": 5, "other": 1_529}},
    {"relevant": 8_000, "other": 92_000},
)
review

# %% [markdown]
# The same as a picture:

# %%
tm.charts.audit_counts(review)

# %% [markdown]
# About {{ review.counts["relevant"].written }} documents are relevant, and the recall is {{ review.recall["relevant"].written }}.
# Both intervals come from the same draws, so they cannot contradict each other: 8 000 over the upper limit of the count is the lower limit of the recall.
#
# ## If none had been found
#
# Then the best guess is that nothing was missed, and the sample still allows for some:

# %%
none = tm.audits.from_matrix(
    {"relevant": {"relevant": 8_000}, "other": {"relevant": 0, "other": 1_534}},
    {"relevant": 8_000, "other": 92_000},
)
none.recall["relevant"].written

# %% [markdown]
# ## How many to read?
#
# To show a recall of 95 % when two in a thousand of the others are relevant:

# %%
tm.audits.elusion_size(8_000, 92_000, recall=0.95, missed=0.002)

# %% [markdown]
# ## When to stop reading in rank order
#
# Where a model ranks the documents and people read from the top, the question is when to stop.
# After each document the rule asks: if the recall were below the target, how likely is it that so few were found of late?

# %%
rng = np.random.default_rng(3)
relevant = np.arange(4_000) < 120
order = np.argsort(-(rng.normal(size=4_000) + 2 * relevant))
state = tm.audits.stopping(relevant[order].astype(int), 4_000, recall=0.9)
print(
    f"Stop after {state.stop} of 4000 documents: {relevant[order][: state.stop].sum()} of 120 were found."
)

# %% [markdown]
# The rule is made for an order that is better than random. Where the order is random or worse, draw a sample of the rest, as above.
#
# On the command line:
#
# ```sh
# tallymark audit estimate documents.csv --label relevant --predicted found --stratum found --pos-label 1
# tallymark audit stop read.csv --label relevant --n 4000 --recall 0.9
# ```
