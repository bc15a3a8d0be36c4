"""``tallymark compare``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._numbers import limits, number, p_value
from tallymark.cli.layout import TextTable
from tallymark.cli.printing import (
    masses_wanted,
    positive_label,
    print_json,
    print_notes,
    print_table,
    print_text,
    print_written,
    progress_bar,
    require_report_place,
    shown_command,
    table,
)
from tallymark.comparison.compare import compare
from tallymark.comparison.results import Comparison
from tallymark.errors import InputError
from tallymark.simple import NoSimple, without_simple
from tallymark.sources.any_columns import any_columns
from tallymark.sources.constructors import panel as panel_of
from tallymark.sources.duck import Progress
from tallymark.sources.filepanel import FilePanel
from tallymark.sources.formats import Wanted
from tallymark.sources.roles import OPTION, Roles
from tallymark.sources.rows import Rows
from tallymark.summaries.panel import Panel


@dataclass(frozen=True)
class Asked:
    """What the command line asked for."""

    file: str
    label: str
    scores: Sequence[str] = ()
    predicted: Sequence[str] = ()
    pos_label: str | None = None
    weight: str | None = None
    count: str | None = None
    cluster: str | None = None
    where: str | None = None
    metrics: Sequence[str] = ()
    method: str | None = None
    threshold: str | None = None
    level: float = 0.95
    equivalence: float | None = None
    without_simple: bool = False
    seed: int = 0
    memory_limit: str | None = None
    threads: int | None = None
    drop_missing: bool = False
    as_json: bool = False
    report: str | None = None
    sampling: str = "plain"
    parameters: Mapping[str, float] = field(default_factory=dict)


def run(asked: Asked) -> Comparison:
    """Read, compare, print; gives back what was printed."""
    require_report_place(asked.report, asked.file)
    if len(asked.metrics) > 1:
        raise InputError("Compare by one --metric at a time.")
    if bool(asked.scores) == bool(asked.predicted):
        raise InputError("Compare columns of --score or columns of --predicted; name one of the two.")
    with progress_bar(f"Reading and comparing {asked.file}") as progress:
        panel = _of_calls(asked) if asked.predicted else _of_scores(asked, progress)
        reduced = without_simple(panel) if asked.without_simple else None
        comparison = compare(
            panel if reduced is None else reduced.reduced,
            metric=next(iter(asked.metrics), "accuracy" if asked.predicted else "auroc"),
            method=asked.method,  # type: ignore[arg-type]
            threshold=0.5 if asked.predicted else asked.threshold,
            level=asked.level,
            equivalence=asked.equivalence,
            seed=asked.seed,
            sampling=asked.sampling,  # type: ignore[arg-type]
            **asked.parameters,  # type: ignore[arg-type]
        )
    notes = comparison.warnings
    if asked.report is not None:
        from tallymark.reporting.pages import report

        with progress_bar(f"Writing {asked.report}") as progress:
            report(comparison, asked.report, title=Path(asked.file).name, command=shown_command(), progress=progress)
    if asked.as_json:
        simple = {} if reduced is None else {"simple": _simple(reduced)}
        print_json("compare", comparison.to_dict() | simple, notes)
    else:
        _print(comparison, asked, reduced)
        print_notes(notes)
        print_written(asked.report)
    return comparison


def _of_scores(asked: Asked, progress: Progress | None) -> Panel | FilePanel:
    rows = Rows(
        paths=asked.file, where=asked.where, memory_limit=asked.memory_limit, threads=asked.threads, progress=progress,
        drop_missing=asked.drop_missing,
        roles=Roles(
            label=asked.label, scores=tuple(asked.scores), weight=asked.weight, count=asked.count, cluster=asked.cluster, spelling=OPTION
        ),
    )  # fmt: skip
    with rows.open() as table:
        table.choose_positive(asked.pos_label)
        return table.panel() if table.small else FilePanel(replace(rows, roles=table.roles))


def _of_calls(asked: Asked) -> Panel:
    """Calls of two classes as scores of 0 and 1."""
    refused = {
        "--threshold": asked.threshold,
        "--without-simple": asked.without_simple,
        "--drop-missing": asked.drop_missing,
    }
    if used := [option for option, value in refused.items() if value]:
        raise InputError(f"{', '.join(used)}: only with --score.")
    wanted = [
        Wanted(asked.label, "--label", "class"),
        *(Wanted(name, "--predicted", "class") for name in asked.predicted),
        *masses_wanted(asked.weight, asked.count),
    ]
    wanted += [] if asked.cluster is None else [Wanted(asked.cluster, "--cluster")]
    columns = any_columns(asked.file, wanted, where=asked.where)
    truth, labels = _check.binary_labels(
        columns[asked.label], positive_label(columns, asked.label, asked.pos_label), asked.label
    )
    calls = {
        name: np.asarray(
            _check.calls(columns[name], columns[asked.label], name, asked.label) == labels[1], dtype=np.float64
        )
        for name in asked.predicted
    }
    return panel_of(
        truth, calls, counts=None if asked.count is None else columns[asked.count],
        weights=None if asked.weight is None else columns[asked.weight], clusters=None if asked.cluster is None else columns[asked.cluster],
    )  # fmt: skip


def _simple(reduced: NoSimple) -> dict[str, Any]:
    return {"rows": reduced.n_simple, "share": reduced.share, "verdict": reduced.verdict}


def _print(comparison: Comparison, asked: Asked, reduced: NoSimple | None) -> None:
    if reduced is not None:
        print_text(
            f"{reduced.n_simple} of {reduced.n} rows are right for every model at any threshold "
            f"({100 * reduced.share:.1f} %, {reduced.verdict}); they are left out."
        )
    print_text(
        f"{asked.file}: {comparison.metric} on the same {comparison.n} rows, {comparison.positives} positive", "bold"
    )
    cuts = comparison.thresholds
    letters = comparison.letters if len(comparison.values) > 2 else {}
    heads = [("model", "left"), (comparison.metric, "right"), *([("threshold", "right")] if cuts else [])]
    heads += [("letter", "left")] if letters else []
    values = [
        [model, number(float(comparison.values[model])), *([number(cuts[model])] if cuts else []), *([letters[model]] if letters else [])]
        for model in comparison.ranked
    ]  # fmt: skip
    print_table(table("", heads, values))
    if letters:
        print_text("Models that share a letter cannot be told apart.", "dim", indent="  ")
    print_text("")
    print_table(compared_table("", comparison))
    print_conditions(comparison)


def print_conditions(comparison: Comparison) -> None:
    """What the limits and verdicts of a table of pairs speak of."""
    together = "; limits and verdicts of all pairs are corrected together (Holm)" if len(comparison.pairs) > 1 else ""
    print_text(f"{comparison.conditions.removeprefix(', ').capitalize()}{together}.", "dim", indent="  ")


def compared_table(title: str, comparison: Comparison) -> TextTable:
    """Every pair with its difference, limits, p-value and verdict."""
    several = len(comparison.pairs) > 1
    heads: list[tuple[Any, ...]] = [
        ("pair", "left"),
        ("difference", "right"),
        (f"{100 * comparison.level:g} % interval", "right"),
        ("p", "right"),
        *([("p (Holm)", "right")] if several else []),
        ("verdict", "left"),
        ("method", "left", True),
    ]
    lines = [
        [
            f"{pair.first} − {pair.second}",
            number(pair.difference),
            limits(pair.low, pair.high),
            p_value(pair.p_value),
            *([p_value(pair.p_holm)] if several else []),
            pair.verdict,
            pair.method,
        ]
        for pair in comparison.pairs
    ]
    return table(title, heads, lines)
