"""``tm.look``: what is in a file or a dataframe, and which questions it can answer."""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any

from tallymark.profiling.cautions import cautions_of
from tallymark.profiling.column_facts import ColumnFacts, facts_of, opened, repeated, separating
from tallymark.profiling.parts import Guessed, parts_of
from tallymark.profiling.questions import Source, questions_of
from tallymark.profiling.results import Look, LookColumn, Parts, Role
from tallymark.profiling.roles import classes_of, guesses


def look(data: Any) -> Look:
    """Look at a file or a dataframe: its columns, the part each could play, what to beware of, and what it can answer.

    Files are read by the engine, which returns sums and frequent values only; numbers of different values beyond
    about 300 are estimated (HyperLogLog). Guesses go by names and values and may be wrong; each says its reason.

    Parameters
    ----------
    data
        A path, a pattern, a list of either, or a dataframe. A lazy dataframe is collected.

    Returns
    -------
    Look
        Its ``columns`` with their roles, ``parts`` (the columns that the commands use), ``cautions``, and
        ``questions``, each with the shell command and the Python lines that answer it.

    Examples
    --------
    >>> import pandas as pd, tallymark as tm
    >>> frame = pd.DataFrame({"fraud": ["no", "no", "yes", "no"], "model_a": [0.1, 0.4, 0.9, 0.2]})
    >>> found = tm.look(frame)
    >>> found["fraud"].roles[0].name, found.parts.scores
    ('truth', ('model_a',))
    >>> print(found.questions[0].python[-1])
    tm.evaluate(tm.tally(data, label='fraud', score='model_a', pos_label='yes'))

    """
    with opened(data) as rows:
        facts = facts_of(rows)
        guessed: Guessed = {one.name: guesses(one, facts) for one in facts}
        parts = parts_of(facts, guessed)
        facts = [repeated(rows, one) if one.name == parts.id else one for one in facts]
        truth = next((one for one in facts if one.name == parts.truth and len(classes_of(one)) == 2), None)
        perfect = [] if truth is None else separating(rows, truth, _measured(facts, parts))
        shown = rows.shown
    columns = {one.name: one for one in facts}
    path = fspath(data) if isinstance(data, str | PathLike) else None
    return Look(
        shown=shown,
        n=facts[0].rows,
        columns=tuple(_column(one, guessed) for one in facts),
        parts=parts,
        cautions=cautions_of(facts, parts, perfect),
        questions=questions_of(Source(path, data), columns, parts),
    )


def _measured(facts: list[ColumnFacts], parts: Parts) -> list[str]:
    """Columns of numbers beside the truth."""
    return [one.name for one in facts if one.is_number and one.name != parts.truth and one.distinct > 1]


def _column(facts: ColumnFacts, guessed: Guessed) -> LookColumn:
    roles = {guess.role: guess.reason for guess in reversed(guessed[facts.name])}
    return LookColumn(
        name=facts.name,
        type=facts.type,
        missing=facts.missing,
        distinct=facts.distinct,
        examples=facts.examples,
        low=facts.low,
        high=facts.high,
        counted=facts.values,
        roles=tuple(Role(role, reason) for role, reason in reversed(roles.items())),
    )
