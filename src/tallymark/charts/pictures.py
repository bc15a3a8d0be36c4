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
    for module in charts.MODULES:
        importlib.import_module(f"tallymark.charts.{module}")
    return sorted(_PICTURES)


def picture(result: object) -> Chart | None:
    """The chart of a result; None where its type has none or nothing in it can be drawn."""
    pictured_types()
    draw = next((_PICTURES[kind.__name__] for kind in type(result).__mro__ if kind.__name__ in _PICTURES), None)
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
