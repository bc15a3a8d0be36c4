"""Files of Stata, SPSS and SAS: columns with the labels of their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tallymark._extras import office
from tallymark.errors import InputError

_READERS = {
    ".dta": "read_dta",
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}


def read_statistics_file(
    name: str, wanted: Sequence[str], labelled: Sequence[str], *, encoding: str | None = None
) -> tuple[dict[str, list[Any]], list[str]]:
    """The columns of a file, and what to say of how it was read.

    A column of `labelled` (truth, groups, …) has the labels of its values in place of its codes where every code has
    its own.
    """
    pyreadstat = office("pyreadstat")
    spss = Path(name).suffix.lower() in {".sav", ".zsav", ".por"}
    read = getattr(pyreadstat, _READERS[Path(name).suffix.lower()])
    # The reader of portable files takes no encoding, and no word about missing values.
    portable = Path(name).suffix.lower() == ".por"
    if portable and encoding is not None:
        raise InputError(f"encoding= says nothing of {name!r}: a portable file states its own.")
    options = {} if portable else {"encoding": encoding}
    try:
        values, about = read(name, output_format="dict", **options)
        # Ranges that are missing values are stated only where they are kept as values.
        declared = read(name, metadataonly=True, user_missing=True, **options)[1] if spss and not portable else about
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, OSError, ValueError) as error:
        raise InputError(f"Cannot read {name!r}: {error}.") from None
    columns = {column: [_plain(value) for value in cells] for column, cells in values.items()}
    replaced = []
    for column in labelled:
        names = about.variable_value_labels.get(column)
        if names and column in columns and (texts := _labels(columns[column], names)) is not None:
            columns[column] = texts
            replaced.append(column)
    missing = [name for name in wanted if declared.missing_ranges.get(name) or declared.missing_user_values.get(name)]
    return columns, [
        *(f"value labels of {column}" for column in replaced),
        *(f"values declared missing of {column} as missing" for column in missing),
    ]


def _labels(cells: Sequence[Any], names: Mapping[Any, str]) -> list[Any] | None:
    """The label of each value; None where a value has none, or two share one."""
    present = {value for value in cells if value is not None}
    texts = {value: names.get(value) for value in present}
    if None in texts.values() or len(set(texts.values())) < len(texts):
        return None
    return [None if value is None else texts[value] for value in cells]


def _plain(value: Any) -> Any:
    """A value of Python; missing ones and empty texts are None."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and np.isnan(value):
        return None
    return None if value == "" else value
