import pytest
from bench.quantify_coverage import coverages


@pytest.mark.parametrize(("rows", "share"), [(500, 0.2), (500, 0.02), (5_000, 0.02)])
def test_intervals_hold_the_truth_and_the_target_alone_does_not(rows, share):
    found = coverages(("ac", "pacc", "em", "ms"), rows, share, 120, naive=True)
    for name in ("ac", "pacc", "em", "ms"):
        # Three standard errors of 120 simulated samples beyond 93 to 97 %.
        assert 0.93 - 0.07 <= found[name] <= 1.0, name
    assert found["ac", "target alone"] < 0.87
