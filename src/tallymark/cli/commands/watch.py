"""Monitor a classifier period by period.

Counts, tests of drift and control charts; the answer says when to check by hand again.

Example: tallymark watch months/ --score p --label checked --store history.sqlite --report watch.html
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tallymark._numbers import number as shown
from tallymark._numbers import p_value, with_limits
from tallymark._write import require_writable
from tallymark.cli.layout import table
from tallymark.cli.options import (
    Level,
    OptionGroup,
    Order,
    PosLabel,
    Seed,
    Where,
    column,
    data_file,
    flag,
    names,
    number,
    number_or_text,
    text,
)
from tallymark.cli.output import ReportedOutput, progress_bar
from tallymark.monitor.drift import watch
from tallymark.monitor.new_items import NewItems
from tallymark.monitor.results import Watch, Watched
from tallymark.sources.formats import expanded

#: Expected metrics unless others are named.
_USUAL = ("accuracy", "f1")


@dataclass(frozen=True)
class WatchOptions(OptionGroup):
    """What is monitored, and against which reference."""

    score: Annotated[str, column("Column with the score.", "number")]
    period: Annotated[str | None, column("Column with the period; left out in a folder, each file is one.")] = None
    label: Annotated[str | None, column("Column with the true class; empty where it is unknown.", "class")] = None
    value: Annotated[str | None, column("Column with the price, or any value.", "number")] = None
    item: Annotated[str | None, column("Column with the item; new ones are compared with known ones.")] = None
    check_cost: Annotated[float | None, number("NUMBER", "With --item: what a check costs.")] = None
    error_cost: Annotated[float | None, number("NUMBER", "With --item: what an error costs.")] = None
    reference: Annotated[int | None, number("PERIODS", "Leading periods known to be in order.", least=3)] = None
    audit: Annotated[bool, flag("audit", "Labels of later periods are random samples of them.")] = False
    method: Annotated[str, text("METHOD", "Quantifier that counts each period.")] = "bayes"
    run_length: Annotated[float, number("PERIODS", "Periods between false alarms, on average.", least=2)] = 370.0
    store: Annotated[str | None, text("FILE", "SQLite file that keeps the history of all runs.")] = None
    pos_label: PosLabel = None
    where: Where = None
    order: Order = None
    level: Level = 0.95
    seed: Seed = 0


def run(
    data: Annotated[
        str, data_file("DATA", "A file or pattern with a period column, or a folder with a file for each period.")
    ],
    options: WatchOptions,
    output: ReportedOutput,
    threshold: Annotated[str, text("THRESHOLD", "Number or policy at which metrics are expected.")] = "0.5",
    metric: Annotated[list[str] | None, names("METRIC", "Expected metrics")] = None,
) -> None:
    """Monitor, print."""
    files = sorted(map(str, Path(data).iterdir())) if Path(data).is_dir() else expanded(data)
    output.require_place()
    for place in (output.report, options.store):
        if place is not None:
            require_writable(place, inputs=files)
    with progress_bar(f"Watching {data}"):
        result = watch(data, **vars(options), threshold=number_or_text(threshold), metrics=metric or _USUAL)
    output.write_report(result, data)
    if output.as_json:
        output.answer("watch", result.to_dict(), result.warnings)
        return
    output.text(f"{data}: {result.verdict}", "bold")
    _print_periods(result, output)
    output.text(f"{result.rate}. Charts signal above {result.limit:.2f}.", "dim")
    if result.new_items is not None:
        _print_new_items(result.new_items, output)
    if result.plan is not None:
        output.text(f"To know the share of the last period to {0.05:g}: {result.plan.heading()}", "yellow")
    output.notes(result.warnings)
    output.say_where()


def _print_periods(result: Watch, output: ReportedOutput) -> None:
    expected = list(dict.fromkeys(name for one in result.periods for name in one.expected))
    audited = any(one.audit is not None for one in result.periods)
    valued = any(one.row().get("value_sum") is not None for one in result.periods)
    heads = ["rows", "prevalence" if result.counted else "mean score", *(["by audit"] if audited else [])]
    heads += [*(f"expected {name}" for name in expected), "score chart"]
    heads += [*(["fit p"] if result.counted else []), *(["value chart"] if valued else [])]
    columns = [("period", "left"), *((head, "right") for head in heads), ("signal", "prose")]
    lines = [_line(one, expected, counted=result.counted, audited=audited, valued=valued) for one in result.periods]
    output.table(table("", columns, lines))


def _print_new_items(found: NewItems, output: ReportedOutput) -> None:
    output.text(f"\nNew items: {found.heading()}.", "bold")
    names = {
        "period": "period", "items": "items", "new_items": "new", "share_new": "rows of new", "churn": "gone",
        "mean_score_new": "score, new", "mean_score_known": "known", "p_scores": "p", "mean_value_new": "value, new",
        "mean_value_known": "known", "errors_new": "errors, new", "errors_known": "known", "p_holm": "p (Holm)",
    }  # fmt: skip
    used = [name for name in names if any(row[name] is not None for row in found.periods)]
    heads = [(names[name], "left" if name == "period" else "right") for name in used]
    lines = [
        [("" if row[name] is None else p_value(row[name]) if name[:2] == "p_" else shown(row[name])) for name in used]
        for row in found.periods
    ]
    output.table(table("", heads, lines))


def _line(one: Watched, expected: Sequence[str], *, counted: bool, audited: bool, valued: bool) -> list[str]:
    row = one.row()

    def share(name: str) -> str:
        value = row.get(name)
        prefix = "" if name == "prevalence" else f"{name}_"
        low, high = row.get(f"{prefix}low"), row.get(f"{prefix}high")
        if value is None:
            return "–"
        return shown(value) if low is None or high is None else with_limits(value, low, high)

    cells = [str(one.period) + (" (reference)" if one.reference else ""), shown(one.rows)]
    cells += [share("prevalence")] if counted else [shown(one.mean_score)]
    cells += [share("audit")] if audited else []
    cells += [shown(row.get(f"expected_{name}")) for name in expected] + [shown(one.score_sum)]
    cells += [p_value(row["fit_p"]) if "fit_p" in row else ""] if counted else []
    cells += [shown(row.get("value_sum"))] if valued else []
    return [*cells, ", ".join(one.signals)]
