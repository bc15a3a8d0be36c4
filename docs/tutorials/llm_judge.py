# %% [markdown]
# # Is the judge right?
#
# *For teams that let a language model judge the answers of another one.*
#
# A judge gave its verdict on 3 000 answers in three subjects. People labelled 500 of them, drawn at random.
# The data are generated, so that we can see at the end who was right.

# %%
import numpy as np
import pandas as pd

import tallymark as tm

rng = np.random.default_rng(4)
subject = rng.choice(["law", "maths", "writing"], 3_000)
truth = rng.random(3_000) < np.where(subject == "maths", 0.55, 0.80)
fooled = np.where(subject == "maths", 0.6, 0.25)
verdict = np.where(truth, rng.random(3_000) < 0.95, rng.random(3_000) < fooled)
items = pd.DataFrame(
    {
        "subject": subject,
        "judge": np.where(verdict, "pass", "fail"),
        "human": np.where(
            rng.permutation(3_000) < 500, np.where(truth, "pass", "fail"), None
        ),
    }
)
result = tm.raters.judge(items, judge="judge", human="human", by="subject")
print(result.heading())

# %% [markdown]
# The judge says {{ f"{100 * result.judged.value:.0f} %" }}; corrected it is {{ result.corrected.written }}.
# The picture shows where the difference comes from: the judge lets wrong proofs pass.

# %%
tm.charts.judgement(result)

# %% [markdown]
# The truth, which nobody would know, is {{ f"{truth.mean():.3f}" }} in all and {{ f"{truth[subject == 'maths'].mean():.3f}" }} in maths.
#
# ## How many more labels?
#
# For an interval of four points:

# %%
tm.raters.plan(items, judge="judge", human="human", width=0.04)

# %% [markdown]
# ## A new version of the judge
#
# The same answers judged by a stricter judge: what changed, and is it better?

# %%
stricter = np.where(truth, rng.random(3_000) < 0.93, rng.random(3_000) < fooled / 2)
items["next"] = np.where(stricter, "pass", "fail")
tm.raters.judge_drift(items, judge=["judge", "next"], human="human")

# %% [markdown]
# On the command line:
#
# ```sh
# tallymark judge items.csv --judge judge --human human --by subject --width 0.04 --report judge.html
# tallymark judge items.csv --judge judge,next --human human
# ```
