import itertools

import numpy as np
import pytest
from hypothesis import given
from sklearn import metrics as peer

import tallymark as tm
from samples import labelled_scores, with_counts

m = tm.metrics


@given(with_counts(labelled_scores()))
def test_agrees_with_scikit_learn(sample):
    y, s, c = sample
    t = tm.tally(y, s, weights=c)
    precision, recall, _ = peer.precision_recall_curve(y, s, sample_weight=c)
    assert m.average_precision(t) == pytest.approx(peer.average_precision_score(y, s, sample_weight=c), rel=1e-9)
    assert m.pr_auc(t, interpolation="step") == m.average_precision(t)
    # scikit-learn stops its curve at the first threshold with full recall; the area does not depend on it.
    assert m.pr_auc(t, interpolation="trapezoid") == pytest.approx(peer.auc(recall, precision), rel=1e-9)


@given(labelled_scores())
def test_the_integral_is_that_of_the_interpolated_curve(sample):
    y, s = sample
    t = tm.tally(y, s)
    fine = tm.pr(t).interpolated(per_gap=4_000)
    area = np.trapezoid(fine.precision, fine.recall)
    # The first stretch starts at recall 0, where precision may jump.
    assert m.pr_auc(t, interpolation="integral") == pytest.approx(area, abs=2e-3)


@given(labelled_scores())
def test_davis_goadrich_is_their_algorithm(sample):
    """A naive loop over whole true positives, with straight lines between them."""
    y, s = sample
    cuts = np.unique(s)[::-1]
    tp, fp = ([0, *(int(np.sum((s >= c) & (y == side))) for c in cuts)] for side in (1, 0))
    recall, precision = [], []
    for (t0, f0), (t1, f1) in itertools.pairwise(zip(tp, fp, strict=True)):
        for t in range(t0, t1 + 1) if t1 > t0 else ():
            f = f0 + (f1 - f0) * (t - t0) / (t1 - t0)
            if t + f > 0:
                recall.append(t / tp[-1])
                precision.append(t / (t + f))
    if recall[0] > 0:
        recall.insert(0, 0.0)
        precision.insert(0, precision[0])
    found = m.pr_auc(tm.tally(y, s), interpolation="davis_goadrich")
    assert found == pytest.approx(np.trapezoid(precision, recall), abs=1e-12)


def test_davis_goadrich_needs_whole_positives():
    with pytest.warns(tm.UndefinedWarning, match="use 'integral'"):
        m.pr_auc(tm.tally([0, 1], [0.1, 0.2], weights=[0.5, 1.5]), interpolation="davis_goadrich")


def test_davis_goadrich_known_answer():
    # (TP, FP) = (5, 5) and (10, 30) with 20 positives; precision at TP 5, 6, …, 10.
    y = np.r_[np.repeat([1, 0], (5, 5)), np.repeat([1, 0], (5, 25)), np.repeat([1, 0], (10, 10))]
    s = np.repeat([3.0, 2.0, 1.0], (10, 30, 20))
    curve = tm.pr(tm.tally(y, s)).interpolated(per_gap=5)
    keep = (curve.recall > 0.2499) & (curve.recall < 0.5001)
    recall, precision = curve.recall[keep], curve.precision[keep]
    order = np.unique(recall.round(9), return_index=True)[1]
    assert recall[order].tolist() == pytest.approx([0.25, 0.30, 0.35, 0.40, 0.45, 0.50])
    assert precision[order].round(4).tolist() == [0.5, 0.375, 0.3182, 0.2857, 0.2647, 0.25]


def test_definitions_differ_and_are_named():
    t = tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    found = {i: m.pr_auc(t, interpolation=i) for i in ("step", "trapezoid", "integral")}
    assert len({round(v, 6) for v in found.values()}) == 3
    assert m.pr_auc(t) == found["integral"]
    tied = tm.tally([1, 0, 1, 0, 1, 0, 0], [3, 3, 3, 2, 1, 1, 1])
    ways = ("step", "trapezoid", "integral", "davis_goadrich")
    assert len({round(m.pr_auc(tied, interpolation=i), 6) for i in ways}) == 4
    with pytest.raises(
        tm.InputError, match="interpolation='linear' is not known.*Choose one of: integral, step, trapezoid"
    ):
        m.pr_auc(t, interpolation="linear")
