"""``tallymark rare``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tallymark import rare
from tallymark._numbers import number
from tallymark.cli.naming import listed
from tallymark.cli.output import require_table_place, write_beside
from tallymark.cli.printing import (
    positive_label,
    print_json,
    print_notes,
    print_rows,
    print_text,
    print_written,
    progress_bar,
    require_report_place,
    shown_command,
)
from tallymark.rare.files import TextColumn
from tallymark.rare.results import ClassWeightSweep, RareCount
from tallymark.registry import choose
from tallymark.sources.engine import engine
from tallymark.sources.files import columns_of as columns_in
from tallymark.sources.formats import Wanted

#: Numbers from here on are counts, of which one decimal is enough.
_COUNTED = 10.0

#: The ways to count by name, and the option that says how many machines each trains.
METHODS: Mapping[str, tuple[Callable[..., RareCount], str]] = {
    "bootstrap": (rare.bootstrap, "machines"),
    "class-weight-sweep": (rare.class_weight_sweep, "replicates"),
    "ensemble": (rare.ensemble, "machines"),
}


@dataclass(frozen=True)
class Asked:
    """What the command line asked for."""

    train: str
    target: str
    text: str
    label: str
    target_label: str | None = None
    pos_label: str | None = None
    method: str = "bootstrap"
    machines: int | None = None
    min_letters: int = 3
    min_words: int = 1
    min_df: int = 2
    languages: Sequence[str] = ()
    stem: str | None = None
    level: float | None = 0.95
    seed: int = 0
    jobs: int | None = None
    out: str | None = None
    as_json: bool = False
    report: str | None = None


def run(asked: Asked) -> RareCount:
    """Train on the labelled texts, count in the target, print; gives back what was printed."""
    method: Callable[..., RareCount]
    method, machines = choose("--method", asked.method, METHODS)
    require_report_place(asked.report, asked.train, asked.target)
    require_table_place(asked.out, asked.train, asked.target)
    cleaning = rare.Cleaning(
        min_letters=asked.min_letters, min_words=asked.min_words, min_df=asked.min_df,
        languages=listed(asked.languages), stem=asked.stem,
    )  # fmt: skip
    labels = _column(asked.train, asked.label, "--label")
    truth = None if asked.target_label is None else _column(asked.target, asked.target_label, "--target-label")
    with progress_bar(f"Counting in {asked.target}") as progress:
        result = method(
            TextColumn(asked.train, asked.text, option="--text"), labels,
            TextColumn(asked.target, asked.text, option="--text"), target_labels=truth,
            pos_label=positive_label({asked.label: labels}, asked.label, asked.pos_label), cleaning=cleaning,
            level=asked.level, seed=asked.seed, jobs=asked.jobs, progress=progress,
            **({} if asked.machines is None else {machines: asked.machines}),
        )  # fmt: skip
    if asked.out is not None:
        write_beside(
            asked.out, asked.target, {"tallymark_score": result.scores, "tallymark_probability": result.posteriors}
        )
    if asked.report is not None:
        from tallymark.reporting.pages import report

        with progress_bar(f"Writing {asked.report}") as progress:
            report(result, asked.report, title=Path(asked.target).name, command=shown_command(), progress=progress)
    if asked.as_json:
        sweep = {"weight": result.weight, "sweep": result.sweep} if isinstance(result, ClassWeightSweep) else {}
        print_json("rare", result.to_dict() | sweep | {"out": asked.out}, result.warnings)
        return result
    _print(result, asked)
    print_notes(result.warnings)
    print_written(asked.report)
    return result


def _column(paths: str, name: str, option: str) -> Any:
    """A column of labels, in the order of the files."""
    wanted = [Wanted(name, option)]
    with engine(paths, wanted) as source:
        source.keep_order()
        return columns_in(source, wanted)[name]


def _print(result: RareCount, asked: Asked) -> None:
    print_text(f"{asked.target}: {result.heading()}", "bold")
    print_rows(result.table, shown=_shown)
    print_text(
        "sd is the within-sample Bernoulli deviation; low and high span the chance in both samples, if the texts of each class "
        "are alike in them.", "dim", indent="  ",
    )  # fmt: skip
    if isinstance(result, ClassWeightSweep):
        print_text("")
        print_rows(result.sweep, "Weights of positives in training; labelled texts chose", _shown)
    if result.count.reason is None:
        verdict = result.fit.verdict
        print_text(f"{verdict[0].upper()}{verdict[1:]}.", indent="  ")
    if asked.out is not None:
        left_out = int(np.count_nonzero(~result.counted))
        print_text(f"Wrote {asked.out}: the target with tallymark_score and tallymark_probability"
                   + (f", empty for the {left_out} texts left out." if left_out else "."))  # fmt: skip


def _shown(value: Any) -> str:
    """A count with one decimal, anything else as everywhere."""
    if value is None:
        return ""
    return f"{value:.1f}" if isinstance(value, float) and abs(value) >= _COUNTED else number(value)
