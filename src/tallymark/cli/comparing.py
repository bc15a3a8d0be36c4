"""``tallymark compare``."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tallymark._show import number
from tallymark.cli.printing import (
    positive_label,
    print_json,
    print_notes,
    print_table,
    print_text,
    print_written,
    progress_bar,
    require_report_place,
    table,
)
from tallymark.comparison import Comparison, compare
from tallymark.errors import GuardWarning, InputError
from tallymark.results import Note
from tallymark.simple import FileNoSimple, without_simple
from tallymark.sources.filepanel import scan_panel


@dataclass(frozen=True)
class Asked:
    """What the command line asked for."""

    file: str
    label: str
    scores: Sequence[str]
    pos_label: str | None = None
    weight: str | None = None
    count: str | None = None
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
    with progress_bar(f"Reading and comparing {asked.file}") as progress:
        panel = scan_panel(
            asked.file, label=asked.label, scores=asked.scores, weight=asked.weight, count=asked.count,
            where=asked.where, pos_label=positive_label(asked.file, asked.label, asked.pos_label),
            memory_limit=asked.memory_limit, threads=asked.threads, progress=progress, drop_missing=asked.drop_missing,
        )  # fmt: skip
        reduced = without_simple(panel) if asked.without_simple else None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = compare(
                panel if reduced is None else reduced.reduced, metric=next(iter(asked.metrics), "auroc"), method=asked.method,  # type: ignore[arg-type]
                threshold=asked.threshold, level=asked.level, equivalence=asked.equivalence, seed=asked.seed,
                sampling=asked.sampling, **asked.parameters,  # type: ignore[arg-type]
            )  # fmt: skip
    notes = [Note(w.message.code, w.message.message) for w in caught if isinstance(w.message, GuardWarning)]
    if asked.report is not None:
        from tallymark.reporting.pages import report

        with progress_bar(f"Writing {asked.report}") as progress:
            report(found, asked.report, title=asked.file, progress=progress)
    if asked.as_json:
        simple = {} if reduced is None else {"simple": _simple(reduced)}
        print_json(found.to_dict() | simple | {"warnings": [vars(note) for note in notes]})
    else:
        _print(found, asked, reduced)
        print_notes(notes)
        print_written(asked.report)
    return found


def _simple(reduced: FileNoSimple) -> dict[str, Any]:
    return {"rows": reduced.n_simple, "share": reduced.share, "verdict": reduced.verdict}


def _print(found: Comparison, asked: Asked, reduced: FileNoSimple | None) -> None:
    if reduced is not None:
        print_text(
            f"{reduced.n_simple} of {reduced.n} rows are right for every model at any threshold "
            f"({100 * reduced.share:.1f} %, {reduced.verdict}); they are left out."
        )
    several = len(found.pairs) > 1
    level = f"{100 * found.level:g} %"
    print_text(f"{asked.file}: {found.metric} on the same {found.n} rows, {found.positives} positive", "bold")
    cuts = found.thresholds
    heads = [("model", "left"), (found.metric, "right"), *([("threshold", "right")] if cuts else [])]
    values = [
        [model, number(float(value)), *([number(cuts[model])] if cuts else [])] for model, value in found.values.items()
    ]
    print_table(table("", heads, values))
    print_text("")
    columns: list[tuple[Any, ...]] = [
        ("pair", "left"),
        ("difference", "right"),
        (f"{level} interval", "right"),
        ("p", "right"),
    ]
    columns += [("p (Holm)", "right")] if several else []
    print_table(
        table(
            "",
            [*columns, ("verdict", "left"), ("method", "left", True)],
            [
                [
                    f"{pair.first} - {pair.second}", number(pair.difference), f"{number(pair.low)} to {number(pair.high)}",
                    _p(pair.p_value), *([_p(pair.p_holm)] if several else []), pair.verdict, pair.method,
                ]
                for pair in found.pairs
            ],
        )
    )  # fmt: skip
    together = "; limits and verdicts of all pairs are corrected together (Holm)" if several else ""
    print_text(f"{found.conditions.removeprefix(', ').capitalize()}{together}.", "dim", indent="  ")


def _p(value: float) -> str:
    return "< 0.0001" if value < 1e-4 else f"{value:.4f}"
