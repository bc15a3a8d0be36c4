import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import tallymark as tm
from scikit_learn_rules import PER_ROW, broken_rules
from tallymark import quantify
from tallymark.quantify.estimators import wrappers
from tallymark.quantify.protocols import prevalence_samples
from tallymark.registry import QUANTIFIERS

ALL = [getattr(quantify, name) for name in wrappers.__all__]

#: Bayesian Calibration takes as many bins as the rows are worth, and weights are worth fewer rows than repeats.
NOT_FOR = {
    quantify.Bayes: {
        "check_sample_weight_equivalence_on_dense_data": "fewer bins",
        "check_sample_weight_equivalence_on_sparse_data": "fewer bins",
    }
}


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(1_200, flip_y=0.05, random_state=0)
    rng = np.random.default_rng(0)
    positive, negative = np.flatnonzero(y[600:] == 1) + 600, np.flatnonzero(y[600:] == 0) + 600
    rows = np.concatenate((rng.choice(positive, 60, replace=False), negative[:240]))
    return X[:600], y[:600], X[rows]


@pytest.mark.parametrize("quantifier", ALL, ids=lambda q: q.__name__)
def test_every_quantifier_fits_and_predicts(quantifier, data):
    X, y, new = data
    found = quantifier(LogisticRegression(), cv=5).fit(X, y)
    shares = found.predict(new)
    assert shares.shape == (2,)
    assert shares.sum() == pytest.approx(1.0)
    if quantifier not in {quantify.BL, quantify.CC, quantify.PCC}:
        assert shares[1] == pytest.approx(0.2, abs=0.1)
    assert clone(found).get_params().keys() == found.get_params().keys()


def test_under_it_lies_the_score_level_function(data):
    X, y, new = data
    found = quantify.AC(LogisticRegression()).fit(X, y)
    scores = found.classifier_.predict_proba(new)[:, 1]
    by_scores = tm.quantify.estimate("ac", found.validation_, tm.tally(scores=scores))
    assert found.quantify(new) == by_scores


def test_validation_scores_are_out_of_fold():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 5)), np.arange(200) % 2
    # A nearest neighbour knows every training row; out of fold it knows nothing.
    found = quantify.AC(KNeighborsClassifier(1)).fit(X, y)
    assert tm.metrics.auroc(found.validation_) < 0.65


def test_the_users_classifier_is_not_touched(data):
    X, y, new = data
    own = LogisticRegression()
    quantify.AC(own).fit(X, y).predict(new)
    assert not hasattr(own, "coef_")


def test_prefitted_classifiers_and_ready_made_scores(data):
    X, y, new = data
    fitted = LogisticRegression().fit(X[:300], y[:300])
    prefit = quantify.PACC(fitted, cv="prefit").fit(X[300:], y[300:])
    scores = quantify.PACC().fit(fitted.predict_proba(X[300:])[:, 1], y[300:])
    assert prefit.predict(new) == pytest.approx(scores.predict(fitted.predict_proba(new)[:, [1]]))


def test_decision_values_where_there_are_no_probabilities(data):
    X, y, new = data
    assert quantify.AC(LinearSVC()).fit(X, y).predict(new)[1] == pytest.approx(0.2, abs=0.08)
    with pytest.raises(tm.InputError, match="Expectation maximisation needs predict_proba"):
        quantify.EM(LinearSVC()).fit(X, y)


@pytest.mark.parametrize("kind", ["text", "bool", "minus", "frame", "sparse", "pipeline"])
def test_any_label_and_any_input(kind, data):
    X, y, new = data
    plain = quantify.MS(LogisticRegression(), cv=3).fit(X, y).predict(new)
    labels = {"text": np.where(y == 1, "yes", "no"), "bool": y == 1, "minus": 2 * y - 1}.get(kind, y)
    wrap = {"frame": pd.DataFrame, "sparse": csr_matrix}.get(kind, np.asarray)
    model = make_pipeline(StandardScaler(), LogisticRegression()) if kind == "pipeline" else LogisticRegression()
    found = quantify.MS(model, cv=3).fit(wrap(X), labels).predict(wrap(new))
    assert found == pytest.approx(plain, abs=0.03 if kind == "pipeline" else 1e-3)


def test_sample_weight_reaches_the_classifier_and_the_rates(data):
    X, y, _ = data
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    for model in (LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())):
        plain = quantify.AC(model, cv=3).fit(X, y)
        weighted = quantify.AC(model, cv=3).fit(X, y, sample_weight=weight)
        final = [q.classifier_[-1] if hasattr(q.classifier_, "steps") else q.classifier_ for q in (plain, weighted)]
        assert not np.allclose(final[0].coef_, final[1].coef_)
        assert weighted.validation_.n == weight.sum()
    with pytest.raises(tm.InputError, match="does not take it"):
        quantify.AC(KNeighborsClassifier()).fit(X, y, sample_weight=weight)


def test_more_than_two_classes():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    for quantifier in (quantify.AC, quantify.EM, quantify.KDE):
        found = quantifier(LogisticRegression(max_iter=500), cv=3).fit(X, names)
        assert list(found.classes_) == ["setosa", "versicolor", "virginica"]
        assert found.predict(X[:100]) == pytest.approx([0.5, 0.5, 0.0], abs=0.06)
        many = found.predict_many(X, [np.arange(50), np.arange(50, 100)])
        assert many.shape == (2, 3)
        assert found.quantify(X[:60], replicates=100)["setosa"].low > 0.5


def test_many_samples_at_once(data):
    X, y, new = data
    found = quantify.PACC(LogisticRegression(), cv=3).fit(X, y)
    index = np.array([np.arange(50), np.arange(50, 100)])
    assert found.predict_many(new, index)[1] == pytest.approx(found.predict(new[50:100]))


def test_the_same_seed_gives_the_same_answer(data):
    X, y, new = data
    first, second = (quantify.AC(LogisticRegression()).fit(X, y).predict(new) for _ in range(2))
    assert (first == second).all()


@pytest.mark.parametrize("name", wrappers.__all__)
def test_the_generic_estimator_is_the_named_one(name, data):
    X, y, new = data
    named = getattr(quantify, name)(LogisticRegression(), cv=3).fit(X, y)
    generic = quantify.Quantifier(named.method, LogisticRegression(), cv=3).fit(X, y)
    assert (generic.predict(new) == named.predict(new)).all()
    assert clone(generic).get_params().keys() == named.get_params().keys() | {"method"}


def test_the_generic_estimator_keeps_scikit_learns_rules():
    but = PER_ROW | {
        "check_do_not_raise_errors_in_init_or_set_params": "takes **options for a parameter called options"
    }
    assert not broken_rules(quantify.Quantifier("pacc", LogisticRegression(), cv=2), but=but)
    assert clone(quantify.Quantifier("pacc")).set_params(method=-1).get_params()["method"] == -1


def test_a_quantifier_of_ones_own_around_a_classifier(data):
    @tm.extend.quantifier("shifted_mean", meaning="Mean score plus a shift.", options={"shift": 0.0})
    def shifted_mean(validation, scores, *, shift):
        return scores.mean() + shift

    X, y, new = data
    try:
        plain = quantify.Quantifier("shifted_mean", LogisticRegression(), cv=3).fit(X, y)
        shifted = clone(plain).set_params(shift=0.1).fit(X, y)
        assert plain.predict(new)[1] == pytest.approx(plain.classifier_.predict_proba(new)[:, 1].mean())
        assert shifted.predict(new)[1] == pytest.approx(plain.predict(new)[1] + 0.1)
        assert "shift=0.1" in repr(shifted)
        both = quantify.GridSearch(plain, {"method": ["shifted_mean", "ac"]}, samples=42).fit(X, y)
        assert both.best_params_ == {"method": "ac"}
        with pytest.raises(tm.InputError, match="has no option 'shfit'; its options are shift"):
            quantify.Quantifier("shifted_mean", shfit=0.1)
        with pytest.raises(tm.InputError, match="No quantifier is called 'shifted_maen'"):
            quantify.Quantifier("shifted_maen", LogisticRegression(), shift=0.1).fit(X, y)
    finally:
        QUANTIFIERS.remove_user_defined("shifted_mean")


@pytest.mark.parametrize("quantifier", [quantify.AC, quantify.EM, quantify.Bayes], ids=lambda q: q.__name__)
def test_scikit_learns_own_checks(quantifier):
    assert not broken_rules(quantifier(LogisticRegression(), cv=2), but=PER_ROW | NOT_FOR.get(quantifier, {}))


def test_grid_search_finds_the_better_parameter(data):
    X, y, new = data
    search = quantify.GridSearch(quantify.CC(LogisticRegression(), cv=3), {"threshold": [0.5, 0.999]}, samples=42)
    found = search.fit(X, y)
    assert found.best_params_ == {"threshold": 0.5}
    assert found.best_loss_ == min(line["loss"] for line in found.results_)
    assert found.predict(new).sum() == pytest.approx(1.0)
    by_score = clone(search).set_params(loss="nas").fit(X, y)
    assert by_score.best_params_ == {"threshold": 0.5}
    with pytest.raises(tm.InputError, match="cancels over samples"):
        clone(search).set_params(loss="bias").fit(X, y)


def test_samples_have_the_prevalence_they_should():
    codes = np.repeat([0, 1, 2], 50)
    index, shares = prevalence_samples(codes, 3, 20, 40, 0)
    assert index.shape == (20, 40)
    for rows, share in zip(index, shares, strict=True):
        assert np.bincount(codes[rows], minlength=3) / 40 == pytest.approx(share)
    _, binary = prevalence_samples(np.repeat([0, 1], 50), 2, 21, 20, 0)
    assert binary[:, 1] == pytest.approx(np.linspace(0, 1, 21))


def test_grid_search_fits_and_draws_by_weight():
    """Half of the rows have flipped labels and hardly any weight: the search is that of the others."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1_200)
    X = rng.normal(2.0 * y)[:, None]
    noise = rng.random(1_200) < 0.5
    labels, weight = np.where(noise, 1 - y, y), np.where(noise, 1e-6, 1.0)
    grid = {"threshold": [0.5, 0.9]}
    base = quantify.CC(LogisticRegression(), cv=3)
    by_weight = quantify.GridSearch(base, grid, samples=42).fit(X, labels, sample_weight=weight)
    clean = quantify.GridSearch(base, grid, samples=42).fit(X[~noise], y[~noise])
    forgotten = quantify.GridSearch(base, grid, samples=42).fit(X, labels)
    assert by_weight.best_loss_ == pytest.approx(clean.best_loss_, abs=0.03)
    assert forgotten.best_loss_ > clean.best_loss_ + 0.1
    assert by_weight.predict(X) == pytest.approx(clean.predict(X), abs=0.03)


def test_samples_are_drawn_in_proportion_to_weights():
    codes, weight = np.repeat([0, 1], 50), np.tile([0.0, 1.0], 50)
    index, _ = prevalence_samples(codes, 2, 21, 40, 0, weight)
    assert (weight[index] == 1.0).all()


def test_a_class_without_weight_is_refused():
    X, y = np.arange(40.0)[:, None], np.repeat([0, 1], 20)
    search = quantify.GridSearch(quantify.CC(LogisticRegression(), cv=3), {"threshold": [0.5]})
    with pytest.raises(tm.InputError, match="weight 0"):
        search.fit(X, y, sample_weight=1.0 - y)


def test_bad_input(data):
    X, y, _ = data
    for made, message in [
        (lambda: quantify.AC(GaussianNB(), cv=1).fit(X, y), "cv is 1"),
        (lambda: quantify.AC(GaussianNB()).fit(X, np.zeros(len(X))), "one class only"),
        (lambda: quantify.AC(GaussianNB()).fit(X, np.arange(len(X)) == 0), "single row"),
        (lambda: quantify.AC(GaussianNB().fit(X, y), cv="prefit").fit(X, y + 1), "fitted classifier knows"),
    ]:
        with pytest.raises(ValueError, match=message):
            made()
