"""Threads, and a random seed for each block of work: the same numbers for any number of threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from tallymark.errors import InputError
from tallymark.inference.interval import Seed, checked_number
from tallymark.summaries.sorting import machine_threads


def in_threads(work: Callable[[Any], Any], parts: Iterable[Any], jobs: int | None) -> list[Any]:
    """Work on each part, results in order, in `jobs` threads; None for one for each core, at most 8.

    NumPy works outside of the interpreter lock, so that threads are enough.
    """
    with ThreadPoolExecutor(machine_threads() if jobs is None else checked_number(jobs, "jobs", 1)) as workers:
        return list(workers.map(work, parts))


def seeds(seed: Seed, blocks: int) -> list[np.random.SeedSequence]:
    """A seed for each block of work, whatever the number of threads."""
    if isinstance(seed, np.random.Generator):
        return list(np.random.SeedSequence(int(seed.integers(2**63))).spawn(blocks))
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed is {seed!r}, expected a whole number of 0 or more, or a numpy.random.Generator.")
    return list(np.random.SeedSequence(int(seed)).spawn(blocks))
