"""Encodings of text files: recognised from all bytes of a file, and converted to UTF-8 for the engine."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from io import BufferedIOBase
from pathlib import Path

import numpy as np

from tallymark.errors import InputError

_BLOCK = 2**24

#: Byte order marks that are not UTF-8's.
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}

#: Bytes that Windows-1252 leaves undefined.
_UNDEFINED = frozenset({0x81, 0x8D, 0x8F, 0x90, 0x9D})

#: What Windows-1252 would read as an opening quote or another sign within or behind a word, or a capital within one;
#: other encodings have letters there.
_SIGN_IN_WORD = re.compile(
    rb"[A-Za-z]+[\x82-\x84\x88\x98]|[A-Za-z]+[\x86\x87\x89\x8b\x93-\x95\x99\x9b][a-z]|[A-Za-z]*[a-z][\x8a\x8c\x8e\x9f](?![A-Z])"
)

#: Words of letters with accents alone, as other alphabets look in Windows-1252.
_ACCENTS_ONLY = re.compile(rb"(?<![A-Za-z\xc0-\xff])[\xc0-\xff]{3,}(?![A-Za-z])")

#: Bytes in which Windows-1252 is not Latin-1.
_SIGNS = re.compile(rb"[\x80-\x9f]")

#: A character of two or three bytes in UTF-8.
_UTF_8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}")

#: How an encoding is called in sentences.
NAMES = {"utf-16": "UTF-16", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "cp1252": "Windows-1252"}


def recognised(name: str) -> str | None:
    """The encoding of a file that is not UTF-8; None where it is."""
    try:
        with _opened(name) as file:
            start = file.read(4096)
        marked = next((encoding for mark, encoding in _MARKS.items() if start.startswith(mark)), None)
        if encoding := marked or _utf_16(start):
            return encoding
        return None if _is_utf_8(name) else _one_byte(name)
    except (OSError, EOFError, zlib.error):
        # The engine says why the file cannot be read.
        return None


def convert(name: str, encoding: str, target: Path) -> None:
    """Write a file's text as UTF-8."""
    decoder = codecs.getincrementaldecoder(encoding)()
    with target.open("w", encoding="utf-8", newline="") as out:
        try:
            for block in _blocks(name):
                # Latin-1 is decoded ten times as fast, and is Windows-1252 but for a few signs.
                latin = encoding == "cp1252" and not _SIGNS.search(block)
                out.write(block.decode("latin-1") if latin else decoder.decode(block))
            out.write(decoder.decode(b"", final=True))
        except UnicodeError as error:
            raise InputError(f"Cannot read {name!r} as {encoding}: {error}. Name its encoding.") from None


def _opened(name: str) -> BufferedIOBase:
    return gzip.open(name, "rb") if name.lower().endswith(".gz") else Path(name).open("rb")


def _blocks(name: str) -> Iterator[bytes]:
    with _opened(name) as file:
        while block := file.read(_BLOCK):
            yield block


def _utf_16(start: bytes) -> str | None:
    """Text of two bytes a character without a mark: every second byte of Latin letters is 0."""
    if len(start) < 2 or b"\0" not in start:
        return None
    zero = np.frombuffer(start, dtype=np.uint8) == 0
    even, odd = zero[0::2].mean(), zero[1::2].mean()
    if max(even, odd) < 0.5 or min(even, odd) > 0.1:
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _is_utf_8(name: str) -> bool:
    decoder, pending = codecs.getincrementaldecoder("utf-8")(), False
    try:
        for block in _blocks(name):
            if pending or not block.isascii():
                decoder.decode(block)
                pending = bool(decoder.getstate()[0])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _one_byte(name: str) -> str:
    """Windows-1252, of which Latin-1 is a part; refused where the bytes speak for another encoding."""
    hint = "say which with encoding= (--encoding), such as cp1250, cp850, mac-roman or shift-jis"
    for block in _blocks(name):
        present = set(np.flatnonzero(np.bincount(np.frombuffer(block, dtype=np.uint8), minlength=256)).tolist())
        if present & _UNDEFINED or 0 in present:
            raise InputError(f"{name!r} is not UTF-8 text, and not Windows-1252 either; {hint}.")
        if _UTF_8.search(block):
            raise InputError(f"{name!r} is partly UTF-8 and partly not: save it again, or {hint}.")
        if word := _ACCENTS_ONLY.search(block):
            raise InputError(
                f"{name!r} is not UTF-8 text; in Windows-1252 it would read {word[0].decode('cp1252')!r}, in "
                f"Windows-1251 {word[0].decode('cp1251')!r}, in Windows-1253 "
                f"{word[0].decode('cp1253', 'replace')!r}: {hint}."
            )
        if sign := _SIGN_IN_WORD.search(block):
            raise InputError(
                f"{name!r} is not UTF-8 text; in Windows-1252 it would read {sign[0].decode('cp1252')!r}, in cp850 "
                f"{sign[0].decode('cp850')!r}, on an old Mac {sign[0].decode('mac-roman')!r}: {hint}."
            )
    return "cp1252"
