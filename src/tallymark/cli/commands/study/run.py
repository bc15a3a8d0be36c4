"""Run a study, or go on with one that was stopped.

It ends with status 1 where a cell failed.

Example: tallymark study run forman.toml --jobs 2
"""

from __future__ import annotations

from typing import Annotated

import typer

from tallymark.cli.commands.study.options import File
from tallymark.cli.options import flag, number
from tallymark.cli.output import Output, progress_bar
from tallymark.study.studies import Study


def run(
    file: File,
    output: Output,
    jobs: Annotated[int, number("INTEGER", "Processes that work side by side.", least=1)] = 1,
    retry: Annotated[bool, flag("retry", "Run failed cells again.")] = False,
) -> None:
    """Run the cells that are not finished."""
    study = Study.from_toml(file)
    with progress_bar(f"Running {study.name}") as progress:
        outcome = study.run(jobs=jobs, progress=progress, retry=retry)
    if output.as_json:
        counts = {"done": outcome.done, "found": outcome.found, "failed": outcome.failed}
        places = {"skipped": dict(outcome.skipped), "store": str(study.store)}
        output.answer("study run", {"name": study.name, **counts, **places})
    else:
        output.text(f"{study.name}: {outcome.heading()}")
        output.text(f"Results are in {study.store}; tallymark study show {file} lists them.", "dim", indent="  ")
    if outcome.failed:
        raise typer.Exit(1)
