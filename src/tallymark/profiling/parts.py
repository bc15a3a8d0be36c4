"""Which column is taken to play which part, from the roles that each could play."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tallymark._check import Label, obvious_positive
from tallymark._negative_labels import plain_spelling
from tallymark.profiling.column_facts import ColumnFacts
from tallymark.profiling.results import Parts
from tallymark.profiling.roles import Guess, classes_of, named, words_of

#: Labels that say themselves that they are the positive one.
_POSITIVE = frozenset(
    ["true", "yes", "y", "t", "pass", "positive", "pos", "ja", "j", "oui", "si", "correct", "fraud", "spam"]
)

#: A role guessed at a higher rank than this is not used in commands.
_SURE = 3

Guessed = Mapping[str, Sequence[Guess]]


def parts_of(facts: Sequence[ColumnFacts], guessed: Guessed) -> Parts:
    """The part of each column."""
    columns = {one.name: one for one in facts}
    taken: set[str] = set()

    def best(role: str, most: int | None = None) -> tuple[str, ...]:
        ranked = [(guess.rank, name) for name, found in guessed.items() for guess in found if guess.role == role]
        ranked = [(rank, name) for rank, name in ranked if rank <= _SURE and name not in taken]
        # As sure as the surest one; in the order of the columns.
        chosen = [name for rank, name in ranked if rank == min(ranked)[0]]
        chosen = chosen if most is None else chosen[:most]
        taken.update(chosen)
        return tuple(chosen)

    truth = _truth(columns, guessed)
    taken.update([] if truth is None else [truth])
    raters = tuple(
        name for name, one in columns.items() if name not in taken and named(one, "rater") and classes_of(one)
    )
    raters = raters if len(raters) > 1 else ()
    taken.update(raters)
    weight, count = best("weight", 1), best("count", 1)
    classes = [] if truth is None else classes_of(columns[truth])
    # Predictions are written in the labels of the truth.
    predicted = tuple(
        name for name in best("predicted class") if truth is None or {*classes_of(columns[name])} <= {*classes}
    )
    scores = tuple(name for name in best("score") if not columns[name].infinite)
    period = best("period", 1)
    by_class = _by_class(classes, columns, guessed) if truth is not None else {}
    positive, reason = _positive(columns[truth], scores) if truth is not None and len(classes) > 1 else (None, "")
    return Parts(
        truth=truth,
        positive=positive,
        positive_reason=reason,
        scores=scores,
        predicted=predicted,
        by_class=by_class,
        weight=next(iter(weight), None),
        # Rows count once each where they have a weight.
        count=None if weight else next(iter(count), None),
        groups=best("group"),
        period=next(iter(period), None),
        id=next(iter(best("id", 1)), None),
        price=next(iter(best("price", 1)), None),
        raters=raters,
    )


def _truth(columns: Mapping[str, ColumnFacts], guessed: Guessed) -> str | None:
    """The column of the truth: the surest, of two classes rather than of more, and the last rather than the first."""
    # Any two values could be the truth, where a column beside them is called a score.
    scored = any(guess.role == "score" and guess.rank == 0 for found in guessed.values() for guess in found)
    sure = _SURE if scored else 1
    ranked = [
        (guess.rank, len(classes_of(columns[name])) != 2, -place, name)
        for place, (name, found) in enumerate(guessed.items())
        for guess in found
        if guess.role == "truth" and guess.rank <= sure
    ]
    return min(ranked)[-1] if ranked else None


def _by_class(classes: Sequence[Label], columns: Mapping[str, ColumnFacts], guessed: Guessed) -> dict[Label, str]:
    """The score column of each class, named after it; empty unless every class of three or more has one."""
    if len(classes) < 3:
        return {}
    scores = [name for name in columns if any(guess.role == "score" for guess in guessed[name])]
    found: dict[Label, str] = {}
    for label in sorted(classes, key=str):
        own = [name for name in scores if words_of(str(label)) <= words_of(name) and name not in found.values()]
        if len(own) != 1:
            return {}
        found[label] = own[0]
    return found


def _positive(truth: ColumnFacts, scores: Sequence[str]) -> tuple[Label, str]:
    """The label that is taken for the positive one, and why."""
    classes = classes_of(truth)
    if (place := obvious_positive(classes)) is not None:
        return classes[place], ""
    says = [label for label in classes if plain_spelling(label) in _POSITIVE]
    if says:
        return says[0], f"{says[0]!r} is taken for the positive label by its name"
    for score in scores:
        if called := [label for label in classes if words_of(str(label)) <= words_of(score)]:
            return called[0], f"{called[0]!r} is taken for the positive label, because {score} is named after it"
    rarest = min(classes, key=lambda label: (truth.values or {})[label])
    if len({(truth.values or {})[label] for label in classes}) == 1:
        return rarest, f"{rarest!r} is taken for the positive label, the first of equally frequent ones"
    return rarest, f"{rarest!r} is taken for the positive label because it is the rarest"
