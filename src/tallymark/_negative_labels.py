"""Labels that count as negative when a positive label is named: several are noted, doubtful ones refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tallymark._numbers import noun
from tallymark._text import unaccented
from tallymark.errors import InputError
from tallymark.notes import Note, emit

#: Words for an unknown class.
_UNKNOWN = frozenset((
    "?", "??", "-", "--", ".", "n/a", "na", "n.a.", "nan", "none", "null", "nil", "missing", "unknown", "unk",
    "unclear", "undetermined", "tbd", "onbekend", "nvt", "n.v.t.", "unbekannt", "inconnu", "desconocido",
    "sconosciuto", "desconhecido", "okänd", "ukjent", "ukendt", "unsure",
))  # fmt: skip

#: Number of values named in a message.
_NAMED = 6


def check_negatives(
    positive: object, others: Sequence[object], occurrences: Callable[[], Mapping[Any, int]], name: str
) -> None:
    """Refuse other spellings of the positive label and words for missing values; note which values count as negative.

    `occurrences` gives the number of rows with each label; it is only called where there is something to say.
    """
    same = [
        label
        for label in others
        if plain_spelling(label) == plain_spelling(positive) or _equal_numbers(label, positive)
    ]
    if same:
        raise InputError(
            f"{name} has {_with_rows(same, occurrences())} beside the positive label {positive!r}; they differ in "
            "how they are written only. Write them in one way: as it is they would be counted as negative."
        )
    if len(others) < 2:
        return
    if unknown := [label for label in others if means_unknown(label)]:
        raise InputError(
            f"{name} has {_with_rows(unknown, occurrences())}, which looks like a missing value. Leave these rows out "
            "or empty their cells; if they are negative, give them the label of the negatives."
        )
    message = f"in {name} {positive!r} is positive; counted as negative: {_with_rows(others, occurrences())}."
    emit([Note("TM121", message)])


def require_one_spelling(labels: Iterable[object], name: str) -> None:
    """Refuse labels that differ only in capitals, accents or spaces: they would be counted as different classes."""
    spellings: dict[str, object] = {}
    for label in labels:
        other = spellings.setdefault(plain_spelling(label), label)
        if other != label and type(other) is type(label):
            raise InputError(f"{name} has {other!r} beside {label!r}; write them in one way, or give them other names.")


def _equal_numbers(label: object, positive: object) -> bool:
    try:
        return float(str(label)) == float(str(positive))
    except ValueError:
        return False


def _with_rows(labels: Sequence[object], occurs: Mapping[Any, int]) -> str:
    ordered = sorted(labels, key=lambda label: -occurs[label])
    rest = "" if len(ordered) <= _NAMED else f" and {len(ordered) - _NAMED} more values"
    return ", ".join(f"{label!r} ({occurs[label]} {noun(occurs[label], 'row')})" for label in ordered[:_NAMED]) + rest


def means_unknown(label: object) -> bool:
    """Whether a label is a word for an unknown class."""
    return plain_spelling(label) in _UNKNOWN


def plain_spelling(label: object) -> str:
    """A label without capitals, accents, invisible characters and the spaces around it."""
    return " ".join(unaccented(str(label)).casefold().split())
