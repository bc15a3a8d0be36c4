"""Report on models by group: all rows together, tests of equality between groups, and each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tallymark import charts
from tallymark._numbers import amount, count, equals_p
from tallymark.decisions.verdicts import GroupFacts, group_facts, group_metrics, leading_metrics
from tallymark.errors import InputError
from tallymark.evaluation.evaluate import evaluate
from tallymark.measures import Evaluation, Evaluations
from tallymark.notes import Note
from tallymark.reporting.methods import of_evaluations
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


@dataclass(frozen=True)
class _Model:
    """A model in groups: tallies and evaluations by group, and of all rows."""

    name: str
    by: str
    tallies: Mapping[str, Tally]
    evaluations: Mapping[str, Evaluation]
    whole: Tally
    total: Evaluation

    @cached_property
    def facts(self) -> list[GroupFacts]:
        """Tests and order of the groups by each metric."""
        metrics = group_metrics(self.evaluations)
        return [group_facts(self.evaluations, self.total, metric) for metric in metrics]


def of_groups(
    tallies: Tallies,
    evaluations: Evaluations,
    options: Mapping[str, Any],
    *,
    title: str,
    notes: Sequence[Note] | None = None,
) -> Content:
    """The report on one or several models in groups; `options` are those of the evaluation, for all rows together."""
    models = _models(tallies, evaluations, options)
    several = len(models) > 1
    first = models[0]
    leading = leading_metrics(first.total)
    totals = {model.name: model.total for model in models}
    sections = [_section(model, several=several) for model in models]
    text = "Every number with its interval; a click on a name explains it."
    sections.append(Section("All metrics, all rows", text, (), metric_tables(totals, leading)))
    remarks = [
        *(Remark.of(note) for note in (evaluations.warnings if notes is None else notes)),
        *_one_class(models),
        *no_sums(totals),
        *flattered(totals, leading[0]),
    ]
    groups = len(first.tallies)
    of_groups = f"{count(first.total.n_rows)} rows in {groups} group{'' if groups == 1 else 's'} of {first.by}"
    facts = {model.name: model.facts[0] for model in models if model.facts}
    return Content(
        title,
        [of_groups, *described(first.total)[1:]],
        [sentence for model in models for sentence in _sentences(model, several=several)],
        once(remarks),
        sections,
        headline=group_headline(facts, first.by) if facts else "",
        lines=[
            Line(
                f"{model.name}, all rows" if several else "all rows",
                [Bar.of(model.total[metric]) for metric in leading[:4] if metric in model.total],
                place,
            )
            for place, model in enumerate(models)
        ],
        tallies={model.name: model.whole for model in models},
        evaluations=totals,
        methods=of_evaluations(totals, leading[:4]),
    )


def _models(tallies: Tallies, evaluations: Evaluations, options: Mapping[str, Any]) -> list[_Model]:
    """The models of grouped tallies, with their groups merged into all rows."""
    start = 1 if tallies.by_model else 0
    by = ", ".join(tallies.names[start:])
    parts: dict[str, dict[str, tuple[Any, ...]]] = {}
    for key in tallies.entries:
        model = str(key[0]) if tallies.by_model else "model"
        parts.setdefault(model, {})[", ".join(map(str, key[start:]))] = key
    whole = {model: _merged([tallies.entries[key] for key in keys.values()]) for model, keys in parts.items()}
    if not any(tally.positives and tally.negatives for tally in whole.values()):
        raise InputError("There is nothing to draw: no model or group has rows of both classes.")
    return [
        _Model(
            name=model,
            by=by,
            tallies={group: tallies.entries[key] for group, key in keys.items()},
            evaluations={group: evaluations.entries[key] for group, key in keys.items()},
            whole=whole[model],
            total=evaluate(whole[model], **options),
        )
        for model, keys in parts.items()
    ]


def _merged(parts: Sequence[Tally]) -> Tally:
    first, *others = parts
    return first.merge(*others) if others else first


def _sentences(model: _Model, *, several: bool) -> list[str]:
    if not model.facts:
        return []
    prefix = f"{model.name}: " if several else ""
    return [f"{prefix}{sentence}" for sentence in group_sentences(model.facts[0], model.evaluations)]


def _one_class(models: Sequence[_Model]) -> list[Remark]:
    """Groups without positives or without negatives."""
    groups = [
        f"{model.name}, {group}" if len(models) > 1 else group
        for model in models
        for group, tally in model.tallies.items()
        if not tally.positives or not tally.negatives
    ]
    if not groups:
        return []
    why = "Such a group has no ranking to measure; it still counts in the total."
    return [Remark("one class", f"Rows of one class only: {', '.join(groups)}.", why)]


def _section(model: _Model, *, several: bool) -> Section:
    """A chart of the groups for each metric, and their numbers."""
    groups, facts = model.evaluations, model.facts
    text = (
        "The broken line is all rows together; a grey bar is where chance would put a group that is like the total. "
        "Hollow groups have fewer than ten rows of a class."
    )
    tests = "; ".join(_test(one) for one in facts if one.test is not None)
    if tests:
        text += (
            f" Tests that groups are alike (Pearson's of proportions, else Cochran's): {tests}. Not to reject is not "
            "to show that they are."
        )
    metrics = [one.metric for one in facts if one.order or one.small]
    pictures = [
        charts.groups(groups, metric=metric, total=model.total)
        for metric in metrics
        if any(metric in one and one[metric].reason is None for one in groups.values())
    ]
    folded = [Fold("Every metric of every group", (), metric_tables(groups))] if len(groups) <= _ALL_METRICS_OF else []
    title = f"Groups of {model.by}: {model.name}" if several else f"Groups of {model.by}"
    return Section(title, text, pictures, [_table(model, metrics)], folded)


def _test(facts: GroupFacts) -> str:
    test = facts.test
    if test is None:
        return ""
    degrees = f"{test.freedom} degree{'' if test.freedom == 1 else 's'} of freedom"
    return f"{named(facts.metric)}: Q = {test.q:.3g} on {degrees}, {equals_p(test.p_value)}"


def _table(model: _Model, metrics: Sequence[str]) -> Table:
    weighted = any(one.weighted for one in model.evaluations.values())
    lines = [
        [
            Cell(group),
            Cell(count(one.n_rows), one.n_rows),
            *([Cell(amount(float(one.n)), float(one.n))] if weighted else []),
            Cell(amount(float(one.positives or 0)), float(one.positives or 0)),
            *(measured(one[metric]) if metric in one else Cell("") for metric in metrics),
        ]
        for group, one in model.evaluations.items()
    ]
    return Table(
        [
            model.by,
            "rows",
            *(["weight"] if weighted else []),
            next(iter(model.evaluations.values())).words.kind,
            *map(named, metrics),
        ],
        lines,
    )


#: Groups up to which a table of all their metrics can be opened.
_ALL_METRICS_OF = 20
