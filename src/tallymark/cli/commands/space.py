"""Find which classifiers could be the best choice, for which costs.

Classifiers are points of ROC space; those on the upper convex hull are best for some ratio of costs.

Example: tallymark space calls.csv --label y --predicted a,b,c --prevalence 0.02
"""

from __future__ import annotations

from typing import Annotated

from tallymark.cli.options import Cluster, File, Label, RowOptions, Seed, names, number, text
from tallymark.cli.output import ReportedOutput
from tallymark.cli.reading import read_columns, wanted_columns
from tallymark.decisions.roc_space import space


def run(
    file: File,
    label: Label,
    predicted: Annotated[list[str], names("COLUMN", "Columns with predicted classes")],
    rows: RowOptions,
    output: ReportedOutput,
    cluster: Cluster = None,
    prevalence: Annotated[float | None, number("SHARE", "Prevalence to decide at; left out, that of the file.")] = None,
    metric: Annotated[str, text("METRIC", "Metric by which the best is named.")] = "balanced_accuracy",
    replicates: Annotated[int, number("INTEGER", "Resamples behind the shares of certainty.", least=100)] = 2_000,
    seed: Seed = 0,
) -> None:
    """Place the classifiers, print."""
    output.require_place(file)
    wanted = [*wanted_columns("class", label=label, predicted=predicted), *wanted_columns(cluster=cluster)]
    result = space(
        read_columns(file, wanted, rows), label=label, predicted=predicted, cluster=cluster, pos_label=rows.pos_label,
        prevalence=prevalence, metric=metric, replicates=replicates, seed=seed,
    )  # fmt: skip
    output.write_report(result, file)
    if output.as_json:
        output.answer("space", result.to_dict())
        return
    output.lines(result.heading())
    output.rows(result.rows())
    output.say_where()
