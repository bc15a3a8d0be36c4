"""The modules that write the documentation, loaded from where they lie."""

import importlib.util
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def module(name):
    """A module of ``docs/``, loaded once."""
    known = f"docs_{name}"
    if known not in sys.modules:
        spec = importlib.util.spec_from_file_location(known, DOCS / f"{name}.py")
        sys.modules[known] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[known])
    return sys.modules[known]
