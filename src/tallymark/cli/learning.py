"""Commands that train: options and help; work is imported when a command runs."""

from __future__ import annotations

from typing import Annotated

import typer

from tallymark.cli.options import Jobs, Json, Level, PosLabel, Report, Seed


def rare(
    train: Annotated[str, typer.Argument(help="CSV, Parquet or JSON lines file with labelled texts.")],
    target: Annotated[str, typer.Argument(help="File with the texts to count in.")],
    text: Annotated[str, typer.Option(help="Column with the text, in both files.", show_default=False)] = ...,  # type: ignore[assignment]
    label: Annotated[str, typer.Option(help="Column with the true class, in TRAIN.", show_default=False)] = ...,  # type: ignore[assignment]
    target_label: Annotated[
        str | None, typer.Option(help="Column of TARGET with the true class, to see how good the count is.")
    ] = None,
    pos_label: PosLabel = None,
    method: Annotated[str, typer.Option(help="bootstrap, class-weight-sweep or ensemble.")] = "bootstrap",
    machines: Annotated[
        int | None, typer.Option(min=1, help="Machines to train (bootstrap 1000, a weight 10, an ensemble 10).")
    ] = None,
    min_letters: Annotated[int, typer.Option(min=1, help="Shorter words are dropped.")] = 3,
    min_words: Annotated[int, typer.Option(min=1, help="Texts with fewer words are left out.")] = 1,
    min_df: Annotated[int, typer.Option(min=1, help="Words of fewer training texts are dropped.")] = 2,
    language: Annotated[
        list[str] | None, typer.Option(help="Languages to tell apart: de, en, es, fr, nl (comma or repeat).")
    ] = None,
    stem: Annotated[str | None, typer.Option(help="Stem words of this language (needs snowballstemmer).")] = None,
    level: Annotated[float, typer.Option(help="Level of the confidence interval; 0 leaves it out.")] = 0.95,
    seed: Seed = 0,
    jobs: Jobs = None,
    out: Annotated[str | None, typer.Option(help="Write TARGET with scores and probabilities to this file.")] = None,
    json: Json = False,
    report: Report = None,
) -> None:
    """Count a rare class in texts: train where it is common, count where it is rare.

    Example: tallymark rare labelled.csv new.parquet --text body --label platform
    """
    from tallymark.cli.commands import rare as command

    command.run(
        command.Asked(
            train=train, target=target, text=text, label=label, target_label=target_label, pos_label=pos_label,
            method=method, machines=machines, min_letters=min_letters, min_words=min_words, min_df=min_df,
            languages=language or (), stem=stem, level=level or None, seed=seed, jobs=jobs, out=out, as_json=json,
            report=report,
        )
    )  # fmt: skip


def detect(
    file: Annotated[str, typer.Argument(help="CSV, Parquet or JSON lines file, one row per object.")],
    label: Annotated[str | None, typer.Option(help="Column that says which objects are outliers.")] = None,
    pos_label: PosLabel = None,
    feature: Annotated[
        list[str] | None, typer.Option(help="Attributes (comma or repeat); left out, every column of numbers.")
    ] = None,
    detector: Annotated[
        list[str] | None, typer.Option(help="mod, lof, iforest, copod (comma or repeat); left out, all.")
    ] = None,
    neighbors: Annotated[
        int | None, typer.Option(min=1, help="Neighbours of mod and lof (150 and 50, at most half of the rows).")
    ] = None,
    standardise: Annotated[bool, typer.Option(help="Bring attributes to mean 0 and deviation 1 first.")] = True,
    level: Level = 0.95,
    seed: Seed = 0,
    jobs: Jobs = None,
    out: Annotated[str | None, typer.Option(help="Write FILE with a score column per detector to this file.")] = None,
    json: Json = False,
    report: Report = None,
) -> None:
    """Score outliers with several detectors and say which is best, with and without simple objects.

    Example: tallymark detect sensors.csv --label broken --report detectors.html
    """
    from tallymark.cli.commands import detect as command

    command.run(
        command.Asked(
            file=file, label=label, pos_label=pos_label, features=feature or (), detectors=detector or (),
            neighbors=neighbors, standardise=standardise, level=level, seed=seed, jobs=jobs, out=out, as_json=json,
            report=report,
        )
    )  # fmt: skip
