"""Artificial prevalence protocol (APP): samples of many prevalences drawn from labelled rows."""

from __future__ import annotations

import numpy as np

from tallymark._check import Floats, Ints


def prevalence_samples(
    codes: Ints, classes: int, samples: int, size: int, seed: int, weight: Floats | None = None
) -> tuple[Ints, Floats]:
    """Row numbers of samples whose prevalences cover the simplex evenly, and the shares they really have.

    Two classes step through 0, 1/20, …, 1; more are drawn uniformly from the simplex. Rows are drawn with replacement,
    so that every prevalence can have the asked size; within a class in proportion to `weight`.
    """
    rng = np.random.default_rng(seed)
    members = [np.flatnonzero(codes == c) for c in range(classes)]
    chances = [None if weight is None else weight[rows] / weight[rows].sum() for rows in members]
    if classes == 2:
        up = np.resize(np.linspace(0.0, 1.0, 21), samples)
        wanted = np.column_stack((1.0 - up, up))
    else:
        wanted = rng.dirichlet(np.ones(classes), samples)
    # A hair up, so that 0.4 of 20 rows are 8 whatever the last bit says.
    counts = np.floor(wanted * size + 1e-9).astype(np.int64)
    counts[np.arange(samples), wanted.argmax(axis=1)] += size - counts.sum(axis=1)
    index = np.stack(
        [
            np.concatenate([rng.choice(rows, n, p=p) for rows, n, p in zip(members, line, chances, strict=True)])
            for line in counts
        ]
    )
    return index, counts / size
