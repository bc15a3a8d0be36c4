"""Escaping and shortening of users' text for display."""

from __future__ import annotations

import re
import unicodedata


def visible(text: str) -> str:
    r"""Text with control characters, line separators and bidirectional marks escaped.

    >>> print(visible("a\x1b[31mb"))
    a\x1b[31mb
    """
    if text.isprintable() and not _TURNING.search(text):
        return text
    return "".join(
        c
        if (c.isprintable() or unicodedata.category(c) in _HARMLESS) and not _TURNING.match(c)
        else c.encode("unicode_escape").decode()
        for c in text
    )


def inert_json(text: str) -> str:
    r"""Equivalent JSON in which the characters that :func:`visible` escapes are JSON escapes.

    >>> print(inert_json('{"a": "\x9b1m"}'))
    {"a": "\u009b1m"}
    """
    return re.sub(
        r"[^\n -~]", lambda match: match[0] if visible(match[0]) == match[0] else _json_escape(match[0]), text
    )


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place]:02x}{units[place + 1]:02x}" for place in range(0, len(units), 2))


#: Bidirectional marks, which change the direction of the text around them.
_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")

#: Categories of characters that are not printable but harmless: spaces, joiners, private use.
_HARMLESS = {"Zs", "Cf", "Co"}


def unaccented(text: str) -> str:
    """Text without accents and invisible characters.

    >>> unaccented("vérifié")
    'verifie'
    """
    return "".join(
        c
        for c in unicodedata.normalize("NFKD", text)
        if not unicodedata.combining(c) and unicodedata.category(c) != "Cf"
    )


def shortened(text: str, most: int) -> str:
    """At most so many characters (grapheme clusters), with the middle replaced by an ellipsis.

    >>> shortened("a very long name indeed", 12)
    'a very…ndeed'
    """
    parts = _CHARACTER.findall(text)
    if len(parts) <= most:
        return text
    end = (most - 1) // 2
    return "".join(parts[: most - 1 - end]) + "…" + "".join(parts[len(parts) - end :])


#: A grapheme cluster: the two letters of a flag, accents, selectors, and joined characters.
_CHARACTER = re.compile(
    "(?:[\U0001f1e6-\U0001f1ff]{2}|.)"
    "(?:[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\U0001f3fb-\U0001f3ff"
    "\U000e0020-\U000e007f]|\u200d.)*",
    re.DOTALL,
)
