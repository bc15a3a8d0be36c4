"""Test which methods differ, by their ranks over data sets.

It takes a study, or any table with one row per data set and one column per method.

Example: tallymark study test results.csv --test nemenyi --better higher
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from tallymark import study as studies
from tallymark.cli.options import Level, argument, column, text
from tallymark.cli.output import Output
from tallymark.errors import InputError
from tallymark.registry import choose
from tallymark.study.method_table import table_of
from tallymark.study.studies import Study

#: Tests of a table by the name they have on the command line.
TESTS = {
    "friedman": studies.friedman,
    "iman-davenport": studies.iman_davenport,
    "nemenyi": studies.nemenyi,
    "shaffer": studies.shaffer,
    "wilcoxon": studies.wilcoxon,
    "holm": studies.holm,
    "hochberg": studies.hochberg,
    "hommel": studies.hommel,
    "bonferroni-dunn": studies.bonferroni_dunn,
    "westfall-young": studies.westfall_young,
    "bayesian-signed-rank": studies.bayesian_signed_rank,
    "correlated-t": studies.correlated_t,
}
#: Tests of all methods against one.
_CONTROLLED = {"holm", "hochberg", "hommel", "bonferroni-dunn", "westfall-young"}
_WITH_LEVEL = {"nemenyi", "shaffer", "wilcoxon", *_CONTROLLED}


def run(
    file: Annotated[
        str, argument("FILE", "A study's TOML file, or a CSV or Parquet table: data set, then a column per method.")
    ],
    output: Output,
    loss: Annotated[str | None, text("LOSS", "Loss to rank by (the study's first).")] = None,
    test: Annotated[str, text("TEST", f"{', '.join(TESTS)}.")] = "nemenyi",
    control: Annotated[str | None, text("METHOD", "Method to compare the others with.")] = None,
    better: Annotated[str, text("WORD", "Which numbers of a table are better: lower or higher.")] = "lower",
    dataset: Annotated[
        str | None,
        column(
            "Column of a table that names the data sets, or none; left out, the one called dataset, id or name, else a "
            "first one of text."
        ),
    ] = None,
    level: Level = 0.95,
) -> None:
    """Test a study's ranks, or those of a table."""
    chosen = choose("--test", test, TESTS)
    data: Any
    if Path(file).suffix.lower() == ".toml":
        results = Study.from_toml(file).results()
        data = results.ranks(loss or results.losses[0]).table
    else:
        data = table_of(file, better, dataset)
    if control is not None and test not in _CONTROLLED:
        raise InputError(f"--control goes with {', '.join(sorted(_CONTROLLED))}; {test} compares all.")
    if control is None and test == "bonferroni-dunn":
        raise InputError("bonferroni-dunn compares with one method; name it with --control.")
    options: dict[str, Any] = {} if control is None else {"control": control}
    if test in _WITH_LEVEL:
        options["level"] = level
    result = chosen(data, **options)
    if output.as_json:
        output.answer("study test", result.to_dict())
        return
    for line in result.heading().splitlines():
        output.text(line)
    output.rows(result.rows())
