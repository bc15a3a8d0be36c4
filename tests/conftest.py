"""Hypothesis profiles: quick for every run, long with HYPOTHESIS_PROFILE=long."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile("quick", max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("long", max_examples=2_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


def pytest_collection_modifyitems(items):
    """Files that take long begin first, so that no worker waits for another's at the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
