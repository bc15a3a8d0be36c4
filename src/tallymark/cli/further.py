"""Commands around an evaluation and a count: thresholds, calibration, sample sizes, tables; work is imported when a command runs."""

from __future__ import annotations

from typing import Annotated

import typer

from tallymark.cli.naming import listed
from tallymark.cli.options import Beta, CostFn, CostFp, Count, DropMissing, Json, SamplingOption, Weight, Where, given


def from_counts(
    tp: Annotated[int, typer.Option(min=0, help="Positives of the audit sample that were predicted positive.")],
    fn: Annotated[int, typer.Option(min=0, help="Positives that were predicted negative.")],
    fp: Annotated[int, typer.Option(min=0, help="Negatives that were predicted positive.")],
    tn: Annotated[int, typer.Option(min=0, help="Negatives that were predicted negative.")],
    predicted_positive: Annotated[float, typer.Option(help="Rows of the target that were predicted positive.")],
    n: Annotated[float, typer.Option(help="Rows of the target.")],
    method: Annotated[list[str] | None, typer.Option(help="ac, calibration, bayes, cc (comma or repeat).")] = None,
    population: Annotated[float | None, typer.Option(help="Size of the population the target is from (or is).")] = None,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the Bayesian estimate.")] = 0,
    json: Json = False,
) -> None:
    """Count from a confusion table of an audit sample and the number of rows predicted positive.

    Example: tallymark from-counts --tp 80 --fn 20 --fp 10 --tn 90 --predicted-positive 300 --n 1000
    """
    from tallymark.cli.commands import from_counts as command

    command.run((tp, fn, fp, tn), predicted_positive, n, method or (), population, level, seed, as_json=json)


def calibrate(
    validation: Annotated[str, typer.Argument(help="Labelled rows with scores.")],
    target: Annotated[str, typer.Argument(help="Rows whose scores become probabilities.")],
    label: Annotated[str, typer.Option(help="Column with the true class.")],
    score: Annotated[str, typer.Option(help="Score column, in both files.")],
    out: Annotated[str, typer.Option(help="CSV or Parquet file to write: the target with one more column.")],
    method: Annotated[str, typer.Option(help="bayes, platt, isotonic, beta or temperature.")] = "bayes",
    column: Annotated[str, typer.Option(help="Name of the new column.")] = "probability",
    pos_label: Annotated[str | None, typer.Option(help="The positive label, where it is not obvious.")] = None,
    weight: Weight = None,
    count: Count = None,
    where: Annotated[str | None, typer.Option(help="Only labelled rows that satisfy this SQL condition.")] = None,
    drop_missing: Annotated[
        bool, typer.Option("--drop-missing", help="Leave out labelled rows with a missing value.")
    ] = False,
    json: Json = False,
) -> None:
    """Turn scores into probabilities: at the validation sample's prevalence, or (bayes) at the target's own.

    Example: tallymark calibrate labelled.csv new.csv --label y --score s --out new_with_p.parquet
    """
    from tallymark.cli.commands import calibrate as command
    from tallymark.cli.commands.sources import Source

    source = Source(weight=weight, count=count, where=where, drop_missing=drop_missing)
    command.run(validation, target, label, score, out, method, column, pos_label, source, as_json=json)


def thresholds(
    file: Annotated[str, typer.Argument(help="CSV, Parquet or JSON lines file or pattern, one row per object.")],
    label: Annotated[str, typer.Option(help="Column with the true class.")],
    score: Annotated[str, typer.Option(help="Score column.")],
    pos_label: Annotated[str | None, typer.Option(help="The positive label, where it is not obvious.")] = None,
    weight: Weight = None,
    count: Count = None,
    where: Where = None,
    drop_missing: DropMissing = False,
    policy: Annotated[list[str] | None, typer.Option(help="A policy such as f1 or tpr:0.9; repeat for more.")] = None,
    metric: Annotated[str | None, typer.Option(help="Judge each choice by this metric instead of its own.")] = None,
    level: Annotated[float, typer.Option(help="Share of the resamples the limits hold.")] = 0.95,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resamples.")] = 0,
    sampling: SamplingOption = "plain",
    cost_fp: CostFp = None,
    cost_fn: CostFn = None,
    beta: Beta = None,
    json: Json = False,
) -> None:
    """Choose thresholds by policies, and see how far the choice moves and how much it flatters itself.

    Example: tallymark thresholds scores.csv --label y --score p --policy f1 --policy tpr:0.9
    """
    from tallymark.cli.commands import thresholds as command
    from tallymark.cli.commands.sources import Source

    command.run(
        file,
        label,
        score,
        pos_label,
        Source(weight=weight, count=count, where=where, drop_missing=drop_missing),
        policy or (),
        metric,
        level,
        seed,
        sampling,
        given(cost_fp=cost_fp, cost_fn=cost_fn, beta=beta),
        as_json=json,
    )


def by_size(
    file: Annotated[str, typer.Argument(help="CSV, Parquet or JSON lines file or pattern, one row per object.")],
    label: Annotated[str, typer.Option(help="Column with the true class.")],
    score: Annotated[str, typer.Option(help="Score column.")],
    pos_label: Annotated[str | None, typer.Option(help="The positive label, where it is not obvious.")] = None,
    weight: Weight = None,
    count: Count = None,
    where: Where = None,
    drop_missing: DropMissing = False,
    metric: Annotated[list[str] | None, typer.Option(help="Metrics of the ranking (comma or repeat).")] = None,
    size: Annotated[list[int] | None, typer.Option(help="Rows of a subsample; repeat for more.")] = None,
    level: Annotated[float, typer.Option(help="Share of the subsamples the limits hold.")] = 0.95,
    replicates: Annotated[int, typer.Option(help="Subsamples of each size.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the subsamples.")] = 0,
    json: Json = False,
) -> None:
    """See how metrics scatter with the number of rows: repeated subsamples of growing size.

    Example: tallymark by-size scores.csv --label y --score p --metric auroc,pr_auc
    """
    from tallymark.cli.commands import by_size as command
    from tallymark.cli.commands.sources import Source

    source = Source(weight=weight, count=count, where=where, drop_missing=drop_missing)
    command.run(
        file, label, score, pos_label, source, listed(metric or ()), size or (), level, replicates, seed, as_json=json
    )


def sample_size(
    auroc: Annotated[float, typer.Option(help="About how good the models are.")],
    difference: Annotated[float, typer.Option(help="The difference of their AUROCs that matters.")],
    prevalence: Annotated[float, typer.Option(help="Share of positives in the data to come.")] = 0.5,
    correlation: Annotated[float, typer.Option(help="Correlation of the two estimates.")] = 0.5,
    sd_ratio: Annotated[float, typer.Option(help="Spread of the positives' scores over that of the negatives'.")] = 1.0,
    power: Annotated[float, typer.Option(help="Chance to show the difference.")] = 0.8,
    level: Annotated[float, typer.Option(help="Confidence level, 1 − α.")] = 0.95,
    json: Json = False,
) -> None:
    """Say how many rows and positives tell two models apart by AUROC, before there is data.

    Example: tallymark sample-size --auroc 0.85 --difference 0.02 --prevalence 0.1
    """
    from tallymark.cli.commands import sample_size as command

    command.run(auroc, difference, prevalence, correlation, sd_ratio, power, level, as_json=json)
