"""Count from a confusion table of an audit sample.

It needs the number of rows of the target that were predicted positive beside it.

Example: tallymark from-counts --tp 80 --fn 20 --fp 10 --tn 90 --predicted-positive 300 --n 1000
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from tallymark._numbers import count_with_limits, with_limits
from tallymark.audits.count_table import from_counts
from tallymark.cli.layout import table
from tallymark.cli.options import Level, Seed, names, number
from tallymark.cli.output import Output
from tallymark.quantify.estimation.prevalence import Prevalence
from tallymark.summaries.confusion import Confusion

#: The methods unless others are named.
_USUAL = ["cc", "ac", "bayes"]


def run(
    tp: Annotated[int, number("COUNT", "Positives of the audit sample that were predicted positive.", least=0)],
    fn: Annotated[int, number("COUNT", "Positives that were predicted negative.", least=0)],
    fp: Annotated[int, number("COUNT", "Negatives that were predicted positive.", least=0)],
    tn: Annotated[int, number("COUNT", "Negatives that were predicted negative.", least=0)],
    predicted_positive: Annotated[float, number("COUNT", "Rows of the target that were predicted positive.")],
    n: Annotated[float, number("COUNT", "Rows of the target.")],
    output: Output,
    method: Annotated[list[str] | None, names("METHOD", "ac, calibration, bayes, cc")] = None,
    population: Annotated[float | None, number("COUNT", "Size of the population the target is from (or is).")] = None,
    level: Level = 0.95,
    seed: Seed = 0,
) -> None:
    """Estimate from an audit table, print."""
    audit = Confusion(np.array([[tn, fp], [fn, tp]]), (0, 1), positive=1)
    options = {"predicted_positive": predicted_positive, "n": n, "population": population}
    estimates = {
        name: from_counts(audit, method=name, level=level, seed=seed, **options)  # type: ignore[arg-type]
        for name in method or _USUAL
    }
    if output.as_json:
        answers = [{"group": None, **one.to_dict()} for one in estimates.values()]
        output.answer("from-counts", {"n": n, "estimates": answers})
        return
    output.text(f"{predicted_positive:g} of {n:g} predicted positive; audit tp {tp}, fn {fn}, fp {fp}, tn {tn}", "bold")
    heads = [("method", "left"), ("prevalence", "right"), ("count", "right"), ("interval", "prose")]
    output.table(table("", heads, [_row(name, one) for name, one in estimates.items()]))


def _row(name: str, one: Prevalence) -> list[str]:
    if one.reason is not None or one.low is None or one.high is None:
        return [name, "–", "–", one.reason or ""]
    counted = count_with_limits(one.count, one.low * one.n, one.high * one.n)
    return [name, with_limits(one.prevalence, one.low, one.high), counted, one.interval_method or ""]
