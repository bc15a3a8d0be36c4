"""Parameters of metrics (beta, costs of errors, odds): ranges, symbols and help, declared once."""

from __future__ import annotations

import math
from collections.abc import Mapping

from tallymark import _check
from tallymark._policies import parse_policy
from tallymark.errors import InputError
from tallymark.registry import METRICS, PARAMETERS, POLICIES, Parameter

for _parameter in (
    Parameter(
        "beta",
        0.0,
        math.inf,
        r"\beta",
        "How many times as much recall counts as precision; in Q-measure, the count as recall.",
    ),
    Parameter("cost_fp", 0.0, math.inf, r"c_{\mathrm{FP}}", "Cost of a false positive."),
    Parameter("cost_fn", 0.0, math.inf, r"c_{\mathrm{FN}}", "Cost of a false negative."),
    # Below 1, because the odds of 1 are infinite.
    Parameter("odds_at", 0.0, math.nextafter(1.0, 0.0), "t", "Probability from which one would act."),
):
    PARAMETERS.add(_parameter)

#: Costs of the two errors, unless given.
COSTS = {"cost_fp": 1.0, "cost_fn": 1.0}


def check_parameter(name: str, value: float) -> None:
    """Refuse a parameter outside its range."""
    parameter = PARAMETERS[name]
    if not parameter.low <= _check.real(value, name) <= parameter.high:
        raise InputError(f"{name} is {value!r}, expected a number from {parameter.low:g} to {parameter.high:g}.")


def adjustable() -> dict[str, float]:
    """Parameters that a user sets, with their defaults: all but those that are the threshold unless given."""
    follow_threshold = {metric.threshold_parameter for metric in METRICS.values()}
    return {
        name: default
        for metric in METRICS.values()
        for name, default in metric.parameters.items()
        if name not in follow_threshold
    }


def stated_parameters(threshold: object, given: Mapping[str, float]) -> dict[str, float]:
    """Parameters of metrics that are given or that a policy states: ``cost:1,50`` sets the costs, ``fbeta:3`` beta.

    Costs of the two errors imply the probability from which one would act, `odds_at` (Elkan 2001); where only one cost
    is given, the other is 1.
    """
    parameters = dict(given)
    if isinstance(threshold, str) and threshold.partition(":")[0].strip() in POLICIES:
        policy, numbers = parse_policy(threshold)
        parameters = dict(zip(policy.arguments, numbers, strict=True)) | parameters
    costs = {name: parameters.get(name, cost) for name, cost in COSTS.items()}
    if parameters.keys() & costs and sum(costs.values()) > 0.0:
        parameters.setdefault("odds_at", costs["cost_fp"] / sum(costs.values()))
    return parameters
