"""What a look at a file found: columns with the parts they could play, cautions, and questions with their commands."""

from __future__ import annotations

import html
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tallymark._check import Label
from tallymark._display import Row, Shown, html_table, plain
from tallymark._numbers import number
from tallymark._text import visible


@dataclass(frozen=True)
class Role:
    """A part that a column could play, and why.

    `name` is truth, score, predicted class, probability of a class, weight, count, group, period, id, price, text or
    feature.
    """

    name: str
    reason: str


@dataclass(frozen=True)
class LookColumn:
    """A column: its type, what it holds, and its possible roles, the likeliest first."""

    name: str
    #: whole numbers, numbers, bools, dates, text or nested.
    type: str
    missing: int
    #: Number of different values; an estimate where `counted` is None.
    distinct: int
    examples: tuple[str, ...]
    #: Lowest and highest number; None of other types.
    low: float | None
    high: float | None
    #: Each value with its number of rows, most frequent first, where there are few.
    counted: Mapping[Label, int] | None
    roles: tuple[Role, ...]

    @property
    def role(self) -> str:
        """The likeliest role, empty where there is none."""
        return self.roles[0].name if self.roles else ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        values = None if self.counted is None else [[value, rows] for value, rows in self.counted.items()]
        return plain({**vars(self), "counted": values, "roles": [vars(role) for role in self.roles]})  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Caution:
    """Something to beware of; `column` is None where it is about several."""

    column: str | None
    message: str


@dataclass(frozen=True)
class Question:
    """A question that the data can answer, with the command and the Python lines that answer it.

    `command` is a list of arguments, empty of a dataframe, and where the question cannot be answered; `reason` then
    says what is missing, and else what the answer will be about.
    """

    question: str
    reason: str
    command: tuple[str, ...] = ()
    python: tuple[str, ...] = ()

    @property
    def answered(self) -> bool:
        """Whether the data can answer it."""
        return bool(self.python)

    @property
    def shell(self) -> str:
        """The command for a shell, quoted."""
        return shlex.join(self.command)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "question": self.question,
            "reason": self.reason,
            "command": list(self.command),
            "shell": self.shell,
            "python": list(self.python),
        }


@dataclass(frozen=True)
class Parts:
    """The part that each column is taken to play in the commands; a person may know better."""

    truth: str | None = None
    #: The label that is sought, and why it is taken for the positive one.
    positive: Label | None = None
    positive_reason: str = ""
    scores: tuple[str, ...] = ()
    predicted: tuple[str, ...] = ()
    #: Score column of each class.
    by_class: Mapping[Label, str] = field(default_factory=dict)
    weight: str | None = None
    count: str | None = None
    groups: tuple[str, ...] = ()
    period: str | None = None
    id: str | None = None
    price: str | None = None
    raters: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return plain(vars(self))  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False, repr=False)
class Look(Shown):
    """What is in a file or a dataframe, what each column could be, and which questions it can answer."""

    shown: str
    n: int
    columns: tuple[LookColumn, ...]
    parts: Parts
    cautions: tuple[Caution, ...]
    questions: tuple[Question, ...]

    def __getitem__(self, name: str) -> LookColumn:
        """The column of this name."""
        return next(column for column in self.columns if column.name == name)

    def heading(self) -> str:
        """What was looked at."""
        return f"{self.shown}: {number(self.n)} rows, {len(self.columns)} columns"

    def rows(self) -> list[Row]:
        """A line per column."""
        return [
            {
                "column": column.name,
                "type": column.type,
                "distinct": column.distinct,
                "missing": column.missing,
                "examples": ", ".join(column.examples),
                "could be": column.role,
                "because": column.roles[0].reason if column.roles else "",
            }
            for column in self.columns
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "file": self.shown,
            "n": self.n,
            "columns": [column.to_dict() for column in self.columns],
            "parts": self.parts.to_dict(),
            "cautions": [vars(caution) for caution in self.cautions],
            "questions": [question.to_dict() for question in self.questions],
        }

    def __repr__(self) -> str:
        lines = [super().__repr__()]
        if self.cautions:
            lines += ["", "Beware:", *(f"- {visible(caution.message)}" for caution in self.cautions)]
        for question in self.questions:
            lines += ["", visible(f"{question.question} {question.reason}")]
            lines += [visible(f"    {line}") for line in (question.shell, *question.python) if line]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = [html_table(self.heading(), self.rows())]
        if self.cautions:
            items = "".join(f"<li>{html.escape(visible(caution.message))}</li>" for caution in self.cautions)
            parts.append(f"<p>Beware:</p><ul>{items}</ul>")
        for question in self.questions:
            said = html.escape(visible(question.reason))
            code = html.escape("\n".join(visible(line) for line in question.python))
            lines = f"<pre>{code}</pre>" if code else ""
            parts.append(f"<p><strong>{html.escape(question.question)}</strong> {said}</p>{lines}")
        return "".join(parts)
