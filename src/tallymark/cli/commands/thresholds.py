"""Choose thresholds by policies.

The stability of each choice and its optimism (how much better it looks on these rows than on new ones) are estimated by
resampling.

Example: tallymark thresholds scores.csv --label y --score p --policy f1 --policy tpr:0.9
"""

from __future__ import annotations

from typing import Annotated

import typer

from tallymark._numbers import limits, noun
from tallymark._numbers import number as shown
from tallymark.cli.layout import table
from tallymark.cli.options import (
    File,
    Label,
    MetricParameters,
    Sampling,
    Score,
    Seed,
    WeightedRowOptions,
    number,
    text,
)
from tallymark.cli.output import CheckedOutput, progress_bar
from tallymark.cli.reading import read_tally
from tallymark.errors import Undefined
from tallymark.inference.limits.optimism import chosen_threshold

#: The policies unless others are named.
_USUAL = ("youden", "f1", "mcc", "breakeven")


def run(
    file: File,
    label: Label,
    score: Score,
    rows: WeightedRowOptions,
    parameters: MetricParameters,
    output: CheckedOutput,
    policy: Annotated[
        list[str] | None, typer.Option(metavar="POLICY", help="A policy such as f1 or tpr:0.9; repeat for more.")
    ] = None,
    metric: Annotated[str | None, text("METRIC", "Judge each choice by this metric instead of its own.")] = None,
    level: Annotated[float, number("SHARE", "Share of the resamples the limits hold.")] = 0.95,
    seed: Seed = 0,
    sampling: Sampling = "plain",
) -> None:
    """Choose, resample the choice, print."""
    tally = read_tally(file, label, score, rows)
    policies = policy or _USUAL
    choices, reasons = [], {}
    with progress_bar("Resampling the choice") as progress:
        for done, name in enumerate(policies, 1):
            try:
                choices.append(
                    chosen_threshold(
                        tally,
                        name,
                        metric=metric,
                        level=level,
                        seed=seed,
                        sampling=sampling,  # type: ignore[arg-type]
                        **parameters.given(),
                    )
                )
            except Undefined as error:
                reasons[name] = error.reason
            if progress is not None:
                progress(100.0 * done / len(policies))
    if output.as_json:
        sizes = {"n": tally.n, "positives": tally.positives}
        output.answer("thresholds", {**sizes, "thresholds": [one.to_dict() for one in choices], "undefined": reasons})
        return
    heads = [
        ("policy", "left"),
        ("threshold", "right"),
        (f"{100 * level:g} % of resamples", "right"),
        ("metric", "left"),
        ("apparent", "right"),
        ("optimism", "right"),
        ("corrected", "right"),
    ]
    lines = [
        [
            one.policy,
            shown(one.threshold),
            limits(one.low, one.high),
            one.metric,
            shown(one.apparent),
            shown(one.optimism),
            shown(one.corrected),
        ]
        for one in choices
    ]
    output.table(
        table(f"{file}: {tally.n_rows} {noun(tally.n_rows, 'row')}, {shown(tally.positives)} positive", heads, lines)
    )
    for name, reason in reasons.items():
        output.text(f"{name}: {reason}", indent="  ")
