"""How metrics scatter with the number of rows."""

import math

import pytest

import tallymark as tm
from samples import normal_sample


def test_subsamples_scatter_less_as_they_grow():
    tally = tm.tally(*normal_sample(8000, 0.3, 1.2, seed=1))
    found = tm.by_sample_size(tally, sizes=[100, 400, 1600], replicates=150)
    rows = found.rows()
    widths = [row["auroc high"] - row["auroc low"] for row in rows]
    assert widths[0] > widths[1] > widths[2]
    assert rows[1]["auroc"] == pytest.approx(tm.metrics.auroc(tally), abs=0.01)
    assert 0.5 < rows[0]["pearson r"] <= 1.0
    assert found.halving("auroc") == pytest.approx(4.0, rel=0.3)
    overlapping = tm.by_sample_size(tally, "auroc", sizes=[400, 1600, 6400], replicates=300)
    assert overlapping.halving("auroc") == pytest.approx(4.0, rel=0.3)
    again = tm.by_sample_size(tally, sizes=[100, 400, 1600], replicates=150)
    assert all((a == b).all() for a, b in zip(found.values, again.values, strict=True))


def test_subsamples_are_without_replacement_and_fit_the_data():
    tally = tm.tally([0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0], counts=[3, 3, 3, 3])
    found = tm.by_sample_size(tally, "auroc", sizes=[10], replicates=20)
    assert found.positives == (5,)
    with pytest.raises(tm.InputError, match="sizes must"):
        tm.by_sample_size(tally, sizes=[100])
    with pytest.raises(tm.InputError, match="whole ranking"):
        tm.by_sample_size(tally, "recall")


def test_sizes_are_checked():
    tally = tm.tally(*normal_sample(100))
    for options, message in (
        ({"replicates": 0}, "replicates is 0"), ({"sizes": ["a"]}, "sizes is 'a'"), ({"metrics": []}, "a metric or more")
    ):  # fmt: skip
        with pytest.raises(tm.InputError, match=message):
            tm.by_sample_size(tally, **options)
    one = tm.by_sample_size(tally, "auroc", sizes=[50], replicates=10)
    assert one.to_dict()["halving"] is None
    with pytest.raises(tm.InputError, match="was not computed"):
        one.halving("brier")
    huge = tm.tally([0, 0, 1, 1], [1.0, 3.0, 2.0, 4.0], counts=[10**9] * 4)
    assert tm.by_sample_size(huge, "auroc", sizes=[100], replicates=5).positives == (50,)


@pytest.mark.parametrize("n", [41, 350])
def test_limits_at_nearly_all_rows_are_those_of_an_endless_population(n):
    """At all rows every subsample is the same: the limits had no width, and two constants a correlation of 1."""
    tally = tm.tally(*normal_sample(n, 0.3, 1.2, seed=2))
    found = tm.by_sample_size(tally, sizes=[n // 2, n - 1, n], replicates=150)
    rows = found.rows()
    assert rows[-1]["auroc"] == pytest.approx(tm.metrics.auroc(tally))
    whole = tm.evaluate(tally, metrics=["auroc"], sampling="stratified")["auroc"]
    for row in rows[1:]:
        width = row["auroc high"] - row["auroc low"]
        assert row["auroc low"] < row["auroc"] < row["auroc high"]
        assert 0.6 < width / (whole.high - whole.low) < 1.4
        assert 0.2 < row["pearson r"] < 0.999


def test_what_does_not_scatter_has_no_limits():
    tally = tm.tally([0, 0, 0, 0, 1, 1, 1, 1], [1.0, 2, 3, 4, 5, 6, 7, 8])
    row = tm.by_sample_size(tally, "auroc", sizes=[4], replicates=20).rows()[0]
    assert row["auroc"] == 1.0
    assert math.isnan(row["auroc low"]) and math.isnan(row["auroc high"])


def test_three_rows_are_too_few_to_halve():
    with pytest.raises(tm.InputError, match="4 rows or more"):
        tm.by_sample_size(tm.tally([0, 1, 1], [1.0, 2.0, 3.0]), sizes=[3])
