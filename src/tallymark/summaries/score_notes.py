"""Notes on scores that look like predicted labels."""

from __future__ import annotations

import numpy as np

from tallymark._check import Column
from tallymark.notes import Note
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally


def hard_labels(tally: Tally, name: str) -> tuple[Note, ...]:
    """A note on scores that look like predicted labels."""
    low, high = tally.range
    if tally.n_rows <= 2 or not tally.n or not all(_only_ends(run.scores, low, high) for run in tally.runs):
        return ()
    message = (
        f"{name} takes at most two values ({low:g} and {high:g}), like predicted labels. "
        "Ranking metrics need the score behind them; for labels use tm.confusion(y, predicted)"
    )
    return (Note("TM101", message),)


def hard_labels_of(tallies: Tallies) -> tuple[Note, ...]:
    """The same for the scores of every model and group."""
    return tuple(note for key, tally in tallies.entries.items() for note in hard_labels(tally, str(key[0])))


def _only_ends(ascending: Column, low: float, high: float) -> bool:
    # Nearly every column is settled by its median.
    if len(ascending) and low < ascending[len(ascending) // 2] < high:
        return False
    return bool(np.searchsorted(ascending, low, "right") == np.searchsorted(ascending, high, "left"))
