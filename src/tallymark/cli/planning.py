"""``tallymark by-size`` and ``tallymark sample-size``: how much data tells how much."""

from __future__ import annotations

from collections.abc import Sequence

from tallymark._show import number
from tallymark.cli.printing import positive_label, print_json, print_table, print_text, progress_bar, table, with_limits
from tallymark.intervals.sizes import by_sample_size, sample_size
from tallymark.sources.scan import scan


def run_by_size(
    file: str, label: str, score: str, pos_label: str | None, metrics: Sequence[str], sizes: Sequence[int],
    level: float, repeats: int, seed: int, *, as_json: bool,
) -> None:  # fmt: skip
    """Metrics of subsamples of growing size."""
    positive = positive_label(file, label, pos_label)
    with progress_bar(f"Reading {file}") as progress:
        tally = scan(file, label=label, score=score, pos_label=positive, progress=progress)
    with progress_bar("Drawing subsamples"):
        found = by_sample_size(
            tally, metrics or ("auroc", "pr_auc"), sizes=sizes or None, level=level, repeats=repeats, seed=seed
        )
    if as_json:
        print_json(found.to_dict())
        return
    heads = [("n", "right"), ("positive", "right"), *((name, "right") for name in found.metrics)]
    heads += [("Pearson r", "right")] if len(found.metrics) > 1 else []
    rows = []
    for row in found.rows():
        values = [with_limits(row[name], row[f"{name} low"], row[f"{name} high"]) for name in found.metrics]
        rows.append(
            [
                str(row["n"]),
                str(row["positives"]),
                *values,
                *([number(row["pearson r"])] if len(found.metrics) > 1 else []),
            ]
        )
    print_table(table(f"{file}: {found.heading()}", heads, rows))
    if len(found.sizes) > 1:
        name = found.metrics[0]
        print_text(
            f"About {found.halving(name):.1f} times as many positives halve the interval of {name}.", indent="  "
        )


def run_sample_size(
    auroc: float, difference: float, prevalence: float, correlation: float, sd_ratio: float, power: float, level: float, *,
    as_json: bool,
) -> None:  # fmt: skip
    """Rows needed to tell two models apart."""
    found = sample_size(
        auroc=auroc, difference=difference, prevalence=prevalence, correlation=correlation, sd_ratio=sd_ratio,
        power=power, level=level,
    )  # fmt: skip
    if as_json:
        print_json(found.to_dict())
    else:
        print_text(
            f"{found.n} rows, {found.positives} of them positive, show a difference of {difference:g} around an AUROC of "
            f"{auroc:g} with a chance of {100 * power:g} %, if {100 * prevalence:g} % of the rows are positive and the two "
            f"estimates are correlated by {correlation:g} and scores are normal with a ratio of spreads of {sd_ratio:g}."
        )
