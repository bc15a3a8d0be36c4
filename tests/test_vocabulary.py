"""One vocabulary: every public signature and every result speak the same words."""

import dataclasses
import inspect

import numpy as np
import pytest

import tallymark as tm

#: A word for a parameter, what it must be spelled as elsewhere, and its default where all agree on one.
SYNONYMS = {
    "alpha": "level",
    "confidence": "level",
    "repeats": "replicates",
    "n_bootstrap": "replicates",
    "bootstraps": "replicates",
    "threads_used": "jobs",
    "n_threads": "jobs",
    "rng": "seed",
    "random_state": "seed",
    "n_jobs": "jobs",
    "sample_weight": "weights",
    "sample_weights": "weights",
    "target_prevalence": "prevalence",
    "score_columns": "score",
}

#: Defaults that all functions with the parameter share.
DEFAULTS = {
    "level": 0.95,
    "seed": 0,
    "jobs": None,
    "strict": False,
    "sampling": "plain",
    "theme": "light",
    "bins": None,
}


def public_functions():
    """Every public function by its full name."""
    modules = [getattr(tm, name) for name in tm.__all__ if inspect.ismodule(getattr(tm, name))]
    modules.insert(0, tm)
    for module in modules:
        names = module.__all__ if hasattr(module, "__all__") else [n for n in dir(module) if not n.startswith("_")]
        for name in names:
            value = getattr(module, name)
            if inspect.isfunction(value):
                yield f"{module.__name__}.{name}", value


def public_classes():
    """Every class that public functions return."""
    for name in tm.results.__all__:
        yield name, getattr(tm.results, name)


FUNCTIONS = dict(public_functions())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parameters_are_spelled_as_everywhere(name):
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    wrong = {word: SYNONYMS[word] for word in parameters if word in SYNONYMS}
    assert not wrong


@pytest.mark.parametrize("word", [word for word in DEFAULTS if word != "bins"])
def test_a_word_has_one_default(word):
    given = {
        name: parameters[word].default
        for name, function in FUNCTIONS.items()
        for parameters in [inspect.signature(function).parameters]
        if word in parameters and parameters[word].default is not inspect.Parameter.empty
    }
    assert len(given) >= 2
    assert set(given.values()) == {DEFAULTS[word]}, given


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n.startswith("tallymark.charts.")])
def test_charts_take_data_first_and_have_a_theme(name):
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    assert next(iter(parameters)) == "data"
    assert parameters["theme"].kind is inspect.Parameter.KEYWORD_ONLY


def test_charts_have_the_names_of_what_they_draw():
    curves = {"roc", "pr", "det", "gain", "cost_curve", "brier_curve", "calibration_curve", "decision_curve"}
    results = {"over_thresholds", "over_prevalence", "by_sample_size", "without_simple", "confusion"}
    assert curves | results <= set(tm.charts.__all__)
    assert curves | results <= set(tm.__all__)
    assert "mixture_fit" in set(tm.charts.__all__) & set(tm.quantify.__all__)


def test_binning_is_the_same_for_a_curve_and_its_band():
    one, other = (inspect.signature(f).parameters for f in (tm.calibration_curve, tm.intervals.calibration_band))
    assert (one["by"].default, one["bins"].default) == (other["by"].default, other["bins"].default)
    rng = np.random.default_rng(0)
    p = rng.random(500)
    t = tm.tally(rng.random(500) < p, p)
    curve, band = tm.calibration_curve(t).columns(), tm.intervals.calibration_band(t).columns()
    assert len(next(iter(curve.values()))) == len(next(iter(band.values())))


@pytest.mark.parametrize("name", ["Measure", "Interval", "Prevalence", "Pair", "ChosenThreshold"])
def test_everything_with_limits_speaks_of_them_alike(name):
    kind = getattr(tm.results, name)
    fields = {field.name for field in dataclasses.fields(kind)} | set(dir(kind))
    assert {"value", "low", "high", "level", "interval_method", "interval"} <= fields


def test_the_pair_is_the_pair():
    t = tm.tally([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.6, 0.4, 0.7, 0.9])
    measure = tm.evaluate(t)["auroc"]
    estimate = tm.quantify.estimate("ac", t, tm.tally(scores=[0.2, 0.8]))
    proportion = tm.intervals.proportion(3, 10)
    compared = tm.compare(tm.panel([0, 0, 0, 1, 1, 1], {"a": [1, 2, 4, 3, 5, 6], "b": [1, 4, 5, 2, 3, 6]})).pairs[0]
    for one in (measure, estimate, proportion, compared):
        assert one.interval == (one.low, one.high)
        assert one.low <= one.value <= one.high
        assert isinstance(one.interval_method, str)
    assert tm.evaluate(t, level=None)["auroc"].interval is None


@pytest.mark.parametrize("name", tm.results.__all__)
def test_result_classes_have_a_public_home_and_a_docstring(name):
    kind = getattr(tm.results, name)
    assert kind.__name__ == name
    assert kind.__doc__


@pytest.mark.parametrize("module", ["", "metrics", "quantify", "intervals", "charts", "results", "extend", "scorers"])
def test_dir_shows_what_exists(module):
    place = getattr(tm, module) if module else tm
    assert set(place.__all__) <= set(dir(place))
    for name in place.__all__:
        assert getattr(place, name) is not None


def test_estimators_take_random_states_as_scikit_learn_does():
    from sklearn.datasets import make_classification
    from sklearn.linear_model import LogisticRegression

    X, y = make_classification(200, random_state=0)
    fitted = {}
    for state in (0, np.random.RandomState(0), np.random.default_rng(0), None):
        made = tm.quantify.AC(LogisticRegression(), cv=3, random_state=state, n_jobs=1).fit(X, y)
        fitted[type(state)] = made.predict(X)
        assert made.get_params()["random_state"] is state
    again = tm.quantify.AC(LogisticRegression(), cv=3, random_state=0, n_jobs=2).fit(X, y)
    assert (again.predict(X) == fitted[int]).all()
