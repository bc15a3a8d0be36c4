"""Labels beside points never cover each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallymark.charts.placement import beside

WIDTH, HEIGHT = 340.0, 300.0


def boxes(points, texts, lines=()):
    """What each label covers, in pixels, computed apart from the placement's own arithmetic."""
    found = []
    for (x, y), text, place in zip(points, texts, beside(points, texts, (WIDTH, HEIGHT), lines), strict=True):
        length = 6.0 * len(text)
        left = x * WIDTH + place["dx"] - (length if place["align"] == "right" else 0.0)
        middle = (1.0 - y) * HEIGHT + place["dy"]
        found.append((left, middle - 6.5, left + length, middle + 6.5))
    return found


def meet(one, other):
    # Texts that touch share a line of no width, give or take the last bit of a pixel.
    wide, high = (min(one[k + 2], other[k + 2]) - max(one[k], other[k]) for k in (0, 1))
    return wide > 1e-9 and high > 1e-9


unit = st.floats(0.0, 1.0)


@given(st.lists(st.tuples(unit, unit), min_size=1, max_size=6))
def test_labels_do_not_meet(points):
    found = boxes(np.array(points), ["youden (0.42)"] * len(points))
    assert not any(meet(one, other) for i, one in enumerate(found) for other in found[:i])


@given(unit, unit)
def test_a_label_stays_in_the_plot(x, y):
    ((left, top, right, bottom),) = boxes(np.array([[x, y]]), ["f1 (0.5)"])
    # Half a line may stick out at the upper and the lower edge.
    assert left >= 0.0
    assert right <= WIDTH
    assert top >= -6.5
    assert bottom <= HEIGHT + 6.5


@pytest.mark.parametrize("slope", [1.0, -1.0])
def test_a_label_keeps_off_a_line(slope):
    t = np.linspace(0.0, 1.0, 5)
    line = np.column_stack([t, 0.5 + slope * (t - 0.5)])
    ((left, top, right, bottom),) = boxes(np.array([[0.5, 0.5]]), ["f1 (0.5)"], [line])
    dense = np.linspace(0.0, 1.0, 2_000)
    x, y = dense * WIDTH, (1.0 - (0.5 + slope * (dense - 0.5))) * HEIGHT
    assert not ((x > left + 2) & (x < right - 2) & (y > top + 2) & (y < bottom - 2)).any()
