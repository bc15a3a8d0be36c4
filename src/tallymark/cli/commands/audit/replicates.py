"""Estimate counts and accuracies from checked rows with replicate weights of a survey.

Example: tallymark audit replicates survey.csv --label type --weight w --replicate-weights w1,w2,w3 --kind brr
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tallymark import audits
from tallymark.cli.commands.audit.options import By, Publish, print_classes, print_publication
from tallymark.cli.options import File, Level, OptionGroup, Where, column, columns, number, text
from tallymark.cli.output import ReportedOutput, progress_bar


@dataclass(frozen=True)
class ReplicateOptions(OptionGroup):
    """Where verdicts and weights are."""

    weight: Annotated[str, column("Column with the survey weight.", "number")]
    replicate_weights: Annotated[list[str], columns("Columns with the replicate weights", "number")]
    label: Annotated[str, column("Column with the class.", "class")] = "checked"
    kind: Annotated[str, text("KIND", "How they were made: bootstrap, brr or jackknife.")] = "bootstrap"
    rho: Annotated[float, number("SHARE", "Fay's coefficient of brr.")] = 0.0
    predicted: Annotated[str | None, column("Column with the predicted class.", "class")] = None
    by: By = None
    level: Level = 0.95
    where: Where = None


def run(file: File, options: ReplicateOptions, output: ReportedOutput, publish: Publish = None) -> None:
    """Read, estimate, print."""
    output.require_place(file)
    with progress_bar(f"Reading {file}"):
        estimate = audits.from_replicates(file, **vars(options))
    decisions = None if publish is None else audits.publication(estimate, publish)
    output.write_report(estimate.published_by(decisions), file)
    if output.as_json:
        rule = {} if decisions is None else {"publication": decisions.to_dict()}
        output.answer("audit replicates", estimate.to_dict() | rule)
        return
    print_classes(estimate, file, output)
    print_publication(decisions, output)
    output.say_where()
