"""Property tests generated from what the registry says of each metric."""

import doctest
import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from samples import labelled_probabilities, labelled_scores, normal_sample, probability_sample, with_counts
from tallymark.registry import METRICS

OF_TALLY = [name for name in METRICS if METRICS[name].needs in {"tally", "probabilities"}]
OF_CELLS = [name for name in METRICS if METRICS[name].needs == "confusion"]
THRESHOLD = 0.5


def sample_for(name):
    if name == "d_b_normal":  # tails of normals a million deviations apart are rounding noise
        return labelled_scores(st.integers(-6, 6).map(float))
    return labelled_probabilities() if METRICS[name].needs == "probabilities" else labelled_scores()


def value(name, tally):
    """The metric of a tally, cells taken at a fixed threshold; nan where undefined."""
    try:
        metric = METRICS[name]
        return metric.compute(tally.at(THRESHOLD) if metric.needs == "confusion" else tally)
    except tm.Undefined:
        return math.nan


def same(a, b, tolerance=1e-9):
    return a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))


@pytest.mark.parametrize("name", [*OF_TALLY, *OF_CELLS])
@given(data=st.data())
def test_the_range_holds(name, data):
    metric = METRICS[name]
    found = value(name, tm.tally(*data.draw(sample_for(name))))
    assert math.isnan(found) or metric.low - 1e-12 <= found <= metric.high + 1e-12


@pytest.mark.parametrize("name", [n for n in [*OF_TALLY, *OF_CELLS] if METRICS[n].prevalence_free])
@given(data=st.data())
def test_prevalence_free_metrics_do_not_move_when_negatives_are_repeated(name, data):
    y, s = data.draw(sample_for(name))
    more = np.where(y == 0, 3, 1)
    assert same(value(name, tm.tally(y, s)), value(name, tm.tally(y, s, counts=more)))


@pytest.mark.parametrize("name", [n for n in [*OF_TALLY, *OF_CELLS] if not METRICS[n].prevalence_free])
def test_the_other_metrics_do_move(name):
    y, s = probability_sample()
    assert not same(value(name, tm.tally(y, s)), value(name, tm.tally(y, s, counts=np.where(y == 0, 3, 1))), 1e-6)


@pytest.mark.parametrize("name", [n for n in OF_TALLY if METRICS[n].rank_only])
@given(sample=labelled_scores(st.integers(-6, 6).map(float)))
def test_rank_metrics_do_not_move_under_an_increasing_map(name, sample):
    y, s = sample
    assert same(value(name, tm.tally(y, s)), value(name, tm.tally(y, np.exp(s) + s**3)))


@pytest.mark.parametrize("name", [n for n in OF_TALLY if METRICS[n].needs == "tally" and not METRICS[n].rank_only])
def test_the_other_metrics_see_the_scores(name):
    y, s = normal_sample()
    assert not same(value(name, tm.tally(y, s)), value(name, tm.tally(y, np.exp(s))), 1e-3)


@pytest.mark.parametrize("name", [n for n in [*OF_TALLY, *OF_CELLS] if n != "positive_sd"])
@given(data=st.data())
def test_counts_and_weights_are_repeated_rows(name, data):
    y, s, c = data.draw(with_counts(sample_for(name)))
    repeated = value(name, tm.tally(np.repeat(y, c), np.repeat(s, c)))
    assert same(value(name, tm.tally(y, s, counts=c)), repeated)
    assert same(value(name, tm.tally(y, s, weights=c)), repeated)
    if name != "positive_estimate":
        assert same(value(name, tm.tally(y, s, weights=c * 0.37)), repeated)


@pytest.mark.parametrize("name", [n for n in [*OF_TALLY, *OF_CELLS] if n not in {"positive_estimate", "positive_sd"}])
@given(data=st.data())
def test_at_a_prevalence_equals_reweighted_classes(name, data):
    y, s = data.draw(sample_for(name))
    prevalence = data.draw(st.floats(0.01, 0.99))
    weights = np.where(y == 1, prevalence / np.sum(y == 1), (1 - prevalence) / np.sum(y == 0))
    seen, reweighted = tm.tally(y, s).at_prevalence(prevalence), tm.tally(y, s, weights=weights)
    assert same(value(name, seen), value(name, reweighted), 1e-7)


@pytest.mark.parametrize("name", [*OF_TALLY, *OF_CELLS])
@given(data=st.data())
def test_the_order_and_names_of_labels_do_not_matter(name, data):
    y, s = data.draw(sample_for(name))
    shuffle = np.random.default_rng(0).permutation(len(y))
    renamed = np.where(y == 1, "aaa", "zzz")[shuffle]
    assert value(name, tm.tally(y, s)) == pytest.approx(
        value(name, tm.tally(renamed, s[shuffle], pos_label="aaa")), nan_ok=True, rel=1e-9, abs=1e-12
    )


#: Losses of probabilities, for which the prevalence said to everyone is the answer that knows nothing.
OF_A_CONSTANT = {"brier", "log_loss", "brier_skill", "log_loss_skill"}


@pytest.mark.parametrize("name", [*OF_TALLY, *OF_CELLS])
def test_shuffled_scores_reach_the_chance_level(name):
    """The mean over shuffles lies within the spread of that mean (and what a finite sample adds)."""
    metric = METRICS[name]
    y, s = probability_sample(3_000, 0.3)
    if name in OF_A_CONSTANT:
        constant = tm.tally(y, np.full(len(y), np.mean(y)))
        assert metric.compute(constant) == pytest.approx(metric.chance(constant), abs=1e-12)
        return
    found = []
    for seed in range(40):
        t = tm.tally(y, np.random.default_rng(seed).permutation(s))
        found.append(metric.compute(t.at(THRESHOLD) if metric.needs == "confusion" else t))
    summary = t.at(THRESHOLD) if metric.needs == "confusion" else t
    chance = metric.chance(summary)
    error = np.std(found) / np.sqrt(len(found))
    # Maxima over thresholds, hulls and calibration gaps are pulled away from chance by noise of order 1/sqrt(n).
    pulled = {"ks": 0.06, "d_b": 0.16, "hull_auc": 0.03, "h_measure": 0.02, "aucc": 0.02, "ece": 0.02, "ace": 0.02,
              "average_precision": 0.01, "pr_auc": 0.01, "d_b_normal": 0.2, "partial_average_precision": 0.02,
              "integrated_calibration_index": 0.02}  # fmt: skip
    assert abs(np.mean(found) - chance) <= 5 * error + pulled.get(name, 1e-9)


@pytest.mark.parametrize("name", METRICS)
def test_the_declaration_is_complete(name):
    metric = METRICS[name]
    for text in (metric.title, metric.meaning, metric.reference, metric.formula, metric.family):
        assert text
    assert metric.meaning.endswith(".")
    assert metric.low < metric.high
    public = getattr(tm.metrics, name)
    assert public.__name__ == name
    assert public.__doc__
    assert ">>>" in public.__doc__
    for alias in metric.aliases:
        assert METRICS[alias] is metric


@pytest.mark.parametrize("name", OF_CELLS)
def test_the_docstring_example_runs(name):
    test = doctest.DocTestParser().get_doctest(getattr(tm.metrics, name).__doc__, {}, name, None, 0)
    assert test.examples
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


@pytest.mark.parametrize("name", METRICS)
def test_the_wrong_summary_is_told_the_right_call(name):
    with pytest.raises(tm.InputError, match=rf"{name} takes a .*Write tm.metrics.{name}\("):
        getattr(tm.metrics, name)([0, 1])


def test_columns_where_a_summary_belongs():
    with pytest.raises(
        tm.InputError, match=r"auroc takes one Tally, got 2 arguments. Write tm.metrics.auroc\(tm.tally"
    ):
        tm.metrics.auroc([0, 1], [0.1, 0.2])
    with pytest.raises(
        tm.InputError, match=r"f1 takes one Confusion.*Write tm.metrics.f1\(tm.confusion\(y, predicted\)\)"
    ):
        tm.metrics.f1([0, 1], [0, 1])


def test_a_tally_where_a_matrix_belongs():
    t = tm.tally([0, 1], [0.1, 0.2])
    with pytest.raises(tm.InputError, match=r"f1 takes a Confusion, got Tally. Write tm.metrics.f1\(tally.at\(0.5\)\)"):
        tm.metrics.f1(t)
    with pytest.raises(
        tm.InputError, match=r"auroc takes a Tally, got list. Write tm.metrics.auroc\(tm.tally\(y, scores\)\)"
    ):
        tm.metrics.auroc([0, 1])


def test_undefined_is_nan_with_a_reason():
    c = tm.Confusion.of_cells(tp=0, fp=0, fn=3, tn=4)
    with pytest.warns(tm.UndefinedWarning, match="precision: nothing was classified positive"):
        assert math.isnan(tm.metrics.precision(c))


@pytest.mark.parametrize("name", OF_CELLS)
def test_every_small_matrix_has_a_value_or_a_declared_reason(name):
    cells = [(a, b, c, d) for a in range(3) for b in range(3) for c in range(3) for d in range(3) if a + b + c + d]
    for tp, fp, fn, tn in cells:
        try:
            found = METRICS[name].compute(tm.Confusion.of_cells(tp=tp, fp=fp, fn=fn, tn=tn))
        except tm.Undefined as error:
            assert error.reason.startswith(f"{name}: ")
            assert "0 divided by 0" not in error.reason
        else:
            assert not math.isnan(found)


def test_metrics_raise_no_numerical_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", tm.UndefinedWarning)
        warnings.simplefilter("ignore", tm.GuardWarning)
        for s in ([0.0, 1.0, 0.0, 1.0], [0.5] * 4, [0.1, 0.9, 0.2, 0.3]):
            assert len(tm.evaluate(tm.tally([0, 1, 0, 1], s))) > 50
