"""Chronological order of periods: numbers and dates by value, texts in one recognised notation."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tallymark._text import unaccented
from tallymark.errors import InputError, shown

#: Sort keys of texts; None where they are not all written in this notation.
Reading = Callable[[Sequence[str]], list[tuple[Any, ...]] | None]


def in_order(values: Iterable[Any], name: str, order: Sequence[Any] | None = None) -> list[Any]:
    """The different periods among `values` in the order of time; `order` states it (a user, or an ordered categorical).

    Understood are numbers, dates, ISO dates, 2024-01, 202401, 2024M1, 2024Q1, Q1 2024, 01-2024, 31.12.2024, 31/12/2024,
    January 2024 (in six languages), and texts that differ in one number only (week 9, week 10). Texts that can be read
    in two ways with different orders, or in no way, are refused: sorted as text, April comes before January.

    >>> in_order(["Q1 2024", "Q4 2023", "Q1 2024"], "quarter")
    ['Q4 2023', 'Q1 2024']
    >>> in_order(["low", "high"], "size", order=["low", "high"])
    ['low', 'high']
    """
    distinct = list(dict.fromkeys(values))
    if order is not None:
        return _stated(distinct, name, order)
    if not any(isinstance(value, str) for value in distinct):
        return sorted(distinct)
    if not all(isinstance(value, str) for value in distinct):
        raise InputError(f"{name} mixes text and numbers ({shown(distinct)}); write all periods in one way.")
    for texts in (distinct, _without_common_ends(distinct)):
        orders = {
            places: notation
            for notation, reading in _READINGS.items()
            if (places := _sorted_by(reading, texts)) is not None
        }
        if len(orders) > 1:
            readings = "; ".join(
                f"as {how}: {shown([distinct[i] for i in places], 4)}" for places, how in orders.items()
            )
            raise InputError(f"The periods in {name} can be read in two ways ({readings}). {_REMEDY}")
        if orders:
            return [distinct[i] for i in next(iter(orders))]
    raise InputError(f"Cannot tell the order of the periods {shown(distinct)} in {name}. {_REMEDY}")


_REMEDY = (
    "Write them as 2024-01-31, 2024-01 or 2024Q1, or state their order with order=[…] (--order on the command line)."
)


def _stated(distinct: Sequence[Any], name: str, order: Sequence[Any]) -> list[Any]:
    """The periods in a stated order, in which numbers and dates may be written as text."""
    if isinstance(order, str) or not isinstance(order, Iterable):
        raise InputError(f"order is {order!r}, expected a list of periods from the earliest to the latest.")
    order = list(order)
    places = {str(value): place for place, value in enumerate(order)}
    if len(places) != len(order):
        raise InputError(f"order={shown(order)} names a period twice.")
    if missing := [value for value in distinct if str(value) not in places]:
        raise InputError(f"order= does not name {shown(missing)}, which {name} has; name every period once.")
    return sorted(distinct, key=lambda value: places[str(value)])


def _sorted_by(reading: Reading, texts: Sequence[str]) -> tuple[int, ...] | None:
    """Indices of the texts in chronological order; None where they are not all in this notation, or repeat."""
    keys = reading([text.strip() for text in texts])
    if keys is None or len(set(keys)) < len(texts):
        return None
    return tuple(sorted(range(len(texts)), key=lambda place: keys[place]))


def _without_common_ends(texts: Sequence[str]) -> list[str]:
    """The texts without common first and last words, as in file names such as scores_2024-01_final."""
    front = re.sub(r"\w*$", "", _common_start(texts).replace("_", " "))
    rest = [text[len(front) :] for text in texts]
    back = re.sub(r"^\w*", "", _common_start([text[::-1] for text in rest])[::-1].replace("_", " "))
    return [text[: len(text) - len(back)] for text in rest]


def _common_start(texts: Sequence[str]) -> str:
    first, last = min(texts), max(texts)
    same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:same]


def _written(pattern: str) -> Reading:
    """A reading by a pattern with the groups y (year), m or name (month or other part), u (its unit) and d (day)."""
    compiled = re.compile(pattern, re.IGNORECASE)

    def read(texts: Sequence[str]) -> list[tuple[Any, ...]] | None:
        parts = [match.groupdict() for text in texts if (match := compiled.fullmatch(text))]
        units = {(part.get("u") or "").upper() for part in parts}
        if len(parts) < len(texts) or len(units) > 1:
            return None
        most = _PARTS_OF_A_YEAR.get(units.pop(), 366)
        keys = [key for part in parts if (key := _key(part, most)) is not None]
        return keys if len(keys) == len(parts) else None

    return read


def _key(part: dict[str, Any], most: int) -> tuple[Any, ...] | None:
    """Year, month (or other part of the year, of `most`), day and time."""
    year, month, day = int(part["y"]), _month(part["name"]) if "name" in part else int(part.get("m") or 1), 0
    if month is None or not 1 <= month <= most:
        return None
    if "d" in part:
        day = int(part["d"])
        try:
            datetime.date(year, month, day)
        except ValueError:
            return None
    return year, month, day, part.get("time") or ""


#: How many of a unit a year has: quarters (Q, Dutch K, French T), half-years (H, S), weeks (W). Without a unit a number
#: may count months, weeks, four-week periods or days.
_PARTS_OF_A_YEAR = {"Q": 4, "K": 4, "T": 4, "H": 2, "S": 2, "W": 53}


def _numbered(texts: Sequence[str]) -> list[tuple[Any, ...]] | None:
    """Texts that differ in one number only: week 9, week 10."""
    matches = [match for text in texts if (match := re.fullmatch(r"(\D*)([0-9]+)(\D*)", text))]
    if len(matches) < len(texts) or len({(match[1], match[3]) for match in matches}) > 1:
        return None
    numbers = {int(match[2]) for match in matches}
    most = _NUMBER_IN_A_YEAR.get(matches[0][1].strip(" -_.").lower())
    if most is not None and 1 in numbers and max(numbers) >= most and len(numbers) < most:
        # The first week may follow the last one of the year before.
        return None
    return [(int(match[2]),) for match in matches]


#: Number of the parts of a year, by the word before their number.
_NUMBER_IN_A_YEAR = (
    dict.fromkeys(("w", "wk", "week"), 52)
    | dict.fromkeys(("q", "k", "quarter", "kwartaal"), 4)
    | dict.fromkeys(("m", "month", "maand"), 12)
)


def _months_of_a_year(texts: Sequence[str]) -> list[tuple[Any, ...]] | None:
    """Names of months without a year; None where January may follow December."""
    months = [_month(text.rstrip(".")) for text in texts]
    if None in months or ({1, 12} <= set(months) and len(set(months)) < 12):
        return None
    return [(month,) for month in months]


def _month(word: str) -> int | None:
    """The month that a word names in one of six languages, whole or cut to three letters or more."""
    plain = unaccented(word).lower()
    matches = {number for name, number in _MONTHS if len(plain) >= 3 and name.startswith(plain)}
    return matches.pop() if len(matches) == 1 else None


_MONTHS = [
    (unaccented(name), number)
    for names in (
        "january february march april may june july august september october november december",
        "januari februari maart april mei juni juli augustus september oktober november december",
        "januar februar märz april mai juni juli august september oktober november dezember",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    )
    for number, name in enumerate(names.split(), 1)
] + [("mrt", 3), ("mrz", 3)]

_DAY, _PART, _YEAR = r"(?P<d>\d{1,2})", r"(?P<m>\d{1,2})", r"(?P<y>\d{4})"
_UNIT, _NAME, _MARK = r"(?P<u>[QKTHSW])", r"(?P<name>[^\W\d_]+)\.?", r"[-/. _]"

#: Notations of periods.
_READINGS: dict[str, Reading] = {
    "year": _written(_YEAR),
    "year, number": _written(rf"{_YEAR}{_MARK}(?P<m>\d{{1,3}})"),
    "year M month": _written(rf"{_YEAR}[- ]?M{_PART}"),
    "year month": _written(rf"{_YEAR}(?P<m>\d\d)"),
    "number, year": _written(rf"(?P<m>\d{{1,3}}){_MARK}{_YEAR}"),
    "year, month, day": _written(rf"{_YEAR}[-/._]{_PART}[-/._]{_DAY}(?P<time>[T ].*)?"),
    "year month day": _written(rf"{_YEAR}(?P<m>\d\d)(?P<d>\d\d)"),
    "day.month.year": _written(rf"{_DAY}\.{_PART}\.{_YEAR}"),
    "day, month, year": _written(rf"{_DAY}(?P<mark>[-/]){_PART}(?P=mark){_YEAR}"),
    "month, day, year": _written(rf"{_PART}(?P<mark>[-/]){_DAY}(?P=mark){_YEAR}"),
    "year, part": _written(rf"{_YEAR}{_MARK}?{_UNIT}{_PART}"),
    "part, year": _written(rf"{_UNIT}{_PART}{_MARK}?{_YEAR}"),
    "number of a part, year": _written(rf"(?P<m>\d){_UNIT}{_MARK}?{_YEAR}"),
    "month by name, year": _written(rf"{_NAME}[-/ _,]*{_YEAR}"),
    "year, month by name": _written(rf"{_YEAR}[-/ _,]*{_NAME}"),
    "day, month by name, year": _written(rf"{_DAY}[-/. _]*{_NAME}[-/ _,]*{_YEAR}"),
    "month of one year": _months_of_a_year,
    "number": _numbered,
}
