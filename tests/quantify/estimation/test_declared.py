"""Every quantifier's declaration: total, pinned to its kernel and to its estimator."""

import inspect

import pytest

import tallymark as tm
from tallymark import quantify
from tallymark.quantify.estimation.declared import _TABLE, class_methods, estimation_of
from tallymark.quantify.estimators.base import Quantifier
from tallymark.registry import QUANTIFIERS

ESTIMATORS = {
    one.method: one
    for one in (getattr(quantify, name) for name in dir(quantify) if name[0].isupper())
    if isinstance(one, type) and issubclass(one, Quantifier) and one is not Quantifier
}


def test_the_table_is_total():
    assert set(QUANTIFIERS) - set(_TABLE) == set(), "say in quantify/estimation/table.py how they get their limits"
    assert set(_TABLE) - set(QUANTIFIERS) == set()


def test_every_quantifier_has_an_estimator():
    assert set(QUANTIFIERS) - set(ESTIMATORS) == set(), "give them a class in quantify/estimators/wrappers.py"


@pytest.mark.parametrize("name", QUANTIFIERS)
def test_the_kernel_takes_the_declared_options_and_nothing_else(name):
    parameters = list(inspect.signature(QUANTIFIERS[name].kernel).parameters.values())
    assert [p.name for p in parameters[2:]] == list(QUANTIFIERS[name].options)
    assert all(p.kind is p.KEYWORD_ONLY and p.default is p.empty for p in parameters[2:])


@pytest.mark.parametrize("name", QUANTIFIERS)
def test_the_estimator_exposes_every_declared_option(name):
    own = set(inspect.signature(ESTIMATORS[name]).parameters) - set(inspect.signature(Quantifier).parameters)
    assert own == set(QUANTIFIERS[name].options)


@pytest.mark.parametrize("name", QUANTIFIERS)
def test_defaults_of_the_estimator_are_those_declared(name):
    """None stands for the declared default."""
    given = ESTIMATORS[name]().get_params()
    for option, default in QUANTIFIERS[name].options.items():
        assert given[option] is None or given[option] == default


@pytest.mark.parametrize("name", QUANTIFIERS)
def test_the_declared_interval_is_there(name):
    facts, declared = QUANTIFIERS[name], estimation_of(name)
    assert (facts.interval == "analytic") == (declared.analytic is not None)
    assert facts.interval != "profile" or facts.densities is not None
    assert set(facts.resampled_with) <= set(facts.options)
    if declared.classes is not None:
        assert set(declared.classes.options) <= set(facts.options)


def test_methods_refused_for_more_classes_name_the_others():
    known = tm.class_panel([0, 1, 2] * 5, [[0.6, 0.2, 0.2]] * 15, classes=[0, 1, 2])
    for name in set(QUANTIFIERS) - {key for key in QUANTIFIERS if estimation_of(key).classes}:
        with pytest.raises(tm.InputError, match=", ".join(class_methods())):
            tm.quantify.estimate(name, known, tm.class_panel(scores=[[0.2, 0.3, 0.5]], classes=[0, 1, 2]))


def test_one_estimate_speaks_whatever_the_intervals_are():
    """No two methods have the same right to speak, but for those that never do."""
    given = [method.precedence for method in QUANTIFIERS.values() if method.precedence < 100]
    assert len(set(given)) == len(given)
    assert all(QUANTIFIERS[name].shift_proof for name in QUANTIFIERS if QUANTIFIERS[name].precedence < 100)
