"""Machines: the solver against scikit-learn's, sums over blocks, draws, and who hears whom."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random
from sklearn.linear_model import LogisticRegression

from tallymark.inference.resampling.parallel import seeds
from tallymark.rare import ensembles
from tallymark.rare.ensembles import (
    AlternatingEnsemble,
    Machines,
    Training,
    UniformEnsemble,
    WeightedEnsemble,
    bootstrap_draws,
    cross_fitted,
    training_sets,
    weighted_ensemble,
)
from tallymark.rare.logistic import fit_logistic
from tallymark.rare.words import document_frequencies, inverse_frequencies, tf_idf, tf_idf_left_out


def frequencies(counts):
    return inverse_frequencies(document_frequencies(counts), counts.shape[0])


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    counts = csr_matrix(rng.poisson(0.15, (300, 60)).astype(np.float32))
    signal = np.asarray(counts[:, :5].sum(axis=1)).ravel()
    return counts, rng.random(300) < 1 / (1 + np.exp(2 - 1.5 * signal))


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("weight", [1.0, 30.0])
def test_the_solver_is_scikit_learns(data, C, weight):
    counts, y = data
    X = tf_idf(counts, frequencies(counts)).astype(np.float64)
    mass = np.where(y, weight, 1.0)
    w, b = fit_logistic(X, y.astype(float), mass, C)
    peer = LogisticRegression(C=C, solver="newton-cg", tol=1e-10, max_iter=10_000).fit(X, y, sample_weight=mass)
    assert w == pytest.approx(peer.coef_[0], abs=1e-3 * np.abs(peer.coef_).max())
    assert b == pytest.approx(peer.intercept_[0], abs=1e-3)


def test_separable_and_empty_rows_have_an_answer():
    X = csr_matrix([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    w, b = fit_logistic(X, np.array([1.0, 0.0, 0.0]), np.ones(3), 1e6)
    assert np.isfinite([*w, b]).all()
    assert w[0] > 0 > w[1]


def test_blocks_of_machines_change_nothing(data, monkeypatch):
    counts, y = data
    training = Training(counts, y, 1.0, 1)
    idf = frequencies(counts)
    draws = bootstrap_draws(y, 50, seeds(0, 9))
    machines = training.trained(tf_idf(counts, idf), draws)
    answers = []
    for together in (1, 4, 200):
        monkeypatch.setattr(ensembles, "_TOGETHER", together)
        answers.append(UniformEnsemble(machines, idf).predict(counts))
    for probability, vote in answers[1:]:
        assert probability == pytest.approx(answers[0][0], abs=1e-6)
        assert vote.tolist() == answers[0][1].tolist()
    assert ((answers[0][1] >= 0) & (answers[0][1] <= 1)).all()
    two = Training(counts, y, 1.0, 2).trained(tf_idf(counts, idf), draws)
    assert (two.weights == machines.weights).all()


def test_out_of_bag_is_a_mean_over_machines_that_never_saw_the_row(data):
    counts, y = data
    idf = frequencies(counts)
    X = tf_idf(counts, idf)
    draws = bootstrap_draws(y, 80, seeds(1, 12))
    machines = Training(counts, y, 1.0, 1).trained(X, draws)
    probability, vote = UniformEnsemble(machines, idf).out_of_bag(Training(counts, y, 1.0, 1), draws)
    X = tf_idf_left_out(counts, 1)
    for row in range(len(y)):
        unseen = [place for place, (rows, _) in enumerate(draws) if row not in rows]
        margins = [float((X[row] @ machines.weights[:, place])[0] + machines.intercepts[place]) for place in unseen]
        if not unseen:
            assert np.isnan(probability[row])
            continue
        assert probability[row] == pytest.approx(np.mean(1 / (1 + np.exp(-np.array(margins)))), abs=1e-5)
        assert vote[row] == pytest.approx(np.mean(np.array(margins) >= 0), abs=1e-5)


def test_draws_take_positives_with_and_negatives_without_replacement(data):
    _, y = data
    for rows, mass in bootstrap_draws(y, 40, seeds(0, 20)):
        assert mass[y[rows]].sum() == y.sum()
        assert (mass[~y[rows]] == 1).all()
        assert (~y[rows]).sum() == 40
        assert len(set(rows)) == len(rows)
    one, again = (bootstrap_draws(y, 40, seeds(0, 3)) for _ in range(2))
    assert all((a[0] == b[0]).all() for a, b in zip(one, again, strict=True))
    for learnt, rest in training_sets(y, seeds(0, 5)):
        assert not set(learnt) & set(rest)
        assert abs(y[np.concatenate((learnt, rest))].mean() - 0.3) < 0.05 or (~y).sum() < y.sum() * 7 / 3


def test_experts_are_heard_by_accuracy_and_by_the_words_they_know():
    # Two machines with a word each: the text with a machine's word is judged by that machine alone.
    machines = Machines(np.array([[5.0, 0.0], [0.0, -5.0]], dtype=np.float32), np.zeros(2, dtype=np.float32))
    council = WeightedEnsemble(machines, np.eye(2), np.array([0.9, 0.6]))
    probability, vote = council.predict(csr_matrix(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])))
    low, high = 1 / (1 + np.exp(5)), 1 / (1 + np.exp(-5))
    assert probability == pytest.approx([high, low, (0.9 * high + 0.6 * low) / 1.5, 0.5], abs=1e-6)
    assert vote == pytest.approx([1.0, 0.0, 0.6, 1.0])


def test_an_experts_tf_idf_is_its_own(data):
    counts, y = data
    council = weighted_ensemble(Training(counts, y, 1.0, 1), seeds(0, 2))
    (rows, _), _ = training_sets(y, seeds(0, 2))
    part = counts[rows]
    seen = np.bincount(part.indices, minlength=60) > 0
    assert ((council.idfs[:, 0] > 0) == seen).all()
    X = tf_idf(part, council.idfs[:, 0])
    w, _ = fit_logistic(X, y[rows].astype(float), np.ones(len(rows)), 1.0)
    assert council.machines.weights[:, 0] == pytest.approx(w, abs=1e-6)
    alone = WeightedEnsemble(
        Machines(council.machines.weights[:, :1], council.machines.intercepts[:1]), council.idfs[:, :1], np.ones(1)
    )
    margins = tf_idf(counts, council.idfs[:, 0]) @ council.machines.weights[:, 0] + council.machines.intercepts[0]
    assert alone.predict(counts)[0] == pytest.approx(1 / (1 + np.exp(-margins)), abs=1e-5)


def test_cross_fitting_asks_who_has_not_seen_the_row(data):
    counts, y = data
    training = Training(counts, y, 1.0, 1)
    folds = np.arange(300) % 3
    seen = []

    class Constant(UniformEnsemble):
        def predict(self, counts):
            return np.full(counts.shape[0], self.idf), np.zeros(counts.shape[0])

    def make(part):
        seen.append(part.counts.shape[0])
        return Constant(None, float(len(seen)))

    probability, in_turns = cross_fitted(training, folds, make)
    assert seen == [200, 200, 200]
    assert probability.tolist() == [1.0, 2.0, 3.0] * 100
    assert isinstance(in_turns, AlternatingEnsemble)
    assert in_turns.predict(counts[:7])[0].tolist() == [1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0]


def test_texts_without_words_change_nothing_in_length():
    counts = csr_matrix(np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 0.0]], dtype=np.float32))
    assert tf_idf(counts, np.array([1.0, 1.0])).toarray().tolist() == [[0, 0], [1, 0], [0, 0]]
    assert tf_idf(random(5, 4, 0.5, random_state=0, format="csr", dtype=np.float32), np.zeros(4)).nnz >= 0
