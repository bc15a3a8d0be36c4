"""Samples that tests share: Hypothesis strategies and plain generators."""

import numpy as np
from hypothesis import strategies as st

import tallymark as tm

#: A coarse grid makes ties likely; the rest covers sizes and signs.
_scores = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: x + 0.0),
    st.sampled_from([0.0, 1e-12, 1e12, -1e12]),
)


@st.composite
def labelled_scores(draw, scores=_scores, most=30):
    """(y, s): both classes present, scores with ties."""
    positives = draw(st.lists(scores, min_size=1, max_size=most))
    negatives = draw(st.lists(scores, min_size=1, max_size=most))
    y = np.array([1] * len(positives) + [0] * len(negatives))
    s = np.array(positives + negatives)
    order = np.array(draw(st.permutations(range(len(y)))))
    return y[order], s[order]


def labelled_probabilities(most=30):
    """(y, p) with p in [0, 1], ends included, many on a coarse grid."""
    grid = st.integers(0, 20).map(lambda i: i / 20)
    return labelled_scores(st.one_of(grid, st.floats(0.0, 1.0)), most)


@st.composite
def with_counts(draw, sample):
    """(y, s, c): a sample whose rows occur 1 to 4 times."""
    y, s = draw(sample)
    return y, s, np.array(draw(st.lists(st.integers(1, 4), min_size=len(y), max_size=len(y))))


def normal_sample(n=500, prevalence=0.3, distance=1.0, seed=0, decimals=None):
    """(y, s): two normals; rounding makes ties."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < prevalence).astype(int)
    y[:2] = 0, 1
    s = rng.normal(size=n) + distance * y
    return y, s if decimals is None else s.round(decimals)


def probability_sample(n=500, prevalence=0.3, seed=0, decimals=2):
    """(y, p): probabilities with ties."""
    y, s = normal_sample(n, prevalence, 1.5, seed)
    return y, (1 / (1 + np.exp(-s))).round(decimals)


def tally_of(sample, **options):
    """A tally from (y, s)."""
    return tm.tally(*sample, **options)
