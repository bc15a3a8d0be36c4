"""Prior shift tested by labels: against SciPy, its size, and what it sees."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kruskal

import tallymark as tm


def frame(rng, n, groups, share=0.3, moved=0.0):
    y = rng.random(n) < share
    g = rng.integers(groups, size=n)
    return pd.DataFrame({"y": y, "g": g, "p": rng.normal(1.5 * y + moved * (y & (g == 0)))})


def drift(data, **options):
    return tm.quantify.class_drift(tm.tally(data, label="y", score="p", by="g"), **options)


@pytest.mark.parametrize("digits", [1, 8])
def test_each_class_is_kruskal_and_wallis(digits):
    data = frame(np.random.default_rng(0), 400, 3, moved=0.6).assign(p=lambda f: f.p.round(digits))
    found = drift(data)
    for side in (False, True):
        wanted = kruskal(*[part.p for _, part in data[data.y == side].groupby("g")]).pvalue
        assert found.by_class[str(side)] == pytest.approx(min(1.0, 2 * wanted))


@pytest.mark.parametrize(("n", "groups", "share"), [(400, 4, 0.3), (60, 4, 0.15)])
def test_size(n, groups, share):
    rng = np.random.default_rng(1)
    false = np.mean([drift(frame(rng, n, groups, share), permutations=199).contradicted for _ in range(200)])
    assert false < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 200)


def test_power_and_words():
    data = frame(np.random.default_rng(2), 1_000, 3, moved=1.0)
    # Prevalence may differ as it likes.
    data = data[(data.g != 1) | ~data.y | (data.index % 3 == 0)]
    found = drift(data)
    assert found.contradicted
    assert "True rows differ" in found.verdict
    assert found.by_group[0,] < 0.001
    calm = drift(frame(np.random.default_rng(4), 1_000, 3))
    assert "not contradicted" in calm.verdict
    assert f"at the {100 * (1 - calm.level):g} % level" in calm.verdict
    assert "does not show that it holds" in calm.verdict


def test_what_cannot_be_ranked_is_refused():
    with pytest.raises(tm.InputError, match="two groups"):
        tm.quantify.class_drift(tm.tally([0, 1], [0.1, 0.2]))
    data = frame(np.random.default_rng(0), 100, 2).assign(w=1.5)
    with pytest.raises(tm.InputError, match="weights"):
        tm.quantify.class_drift(tm.tally(data, label="y", score="p", by="g", weight="w"))


def test_models_are_no_groups():
    data = frame(np.random.default_rng(0), 200, 2).assign(q=lambda f: f.p**2)
    with pytest.raises(tm.InputError, match="one model"):
        tm.quantify.class_drift(tm.tally(data, label="y", score=["p", "q"]))
    with pytest.raises(tm.InputError, match="one model"):
        tm.quantify.class_drift(tm.tally(data, label="y", score=["p", "q"], by="g"))
    one = tm.quantify.class_drift(tm.tally(data, label="y", score=["p"], by="g"))
    assert one.p_value == drift(data).p_value


def test_the_group_that_moved_most_is_named_first():
    rng = np.random.default_rng(1)
    group = rng.choice(list("ABCD"), 4_000)
    y = rng.random(4_000) < 0.3
    frame = pd.DataFrame({"y": y, "g": group, "p": rng.normal(1.5 * y - 1.0 * (y & (group == "D")))})
    assert "most clearly in D" in tm.quantify.class_drift(tm.tally(frame, label="y", score="p", by="g")).verdict
