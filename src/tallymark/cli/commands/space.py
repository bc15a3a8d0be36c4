"""Find the best classifier for each ratio of costs.

Classifiers are points of ROC space; those on the upper convex hull are best for some ratio of costs.

Example: tallymark space calls.csv --label y --predicted a,b,c --prevalence 0.02
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tallymark.cli.options import Cluster, File, Label, OptionGroup, RowOptions, Seed, columns, number, text
from tallymark.cli.output import ReportedOutput
from tallymark.cli.reading import read_columns
from tallymark.decisions.roc_space import space


@dataclass(frozen=True)
class SpaceOptions(OptionGroup):
    """Which classifiers, at which prevalence."""

    label: Label
    predicted: Annotated[list[str], columns("Columns with predicted classes", "class")]
    cluster: Cluster = None
    prevalence: Annotated[float | None, number("SHARE", "Prevalence to decide at; left out, that of the file.")] = None
    metric: Annotated[str, text("METRIC", "Metric by which the best is named.")] = "balanced_accuracy"
    replicates: Annotated[int, number("INTEGER", "Resamples behind the shares of certainty.", least=100)] = 2_000
    seed: Seed = 0


def run(file: File, options: SpaceOptions, rows: RowOptions, output: ReportedOutput) -> None:
    """Place the classifiers, print."""
    output.require_place(file)
    result = space(read_columns(file, rows, options), **vars(options), pos_label=rows.pos_label)
    output.write_report(result, file)
    if output.as_json:
        output.answer("space", result.to_dict())
        return
    output.lines(result.heading())
    output.rows(result.rows())
    output.say_where()
