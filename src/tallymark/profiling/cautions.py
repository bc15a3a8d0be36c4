"""What to beware of in a column, or in a file whose columns play parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tallymark._check import Label
from tallymark._negative_labels import means_unknown, plain_spelling
from tallymark._numbers import noun, number
from tallymark.profiling.column_facts import ColumnFacts
from tallymark.profiling.results import Caution, Parts
from tallymark.profiling.roles import classes_of, named

#: Fewer rows than this of a class make for wide limits.
_FEW = 10


def cautions_of(facts: Sequence[ColumnFacts], parts: Parts, perfect: Sequence[str]) -> tuple[Caution, ...]:
    """Everything to beware of; `perfect` are the columns that separate the two classes without an error."""
    found = [(one.name, message) for one in facts for message in _of_column(one)]
    columns = {one.name: one for one in facts}
    if parts.truth is not None:
        found += [(parts.truth, message) for message in _of_truth(columns[parts.truth], parts)]
    for name in parts.scores:
        found += [(name, message) for message in _of_score(columns[name])]
    found += [
        (
            name,
            f"{name} separates the classes of {parts.truth} without one error; make sure that it was not made from "
            "the truth, or known only after it.",
        )
        for name in perfect
    ]
    if parts.truth is not None and not (parts.scores or parts.predicted or parts.by_class):
        found.append(
            (
                parts.truth,
                "No column looks like the scores or the predictions of a model; write them beside the labels.",
            )
        )
    return tuple(Caution(column, message) for column, message in dict.fromkeys(found))


def same_spelling(facts: ColumnFacts) -> list[list[Label]]:
    """Labels that differ only in capitals, accents or spaces."""
    if facts.type != "text" or facts.values is None:
        return []
    alike: dict[str, list[Label]] = {}
    for label in facts.values:
        alike.setdefault(plain_spelling(label), []).append(label)
    return [labels for labels in alike.values() if len(labels) > 1]


def _of_column(facts: ColumnFacts) -> Iterator[str]:
    name, values = facts.name, facts.values or {}
    if not facts.distinct:
        yield f"{name} has no value in any row."
    elif len(values) == 1 and facts.rows > 1:
        yield f"{name} has the same value in every row that has one: {next(iter(values))!r}."
    for labels in same_spelling(facts):
        listed = ", ".join(f"{label!r} ({number(values[label])})" for label in labels)
        yield f"{name} has labels that differ only in how they are written: {listed}."
    if unknown := [label for label in values if isinstance(label, str) and means_unknown(label)]:
        listed = ", ".join(f"{label!r} ({number(values[label])})" for label in unknown)
        yield f"{name} has words that look like a missing value: {listed}."
    if facts.odd:
        yield f"{name} is read as text because of cells such as {', '.join(map(repr, facts.odd))}; most are numbers."
    if facts.infinite:
        yield f"{name} is infinite in {number(facts.infinite)} {noun(facts.infinite, 'row')}."
    if facts.repeated:
        about = "" if facts.rows <= 1_000_000 else "about "
        yield f"{name} should be one of a kind, and {about}{number(facts.repeated)} rows share theirs with another row."
    if name.strip() != name or "," in name:
        yield f"{name!r} has a comma or a space at its edge; options that take several columns cannot name it."


def _of_truth(facts: ColumnFacts, parts: Parts) -> Iterator[str]:
    name, classes = facts.name, classes_of(facts)
    if len(classes) == 1:
        yield f"{name} has one class only, {classes[0]!r}; measuring a model needs rows of two."
    if len(classes) == 2:
        for label in classes:
            rows = (facts.values or {})[label]
            if rows < _FEW:
                kind = noun(rows, "positive" if label == parts.positive else "negative")
                yield f"{name} has only {number(rows)} {kind} ({label!r}); limits will be wide."
    if facts.missing:
        yield (
            f"{name} is missing in {number(facts.missing)} {noun(facts.missing, 'row')}: they can be counted, and are "
            "left out where a model is measured."
        )
    if parts.positive_reason and len(classes) > 1 and (parts.scores or parts.predicted) and not parts.by_class:
        others = "" if len(classes) == 2 else "; every other counts as negative"
        yield f"{parts.positive_reason}{others}. If it is another one, change --pos-label."


def _of_score(facts: ColumnFacts) -> Iterator[str]:
    name, low, high = facts.name, facts.low or 0.0, facts.high or 0.0
    values = facts.values or {}
    if len(values) == 2 and facts.rows >= _FEW:
        yield f"{name} has two values only: these are decisions, not scores; a ranking needs the score behind them."
    elif low >= 0.0 and 1.0 < high <= 100.0 and (high > 2.0 or named(facts, "score") == "proba"):
        yield f"{name} goes from {number(low)} to {number(high)} and may be in per cent; probabilities are from 0 to 1."
    elif facts.outside:
        yield (
            f"{name} is outside 0 to 1 in {number(facts.outside)} {noun(facts.outside, 'row')}: fit for a ranking, but "
            "no probabilities."
        )
    if facts.missing:
        yield f"{name} is missing in {number(facts.missing)} {noun(facts.missing, 'row')}."
