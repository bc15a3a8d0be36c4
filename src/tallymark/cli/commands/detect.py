"""``tallymark detect``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tallymark._numbers import noun, number, with_limits
from tallymark.cli.commands.compare import compared_table, print_conditions
from tallymark.cli.naming import listed
from tallymark.cli.output import require_table_place, write_beside
from tallymark.cli.printing import (
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
from tallymark.comparison.comparing import compare
from tallymark.errors import InputError
from tallymark.evaluation.evaluate import evaluate
from tallymark.simple import without_simple
from tallymark.sources.constructors import panel as panel_of
from tallymark.sources.engine import engine
from tallymark.sources.files import columns_of
from tallymark.sources.formats import Wanted, is_number
from tallymark.summaries.panel import Panel


@dataclass(frozen=True)
class Asked:
    """What the command line asked for."""

    file: str
    label: str | None = None
    pos_label: str | None = None
    features: Sequence[str] = ()
    detectors: Sequence[str] = ()
    neighbors: int | None = None
    standardise: bool = True
    level: float = 0.95
    seed: int = 0
    jobs: int | None = None
    out: str | None = None
    as_json: bool = False
    report: str | None = None


def run(asked: Asked) -> None:
    """Score outliers; with labels, say which detector is best, with and without simple objects."""
    from tallymark import learners

    chosen = learners.detectors(
        *([listed(asked.detectors)] if asked.detectors else []), n_neighbors=asked.neighbors,
        standardise=asked.standardise, random_state=asked.seed, n_jobs=asked.jobs,
    )  # fmt: skip
    require_report_place(asked.report, asked.file)
    if asked.label is None and (asked.out is None or asked.report is not None):
        raise InputError(
            "Without --label there is nothing to evaluate by; give it, or --out FILE for the scores alone."
        )
    require_table_place(asked.out, asked.file)
    columns, features = _read(asked)
    X = np.column_stack([_numbers(columns[name], name) for name in features])
    with progress_bar(f"Detecting outliers in {asked.file}") as progress:
        scores = chosen.scores(X, progress)
    if asked.out is not None:
        write_beside(asked.out, asked.file, scores, numbers=features)
    answer: dict[str, Any] = {
        "n": len(X),
        "features": features,
        "neighbors": chosen.neighbors(len(X)),
        "out": asked.out,
    }
    if asked.label is not None:
        panel = panel_of(columns[asked.label], scores, pos_label=positive_label(columns, asked.label, asked.pos_label))
        _evaluated(asked, panel, answer)
    elif asked.as_json:
        print_json("detect", answer)
    if asked.out is not None and not asked.as_json:
        print_text(f"Wrote {asked.out}: {len(X)} {noun(len(X), 'row')} with {', '.join(scores)}.")


def _evaluated(asked: Asked, panel: Panel, answer: dict[str, Any]) -> None:
    """Say which detector is best, and write the report."""
    reduced = without_simple(panel)
    evaluated = evaluate(panel, metrics=["auroc"], level=asked.level, seed=asked.seed)
    compared = compare(panel, metric="auroc", level=asked.level, seed=asked.seed) if len(panel.models) > 1 else None
    notes = tuple(dict.fromkeys((*evaluated.warnings, *(compared.warnings if compared else ()))))
    if asked.report is not None:
        from tallymark.reporting.pages import report

        with progress_bar(f"Writing {asked.report}") as progress:
            report(
                panel,
                asked.report,
                title=Path(asked.file).name,
                command=shown_command(),
                level=asked.level,
                progress=progress,
            )
    without = {row["model"]: row["without_simple"] for row in reduced.compare("auroc")}
    positives = int(panel.is_positive.sum())
    if asked.as_json:
        measures = {
            name: evaluated[name]["auroc"].to_dict() | {"without_simple": without[name]} for name in panel.models
        }
        simple = {"rows": reduced.n_simple, "share": reduced.share, "verdict": reduced.verdict}
        pairs = [] if compared is None else compared.to_dict()["pairs"]
        print_json(
            "detect", answer | {"positives": positives, "detectors": measures, "simple": simple, "pairs": pairs}, notes
        )
        return
    print_text(
        f"{asked.file}: {panel.n} {noun(panel.n, 'row')}, {positives} {noun(positives, 'outlier')}, {len(answer['features'])} attributes",
        "bold",
    )
    level = f"{100 * asked.level:g} %"
    lines = [
        [
            name,
            number(answer["neighbors"].get(name)),
            with_limits(m.value, *(m.interval or (np.nan, np.nan))),
            number(without[name]),
        ]
        for name in panel.models
        for m in [evaluated[name]["auroc"]]
    ]
    heads = [("detector", "left"), ("neighbours", "right"), (f"AUROC ({level})", "right"), ("without simple", "right")]
    print_table(table("", heads, lines))
    print_text(
        f"{reduced.n_simple} rows ({100 * reduced.share:.1f} %, {reduced.verdict}) are right for every detector at any threshold.",
        "dim", indent="  ",
    )  # fmt: skip
    if compared is not None:
        print_text("")
        print_table(compared_table("Which detector ranks outliers higher", compared))
        print_conditions(compared)
    print_notes(notes)
    print_written(asked.report)


def _read(asked: Asked) -> tuple[dict[str, Any], list[str]]:
    """The label and the attributes: those named, or every column of numbers but the label."""
    label = [] if asked.label is None else [Wanted(asked.label, "--label")]
    features = listed(asked.features)
    if not features:
        with engine(asked.file, label) as source:
            features = [name for name, kind in source.types.items() if is_number(kind) and name != asked.label]
        if not features:
            raise InputError(
                f"{asked.file!r} has no column of numbers to look for outliers in; name some with --feature."
            )
    wanted = [*label, *(Wanted(name, "--feature", "number") for name in features)]
    with engine(asked.file, wanted) as source:
        source.keep_order()
        return columns_of(source, wanted), features


def _numbers(column: Any, name: str) -> Any:
    values = np.ma.filled(np.ma.asarray(column).astype(np.float64), np.nan)
    if bad := int(np.count_nonzero(~np.isfinite(values))):
        raise InputError(
            f"{name} is missing or infinite in {bad} rows; detectors need numbers. Leave those rows or the column out."
        )
    return values
