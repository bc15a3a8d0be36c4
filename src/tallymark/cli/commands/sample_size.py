"""Compute how many rows tell two models apart by AUROC.

It needs no data: scores are taken as normal.

Example: tallymark sample-size --auroc 0.85 --difference 0.02 --prevalence 0.1
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tallymark.cli.options import OptionGroup, number
from tallymark.cli.output import Output
from tallymark.inference.sample_size import sample_size


@dataclass(frozen=True)
class PlanOptions(OptionGroup):
    """The models, and how sure the comparison must be."""

    auroc: Annotated[float, number("NUMBER", "Approximate AUROC of the models.")]
    difference: Annotated[float, number("NUMBER", "The difference of their AUROCs that matters.")]
    prevalence: Annotated[float, number("SHARE", "Share of positives in the data to come.")] = 0.5
    correlation: Annotated[float, number("NUMBER", "Correlation of the two estimates.")] = 0.5
    sd_ratio: Annotated[
        float, number("NUMBER", "Standard deviation of the positives' scores over that of the negatives'.")
    ] = 1.0
    power: Annotated[float, number("SHARE", "Probability of showing the difference.")] = 0.8
    level: Annotated[float, number("SHARE", "Confidence level, 1 − α.")] = 0.95


def run(options: PlanOptions, output: Output) -> None:
    """Plan the number of rows, print it."""
    plan = sample_size(**vars(options))
    if output.as_json:
        output.answer("sample-size", plan.to_dict())
    elif not output.for_people:
        output.facts(plan.to_dict())
    else:
        output.record_facts(plan.to_dict())
        output.text(
            f"{plan.n} rows, {plan.positives} of them positive, show a difference of {options.difference:g} around an "
            "AUROC of "
            f"{options.auroc:g} with a chance of {100 * options.power:g} %, if {100 * options.prevalence:g} % of the "
            "rows are positive and the two "
            f"estimates are correlated by {options.correlation:g} and scores are normal with a ratio of spreads of "
            f"{options.sd_ratio:g}."
        )
