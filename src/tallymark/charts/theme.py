"""The theme of charts: colour-blind safe palettes, light and dark, legible in print; titles and descriptions."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tallymark._text import shortened, visible
from tallymark.charts.notebook import offline
from tallymark.errors import InputError
from tallymark.registry import choose

if TYPE_CHECKING:
    from altair import TopLevelMixin

    Chart = TopLevelMixin
else:
    Chart = Any


class Palette(NamedTuple):
    """Colours of a theme: background, text, secondary text, grid, one for each model, and the two classes."""

    paper: str
    ink: str
    faint: str
    grid: str
    models: tuple[str, ...]
    negative: str
    positive: str


#: Colours that differ under each kind of colour blindness and have the contrast of text on their background (tested).
PALETTES = {
    "light": Palette(
        "#ffffff", "#1b1f24", "#57606a", "#dfe3e8",
        ("#0072b2", "#b85000", "#264e1f", "#9200ff", "#de1749", "#8a587b", "#0c39ab",
         "#4a025f", "#8055e8", "#6b1955"), "#0072b2", "#b85000",
    ),
    "dark": Palette(
        "#15181c", "#e6e8eb", "#a5adb6", "#343a41",
        ("#56b4e9", "#ff9d5c", "#39e9d4", "#9386ff", "#ff6d9b", "#9f9c6a", "#8df63e",
         "#ba60a7", "#dc540b", "#f7d5a6"), "#56b4e9", "#ff9d5c",
    ),
}  # fmt: skip

#: Dashes, which distinguish models in grey prints.
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [1, 3], [10, 4])

#: Vega's names of symbols; the report's page uses the same ones in the same order.
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")

WIDTH, HEIGHT = 340, 300


def altair() -> Any:
    """The module ``altair``, or an error that says what to install."""
    try:
        import altair as alt
    except ImportError:
        raise InputError("Charts need Altair; install it with: pip install 'tallymark[report]'.") from None
    return alt


def palette(theme: str) -> Palette:
    """The colours of a theme."""
    chosen: Palette = choose("theme", theme, PALETTES)
    return chosen


def by_model(
    names: Sequence[str], theme: str, title: str | None = None, *, legend: bool = True, shapes: bool = False
) -> dict[str, Any]:
    """Colour and dash of each model, the same in every chart that lists the models in the same order.

    The legend shows the dashes; with `shapes` the symbols of :func:`shape_of`, which would hide them.
    """
    alt = altair()
    shown = None
    if legend and len(names) > 1:
        columns = 2 if max(map(len, names)) < 22 else 1
        symbols = {"symbolStrokeWidth": 0} if shapes else {"symbolType": "stroke", "symbolSize": 300}
        shown = alt.Legend(title=title, orient="bottom", columns=columns, labelLimit=0, symbolOpacity=1, **symbols)
    available = palette(theme).models
    colours = [available[i % len(available)] for i in range(len(names))]
    # Dashes shift by one each time that the colours repeat.
    dashes = [DASHES[(i + i // len(available)) % len(DASHES)] for i in range(len(names))]
    dash = alt.Scale(domain=list(names), range=dashes)
    return {
        "color": alt.Color("model:N", scale=alt.Scale(domain=list(names), range=colours), legend=shown),
        "strokeDash": alt.StrokeDash("model:N", scale=dash, legend=None if shapes else shown),
    }


def shape_of(names: Sequence[str]) -> Any:
    """The symbol of each model, so that points are not distinguished by colour alone."""
    alt = altair()
    scale = alt.Scale(domain=list(names), range=[symbol(i) for i in range(len(names))])
    return alt.Shape("model:N", scale=scale, legend=None)


def symbol(place: int) -> str:
    """The symbol of the model at a place in the list of models."""
    return SHAPES[place % len(SHAPES)]


def rows(values: Iterable[Any]) -> Any:
    """Rows as inline data, without a dataframe library."""
    alt = altair()
    # Altair would validate every value of every row, which takes longer than rendering.
    with alt.utils.schemapi.debug_mode(False):
        return alt.Data(values=list(values))


def titled(title: str, name: str | None) -> str:
    """A title with the model's name, where it has one."""
    return title if name in {None, "model"} else f"{title}: {name}"


def is_kind(data: object, kinds: type | str | tuple[type | str, ...]) -> bool:
    """Whether data are of one of these types; a name stands for a type of ours, which is then not imported."""
    listed = kinds if isinstance(kinds, tuple) else (kinds,)
    names = {kind.__name__ for kind in type(data).__mro__ if kind.__module__.startswith("tallymark.")}
    return any(kind in names if isinstance(kind, str) else isinstance(data, kind) for kind in listed)


def require_kind(data: object, kinds: type | str | tuple[type | str, ...], made_by: str) -> None:
    """Refuse data of any other type than those that a chart draws."""
    if not is_kind(data, kinds):
        raise InputError(f"Got a {type(data).__name__} to draw, expected what {made_by} gives.")


def finished(
    chart: Any,
    title: str,
    theme: str,
    *,
    says: str = "",
    under: str = "",
    width: int | str = WIDTH,
    height: int = HEIGHT,
) -> Chart:
    """A chart with title, size and the theme's colours.

    `under` is written below the title; `says` describes the chart's numbers to readers who cannot see it.
    """
    alt = altair()
    colours = palette(theme)
    spell_out(chart)
    text = {"labelColor": colours.ink, "titleColor": colours.ink, "labelFontSize": 11, "titleFontSize": 12}
    axis = text | {
        "gridColor": colours.grid,
        "domainColor": colours.faint,
        "tickColor": colours.faint,
        "tickCount": 5,
        "labelOverlap": "greedy",
        "labelSeparation": 5,
        "titleFontWeight": "normal",
        "labelLimit": 0,
    }
    themed: Chart = offline(
        chart.properties(
            title=alt.Title(
                shortened(visible(title), _LONGEST + 24),
                anchor="start",
                limit=0,
                **({"subtitle": shortened(visible(under), _LONGEST + 24)} if under else {}),
            ),
            description=visible(f"{title}. {says}".strip()),
            width=width,
            height=height,
        ).configure(
            background=colours.paper,
            font="system-ui, sans-serif",
            axis=axis,
            legend=text,
            title={"color": colours.ink, "subtitleColor": colours.ink, "fontSize": 14, "fontWeight": 600, "offset": 8},
            view={"stroke": None},
            header={"labelColor": colours.ink, "titleColor": colours.ink, "labelFontSize": 12},
        )
    )
    return themed


def finished_panels(chart: Any, title: str, theme: str, *, says: str = "", under: str = "") -> Chart:
    """Panels beside or below each other with the theme's title and colours; each keeps its size."""
    themed: Any = finished(altair().layer(), title, theme, says=says, under=under)
    spell_out(chart)
    chart = chart.properties(title=themed.title, description=themed.description)
    chart.config = themed.config
    shown: Chart = offline(chart)
    return shown


def nothing_to_draw(title: str, why: str, theme: str) -> Chart:
    """An empty chart with the reason why nothing is drawn."""
    alt = altair()
    words = (
        alt.Chart(rows([{"why": textwrap.wrap(visible(why), 44)}]))
        .mark_text(color=palette(theme).ink, fontSize=12, lineHeight=17)
        .encode(text="why:N", x=alt.value(WIDTH / 2), y=alt.value(40))
    )
    return finished(words, title, theme, says=why, height=110)


#: Characters of a name that a chart has room for.
_LONGEST = 48


def spell_out(chart: Any) -> None:
    """Escape all texts of a chart and shorten its names, in place: names of models and labels are users' data.

    The rendering library would cut a name between the halves of an emoji. Names that become equal are numbered.
    """
    _Names().spell_out(chart)


class _Names:
    """The names of one chart as they are written."""

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
