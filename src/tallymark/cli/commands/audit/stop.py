"""Say whether screening in rank order may stop.

FILE has the screened rows in the order in which they were screened.

Example: tallymark audit stop screened.csv --label relevant --n 12000 --recall 0.95
"""

from __future__ import annotations

from typing import Annotated

from tallymark import audits
from tallymark.cli.options import Level, PosLabel, column, data_file, number
from tallymark.cli.output import CheckedOutput
from tallymark.sources.any_columns import any_columns
from tallymark.sources.formats import Wanted


def run(
    file: Annotated[str, data_file("FILE", "CSV, Parquet, Excel or other data file, one row per screened row.")],
    n: Annotated[int, number("ROWS", "All rows, screened and not.", least=1)],
    output: CheckedOutput,
    label: Annotated[str, column("Column with the verdict.", "class")] = "checked",
    recall: Annotated[float, number("SHARE", "The recall to reach.")] = 0.95,
    pos_label: PosLabel = None,
    level: Level = 0.95,
) -> None:
    """Test, print."""
    verdicts = any_columns(file, [Wanted(label, "--label", "class")])[label]
    state = audits.stopping(verdicts, n, recall=recall, pos_label=pos_label, level=level)
    if output.as_json:
        output.answer("audit stop", state.to_dict())
        return
    output.text(state.heading(), "bold")
    output.rows(state.printed_rows() if output.for_people else state.rows())
