"""What can go wrong, said so that the reader knows what to do next."""

from __future__ import annotations

import difflib
import warnings
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


class GuardWarning(UserWarning):
    """The data looks like a known blunder; `code` is stable, the message says what to do."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message

    def __reduce__(self) -> tuple[type[Self], tuple[str, str]]:
        # An exception is otherwise rebuilt from the one text it shows.
        return type(self), (self.code, self.message)


class GuardError(InputError):
    """A guard that fired under ``strict=True``."""


#: Every guard, by its stable code: what it watches for.
GUARDS = {
    "TM101": "the scores take at most two values: hard labels where scores belong",
    "TM102": "a metric of probabilities was asked of scores outside [0, 1]",
    "TM103": "the ranking is worse than chance: the direction of the scores may be inverted",
    "TM104": "a large share of the rows has one and the same score",
    "TM105": "the scores of one class are strongly skewed: sPCC sees two moments only",
    "TM106": "the asked threshold lies inside a cell of a quantised tally and was moved",
    "TM107": "there are very few rows of one class",
    "TM108": "scores to be counted lie outside the range of the labelled ones",
    "TM109": "the scores to be counted are no mixture of the two classes' scores: this is not prior shift alone",
    "TM110": "scores taken for calibrated probabilities are not, on the labelled sample",
    "TM111": "at the stated prevalence the top of the list rests on few negatives: precision there looks too good",
    "TM112": "there are fewer rows than a metric's default interval was found to hold its level from",
    "TM113": "a single row, or very uneven weights, carry an interval, which may then be too short",
}


def guard(code: str, message: str, *, strict: bool = False) -> None:
    """Warn with one of the stable codes of `GUARDS`, or raise when the caller asked to be strict."""
    if code not in GUARDS:
        raise ValueError(f"{code} is not a declared guard")
    if strict:
        raise GuardError(f"{code}: {message}")
    warnings.warn(GuardWarning(code, message), stacklevel=3)


def nearest(wanted: object, present: Iterable[str]) -> str:
    """A ' Did you mean …?' clause, or nothing when no name is close."""
    close = difflib.get_close_matches(wanted, list(present), n=1) if isinstance(wanted, str) else []
    return f" Did you mean {close[0]!r}?" if close else ""


def shown(values: Iterable[object], most: int = 8) -> str:
    """A short list of values for a message."""
    listed = list(values)
    return ", ".join(map(repr, listed[:most])) + (", …" if len(listed) > most else "")
