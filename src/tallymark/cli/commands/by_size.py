"""``tallymark by-size``: how metrics scatter with the number of rows."""

from __future__ import annotations

from collections.abc import Sequence

from tallymark._numbers import number, with_limits
from tallymark.cli.commands.sources import Source
from tallymark.cli.printing import print_json, print_table, print_text, progress_bar, table
from tallymark.inference.by_sample_size import by_sample_size


def run(
    file: str, label: str, score: str, pos_label: str | None, source: Source, metrics: Sequence[str], sizes: Sequence[int],
    level: float, replicates: int, seed: int, *, as_json: bool,
) -> None:  # fmt: skip
    """Metrics of subsamples of growing size."""
    tally = source.tally(file, label, score, pos_label)
    with progress_bar("Drawing subsamples"):
        scatter = by_sample_size(
            tally, metrics or ("auroc", "pr_auc"), sizes=sizes or None, level=level, replicates=replicates, seed=seed
        )
    if as_json:
        print_json("by-size", {"n": tally.n, "positives": tally.positives, **scatter.to_dict()})
        return
    heads = [("n", "right"), ("positive", "right"), *((name, "right") for name in scatter.metrics)]
    heads += [("Pearson r", "right")] if len(scatter.metrics) > 1 else []
    rows = []
    for row in scatter.rows():
        values = [with_limits(row[name], row[f"{name} low"], row[f"{name} high"]) for name in scatter.metrics]
        rows.append(
            [
                number(row["n"]),
                number(row["positives"]),
                *values,
                *([number(row["pearson r"])] if len(scatter.metrics) > 1 else []),
            ]
        )
    print_table(table(f"{file}: {scatter.heading()}", heads, rows))
    if len(scatter.sizes) > 1:
        name = scatter.metrics[0]
        print_text(
            f"About {scatter.halving(name):.1f} times as many positives halve the interval of {name}.", indent="  "
        )
