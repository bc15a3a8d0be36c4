"""Writing of reports: one self-contained HTML file, from the content of a page and a Jinja template."""

from __future__ import annotations

import html
import json
import math
import os
import re
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from importlib.resources import files as package_files
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import warn

from tallymark import __version__, _check
from tallymark._display import columns_of, plain
from tallymark._text import visible
from tallymark._write import replacing, require_writable
from tallymark.charts.rendering import Progress, drawn
from tallymark.charts.theme import PALETTES
from tallymark.errors import InputError, PictureWarning, shown
from tallymark.metrics.parameters import adjustable
from tallymark.notes import input_notes
from tallymark.reporting.builders import ReportRequest, content_of
from tallymark.reporting.explorer import explored, formulas, glossary, limits_note
from tallymark.reporting.page_model import Content, Remark
from tallymark.reporting.terms import explained_terms

if TYPE_CHECKING:
    from tallymark.inference.interval import Sampling
    from tallymark.prices.advice import Advice


def report(
    data: Any,
    path: str | PathLike[str],
    *,
    threshold: float | str | None = None,
    level: float = 0.95,
    prevalence: float | None = None,
    title: str | None = None,
    command: str | None = None,
    files: Sequence[str] = (),
    advice: Advice | None = None,
    sampling: Sampling = "plain",
    private: int | None = None,
    progress: Progress | None = None,
    **parameters: float,
) -> Path:
    """Write a report on data or on any result: one self-contained HTML file.

    Parameters
    ----------
    data
        A labelled tally, a panel (models on the same rows, which are then compared), tallies by group, a confusion,
        scores of K classes, or any result such as an evaluation, a comparison or a count; or several of one kind
        by name, which are not compared.
    path
        The file to write.
    threshold, level, prevalence, sampling
        As for :func:`tallymark.evaluate`.
    title
        Title of the page.
    command
        The command that is shown as the origin of the page.
    files
        Files of the data, whose size, date and hash are stated.
    advice
        Result of :func:`tallymark.advise`, whose metrics come first.
    private
        Scores are put into bins of at least this many rows of either class before anything is computed, so that no
        count on the page is smaller, and groups with fewer are left out. For a tally, a panel and tallies by group.
    progress
        Called with the percentage of charts that are drawn.
    **parameters
        Parameters of metrics (costs, beta), as for :func:`tallymark.evaluate`.

    Returns
    -------
    Path
        The file that was written.

    Examples
    --------
    >>> import tallymark as tm, tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "report.html"
    >>> t = tm.tally([0, 1] * 30, [i / 60 for i in range(60)])
    >>> tm.report(t, path).name
    'report.html'
    >>> tm.report(tm.evaluate(t), path).name
    'report.html'
    >>> folder.cleanup()
    """
    request = ReportRequest(
        title=title,
        threshold=threshold,
        level=level,
        prevalence=prevalence,
        parameters=parameters,
        sampling=sampling,
        advice=advice,
        private=private,
    )
    return write(content_of(data, request), path, progress, command=command, files=_check.listed(files))


def write(
    content: Content,
    path: str | PathLike[str],
    progress: Progress | None = None,
    *,
    command: str | None = None,
    files: Sequence[str] = (),
    seed: int | None = None,
) -> Path:
    """Write a page, all of it or nothing; `progress` is called with the percentage of charts that are drawn."""
    content = replace(content, warnings=[*map(Remark.of, input_notes()), *content.warnings])
    described = _described(files) if files else []
    with replacing(path, over=_PAGE) as temporary:
        # A lone surrogate cannot be encoded and is escaped.
        text = page(content, progress, command=command, files=described, seed=seed)
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace")
    return Path(path)


def _described(files: Sequence[str]) -> list[str]:
    from tallymark.reporting.data_files import described_files

    return described_files(files)


#: The first bytes of a page; a report overwrites no other file.
_PAGE = (b"<!doctype html",)


def require_place(path: str | PathLike[str], inputs: Iterable[str]) -> None:
    """Refuse a path for a report before any work is done: an input, a device, a file that is not a report."""
    require_writable(path, inputs=inputs, over=_PAGE)


#: The page's scripts, in the order they build on each other.
_SCRIPTS = ("page.js", "numbers.js", "plot.js", "tables.js", "pictures.js", "explorer.js", "start.js")


def page(
    content: Content,
    progress: Progress | None = None,
    *,
    command: str | None = None,
    files: Sequence[str] = (),
    seed: int | None = None,
) -> str:
    """The page as text."""
    try:
        import latex2mathml  # noqa: F401 - required here, used where formulas and charts are rendered
        import vl_convert  # noqa: F401
        from jinja2 import Environment
    except ImportError:
        raise InputError(
            "Reports need Jinja2, Altair and latex2mathml; install them with: pip install 'tallymark[report]'."
        ) from None
    folder = package_files("tallymark.reporting") / "page"
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, finalize=_harmless)
    charts = [chart for section in content.sections for chart in section.all_pictures]
    specifications = [chart.to_dict(validate=False) for chart in charts]
    explorable = content.tallies and all(content.evaluations[name].threshold is not None for name in content.tallies)
    with ThreadPoolExecutor(1) as beside:
        # Charts are rendered by another process while this one computes the sliders.
        drawing = beside.submit(drawn, specifications, progress)
        explorer = explored(content.tallies, content.evaluations, content.order) if explorable else None
        pictures = _placed(charts, drawing.result())
    places = {id(chart): i for i, chart in enumerate(charts)}
    environment.filters |= {
        "drawn": lambda chart: pictures[id(chart)],
        "place": lambda chart: places[id(chart)],
        "title_of": _title,
        "js": _javascript,
        "slug": _slug,
    }
    template = environment.from_string(_read(folder, "page.html"))
    data = {
        "explorer": explorer,
        "glossary": glossary(),
        "pictures": list(map(_data_of, specifications)),
    }
    sentences = list(content.verdict)
    stated = {} if explorer is None else next(iter(content.evaluations.values())).parameters
    return template.render(
        content=content,
        what=[*content.what, *([] if seed is None else [f"seed {seed}"]), f"Tallymark {__version__}", _today()],
        headline=content.headline or (sentences.pop(0) if sentences else ""),
        sentences=sentences,
        command=command,
        files=files,
        private=content.private,
        colours=len(PALETTES["light"].models),
        terms=explained_terms(content),
        explained=list({note.code: note for note in content.warnings if note.why}.values()),
        explorer=explorer,
        explorer_note="" if explorer is None else limits_note(content.evaluations),
        version=__version__,
        parameters=adjustable(),
        stated={name: value for name, value in stated.items() if name in adjustable()},
        css=_css(_read(folder, "page.css")),
        data=_embedded(data),
        script="\n".join([_read(folder, _SCRIPTS[0]), formulas(), *(_read(folder, name) for name in _SCRIPTS[1:])]),
    )


def _read(folder: Any, name: str) -> str:
    text: str = (folder / name).read_text(encoding="utf-8")
    return text


def _today() -> str:
    """Today, or the day that SOURCE_DATE_EPOCH states for reproducible builds."""
    stated = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(stated), UTC) if stated.isdigit() else datetime.now().astimezone()
    return f"{now.day} {now:%B %Y}"


def _harmless(value: Any) -> Any:
    """Users' text with control characters escaped, such as those that reverse the text around them."""
    return visible(value) if type(value) is str else value


def _title(chart: Any) -> str:
    return chart.title if isinstance(chart.title, str) else str(chart.title.text)


def _data_of(specification: Any) -> list[dict[str, list[Any]]]:
    """The inline data of a chart as tables of columns, each once, numbers to four digits."""
    tables: dict[str, dict[str, list[Any]]] = {}

    def collect(part: Any) -> None:
        if isinstance(part, dict):
            values = part.get("data", {}).get("values") if isinstance(part.get("data"), dict) else None
            if values:
                columns = {
                    str(name): [_four(row.get(name)) for row in values]
                    for name in columns_of(values)
                    if name not in _DRAWING
                }
                if columns:
                    tables.setdefault(json.dumps(plain(columns), sort_keys=True), columns)
            for item in part.values():
                collect(item)
        elif isinstance(part, list):
            for item in part:
                collect(item)

    collect(specification)
    return list(tables.values())


#: Columns that are not data: the order of a line's points, the reason why nothing is drawn.
_DRAWING = frozenset({"order", "why"})


def _slug(text: str) -> str:
    return re.sub(r"\W+", "-", text)


def _four(value: Any) -> Any:
    return float(f"{value:.4g}") if isinstance(value, float) and math.isfinite(value) else value


def _embedded(data: Any) -> str:
    """JSON for a script element, without characters that could end it."""
    text = json.dumps(plain(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate({ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"})


#: Names of a palette's colours in the page's style.
_NAMES = ("paper", "ink", "faint", "grid", "positive", "negative")

#: Further colours of the page: a raised panel, and false negatives.
_FURTHER = {"light": {"raised": "#f5f7f9", "missed": "#b9c0c7"}, "dark": {"raised": "#1d2126", "missed": "#59616b"}}


def _css(text: str) -> str:
    """The page's style with the colours of both themes."""

    def colours(theme: str) -> str:
        p = PALETTES[theme]
        named = (
            {name: getattr(p, name) for name in _NAMES} | {f"m{i}": c for i, c in enumerate(p.models)} | _FURTHER[theme]
        )
        return " ".join(f"--{name}: {colour};" for name, colour in named.items())

    dark = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {colours('dark')} }} }}"
    return f":root {{ {colours('light')} }}\n{dark}\n{text}"


def _javascript(value: Any) -> str:
    """A number as JavaScript reads it."""
    return str(value).replace("inf", "Infinity") if isinstance(value, float) else str(value)


def _placed(charts: Sequence[Any], pictures: Sequence[str | None]) -> dict[int, str]:
    """The SVG of each chart by its identity, or a sentence where it could not be drawn."""
    titles = list(map(_title, charts))
    missing = [title for title, svg in zip(titles, pictures, strict=True) if svg is None]
    if missing:
        warn(
            PictureWarning(f"{len(missing)} of {len(charts)} pictures could not be drawn: {shown(missing)}."),
            stacklevel=3,
        )
    return {
        id(chart): _undrawn(title) if svg is None else _on_the_page(svg, _description(chart) or title)
        for chart, title, svg in zip(charts, titles, pictures, strict=True)
    }


def _description(chart: Any) -> str:
    return chart.description if isinstance(chart.description, str) else ""


def _hundredth(digits: re.Match[str]) -> str:
    return f"{float(digits[0]):.2f}".rstrip("0").rstrip(".")


def _undrawn(title: str) -> str:
    return f"<p>The picture “{html.escape(title)}” could not be drawn; the tables have its numbers.</p>"


def _on_the_page(svg: str, title: str) -> str:
    """An SVG in the page's colours, so that it follows the page into dark mode."""
    light = PALETTES["light"]
    named = {c: f"var(--m{i})" for i, c in enumerate(light.models)}
    named |= {getattr(light, name): f"var(--{name})" for name in ("paper", "ink", "faint", "grid")}
    for colour, name in named.items():
        svg = re.sub(f'(fill|stroke)="{colour}"', rf'\1="{name}"', svg, flags=re.IGNORECASE)
    # Coordinates to a hundredth of a pixel.
    svg = re.sub(r' (?:d|transform)="[^"]*"', lambda part: re.sub(r"\d+\.\d{3,}", _hundredth, part[0]), svg)
    # Screen readers would announce unnamed containers.
    svg = re.sub(r' role="graphics-\w+" aria-roledescription="[^"]* mark container"', "", svg)
    # The size is set by style, so that a chart shrinks with the page.
    attributes = f'role="img" aria-label="{html.escape(title)}"'
    # Charts are made for notebooks; a page has more room.
    sized = r'<svg \1style="max-width: calc(1.3 * \2px); width: 100%; height: auto"'
    return re.sub(r'<svg ([^>]*?)width="([\d.]+)" height="[\d.]+"', sized, svg, count=1).replace(
        "<svg ", f"<svg {attributes} ", 1
    )
