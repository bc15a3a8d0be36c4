"""Numbers at the ends of what a double holds, and names that are none: a number, undefined with a reason, or a sentence."""

import os
from pathlib import Path

import numpy as np
import pytest

import tallymark as tm

Y = np.r_[np.zeros(20, int), np.ones(20, int)]
S = np.random.default_rng(0).random(40)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1.0, 1e150, 1e250])
@pytest.mark.parametrize("name", ["spcc", "d_a", "d_e", "d_b_normal"])
def test_bounds_of_cells_hold_at_every_scale_or_nothing_is_said(scale, name):
    exact = tm.tally(Y, S * scale)
    cells = exact.quantise([0.5])
    value = tm.evaluate(cells, metrics=name)[name]
    if np.isnan(value.value):
        assert "scale them first" in value.reason
    else:
        low, high = tm.bound(cells, name)
        assert low - 1e-9 <= getattr(tm.metrics, name)(exact) <= high + 1e-9


@pytest.mark.parametrize("weight", [1e-140, 1e85])
def test_weights_of_any_unit_are_evaluated(weight):
    shares = np.random.default_rng(1).random(40) + 0.5
    one, other = (tm.evaluate(tm.tally(Y, S, weights=unit * shares), threshold=0.5) for unit in (1.0, weight))
    for name in ("auroc", "f1", "brier"):
        assert other[name].interval == pytest.approx(one[name].interval, rel=1e-9)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tm.tally(Y, S, weights=np.full(40, 1e150)), "too large to be multiplied"),
        (lambda: tm.tally(Y, S).at_prevalence(1e-308), "too close to 0 or 1"),
        (lambda: tm.Confusion.of_cells(tp=10**23, fp=1, fn=1, tn=1), "too large|more than"),
        (lambda: tm.evaluate(tm.tally(Y, S), metrics=5), "expected a name"),
    ],
)
def test_what_no_number_holds_is_refused(make, message):
    with pytest.raises(tm.InputError, match=message):
        make()


def test_a_class_that_is_lost_beside_the_other_has_no_h_measure():
    measures = tm.evaluate(tm.tally([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], counts=[1, 2**52, 1, 1]), level=None)
    assert np.isfinite(measures["auroc"].value)
    with pytest.raises(tm.Undefined, match="distinguished from 0"):
        from tallymark.metrics.cost import h_at_corners

        h_at_corners(1.0, np.array([0.0, 1.0]), np.array([0.0, 1.0]))


def test_names_that_are_no_text_are_refused(tmp_path):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.csv"))
    path.write_text("y,p\n0,0.1\n1,0.2\n0,0.3\n1,0.4\n")
    with pytest.raises(tm.InputError, match="no name in UTF-8"):
        tm.scan(path, label="y", score="p")
    good = tmp_path / "d.csv"
    good.write_text("y,p\n0,0.1\n1,0.2\n0,0.3\n1,0.4\n")
    for options in ({"where": 5}, {"where": "\udcff"}, {"label": 5}, {"weight": 5}, {"where": "true) OR (true"}):
        with pytest.raises(tm.InputError, match="no condition|No column|named by text|closes a bracket"):
            tm.scan(good, **{"label": "y", "score": "p", **options})
    for fine in ("p > (0.05)", "')' <> 'x' AND p > 0 /* ) */", "p >= 0.1 AND (p < 9)"):
        assert tm.scan(good, label="y", score="p", where=fine).n == 4


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("size", [1e100, 1.3e115, 1e150, 1e160, 1e300, 1.7e308])
def test_quantised_tallies_of_huge_scores_are_loaded_again(size, tmp_path):
    rng = np.random.default_rng(0)
    y, s = np.arange(300) % 2, np.clip(rng.normal(size=300), -3, 3) / 3
    first, second = tm.tally(y, s * size).quantise(), tm.tally(y, -s * size).quantise()
    for made in (first, first.merge(second)):
        made.save(tmp_path / "q.tally")
        assert tm.metrics.auroc(tm.load(tmp_path / "q.tally")) == tm.metrics.auroc(made)
