"""Count from an audit table, or from the error rates of a test.

It needs the number of rows of the target that were predicted positive, and a confusion table of an audit sample or the
sensitivity and the specificity of the test. Each of these is a number (known exactly), an estimate with its limits
(0.95,0.90,0.98) or a count (57/60). Several populations: repeat --predicted-positive and --n.

Example: tallymark from-counts --tp 80 --fn 20 --fp 10 --tn 90 --predicted-positive 300 --n 1000
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from tallymark._numbers import count_with_limits, with_limits
from tallymark.audits.count_table import from_counts
from tallymark.cli.layout import table
from tallymark.cli.options import Level, Seed, names, number, number_or_text, text
from tallymark.cli.output import Output
from tallymark.errors import InputError
from tallymark.quantify.estimation.prevalence import Prevalence
from tallymark.summaries.confusion import Confusion

#: The methods unless others are named.
_USUAL = ["cc", "ac", "bayes"]

_RATE_HELP = "of the test instead of a table: 0.95, 0.95,0.90,0.98 (with limits) or 57/60."


def run(
    predicted_positive: Annotated[
        list[float], number("COUNT", "Rows of the target that were predicted positive (repeat for populations).")
    ],
    n: Annotated[list[float], number("COUNT", "Rows of the target (repeat).")],
    output: Output,
    tp: Annotated[
        int | None, number("COUNT", "Positives of the audit sample that were predicted positive.", least=0)
    ] = None,
    fn: Annotated[int | None, number("COUNT", "Positives that were predicted negative.", least=0)] = None,
    fp: Annotated[int | None, number("COUNT", "Negatives that were predicted positive.", least=0)] = None,
    tn: Annotated[int | None, number("COUNT", "Negatives that were predicted negative.", least=0)] = None,
    sensitivity: Annotated[str | None, text("RATE", f"Sensitivity {_RATE_HELP}")] = None,
    specificity: Annotated[str | None, text("RATE", f"Specificity {_RATE_HELP}")] = None,
    n_effective: Annotated[
        list[float] | None, number("COUNT", "Effective sample size of a survey, n over its design effect (repeat).")
    ] = None,
    method: Annotated[list[str] | None, names("METHOD", "ac, calibration, bayes, cc")] = None,
    population: Annotated[
        list[float] | None, number("COUNT", "Size of the population the target is from (or is; repeat).")
    ] = None,
    level: Level = 0.95,
    seed: Seed = 0,
) -> None:
    """Estimate from an audit table or from the rates of a test, print."""
    cells = {"tp": tp, "fn": fn, "fp": fp, "tn": tn}
    missing = [name for name, value in cells.items() if value is None]
    of_test = sensitivity is not None or specificity is not None
    if of_test and len(missing) < len(cells):
        raise InputError(
            "--sensitivity and --specificity stand instead of --tp, --fn, --fp and --tn; give one of both."
        )
    if missing and not of_test:
        raise InputError(
            f"--{missing[0]} is missing: give the four cells --tp, --fn, --fp and --tn of an audit table, or "
            "--sensitivity and --specificity."
        )
    audit = None if of_test else Confusion(np.array([[tn, fp], [fn, tp]]), (0, 1), positive=1)
    counts = {"predicted_positive": predicted_positive, "n": n, "n_effective": n_effective, "population": population}
    options: dict[str, Any] = {name: _by_population(values) for name, values in counts.items()}
    options |= {"sensitivity": _rate(sensitivity, "sensitivity"), "specificity": _rate(specificity, "specificity")}
    estimates = [
        (group, one)
        for name in method or _USUAL
        for group, one in _by_group(from_counts(audit, method=name, level=level, seed=seed, **options))
    ]
    if output.as_json:
        answers = [
            {"group": None if group is None else {"population": group}, **one.to_dict()} for group, one in estimates
        ]
        output.answer("from-counts", {"n": sum(n), "estimates": answers})
        return
    rates = f"sensitivity {sensitivity}, specificity {specificity}" if of_test else f"audit {_listed(cells)}"
    of_rows = ", ".join(f"{k:g} of {rows:g}" for k, rows in zip(predicted_positive, n, strict=True))
    output.text(f"{of_rows} predicted positive; {rates}", "bold")
    heads = [("method", "left"), ("prevalence", "right"), ("count", "right"), ("interval", "prose")]
    several = len(n) > 1
    heads = [heads[0], ("population", "left"), *heads[1:]] if several else heads
    output.table(table("", heads, [_row(group, one, several=several) for group, one in estimates]))


def _listed(cells: dict[str, int | None]) -> str:
    return ", ".join(f"{name} {value}" for name, value in cells.items())


def _by_population(values: list[float] | None) -> Any:
    """One number as it is, several by the number of the population; None where none was given."""
    if not values:
        return None
    return values[0] if len(values) == 1 else dict(enumerate(values, 1))


def _by_group(answer: Any) -> list[tuple[int | None, Prevalence]]:
    """The estimate of each population, under None where there is one."""
    return [(None, answer)] if isinstance(answer, Prevalence) else list(answer.items())


def _rate(given: str | None, name: str) -> Any:
    """A number, (value, low, high) or (right, rows) from its text."""
    if given is None:
        return None
    mark = "/" if "/" in given else ","
    parts = [number_or_text(part.strip()) for part in given.split(mark)]
    if any(isinstance(part, str) for part in parts) or len(parts) != {"/": 2}.get(mark, 3 if mark in given else 1):
        raise InputError(f"--{name} is {given!r}, expected a number, value,low,high or right/rows, such as 57/60.")
    return parts[0] if len(parts) == 1 else tuple(parts)


def _row(group: int | None, one: Prevalence, *, several: bool) -> list[str]:
    first = [one.method, str(group)] if several else [one.method]
    if one.reason is not None or one.low is None or one.high is None:
        return [*first, "–", "–", one.reason or ""]
    counted = count_with_limits(one.count, one.low * one.n, one.high * one.n)
    return [*first, with_limits(one.prevalence, one.low, one.high), counted, one.interval_method or ""]
