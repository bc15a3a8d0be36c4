"""How numbers are written: the same in a terminal, a notebook, LaTeX and the report, whose JavaScript follows this file.

Digits go by what is known: a number with limits is written to the first digits that its limits leave open.
"""

from __future__ import annotations

import math

import numpy as np

from tallymark._cells import Written

#: Between groups of three digits, and before numbers below nought.
THIN, MINUS = "\u202f", "\u2212"

#: Numbers from here on are parted into groups of three digits.
_GROUPED = 10_000

#: A sum beyond this is written by powers of ten.
_LONG = 1e9

#: Beyond this a double has no digit left to write out.
_LARGEST = 1e15

#: Decimals beyond which powers of ten are shorter.
_MOST_DECIMALS = 7

#: Half an interval is written with two digits up to this, with one beyond (the particle physicists' rule).
_TWO_DIGITS = 3.55


def number(value: object) -> str:
    """A number as people read it; text unchanged.

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
    """So many decimals, digits in groups of three, a true minus; what rounds to nought has no sign.

    >>> fixed(-1234567.891, 1), fixed(-0.001, 2)
    ('\u22121\u202f234\u202f567.9', '0.00')
    """
    if not math.isfinite(value):
        return number(value)
    text = f"{abs(value):.{decimals}f}"
    whole, point, rest = text.partition(".")
    if len(whole) > len(str(_GROUPED)) - 1:
        first = len(whole) % 3
        whole = THIN.join(part for part in (whole[:first], *(whole[i : i + 3] for i in range(first, len(whole), 3))) if part)  # fmt: skip
    nought = not text.strip("0.")
    return (MINUS if value < 0 and not nought else "") + whole + point + rest


def signed(value: float, decimals: int = 0) -> str:
    """A change: with its sign, whichever it is.

    >>> signed(38.2), signed(-150.0), signed(0.012, 2)
    ('+38', '\u2212150', '+0.01')
    """
    text = fixed(value, decimals)
    return text if text.startswith(MINUS) else f"+{text}"


def count(value: float) -> str:
    """A number of things: whole.

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


#: Less than this of one row is no row.
_NO_ROW = 0.01


def share_of_rows(share: float, n: float) -> float:
    """A share of n rows as it is written: 0 where it is that of less than a hundredth of a row.

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
    """How many decimals limits leave standing; None where they do not say.

    >>> decimals_of(0.950, 0.979), decimals_of(35.0, 53.0), decimals_of(0.5, 0.5)
    (3, 0, None)
    """
    half = (high - low) / 2
    if not math.isfinite(half) or half <= 0:
        return None
    return max(0, -math.floor(math.log10(half / _TWO_DIGITS)))


def with_limits(value: float, low: float | None, high: float | None) -> Written | str:
    """A number and its limits, all to the decimals that the limits leave standing.

    >>> with_limits(0.96763, 0.9503, 0.9789), with_limits(2900.3162, 1522.3, 5978.1), with_limits(0.0213, -0.01, 0.05)
    ('0.968 (0.950–0.979)', '2900 (1522–5978)', '0.021 (\u22120.010 to 0.050)')
    """
    if low is None or high is None:
        return number(value)
    return Written(f"{_written(value, low, high)} ({_between(low, high)})", value, low, high)


def count_with_limits(value: float, low: float | None, high: float | None) -> str:
    """A number of things and its limits, whole.

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
    """Per cent to three digits, and to as many more as it takes to tell them from all."""
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
    """So many digits at the most, without noughts at the end."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else number(float(value))
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    if decimals > _MOST_DECIMALS or abs(value) >= _LONG:
        return _powers(value, digits)
    text = fixed(value, max(0, decimals))
    return text.rstrip("0").rstrip(".") if "." in text else text


def _powers(value: float, digits: int) -> str:
    """A number by powers of ten, such as 3e−7."""
    mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{int(power)}".replace("-", MINUS)
