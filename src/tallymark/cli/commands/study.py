"""``tallymark study run | show | export | test | report``."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from tallymark import study as studies
from tallymark._display import columns_of
from tallymark._write import replacing, require_writable
from tallymark.cli.printing import (
    print_json,
    print_rows,
    print_text,
    print_written,
    progress_bar,
    require_report_place,
)
from tallymark.errors import InputError
from tallymark.registry import choose
from tallymark.study.method_table import MethodTable, table_of
from tallymark.study.outcomes import StudyResults
from tallymark.study.studies import Study

#: Tests of a table by the name they have on the command line; those that take a control.
TESTS = {
    "friedman": studies.friedman, "iman-davenport": studies.iman_davenport, "nemenyi": studies.nemenyi, "shaffer": studies.shaffer,
    "wilcoxon": studies.wilcoxon, "holm": studies.holm, "hochberg": studies.hochberg, "hommel": studies.hommel,
    "bonferroni-dunn": studies.bonferroni_dunn, "bayesian-signed-rank": studies.bayesian_signed_rank,
    "correlated-t": studies.correlated_t,
}  # fmt: skip
_CONTROLLED = {"holm", "hochberg", "hommel", "bonferroni-dunn"}


def run(file: str, jobs: int, *, retry: bool, as_json: bool) -> None:
    """Work on what is not finished; ends with status 1 where a cell failed."""
    study = Study.from_toml(file)
    with progress_bar(f"Running {study.name}") as progress:
        done = study.run(jobs=jobs, progress=progress, retry=retry)
    if as_json:
        print_json("study run", {"name": study.name, "done": done.done, "found": done.found, "failed": done.failed,
                                 "skipped": dict(done.skipped), "store": str(study.store)})  # fmt: skip
    else:
        print_text(f"{study.name}: {done.heading()}")
        print_text(f"Results are in {study.store}; tallymark study show {file} lists them.", "dim", indent="  ")
    if done.failed:
        raise typer.Exit(1)


def show(file: str, *, as_json: bool) -> None:
    """Mean losses, ranks, failures."""
    results = Study.from_toml(file).results()
    if as_json:
        print_json("study show", results.to_dict())
        return
    print_text(results.heading(), "bold")
    print_rows(results.rows(), "Mean losses over data sets, prevalences and folds")
    for cell in results.failed:
        print_text(f"! {cell.method} on {cell.dataset}, fold {cell.fold}: {cell.error}", "yellow")


def export(file: str, out: str, *, as_json: bool) -> None:
    """Every line to a CSV or Parquet file."""
    path = Path(out)
    if path.suffix.lower() not in {".csv", ".parquet"}:
        raise InputError(f"{out!r}: write a .csv or a .parquet file.")
    require_writable(out, inputs=[file])
    study = Study.from_toml(file)
    results = study.results()
    lines = list(results.lines())
    if not lines:
        raise InputError(f"{study.name} has no finished cell to export; run it first.")
    columns = columns_of(lines)
    with replacing(out, inputs=[file, study.store]) as temporary:
        if path.suffix.lower() == ".csv":
            with temporary.open("w", newline="", encoding="utf-8") as target:
                writer = csv.writer(target, lineterminator="\n")
                writer.writerow(columns)
                writer.writerows(zip(*columns.values(), strict=True))
        else:
            _parquet(temporary, columns)
    if as_json:
        print_json("study export", {"name": study.name, "n": len(lines), "out": out, "unfinished": results.unfinished})
        return
    rest = f"; {results.unfinished} cells are not run yet" if results.unfinished else ""
    print_text(f"Wrote {out}: {len(lines)} lines{rest}.")


def _parquet(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    import numpy as np

    from tallymark.sources.duck import connected, quoted, text

    with connected(str(path), [str(path)]) as duck:
        duck.keep_order()
        duck.register("tallymark_lines", {name: np.asarray(values) for name, values in columns.items()})
        listed = ", ".join(map(quoted, columns))
        duck.query(
            f"COPY (SELECT {listed} FROM tallymark_lines) TO {text(str(path))} (FORMAT parquet, USE_TMP_FILE false)"
        )


def test(
    file: str,
    loss: str | None,
    name: str,
    control: str | None,
    level: float,
    *,
    table: tuple[str, str | None],
    as_json: bool,
) -> None:
    """A test of a study's ranks, or of any table of results; `table` says which numbers are better, and what names the data sets."""
    chosen = choose("--test", name, TESTS)
    data: Any
    if Path(file).suffix.lower() == ".toml":
        results = Study.from_toml(file).results()
        data = _ranks(results, loss)
    else:
        data = table_of(file, *table)
    options: dict[str, Any] = {}
    if control is not None:
        if name not in _CONTROLLED:
            raise InputError(f"--control goes with {', '.join(sorted(_CONTROLLED))}; {name} compares all.")
        options["control"] = control
    elif name == "bonferroni-dunn":
        raise InputError("bonferroni-dunn compares with one method; name it with --control.")
    if name in {"nemenyi", "shaffer", "wilcoxon", *_CONTROLLED}:
        options["level"] = level
    found = chosen(data, **options)
    if as_json:
        print_json("study test", found.to_dict())
        return
    for line in found.heading().splitlines():
        print_text(line)
    print_rows(found.rows())


def _ranks(results: StudyResults, loss: str | None) -> MethodTable:
    return results.ranks(loss or results.losses[0]).table


def report(file: str, out: str, level: float) -> None:
    """The report page of a study."""
    from tallymark.reporting.pages import report as write

    require_report_place(out, file)
    results = Study.from_toml(file).results()
    with progress_bar(f"Writing {out}") as progress:
        write(results, out, level=level, progress=progress)
    print_written(out)
