"""Tables and remarks of a count for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tallymark._numbers import change, count_with_limits, number, with_limits
from tallymark.cli.layout import table
from tallymark.cli.output import Output
from tallymark.measures import Measure
from tallymark.quantify.estimation.count import Count, total_of
from tallymark.quantify.estimation.prevalence import SUM_OF_GROUPS, Prevalence
from tallymark.registry import QUANTIFIERS

#: A sum of groups further from the count of all rows together than this, relatively, is worth a remark.
_APART = 0.05


def print_count(count: Count, title: str, output: Output) -> None:
    """Everything that was estimated, as tables and sentences."""
    first = count.lines()[0]
    level = "" if first[2].level is None else f", {100 * first[2].level:g} % intervals"
    output.text(f"{title}{level}", "bold")
    groups = list(first[0] or ())
    _print_estimates(count, groups, output, classes=first[1] is not None)
    if count.growth is not None:
        _print_growth(count, [name for name in groups if name != count.growth], output)
    if count.expected is not None:
        at = f"threshold {number(count.expected.threshold)} and prevalence {number(count.expected.prevalence)}"
        output.text(f"\nExpected at {at}", "bold")
        lines = [[measure.name, _measured(measure)] for measure in count.expected.values()]
        output.table(table("", [("metric", "left"), ("value", "right")], lines))
    for line in _remarks(count):
        output.text(line, "dim")


def _print_estimates(count: Count, groups: Sequence[str], output: Output, *, classes: bool) -> None:
    heads = [("method", "left"), *((name, "left") for name in groups), *([("class", "left")] if classes else [])]
    heads += [("prevalence", "right"), (count.called or "count", "right"), ("of", "right"), ("interval", "prose")]
    rows = []
    for group, label, one in [*count.lines(), *((group, None, one) for group, one in count.subtotals())]:
        names = [one.method, *_named(group, groups), *([label or ""] if classes else [])]
        rows.append([*names, *_counted(one)])
    output.table(table("", heads, rows))


def _named(group: dict[str, Any] | None, columns: Sequence[str]) -> list[str]:
    """The values of a group; of a sum, what it sums over is marked."""
    return [str(group[name]) if group is not None and name in group else SUM_OF_GROUPS for name in columns]


def _counted(one: Prevalence) -> list[str]:
    if one.reason is not None:
        return ["–", "–", number(one.n), one.reason]
    ends = (None, None) if one.low is None or one.high is None else (one.low * one.n, one.high * one.n)
    return [one.written, count_with_limits(one.count, *ends), number(one.n), one.interval_method or ""]


def _print_growth(count: Count, others: Sequence[str], output: Output) -> None:
    heads = [("method", "left"), *((name, "left") for name in others), ("from", "left"), ("to", "left")]
    lines = [
        [
            line["method"],
            *_named(line["group"], others),
            str(line["from"]),
            str(line["to"]),
            line["reason"] or change(line["growth"], line["low"], line["high"]),
        ]
        for line in count.growths()
    ]
    output.table(table("", [*heads, ("growth of the count", "right")], lines))


def _measured(measure: Measure) -> str:
    if measure.reason is not None:
        return measure.reason
    return number(measure.value) if measure.interval is None else with_limits(measure.value, *measure.interval)


def _remarks(count: Count) -> list[str]:
    """What must be said beside the numbers."""
    return [*_labelled(count), *_pooled(count), *_audited(count), *_uncorrected(count), *_assumption(count)]


def _labelled(count: Count) -> list[str]:
    if count.labelled is None:
        return []
    rows, positives = count.labelled
    sums = ", ".join(f"{one['method']} {one['count']:.0f}" for one in count.with_labelled())
    return [f"With the {rows:.9g} labelled rows of the same file, {positives:.9g} of them {count.words.kind}: {sums}."]


def _pooled(count: Count) -> list[str]:
    """Methods whose groups do not add up to the count of all rows together."""
    apart = [
        (name, one.count, count.pooled[name])
        for name, one in count.totals.items()
        if name in count.pooled and one.reason is None
    ]
    return [
        f"{name}: the groups add up to {total:.0f}, but counted together they have {pooled:.0f}; their scores do not "
        "fit "
        "one and the same pair of classes."
        for name, total, pooled in apart
        if abs(total - pooled) > _APART * max(total, pooled)
    ]


def _audited(count: Count) -> list[str]:
    if count.audit is None:
        return []
    one = total_of(count.audit)
    of_all = (
        f"{one.count:.0f} of all {number(one.n)} rows, those with a label among them; nothing is assumed of any shift"
    )
    return [f"audit: {one.reason or of_all}."]


def _uncorrected(count: Count) -> list[str]:
    lines = []
    for name in count.estimates:
        if not QUANTIFIERS[name].shift_proof:
            total = count.totals.get(name)
            right = None if total is None else total.details.get("right_at")
            where = "" if right is None else f"; right only at a prevalence of {number(right)}"
            lines.append(f"{name}: not corrected for the classifier's errors{where}.")
    return lines


def _assumption(count: Count) -> list[str]:
    """The tests of prior shift, and what a shift that they cannot see would do."""
    lines = []
    if count.fits is not None:
        lines.append(f"Fit by group: {count.fits.verdict}.")
    elif count.fit is not None:
        lines.append(f"Fit: {count.fit.verdict} (p = {count.fit.p_value:.3g}).")
    if count.drift is not None:
        lines.append(f"By the labels of {', '.join(count.drift.names)}: {count.drift.verdict}.")
    if count.sensitivity is not None:
        lines.append(f"Sensitivity: {count.sensitivity.sentence}")
    return lines
