"""What can go wrong, said so that the reader knows what to do next."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Self


class TallymarkError(Exception):
    """Anything this library raises on purpose."""


class InputError(TallymarkError, ValueError):
    """What was passed cannot be used; the message says what came, what was expected and what to do."""


class ColumnError(InputError):
    """A named column is not in the data."""

    @classmethod
    def missing(cls, wanted: str, present: Sequence[str], option: str) -> Self:
        """Name the column, what is there, the nearest match and the option that chooses."""
        shown = ", ".join(map(repr, present[:20])) + (", …" if len(present) > 20 else "")
        return cls(f"No column {wanted!r}; the data has {shown}.{nearest(wanted, present)} Choose one with {option}.")


class UnknownNameError(InputError, KeyError):
    """A name that is not there. Also a KeyError, so that mappings behave like mappings."""

    def __str__(self) -> str:
        # KeyError would show the message in quotes.
        return str(self.args[0])


class Undefined(TallymarkError, ArithmeticError):
    """A number has no value on this data. Metrics turn it into ``nan`` and keep the reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class UndefinedWarning(UserWarning):
    """A metric came out as ``nan``; the message is the reason."""


class PictureWarning(UserWarning):
    """A picture of a report could not be drawn; the report has a sentence in its place."""


class GuardError(InputError):
    """A guard that fired under ``strict=True``."""


def nearest(wanted: object, present: Iterable[str]) -> str:
    """A ' Did you mean …?' clause, or nothing when no name is close."""
    close = difflib.get_close_matches(wanted, list(present), n=1) if isinstance(wanted, str) else []
    return f" Did you mean {close[0]!r}?" if close else ""


def shown(values: Iterable[object], most: int = 8) -> str:
    """A short list of values for a message."""
    listed = list(values)
    return ", ".join(map(repr, listed[:most])) + (", …" if len(listed) > most else "")
