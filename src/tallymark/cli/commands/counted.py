"""What ``tallymark quantify`` answers, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tallymark._numbers import change, count_with_limits, number, with_limits
from tallymark.cli.printing import print_table, print_text, table
from tallymark.measures import Evaluation
from tallymark.notes import Note
from tallymark.quantify.estimation.class_drift import ClassDrift
from tallymark.quantify.estimation.mixture_test import MixtureFit, MixtureFits
from tallymark.quantify.estimation.prevalence import SUM_OF_GROUPS, Prevalence, Prevalences
from tallymark.quantify.estimation.sensitivity import Sensitivity
from tallymark.registry import QUANTIFIERS


@dataclass(frozen=True)
class Answer:
    """Everything that was estimated."""

    estimates: dict[str, Any]
    fit: MixtureFit | None = None
    expectation: Evaluation | None = None
    #: The fit of each group, where there are groups.
    fits: MixtureFits | None = None
    #: What a shift that went unseen would do.
    unseen: Sensitivity | None = None
    #: Rows of the same file that are labelled, and the positives among them.
    known: tuple[float, float] | None = None
    #: What each method counts in all groups put together, where there are groups.
    pooled: Mapping[str, float] = field(default_factory=dict)
    #: What the labelled rows say of themselves and the others, where they are a random sample of both.
    audit: Prevalence | Prevalences | None = None
    #: What labelled rows of several groups say of prior shift.
    drift: ClassDrift | None = None
    #: What was noticed on reading.
    met: tuple[Note, ...] = ()

    @property
    def notes(self) -> list[Note]:
        """What was noticed on the way, each once; where there are groups, their fits speak for the whole."""
        ones = [
            one
            for entry in self.estimates.values()
            for one in (entry.values() if isinstance(entry, Mapping) else [entry])
        ]
        fit = self.fits if self.fits is not None else self.fit
        said = [note for one in ones for note in one.warnings]
        audited = () if self.audit is None else self.audit.warnings
        return list(dict.fromkeys([*self.met, *said, *(() if fit is None else fit.warnings), *audited]))


def total_of(entry: Prevalence | Prevalences) -> Prevalence:
    """An estimate of all groups together."""
    return entry.total if isinstance(entry, Prevalences) else entry


def lines_of(answer: Answer) -> list[tuple[dict[str, Any] | None, str | None, Prevalence]]:
    """Each estimate with its group and class; the group of a total is None."""
    items: list[tuple[dict[str, Any] | None, str | None, Prevalence]] = []
    for entry in (*answer.estimates.values(), *([] if answer.audit is None else [answer.audit])):
        if isinstance(entry, Prevalence):
            items.append((None, None, entry))
        elif isinstance(entry, Prevalences):
            items += [(dict(zip(entry.names, key, strict=True)), None, one) for key, one in entry.entries.items()]
            items.append((None, None, entry.total))
        else:
            items += [(None, str(label), one) for label, one in entry.items()]
    return items


def _subtotals(answer: Answer) -> list[tuple[dict[str, Any], Prevalence]]:
    """Sums over all keys but one, where there are several."""
    return [
        ({name: key[0]}, one)
        for entry in answer.estimates.values()
        if isinstance(entry, Prevalences)
        for name, by in entry.subtotals().items()
        for key, one in by.entries.items()
    ]


def _growth(answer: Answer, column: str, order: Sequence[str] | None) -> list[dict[str, Any]]:
    """Growth from each value of a column to the next, by method and group."""
    return [
        {"method": name, **line} for name, entry in answer.estimates.items() for line in entry.growths(column, order)
    ]


def _with_known(one: Prevalence, known: tuple[float, float]) -> dict[str, Any]:
    """A count with the labelled rows of the same population added."""
    rows, positives = known
    ends = (
        {}
        if one.low is None or one.high is None
        else {"low": one.low * one.n + positives, "high": one.high * one.n + positives}
    )
    return {"method": one.method, "count": one.count + positives, **ends, "n": one.n + rows}


def _totals(answer: Answer) -> list[Prevalence]:
    return [total_of(entry) for entry in answer.estimates.values() if isinstance(entry, Prevalence | Prevalences)]


def as_json(answer: Answer, growth: str | None, order: Sequence[str] | None = None) -> dict[str, Any]:
    """Everything that was estimated, as plain values."""
    sizes = {str(label): one.n for group, label, one in lines_of(answer) if group is None}
    entries: dict[str, Any] = {"n": next(iter(sizes.values()), None), "estimates": [
        {"method": one.method, "group": group, **({"class": label} if label is not None else {}), **_without_method(one)}
        for group, label, one in lines_of(answer)
    ]}  # fmt: skip
    if subtotals := _subtotals(answer):
        entries["subtotals"] = [
            {"method": one.method, "group": group, **_without_method(one)} for group, one in subtotals
        ]
    if growth is not None:
        entries["growth"] = _growth(answer, growth, order)
    if answer.known is not None:
        rows, positives = answer.known
        entries["known"] = {"n": rows, "positives": positives}
        entries["with_known"] = [_with_known(one, answer.known) for one in _totals(answer) if one.reason is None]
    if answer.pooled:
        entries["pooled"] = dict(answer.pooled)
    if answer.fit is not None:
        entries["fit"] = answer.fit.to_dict()
    if answer.drift is not None:
        entries["class_drift"] = answer.drift.to_dict()
    if answer.fits is not None:
        entries["fits"] = answer.fits.to_dict()
    if answer.unseen is not None:
        entries["sensitivity"] = answer.unseen.to_dict()
    if answer.expectation is not None:
        entries["expected"] = answer.expectation.to_dict()
    return entries


def _without_method(one: Prevalence) -> dict[str, Any]:
    return {name: value for name, value in one.to_dict().items() if name != "method"}


def print_answer(
    answer: Answer, target: str, validation: str, growth: str | None, order: Sequence[str] | None = None
) -> None:
    """Everything that was estimated, as tables and sentences."""
    lines = lines_of(answer)
    first = lines[0][2]
    level = "" if first.level is None else f", {100 * first.level:g} % intervals"
    print_text(f"{target}: counted with {validation}{level}", "bold")
    groups = list(lines[0][0] or ())
    classes = lines[0][1] is not None
    heads = [("method", "left"), *((name, "left") for name in groups), *([("class", "left")] if classes else [])]
    heads += [("prevalence", "right"), ("count", "right"), ("of", "right"), ("interval", "prose")]
    subtotals = _subtotals(answer)
    rows = []
    for group, label, one in [*lines, *((group, None, one) for group, one in subtotals)]:
        # A sum is marked by what it sums over.
        named = [str(group[name]) if group is not None and name in group else SUM_OF_GROUPS for name in groups]
        shown = [one.method, *named, *([label or ""] if classes else [])]
        if one.reason is not None:
            rows.append([*shown, "–", "–", number(one.n), one.reason])
            continue
        ends = (None, None) if one.low is None or one.high is None else (one.low * one.n, one.high * one.n)
        counted = count_with_limits(one.count, *ends)
        rows.append([*shown, one.written, counted, number(one.n), one.interval_method or ""])
    print_table(table("", heads, rows))
    if growth is not None:
        others = [name for name in groups if name != growth]
        columns = [("method", "left"), *((name, "left") for name in others), ("from", "left"), ("to", "left")]
        print_table(table("", [*columns, ("growth of the count", "right")], [
            [line["method"], *(str(line["group"][name]) if line["group"] else SUM_OF_GROUPS for name in others), str(line["from"]),
             str(line["to"]), line["reason"] or change(line["growth"], line["low"], line["high"])]
            for line in _growth(answer, growth, order)
        ]))  # fmt: skip
    if answer.expectation is not None:
        ev = answer.expectation
        print_text(f"\nExpected at threshold {number(ev.threshold)} and prevalence {number(ev.prevalence)}", "bold")
        print_table(table("", [("metric", "left"), ("value", "right")], [
            [m.name, m.reason or (number(m.value) if m.low is None or m.high is None else with_limits(m.value, m.low, m.high))]
            for m in ev.values()
        ]))  # fmt: skip
    for line in _remarks(answer):
        print_text(line, "dim")


#: A sum of groups further from the count of all rows together than this, relatively, is worth a word.
_APART = 0.05


def _remarks(answer: Answer) -> list[str]:
    """What must be said beside the numbers."""
    items = []
    totals = _totals(answer)
    if answer.known is not None:
        rows, positives = answer.known
        sums = ", ".join(f"{one.method} {one.count + positives:.0f}" for one in totals if one.reason is None)
        items.append(f"With the {rows:.9g} labelled rows of the same file, {positives:.9g} of them positive: {sums}.")
    for one in totals:
        pooled = answer.pooled.get(one.method)
        if pooled is not None and one.reason is None and abs(one.count - pooled) > _APART * max(one.count, pooled):
            items.append(
                f"{one.method}: the groups add up to {one.count:.0f}, but counted together they have {pooled:.0f}; their scores do "
                "not fit one and the same pair of classes."
            )
    if answer.audit is not None:
        one = total_of(answer.audit)
        items.append(
            f"audit: {one.reason or f'{one.count:.0f} of all {number(one.n)} rows, those with a label among them; nothing is assumed of any shift'}."
        )
    naive = [name for name in answer.estimates if not QUANTIFIERS[name].shift_proof]
    for name in naive:
        right = next((one.details.get("right_at") for one in totals if one.method == name and one.details), None)
        where = "" if right is None else f"; right only at a prevalence of {number(right)}"
        items.append(f"{name}: not corrected for the classifier's errors{where}.")
    if answer.fits is not None:
        items.append(f"Fit by group: {answer.fits.verdict}.")
    elif answer.fit is not None:
        items.append(f"Fit: {answer.fit.verdict} (p = {answer.fit.p_value:.3g}).")
    if answer.drift is not None:
        items.append(f"By the labels of {', '.join(answer.drift.names)}: {answer.drift.verdict}.")
    if answer.unseen is not None:
        items.append(f"Sensitivity: {answer.unseen.sentence}")
    return items
