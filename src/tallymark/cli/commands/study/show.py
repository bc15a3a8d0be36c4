"""Print ranks and quartiles of the losses of finished cells, and failures.

Example: tallymark study show forman.toml
"""

from __future__ import annotations

from tallymark.cli.commands.study.options import File
from tallymark.cli.output import Output
from tallymark.study.studies import Study


def run(file: File, output: Output) -> None:
    """Ranks, losses and failures."""
    results = Study.from_toml(file).results()
    if output.as_json:
        output.answer("study show", results.to_dict())
        return
    output.text(results.heading(), "bold")
    output.rows(results.rows(), "Mean ranks (1 is best), and losses over data sets and prevalences")
    for cell in results.failed:
        output.text(f"! {cell.method} on {cell.dataset}, fold {cell.fold}: {cell.error}", "yellow")
