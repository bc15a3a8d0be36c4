"""Exceptions and warnings, and helpers for their messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Self


class TallymarkError(Exception):
    """Base class of the errors that this library raises."""


class InputError(TallymarkError, ValueError):
    """An argument that cannot be used; the message names what was passed, what is expected and what to do."""


class ColumnError(InputError):
    """A named column is not in the data."""

    @classmethod
    def missing(cls, wanted: str, present: Sequence[str], option: str) -> Self:
        """The error that names the column, those of the data, the nearest match and the option that chooses."""
        shown = ", ".join(map(repr, present[:20])) + (", …" if len(present) > 20 else "")
        return cls(f"No column {wanted!r}; the data has {shown}.{nearest(wanted, present)} Choose one with {option}.")


class UnnamedColumnError(InputError):
    """A command was not told which columns it is about."""


class UnknownNameError(InputError, KeyError):
    """A name that does not exist. Also a KeyError, so that mappings behave like mappings."""

    def __str__(self) -> str:
        # KeyError would put the message in quotes.
        return str(self.args[0])


class Undefined(TallymarkError, ArithmeticError):
    """A quantity that has no value on this data. Metrics turn it into ``nan`` and keep the reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class UndefinedWarning(UserWarning):
    """A metric is ``nan``; the message is the reason."""


class PictureWarning(UserWarning):
    """A chart of a report could not be drawn; the report has a sentence in its place."""


class TrainingWarning(UserWarning):
    """A classifier of a study stopped before its training converged; its scores are used as they are."""


class GuardError(InputError):
    """A guard that fired under ``strict=True``."""


def nearest(wanted: object, present: Iterable[str]) -> str:
    """The clause ' Did you mean …?', empty where no name is close; case and marks between words do not count."""
    if not isinstance(wanted, str):
        return ""
    names = {_plain(name): name for name in reversed(list(present))}
    text = _plain(wanted)
    close = difflib.get_close_matches(text, list(names), n=1)
    # A name with more behind it, such as f1score.
    begun = [name for name in names if len(name) > 1 and text.startswith(name)]
    found = close or sorted(begun, key=len)[-1:]
    return f" Did you mean {names[found[0]]!r}?" if found else ""


def _plain(text: str) -> str:
    return "".join(mark for mark in text.lower() if mark.isalnum()) or text


def shown(values: Iterable[object], most: int = 8) -> str:
    """A short list of values for a message."""
    listed = list(values)
    return ", ".join(map(repr, listed[:most])) + (", …" if len(listed) > most else "")
