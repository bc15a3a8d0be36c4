"""Which products to check for an index: what is left uncertain, against drawing it, and against checking others."""

import numpy as np
import pandas as pd
import pytest

import tallymark as tm
from tallymark.prices.index_audits import _probabilities, _telling, _width

COLUMNS = {"period": "m", "product": "id", "price": "p", "quantity": "q", "score": "s"}


def sales(seed=0, products=50, periods=5):
    rng = np.random.default_rng(seed)
    i, t = np.tile(np.arange(products), periods), np.repeat(np.arange(periods), products)
    frame = pd.DataFrame({"m": t, "id": i, "q": rng.lognormal(2, 1, products)[i], "s": rng.beta(0.5, 0.5, products)[i]})
    frame["p"] = np.exp(rng.normal(0, 0.2, products)[i] + rng.normal(0.01, 0.03, products)[i] * t)
    return frame


@pytest.mark.parametrize("formula", ["fisher", "jevons", "geks_fisher"])
def test_checking_narrows_and_the_most_telling_narrow_most(formula):
    frame = sales()
    plan = tm.prices.index_audit(frame, n=12, formula=formula, **COLUMNS)
    assert plan.width < 0.8 * plan.width_before
    table, chance = _probabilities(frame, "m", "id", "p", "q", "s")
    rng = np.random.default_rng(1)
    at_random = np.mean([
        _width(table, formula, chance, rng.permutation(50)[:12], 0.95, np.random.default_rng(0), chained=False) for _ in range(8)
    ])  # fmt: skip
    assert plan.width < at_random


def test_effects_are_those_of_adding_a_product():
    frame = sales(products=8)
    table, chance = _probabilities(frame, "m", "id", "p", "q", "s")
    order, effects = _telling(table, "jevons", chance, chained=False)
    change = np.log(table.prices[-1] / table.prices[0])
    level = np.exp(np.sum(chance * change) / chance.sum())
    # The derivative of a weighted mean of logs.
    assert effects == pytest.approx(level * (change - np.log(level)) / chance.sum(), rel=1e-3)
    assert list(order) == sorted(range(8), key=lambda i: -abs(effects[i]) * np.sqrt(chance[i] * (1 - chance[i])))


def test_a_width_is_kept():
    plan = tm.prices.index_audit(sales(), width=0.01, **COLUMNS)
    assert plan.width <= 0.01 < plan.width_before
    again = tm.prices.index_audit(sales(), n=plan.n, **COLUMNS)
    assert again.products == plan.products
    everything = tm.prices.index_audit(sales(products=6), n=6, **COLUMNS)
    assert everything.width == 0.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "one of the two"),
        ({"n": 99}, "n is 99"),
        ({"width": 0.0}, "above 0"),
        ({"n": 5, "score": "q"}, "probabilities from 0 to 1"),
    ],
)
def test_bad_input_is_refused(options, message):
    with pytest.raises(tm.InputError, match=message):
        tm.prices.index_audit(sales(), **(COLUMNS | options))
