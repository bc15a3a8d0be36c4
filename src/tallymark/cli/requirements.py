"""What a pipeline requires of an evaluation: ``--require auroc>=0.9``."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import typer

from tallymark._numbers import number
from tallymark._text import visible
from tallymark.errors import InputError
from tallymark.measures import Evaluations

_WRITTEN = re.compile(r"\s*([A-Za-z_0-9]+)\s*(>=|<=|≥|≤)\s*([-+0-9.eE]+)\s*")


@dataclass(frozen=True)
class Requirement:
    """A metric and the least, or most, it may be."""

    metric: str
    least: bool
    bound: float

    @classmethod
    def of(cls, text: str) -> Requirement:
        """As it is typed."""
        match = _WRITTEN.fullmatch(text)
        try:
            if match is None:
                raise ValueError
            return cls(match[1], match[2] in {">=", "≥"}, float(match[3]))
        except ValueError:
            raise InputError(
                f"--require {text!r}: write METRIC>=NUMBER or METRIC<=NUMBER, e.g. 'auroc>=0.9'."
            ) from None

    def __str__(self) -> str:
        return f"{self.metric} {'>=' if self.least else '<='} {self.bound:g}"


def require_all(required: Sequence[Requirement], result: Evaluations) -> None:
    """End the command with status 1 where a requirement does not hold; a metric without a value does not meet any."""
    failed = []
    for key, evaluation in result.entries.items():
        for one in required:
            value = evaluation[one.metric].value
            met = not math.isnan(value) and (value >= one.bound if one.least else value <= one.bound)
            if not met:
                failed.append(f"{', '.join(map(str, key))}: {one.metric} is {number(value)}, required {one}")
    if failed:
        for line in failed:
            typer.echo(f"tallymark: {visible(line)}", err=True)
        raise typer.Exit(1)
