r"""Items first seen in a period beside known ones: how many, how they score, how well they are classified.

What a classifier was trained on says little of items that did not exist then (new products). Each period is compared
with itself: rows of items that occurred in an earlier period, and rows of others. Rule: retrain when the classifier
errs more often on new items than on known ones of the same period, by Holm's correction over the periods; check again
every :math:`\sqrt{2c/(\lambda\delta n e)}` periods, which balances the cost c of a check against what an undetected
loss costs (n rows a period, a share :math:`\lambda` of them new, :math:`\delta` more errors each, at e an error).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallymark._check import Bools, Floats, Ints
from tallymark._display import Row, Shown, plain
from tallymark._numbers import number, per_cent
from tallymark.inference.hypothesis_tests.corrections import holm
from tallymark.inference.limits.proportions import limits

#: Rows (or labelled rows) of new and of known items from which they are compared.
_FEWEST = 5


@dataclass(frozen=True, eq=False, repr=False)
class NewItems(Shown):
    """New and known items of each period.

    Attributes
    ----------
    periods : tuple
        A row for each period: numbers of rows and items, the share of rows whose item is new, churn (the share of the
        last period's items that are gone), mean score and value of both kinds, and their error rates where labels are.
    retrain : bool
        Whether errors are more frequent on new items in some period, after Holm's correction.
    check_every : float or None
        Periods between checks that cost least; None where no costs were stated, or new items cost nothing.
    """

    periods: tuple[Row, ...]
    level: float
    retrain: bool = False
    check_every: float | None = None
    details: dict[str, Any] = field(default_factory=dict)

    def heading(self) -> str:
        """How many are new, and what the rule says."""
        shares = [row["share_new"] for row in self.periods if row["share_new"] is not None]
        mean = per_cent(float(np.mean(shares))) if shares else ""
        parts = [f"{mean} of the rows of a period are of new items, on average"] if shares else []
        if any(row["p_errors"] is not None for row in self.periods):
            parts.append(
                "errors are more frequent on new items: retrain"
                if self.retrain
                else "no period shows more errors on new items"
            )
        if self.check_every is not None:
            parts.append(f"check every {number(self.check_every)} periods")
        return "; ".join(parts) or "No period has items that another one had."

    def rows(self) -> Sequence[Row]:
        """A row for each period."""
        return self.periods

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "periods": plain([dict(row) for row in self.periods]),
            "level": self.level,
            "retrain": self.retrain,
            "check_every": self.check_every,
            **plain(self.details),
        }


@dataclass(frozen=True)
class ItemRows:
    """The item of each row, its score, and where they are known its value and whether the classifier erred."""

    items: NDArray[Any]
    scores: Floats
    values: Floats | None
    labelled: Bools
    wrong: Bools


def new_items(
    rows: ItemRows,
    names: Sequence[Any],
    periods: Sequence[Ints],
    level: float,
    check_cost: float | None,
    error_cost: float | None,
) -> NewItems:
    """Compare new and known items of each period; the first period has no known ones."""
    codes = np.unique(rows.items, return_inverse=True)[1].ravel()
    seen = np.zeros(int(codes.max()) + 1, np.bool_)
    before: Ints = np.array([], np.int64)
    lines: list[dict[str, Any]] = []
    for name, members in zip(names, periods, strict=True):
        present = np.unique(codes[members])
        new = ~seen[codes[members]]
        lines.append({"period": name, **_compared(rows, members, new, level, first=not len(before))})
        lines[-1]["items"], lines[-1]["new_items"] = len(present), int((~seen[present]).sum())
        lines[-1]["churn"] = float(1.0 - np.isin(before, present).mean()) if len(before) else None
        seen[present], before = True, present
    tested = [line for line in lines if line["p_errors"] is not None]
    for line, p in zip(tested, holm(np.array([line["p_errors"] for line in tested])), strict=True):
        line["p_holm"] = float(p)
    worse = [line for line in tested if line["p_holm"] <= 1.0 - level and line["more_errors"] > 0.0]
    details = _schedule(lines, periods, check_cost, error_cost)
    return NewItems(tuple(lines), level, retrain=bool(worse), check_every=details.get("check_every"), details=details)


def _compared(rows: ItemRows, members: Ints, new: Bools, level: float, *, first: bool) -> dict[str, Any]:
    """New and known rows of a period beside each other."""
    line: dict[str, Any] = dict.fromkeys(("share_new", "errors_new", "errors_known", "more_errors", "low", "high"))
    line |= dict.fromkeys(("mean_score_new", "mean_score_known", "mean_value_new", "mean_value_known", "p_scores"))
    line |= {"p_errors": None, "p_holm": None, "rows": len(members)}
    if first:
        return line
    line["share_new"] = float(new.mean())
    for kind, chosen in (("new", members[new]), ("known", members[~new])):
        if len(chosen):
            line[f"mean_score_{kind}"] = float(rows.scores[chosen].mean())
            line[f"mean_value_{kind}"] = None if rows.values is None else float(rows.values[chosen].mean())
        checked = chosen[rows.labelled[chosen]]
        line[f"errors_{kind}"] = float(rows.wrong[checked].mean()) if len(checked) else None
    if min(new.sum(), (~new).sum()) >= _FEWEST:
        line["p_scores"] = _rank_test(rows.scores[members[new]], rows.scores[members[~new]])
    return line | _more_errors(rows, members, new, level)


def _rank_test(one: Floats, other: Floats) -> float:
    """Mann and Whitney's p-value of two samples of scores."""
    from scipy.stats import mannwhitneyu

    return float(mannwhitneyu(one, other).pvalue)


def _more_errors(rows: ItemRows, members: Ints, new: Bools, level: float) -> dict[str, Any]:
    """How many more errors there are on new items, with Newcombe's limits and Fisher's exact p-value."""
    from scipy.stats import fisher_exact

    counts = []
    for chosen in (members[new], members[~new]):
        checked = chosen[rows.labelled[chosen]]
        counts.append((int(rows.wrong[checked].sum()), len(checked)))
    (wrong, n), (wrong_known, n_known) = counts
    if min(n, n_known) < _FEWEST:
        return {}
    p = float(fisher_exact([[wrong, n - wrong], [wrong_known, n_known - wrong_known]])[1])
    low, high = _newcombe((wrong, n), (wrong_known, n_known), level)
    return {"more_errors": wrong / n - wrong_known / n_known, "low": low, "high": high, "p_errors": p}


def _newcombe(one: tuple[int, int], other: tuple[int, int], level: float) -> tuple[float, float]:
    """Limits of a difference of proportions from those of each (Newcombe 1998, method 10)."""
    (low, high), (low_other, high_other) = (
        [float(end) for end in limits(float(x), float(n), level, "wilson")] for x, n in (one, other)
    )
    p, q = one[0] / one[1], other[0] / other[1]
    return p - q - math.hypot(p - low, high_other - q), p - q + math.hypot(high - p, q - low_other)


def _schedule(
    lines: Sequence[dict[str, Any]], periods: Sequence[Ints], check_cost: float | None, error_cost: float | None
) -> dict[str, Any]:
    """How often to check: the period at which checks and undetected errors of new items cost the same."""
    if check_cost is None or error_cost is None:
        return {}
    shares = [line["share_new"] for line in lines if line["share_new"] is not None]
    more = [line["more_errors"] for line in lines if line["more_errors"] is not None]
    if not shares or not more:
        return {"no_schedule": "no period has labels of both new and known items"}
    # What was not shown to be worse may still be: the schedule is for the mean difference, at least for none below 0.
    excess = max(float(np.mean(more)), 0.0)
    loss = float(np.mean(shares)) * excess * float(np.mean([len(rows) for rows in periods])) * error_cost
    if loss <= 0.0:
        return {"no_schedule": "new items cost no more errors than known ones"}
    return {"check_every": max(1.0, math.sqrt(2.0 * check_cost / loss)), "loss_per_period": loss}
