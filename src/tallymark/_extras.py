"""Readers of office files, which are installed as an extra."""

from __future__ import annotations

import importlib
from typing import Any

from tallymark.errors import InputError


def office(module: str) -> Any:
    """A module that reads or writes office files, or an error that says how to install it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise InputError(
            "This file needs the extra for office files: pip install 'tallymark[office]'. Or save it as CSV or Parquet."
        ) from None
