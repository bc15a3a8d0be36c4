"""``tallymark from-counts``: a count from a confusion table of an audit sample."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tallymark._numbers import count_with_limits, with_limits
from tallymark.audits.count_table import from_counts
from tallymark.cli.naming import listed
from tallymark.cli.printing import (
    print_json,
    print_table,
    print_text,
    table,
)
from tallymark.quantify.estimation.prevalence import Prevalence
from tallymark.summaries.confusion import Confusion


def run(
    cells: tuple[int, int, int, int], predicted_positive: float, n: float, methods: Sequence[str],
    population: float | None, level: float, seed: int, *, as_json: bool,
) -> dict[str, Prevalence]:  # fmt: skip
    """Estimate from an audit table, print; gives back what was printed."""
    tp, fn, fp, tn = cells
    audit = Confusion(np.array([[tn, fp], [fn, tp]]), (0, 1), positive=1)
    entries = {
        name: from_counts(audit, predicted_positive=predicted_positive, n=n, method=name, level=level, population=population, seed=seed)
        for name in listed(methods) or ["cc", "ac", "bayes"]
    }  # fmt: skip
    if as_json:
        print_json("from-counts", {"n": n, "estimates": [{"group": None, **one.to_dict()} for one in entries.values()]})
        return entries
    rows = [
        [name, "–", "–", one.reason or ""]
        if one.reason is not None or one.low is None or one.high is None
        else [
            name,
            with_limits(one.prevalence, one.low, one.high),
            count_with_limits(one.count, one.low * one.n, one.high * one.n),
            one.interval_method or "",
        ]
        for name, one in entries.items()
    ]
    title = f"{predicted_positive:g} of {n:g} predicted positive; audit tp {tp}, fn {fn}, fp {fp}, tn {tn}"
    print_text(title, "bold")
    heads = [("method", "left"), ("prevalence", "right"), ("count", "right"), ("interval", "prose")]
    print_table(table("", heads, rows))
    return entries
