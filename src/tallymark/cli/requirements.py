"""What a pipeline requires of an answer: ``--require auroc.low>=0.9``."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

import typer

from tallymark._numbers import number
from tallymark._text import visible
from tallymark.cli.output import Output
from tallymark.errors import InputError

#: An option that states a requirement.
Require = Annotated[
    list[str] | None,
    typer.Option(
        metavar="METRIC>=NUMBER",
        help="End with status 1 unless this holds everywhere: >=, <=, > or < of a metric, of its lower limit (.low) or "
        "upper limit (.high); repeat for more.",
    ),
]

_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "≥": operator.ge,
    "<=": operator.le,
    "≤": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_WRITTEN = re.compile(r"\s*([A-Za-z_0-9@^]+)(?:\.(value|low|high))?\s*(>=|<=|≥|≤|>|<)\s*([-+0-9.eE]+)\s*")


class Estimate(Protocol):
    """A value with limits."""

    @property
    def value(self) -> float:
        """The value."""

    @property
    def low(self) -> float | None:
        """The lower limit."""

    @property
    def high(self) -> float | None:
        """The upper limit."""


@dataclass(frozen=True)
class Requirement:
    """A metric, its value or one of its limits, and what that is compared with."""

    metric: str
    part: str
    sign: str
    bound: float

    @classmethod
    def of(cls, text: str) -> Requirement:
        """As it is typed."""
        match = _WRITTEN.fullmatch(text)
        try:
            if match is None:
                raise ValueError
            return cls(match[1], match[2] or "value", match[3], float(match[4]))
        except ValueError:
            raise InputError(
                f"--require {text!r}: write METRIC>=NUMBER (or <=, >, <), e.g. 'auroc>=0.9' or 'recall.low>=0.9'."
            ) from None

    @property
    def quantity(self) -> str:
        """What is compared."""
        return self.metric if self.part == "value" else f"{self.metric}.{self.part}"

    def __str__(self) -> str:
        return f"{self.quantity} {self.sign} {self.bound:g}"


@dataclass(frozen=True)
class Check:
    """Whether a requirement holds for a model, a group or a system."""

    of: str
    required: Requirement
    value: float
    met: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain values; also a line of the table."""
        return {"of": self.of, "required": str(self.required), "value": self.value, "met": self.met}


def checks_of(required: Sequence[Requirement], estimates: Iterable[tuple[str, Mapping[str, Estimate]]]) -> list[Check]:
    """Every requirement wherever its metric was estimated; what has no value, or no limits, does not meet any."""
    checks, listed = [], list(estimates)
    names = list(dict.fromkeys(name for _, by_name in listed for name in by_name))
    for one in required:
        for of, by_name in listed:
            if one.metric not in by_name:
                continue
            part = getattr(by_name[one.metric], one.part)
            value = math.nan if part is None else float(part)
            met = not math.isnan(value) and _COMPARISONS[one.sign](value, one.bound)
            checks.append(Check(of, one, value, met))
        if all(check.required is not one for check in checks):
            raise InputError(f"--require {one}: there is no {one.metric} here, only {', '.join(names)}.")
    return checks


def as_json(checks: Sequence[Check]) -> dict[str, Any]:
    """The part of an answer that says what was required; nothing where nothing was."""
    return {"requirements": [check.to_dict() for check in checks]} if checks else {}


def print_checks(checks: Sequence[Check], output: Output) -> None:
    """A table of what was required."""
    if checks:
        rows = [check.to_dict() | {"met": "yes" if check.met else "no"} for check in checks]
        output.rows(rows, "Required")


def end_unless_met(checks: Sequence[Check]) -> None:
    """End the command with status 1 where a requirement does not hold."""
    failed = [check for check in checks if not check.met]
    for check in failed:
        line = f"{check.of}: {check.required.quantity} is {number(check.value)}, required {check.required}"
        typer.echo(f"tallymark: {visible(line)}", err=True)
    if failed:
        raise typer.Exit(1)
