"""Westfall and Young's test: a naive loop, one pair alone, family-wise error, power against Holm."""

import itertools

import numpy as np
import pytest
from scipy.stats import rankdata, ttest_1samp

import tallymark as tm


def naive(values, pairs):
    """The step-down p-values by a loop over every change of signs."""
    n = len(values)
    d = np.stack([values[:, a] - values[:, b] for a, b in pairs], axis=1)

    def t(x):
        return np.abs(x.mean(axis=0)) / (x.std(axis=0, ddof=1) / np.sqrt(n))

    observed = t(d)
    order = np.argsort(-observed)
    hits, total = np.zeros(len(pairs)), 0
    for signs in itertools.product((1, -1), repeat=n):
        drawn = t(d * np.array(signs)[:, None])
        total += 1
        for place, pair in enumerate(order):
            hits[place] += drawn[order[place:]].max() >= observed[pair] - 1e-9
    p = np.maximum.accumulate(hits / total)
    result = np.empty(len(pairs))
    result[order] = p
    return result


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("on", ["ranks", "values"])
def test_the_p_values_are_those_of_every_change_of_signs(on):
    rng = np.random.default_rng(0)
    values = rng.normal([0.0, 0.3, 1.0], size=(9, 3))
    numbers = rankdata(values, axis=1) if on == "ranks" else values
    pairs = list(itertools.combinations(range(3), 2))
    found = tm.study.westfall_young(dict(zip("abc", values.T, strict=True)), on=on)
    assert found.p_values == pytest.approx(naive(numbers, pairs), abs=1e-12)


def test_one_pair_needs_no_correction():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 12))
    line = tm.study.westfall_young({"a": a, "b": b + 0.5}, on="values").pairs[0]
    assert line["p"] == line["p_value"]
    assert line["p_value"] == pytest.approx(ttest_1samp(a - b - 0.5, 0).pvalue, abs=0.05)


def test_methods_that_are_alike_do_not_differ_and_certain_ones_do():
    table = {"a": [1.0] * 8, "b": [1.0] * 8, "c": [2.0] * 8}
    found = {(one["first"], one["second"]): one["p_value"] for one in tm.study.westfall_young(table).pairs}
    assert found["a", "b"] == 1.0
    assert found["a", "c"] == found["b", "c"] == 2 / 2**8


def test_order_of_rows_and_monotone_maps_do_not_matter():
    rng = np.random.default_rng(2)
    values = rng.normal([0.0, 0.5, 0.5, 1.0], size=(10, 4))
    one, mapped, moved = (tm.study.westfall_young(x).p_values for x in (values, np.exp(values), values[::-1]))
    assert one == pytest.approx(mapped)
    assert one == pytest.approx(moved)


def test_random_signs_come_close_to_all_of_them():
    values = np.random.default_rng(3).normal([0.0, 0.4, 0.8], size=(16, 3))
    every = tm.study.westfall_young(values, replicates=40_000).p_values
    some = tm.study.westfall_young(values, replicates=10_000).p_values
    assert some == pytest.approx(every, abs=0.01)
    assert (some == tm.study.westfall_young(values, replicates=10_000).p_values).all()


@pytest.mark.slow
def test_the_family_wise_error_holds_and_dependence_gains_power():
    rng = np.random.default_rng(4)
    wrong = found = holm = 0
    for _ in range(400):
        shared = rng.normal(size=(20, 1))
        values = rng.normal(size=(20, 6)) * 0.3 + shared
        wrong += (tm.study.westfall_young(values, on="values", replicates=999).p_values <= 0.05).any()
        values[:, 0] += 0.28
        result = tm.study.westfall_young(values, "1", on="values", replicates=999)
        found += (result.p_values <= 0.05).sum()
        raw = np.array([line["p"] for line in result.pairs])
        holm += (tm.study.holm(raw.tolist()).p_values <= 0.05).sum()
    assert 0.02 <= wrong / 400 <= 0.08
    assert found > holm


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on": "x"}, "on"),
        ({"replicates": 5}, "replicates"),
        ({"control": "z"}, "No method 'z'"),
        ({"level": 2}, "level"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(tm.InputError, match=message):
        tm.study.westfall_young(np.ones((5, 3)), **options)
