import numpy as np
import pytest
from hypothesis import given
from scipy import stats
from sklearn import metrics as peer

import tallymark as tm
from samples import labelled_scores, normal_sample, with_counts
from tallymark.metrics.hull import roc_hull, upper_hull

m = tm.metrics


def naive_auroc(y, s):
    return np.mean([(p > n) + 0.5 * (p == n) for p in s[y == 1] for n in s[y == 0]])


@given(labelled_scores())
def test_auroc_is_its_definition(sample):
    y, s = sample
    t = tm.tally(y, s)
    assert m.auroc(t) == pytest.approx(naive_auroc(y, s), rel=1e-12)
    assert m.auroc(t) == pytest.approx(peer.roc_auc_score(y, s), rel=1e-9)
    assert m.gini(t) == pytest.approx(2 * m.auroc(t) - 1)
    assert m.auroc(t) == pytest.approx(1 - m.auroc(tm.tally(1 - y, s)))


@given(with_counts(labelled_scores()))
def test_weighted_auroc(sample):
    y, s, c = sample
    w = c * 0.73
    expected = sum(
        wp * wn * ((p > n) + 0.5 * (p == n))
        for p, wp in zip(s[y == 1], w[y == 1], strict=True)
        for n, wn in zip(s[y == 0], w[y == 0], strict=True)
    ) / (w[y == 1].sum() * w[y == 0].sum())
    assert m.auroc(tm.tally(y, s, weights=w)) == pytest.approx(expected)


def test_auroc_with_huge_counts_does_not_overflow():
    t = tm.tally([0, 1, 0, 1], [1, 2, 3, 4], counts=np.array([4, 4, 4, 4]) * 10**9)
    assert m.auroc(t) == 0.75


@given(labelled_scores())
def test_ks_is_the_best_youden_and_scipys_one_sided_statistic(sample):
    y, s = sample
    t = tm.tally(y, s)
    # SciPy's "less" looks for F_positive below F_negative: positives that score higher.
    expected = stats.ks_2samp(s[y == 1], s[y == 0], alternative="less", method="asymp").statistic
    assert m.ks(t) == pytest.approx(max(expected, 0.0), abs=1e-12)
    assert m.ks(t) == pytest.approx(max(0.0, m.informedness(t.at("youden"))), abs=1e-12)


@given(labelled_scores())
def test_the_hull_is_convex_above_the_curve_and_touches_it(sample):
    y, s = sample
    t = tm.tally(y, s)
    hull, curve = roc_hull(t), tm.roc(t)
    across, up = np.diff(hull.fpr), np.diff(hull.tpr)
    assert (up[:-1] * across[1:] > up[1:] * across[:-1]).all()
    assert (np.interp(curve.fpr, hull.fpr, hull.tpr) >= curve.tpr - 1e-12).all()
    points = set(zip(curve.fpr.round(12), curve.tpr.round(12), strict=True))
    assert set(zip(hull.fpr.round(12), hull.tpr.round(12), strict=True)) <= points
    assert m.hull_auc(t) >= max(0.5, m.auroc(t)) - 1e-12


def test_the_hull_of_a_hard_case_matches_the_plain_algorithm():
    # Points on a convex arc, then one far above: the vectorised passes peel one point at a time and give up in time.
    x = np.linspace(0, 1, 500)
    y = np.append(np.sqrt(x[:-1]) * 0.5, 5.0)

    def plain(x, y):
        kept = []
        for i in range(len(x)):
            while len(kept) > 1:
                a, b = kept[-2:]
                if (y[b] - y[a]) * (x[i] - x[a]) > (y[i] - y[a]) * (x[b] - x[a]):
                    break
                kept.pop()
            kept.append(i)
        return kept

    assert upper_hull(x, y).tolist() == plain(x, y)
    assert len(plain(x, y)) < 10
    y = np.sqrt(x)
    y[250] = 0.75
    assert upper_hull(x, y).tolist() == plain(x, y)


def test_mann_whitney_of_the_worked_example():
    labels, scores = [-1, -1, 1, 1, -1, 1], [-2.9341, -4.7261, -0.60974, 0.95799, -2.7575, -1.6119]
    test = tm.mann_whitney(tm.tally(labels, scores))
    assert (test.rank_sum_negative, test.rank_sum_positive) == (6, 15)
    assert (test.u_plus, test.u_minus, test.u) == (9, 0, 0)
    assert test.u_of_larger_rank_sum == 0


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize(("method", "peers"), [("exact", "exact"), ("normal", "asymptotic")])
def test_mann_whitney_equals_scipy(alternative, method, peers):
    for seed in range(20):
        y, s = normal_sample(25, 0.4, 0.5, seed, decimals=None if method == "exact" else 1)
        ours = tm.mann_whitney(tm.tally(y, s), method=method, alternative=alternative)
        theirs = stats.mannwhitneyu(s[y == 1], s[y == 0], alternative=alternative, method=peers)
        assert ours.u_plus == theirs.statistic
        assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-9)
        assert ours.u_plus == pytest.approx(m.auroc(tm.tally(y, s)) * (y == 1).sum() * (y == 0).sum())


def test_mann_whitney_critical_values_match_the_printed_table():
    # Two-sided 5 % critical values of U from the standard table (Mann & Whitney's test, n1 by n2).
    for p, n, expected in ((5, 5, 2), (8, 8, 13), (10, 10, 23), (7, 12, 18), (20, 20, 127), (3, 3, None)):
        y = np.repeat([1, 0], (p, n))
        test = tm.mann_whitney(tm.tally(y, np.arange(p + n) * 1.0), method="exact")
        assert test.critical == expected
    assert tm.mann_whitney(tm.tally(*normal_sample(400)), method="normal").critical > 0


def test_exact_p_values_stay_right_far_in_the_tail():
    for p, n in ((50, 50), (3, 400), (60, 20)):
        y = np.repeat([0, 1], (n, p))
        s = np.arange(p + n) * 1.0
        ours = tm.mann_whitney(tm.tally(y, s), method="exact").p_value
        assert ours == pytest.approx(stats.mannwhitneyu(s[y == 1], s[y == 0], method="exact").pvalue, rel=1e-9)
        assert 0 < ours < 1e-6


def test_wide_ranges_of_weights():
    t = tm.tally([1, 1, 0, 0], [0.8, 0.9, 0.2, 0.1], weights=[1e-20, 1, 1, 1])
    assert (m.auroc(t), m.hull_auc(t), m.aucc(t)) == (1.0, 1.0, 0.0)
    assert (m.h_measure(t), m.pr_auc(t), m.average_precision(t)) == (
        pytest.approx(1),
        pytest.approx(1),
        pytest.approx(1),
    )
    t = tm.tally([1, 1, 0, 0], [0.9, 0.8, 0.2, 0.1], weights=[1e-20, 1, 1, 1])
    assert m.average_precision(t) == pytest.approx(1)


def test_mann_whitney_says_what_it_cannot_do():
    with pytest.raises(tm.InputError, match="takes too long"):
        tm.mann_whitney(tm.tally(*normal_sample(1_200, 0.5)), method="exact")
    with pytest.raises(tm.InputError, match="without ties"):
        tm.mann_whitney(tm.tally([0, 1, 0], [1, 1, 2]), method="exact")
    with pytest.raises(tm.InputError, match="no weighted form"):
        tm.mann_whitney(tm.tally([0, 1], [1, 2], weights=[1, 2]))
    with pytest.raises(tm.InputError, match="method='guess' is not known"):
        tm.mann_whitney(tm.tally([0, 1], [1, 2]), method="guess")
