"""The report of a rare class counted in texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tallymark import charts
from tallymark._display import Row
from tallymark._numbers import number
from tallymark.rare.results import ClassWeightSweep, RareCount
from tallymark.reporting.builders import ReportRequest, contents, only
from tallymark.reporting.page_model import Content, Remark, Section, table_of

_ABOUT_TABLE = (
    "sd is the within-sample Bernoulli deviation, which knows nothing of the machines' own error; low and high span the chance in "
    "the labelled and in the counted texts, if the texts of each class are alike in both."
)


@contents(RareCount)
def _of_data(named: Mapping[str, Any], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    count = only(named, "count of rare texts")
    return of_rare(count, title=request.title or "Rare events in text")


def of_rare(result: RareCount, *, title: str) -> Content:
    """The count, its variants, the scores behind it, and whether they can be a mixture of the two classes."""
    labelled = result.positive is not None and bool(result.target.positives) and bool(result.target.negatives)
    sections = [
        Section(
            "Four ways to count",
            _ABOUT_TABLE,
            [charts.rare_count(result)],
            [table_of(list(map(_variant, result.table)))],
        )
    ]
    if isinstance(result, ClassWeightSweep):
        text = f"The weight {number(result.weight)} was best on labelled texts its machines had not seen (sPCC); the target had no say."
        sections.append(Section("Class weights", text, [charts.class_weight_sweep(result)], [table_of(result.sweep)]))
    known = result.count.reason is None
    if labelled and known:
        scores = [charts.score_histogram(result.target, calibrated=result.calibrated, log=log) for log in (False, True)]
        sections.append(
            Section(
                "Scores before and after calibration",
                "Shares of each class, and counts on a logarithmic scale.",
                scores,
            )
        )
        rates = charts.over_thresholds({"before": result.target}, metrics=("recall", "specificity"))
        sections.append(Section("Rates by threshold", "Recall and specificity of the scores as they come.", [rates]))
    else:
        shown = charts.score_histogram({"labelled texts": result.validation}, log=True)
        sections.append(Section("Scores of labelled texts", "By machines that had not seen them.", [shown]))
    count = result.count
    if known:
        verdict = result.fit.verdict
        text = f"{verdict[0].upper()}{verdict[1:]}."
        sections.append(Section("Is this prior shift?", text, [charts.mixture_fit(result.fit)]))
        limits = "" if count.low is None else f" ({count.count_low:.0f} to {count.count_high:.0f})"
        said = [
            f"There are about {count.count:.0f}{limits} positives among {number(count.n)} texts ({result.method}, calibrated){result.truth_said}.",
            text,
        ]
    else:
        said = [f"How many of the {number(count.n)} texts are positive cannot be said: {count.reason}."]
    left_out = int(np.count_nonzero(~result.counted))
    what = [f"{number(len(result.scores))} texts", f"{left_out} of them left out", _details(result)]
    return Content(title, what, said, list(map(Remark.of, result.warnings)), sections)


def _variant(row: Row) -> Row:
    """A line of the table with its two first columns as one."""
    rest = {name: value for name, value in row.items() if name not in {"by", "calibrated"}}
    return {"variant": f"{row['by']}, {'calibrated' if row['calibrated'] == 'yes' else 'as they come'}", **rest}


def _details(result: RareCount) -> str:
    return ", ".join(f"{value} {name}" for name, value in result.details.items())
