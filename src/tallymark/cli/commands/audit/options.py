"""What the commands of an audit share."""

from __future__ import annotations

from typing import Annotated

from tallymark.cli.options import column, columns, number

#: The column in which a plan writes the probability with which a row was drawn.
INCLUSION = "inclusion"

By = Annotated[list[str] | None, columns("Group by these columns")]
Value = Annotated[str | None, column("Estimate this column's sum instead of the number of rows.", "number")]
Threshold = Annotated[float | None, number("NUMBER", "Scores from here on are predicted positive.")]
