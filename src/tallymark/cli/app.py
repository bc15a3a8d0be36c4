"""``tallymark``: the commands and their options. Work is imported when a command runs."""

from __future__ import annotations

import codecs
import copy
import io
import os
import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer

from tallymark import __version__
from tallymark._memory import load_libraries_while_there_is_room
from tallymark._text import visible
from tallymark.cli import auditing, deciding, further, learning, studies
from tallymark.cli.formats import with_formats
from tallymark.cli.help_texts import spelled
from tallymark.cli.naming import listed
from tallymark.cli.options import (
    Beta,
    Cluster,
    CostFn,
    CostFp,
    Json,
    Order,
    Report,
    SamplingOption,
    given,
)
from tallymark.cli.standard_input import standard_input
from tallymark.cli.strictness import with_strict
from tallymark.errors import TallymarkError
from tallymark.notes import GUARDS, GuardWarning, recording_input_notes
from tallymark.sources.file_states import unchanged_files

app = typer.Typer(
    name="tallymark",
    help="How good is a classifier really, and how many are there really?",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"tallymark {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
@with_strict
def evaluate(
    file: Annotated[
        str, typer.Argument(help="CSV, Parquet or JSON lines file or pattern, one row per object; or a saved tally.")
    ],
    label: Annotated[str | None, typer.Option(help="Column with the true class.")] = None,
    score: Annotated[list[str] | None, typer.Option(help="Score columns, one a model (comma or repeat).")] = None,
    predicted: Annotated[
        list[str] | None, typer.Option(help="Columns with predicted classes, any number (comma or repeat).")
    ] = None,
    probability: Annotated[
        list[str] | None, typer.Option(help="CLASS=COLUMN, once per class: one score column for each.")
    ] = None,
    pos_label: Annotated[str | None, typer.Option(help="The positive label, where it is not obvious.")] = None,
    weight: Annotated[str | None, typer.Option(help="Column with survey or expenditure weights.")] = None,
    count: Annotated[str | None, typer.Option(help="Column that says how often a row occurs.")] = None,
    cluster: Cluster = None,
    by: Annotated[list[str] | None, typer.Option(help="Evaluate each group of this column (comma or repeat).")] = None,
    where: Annotated[str | None, typer.Option(help="Only rows that satisfy this SQL condition.")] = None,
    threshold: Annotated[
        str | None,
        typer.Option(
            help="A number or a policy such as youden, f1, tpr:0.9, cost:1,50; `tallymark policies` lists them."
        ),
    ] = None,
    prevalence: Annotated[float | None, typer.Option(help="State the prevalence the numbers should speak of.")] = None,
    level: Annotated[float, typer.Option(help="Level of the confidence intervals; 0 leaves them out.")] = 0.95,
    interval: Annotated[str, typer.Option(help="default (best for each metric), percentile or bca.")] = "default",
    sampling: SamplingOption = "plain",
    cost_fp: CostFp = None,
    cost_fn: CostFn = None,
    beta: Beta = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of resampled intervals.")] = 0,
    metric: Annotated[list[str] | None, typer.Option(help="Only these metrics (comma or repeat).")] = None,
    require: Annotated[
        list[str] | None,
        typer.Option(
            help="End with status 1 unless METRIC>=NUMBER (or <=) holds for every model and group; repeat for more."
        ),
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Never quantise scores, whatever the size.")] = False,
    drop_missing: Annotated[bool, typer.Option("--drop-missing", help="Leave out rows with a missing value.")] = False,
    memory_limit: Annotated[str | None, typer.Option(help="Memory the engine may use, e.g. 1GB.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads the engine may use.")] = None,
    every: Annotated[bool, typer.Option("--all", help="List every metric, not only the headline ones.")] = False,
    json: Json = False,
    report: Report = None,
) -> None:
    """Evaluate one or more models from labels and scores, predicted classes, or a score per class.

    Example: tallymark evaluate scores.parquet --label y --score a,b --threshold f1 --by region
    """
    from tallymark.cli.commands import evaluate as command

    command.run(
        command.Asked(
            file=file,
            label=label,
            scores=listed(score or ()),
            predicted=listed(predicted or ()),
            probabilities=probability or (),
            pos_label=pos_label,
            weight=weight,
            count=count,
            cluster=cluster,
            by=by or (),
            where=where,
            threshold=threshold,
            prevalence=prevalence,
            level=level or None,
            interval=interval,
            sampling=sampling,
            seed=seed,
            metrics=listed(metric) if metric else None,
            require=require or (),
            exact=exact or None,
            drop_missing=drop_missing,
            memory_limit=memory_limit,
            threads=threads,
            every=every,
            as_json=json,
            report=report,
            parameters=given(cost_fp=cost_fp, cost_fn=cost_fn, beta=beta),
        )
    )


@app.command()
@with_strict
def quantify(
    validation: Annotated[
        str, typer.Argument(help="Labelled rows; with no TARGET, rows without a label are the target.")
    ],
    target: Annotated[str | None, typer.Argument(help="Rows to count, with scores of the same model.")] = None,
    label: Annotated[str, typer.Option(help="Column with the true class.", show_default=False)] = ...,  # type: ignore[assignment]
    score: Annotated[str | None, typer.Option(help="Score column, in both files.")] = None,
    probability: Annotated[
        list[str] | None, typer.Option(help="CLASS=COLUMN, once per class, to count more than two.")
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="Quantifiers (comma or repeat), of two classes cc, ac, ms and bayes unless told; `tallymark quantifiers` lists them."
        ),
    ] = None,
    by: Annotated[list[str] | None, typer.Option(help="Count each group of this column (comma or repeat).")] = None,
    growth: Annotated[str | None, typer.Option(help="Growth rates along this column of --by.")] = None,
    order: Order = None,
    expect: Annotated[
        list[str] | None, typer.Option(help="Metrics at --threshold to expect in the target (comma or repeat).")
    ] = None,
    pos_label: Annotated[str | None, typer.Option(help="The positive label, where it is not obvious.")] = None,
    weight: Annotated[str | None, typer.Option(help="Column with survey weights, in both files.")] = None,
    count: Annotated[str | None, typer.Option(help="Column that says how often a row occurs, in both files.")] = None,
    cluster: Cluster = None,
    where: Annotated[str | None, typer.Option(help="Only target rows that satisfy this SQL condition.")] = None,
    threshold: Annotated[str | None, typer.Option(help="Where cc and ac cut: a number or a policy.")] = None,
    calibration: Annotated[str | None, typer.Option(help="Calibrate for em first: bcts or vs.")] = None,
    training_prevalence: Annotated[
        float | None, typer.Option(help="Share of positives the model was trained at (em, bl).")
    ] = None,
    population: Annotated[float | None, typer.Option(help="Size of the population the target is from (or is).")] = None,
    audit: Annotated[
        bool, typer.Option("--audit", help="The labelled rows are a random sample of the file: count by them too.")
    ] = False,
    inclusion: Annotated[
        str | None, typer.Option(help="With --audit: column with the probability with which a row was drawn.")
    ] = None,
    level: Annotated[float, typer.Option(help="Level of the confidence intervals; 0 leaves them out.")] = 0.95,
    interval: Annotated[
        str, typer.Option(help="default, analytic, profile or bootstrap, for the methods that have it.")
    ] = "default",
    seed: Annotated[int, typer.Option(min=0, help="Seed of resampled intervals.")] = 0,
    drop_missing: Annotated[bool, typer.Option("--drop-missing", help="Leave out rows with a missing value.")] = False,
    memory_limit: Annotated[str | None, typer.Option(help="Memory the engine may use, e.g. 1GB.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads the engine may use.")] = None,
    json: Json = False,
    report: Report = None,
) -> None:
    """Count a class in rows without labels, corrected for the classifier's errors.

    Example: tallymark quantify labelled.csv new.csv --label y --score p --method ac,ms,bayes
    """
    from tallymark.cli.commands import quantify as command

    command.run(
        command.Asked(
            validation=validation,
            target=target,
            label=label,
            score=score,
            probabilities=probability or (),
            methods=method or (),
            by=by or (),
            growth=growth,
            order=listed(order or ()) or None,
            expect=expect or (),
            pos_label=pos_label,
            weight=weight,
            count=count,
            cluster=cluster,
            where=where,
            threshold=threshold,
            calibration=calibration,
            training_prevalence=training_prevalence,
            population=population,
            level=level or None,
            interval=interval,
            seed=seed,
            drop_missing=drop_missing,
            memory_limit=memory_limit,
            threads=threads,
            audit=audit,
            inclusion=inclusion,
            as_json=json,
            report=report,
        )
    )


@app.command()
@with_strict
def compare(
    file: Annotated[str, typer.Argument(help="CSV, Parquet or JSON lines file or pattern, one row per object.")],
    label: Annotated[str, typer.Option(help="Column with the true class.")],
    score: Annotated[
        list[str] | None, typer.Option(help="Score columns, one a model, two or more (comma or repeat).")
    ] = None,
    predicted: Annotated[
        list[str] | None, typer.Option(help="Or: columns with predicted classes (comma or repeat); two classes.")
    ] = None,
    pos_label: Annotated[str | None, typer.Option(help="The positive label, where it is not obvious.")] = None,
    weight: Annotated[str | None, typer.Option(help="Column with survey or expenditure weights.")] = None,
    count: Annotated[str | None, typer.Option(help="Column that says how often a row occurs.")] = None,
    cluster: Cluster = None,
    where: Annotated[str | None, typer.Option(help="Only rows that satisfy this SQL condition.")] = None,
    metric: Annotated[list[str] | None, typer.Option(help="Compare by this metric (auroc).")] = None,
    method: Annotated[
        str | None,
        typer.Option(help="mover, delong, influence, mcnemar, bootstrap or permutation; left out, the usual one."),
    ] = None,
    threshold: Annotated[str | None, typer.Option(help="A number or a policy, for a metric at one threshold.")] = None,
    level: Annotated[float, typer.Option(help="Level of intervals and verdicts.")] = 0.95,
    equivalence: Annotated[float | None, typer.Option(help="A difference so small that it does not matter.")] = None,
    sampling: SamplingOption = "plain",
    cost_fp: CostFp = None,
    cost_fn: CostFn = None,
    beta: Beta = None,
    without_simple: Annotated[
        bool, typer.Option("--without-simple", help="Leave out the rows that every model gets right.")
    ] = False,
    drop_missing: Annotated[bool, typer.Option("--drop-missing", help="Leave out rows with a missing value.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of bootstrap and permutations.")] = 0,
    memory_limit: Annotated[str | None, typer.Option(help="Memory the engine may use, e.g. 1GB.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads the engine may use.")] = None,
    json: Json = False,
    report: Report = None,
) -> None:
    """Compare models on the same rows: difference, interval, p-value and a verdict for every pair.

    Example: tallymark compare scores.parquet --label y --score a,b --metric average_precision
    """
    from tallymark.cli.commands import compare as command

    command.run(
        command.Asked(
            file=file,
            label=label,
            scores=listed(score or ()),
            predicted=listed(predicted or ()),
            pos_label=pos_label,
            weight=weight,
            count=count,
            cluster=cluster,
            where=where,
            metrics=listed(metric or ()),
            method=method,
            threshold=threshold,
            level=level,
            equivalence=equivalence,
            without_simple=without_simple,
            seed=seed,
            memory_limit=memory_limit,
            threads=threads,
            drop_missing=drop_missing,
            as_json=json,
            report=report,
            sampling=sampling,
            parameters=given(cost_fp=cost_fp, cost_fn=cost_fn, beta=beta),
        )
    )


@app.command()
def merge(
    files: Annotated[list[str], typer.Argument(help="Saved summaries of parts of the data.")],
    out: Annotated[str, typer.Option(help="Where to write the summary of all of it.")],
    json: Json = False,
) -> None:
    """Merge saved tallies (or other summaries) into one, the same as one pass over all rows.

    Example: tallymark merge january.tally february.tally --out both.tally
    """
    from tallymark.cli.commands import merge as command

    command.run(files, out, as_json=json)


@app.command()
def metrics(
    name: Annotated[str | None, typer.Argument(help="A metric to explain; left out, all are listed.")] = None,
    json: Json = False,
) -> None:
    """List the metrics, or explain one: formula, range, options, reference.

    Example: tallymark metrics average_precision
    """
    from tallymark.cli.commands import metrics as command

    command.run(name, as_json=json)


@app.command()
def policies(json: Json = False) -> None:
    """List the ways to choose a threshold, as --threshold and --policy take them.

    Example: tallymark policies
    """
    from tallymark.cli.commands import policies as command

    command.run(as_json=json)


@app.command()
def quantifiers(
    name: Annotated[
        str | None, typer.Argument(help="A quantifier or loss to explain; left out, all are listed.")
    ] = None,
    json: Json = False,
) -> None:
    """List the quantifiers and their losses, or explain one: formula, options, reference.

    Example: tallymark quantifiers bayes
    """
    from tallymark.cli.commands import quantifiers as command

    command.run(name, as_json=json)


@app.command()
def demo(
    folder: Annotated[str, typer.Option(help="Where to write the sample data.")] = "demo",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the generated data.")] = 1,
) -> None:
    """Write rare-event sample data with two models, evaluate it, and say what to look at.

    Example: tallymark demo --folder try
    """
    from tallymark.cli.commands import demo as command

    command.run(folder, seed)


app.command()(further.from_counts)
app.command()(with_strict(further.calibrate))
app.command()(with_strict(further.thresholds))
app.command()(with_strict(further.by_size))
app.command()(further.sample_size)
app.command()(with_strict(learning.rare))
app.command()(with_strict(learning.detect))
app.command()(with_strict(deciding.index))
app.command()(with_strict(deciding.advise))
app.command()(with_strict(deciding.impact))
app.command()(with_strict(deciding.space))
app.command()(with_strict(deciding.costs))
app.command()(with_strict(deciding.watch))
app.add_typer(studies.app, name="study")
app.add_typer(auditing.app, name="audit")


def main() -> None:
    """Run a command; bad input ends with status 2 and one message on standard error."""
    _speak_any_encoding()
    warnings.formatwarning = lambda message, *_, **__: f"tallymark: {visible(str(message))}\n"
    # Results carry their notes, and each command prints them; but not those of how the rows were read.
    warnings.filterwarnings("ignore", category=GuardWarning)
    of_input = "|".join(code for code, guard in GUARDS.items() if guard.of_input)
    warnings.filterwarnings("default", message=of_input, category=GuardWarning)
    try:
        load_libraries_while_there_is_room()
        with standard_input(sys.argv), unchanged_files(), recording_input_notes():
            with_formats(spelled(typer.main.get_command(_asked_for(sys.argv[1:]))))()
    except TallymarkError as error:
        typer.echo(f"tallymark: {visible(str(error))}", err=True)
        sys.exit(2)
    except MemoryError:
        typer.echo("tallymark: there is not enough memory for this.", err=True)
        sys.exit(2)
    except BrokenPipeError:
        # Whoever read the output has seen enough, as `head` has; the rest must not be written when Python ends either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        typer.echo(f"tallymark: {visible(f'{error.strerror or error}{where}')}.", err=True)
        sys.exit(2)


def _asked_for(arguments: list[str]) -> typer.Typer:
    """The application with the one command that is asked for: to build them all takes as long as importing NumPy."""
    asked = [
        command
        for command in app.registered_commands
        if arguments[:1]
        == [typer.main.get_command_name(str(command.name or getattr(command.callback, "__name__", "")))]
    ]
    if not asked:
        return app
    alone = copy.copy(app)
    alone.registered_commands, alone.registered_groups = asked, []
    return alone


def _speak_any_encoding() -> None:
    """Where standard output cannot say a character, say what comes nearest instead of failing."""
    codecs.register_error("tallymark", _nearest)
    # Whoever closed standard output wants to read nothing.
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open to the end
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="tallymark")


#: What is written for a character that the terminal lacks.
_PLAIN = {
    "–": "-",
    "—": "-",
    "−": "-",
    "…": "...",
    "•": "*",
    "\u202f": " ",
    "∞": "inf",
    "≥": ">=",
    "≤": "<=",
    "·": ".",
    "×": "x",
    "±": "+/-",
    "′": "'",
}


def _nearest(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(_PLAIN.get(c) or c.encode("ascii", "backslashreplace").decode() for c in lost), error.end


if __name__ == "__main__":
    main()
