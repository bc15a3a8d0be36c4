"""Declaration of quantifiers in the registry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from tallymark._check import Floats
from tallymark.registry import QUANTIFIERS, Method

Kernel = Callable[..., Floats]
IntervalKind = Literal["analytic", "profile", "bootstrap"]


def method(
    name: str,
    title: str,
    formula: str,
    meaning: str,
    reference: str,
    *,
    interval: IntervalKind = "bootstrap",
    **facts: Any,
) -> Callable[[Kernel], Kernel]:
    """Declare a quantifier; `facts` are those of :class:`Method`.

    The decorated kernel takes a validation sample, the target's samples, and the method's options by name.
    """

    def declare(kernel: Kernel) -> Kernel:
        declared = Method(
            name=name,
            title=title,
            formula=formula,
            meaning=meaning,
            reference=reference,
            kernel=kernel,
            interval=interval,
            **facts,
        )
        QUANTIFIERS.add(declared)
        return kernel

    return declare
