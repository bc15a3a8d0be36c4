"""Copies of files that the engine cannot read: other encodings become UTF-8, office files become Parquet."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tallymark.errors import InputError
from tallymark.sources import encodings
from tallymark.sources.formats import CSV, PARQUET, SPREADSHEET, STATISTICS, Files, Wanted


@contextmanager
def readable(files: Files, wanted: Sequence[Wanted]) -> Iterator[Files]:
    """The files, or copies of them in a folder that is removed at the end."""
    if files.form is CSV:
        unlike = {name: _encoding(files, name) for name in files.names}
        if not any(unlike.values()):
            yield files
            return
    elif files.form not in {SPREADSHEET, STATISTICS}:
        yield files
        return
    with tempfile.TemporaryDirectory(prefix="tallymark-") as folder:
        copies = tuple(Path(folder) / f"{place}" for place in range(len(files.names)))
        if files.form is CSV:
            yield _as_utf_8(files, unlike, copies)
        else:
            yield _as_parquet(files, copies, wanted)


def _encoding(files: Files, name: str) -> str | None:
    """The encoding of a CSV that is to be converted; None for UTF-8, and for what only the engine can unpack."""
    stated = files.options.get("encoding")
    packed = name.lower().endswith(".zst")
    if stated == "utf-8" or (packed and stated is None):
        return None
    if packed:
        raise InputError(f"{name!r} is compressed by zstd and can be read as UTF-8 only; unpack it first.")
    return encodings.recognised(name) if stated is None else stated


def _as_utf_8(files: Files, unlike: dict[str, str | None], copies: Sequence[Path]) -> Files:
    for name, copy in zip(files.names, copies, strict=True):
        if (encoding := unlike[name]) is not None:
            encodings.convert(name, encoding, copy.with_suffix(".csv"))
    places = tuple(
        name if unlike[name] is None else str(copy.with_suffix(".csv"))
        for name, copy in zip(files.names, copies, strict=True)
    )
    said = dict.fromkeys(encodings.NAMES.get(one, one) for one in unlike.values() if one is not None)
    return replace(files, copies=places, said=tuple(said) if "encoding" not in files.options else ())


def _as_parquet(files: Files, copies: Sequence[Path], wanted: Sequence[Wanted]) -> Files:
    from tallymark.sources.typed_columns import write_parquet

    said: list[str] = []
    places = []
    for name, copy in zip(files.names, copies, strict=True):
        if files.form is SPREADSHEET:
            from tallymark.sources.spreadsheets import read_spreadsheet

            names = [one.column for one in wanted]
            columns, remarks = read_spreadsheet(name, names, sheet=files.options.get("sheet"))
        else:
            from tallymark.sources.statistics_files import read_statistics_file

            labelled = [one.column for one in wanted if one.is_text]
            names = [one.column for one in wanted]
            columns, remarks = read_statistics_file(name, names, labelled, encoding=files.options.get("encoding"))
        if not columns or not next(iter(columns.values())):
            raise InputError(f"{name!r} has no rows.")
        place = copy.with_suffix(".parquet")
        write_parquet(columns, place, name, [one.column for one in wanted if not one.is_text])
        places.append(str(place))
        said += remarks
        if files.form is STATISTICS and remarks != said[: len(remarks)]:
            raise InputError(f"{name!r} labels its values otherwise than the files before it; read them apart.")
    return replace(files, form=PARQUET, copies=tuple(places), said=tuple(dict.fromkeys(said)))
