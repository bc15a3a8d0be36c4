"""The roles that a column could play, by its name and its values, each with the reason in words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tallymark._check import Label
from tallymark._negative_labels import means_unknown, plain_spelling
from tallymark._numbers import number
from tallymark._periods import in_order
from tallymark._text import unaccented
from tallymark.errors import InputError
from tallymark.profiling.column_facts import ColumnFacts

#: Words in the names of columns, by what such a column tends to hold.
_WORDS: Mapping[str, frozenset[str]] = {
    role: frozenset(words.split())
    for role, words in {
        "truth": "label labels y truth true target gold actual human checked verified class outcome annotation "
        "annotated groundtruth ytrue ground is has werkelijk gecontroleerd",
        "score": "score scores prob probs probability probabilities proba p model logit logits confidence risk "
        "likelihood",
        "predicted class": "predicted prediction predictions pred preds hat yhat ypred call called verdict judge "
        "decision llm",
        "weight": "weight weights w wt gewicht poids",
        "count": "count counts freq frequency frequencies n aantal",
        "period": "year month quarter week day date period time jaar maand kwartaal jahr monat quartal annee mois",
        "id": "id ids key uuid guid nr index row identifier",
        "price": "price prices prijs preis prix amount turnover revenue expenditure",
        "group": "region group segment category country province branch sector gender type provincie",
        "rater": "rater annotator coder ann reviewer expert",
    }.items()
}

#: Words that add nothing to the name of a weight or a count.
_PLAIN = frozenset(("sample", "survey", "case", "row", "rows", "of", "design", "final"))

#: A column of labels has at most so many different ones.
MOST_CLASSES = 50

#: Mean number of characters from which a column is prose.
_PROSE = 25

#: More columns than this with the same labels are not all predictions of one truth.
_ALIKE = 2

#: Columns of numbers from 0 to 1 that no name calls scores: more than these, or among more than these other numbers,
#: are features of the rows.
_UNNAMED_SCORES = 3


class Guess(NamedTuple):
    """A role with its reason; 0 is as sure as a guess can be, larger is less so."""

    rank: int
    role: str
    reason: str


def words_of(name: str) -> frozenset[str]:
    """The words of a column's name: ``scoreA`` and ``p_churn`` have two."""
    parts = _split(name)
    # Also written together: y_hat is yhat.
    return frozenset([*parts, "".join(parts)])


def _split(name: str) -> list[str]:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", unaccented(name))
    return re.findall(r"[a-z]+|[0-9]+", spaced.lower())


def named(facts: ColumnFacts, role: str) -> str | None:
    """The word of the name that stands for a role; None where there is none."""
    return min(words_of(facts.name) & _WORDS[role], default=None)


def _means(facts: ColumnFacts, role: str) -> bool:
    """Whether the name of a column says nothing else than a role: ``sample_weight``, but not ``left_weight``."""
    words = frozenset(_split(facts.name))
    return bool(words & _WORDS[role]) and words <= _WORDS[role] | _PLAIN


def classes_of(facts: ColumnFacts) -> list[Label]:
    """The values of a column of labels, without words for unknown; empty of other columns."""
    if facts.values is None or facts.fractions or facts.type in {"dates", "nested"}:
        return []
    known = [label for label in facts.values if not (isinstance(label, str) and means_unknown(label))]
    return known if len(known) <= MOST_CLASSES else []


def guesses(facts: ColumnFacts, others: Sequence[ColumnFacts]) -> list[Guess]:
    """Every role that a column could play, the likeliest first."""
    if facts.distinct == 0:
        return []
    found = [*_of_labels(facts, others), *_of_numbers(facts, others), *_of_masses(facts), *_of_names(facts)]
    return sorted(found, key=lambda guess: guess.rank)


def _of_labels(facts: ColumnFacts, others: Sequence[ColumnFacts]) -> Iterator[Guess]:
    classes = classes_of(facts)
    if not classes:
        return
    has = _values(facts)
    truth, predicted, group = (named(facts, role) for role in ("truth", "predicted class", "group"))
    aside = predicted or group or named(facts, "period") or named(facts, "rater")
    if truth and not (predicted and truth != "human"):
        yield Guess(0, "truth", f"the name has {truth!r}, and {has}")
    elif len(classes) == 2 and not aside:
        usual = {plain_spelling(label) for label in classes} in _USUAL
        yield Guess(1 if usual else 3, "truth", has)
    if predicted and len(classes) > 1:
        yield Guess(0, "predicted class", f"the name has {predicted!r}, and {has}")
    elif not truth and (twins := _twins(facts, classes, others)):
        # Many columns of the same values are answers of a form, or features.
        yield Guess(2 if len(twins) <= _ALIKE else 4, "predicted class", f"{has}, as {twins[0]} does")
    if len(classes) > 1 and (facts.type in {"text", "bools"} or group):
        reason = f"the name has {group!r}, and {has}" if group else has
        yield Guess(1 if group else 2, "group", reason)
    elif len(classes) > 2:
        yield Guess(5, "group", has)


#: Two labels of which each says which it is.
_USUAL = tuple(
    map(set, (("0", "1"), ("-1", "1"), ("false", "true"), ("no", "yes"), ("n", "y"), ("n", "j"), ("f", "t")))
)


def _twins(facts: ColumnFacts, classes: Sequence[Label], others: Sequence[ColumnFacts]) -> list[str]:
    """Other columns of labels that have every value of this one."""
    if len(classes) < 2 or facts.is_number:
        return []
    same = (one for one in others if one.name != facts.name and one.type == facts.type)
    return [one.name for one in same if set(classes_of(one)) >= set(classes)]


def _values(facts: ColumnFacts) -> str:
    listed = list((facts.values or {}).items())
    shown = ", ".join(f"{label!r} in {number(rows)}" for label, rows in listed[:3])
    if len(listed) == 1:
        return f"it has one value only: {shown} rows"
    more = f", and {len(listed) - 3} more values" if len(listed) > 3 else ""
    return f"it has {len(listed)} values: {shown} rows{more}"


def _of_numbers(facts: ColumnFacts, others: Sequence[ColumnFacts]) -> Iterator[Guess]:
    if not facts.is_number or facts.low is None or facts.high is None:
        return
    score, span = named(facts, "score"), f"numbers from {number(facts.low)} to {number(facts.high)}"
    taken = any(named(facts, role) for role in ("weight", "count", "price", "id", "period", "truth"))
    if facts.low == facts.high:
        return
    two = facts.values is not None and len(facts.values) == 2
    if score:
        yield Guess(2 if two else 0, "score", f"the name has {score!r}, and it holds {span}")
    elif facts.is_probability and not two and not taken:
        unnamed = sum(one.is_probability and not named(one, "score") for one in others)
        features = sum(one.is_number and not one.is_probability and one.distinct > MOST_CLASSES for one in others)
        if max(unnamed, features) <= _UNNAMED_SCORES:
            yield Guess(2, "score", f"{span}, as probabilities are")
        else:
            yield Guess(4, "feature", f"{span}, among other columns of numbers; a score only if a model wrote it")
    elif not two and not taken:
        yield Guess(6, "feature", span)


def _of_masses(facts: ColumnFacts) -> Iterator[Guess]:
    if not facts.is_number or facts.low is None or facts.low < 0.0:
        return
    if _means(facts, "weight"):
        yield Guess(1, "weight", "its name means a weight, and no number is below 0")
    if facts.type == "whole numbers" and _means(facts, "count"):
        yield Guess(
            1, "count", f"its name means a number of times, and its numbers are whole, from {number(facts.low)}"
        )
    if word := named(facts, "price"):
        yield Guess(1, "price", f"the name has {word!r}, and no number is below 0")


def _of_names(facts: ColumnFacts) -> Iterator[Guess]:
    word = named(facts, "period")
    if facts.type == "dates" and facts.distinct > 1:
        yield Guess(0, "period", "it holds dates")
    elif facts.distinct > 1 and facts.values is not None and _in_time(facts, named_so=bool(word)):
        yield Guess(1, "period", f"the name has {word!r}" if word else "its values can be put in the order of time")
    unique, word = facts.distinct >= 0.95 * (facts.rows - facts.missing), named(facts, "id")
    if word and facts.distinct * 2 >= facts.rows - facts.missing and not facts.fractions:
        yield Guess(0, "id", f"the name has {word!r}, and nearly every row has a value of its own")
    elif unique and not facts.fractions and facts.type in {"text", "whole numbers"} and facts.rows > MOST_CLASSES:
        prose = facts.type == "text" and (facts.length or 0.0) >= _PROSE
        yield Guess(5 if prose or facts.is_number else 1, "id", "nearly every row has a value of its own")
    if facts.type == "text" and not classes_of(facts) and (facts.length or 0.0) >= _PROSE:
        yield Guess(1, "text", f"it holds text of {facts.length:.0f} characters on average")


def _in_time(facts: ColumnFacts, *, named_so: bool) -> bool:
    """Whether the values are periods: texts that can be ordered, or numbers that are years or year and month."""
    values = list(facts.values or ())
    if facts.is_number:
        years = all(1900 <= float(value) <= 2100 or 190001 <= float(value) <= 210012 for value in values)
        return not facts.fractions and (named_so or years)
    if not all(isinstance(value, str) and re.search(r"\d", value) for value in values):
        return False
    try:
        in_order(values, facts.name)
    except InputError:
        return False
    return named_so or all(re.search(r"(19|20)\d\d", str(value)) for value in values)
