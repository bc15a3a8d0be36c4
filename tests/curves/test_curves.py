import numpy as np
import pytest
from hypothesis import given
from scipy import stats
from sklearn import metrics as peer

import tallymark as tm
from samples import labelled_scores, with_counts
from tallymark.curves import Curve


@given(with_counts(labelled_scores()))
def test_roc_agrees_with_scikit_learn(sample):
    y, s, c = sample
    curve = tm.roc(tm.tally(y, s, counts=c))
    fpr, tpr, cuts = peer.roc_curve(y, s, sample_weight=c, drop_intermediate=False)
    np.testing.assert_allclose(curve.fpr, fpr)
    np.testing.assert_allclose(curve.tpr, tpr)
    np.testing.assert_array_equal(curve.thresholds, cuts)
    assert curve.auc == pytest.approx(np.trapezoid(curve.tpr, curve.fpr))


@given(labelled_scores())
def test_pr_agrees_with_scikit_learn(sample):
    y, s = sample
    curve = tm.pr(tm.tally(y, s))
    precision, recall, cuts = peer.precision_recall_curve(y, s)
    n = len(cuts)  # ascending, without the closing point; scikit-learn may stop early at full recall
    np.testing.assert_allclose(curve.precision[::-1][-n:], precision[:-1])
    np.testing.assert_allclose(curve.recall[::-1][-n:], recall[:-1])
    assert curve.auc == pytest.approx(peer.average_precision_score(y, s))


@given(labelled_scores())
def test_det_gain_and_predictive_curves_are_their_definitions(sample):
    y, s = sample
    t = tm.tally(y, s)
    det, gain, predictive, tradeoff = tm.det(t), tm.gain(t), tm.predictive_roc(t), tm.positive_tradeoff(t)
    np.testing.assert_allclose(det.fnr, 1 - tm.roc(t).tpr)
    np.testing.assert_allclose(det.columns()["probit_fpr"], stats.norm.ppf(det.fpr))
    for i, cut in enumerate(gain.thresholds):
        assert gain.rate[i] == pytest.approx(np.mean(s >= cut))
        if i:
            assert gain.lift[i] == pytest.approx(np.mean(y[s >= cut]) / np.mean(y))
    assert gain.auc == pytest.approx(np.trapezoid(gain.tpr, gain.rate))
    for i, cut in enumerate(predictive.thresholds):
        assert predictive.columns()["ppv"][i] == pytest.approx(np.mean(y[s >= cut]))
        assert predictive.columns()["one_minus_npv"][i] == pytest.approx(np.mean(y[s < cut]))
    np.testing.assert_allclose(tradeoff.columns()["fdr"], 1 - tm.pr(t).precision)


@given(labelled_scores())
def test_metrics_over_thresholds(sample):
    y, s = sample
    t = tm.tally(y, s).at_prevalence(0.1)
    curve = tm.over_thresholds(t, ["recall", "precision", "fbeta", "mcc"], beta=3)
    for i, cut in enumerate(curve.thresholds):
        c = t.at(cut)
        assert curve["recall"][i] == pytest.approx(tm.metrics.recall(c))
        assert curve["precision"][i] == pytest.approx(tm.metrics.precision(c), nan_ok=True)
        assert curve["fbeta"][i] == pytest.approx(tm.metrics.fbeta(c, beta=3))
        assert curve["mcc"][i] == pytest.approx(tm.metrics.mcc(c), nan_ok=True, abs=1e-9)


def test_over_prevalence():
    y, s = np.array([0, 0, 0, 1, 1]), np.array([0.1, 0.6, 0.3, 0.5, 0.9])
    t = tm.tally(y, s)
    curve = tm.over_prevalence(t, ["average_precision", "auroc"], [0.1, 0.4])
    assert curve["average_precision"][1] == pytest.approx(tm.metrics.average_precision(t))
    assert curve["auroc"].tolist() == [tm.metrics.auroc(t)] * 2
    assert curve["average_precision"][0] < curve["average_precision"][1]
    cells = tm.over_prevalence(t.at(0.5), ["precision"], [0.4])
    assert cells["precision"][0] == pytest.approx(tm.metrics.precision(t.at(0.5)))


def test_prior_dependent_curves_speak_of_the_lens():
    t = tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    assert tm.pr(t.at_prevalence(0.01)).precision[-1] == pytest.approx(0.01)
    assert tm.gain(t.at_prevalence(0.01)).rate[-1] == pytest.approx(1.0)
    np.testing.assert_array_equal(tm.roc(t.at_prevalence(0.01)).tpr, tm.roc(t).tpr)


@pytest.mark.parametrize(
    "make",
    [tm.roc, tm.pr, tm.det, tm.gain, tm.predictive_roc, tm.positive_tradeoff, tm.over_thresholds, tm.cost_curve,
     tm.brier_curve, tm.calibration_curve],
)  # fmt: skip
def test_every_curve_shows_itself(make):
    curve = make(tm.tally([0, 0, 1, 1, 0], [0.1, 0.4, 0.35, 0.8, 0.2]))
    assert isinstance(curve, Curve)
    frame = curve.to_frame()
    assert len(frame) == len(curve) == len(next(iter(curve.to_dict().values())))
    assert list(frame.columns) == list(curve.columns())
    assert type(curve).__name__ in repr(curve)
    assert "<table>" in curve._repr_html_()
    with pytest.raises(tm.InputError, match=rf"{make.__name__} takes a Tally, got list"):
        make([0, 1])
    if make is not tm.over_thresholds:
        with pytest.raises(tm.InputError, match=rf"Write tm.{make.__name__}\(tm.tally\(y, scores\)\)"):
            make([0, 1], [0.1, 0.2])


def test_hull_and_path_show_themselves_too():
    t = tm.tally([0, 0, 1, 1, 0], [0.1, 0.4, 0.35, 0.8, 0.2])
    assert tm.roc(t).hull().auc == pytest.approx(tm.metrics.hull_auc(t))
    assert list(tm.roc(t).hull().to_frame()["fpr"])[-1] == 1.0
    assert len(tm.pr(t).interpolated(4).to_frame()) == len(tm.pr(t).interpolated(4))


def test_a_parameter_nobody_has():
    with pytest.raises(tm.InputError, match="None of these metrics has a parameter 'betta'"):
        tm.over_thresholds(tm.tally([0, 1], [0, 1]), ["fbeta"], betta=3)
    with pytest.raises(tm.InputError, match="over_prevalence takes a Tally or a Confusion"):
        tm.over_prevalence("x", ["auroc"], [0.1])


def test_a_cell_metric_is_needed_over_thresholds():
    with pytest.raises(tm.InputError, match="auroc is not a metric of the four cells; choose from accuracy"):
        tm.over_thresholds(tm.tally([0, 1], [0, 1]), ["auroc"])
