"""Report on a rare class counted in texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tallymark import charts
from tallymark._display import Row
from tallymark._numbers import number
from tallymark.charts.theme import is_kind
from tallymark.reporting.builders import ReportRequest, contents, only
from tallymark.reporting.page_model import Content, Fold, Remark, Section, table_of

_ABOUT_TABLE = (
    "sd is the within-sample Bernoulli deviation, which leaves out the error of the fitted models; low and high "
    "include the chance in the labelled and in the counted texts, if the texts of each class are alike in both."
)

if TYPE_CHECKING:
    from tallymark.rare.results import ClassWeightSweep, RareComparison, RareCount


@contents("RareCount")
def _of_data(named: Mapping[str, RareCount], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    count = only(named, "count of rare texts")
    return of_rare(count, title=request.title or "Rare events in text")


def of_rare(result: RareCount, *, title: str) -> Content:
    """The count, its variants, the scores behind it, and the test of prior shift."""
    count = result.count
    tables = [table_of(list(map(_variant, result.table)))]
    sections = [Section("Four ways to count", _ABOUT_TABLE, [charts.rare_count(result)], tables)]
    if is_kind(result, "ClassWeightSweep"):
        sections.append(_weights(cast("ClassWeightSweep", result)))
    sections += _scores(result)
    if count.reason is None:
        fit = f"{result.fit.verdict[0].upper()}{result.fit.verdict[1:]}."
        sections.append(Section("Is this prior shift?", fit, [charts.mixture_fit(result.fit)]))
        limits = "" if count.low is None else f" ({count.count_low:.0f} to {count.count_high:.0f})"
        verdict = [
            f"There are about {count.count:.0f}{limits} positives among {number(count.n)} texts ({result.method}, "
            f"calibrated){result.truth_said}.",
            fit,
        ]
    else:
        verdict = [f"How many of the {number(count.n)} texts are positive cannot be said: {count.reason}."]
    left_out = int(np.count_nonzero(~result.counted))
    details = ", ".join(f"{value} {name}" for name, value in result.details.items())
    what = [f"{number(len(result.scores))} texts", f"{left_out} of them left out", details]
    return Content(title, what, verdict, list(map(Remark.of, result.warnings)), sections)


def _weights(result: ClassWeightSweep) -> Section:
    text = (
        f"The weight {number(result.weight)} had the highest sPCC on held-out labelled texts; the target was not used."
    )
    measured = ("bias", "spcc") if result.positive is not None else ()
    pictures = [charts.class_weight_sweep(result), *(charts.class_weight_sweep(result, measure=m) for m in measured)]
    variants = [{"weight": row["weight"], **_variant(row)} for row in result.variants]
    every = Fold("All four variants of each weight", [], [table_of(variants)])
    return Section("Class weights", text, pictures, [table_of(result.sweep)], folded=[every])


@contents("RareComparison")
def _of_methods(named: Mapping[str, RareComparison], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    return of_comparison(only(named, "comparison of counts"), title=request.title or "Rare events in text, by method")


def of_comparison(compared: RareComparison, *, title: str) -> Content:
    """The counts of all methods side by side, and the variants of each."""
    sections = [
        Section(
            "Method by method", f"Calibrated probabilities. {_ABOUT_TABLE}", [charts.rare_counts(compared)],
            [table_of(compared.rows())], folded=[Fold(name, [], [table_of(list(map(_variant, one.table)))])
                                                 for name, one in compared.counts.items()],
        )
    ]  # fmt: skip
    lines = [f"By {name}: {_told(one)}" for name, one in compared.counts.items()]
    return Content(title, [compared.heading()], lines, list(map(Remark.of, compared.warnings)), sections)


def _told(result: RareCount) -> str:
    """The count of one method in a sentence."""
    count = result.count
    if count.reason is not None:
        return f"how many of the {number(count.n)} texts are positive cannot be said: {count.reason}."
    limits = "" if count.low is None else f" ({count.count_low:.0f} to {count.count_high:.0f})"
    return f"about {count.count:.0f}{limits} positives among {number(count.n)} texts{result.truth_said}."


def _scores(result: RareCount) -> list[Section]:
    """Scores of the target where its labels are given, else of the labelled texts."""
    labelled = result.positive is not None and bool(result.target.positives) and bool(result.target.negatives)
    if not labelled or result.count.reason is not None:
        shown = charts.score_histogram({"labelled texts": result.validation}, log=True)
        return [Section("Scores of labelled texts", "Out-of-sample scores.", [shown])]
    scores = [charts.score_histogram(result.target, calibrated=result.calibrated, log=log) for log in (False, True)]
    rates = charts.over_thresholds({"before": result.target}, metrics=("recall", "specificity"))
    text = "Shares of each class, and counts on a logarithmic scale."
    return [
        Section("Scores before and after calibration", text, scores),
        Section("Rates by threshold", "Recall and specificity of the scores as they come.", [rates]),
    ]


def _variant(row: Row) -> Row:
    """A line of the table with its first two columns joined."""
    rest = {name: value for name, value in row.items() if name not in {"by", "calibrated"}}
    return {"variant": f"{row['by']}, {'calibrated' if row['calibrated'] == 'yes' else 'as they come'}", **rest}
