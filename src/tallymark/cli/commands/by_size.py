"""Measure how metrics scatter with the number of rows.

Repeated subsamples of growing size are drawn from the rows.

Example: tallymark by-size scores.csv --label y --score p --metric auroc,pr_auc
"""

from __future__ import annotations

from typing import Annotated

from tallymark._numbers import number as shown
from tallymark._numbers import with_limits
from tallymark.cli.layout import table
from tallymark.cli.options import File, Label, Score, Seed, WeightedRowOptions, names, number
from tallymark.cli.output import CheckedOutput, progress_bar
from tallymark.cli.reading import read_tally
from tallymark.inference.by_sample_size import by_sample_size

#: The metrics unless others are named.
_USUAL = ("auroc", "pr_auc")


def run(
    file: File,
    label: Label,
    score: Score,
    rows: WeightedRowOptions,
    output: CheckedOutput,
    metric: Annotated[list[str] | None, names("METRIC", "Metrics of the ranking")] = None,
    size: Annotated[list[int] | None, number("ROWS", "Rows of a subsample; repeat for more.")] = None,
    level: Annotated[float, number("SHARE", "Share of the subsamples the limits hold.")] = 0.95,
    replicates: Annotated[int, number("INTEGER", "Subsamples of each size.")] = 200,
    seed: Seed = 0,
) -> None:
    """Metrics of subsamples of growing size."""
    tally = read_tally(file, label, score, rows)
    with progress_bar("Drawing subsamples"):
        scatter = by_sample_size(
            tally, metric or _USUAL, sizes=size or None, level=level, replicates=replicates, seed=seed
        )
    if output.as_json:
        output.answer("by-size", {"n": tally.n, "positives": tally.positives, **scatter.to_dict()})
        return
    several = len(scatter.metrics) > 1
    heads = [("n", "right"), ("positive", "right"), *((name, "right") for name in scatter.metrics)]
    heads += [("Pearson r", "right")] if several else []
    lines = [
        [
            shown(row["n"]),
            shown(row["positives"]),
            *(with_limits(row[name], row[f"{name} low"], row[f"{name} high"]) for name in scatter.metrics),
            *([shown(row["pearson r"])] if several else []),
        ]
        for row in scatter.rows()
    ]
    output.table(table(f"{file}: {scatter.heading()}", heads, lines))
    if len(scatter.sizes) > 1:
        name = scatter.metrics[0]
        output.text(
            f"About {scatter.halving(name):.1f} times as many positives halve the interval of {name}.", indent="  "
        )
