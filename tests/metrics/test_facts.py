"""Property tests generated from what the registry says of each metric."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from samples import labelled_probabilities, labelled_scores, normal_sample, probability_sample, with_counts
from tallymark.metrics.averages import CLASS_METRICS
from tallymark.registry import METRICS

OF_TALLY = [name for name in METRICS if METRICS[name].needs in {"tally", "probabilities"}]
OF_CELLS = [name for name in METRICS if METRICS[name].needs == "confusion"]
THRESHOLD = 0.5


#: Samples that every metric must stand: any scores for those of scores, probabilities for those of probabilities. Tails of
#: normals a million deviations apart are rounding noise, so metrics of normal theory see scores of moderate size.
SAMPLES = {
    "normal theory": (labelled_scores(st.integers(-6, 6).map(float)), lambda facts: facts.normal_theory),
    "scores": (labelled_scores(), lambda facts: facts.needs in {"tally", "confusion"} and not facts.normal_theory),
    "probabilities": (labelled_probabilities(), lambda facts: facts.needs == "probabilities"),
}
KINDS = pytest.mark.parametrize("kind", SAMPLES)


def metrics_for(kind, *, fact=lambda facts: True):
    """Names of the metrics that see samples of a kind, of those that have a fact."""
    return [name for name in (*OF_TALLY, *OF_CELLS) if SAMPLES[kind][1](METRICS[name]) and fact(METRICS[name])]


def value(name, tally):
    """The metric of a tally, cells taken at a fixed threshold; nan where undefined."""
    try:
        metric = METRICS[name]
        return metric.compute(tally.at(THRESHOLD) if metric.needs == "confusion" else tally)
    except tm.Undefined:
        return math.nan


def same(a, b, tolerance=1e-9):
    return a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))


def assert_same(names, one, other, tolerance=1e-9):
    """Every metric has the same value in both tallies."""
    apart = {name: pair for name in names if not same(*(pair := (value(name, one), value(name, other))), tolerance)}
    assert not apart


@KINDS
@given(data=st.data())
def test_the_range_holds(kind, data):
    tally = tm.tally(*data.draw(SAMPLES[kind][0]))
    for name in metrics_for(kind):
        found, facts = value(name, tally), METRICS[name]
        assert math.isnan(found) or facts.low - 1e-12 <= found <= facts.high + 1e-12, name


@KINDS
@given(data=st.data())
def test_prevalence_free_metrics_do_not_move_when_negatives_are_repeated(kind, data):
    y, s = data.draw(SAMPLES[kind][0])
    more = np.where(y == 0, 3, 1)
    names = metrics_for(kind, fact=lambda facts: facts.prevalence_free)
    assert_same(names, tm.tally(y, s), tm.tally(y, s, counts=more))


@pytest.mark.parametrize("name", [n for n in [*OF_TALLY, *OF_CELLS] if not METRICS[n].prevalence_free])
def test_the_other_metrics_do_move(name):
    y, s = probability_sample()
    assert not same(value(name, tm.tally(y, s)), value(name, tm.tally(y, s, counts=np.where(y == 0, 3, 1))), 1e-6)


@given(sample=labelled_scores(st.integers(-6, 6).map(float)))
def test_rank_metrics_do_not_move_under_an_increasing_map(sample):
    y, s = sample
    names = [name for name in OF_TALLY if METRICS[name].rank_only]
    assert_same(names, tm.tally(y, s), tm.tally(y, np.exp(s) + s**3))


@pytest.mark.parametrize("name", [n for n in OF_TALLY if METRICS[n].needs == "tally" and not METRICS[n].rank_only])
def test_the_other_metrics_see_the_scores(name):
    y, s = normal_sample()
    assert not same(value(name, tm.tally(y, s)), value(name, tm.tally(y, np.exp(s))), 1e-3)


@given(sample=labelled_scores(st.integers(0, 20).map(lambda k: k / 20)))
def test_metrics_of_moments_see_nothing_else(sample):
    """A tally of two scores a class with the same masses, means and variances has the same metrics."""
    y, s = sample
    tally = tm.tally(y, s)
    two = [
        np.array([m.mean - math.sqrt(m.variance), m.mean + math.sqrt(m.variance)])
        for m in (r.moments for r in tally.runs)
    ]
    halves = [np.full(2, run.moments.mass / 2) for run in tally.runs]
    other = tm.tally(np.repeat([0, 1], 2), np.concatenate(two), weights=np.concatenate(halves))
    names = [
        name for name in OF_TALLY if METRICS[name].moments and (other.is_probability or METRICS[name].needs == "tally")
    ]
    assert_same(names, tally, other, 1e-6)


@KINDS
@given(data=st.data())
def test_counts_and_weights_are_repeated_rows(kind, data):
    y, s, c = data.draw(with_counts(SAMPLES[kind][0]))
    # The coin-tossing noise of a sum of weighted rows is that of their squares.
    names = [name for name in metrics_for(kind) if name != "positive_sd"]
    repeated = tm.tally(np.repeat(y, c), np.repeat(s, c))
    assert_same(names, tm.tally(y, s, counts=c), repeated)
    assert_same(names, tm.tally(y, s, weights=c), repeated)
    assert_same([name for name in names if not METRICS[name].extensive], tm.tally(y, s, weights=c * 0.37), repeated)


@KINDS
@given(data=st.data())
def test_at_a_prevalence_equals_reweighted_classes(kind, data):
    y, s = data.draw(SAMPLES[kind][0])
    prevalence = data.draw(st.floats(0.01, 0.99))
    weights = np.where(y == 1, prevalence / np.sum(y == 1), (1 - prevalence) / np.sum(y == 0))
    names = [name for name in metrics_for(kind, fact=lambda facts: not facts.extensive) if name != "positive_sd"]
    assert_same(names, tm.tally(y, s).at_prevalence(prevalence), tm.tally(y, s, weights=weights), 1e-7)


@KINDS
@given(data=st.data())
def test_the_order_and_names_of_labels_do_not_matter(kind, data):
    y, s = data.draw(SAMPLES[kind][0])
    shuffle = np.random.default_rng(0).permutation(len(y))
    renamed = np.where(y == 1, "aaa", "zzz")[shuffle]
    assert_same(metrics_for(kind), tm.tally(y, s), tm.tally(renamed, s[shuffle], pos_label="aaa"))


@given(labelled_scores())
def test_proportions_are_hits_of_rows(sample):
    matrix = tm.tally(*sample).at(THRESHOLD)
    cells = dict(zip(("tp", "fp", "fn", "tn"), matrix.cells, strict=True))
    for name in OF_CELLS:
        if METRICS[name].proportion is not None:
            hits, rows = (
                sum(cells[c] for c in part) for part in (METRICS[name].proportion[0], sum(METRICS[name].proportion, ()))
            )
            assert same(value(name, tm.tally(*sample)), hits / rows if rows else math.nan), name


@given(labelled_scores(), st.randoms(use_true_random=False))
def test_metrics_free_of_the_model_do_not_look_at_scores(sample, random):
    y, s = sample
    names = [name for name in (*OF_TALLY, *OF_CELLS) if METRICS[name].model_free]
    assert names
    assert_same(names, tm.tally(y, s), tm.tally(y, random.sample(s.tolist(), len(s))))


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


def test_every_metric_and_every_spelling_has_its_function():
    """But for aliases of one or two letters, which are names in `metrics=` only."""
    aliases = {alias for metric in METRICS.values() for alias in metric.aliases}
    short = {alias for alias in aliases if len(alias) < 3}
    assert short >= {"j", "h", "ba", "gm", "ap"}
    others = {"spcc_one_vs_one", "spcc_one_vs_rest"} | {name for name, one in CLASS_METRICS.items() if one.average}
    assert {*METRICS, *aliases} - short == set(tm.metrics.__all__) - others
    for name in set(tm.metrics.__all__) - others:
        assert getattr(tm.metrics, name) is METRICS[name].function
    for name in short:
        assert not hasattr(tm.metrics, name)
        assert METRICS[name].function is getattr(tm.metrics, METRICS[name].name)


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
