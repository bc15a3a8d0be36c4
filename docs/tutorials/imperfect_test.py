# ruff: noqa: B018
# %% [markdown]
# # How many are infected?
#
# *For epidemiologists and veterinarians whose test is not perfect, and for everyone who counts with a classifier and knows its error rates.*
#
# Of 1 000 animals 160 tested positive. The test finds 90 % of the infected ones and calls 5 % of the others positive, so that 16 % is not the prevalence.

# %%
import tallymark as tm

tm.audits.from_counts(predicted_positive=160, n=1_000, sensitivity=0.90, specificity=0.95)

# %% [markdown]
# This takes both rates for exact. They never are: the sensitivity comes from 60 infected animals, the specificity from a paper with an interval.
# Each rate may be a number, a count, or a published estimate with its limits.

# %%
honest = tm.audits.from_counts(
    predicted_positive=160,
    n=1_000,
    sensitivity=(54, 60),
    specificity=(0.95, 0.92, 0.97),
)
honest

# %% [markdown]
# The estimate is the same, and the interval, {{ round(honest.low, 3) }} to {{ round(honest.high, 3) }}, allows for what is not known of the test.
#
# ## Several herds
#
# Herds that were tested with the same test share its errors. A total allows for that.

# %%
herds = tm.audits.from_counts(
    predicted_positive={"north": 160, "south": 70},
    n={"north": 1_000, "south": 800},
    sensitivity=(54, 60),
    specificity=(0.95, 0.92, 0.97),
)
herds

# %%
tm.charts.prevalences(herds)

# %% [markdown]
# ## Two tests and no truth
#
# Where nobody knows the truth, two tests in two populations of different prevalence tell the rates of both, if they err independently of each other (Hui & Walter 1980).
# The counts are A positive and B positive, A positive and B negative, and so on.

# %%
tm.audits.two_tests(
    {"school": [[14, 4], [9, 528]], "sanatorium": [[887, 31], [37, 367]]},
    tests=("Mantoux", "Tine"),
)

# %% [markdown]
# ## On the command line
#
# ```sh
# tallymark from-counts --sensitivity 54/60 --specificity 0.95,0.92,0.97 --predicted-positive 160 --n 1000
# ```
