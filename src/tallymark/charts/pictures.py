"""The picture of a result: charts declare which result types they draw; notebooks and reports look them up."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeVar

from tallymark import charts
from tallymark.charts.notebook import with_titles
from tallymark.charts.theme import Chart
from tallymark.errors import InputError

Draw = TypeVar("Draw", bound=Callable[..., Any])

_PICTURES: dict[str, Callable[[Any], Chart]] = {}


def picture_of(*types: str) -> Callable[[Draw], Draw]:
    """Declare a chart to be the picture of results of these types.

    Types are named, not imported, so that looking for the picture of one result does not load the code of all others.
    """

    def declare(draw: Draw) -> Draw:
        _PICTURES.update(dict.fromkeys(types, draw))
        return draw

    return declare


def pictured_types() -> list[str]:
    """Names of the result types that have a picture."""
    _chart_of(object)
    return sorted(_PICTURES)


def _chart_of(kind: type) -> Callable[[Any], Chart] | None:
    """The chart declared for a type or the nearest of its bases; modules are loaded until one declares it."""
    names = [base.__name__ for base in kind.__mro__]
    for module in charts.MODULES:
        if any(name in _PICTURES for name in names):
            break
        importlib.import_module(f"tallymark.charts.{module}")
    return next((_PICTURES[name] for name in names if name in _PICTURES), None)


def picture(result: object) -> Chart | None:
    """The chart of a result; None where its type has none or nothing in it can be drawn."""
    draw = _chart_of(type(result))
    try:
        return None if draw is None else draw(result)
    except InputError:
        return None


#: Size of a picture beside a table.
_WIDTH, _HEIGHT = 260, 200


def small_picture(result: object) -> str:
    """The chart of a result as SVG, small enough to stand beside its table; empty where there is none."""
    chart = picture(result)
    if chart is None:
        return ""
    specification = chart.to_dict()
    if "height" in specification:
        specification |= {"width": _WIDTH, "height": min(specification["height"], _HEIGHT)}
    import vl_convert

    return with_titles(vl_convert.vegalite_to_svg(specification), specification.get("description", ""))
