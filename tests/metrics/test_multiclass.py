import math

import numpy as np
import pytest
from sklearn import metrics as peer

import tallymark as tm

m = tm.metrics


def class_sample(n=400, k=4, seed=0, sizes=None):
    rng = np.random.default_rng(seed)
    y = rng.choice(k, n, p=sizes)
    s = rng.dirichlet(np.ones(k), n) + np.eye(k)[y] * 0.5
    return y, s / s.sum(axis=1, keepdims=True)


def test_auroc_agrees_with_scikit_learn():
    y, s = class_sample(sizes=[0.6, 0.2, 0.15, 0.05])
    scores = tm.class_scores(y, s, classes=range(4))
    for ours, how, average in (
        (m.auroc_ovr, "ovr", "macro"), (m.auroc_ovr_weighted, "ovr", "weighted"), (m.auroc_ovo, "ovo", "macro")
    ):  # fmt: skip
        assert ours(scores) == pytest.approx(peer.roc_auc_score(y, s, multi_class=how, average=average))


def test_argmax_confusion_and_merging():
    y, s = class_sample()
    whole = tm.class_scores(y, s, classes=range(4))
    assert m.accuracy(whole.confusion) == pytest.approx(peer.accuracy_score(y, s.argmax(axis=1)))
    parts = [tm.class_scores(y[rows], s[rows], classes=range(4)) for rows in (slice(0, 150), slice(150, None))]
    merged = parts[0].merge(parts[1])
    assert m.auroc_ovo(merged) == m.auroc_ovo(whole)
    assert m.spcc_ovo_fisher(merged.moments) == pytest.approx(m.spcc_ovo_fisher(whole.moments))


def test_weights_are_repeated_rows():
    y, s = class_sample()
    c = np.arange(len(y)) % 3 + 1
    weighted = tm.class_scores(y, s, classes=range(4), weights=c)
    repeated = tm.class_scores(np.repeat(y, c), np.repeat(s, c, axis=0), classes=range(4))
    for f in (m.auroc_ovr, m.auroc_ovr_weighted, m.auroc_ovo):
        assert f(weighted) == pytest.approx(f(repeated))
    for f in (m.spcc_ovo_min, m.spcc_ovr_fisher, m.spcc_ovr_geometric):
        assert f(weighted.moments) == pytest.approx(f(repeated.moments))


def test_spcc_matrix_is_the_correlation_over_two_classes():
    y, s = class_sample()
    moments = tm.moments(y, s, classes=range(4))
    matrix, rest = m.spcc_one_vs_one(moments), m.spcc_one_vs_rest(moments)
    for i in range(4):
        assert rest[i] == pytest.approx(np.corrcoef(y == i, s[:, i])[0, 1])
        for j in range(4):
            two = (y == i) | (y == j)
            expected = 0.0 if i == j else np.corrcoef(y[two] == i, s[two, i])[0, 1]
            assert matrix[i, j] == pytest.approx(expected)


def test_reductions():
    y, s = class_sample()
    moments = tm.moments(y, s, classes=range(4))
    off = m.spcc_one_vs_one(moments)[~np.eye(4, dtype=bool)]
    assert m.spcc_ovo_min(moments) == off.min()
    assert m.spcc_ovo_geometric(moments) == pytest.approx(np.prod(off) ** (1 / 12))
    assert m.spcc_ovo_fisher(moments) == pytest.approx(np.tanh(np.mean(np.arctanh(off))))


def test_reductions_at_the_ends():
    perfect = tm.moments([0, 0, 1, 1], [[1, 0.1], [1, 0.2], [0, 0.7], [0, 0.9]], classes=[0, 1])
    assert m.spcc_ovo_fisher(perfect) == 1.0
    opposed = tm.moments([0, 0, 1, 1], [[1, 1], [1, 1], [0, 0], [0, 0]], classes=[0, 1])
    assert m.spcc_one_vs_rest(opposed).tolist() == [1.0, -1.0]
    with pytest.warns(tm.UndefinedWarning, match="Fisher average of 1 and -1"):
        assert math.isnan(m.spcc_ovr_fisher(opposed))
    with pytest.warns(tm.UndefinedWarning, match="some are negative"):
        assert math.isnan(m.spcc_ovr_geometric(opposed))
    assert m.spcc_ovr_min(opposed) == -1.0


def test_a_class_without_rows():
    moments = tm.moments([0, 1, 1], [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.5, 0.2]], classes=[0, 1, 2])
    assert np.isnan(m.spcc_one_vs_one(moments)[0, 2])
    with pytest.warns(tm.UndefinedWarning, match="class 2 has no rows"):
        assert math.isnan(m.spcc_ovo_min(moments))
    scores = tm.class_scores([0, 1, 1], [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.5, 0.2]], classes=[0, 1, 2])
    with pytest.warns(tm.UndefinedWarning, match="no row of class"):
        assert math.isnan(m.auroc_ovo(scores))
