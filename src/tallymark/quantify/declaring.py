"""How a quantifier is declared, and what kernels share: many lines worked on a few at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from tallymark._check import Floats
from tallymark.intervals.base import in_threads
from tallymark.quantify.samples import Samples
from tallymark.registry import QUANTIFIERS, Method

Kernel = Callable[..., Floats]
IntervalKind = Literal["analytic", "profile", "bootstrap"]

#: Numbers worked on at a time.
_BLOCK = 2**16


def method(
    name: str, title: str, formula: str, meaning: str, reference: str, *, interval: IntervalKind = "bootstrap",
    probabilities: bool = False, shift_proof: bool = True, trusts_probabilities: bool = False, aliases: tuple[str, ...] = (),
    densities: Callable[..., tuple[Floats, Floats]] | None = None,
) -> Callable[[Kernel], Kernel]:  # fmt: skip
    """Declare a quantifier; its kernel takes a validation sample and the target's samples."""

    def declare(kernel: Kernel) -> Kernel:
        QUANTIFIERS.add(
            Method(
                name=name, title=title, formula=formula, meaning=meaning, reference=reference, kernel=kernel,
                interval=interval, probabilities=probabilities, shift_proof=shift_proof, aliases=aliases,
                densities=densities, trusts_probabilities=trusts_probabilities,
            )
        )  # fmt: skip
        return kernel

    return declare


def in_parts(work: Callable[[slice], Floats], lines: int, width: int) -> Floats:
    """Work on a few lines at a time, so that they stay in a core's cache, and put the answers together."""
    step = max(1, _BLOCK // max(width, 1))
    parts = [slice(start, min(start + step, lines)) for start in range(0, lines, step)]
    return np.concatenate(in_threads(work, parts, None) if len(parts) > 1 else [work(part) for part in parts])


def some(samples: Samples, part: slice) -> Samples:
    """Some of the samples; a single one stands for all."""
    if len(samples) == 1:
        return samples
    index, mass = (None if lines is None else lines[part] for lines in (samples.index, samples.mass))
    return replace(samples, index=index, mass=mass)


def line(values: Any, part: slice) -> Any:
    """Some of the lines; a single one stands for all."""
    return values if len(values) == 1 else values[part]


def flat(values: Floats) -> Floats:
    """A single line as a plain array."""
    return values[0] if len(values) == 1 else values
