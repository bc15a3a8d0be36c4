"""The report of models by group: all rows together, whether groups differ, and each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tallymark import charts
from tallymark._numbers import amount, count, equals_p
from tallymark.decisions.verdicts import GroupFacts, group_facts, group_metrics, leading_metrics
from tallymark.errors import InputError
from tallymark.evaluation.evaluate import evaluate
from tallymark.measures import Evaluation, Evaluations
from tallymark.notes import Note
from tallymark.reporting.page_model import (
    Bar,
    Cell,
    Content,
    Fold,
    Line,
    Remark,
    Section,
    Table,
    measured,
    metric_tables,
    once,
)
from tallymark.reporting.remarks import described, flattered, no_sums
from tallymark.reporting.sentences import group_headline, group_sentences, named
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally


def of_groups(
    tallies: Tallies,
    evaluations: Evaluations,
    options: Mapping[str, Any],
    *,
    title: str,
    notes: Sequence[Note] | None = None,
) -> Content:
    """The report of one or several models in groups; `options` are those the groups were evaluated with, for all rows."""
    first = 1 if tallies.by_model else 0
    by = ", ".join(tallies.names[first:])
    models: dict[str, dict[str, tuple[Tally, Evaluation]]] = {}
    for key, tally in tallies.entries.items():
        model = str(key[0]) if tallies.by_model else "model"
        group = ", ".join(map(str, key[first:]))
        models.setdefault(model, {})[group] = (tally, evaluations.entries[key])
    whole = {model: _together([tally for tally, _ in parts.values()]) for model, parts in models.items()}
    if not any(tally.positives and tally.negatives for tally in whole.values()):
        raise InputError("There is nothing to draw: no model or group has rows of both classes.")
    totals = {model: evaluate(tally, **options) for model, tally in whole.items()}
    said, sections = [], []
    first_facts: dict[str, GroupFacts] = {}
    for model, parts in models.items():
        own = {group: one for group, (_, one) in parts.items()}
        facts = [group_facts(own, totals[model], metric) for metric in group_metrics(own)]
        if facts:
            first_facts[model] = facts[0]
            prefix = f"{model}: " if len(models) > 1 else ""
            said += [f"{prefix}{sentence}" for sentence in group_sentences(facts[0], own)]
        sections.append(_section(model, by, own, facts, totals[model], several=len(models) > 1))
    remarks = [Remark.of(note) for note in (evaluations.warnings if notes is None else notes)]
    lonely = [f"{model}, {group}" if len(models) > 1 else group for model, parts in models.items()
              for group, (tally, _) in parts.items() if not tally.positives or not tally.negatives]  # fmt: skip
    if lonely:
        remarks.append(
            Remark(
                "one class",
                f"Rows of one class only: {', '.join(lonely)}.",
                "Such a group has no ranking to measure; it still counts in the total.",
            )
        )
    one = next(iter(totals.values()))
    groups = len(next(iter(models.values())))
    what = [f"{count(one.n_rows)} rows in {groups} group{'' if groups == 1 else 's'} of {by}", *described(one)[1:]]
    leading = leading_metrics(one)
    remarks += [*no_sums(totals), *flattered(totals, leading[0])]
    return Content(
        title,
        what,
        said,
        once(remarks),
        [
            *sections,
            Section(
                "All metrics, all rows",
                "Every number with its interval; a click on a name explains it.",
                (),
                metric_tables(totals, leading),
            ),
        ],
        headline=group_headline(first_facts, by) if first_facts else "",
        lines=[
            Line(f"{model}, all rows" if len(models) > 1 else "all rows", [Bar.of(total[m]) for m in leading[:4] if m in total], i)
            for i, (model, total) in enumerate(totals.items())
        ],
        tallies=whole,
        evaluations=totals,
    )  # fmt: skip


def _together(parts: Sequence[Tally]) -> Tally:
    first, *others = parts
    return first.merge(*others) if others else first


def _section(
    model: str, by: str, own: Mapping[str, Evaluation], facts: Sequence[GroupFacts], total: Evaluation, *, several: bool
) -> Section:
    """Dots by group, one picture a metric, and the groups' numbers folded."""
    tests = "; ".join(
        f"{named(one.metric)}: Q = {one.test.q:.3g} on {one.test.freedom} degree{'' if one.test.freedom == 1 else 's'} of freedom, {equals_p(one.test.p_value)}"
        for one in facts
        if one.test is not None
    )
    text = (
        "The broken line is all rows together; a grey bar is where chance would put a group that is like the total. "
        "Hollow groups have fewer than ten rows of a class."
    )
    text += (
        f" Tests that groups are alike (Pearson's of proportions, else Cochran's): {tests}. Not to reject is not to show "
        "that they are."
        if tests
        else ""
    )
    metrics = [one.metric for one in facts if one.order or one.small]
    pictures = [
        charts.groups(own, metric=metric, total=total)
        for metric in metrics
        if any(metric in one and one[metric].reason is None for one in own.values())
    ]
    weighted = any(one.weighted for one in own.values())
    lines = [
        [
            Cell(group),
            Cell(count(one.n_rows), one.n_rows),
            *([Cell(amount(float(one.n)), float(one.n))] if weighted else []),
            Cell(amount(float(one.positives or 0)), float(one.positives or 0)),
            *(measured(one[metric]) if metric in one else Cell("") for metric in metrics),
        ]
        for group, one in own.items()
    ]
    table = Table(
        [by, "rows", *(["weight"] if weighted else []), "positive", *(named(metric) for metric in metrics)], lines
    )
    everything = metric_tables(own) if len(own) <= _ALL_METRICS_OF else None
    folded = [] if everything is None else [Fold("Every metric of every group", (), everything)]
    return Section(f"Groups of {by}: {model}" if several else f"Groups of {by}", text, pictures, [table], folded)


#: Groups up to which a table of all their metrics can be opened.
_ALL_METRICS_OF = 20
