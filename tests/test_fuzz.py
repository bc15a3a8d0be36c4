"""The fuzzer's short form: the first cases of every area. ``make fuzz`` goes on for an hour."""

import pytest
from fuzz.areas import AREAS, tried

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("area", AREAS)
def test_nothing_is_found(area):
    for seed in range(AREAS[area][1]):
        found = tried(area, seed)
        assert found is None, f"python -m fuzz --case {area!r} {seed}: {found}"
