"""Check a judge against people, and correct its pass rate.

The judge has a verdict on every item, people on some, drawn at random. It prints the pass rate as judged and as
corrected, the judge's error rates and its agreement with people; of several systems also their corrected differences.
With two judges and one column of people it compares the judges.

Example: tallymark judge items.csv --judge verdict --human checked --by topic
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import typer

from tallymark import raters
from tallymark._display import columns_of
from tallymark._numbers import number as shown
from tallymark._numbers import p_value, with_limits
from tallymark.cli.disagreements import Disagreements, require_csv, require_named_items, write_disagreements
from tallymark.cli.layout import TextTable, table
from tallymark.cli.options import File, Level, OptionGroup, Where, column, columns, number, text
from tallymark.cli.output import ReportedOutput, progress_bar
from tallymark.cli.requirements import Estimate, Require, Requirement, as_json, checks_of, end_unless_met, print_checks
from tallymark.errors import InputError
from tallymark.raters.judgements import Judgement
from tallymark.raters.label_plans import LabelPlan


@dataclass(frozen=True)
class VerdictOptions(OptionGroup):
    """Where the verdicts are."""

    heading: ClassVar[str] = "Verdicts"

    judge: Annotated[list[str], columns("Column with the judge's verdict on every item; one for each system", "class")]
    human: Annotated[
        list[str], columns("Column with people's verdicts, empty where there is none; one for each system", "class")
    ]
    labels: Annotated[str | None, text("FILE", "Another file that has people's verdicts; see --id.")] = None
    id: Annotated[str | None, column("Column that identifies an item; with --labels, in both files.")] = None
    system: Annotated[str | None, column("Column that names the system, where each row is one answer.")] = None
    item: Annotated[str | None, column("With --system: column that names the item.")] = None
    pos_label: Annotated[
        str | None,
        text(
            "VERDICT", "The verdict that is a pass, where it is not obvious (pass, yes, true, correct, 1); others fail."
        ),
    ] = None
    scale: Annotated[
        str | None, text("SCALE", "What verdicts are: pass, classes or grades; left out, as they look.")
    ] = None
    where: Where = None


@dataclass(frozen=True)
class DesignOptions(OptionGroup):
    """How the items to label were drawn; at random from all of them unless told."""

    heading: ClassVar[str] = "How items were drawn"

    by: Annotated[list[str] | None, columns("Estimate each segment of these columns")] = None
    stratum: Annotated[list[str] | None, columns("Columns within which the items to label were drawn at random")] = None
    inclusion: Annotated[str | None, column("Column with the probability of being labelled.", "number")] = None
    cluster: Annotated[str | None, column("Column of conversations that people judged whole.")] = None
    population: Annotated[
        str, text("WORD", "Rates of these items (suite), or of all that they are a sample of (items).")
    ] = "suite"
    equivalence: Annotated[float | None, number("NUMBER", "A difference so small that it does not matter.")] = None
    noninferiority: Annotated[float | None, number("NUMBER", "A loss so small that it does not matter.")] = None
    level: Level = 0.95


@dataclass(frozen=True)
class PlanOptions(OptionGroup):
    """How many more items people should label."""

    heading: ClassVar[str] = "How many more labels"

    width: Annotated[float | None, number("NUMBER", "For an interval of the corrected rate no wider than this.")] = None
    show: Annotated[float | None, number("NUMBER", "To show a difference of two systems of this size.")] = None


def run(
    file: File,
    verdicts: VerdictOptions,
    design: DesignOptions,
    plan: PlanOptions,
    output: ReportedOutput,
    require: Require = None,
    disagreements: Disagreements = None,
) -> None:
    """Correct, plan, print."""
    output.require_place(file, verdicts.labels)
    require_csv(disagreements, file, verdicts.labels)
    require_named_items(disagreements, "--id", verdicts.id, some_rows=verdicts.where is not None)
    requirements = [Requirement.of(written) for written in require or ()]
    if len(verdicts.judge) == 2 and len(verdicts.human) == 1 and verdicts.system is None:
        _refuse_with_two_judges(verdicts, design, plan, output, disagreements)
        _print_drift(file, verdicts, design.level, requirements, output)
        return
    with progress_bar(f"Reading {file}"):
        result = raters.judge(file, **vars(verdicts), **vars(design), strict=output.strict)
        labels = _planned(file, verdicts, design, plan)
    if disagreements is not None:
        _write_disagreements(result, disagreements, file, verdicts.labels)
    output.write_report(result, file)
    checks = checks_of(requirements, _estimates(result))
    if output.as_json:
        planned = {} if labels is None else {"plan": {k: v for k, v in labels.to_dict().items() if k != "drawn"}}
        output.answer("judge", result.to_dict() | as_json(checks) | planned, result.warnings)
    else:
        _print(result, file, output)
        if labels is not None:
            output.text(f"{labels.heading()}.", "bold")
        print_checks(checks, output)
        output.notes(result.warnings)
        output.say_where()
    end_unless_met(checks)


def _print(result: Judgement, file: str, output: ReportedOutput) -> None:
    """What was found, in words and as a table, and the judge's verdicts against people's."""
    output.lines(f"{file}: {result.heading()}")
    for line in result.sentences():
        output.text(line)
    lines = result.rows()
    named = [name for name in columns_of(lines) if name in {*result.by, "system", "verdict"}]
    several = {name: any(line.get(name) is not None for line in lines) for name in ("p_value", "p_holm", "reason")}
    heads: list[tuple[Any, ...]] = [*((name, "left") for name in named), ("estimate", "left")]
    heads += [(f"value ({100 * result.level:g} % interval)", "right")]
    heads += [(head, "right") for head, name in (("p", "p_value"), ("p (Holm)", "p_holm")) if several[name]]
    heads += [("reason", "prose")] if several["reason"] else []
    output.table(table("", heads, [_cells(line, named, several) for line in lines]))
    if result.comparison is not None and len(result.systems) > 2:
        from tallymark.cli.commands.compare import compared_table

        output.text("")
        output.table(compared_table("Corrected differences", result.comparison))
    if (matrix := _matrix(result)) is not None:
        output.text("")
        output.table(matrix)


def _cells(line: Mapping[str, Any], named: list[str], several: Mapping[str, bool]) -> list[str]:
    cells = [str(line.get(name, "")) for name in named] + [str(line["of"]).replace("_", " ")]
    low, high = line.get("low"), line.get("high")
    cells.append(shown(line["value"]) if low is None or high is None else with_limits(line["value"], low, high))
    tests = [name for name in ("p_value", "p_holm") if several[name]]
    cells += ["" if line.get(name) is None else p_value(line[name]) for name in tests]
    return [*cells, line.get("reason") or ""] if several["reason"] else cells


def _matrix(result: Judgement) -> TextTable | None:
    """The judge's verdicts by people's on the labelled items; None of grades and several systems."""
    counts = result.matrix()
    if counts is None:
        return None
    verdicts = list(dict.fromkeys(row["human"] for row in counts))
    heads = [("people", "left"), *((f"judge: {one}", "right") for one in verdicts)]
    cells = {(row["human"], row["judge"]): row["n"] for row in counts}
    lines = [[human, *(shown(cells.get((human, judge), 0)) for judge in verdicts)] for human in verdicts]
    return table("Labelled items by verdict of people and judge", heads, lines)


def _estimates(result: Judgement) -> Iterator[tuple[str, Mapping[str, Estimate]]]:
    """What can be required: the estimates of all items, of each segment, system and verdict, and differences."""
    for named, part in result.parts():
        by_name: dict[str, Any] = {name: one for name, _, one, _ in part.estimates() if one is not None}
        if part.difference is not None and not part.systems:
            by_name["difference"] = part.difference
        yield ", ".join(filter(None, named.values())) or "all items", by_name


def _planned(file: str, verdicts: VerdictOptions, design: DesignOptions, plan: PlanOptions) -> LabelPlan | None:
    if plan.width is None and plan.show is None:
        return None
    used: dict[str, Any] = {"--labels": verdicts.labels, "--system": verdicts.system, "--stratum": design.stratum}
    used |= {"--inclusion": design.inclusion, "--cluster": design.cluster, "--by": design.by}
    used |= {"--population": design.population != DesignOptions.population}
    if given := [name for name, value in used.items() if value]:
        raise InputError(
            f"{', '.join(given)}: not with --width or --show, which plan for a rate of these items, drawn one by one."
        )
    return raters.plan(
        file, judge=verdicts.judge, human=verdicts.human, width=plan.width, difference=plan.show,
        pos_label=verdicts.pos_label, level=design.level, where=verdicts.where,
    )  # fmt: skip


def _refuse_with_two_judges(
    verdicts: VerdictOptions,
    design: DesignOptions,
    plan: PlanOptions,
    output: ReportedOutput,
    disagreements: str | None,
) -> None:
    """Refuse options that a comparison of two judges would not use."""
    used: dict[str, Any] = {"--labels": verdicts.labels, "--id": verdicts.id, "--item": verdicts.item}
    used |= {"--scale": verdicts.scale, "--disagreements": disagreements, "--report": output.report}
    untouched = {"level": design.level, "population": DesignOptions.population}
    used |= {f"--{name}": value for name, value in vars(design).items() if value != untouched.get(name)}
    used |= {"--width": plan.width, "--show": plan.show}
    if given := [name for name, value in used.items() if value]:
        raise InputError(f"{', '.join(given)}: not with two judges and one column of people, which are compared.")


def _print_drift(
    file: str, verdicts: VerdictOptions, level: float, requirements: list[Requirement], output: ReportedOutput
) -> None:
    """Two judges, or two runs of one, of the same items."""
    drift = raters.judge_drift(
        file,
        judge=verdicts.judge,
        human=verdicts.human[0],
        pos_label=verdicts.pos_label,
        level=level,
        where=verdicts.where,
    )
    checks = checks_of(requirements, [("all items", {one.name: one for one in (drift.flip_rate, *drift.changes())})])
    if output.as_json:
        output.answer("judge", {"drift": drift.to_dict()} | as_json(checks))
    else:
        output.text(f"{file}: {drift.heading()}", "bold")
        output.rows(drift.rows(), f"Change from {verdicts.judge[0]} to {verdicts.judge[1]}")
        print_checks(checks, output)
    end_unless_met(checks)


def _write_disagreements(result: Judgement, place: str, *files: str | None) -> None:
    if result.agreement is None:
        raise InputError("--disagreements: of one system whose labelled items were drawn with equal chances.")
    rows = result.agreement.disagreements
    write_disagreements(place, rows, *files)
    typer.echo(f"Wrote {place}: {len(rows)} items.", err=True)
