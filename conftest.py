"""What every test and doctest leaves behind: nothing that it declared."""

import pytest

from tallymark.registry import CALIBRATIONS, LOSSES, METRICS, POLICIES, QUANTIFIERS


@pytest.fixture(autouse=True)
def _forget_own_declarations():
    yield
    for registry in (METRICS, QUANTIFIERS, POLICIES, LOSSES, CALIBRATIONS):
        for name in registry.own:
            registry.remove_own(name)
