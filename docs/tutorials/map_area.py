# ruff: noqa: B018
# %% [markdown]
# # How much forest was lost?
#
# *For someone who has a map and must report an area.*
#
# A map of 900 000 hectares shows deforestation on 18 000 of them. Counting pixels is not an estimate of the area: the map is wrong in places.
# People looked at 640 pixels on better images, so many of each mapped class, drawn at random. The numbers are those of Olofsson et al. (2014), table 8.

# %%
import pandas as pd

import tallymark as tm

classes = ["deforestation", "gain", "forest", "other"]
checked = pd.DataFrame(
    [[66, 0, 5, 4], [0, 55, 8, 12], [1, 0, 153, 11], [2, 1, 9, 313]],
    index=classes,
    columns=classes,
)
pixels = dict(zip(classes, [200_000, 150_000, 3_200_000, 6_450_000], strict=True))
checked

# %% [markdown]
# Rows are what the map says, columns what people saw. A pixel is 0.09 hectares.

# %%
audit = tm.audits.from_matrix(checked, pixels, unit=0.09)
audit

# %% [markdown]
# The map shows 18 000 hectares of deforestation, and the estimate is {{ audit.counts["deforestation"].written }}.
# It is larger, because deforestation was also found where the map says something else: once among the 165 checked pixels of forest, and twice among the 325 others.
# Each of these pixels stands for many hectares, which is why the interval reaches far up.

# %%
tm.charts.audit_counts(audit)

# %% [markdown]
# Precision is what remote sensing calls the user's accuracy, recall the producer's accuracy:
# {{ audit.precision["deforestation"].written }} and {{ audit.recall["deforestation"].written }} for deforestation.
# The overall accuracy is {{ audit.accuracy.written }}.
#
# ## Why not plus or minus two standard errors?
#
# The published interval is 1.96 standard errors on either side, ± {{ round(1.96 * audit.counts["deforestation"].standard_error) }} hectares.
# Had nobody found deforestation among the forest pixels, the standard error would take that for a proof that there is none.
# In simulations on a map like this one such intervals hold the area of the rarest class in about 72 % of samples and its recall in about 61 %; ours in 95 %.
#
# ## How many pixels next time?
#
# For a standard error of 0.01 of the overall accuracy:

# %%
tm.audits.accuracy_size(
    [0.02, 0.015, 0.32, 0.645], [0.7, 0.6, 0.9, 0.95], standard_error=0.01
)

# %% [markdown]
# With the pixels in a table, `tm.audits.plan(frame, predicted="map", measure="accuracy", size=641, least=75)` draws them, at least 75 of each class.
#
# ## What may be published
#
# Nothing is decided unless you ask. A rule gives every share a decision and the reason:

# %%
tm.audits.publication(audit, "variation")

# %% [markdown]
# On the command line, with the matrix in a file that has the column `size`:
#
# ```sh
# tallymark audit matrix matrix.csv --unit 0.09 --publish variation --report map.html
# ```
