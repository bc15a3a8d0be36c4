"""Compute how many rows tell two models apart by AUROC.

It needs no data: scores are taken as normal.

Example: tallymark sample-size --auroc 0.85 --difference 0.02 --prevalence 0.1
"""

from __future__ import annotations

from typing import Annotated

from tallymark.cli.options import number
from tallymark.cli.output import Output
from tallymark.inference.sample_size import sample_size


def run(
    auroc: Annotated[float, number("NUMBER", "Approximate AUROC of the models.")],
    difference: Annotated[float, number("NUMBER", "The difference of their AUROCs that matters.")],
    output: Output,
    prevalence: Annotated[float, number("SHARE", "Share of positives in the data to come.")] = 0.5,
    correlation: Annotated[float, number("NUMBER", "Correlation of the two estimates.")] = 0.5,
    sd_ratio: Annotated[
        float, number("NUMBER", "Standard deviation of the positives' scores over that of the negatives'.")
    ] = 1.0,
    power: Annotated[float, number("SHARE", "Probability of showing the difference.")] = 0.8,
    level: Annotated[float, number("SHARE", "Confidence level, 1 − α.")] = 0.95,
) -> None:
    """Plan the number of rows, print it."""
    plan = sample_size(
        auroc=auroc, difference=difference, prevalence=prevalence, correlation=correlation, sd_ratio=sd_ratio,
        power=power, level=level,
    )  # fmt: skip
    if output.as_json:
        output.answer("sample-size", plan.to_dict())
    elif not output.for_people:
        output.facts(plan.to_dict())
    else:
        output.text(
            f"{plan.n} rows, {plan.positives} of them positive, show a difference of {difference:g} around an AUROC of "
            f"{auroc:g} with a chance of {100 * power:g} %, if {100 * prevalence:g} % of the rows are positive and the two "
            f"estimates are correlated by {correlation:g} and scores are normal with a ratio of spreads of {sd_ratio:g}."
        )
