"""``tallymark sample-size``: how much data tells two models apart."""

from __future__ import annotations

from tallymark.cli.formats import chosen
from tallymark.cli.printing import print_facts, print_json, print_text
from tallymark.inference.sample_size import sample_size


def run(
    auroc: float, difference: float, prevalence: float, correlation: float, sd_ratio: float, power: float, level: float, *,
    as_json: bool,
) -> None:  # fmt: skip
    """Rows needed to tell two models apart."""
    plan = sample_size(
        auroc=auroc,
        difference=difference,
        prevalence=prevalence,
        correlation=correlation,
        sd_ratio=sd_ratio,
        power=power,
        level=level,
    )
    if as_json:
        print_json("sample-size", plan.to_dict())
    elif chosen() != "table":
        print_facts(plan.to_dict())
    else:
        print_text(
            f"{plan.n} rows, {plan.positives} of them positive, show a difference of {difference:g} around an AUROC of "
            f"{auroc:g} with a chance of {100 * power:g} %, if {100 * prevalence:g} % of the rows are positive and the two "
            f"estimates are correlated by {correlation:g} and scores are normal with a ratio of spreads of {sd_ratio:g}."
        )
