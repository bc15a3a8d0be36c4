"""Formatting of numbers for terminal, notebook, LaTeX and report, whose JavaScript follows this file.

A number with limits is rounded by their width: to the first digits that the limits leave uncertain.
"""

from __future__ import annotations

import math

import numpy as np

from tallymark._cells import Written

#: Separator of groups of three digits, and the minus sign.
THIN, MINUS = "\u202f", "\u2212"

#: Numbers from here on have their digits in groups of three.
_GROUPED = 10_000

#: Sums beyond this are written in scientific notation.
_LONG = 1e9

#: Beyond this a double has no decimals.
_LARGEST = 1e15

#: Decimals beyond which scientific notation is shorter.
_MOST_DECIMALS = 7

#: Leading digits of half an interval up to which it is written with two digits, else one (Particle Data Group's rule).
_TWO_DIGITS = 3.55


def number(value: object) -> str:
    """A number to four digits or so; text unchanged.

    >>> [number(x) for x in (0.97, 12, 59799.0, 3e-7, -0.5, None)]
    ['0.9700', '12', '59\u202f799', '3e\u22127', '\u22120.5000', '']
    """
    if value is None:
        return ""
    if isinstance(value, tuple):
        return " … ".join(map(number, value))
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        return str(value)
    plain = value.item() if isinstance(value, np.generic) else value
    return Written(_plain_number(plain), plain)


def _plain_number(value: float) -> str:
    real = float(value)
    if not math.isfinite(real):
        return "nan" if math.isnan(real) else f"{MINUS if real < 0 else ''}∞"
    size = abs(real)
    whole = real.is_integer() and size < _LARGEST
    if whole and (size >= _GROUPED or not isinstance(value, float)):
        return fixed(real, 0)
    if _GROUPED <= size < _LARGEST:
        return fixed(real, 1)
    return fixed(real, 4) if size == 0 or 1e-3 <= size < _GROUPED else _powers(real, 4)


def fixed(value: float, decimals: int) -> str:
    """A number with a fixed number of decimals and digits in groups of three; what rounds to 0 has no sign.

    >>> fixed(-1234567.891, 1), fixed(-0.001, 2)
    ('\u22121\u202f234\u202f567.9', '0.00')
    """
    if not math.isfinite(value):
        return number(value)
    text = f"{abs(value):.{decimals}f}"
    whole, point, rest = text.partition(".")
    if len(whole) > len(str(_GROUPED)) - 1:
        whole = f"{int(whole):,}".replace(",", THIN)
    is_zero = not text.strip("0.")
    return (MINUS if value < 0 and not is_zero else "") + whole + point + rest


def signed(value: float, decimals: int = 0) -> str:
    """A change, with its sign.

    >>> signed(38.2), signed(-150.0), signed(0.012, 2)
    ('+38', '\u2212150', '+0.01')
    """
    text = fixed(value, decimals)
    return text if text.startswith(MINUS) else f"+{text}"


def count(value: float) -> str:
    """A count, rounded to a whole number.

    >>> count(2900.3)
    '2900'
    """
    return Written(fixed(value, 0) if math.isfinite(value) else number(float(value)), value)


def amount(value: float) -> str:
    """A number of rows, or a sum of weights.

    >>> amount(59799.0), amount(314.073), amount(0.00123)
    ('59\u202f799', '314.1', '0.00123')
    """
    if not math.isfinite(value) or (float(value).is_integer() and abs(value) < _LARGEST):
        return count(value)
    text = fixed(float(value), 1) if 10.0 <= abs(value) < _LONG else _significant(float(value), 3)
    return Written(text, value)


#: Fractions of a row below this are rounding.
_NO_ROW = 0.01


def share_of_rows(share: float, n: float) -> float:
    """A share of n rows for display: 0 where it is less than a hundredth of a row.

    >>> share_of_rows(1.91e-13, 99_197), share_of_rows(0.002, 500), share_of_rows(1e-6, 0.5)
    (0.0, 0.002, 1e-06)
    """
    return 0.0 if n >= 1.0 and abs(share) * n < _NO_ROW else share


def counted(value: float, thing: str) -> str:
    """So many things, or one.

    >>> counted(1, "row"), counted(3, "row"), counted(0.5, "row")
    ('1 row', '3 rows', '0.5 rows')
    """
    return f"{amount(value)} {noun(value, thing)}"


def noun(value: float, thing: str) -> str:
    """The word for so many things: its plural but for one.

    >>> noun(1, "row"), noun(0, "row")
    ('row', 'rows')
    """
    return thing if value == 1 else f"{thing}s"


def decimals_of(low: float, high: float) -> int | None:
    """The number of decimals that limits determine; None where they do not.

    >>> decimals_of(0.950, 0.979), decimals_of(35.0, 53.0), decimals_of(0.5, 0.5)
    (3, 0, None)
    """
    half = (high - low) / 2
    if not math.isfinite(half) or half <= 0:
        return None
    return max(0, -math.floor(math.log10(half / _TWO_DIGITS)))


def with_limits(value: float, low: float | None, high: float | None) -> Written | str:
    """A number and its limits, all to the decimals that the limits determine.

    >>> with_limits(0.96763, 0.9503, 0.9789), with_limits(2900.3162, 1522.3, 5978.1), with_limits(0.0213, -0.01, 0.05)
    ('0.968 (0.950–0.979)', '2900 (1522–5978)', '0.021 (\u22120.010 to 0.050)')
    """
    if low is None or high is None:
        return number(value)
    return Written(f"{_written(value, low, high)} ({_between(low, high)})", value, low, high)


def count_with_limits(value: float, low: float | None, high: float | None) -> str:
    """A count and its limits, rounded to whole numbers.

    >>> count_with_limits(2900.3, 1522.3, 5978.1)
    '2900 (1522–5978)'
    """
    if low is None or high is None:
        return count(value)
    return Written(f"{count(value)} ({count(low)}–{count(high)})", value, low, high)


def limits(low: float, high: float) -> str:
    """Two limits alone.

    >>> limits(-0.01, 0.25)
    '−0.0100 to 0.2500'
    """
    return Written(f"{number(low)} to {number(high)}", None, low, high)


def change(value: float, low: float, high: float) -> str:
    """A change in per cent and its limits.

    >>> change(0.121, -0.05, 0.3)
    '+12.1 % (−5.0 to +30.0 %)'
    """
    ends = f"{signed(100.0 * low, 1)} to {signed(100.0 * high, 1)} %"
    return Written(f"{signed(100.0 * value, 1)} % ({ends})", value, low, high)


def per_cent(value: float, low: float | None = None, high: float | None = None) -> str:
    """A share in per cent, with its limits where there are any.

    >>> per_cent(0.4359, 0.347, 0.528), per_cent(0.00195), per_cent(0.5), per_cent(0.9996)
    ('44 % (35–53)', '0.195 %', '50 %', '99.96 %')
    """
    if low is None or high is None:
        return Written(f"{_share(100.0 * value)} %", value)
    ends = 100.0 * low, 100.0 * high
    return Written(f"{_written(100.0 * value, *ends)} % ({_between(*ends)})", value, low, high)


def _share(value: float) -> str:
    """Per cent to three digits, and to as many more as distinguish it from 100."""
    if not 99.0 < value < 100.0:
        return _significant(value, 3)
    return fixed(value, min(max(1, -math.floor(math.log10(100.0 - value))), _MOST_DECIMALS)).rstrip("0")


def p_value(p: float) -> str:
    """A p-value: two digits, and no more than four decimals.

    >>> [p_value(p) for p in (3e-7, 0.00083, 0.0421, 1.0)]
    ['< 0.0001', '0.0008', '0.042', '1']
    """
    if math.isnan(p):
        return Written("nan", p)
    if p < 1e-4:
        return Written("< 0.0001", p)
    return Written(f"{p:.4f}" if p < 1e-3 else f"{p:.2g}", p)


def equals_p(p: float) -> str:
    """A p-value in a sentence.

    >>> equals_p(3e-7), equals_p(0.5)
    ('p < 0.0001', 'p = 0.5')
    """
    text = p_value(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def _between(low: float, high: float) -> str:
    ends = [_written(end, low, high) for end in (low, high)]
    # A dash beside a minus is hard to read.
    return (" to " if low < 0 else "–").join(ends)


def _written(value: float, low: float, high: float) -> str:
    decimals = decimals_of(low, high)
    if decimals is None or not math.isfinite(value):
        return number(float(value))
    if decimals > _MOST_DECIMALS or abs(value) >= _LARGEST:
        return _powers(value, 3)
    return fixed(value, decimals)


def _significant(value: float, digits: int) -> str:
    """At most so many significant digits, without trailing zeros."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else number(float(value))
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    if decimals > _MOST_DECIMALS or abs(value) >= _LONG:
        return _powers(value, digits)
    text = fixed(value, max(0, decimals))
    return text.rstrip("0").rstrip(".") if "." in text else text


def _powers(value: float, digits: int) -> str:
    """A number in scientific notation, such as 3e−7."""
    mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{int(power)}".replace("-", MINUS)
