"""``tallymark``: the commands and their options. Work is imported when a command runs."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tallymark import __version__
from tallymark.errors import TallymarkError

app = typer.Typer(
    name="tallymark",
    help="How good is a classifier really, and how many are there really?",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"tallymark {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
def evaluate(
    file: Annotated[str, typer.Argument(help="CSV or Parquet file, one row per object.")],
    label: Annotated[str, typer.Option(help="Column with the true class.")],
    score: Annotated[list[str] | None, typer.Option(help="Score column; give it once per model.")] = None,
    predicted: Annotated[list[str] | None, typer.Option(help="Column with predicted classes, any number.")] = None,
    probability: Annotated[
        list[str] | None, typer.Option(help="CLASS=COLUMN, once per class: one score column for each.")
    ] = None,
    pos_label: Annotated[str | None, typer.Option(help="The positive label, where it is not obvious.")] = None,
    weight: Annotated[str | None, typer.Option(help="Column with survey or expenditure weights.")] = None,
    count: Annotated[str | None, typer.Option(help="Column that says how often a row occurs.")] = None,
    by: Annotated[list[str] | None, typer.Option(help="Evaluate each group of this column (comma or repeat).")] = None,
    threshold: Annotated[
        str | None, typer.Option(help="A number or a policy: youden, f1, tpr:0.9, cost:1,50, rate:0.002, …")
    ] = None,
    prevalence: Annotated[float | None, typer.Option(help="State the prevalence the numbers should speak of.")] = None,
    metric: Annotated[list[str] | None, typer.Option(help="Only this metric; repeat for more.")] = None,
    every: Annotated[bool, typer.Option("--all", help="List every metric, not only the headline ones.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Treat warnings as errors.")] = False,
    json: Json = False,
) -> None:
    """Evaluate one or more models from labels and scores, predicted classes, or a score per class."""
    from tallymark.cli import evaluating

    evaluating.run(
        file, label=label, scores=score or [], predicted=predicted or [], probabilities=probability or [],
        pos_label=pos_label, weight=weight, count=count, by=by or [], threshold=threshold, prevalence=prevalence,
        metrics=metric, every=every, strict=strict, as_json=json,
    )  # fmt: skip


@app.command()
def metrics(
    name: Annotated[str | None, typer.Argument(help="A metric to explain; left out, all are listed.")] = None,
    json: Json = False,
) -> None:
    """List the metrics, or explain one: formula, range, chance level, reference."""
    from tallymark.cli import glossary

    glossary.run(name, as_json=json)


@app.command()
def demo(
    folder: Annotated[str, typer.Option(help="Where to write the sample data.")] = "demo",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the generated data.")] = 1,
) -> None:
    """Write rare-event sample data with two models, evaluate it, and say what to look at."""
    from tallymark.cli import demonstration

    demonstration.run(folder, seed)


def main() -> None:
    """Run a command; bad input ends with status 2 and one message on standard error."""
    try:
        app()
    except TallymarkError as error:
        typer.echo(f"tallymark: {error}", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        typer.echo("tallymark: stopped.", err=True)
        sys.exit(130)


if __name__ == "__main__":
    main()
