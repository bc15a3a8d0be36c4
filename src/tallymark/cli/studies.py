"""``tallymark study``: options and help; work is imported when a command runs."""

from __future__ import annotations

from typing import Annotated

import typer

from tallymark.cli.options import Json, Level

app = typer.Typer(
    help="Compare quantifiers on many data sets: run, look at, export, test, report.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

File = Annotated[str, typer.Argument(help="TOML file that describes the study; results are kept beside it.")]


@app.command()
def run(
    file: File,
    jobs: Annotated[int, typer.Option(min=1, help="Processes that work side by side.")] = 1,
    retry: Annotated[bool, typer.Option("--retry", help="Work on failed cells again.")] = False,
    json: Json = False,
) -> None:
    """Run a study, or go on with one that was stopped; ends with status 1 where a cell failed.

    Example: tallymark study run forman.toml --jobs 2
    """
    from tallymark.cli.commands import study as command

    command.run(file, jobs, retry=retry, as_json=json)


@app.command()
def show(file: File, json: Json = False) -> None:
    """Mean losses of what is finished, and what failed.

    Example: tallymark study show forman.toml
    """
    from tallymark.cli.commands import study as command

    command.show(file, as_json=json)


@app.command()
def export(
    file: File,
    out: Annotated[str, typer.Argument(help="CSV or Parquet file to write.")],
    json: Json = False,
) -> None:
    """One line per data set, fold, prevalence and method.

    Example: tallymark study export forman.toml results.parquet
    """
    from tallymark.cli.commands import study as command

    command.export(file, out, as_json=json)


@app.command("test")
def ranked(
    file: Annotated[
        str, typer.Argument(help="A study's TOML file, or a CSV or Parquet table: data set, then a column per method.")
    ],
    loss: Annotated[str | None, typer.Option(help="Loss to rank by (the study's first).")] = None,
    test: Annotated[
        str,
        typer.Option(
            help="friedman, iman-davenport, nemenyi, bonferroni-dunn, holm, hochberg, hommel, shaffer, wilcoxon, "
            "bayesian-signed-rank or correlated-t."
        ),
    ] = "nemenyi",
    control: Annotated[str | None, typer.Option(help="Method to compare the others with.")] = None,
    better: Annotated[str, typer.Option(help="Which numbers of a table are better: lower or higher.")] = "lower",
    dataset: Annotated[
        str | None,
        typer.Option(
            help="Column of a table that names the data sets, or none; left out, the one called dataset, id or name, else a first one of text."
        ),
    ] = None,
    level: Level = 0.95,
    json: Json = False,
) -> None:
    """Test which methods differ, by their ranks over data sets.

    Example: tallymark study test results.csv --test nemenyi --better higher
    """
    from tallymark.cli.commands import study as command

    command.test(file, loss, test, control, level, table=(better, dataset), as_json=json)


@app.command()
def report(
    file: File,
    out: Annotated[str, typer.Argument(help="HTML file to write.")],
    level: Level = 0.95,
) -> None:
    """Write ranks, tests and pictures to one HTML file.

    Example: tallymark study report forman.toml study.html
    """
    from tallymark.cli.commands import study as command

    command.report(file, out, level)
