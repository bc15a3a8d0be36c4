"""Charts in a notebook: rendered as SVG, so that nothing is fetched when they are displayed."""

from __future__ import annotations

import html
import re
from functools import cache
from typing import Any


class _Drawn:
    """Mixin of charts that render as SVG with tooltips.

    Altair would send a script that fetches its rendering library, which fails offline and in an exported page.
    """

    def _repr_mimebundle_(self, *_: Any, **__: Any) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/plain": repr(self)}

    def _repr_html_(self) -> str:
        import vl_convert

        return with_titles(vl_convert.vegalite_to_svg(self.to_dict()), _description(self))  # type: ignore[attr-defined]


@cache
def _class_of(kind: type) -> type:
    return type(kind.__name__, (_Drawn, kind), {"__module__": kind.__module__, "__doc__": kind.__doc__})


def offline(chart: Any) -> Any:
    """The same chart, rendered in notebooks without the internet."""
    if not isinstance(chart, _Drawn):
        kind: Any = type(chart)
        # Altair would take an attribute that is set on a chart for a part of its specification.
        object.__setattr__(chart, "__class__", _class_of(kind))
    return chart


def _description(chart: Any) -> str:
    return chart.description if isinstance(chart.description, str) else ""


def with_titles(svg: str, description: str) -> str:
    """An SVG whose marks have their numbers as titles, which browsers show as tooltips."""
    svg = re.sub(
        r'<(path|rect|circle|text|line) aria-label="([^"]*)"([^>]*?)/>',
        lambda m: f"<{m[1]}{m[3]}><title>{_short(m[2])}</title></{m[1]}>",
        svg,
    )
    return svg.replace("<svg ", f'<svg role="img" aria-label="{html.escape(description)}" ', 1)


def _short(text: str) -> str:
    """Numbers of a tooltip to four digits."""
    return re.sub(r"\d+\.\d{5,}", lambda m: f"{float(m[0]):.4g}", text)
