"""The small picture that a notebook shows beside a result's table."""

from __future__ import annotations

import importlib
import importlib.util


def picture_of(result: object) -> str:
    """An SVG of a result; empty where the result has no picture or the packages that draw it are not installed."""
    if any(importlib.util.find_spec(name) is None for name in ("altair", "vl_convert")):
        return ""
    # Charts are a higher package, loaded only when a notebook shows a result.
    svg: str = importlib.import_module("tallymark.charts.pictures").small_picture(result)
    return svg
