"""Commands for deciding: options and help; work is imported when a command runs."""

from __future__ import annotations

from typing import Annotated

import typer

from tallymark.cli.naming import listed
from tallymark.cli.options import Json, Level, Order, PosLabel, Report, Seed


def index(
    file: Annotated[str, typer.Argument(help="CSV, Parquet or JSON lines file or pattern, a line per sale.")],
    period: Annotated[str, typer.Option(help="Column with the period.", show_default=False)] = ...,  # type: ignore[assignment]
    product: Annotated[
        list[str], typer.Option(help="Columns that make a product (comma or repeat).", show_default=False)
    ] = ...,  # type: ignore[assignment]
    price: Annotated[str, typer.Option(help="Column with the price.", show_default=False)] = ...,  # type: ignore[assignment]
    quantity: Annotated[str | None, typer.Option(help="Column with the quantity.")] = None,
    formula: Annotated[
        list[str] | None,
        typer.Option(
            help="jevons, dutot, carli, laspeyres, paasche, fisher, tornqvist, walsh, geks_jevons, geks_fisher, geks_tornqvist, "
            "geary_khamis, time_product_dummy (comma or repeat)."
        ),
    ] = None,
    chained: Annotated[bool, typer.Option("--chained", help="Compare each period with the one before.")] = False,
    window: Annotated[int | None, typer.Option(min=2, help="Rolling window of a multilateral formula.")] = None,
    splice: Annotated[str, typer.Option(help="How windows are tied: movement, window, half or mean.")] = "movement",
    label: Annotated[
        str | None,
        typer.Option(help="Column that says which products are of the class: what do errors do to its index?"),
    ] = None,
    pos_label: PosLabel = None,
    metric: Annotated[str, typer.Option(help="With --label: metric that classifiers reach.")] = "balanced_accuracy",
    metric_value: Annotated[float, typer.Option(help="With --label: the value of that metric.")] = 0.9,
    tolerance: Annotated[
        float | None, typer.Option(help="With --label: also find the value at which the index stays within this.")
    ] = None,
    errors: Annotated[str, typer.Option(help="With --label: errors fall random, by price or by scores.")] = "random",
    score: Annotated[str | None, typer.Option(help="With --errors scores: column with probabilities.")] = None,
    predicted: Annotated[str | None, typer.Option(help="With --label: a real classifier's calls instead.")] = None,
    together: Annotated[
        str | None, typer.Option(help="With --label: products alike in this are classified alike.")
    ] = None,
    draws: Annotated[int, typer.Option(min=2, help="With --label: classifiers to draw.")] = 1_000,
    seed: Seed = 0,
    where: Annotated[str | None, typer.Option(help="Only lines that satisfy this SQL condition.")] = None,
    order: Order = None,
    json: Json = False,
    report: Report = None,
) -> None:
    """Compute price indices, each with its matched share; with --label, what classification errors do to them.

    Example: tallymark index milk.csv --period month --product id --price price --quantity q --formula fisher,geks_fisher
    """
    from tallymark.cli.commands import index as command

    if label is not None:
        command.under_error(
            file, formula or ["fisher"], tolerance, as_json=json, report=report, where=where, window=window, period=period, product=product,
            price=price, quantity=quantity, label=label, pos_label=pos_label, metric=metric, metric_value=metric_value, chained=chained, errors=errors,
            score=score, predicted=predicted, together=together, draws=draws, seed=seed, order=listed(order or ()) or None,
        )  # fmt: skip
        return
    command.run(
        file, period, product, price, quantity, formula or ["fisher"], where, window, splice, listed(order or ()), chained=chained, as_json=json, report=report
    )  # fmt: skip


def advise(
    file: Annotated[
        str | None, typer.Argument(help="File to read stability off, with --period, --label and perhaps --value.")
    ] = None,
    classes: Annotated[int, typer.Option(min=2, help="Number of classes.")] = 2,
    prevalence_stable: Annotated[
        bool | None, typer.Option(help="Does the class's share stay from period to period?", show_default=False)
    ] = None,
    values_stable: Annotated[
        bool | None, typer.Option(help="Do the class's prices keep their distribution?", show_default=False)
    ] = None,
    prevalence: Annotated[
        str | None, typer.Option(help="low, balanced or high; left out, read off FILE or balanced.")
    ] = None,
    true_negatives_matter: Annotated[
        bool, typer.Option("--true-negatives-matter", help="True negatives count too.")
    ] = False,
    emphasise: Annotated[str | None, typer.Option(help="The error that hurts more: fp or fn.")] = None,
    cost_fp: Annotated[float | None, typer.Option(help="Cost of a false positive.")] = None,
    cost_fn: Annotated[float | None, typer.Option(help="Cost of a false negative.")] = None,
    period: Annotated[str | None, typer.Option(help="Column of FILE with the period.")] = None,
    label: Annotated[str | None, typer.Option(help="Column of FILE with the true class.")] = None,
    value: Annotated[str | None, typer.Option(help="Column of FILE with the price, or any value.")] = None,
    pos_label: PosLabel = None,
    order: Order = None,
    json: Json = False,
    report: Report = None,
) -> None:
    """Say which metric to watch a classifier of prices by, and why.

    Example: tallymark advise --no-prevalence-stable --values-stable --prevalence low --emphasise fp
    """
    from tallymark.cli.commands import advise as command

    command.run(
        classes=classes, prevalence_stable=prevalence_stable, values_stable=values_stable, prevalence=prevalence,
        true_negatives_matter=true_negatives_matter, emphasise=emphasise, cost_fp=cost_fp, cost_fn=cost_fn, period=period,
        label=label, value=value, pos_label=pos_label, order=listed(order or ()) or None, file=file, as_json=json, report=report,
    )  # fmt: skip


def impact(
    file: Annotated[str, typer.Argument(help="CSV, Parquet or JSON lines file or pattern, one row per object.")],
    label: Annotated[str, typer.Option(help="Column with the true class.", show_default=False)] = ...,  # type: ignore[assignment]
    value: Annotated[str, typer.Option(help="Column with the price, or any value.", show_default=False)] = ...,  # type: ignore[assignment]
    predicted: Annotated[str | None, typer.Option(help="Column with the predicted class.")] = None,
    score: Annotated[str | None, typer.Option(help="Or: column with the score.")] = None,
    threshold: Annotated[float | None, typer.Option(help="Scores from here on are called positive.")] = None,
    period: Annotated[str | None, typer.Option(help="Column with the period.")] = None,
    weight: Annotated[str | None, typer.Option(help="Column with expenditure or survey weights.")] = None,
    cluster: Annotated[str | None, typer.Option(help="Column that says which rows belong together.")] = None,
    pos_label: PosLabel = None,
    tolerance: Annotated[float, typer.Option(help="Share of the level that would not matter.")] = 0.01,
    level: Level = 0.95,
    where: Annotated[str | None, typer.Option(help="Only rows that satisfy this SQL condition.")] = None,
    order: Order = None,
    json: Json = False,
    report: Report = None,
) -> None:
    """Say whether false positives and false negatives differ in price, and what that does.

    Example: tallymark impact sales.parquet --label is_milk --predicted called --value price --period month
    """
    from tallymark.cli.commands import impact as command

    command.run(
        file, as_json=json, report=report, label=label, value=value, predicted=predicted, score=score, threshold=threshold,
        period=period, weight=weight, cluster=cluster, pos_label=pos_label, tolerance=tolerance, level=level, where=where,
        order=listed(order or ()) or None,
    )  # fmt: skip


def space(
    file: Annotated[str, typer.Argument(help="CSV, Parquet or JSON lines file or pattern, one row per object.")],
    label: Annotated[str, typer.Option(help="Column with the true class.", show_default=False)] = ...,  # type: ignore[assignment]
    predicted: Annotated[
        list[str], typer.Option(help="Columns with predicted classes (comma or repeat).", show_default=False)
    ] = ...,  # type: ignore[assignment]
    cluster: Annotated[str | None, typer.Option(help="Column that says which rows belong together.")] = None,
    pos_label: PosLabel = None,
    prevalence: Annotated[float | None, typer.Option(help="Prevalence to decide at; left out, the file's own.")] = None,
    metric: Annotated[str, typer.Option(help="Metric by which a leader is named.")] = "balanced_accuracy",
    replicates: Annotated[int, typer.Option(min=100, help="Resamples behind how sure a statement is.")] = 2_000,
    seed: Seed = 0,
    json: Json = False,
    report: Report = None,
) -> None:
    """Say which of several classifiers could be the best choice, and for which costs.

    Example: tallymark space calls.csv --label y --predicted a,b,c --prevalence 0.02
    """
    from tallymark.cli.commands import space as command

    command.run(
        file, as_json=json, report=report, label=label, predicted=predicted, cluster=cluster, pos_label=pos_label,
        prevalence=prevalence, metric=metric, replicates=replicates, seed=seed,
    )  # fmt: skip


Amount = Annotated[str, typer.Option(help="A number, or the column that has it for each row.")]


def costs(
    file: Annotated[str, typer.Argument(help="CSV, Parquet or JSON lines file or pattern, one row per object.")],
    label: Annotated[str, typer.Option(help="Column with the true class.", show_default=False)] = ...,  # type: ignore[assignment]
    score: Annotated[list[str] | None, typer.Option(help="Score columns, one a model (comma or repeat).")] = None,
    predicted: Annotated[list[str] | None, typer.Option(help="Or: columns with predicted classes.")] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Where scores are cut; left out, where most is earned.")
    ] = None,
    cost_fp: Amount = "1",
    cost_fn: Amount = "1",
    value_tp: Amount = "0",
    value_tn: Amount = "0",
    matrix: Annotated[
        str | None,
        typer.Option(help="CSV file with the cost of each truth (lines) and call (columns), for any classes."),
    ] = None,
    weight: Annotated[str | None, typer.Option(help="Column that says what a row counts.")] = None,
    cluster: Annotated[str | None, typer.Option(help="Column that says which rows belong together.")] = None,
    pos_label: PosLabel = None,
    level: Level = 0.95,
    seed: Seed = 0,
    where: Annotated[str | None, typer.Option(help="Only rows that satisfy this SQL condition.")] = None,
    json: Json = False,
    report: Report = None,
) -> None:
    """Say what calls cost and earn when every item has its own costs, and where to cut.

    Example: tallymark costs claims.parquet --label fraud --score p --cost-fp 5 --cost-fn amount
    """
    from tallymark.cli.commands import costs as command

    command.run(
        file, as_json=json, report=report, label=label, score=score or [], predicted=predicted or [], threshold=threshold,
        amounts={"cost_fp": cost_fp, "cost_fn": cost_fn, "value_tp": value_tp, "value_tn": value_tn}, matrix=matrix, weight=weight,
        cluster=cluster, pos_label=pos_label, level=level, seed=seed, where=where,
    )  # fmt: skip


def watch(
    data: Annotated[
        str, typer.Argument(help="A file or pattern with a period column, or a folder with a file for each period.")
    ],
    score: Annotated[str, typer.Option(help="Column with the score.", show_default=False)] = ...,  # type: ignore[assignment]
    period: Annotated[
        str | None, typer.Option(help="Column with the period; left out in a folder, a file is one.")
    ] = None,
    label: Annotated[str | None, typer.Option(help="Column with the true class; empty where it is not known.")] = None,
    value: Annotated[str | None, typer.Option(help="Column with the price, or any value.")] = None,
    reference: Annotated[int | None, typer.Option(min=3, help="Leading periods that are known to be in order.")] = None,
    audit: Annotated[bool, typer.Option("--audit", help="Labels of later periods are random samples of them.")] = False,
    threshold: Annotated[str, typer.Option(help="Where metrics to expect are cut: a number or a policy.")] = "0.5",
    method: Annotated[str, typer.Option(help="Quantifier that counts each period.")] = "bayes",
    metric: Annotated[list[str] | None, typer.Option(help="Metrics to expect (comma or repeat).")] = None,
    run_length: Annotated[float, typer.Option(min=2, help="Periods between false alarms, on average.")] = 370.0,
    pos_label: PosLabel = None,
    level: Level = 0.95,
    store: Annotated[str | None, typer.Option(help="SQLite file that keeps the history of all runs.")] = None,
    seed: Seed = 0,
    where: Annotated[str | None, typer.Option(help="Only rows that satisfy this SQL condition.")] = None,
    order: Order = None,
    json: Json = False,
    report: Report = None,
) -> None:
    """Watch a classifier period by period, and say when to look again.

    Example: tallymark watch months/ --score p --label checked --store history.sqlite --report watch.html
    """
    from tallymark.cli.commands import watch as command

    command.run(
        data, as_json=json, report=report, score=score, period=period, label=label, value=value, reference=reference, audit=audit,
        threshold=threshold, method=method, metrics=metric, run_length=run_length, pos_label=pos_label, level=level, store=store,
        seed=seed, where=where, order=listed(order or ()) or None,
    )  # fmt: skip
