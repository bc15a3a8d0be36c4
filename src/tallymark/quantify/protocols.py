"""Sampling protocols: samples of labelled rows at given class shares (the artificial prevalence protocol, APP)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import numpy as np

from tallymark._check import Floats, Ints


def draw_samples(
    members: Sequence[Ints],
    shares: Floats,
    size: int,
    generators: Iterable[np.random.Generator],
    weights: Sequence[Floats] | None = None,
) -> list[Ints]:
    """Row numbers of samples of `size` rows, drawn with replacement so that every share can be reached.

    `members` has the rows of each class, `shares` a line of class shares for each sample, `generators` the source of
    randomness of each sample; within a class rows are drawn in proportion to `weights`.
    """
    chances = [None] * len(members) if weights is None else [weight / weight.sum() for weight in weights]
    return [
        np.concatenate([rng.choice(rows, n, p=p) for rows, n, p in zip(members, counts, chances, strict=True) if n])
        for counts, rng in zip(class_counts(shares, size), generators, strict=False)
    ]


def class_counts(shares: Floats, size: int) -> Ints:
    """Rows of each class in samples of `size` rows: shares rounded down, the rest given to the largest class."""
    # The tiny addend makes 0.4 of 20 rows 8 whatever the last bit of the product is.
    counts = np.floor(shares * size + 1e-9).astype(np.int64)
    counts[np.arange(len(shares)), shares.argmax(axis=1)] += size - counts.sum(axis=1)
    return counts


def prevalence_samples(
    codes: Ints, classes: int, samples: int, size: int, seed: int, weight: Floats | None = None
) -> tuple[Ints, Floats]:
    """Row numbers of samples whose class shares cover the simplex evenly, and the shares the samples have.

    Two classes step through 0, 1/20, …, 1; the shares of more classes are drawn uniformly from the simplex.
    """
    rng = np.random.default_rng(seed)
    members = [np.flatnonzero(codes == c) for c in range(classes)]
    if classes == 2:
        up = np.resize(np.linspace(0.0, 1.0, 21), samples)
        shares = np.column_stack((1.0 - up, up))
    else:
        shares = rng.dirichlet(np.ones(classes), samples)
    weights = None if weight is None else [weight[rows] for rows in members]
    index = np.stack(draw_samples(members, shares, size, itertools.repeat(rng), weights))
    return index, class_counts(shares, size) / size
