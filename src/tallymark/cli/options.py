"""Options that several commands share, each declared once, and the groups they are listed in."""

from __future__ import annotations

from dataclasses import dataclass, field, make_dataclass
from typing import Annotated, Any, ClassVar, Literal

import typer

from tallymark._check import TypedLabel
from tallymark.errors import InputError
from tallymark.metrics.parameters import adjustable
from tallymark.registry import PARAMETERS
from tallymark.sources.data_file import data_file as described
from tallymark.sources.formats import stated_of

#: What a column holds.
Kind = Literal["text", "class", "number", "count"]

FILE_HELP = "CSV, Parquet, JSON, Excel, Stata, SPSS or SAS file, or a pattern; one row per object."


def argument(metavar: str, help_text: str) -> Any:
    """A positional argument."""
    return typer.Argument(metavar=metavar, help=help_text, show_default=False)


def data_file(metavar: str, help_text: str) -> Any:
    """A positional argument that names a file of rows; the command then has the options of :class:`FileFormat`."""
    option = argument(metavar, help_text)
    option.reads_rows = True
    return option


def column(help_text: str, holds: Kind = "text") -> Any:
    """An option that names a column, and what the column holds."""
    option: Any = typer.Option(metavar="COLUMN", help=help_text)
    option.holds = holds
    return option


def columns(help_text: str, holds: Kind = "text") -> Any:
    """An option that names several columns, and what they hold."""
    option = names("COLUMN", help_text)
    option.holds = holds
    return option


def text(metavar: str, help_text: str) -> Any:
    """An option that takes a text or a number."""
    return typer.Option(metavar=metavar, help=help_text)


def number(metavar: str, help_text: str, *, least: float | None = None) -> Any:
    """An option that takes a number, of at least `least`."""
    return typer.Option(metavar=metavar, help=help_text, min=least)


def flag(name: str, help_text: str) -> Any:
    """An option without a value."""
    return typer.Option(f"--{name}", help=help_text)


def number_or_text(given: str) -> float | str:
    """A number where the text is one, else the text."""
    try:
        return float(given)
    except ValueError:
        return given


def names(metavar: str, help_text: str) -> Any:
    """An option that takes names, separated by commas or given one by one."""
    return typer.Option(metavar=metavar, help=f"{help_text} (comma or repeat).", callback=_split)


def _split(parts: list[str] | None) -> list[str] | None:
    """Names that were given one by one or with commas between; None where none were."""
    if not parts:
        return None
    split = [[name.strip() for name in part.split(",") if name.strip()] for part in parts]
    if [] in split:
        given = parts[split.index([])]
        raise InputError(f"An option that takes names was given {given!r}; name something, or leave the option out.")
    return [name for names in split for name in names]


def _typed(value: str | None) -> str | None:
    return None if value is None else TypedLabel(value)


File = Annotated[str, data_file("FILE", FILE_HELP)]
Label = Annotated[str, column("Column with the true class.", "class")]
Score = Annotated[str, column("Score column.", "number")]
Scores = Annotated[list[str] | None, columns("Score columns, one per model", "number")]
Threshold = Annotated[
    str | None, text("THRESHOLD", "Number, or policy such as youden, f1, tpr:0.9; see `tallymark policies`.")
]
Order = Annotated[
    list[str] | None, names("PERIOD", "The periods in their order in time, where it cannot be read from them")
]
PosLabel = Annotated[
    str | None,
    typer.Option(metavar="LABEL", callback=_typed, help="The positive label, where it is not obvious."),
]
Called = Annotated[str | None, text("NAME", "What positive rows are called, in the plural: platforms.")]
Where = Annotated[str | None, text("CONDITION", "Only rows that satisfy this SQL condition.")]
DropMissing = Annotated[bool, flag("drop-missing", "Leave out rows with a missing value.")]
Cluster = Annotated[str | None, column("Column that says which rows belong together, such as the product.")]
Weight = Annotated[str | None, column("Column with survey or expenditure weights.", "number")]
Count = Annotated[str | None, column("Column with the number of times a row occurs.", "count")]
Level = Annotated[float, number("SHARE", "Confidence level of the intervals.")]
LevelOrNone = Annotated[float, number("SHARE", "Confidence level of the intervals; 0 leaves them out.")]
Seed = Annotated[int, number("INTEGER", "Seed of everything that is drawn at random.", least=0)]
Jobs = Annotated[int | None, number("INTEGER", "Threads to use; left out, those of the machine.", least=1)]
Sampling = Annotated[
    str, text("DESIGN", "plain (all rows drawn at random) or stratified (class sizes fixed by design).")
]


@dataclass(frozen=True)
class OptionGroup:
    """Options that belong together, listed under a heading of the help."""

    heading: ClassVar[str] = "Options"


@dataclass(frozen=True)
class FileFormat(OptionGroup):
    """What files do not say of themselves; the options of every command that reads rows."""

    heading: ClassVar[str] = "Files, where it is not recognised"

    encoding: Annotated[str | None, text("NAME", "Encoding of a CSV, such as cp1250 or utf-16.")] = None
    decimal: Annotated[str | None, text("MARK", "comma or point, in numbers of a CSV.")] = None
    separator: Annotated[str | None, text("MARK", "Between the fields of a CSV: a character, or tab.")] = None
    sheet: Annotated[str | None, text("NAME", "Sheet of a spreadsheet, by name or number.")] = None

    def of_files(self, *paths: str) -> list[str]:
        """The paths with the options that concern each; refuses an option that concerns none."""
        given = {name: value for name, value in vars(self).items() if value is not None}
        used = {name for path in paths for name in stated_of(path)}
        if unused := [f"--{name}" for name in given if name not in used]:
            raise InputError(f"{', '.join(unused)} says nothing of {', '.join(paths)}.")
        of_each = [{name: value for name, value in given.items() if name in stated_of(path)} for path in paths]
        return [described(path, **own) if own else path for path, own in zip(paths, of_each, strict=True)]


@dataclass(frozen=True)
class RowOptions(OptionGroup):
    """Which rows are read."""

    heading: ClassVar[str] = "Rows"

    pos_label: PosLabel = None
    where: Where = None
    drop_missing: DropMissing = False


@dataclass(frozen=True)
class WeightedRowOptions(RowOptions):
    """Which rows are read, and what each counts."""

    weight: Weight = None
    count: Count = None


@dataclass(frozen=True)
class ClusteredRowOptions(WeightedRowOptions):
    """Which rows are read, what each counts, and which belong together."""

    cluster: Cluster = None


@dataclass(frozen=True)
class EngineOptions(OptionGroup):
    """What the engine that reads files may use."""

    heading: ClassVar[str] = "Engine"

    memory_limit: Annotated[str | None, text("SIZE", "Memory the engine may use, e.g. 1GB.")] = None
    threads: Annotated[int | None, number("INTEGER", "Threads the engine may use.", least=1)] = None


def _given(parameters: OptionGroup) -> dict[str, float]:
    """The parameters that were given, by name."""
    return {name: value for name, value in vars(parameters).items() if value is not None}


#: Parameters of metrics, an option for each that a user can set; None for one that was not given.
MetricParameters: Any = make_dataclass(
    "MetricParameters",
    [
        (name, Annotated[float | None, number("NUMBER", PARAMETERS[name].help)], field(default=None))
        for name in adjustable()
    ],
    bases=(OptionGroup,),
    namespace={"heading": "Parameters of metrics", "given": _given},
    frozen=True,
)
