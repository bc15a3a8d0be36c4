"""``tm.report``: one self-contained HTML file that opens without internet."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any
from warnings import warn

from tallymark import __version__
from tallymark._display import plain
from tallymark._write import replacing, require_writable
from tallymark.charts.drawing import Progress, drawn
from tallymark.charts.theme import PALETTES
from tallymark.decide.advice import Advice
from tallymark.errors import InputError, PictureWarning, shown
from tallymark.inference.interval import Sampling
from tallymark.measures import Evaluation
from tallymark.notes import Note
from tallymark.quantify.estimation.mixture_test import MixtureFit, MixtureFits
from tallymark.quantify.estimation.prevalence import Prevalence, Prevalences
from tallymark.quantify.estimation.sensitivity import Sensitivity
from tallymark.reporting.content import Content
from tallymark.reporting.contents import ReportRequest, content_of
from tallymark.reporting.explorer import explored, formulas, glossary, parameters


def report(
    data: Any, path: str | PathLike[str], *, threshold: float | str | None = None, level: float = 0.95, title: str | None = None,
    fit: MixtureFit | None = None, expectation: Evaluation | None = None, warnings: tuple[Note, ...] = (),
    growth: str | None = None, fits: MixtureFits | None = None, unseen: Sensitivity | None = None,
    known: tuple[float, float] | None = None, audit: Prevalence | Prevalences | None = None, advice: Advice | None = None, sampling: Sampling = "plain", progress: Progress | None = None,
) -> Path:  # fmt: skip
    """Write a report about models, a comparison, or a count: one HTML file, nothing else needed.

    `data` is a labelled tally, several by name, or a panel (models); a confusion or scores of K classes; a :class:`Comparison`; a prevalence, or several by
    method (a count, with its `fit` and `expectation` where there are; `growth` is the key along which it is followed, `fits`
    the fit by group, `unseen` its sensitivity, `known` the labelled rows and positives of the same population, `audit` what they say of all of it). With `advice` (:func:`tallymark.advise`) the
    metrics it recommends come first. `threshold` is a number or a policy, `sampling` as for :func:`tallymark.evaluate`; `progress` is called with the percentage of the pictures
    that are drawn.

    >>> import tallymark as tm, tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "report.html"
    >>> t = tm.tally([0, 1] * 30, [i / 60 for i in range(60)])
    >>> tm.report(t, path).name
    'report.html'
    >>> folder.cleanup()
    """
    request = ReportRequest(
        title=title, threshold=threshold, level=level, sampling=sampling, fit=fit, expectation=expectation, warnings=warnings,
        growth=growth, fits=fits, unseen=unseen, known=known, audit=audit, advice=advice,
    )  # fmt: skip
    return write(content_of(data, request), path, progress)


def write(content: Content, path: str | PathLike[str], progress: Progress | None = None) -> Path:
    """Write a page; all of it or nothing. `progress` is called with the percentage of the pictures that are drawn."""
    with replacing(path, over=_PAGE) as temporary:
        # A lone surrogate, which no file can hold, is spelled out.
        temporary.write_text(page(content, progress), encoding="utf-8", errors="backslashreplace")
    return Path(path)


#: What a page begins with; a report is written over nothing else.
_PAGE = (b"<!doctype html",)


def require_place(path: str | PathLike[str], inputs: Iterable[str]) -> None:
    """Refuse a place for a report before any work is done: one of the inputs, a device, a file that is no report."""
    require_writable(path, inputs=inputs, over=_PAGE)


def page(content: Content, progress: Progress | None = None) -> str:
    """The page as text."""
    try:
        import vl_convert  # noqa: F401 - asked for here, used where pictures are drawn
        from jinja2 import Environment
    except ImportError:
        raise InputError(
            "Reports need Jinja2 and Altair; install them with: pip install 'tallymark[report]'."
        ) from None
    here = files("tallymark.reporting")
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    charts = [chart for section in content.sections for chart in section.pictures]
    pictures = _drawn_all(charts, progress) if charts else {}
    environment.filters |= {"drawn": lambda chart: pictures[id(chart)], "js": _javascript}
    template = environment.from_string((here / "page.html").read_text(encoding="utf-8"))
    data = {
        "explorer": explored(content.tallies, content.thresholds) if content.thresholds else None,
        "glossary": glossary(),
        "parameters": list(parameters()),
        "prevalence": content.prevalence,
    }
    return template.render(
        content=content,
        version=__version__,
        parameters=parameters() | dict(content.parameters),
        css=_css((here / "page.css").read_text(encoding="utf-8")),
        data=_embedded(data),
        script=f"{formulas()}\n{(here / 'page.js').read_text(encoding='utf-8')}",
    )


def _embedded(data: Any) -> str:
    """JSON that cannot end the script it stands in."""
    text = json.dumps(plain(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for mark, code in (
        ("<", "\\u003c"),
        (">", "\\u003e"),
        ("&", "\\u0026"),
        ("\u2028", "\\u2028"),
        ("\u2029", "\\u2029"),
    ):
        text = text.replace(mark, code)
    return text


#: Names of a palette's colours in the page's style.
_NAMES = ("paper", "ink", "faint", "grid")


def _css(text: str) -> str:
    """The page's style with the colours of both themes."""

    def colours(theme: str) -> str:
        p = PALETTES[theme]
        named = {name: getattr(p, name) for name in _NAMES} | {f"m{i}": c for i, c in enumerate(p.models)}
        return " ".join(f"--{name}: {colour};" for name, colour in named.items())

    dark = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {colours('dark')} }} }}"
    return f":root {{ {colours('light')} }}\n{dark}\n{text}"


def _javascript(value: Any) -> str:
    """A number as JavaScript reads it."""
    return str(value).replace("inf", "Infinity") if isinstance(value, float) else str(value)


def _drawn_all(charts: Sequence[Any], progress: Progress | None) -> dict[int, str]:
    """The SVG of each chart by its identity, or a sentence in its place."""
    titles = [chart.title if isinstance(chart.title, str) else str(chart.title.text) for chart in charts]
    pictures = drawn([chart.to_dict(validate=False) for chart in charts], progress)
    missing = [title for title, svg in zip(titles, pictures, strict=True) if svg is None]
    if missing:
        warn(
            PictureWarning(f"{len(missing)} of {len(charts)} pictures could not be drawn: {shown(missing)}."),
            stacklevel=3,
        )
    return {
        id(chart): _undrawn(title) if svg is None else _on_the_page(svg, title)
        for chart, title, svg in zip(charts, titles, pictures, strict=True)
    }


def _undrawn(title: str) -> str:
    return f"<p>The picture “{html.escape(title)}” could not be drawn; the tables have its numbers.</p>"


def _on_the_page(svg: str, title: str) -> str:
    """An SVG whose colours are the page's, so that it turns dark with it."""
    light = PALETTES["light"]
    named = {getattr(light, name): f"var(--{name})" for name in _NAMES} | {
        c: f"var(--m{i})" for i, c in enumerate(light.models)
    }
    for colour, name in named.items():
        svg = re.sub(f'(fill|stroke)="{colour}"', rf'\1="{name}"', svg, flags=re.IGNORECASE)
    # The size goes into the style, so that a picture shrinks with the page.
    attributes = f'role="img" aria-label="{html.escape(title)}"'
    sized = r'<svg \1style="max-width: \2px; width: 100%; height: auto"'
    return re.sub(r'<svg ([^>]*?)width="([\d.]+)" height="[\d.]+"', sized, svg, count=1).replace(
        "<svg ", f"<svg {attributes} ", 1
    )
