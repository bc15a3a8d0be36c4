"""Sample sizes of audits against published figures, and the stopping rule against enumeration and simulation."""

import numpy as np
import pytest
from scipy.stats import beta, hypergeom

import tallymark as tm


def test_the_published_size_of_a_map():
    # Olofsson et al. (2014), section 5.1.
    sizes = tm.audits.accuracy_size([0.02, 0.015, 0.32, 0.645], [0.7, 0.6, 0.9, 0.95], standard_error=0.01)
    assert sizes == 641


def test_an_elusion_sample_reaches_its_limit_and_one_row_less_does_not():
    found, others, recall = 8_000, 92_000, 0.95
    n = tm.audits.elusion_size(found, others, recall=recall)

    def lower(n):
        missed = beta.ppf(0.975, 1, n) * (others - n)
        return found / (found + missed)

    assert lower(n) >= recall > lower(n - 1)
    with pytest.raises(tm.InputError, match="no sample can show more"):
        tm.audits.elusion_size(found, others, recall=recall, missed=0.01)


def test_the_p_value_is_the_least_over_windows():
    rng = np.random.default_rng(0)
    verdicts = (rng.random(120) < np.linspace(0.9, 0.0, 120)).astype(int)
    state = tm.audits.stopping(verdicts, 300, recall=0.9)
    seen = np.cumsum(verdicts)
    for screened in (30, 80, 120):
        total = int(np.floor(seen[screened - 1] / 0.9 + 1e-9)) + 1
        before = [0, *seen[: screened - 1]]
        wanted = min(
            hypergeom.cdf(seen[screened - 1] - before[i], 300 - i, total - before[i], screened - i)
            for i in range(screened)
        )
        assert dict(zip(state.moments, state.p_values, strict=True))[screened] == pytest.approx(min(wanted, 1.0))


def test_all_rows_screened_is_a_reason_to_stop():
    state = tm.audits.stopping([1, 0, 0, 1, 0], 5, recall=0.95)
    assert state.p_value == 0.0
    assert state.stop is not None
    assert "Stop" in state.heading()


@pytest.mark.slow
@pytest.mark.parametrize("apart", [1.0, 2.0])
def test_screening_in_a_better_than_random_order_seldom_stops_too_soon(apart):
    rng = np.random.default_rng(1)
    positive = np.arange(800) < 40
    too_soon = 0
    for _ in range(100):
        order = np.argsort(-(rng.normal(size=800) + apart * positive))
        verdicts = positive[order].astype(int)
        stop = tm.audits.stopping(verdicts, 800, recall=0.9).stop
        too_soon += verdicts[:stop].sum() < 0.9 * 40
    assert too_soon <= 5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tm.audits.accuracy_size([0.5, 0.6], [0.9, 0.9], standard_error=0.01), "add up to 1.1"),
        (lambda: tm.audits.accuracy_size([0.5, 0.5], [0.9], standard_error=0.01), "expected as many"),
        (lambda: tm.audits.accuracy_size([0.5, 0.5], [0.9, 1.2], standard_error=0.01), "up to 1.2"),
        (lambda: tm.audits.accuracy_size([0.5, 0.5], [1.0, 0.0], standard_error=0.01), "expect some error"),
        (lambda: tm.audits.stopping([1, 0, 1], 2), "n"),
    ],
)
def test_bad_plans_are_refused(call, message):
    with pytest.raises(tm.InputError, match=message):
        call()
