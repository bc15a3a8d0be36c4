"""One look for every picture: colours that colour-blind people tell apart, light and dark, legible in print."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tallymark._text import shortened, visible
from tallymark.charts.notebook import offline
from tallymark.errors import InputError
from tallymark.registry import choose


class Palette(NamedTuple):
    """Colours of a theme: paper, ink, faint ink, lines behind the data, and one for each model."""

    paper: str
    ink: str
    faint: str
    grid: str
    models: tuple[str, ...]
    negative: str
    positive: str


#: Colours that stay apart for people who see no red, no green or no blue, each with the contrast that text needs on its
#: paper; a test simulates them.
PALETTES = {
    "light": Palette(
        "#ffffff", "#1b1f24", "#57606a", "#dfe3e8",
        ("#0072b2", "#b85000", "#264e1f", "#9200ff", "#de1749", "#8a587b", "#0c39ab"), "#0072b2", "#b85000",
    ),
    "dark": Palette(
        "#15181c", "#e6e8eb", "#a5adb6", "#343a41",
        ("#56b4e9", "#ff9d5c", "#39e9d4", "#9386ff", "#ff6d9b", "#9f9c6a", "#8df63e"), "#56b4e9", "#ff9d5c",
    ),
}  # fmt: skip

#: Shapes and dashes go along with colours, so that a print in grey is still read.
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [1, 3], [10, 4])

#: Vega's names of marks; the page draws the same ones in the same order.
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")

WIDTH, HEIGHT = 340, 300


def altair() -> Any:
    """The drawing library, or what to install."""
    try:
        import altair as alt
    except ImportError:
        raise InputError("Charts need Altair; install it with: pip install 'tallymark[report]'.") from None
    return alt


def palette(theme: str) -> Palette:
    """The colours of a theme."""
    found: Palette = choose("theme", theme, PALETTES)
    return found


def colours_of(theme: str) -> tuple[str, ...]:
    """One colour for each model, in turn."""
    return palette(theme).models


def by_model(names: Sequence[str], theme: str, title: str | None = None, *, legend: bool = True) -> dict[str, Any]:
    """Colour and dash of each model, the same in every picture that lists the models in the same order."""
    alt = altair()
    shown = (
        alt.Legend(
            title=title, orient="bottom", columns=2 if max(map(len, names)) < 22 else 1, labelLimit=0, symbolOpacity=1
        )
        if legend and len(names) > 1
        else None
    )
    colours = [colours_of(theme)[i % len(colours_of(theme))] for i in range(len(names))]
    # Where the colours come round again, the dashes have moved on.
    dashes = [DASHES[(i + i // len(colours_of(theme))) % len(DASHES)] for i in range(len(names))]
    return {
        "color": alt.Color("model:N", scale=alt.Scale(domain=list(names), range=colours), legend=shown),
        "strokeDash": alt.StrokeDash("model:N", scale=alt.Scale(domain=list(names), range=dashes), legend=shown),
    }


def shape_of(names: Sequence[str]) -> Any:
    """The mark of each model, for points: colour alone does not reach everyone."""
    alt = altair()
    shapes = [SHAPES[i % len(SHAPES)] for i in range(len(names))]
    return alt.Shape("model:N", scale=alt.Scale(domain=list(names), range=shapes), legend=None)


def rows(values: Iterable[Any]) -> Any:
    """Inline data: no dataframe library is needed."""
    alt = altair()
    # Altair would check every value of every row against its schema, which takes longer than drawing.
    with alt.utils.schemapi.debug_mode(False):
        return alt.Data(values=list(values))


def titled(title: str, name: str | None) -> str:
    """A title that names the model, where it has a name."""
    return title if name in {None, "model"} else f"{title}: {name}"


def require_kind(data: object, kinds: type | tuple[type, ...], made_by: str) -> None:
    """Refuse to draw what is not the result a picture is of."""
    if not isinstance(data, kinds):
        raise InputError(f"Got a {type(data).__name__} to draw, expected what {made_by} gives.")


def finished(
    chart: Any, title: str, theme: str, *, says: str = "", width: int | str = WIDTH, height: int = HEIGHT
) -> Any:
    """A picture with its title, size and the theme's colours; `says` are its numbers in words, for those who cannot see it."""
    alt = altair()
    colours = palette(theme)
    spell_out(chart)
    axis = {
        "labelColor": colours.ink, "titleColor": colours.ink, "gridColor": colours.grid, "domainColor": colours.faint,
        "tickColor": colours.faint, "tickCount": 5, "labelOverlap": "greedy", "labelSeparation": 5, "labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": "normal", "labelLimit": 0,
    }  # fmt: skip
    text = {"labelColor": colours.ink, "titleColor": colours.ink, "labelFontSize": 11, "titleFontSize": 12}
    return offline(
        chart.properties(
            title=alt.Title(shortened(visible(title), _LONGEST + 24), anchor="start", limit=0),
            description=visible(f"{title}. {says}".strip()),
            width=width,
            height=height,
        ).configure(
            background=colours.paper,
            font="system-ui, sans-serif",
            axis=axis,
            legend=text,
            title={"color": colours.ink, "fontSize": 14, "fontWeight": 600, "offset": 8},
            view={"stroke": None},
            header={"labelColor": colours.ink, "titleColor": colours.ink, "labelFontSize": 12},
        )
    )


def nothing_to_draw(title: str, why: str, theme: str) -> Any:
    """A frame that says why there is no picture."""
    alt = altair()
    words = (
        alt.Chart(rows([{"why": textwrap.wrap(visible(why), 44)}]))
        .mark_text(color=palette(theme).ink, fontSize=12, lineHeight=17)
        .encode(text="why:N", x=alt.value(WIDTH / 2), y=alt.value(40))
    )
    return finished(words, title, theme, says=why, height=110)


#: Characters of a name that a picture has room for.
_LONGEST = 48


def spell_out(chart: Any) -> None:
    """Make all texts of a chart harmless, and its names short, in place: names of models and labels are users' data.

    The drawing library would cut a name between the halves of an emoji. Names that become alike are numbered.
    """
    _Names().spell_out(chart)


class _Names:
    """What names of one chart are written as."""

    def __init__(self) -> None:
        self._written: dict[str, str] = {}

    def spell_out(self, value: Any, *, name: bool = False) -> Any:
        """A part of a chart with its texts replaced; `name` for data, which may be shortened."""
        if isinstance(value, str):
            return self._short(value) if name else visible(value)
        if isinstance(value, list):
            value[:] = [self.spell_out(item, name=not isinstance(item, altair().SchemaBase)) for item in value]
        elif isinstance(value, dict):
            for key, item in list(value.items()):
                value[key] = self.spell_out(item, name=name)
        elif isinstance(value, altair().SchemaBase):
            for key, item in value._kwds.items():  # noqa: SLF001 - Altair has no other way to all parts
                value._kwds[key] = self.spell_out(item)  # noqa: SLF001
        return value

    def _short(self, text: str) -> str:
        if text not in self._written:
            short = wanted = shortened(visible(text), _LONGEST)
            number = 1
            while short in self._written.values():
                number += 1
                short = f"{wanted} ({number})"
            self._written[text] = short
        return self._written[text]
