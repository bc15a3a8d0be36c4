"""Batches of samples that fit into a core's cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tallymark._check import Floats
from tallymark.inference.resampling.parallel import in_threads
from tallymark.quantify.kernels.samples import Samples

#: Numbers worked on at a time.
_BLOCK = 2**16


def in_parts(work: Callable[[slice], Floats], lines: int, width: int) -> Floats:
    """Work on a few lines at a time, so that they stay in a core's cache, and put the answers together."""
    step = max(1, _BLOCK // max(width, 1))
    parts = [slice(start, min(start + step, lines)) for start in range(0, lines, step)]
    return np.concatenate(in_threads(work, parts, None) if len(parts) > 1 else [work(part) for part in parts])


def take(samples: Samples, part: slice) -> Samples:
    """Rows of a batch of samples; a batch of one broadcasts."""
    if len(samples) == 1:
        return samples
    index, mass = (None if lines is None else lines[part] for lines in (samples.index, samples.mass))
    return replace(samples, index=index, mass=mass)


def take_lines(values: Any, part: slice) -> Any:
    """Rows of a batch of arrays; a batch of one broadcasts."""
    return values if len(values) == 1 else values[part]


def squeezed(values: Floats) -> Floats:
    """A batch of one as a plain array."""
    return values[0] if len(values) == 1 else values
