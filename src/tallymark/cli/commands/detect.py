"""Score outliers with several detectors and compare them.

With --label, the detectors are evaluated with and without the objects that all of them get right.

Example: tallymark detect sensors.csv --label broken --report detectors.html
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

from tallymark import learners
from tallymark._check import Floats
from tallymark._numbers import noun, with_limits
from tallymark._numbers import number as shown
from tallymark.cli.commands.compare import compared_table, print_conditions
from tallymark.cli.layout import table
from tallymark.cli.options import File, Jobs, Level, PosLabel, Seed, column, columns, names, number, text
from tallymark.cli.output import ReportedOutput, progress_bar, require_table_place, write_beside
from tallymark.comparison.compare import compare
from tallymark.errors import InputError
from tallymark.evaluation.evaluate import evaluate
from tallymark.simple import without_simple
from tallymark.sources.constructors import panel as panel_of
from tallymark.sources.engine import engine
from tallymark.sources.files import columns_of
from tallymark.sources.formats import Wanted, is_number
from tallymark.summaries.panel import Panel


def run(
    file: File,
    output: ReportedOutput,
    label: Annotated[str | None, column("Column that says which objects are outliers.")] = None,
    pos_label: PosLabel = None,
    feature: Annotated[list[str] | None, columns("Attributes; left out, every column of numbers", "number")] = None,
    detector: Annotated[list[str] | None, names("DETECTOR", "mod, lof, iforest, copod; left out, all")] = None,
    neighbors: Annotated[
        int | None, number("INTEGER", "Neighbours of mod and lof (150 and 50, at most half of the rows).", least=1)
    ] = None,
    standardise: Annotated[bool, typer.Option(help="Bring attributes to mean 0 and deviation 1 first.")] = True,
    level: Level = 0.95,
    seed: Seed = 0,
    jobs: Jobs = None,
    out: Annotated[str | None, text("FILE", "Write FILE with a score column per detector to this file.")] = None,
) -> None:
    """Score outliers; with labels, compare the detectors."""
    detectors = learners.detectors(
        *([detector] if detector else []), n_neighbors=neighbors, standardise=standardise, seed=seed, jobs=jobs
    )
    output.require_place(file)
    if label is None and (out is None or output.report is not None):
        raise InputError(
            "Without --label there is nothing to evaluate by; give it, or --out FILE for the scores alone."
        )
    require_table_place(out, file)
    columns, features = _read(file, label, feature or [])
    X = np.column_stack([_numbers(columns[name], name) for name in features])
    with progress_bar(f"Detecting outliers in {file}") as progress:
        scores = detectors.scores(X, progress)
    if out is not None:
        write_beside(out, file, scores, numbers=features)
    answer: dict[str, Any] = {"n": len(X), "features": features, "neighbors": detectors.neighbors(len(X)), "out": out}
    if label is not None:
        panel = panel_of(columns[label], scores, pos_label=pos_label)
        _evaluate(file, panel, answer, output, level=level, seed=seed)
    elif output.as_json:
        output.answer("detect", answer)
    if out is not None and not output.as_json:
        output.text(f"Wrote {out}: {len(X)} {noun(len(X), 'row')} with {', '.join(scores)}.")


def _evaluate(
    file: str, panel: Panel, answer: dict[str, Any], output: ReportedOutput, *, level: float, seed: int
) -> None:
    """Compare the detectors, write the report, print."""
    reduced = without_simple(panel)
    evaluated = evaluate(panel, metrics=["auroc"], level=level, seed=seed)
    compared = compare(panel, metric="auroc", level=level, seed=seed) if len(panel.models) > 1 else None
    notes = tuple(dict.fromkeys((*evaluated.warnings, *(compared.warnings if compared else ()))))
    output.write_report(panel, file, level=level)
    without = {row["model"]: row["without_simple"] for row in reduced.compare("auroc")}
    positives = int(panel.is_positive.sum())
    aurocs = {name: evaluated[name]["auroc"] for name in panel.models}
    if output.as_json:
        measures = {name: one.to_dict() | {"without_simple": without[name]} for name, one in aurocs.items()}
        simple = {"rows": reduced.n_simple, "share": reduced.share, "verdict": reduced.verdict}
        pairs = [] if compared is None else compared.to_dict()["pairs"]
        results = {"positives": positives, "detectors": measures, "simple": simple, "pairs": pairs}
        output.answer("detect", answer | results, notes)
        return
    output.text(
        (
            f"{file}: {panel.n} {noun(panel.n, 'row')}, {positives} {noun(positives, 'outlier')}, "
            f"{len(answer['features'])} attributes"
        ),
        "bold",
    )
    heads = [("detector", "left"), ("neighbours", "right"), (f"AUROC ({100 * level:g} %)", "right")]
    lines = [
        [
            name,
            shown(answer["neighbors"].get(name)),
            with_limits(one.value, *(one.interval or (np.nan, np.nan))),
            shown(without[name]),
        ]
        for name, one in aurocs.items()
    ]
    output.table(table("", [*heads, ("without simple", "right")], lines))
    output.text(
        f"{reduced.n_simple} rows ({100 * reduced.share:.1f} %, {reduced.verdict}) are right for every detector at any "
        "threshold.",
        "dim",
        indent="  ",
    )
    if compared is not None:
        output.text("")
        output.table(compared_table("Which detector ranks outliers higher", compared))
        print_conditions(compared, output)
    output.notes(notes)
    output.say_where()


def _read(file: str, label: str | None, features: list[str]) -> tuple[dict[str, Any], list[str]]:
    """The label and the attributes: those named, or every column of numbers but the label."""
    labels = [] if label is None else [Wanted(label, "--label")]
    with engine(file, [*labels, *(Wanted(name, "--feature", "number") for name in features)]) as source:
        if not features:
            features = [name for name, kind in source.types.items() if is_number(kind) and name != label]
        if not features:
            raise InputError(f"{file!r} has no column of numbers to look for outliers in; name some with --feature.")
        source.keep_order()
        return columns_of(source, [*labels, *(Wanted(name, "--feature", "number") for name in features)]), features


def _numbers(column: Any, name: str) -> Floats:
    values = np.ma.filled(np.ma.asarray(column).astype(np.float64), np.nan)
    if bad := int(np.count_nonzero(~np.isfinite(values))):
        raise InputError(
            f"{name} is missing or infinite in {bad} rows; detectors need numbers. Leave those rows or the column out."
        )
    return np.asarray(values)
