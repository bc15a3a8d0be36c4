"""Exhibits: functions that draw a table or figure again, what they answer, and the folder that keeps their answers."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import tallymark as tm
from tallymark.charts.rendering import drawn


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A published statement or number, ours beside it, and whether they agree."""

    what: str
    printed: str
    ours: str
    agrees: bool
    #: Why they differ, where they do.
    why: str = ""
    #: It must agree in every run: it follows from a formula and depends on no sample.
    exact: bool = False


def near(what: str, printed: float, ours: float, tolerance: float, *, why: str = "", exact: bool = False) -> Fact:
    """A number that agrees within a tolerance, half a unit of the last printed digit or the error of a simulation."""
    return Fact(
        what=what,
        printed=f"{printed:g}",
        ours=f"{ours:.5g}",
        agrees=bool(abs(printed - ours) <= tolerance * (1 + 1e-9)),
        why=why,
        exact=exact,
    )


@dataclass(frozen=True)
class Table:
    """Rows of text under heads."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Figure:
    """A picture: a chart while it is made, SVG once it is drawn."""

    caption: str
    chart: Any


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What an exhibit shows."""

    facts: Sequence[Fact] = ()
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()
    remark: str = ""


@dataclass(frozen=True)
class Effort:
    """How much is computed: everything, or as little as shows that each exhibit works."""

    quick: bool
    folder: Path

    def of(self, whole: int, quick: int) -> int:
        """A number of draws, bags or data sets."""
        return quick if self.quick else whole


@dataclass(frozen=True)
class Exhibit:
    """A table or figure of a document, and the function that makes it."""

    document: str
    name: str
    title: str
    make: Callable[[Effort], Answer]

    @property
    def key(self) -> str:
        """A file name."""
        return "".join(letter if letter.isalnum() else "_" for letter in f"{self.document} {self.name}".lower())


#: The exhibits of every document, in the order of its pages.
EXHIBITS: list[Exhibit] = []


def exhibit(document: str, name: str, title: str) -> Callable[[Callable[[Effort], Answer]], Callable[[Effort], Answer]]:
    """Declare what a function draws again."""

    def declare(make: Callable[[Effort], Answer]) -> Callable[[Effort], Answer]:
        EXHIBITS.append(Exhibit(document, name, title, make))
        return make

    return declare


@dataclass(frozen=True)
class Finished:
    """An answer as it is stored: its pictures are SVG."""

    seconds: float
    facts: Sequence[Fact] = ()
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()
    remark: str = ""

    @classmethod
    def from_json(cls, text: str) -> Finished:
        """Read from what :meth:`to_json` wrote."""
        values = json.loads(text)
        kinds = {"facts": Fact, "tables": Table, "figures": Figure}
        parts = {name: [kind(**one) for one in values.pop(name)] for name, kind in kinds.items()}
        return cls(**values, **parts)

    def to_json(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)


@dataclass(frozen=True)
class Store:
    """A folder with the answer of each exhibit, so that a run that is stopped goes on where it was."""

    folder: Path
    effort: Effort = field(repr=False)

    def path(self, one: Exhibit) -> Path:
        """The file of an answer: another version, effort or source gives another file."""
        source = Path(inspect.getfile(one.make)).read_bytes()
        told = f"{tm.__version__} {self.effort.quick}".encode() + source
        return self.folder / f"{one.key}.{hashlib.sha256(told).hexdigest()[:12]}.json"

    def answer(self, one: Exhibit) -> Finished:
        """The stored answer, or a new one that is then stored."""
        path = self.path(one)
        if path.exists():
            return Finished.from_json(path.read_text(encoding="utf-8"))
        started = time.perf_counter()
        made = one.make(self.effort)
        finished = Finished(
            time.perf_counter() - started, made.facts, made.tables, _as_svg(one, made.figures), made.remark
        )
        text = finished.to_json()
        self.folder.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}")
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
        return Finished.from_json(text)


def _as_svg(one: Exhibit, figures: Sequence[Figure]) -> list[Figure]:
    pictures = drawn([figure.chart.to_dict() for figure in figures])
    lost = [figure.caption for figure, picture in zip(figures, pictures, strict=True) if picture is None]
    if lost:
        raise RuntimeError(f"{one.document}, {one.name}: could not be drawn: {', '.join(lost)}")
    return [Figure(figure.caption, picture) for figure, picture in zip(figures, pictures, strict=True)]
