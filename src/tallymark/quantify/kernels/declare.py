"""How a quantifier is declared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from tallymark._check import Floats
from tallymark.registry import QUANTIFIERS, Method

Kernel = Callable[..., Floats]
IntervalKind = Literal["analytic", "profile", "bootstrap"]


def method(
    name: str, title: str, formula: str, meaning: str, reference: str, *, interval: IntervalKind = "bootstrap",
    probabilities: bool = False, shift_proof: bool = True, trusts_probabilities: bool = False, aliases: tuple[str, ...] = (),
    densities: Callable[..., tuple[Floats, Floats]] | None = None, options: Mapping[str, Any] | None = None,
    resampled_with: tuple[str, ...] = (), reads_target: bool = True, uses_training_prevalence: bool = False,
    fitted_with: Mapping[str, Any] | None = None, reads_validation: bool = True, precedence: int = 100,
) -> Callable[[Kernel], Kernel]:  # fmt: skip
    """Declare a quantifier; its kernel takes a validation sample, the target's samples, and its options by name."""

    def declare(kernel: Kernel) -> Kernel:
        QUANTIFIERS.add(
            Method(
                name=name, title=title, formula=formula, meaning=meaning, reference=reference, kernel=kernel,
                interval=interval, probabilities=probabilities, shift_proof=shift_proof, aliases=aliases,
                densities=densities, trusts_probabilities=trusts_probabilities, options=dict(options or {}),
                resampled_with=resampled_with, reads_target=reads_target, fitted_with=dict(fitted_with or {}),
                uses_training_prevalence=uses_training_prevalence, reads_validation=reads_validation, precedence=precedence,
            )
        )  # fmt: skip
        return kernel

    return declare
