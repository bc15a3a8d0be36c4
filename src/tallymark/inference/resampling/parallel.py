"""Resampling in threads, with a random seed for each block: the same numbers for any number of threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallymark.errors import InputError
from tallymark.inference.interval import Sampling, Seed, checked_number
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


@dataclass(frozen=True)
class Resampling:
    """Options of a bootstrap: number and seed of the resamples, threads, and sampling design."""

    replicates: int
    seed: Seed = 0
    jobs: int | None = None
    sampling: Sampling = "plain"

    def blocks(self, work: Callable[[int, np.random.SeedSequence], Any], per_block: int) -> list[Any]:
        """Work on blocks of at most `per_block` resamples, each with a seed; results in order."""
        replicates = checked_number(self.replicates, "replicates", 2)
        sizes = [min(per_block, replicates - start) for start in range(0, replicates, per_block)]
        parts = zip(sizes, seeds(self.seed, len(sizes)), strict=True)
        return in_threads(lambda part: work(*part), parts, self.jobs)
