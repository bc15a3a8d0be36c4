"""Seeds and threads: the same numbers for any number of jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from tallymark.errors import InputError
from tallymark.inference.interval import Seed, checked_number


def in_threads(work: Callable[[Any], Any], parts: Iterable[Any], jobs: int | None) -> list[Any]:
    """Work on each part, in order; NumPy works outside the interpreter lock, so two threads nearly halve the time."""
    with ThreadPoolExecutor(2 if jobs is None else checked_number(jobs, "jobs", 1)) as workers:
        return list(workers.map(work, parts))


def seeds(seed: Seed, blocks: int) -> list[np.random.SeedSequence]:
    """One seed for each block of work, the same whatever number of jobs does them."""
    if isinstance(seed, np.random.Generator):
        return list(np.random.SeedSequence(int(seed.integers(2**63))).spawn(blocks))
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed is {seed!r}, expected a whole number of 0 or more, or a numpy.random.Generator.")
    return list(np.random.SeedSequence(int(seed)).spawn(blocks))
