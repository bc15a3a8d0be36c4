"""What every test and doctest leaves behind: nothing that it declared."""

import pytest

from tallymark.registry import CALIBRATIONS, LOSSES, METRICS, PARAMETERS, POLICIES, QUANTIFIERS


@pytest.fixture(autouse=True)
def _forget_own_declarations():
    yield
    for registry in (METRICS, PARAMETERS, QUANTIFIERS, POLICIES, LOSSES, CALIBRATIONS):
        for name in registry.user_defined:
            registry.remove_user_defined(name)
