import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as peer

import tallymark as tm
from samples import labelled_scores

m = tm.metrics


def naive_area(x, y, low, high, n=200_001):
    grid = np.linspace(low, high, n)
    return np.trapezoid(np.interp(grid, x, y), grid)


@given(labelled_scores(), st.floats(0.05, 1.0))
def test_mcclish_agrees_with_scikit_learn(sample, high):
    y, s = sample
    ours = m.partial_auc(tm.tally(y, s), fpr=(0, high), standard="mcclish")
    theirs = peer.roc_auc_score(y, s, max_fpr=high) if high < 1 else peer.roc_auc_score(y, s)
    assert ours == pytest.approx(theirs, rel=1e-9)


@given(labelled_scores(), st.floats(0, 0.6), st.floats(0.05, 0.4))
def test_raw_area_over_any_range(sample, low, width):
    y, s = sample
    t = tm.tally(y, s)
    fpr, tpr, _ = peer.roc_curve(y, s, drop_intermediate=False)
    assert m.partial_auc(t, fpr=(low, low + width)) == pytest.approx(naive_area(fpr, tpr, low, low + width), abs=1e-4)
    sideways = naive_area(tpr, 1 - fpr, low, low + width)
    assert m.partial_auc(t, tpr=(low, low + width)) == pytest.approx(sideways, abs=1e-4)
    assert m.partial_auc(t, fpr=(low, low + width), standard="box") == pytest.approx(
        m.partial_auc(t, fpr=(low, low + width)) / width
    )


@given(
    labelled_scores(),
    st.lists(st.integers(1, 99).map(lambda i: i / 100), max_size=4, unique=True),
    st.sampled_from(["fpr", "tpr"]),
)
def test_concordant_parts_add_up_to_auroc(sample, cuts, axis):
    t = tm.tally(*sample)
    ends = [0.0, *sorted(cuts), 1.0]
    parts = [m.partial_auc(t, standard="concordant", **{axis: (a, b)}) for a, b in itertools.pairwise(ends)]
    assert sum(parts) == pytest.approx(m.auroc(t), abs=1e-9)
    raw = [m.partial_auc(t, **{axis: (a, b)}) for a, b in itertools.pairwise(ends)]
    assert sum(raw) == pytest.approx(m.auroc(t), abs=1e-9)


@given(labelled_scores())
def test_the_whole_range_is_auroc(sample):
    t = tm.tally(*sample)
    for standard in ("none", "box", "mcclish", "concordant"):
        for axis in ("fpr", "tpr"):
            assert m.partial_auc(t, standard=standard, **{axis: (0, 1)}) == pytest.approx(m.auroc(t))


def test_concordant_is_half_vertical_half_horizontal():
    t = tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    # The curve up to fpr 0.5: up to 0.5, across to 0.5, up to 1. Vertical area 0.25, horizontal 0.5 + 0.25.
    assert m.partial_auc(t, fpr=(0, 0.5), standard="concordant") == pytest.approx((0.25 + 0.75) / 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fpr": (0, 0.1), "tpr": (0.9, 1)}, "not both"),
        ({"fpr": (0.5, 0.2)}, r"fpr=\(0.5, 0.2\) is not a range"),
        ({"tpr": (0.5, 1.2)}, r"not a range inside \[0, 1\]"),
        ({"standard": "pepe"}, "standard='pepe' is not known"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(tm.InputError, match=message):
        m.partial_auc(tm.tally([0, 1], [0, 1]), **options)
