"""Measure how far raters agree.

Observed agreement, and agreement beyond chance by Cohen, Scott, Fleiss, Krippendorff, Gwet, and Brennan and Prediger.

Example: tallymark agree verdicts.csv --rater ann,bob --disagreements differ.csv
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tallymark._numbers import number as shown
from tallymark._numbers import with_limits
from tallymark.cli.disagreements import Disagreements, require_csv, require_named_items, write_disagreements
from tallymark.cli.layout import table
from tallymark.cli.options import (
    Cluster,
    DropMissing,
    File,
    Level,
    OptionGroup,
    Where,
    column,
    columns,
    text,
)
from tallymark.cli.output import ReportedOutput
from tallymark.cli.requirements import Require, Requirement, as_json, checks_of, end_unless_met, print_checks
from tallymark.errors import InputError
from tallymark.raters.agreement import agreement
from tallymark.raters.results import Agreement
from tallymark.sources.any_columns import any_columns
from tallymark.sources.formats import Wanted


@dataclass(frozen=True)
class RatingOptions(OptionGroup):
    """Where the ratings are."""

    rater: Annotated[list[str], columns("The raters' columns; with --rating, the one that names the rater", "class")]
    item: Annotated[str | None, column("Column that names the item.")] = None
    rating: Annotated[str | None, column("Column with the rating, where each row is one rating.", "class")] = None
    cluster: Cluster = None
    where: Where = None
    drop_missing: DropMissing = False


def run(
    file: File,
    options: RatingOptions,
    output: ReportedOutput,
    weights: Annotated[
        str, text("WEIGHTS", "Partial agreement: nominal, ordinal, linear, quadratic, interval or ratio.")
    ] = "nominal",
    level: Level = 0.95,
    disagreements: Disagreements = None,
    require: Require = None,
) -> None:
    """Read, measure, print."""
    output.require_place(file)
    require_csv(disagreements, file)
    some_rows = options.where is not None or options.drop_missing
    require_named_items(disagreements, "--item", options.item, some_rows=some_rows)
    requirements = [Requirement.of(written) for written in require or ()]
    result = _measured(file, options, weights, level)
    if disagreements is not None:
        write_disagreements(disagreements, result.disagreements, file)
    output.write_report(result, file)
    checks = checks_of(requirements, [("all items", result)])
    if output.as_json:
        output.answer("agree", result.to_dict() | as_json(checks), result.warnings)
    else:
        _print(result, file, output)
        print_checks(checks, output)
        if disagreements is not None:
            output.text(f"Wrote {disagreements}: {len(result.disagreements)} items on which raters differ.", "bold")
        output.notes(result.warnings)
        output.say_where()
    end_unless_met(checks)


def _measured(file: str, options: RatingOptions, weights: str, level: float) -> Agreement:
    """The agreement; in long form one --rater names the column of raters."""
    long = options.rating is not None
    if long and len(options.rater) > 1:
        raise InputError("With --rating, --rater is the one column that names the rater.")
    if not long and len(options.rater) < 2:
        raise InputError(
            "Name two columns of ratings or more (--rater a,b); with one rating per row, --rater, --item and --rating."
        )
    wanted = [Wanted(name, "--rater", "text" if long else "class") for name in options.rater]
    others = (
        ("--item", options.item, "text"),
        ("--rating", options.rating, "class"),
        ("--cluster", options.cluster, "text"),
    )
    wanted += [Wanted(name, option, kind) for option, name, kind in others if name is not None]  # type: ignore[arg-type]
    data = any_columns(file, wanted, where=options.where, drop_missing=options.drop_missing)
    return agreement(
        data,
        rater=options.rater[0] if long else options.rater,
        item=options.item,
        rating=options.rating,
        weights=weights,
        level=level,
        cluster=options.cluster,
    )


def _print(result: Agreement, file: str, output: ReportedOutput) -> None:
    level = f"{100 * result.level:g} % interval"
    output.text(f"{file}: {result.heading()}", "bold")
    heads = [("coefficient", "left"), (f"value ({level})", "right"), ("standard error", "right")]
    undefined = any(one.reason for one in result.values())
    lines = [
        [
            name,
            shown(one.value) if one.low is None or one.high is None else with_limits(one.value, one.low, one.high),
            shown(one.standard_error),
            *([one.reason or ""] if undefined else []),
        ]
        for name, one in result.items()
    ]
    output.table(table("", [*heads, *([("reason", "prose")] if undefined else [])], lines))
    classes = [
        [
            str(label),
            shown(result.prevalences[label]),
            shown(one.value) if one.low is None or one.high is None else with_limits(one.value, one.low, one.high),
        ]
        for label, one in result.specific.items()
    ]
    heads = [("class", "left"), ("share", "right"), (f"specific agreement ({level})", "right")]
    output.text("")
    output.table(table("By class", heads, classes))
    if len(result.pairs) > 1:
        output.text("")
        output.rows([vars(pair) for pair in result.pairs], "Pairs of raters")
    if result.raters:
        output.text("")
        output.rows(
            [
                {
                    "rater": one.rater,
                    "n": one.n,
                    "agreement": one.agreement,
                    "among others": one.among_others,
                    "differs": "yes" if one.differs else "",
                }
                for one in result.raters
            ],
            "Each rater against the others",
        )
