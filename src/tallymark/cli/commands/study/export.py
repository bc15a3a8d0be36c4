"""Write one row per data set, fold, prevalence and method.

Example: tallymark study export forman.toml results.parquet
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from tallymark._display import columns_of
from tallymark._workbook import Sheet, write_workbook
from tallymark._write import replacing
from tallymark.cli.commands.study.options import File
from tallymark.cli.options import argument
from tallymark.cli.output import Output, require_table_place
from tallymark.errors import InputError
from tallymark.sources.duck import connected, quoted, text
from tallymark.study.studies import Study


def run(
    file: File, out: Annotated[str, argument("OUT", "CSV, Parquet or spreadsheet file to write.")], output: Output
) -> None:
    """Write every row of the results."""
    require_table_place(out, file)
    study = Study.from_toml(file)
    results = study.results()
    lines = list(results.lines())
    if not lines:
        raise InputError(f"{study.name} has no finished cell to export; run it first.")
    inputs, columns = [file, str(study.store)], columns_of(lines)
    if (write := _WRITERS.get(Path(out).suffix.lower())) is None:
        write_workbook(out, [Sheet("", columns)], inputs=inputs)
    else:
        with replacing(out, inputs=inputs) as temporary:
            write(temporary, columns)
    if output.as_json:
        answer = {"name": study.name, "n": len(lines), "out": out, "unfinished": results.unfinished}
        output.answer("study export", answer)
        return
    rest = f"; {results.unfinished} cells are not run yet" if results.unfinished else ""
    output.text(f"Wrote {out}: {len(lines)} lines{rest}.")


def _write_csv(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as target:
        writer = csv.writer(target, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def _write_parquet(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    with connected(str(path), [str(path)]) as duck:
        duck.keep_order()
        duck.register("tallymark_lines", {name: np.asarray(values) for name, values in columns.items()})
        listed = ", ".join(map(quoted, columns))
        duck.query(
            f"COPY (SELECT {listed} FROM tallymark_lines) TO {text(str(path))} (FORMAT parquet, USE_TMP_FILE false)"
        )


_WRITERS = {".csv": _write_csv, ".parquet": _write_parquet}
