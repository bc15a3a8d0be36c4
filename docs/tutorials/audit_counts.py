# ruff: noqa: B018
# %% [markdown]
# # Counts by region from an audit
#
# *For an official statistician who must publish how many there are, by region, and how sure that is.*
#
# An office has a register of 24 000 businesses. It wants to know how many of them sell online, in each of four regions.
# A classifier has read their websites and gives each business a score between 0 and 1.
# People can look at a few hundred websites, not at 24 000.
#
# The plan: let the scores decide **which** businesses to look at, and let the people decide **what they are**.
# Then nothing has to be assumed about the classifier. A good one makes the interval narrow, a bad one leaves it wide.
#
# The data are generated, so that in the end we can look at the truth. Nobody has that in an office.

# %%
import numpy as np
import pandas as pd

import tallymark as tm

rng = np.random.default_rng(7)
n = 24_000
region = rng.choice(["East", "North", "South", "West"], n, p=[0.4, 0.3, 0.2, 0.1])
share = (
    pd.Series(region)
    .map({"East": 0.08, "North": 0.04, "South": 0.10, "West": 0.06})
    .to_numpy()
)
truth = rng.random(n) < share
# Online sellers of the South have websites of another kind: the classifier gives them lower scores.
strength = np.where(truth, np.where(region == "South", 2.2, 3.6), 0.0)
p = 1 / (1 + np.exp(-rng.normal(strength - 3.4, 1.2)))

firms = pd.DataFrame({"region": region, "p": p})
firms.head(3)

# %% [markdown]
# ## What the classifier says
#
# The simplest count is the number of businesses with a score of at least one half (`called`). Another is the sum of the scores (`scores`).
# Neither is right, and neither is wrong in the same way in each region.

# %%
said = (
    firms.assign(called=firms.p >= 0.5)
    .groupby("region")
    .agg(businesses=("p", "size"), called=("called", "sum"), scores=("p", "sum"))
)
said.assign(truth=pd.Series(truth).groupby(region).sum()).round(0).astype(int)

# %% [markdown]
# ## Which businesses to look at
#
# `tm.audits.plan` draws them. We want the share of online sellers in the whole register to within an interval of three points.
# The rows are drawn in strata along the score: more where the classifier is in doubt, some everywhere.
# The plan also says how many rows a simple random sample would need for the same width.

# %%
plan = tm.audits.plan(firms, score="p", width=0.03, seed=1)
plan

# %%
tm.charts.audit_plan(plan)

# %% [markdown]
# {{ plan.size }} businesses are to be looked at; drawn without scores it would be {{ plan.simple }}.
# `plan.drawn` has their places in the register, `plan.list_to_check()` is the list for the people who look
# (on the command line: `tallymark audit plan firms.parquet --score p --width 0.03 --out check.csv --all planned.parquet`).
#
# Keep `plan.inclusion`, the probability with which each row was drawn. Without it the sample cannot be weighed.
#
# ## The answers come back
#
# A business that was not looked at has no label. Here the generated truth plays the part of the people who look.

# %%
checked = np.full(n, np.nan)
checked[plan.drawn] = truth[plan.drawn]
firms = firms.assign(checked=checked, inclusion=plan.inclusion)
count = tm.audits.from_audit(firms, label="checked", score="p", inclusion="inclusion")
count

# %% [markdown]
# The truth, which nobody would know: {{ truth.sum() }}. One interval shows nothing about a method;
# how often such intervals hold the truth in simulation is in [Audits](../../audits.md).
#
# ## By region

# %%
regions = tm.audits.from_audit(
    firms, label="checked", score="p", inclusion="inclusion", by="region"
)
regions

# %%
table = regions.to_frame().set_index("region")
table["truth"] = pd.Series(truth).groupby(region).sum()
table.loc["all", "truth"] = truth.sum()
table[["count", "count_low", "count_high", "truth"]].round(0).astype(int)

# %% [markdown]
# The audit was planned for the whole register, so what it says of one region is less sure.
# The last line adds up the regions; it is an estimate of its own, beside that of the whole register above.
# Where each region must be known on its own, say so when planning: with `by="region"` the width is planned for each, which is dearer.

# %%
each = tm.audits.plan(firms, score="p", width=0.03, by="region", seed=1)
plan.size, each.size

# %% [markdown]
# ## And how good are the calls?
#
# The same checked rows say how good the classifier is **in this register**, at the threshold one would use.

# %%
found = tm.audits.estimate(
    firms, label="checked", score="p", inclusion="inclusion", threshold=0.5, by="region"
)
found

# %%
tm.charts.audit_estimate(found)

# %% [markdown]
# ## Why not a quantifier?
#
# A quantifier needs no new labels: it takes labelled rows from elsewhere and corrects for the errors seen there.
# It is right as long as the scores of each class are distributed as they were. Suppose the labelled rows are all from the East.

# %%
east = region == "East"
labelled = tm.tally(truth[east][:3000], p[east][:3000])
lines = []
for name in ("North", "South", "West"):
    estimate = tm.quantify.estimate("bayes", labelled, tm.tally(scores=p[region == name]))
    lines.append(
        (
            name,
            estimate.count,
            estimate.count_low,
            estimate.count_high,
            truth[region == name].sum(),
        )
    )
pd.DataFrame(lines, columns=["region", "bayes", "low", "high", "truth"]).round(0)

# %% [markdown]
# In the North and the West the assumption holds, because the data were made so, and the quantifier needs no new labels there.
# In the South the classifier gives online sellers lower scores, and the quantifier cannot know.
# Do the scores show it? `mixture_fit` asks whether they can be a mixture of the two classes at all.

# %%
for name in ("North", "South"):
    fit = tm.quantify.mixture_fit(labelled, tm.tally(scores=p[region == name]))
    print(f"{name}: p = {fit.p_value:.2g}")

# %% [markdown]
# For the South there is a warning. It does not always come: not to be contradicted is not to be true.
# Labels tell more, when there are enough of them in each region:
# `class_drift` tests whether the scores of each class are distributed alike in all regions.
# The {{ plan.size }} checked rows were drawn by their scores and cannot be used for that, so here is a random sample of 1 500 labelled rows.

# %%
sample = rng.choice(n, 1_500, replace=False)
random_rows = firms.assign(y=truth).iloc[sample]
print(
    tm.quantify.class_drift(
        tm.tally(random_rows, label="y", score="p", by="region")
    ).verdict
)

# %% [markdown]
# ## What to publish
#
# The count with its interval, by region; how the rows were drawn; how many were checked; that no model of shift was assumed.
# `tm.report(found, "audit.html")` puts all of it on one page. On the command line:
#
# ```sh
# tallymark audit estimate planned.parquet check.csv --score p --inclusion inclusion --threshold 0.5 --by region --report audit.html
# ```
#
# What the intervals do not know: people who check make mistakes too, and businesses whose website could not be opened count as not answering at random.
