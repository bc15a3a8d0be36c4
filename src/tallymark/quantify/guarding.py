"""Likely blunders in what is to be counted."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from tallymark.calibration.maps import log_odds_offset, log_odds_slope
from tallymark.errors import GuardWarning, guard
from tallymark.quantify.asking import Ask
from tallymark.registry import METRICS
from tallymark.results import Note
from tallymark.summaries.tally import Tally


def checked(ask: Ask, groups: Mapping[tuple[Any, ...], Tally], *, strict: bool) -> tuple[Note, ...]:
    """Warn of what looks wrong, and give it back."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _range(ask, groups, strict=strict)
        _direction(ask, strict=strict)
        _calibration(ask, strict=strict)
    notes = tuple(Note(w.message.code, w.message.message) for w in caught if isinstance(w.message, GuardWarning))
    for note in notes:
        guard(note.code, note.message)
    return notes


#: A share of target rows beyond the validation sample's scores from which it is worth a word; of n validation rows about
#: two in n are expected there, in a class that has become common a few times as many.
_BEYOND, _BY_CHANCE = 0.01, 20.0


def _range(ask: Ask, groups: Mapping[tuple[Any, ...], Tally], *, strict: bool) -> None:
    low, high = ask.validation.range
    for key, target in groups.items():
        run = target.runs[0]
        beyond = float(run.mass_before(np.array(np.searchsorted(run.scores, low, "left"))))
        beyond += float(run.mass_from(np.array(np.searchsorted(run.scores, high, "right"))))
        if beyond > (_BEYOND + _BY_CHANCE / ask.validation.n_rows) * run.total:
            where = f"group {', '.join(map(str, key))}: " if key else ""
            guard(
                "TM108",
                f"{where}{100 * beyond / run.total:.1f} % of the target's scores lie outside the validation sample's range "
                f"({low:g} to {high:g}); the same model on the same kind of data would not give them. Check the model and the columns",
                strict=strict,
            )


#: Standard errors below one half at which an AUROC means that the scores are reversed.
_REVERSED = -4.0


def _direction(ask: Ask, *, strict: bool) -> None:
    up, down = (run.worth for run in (ask.validation.positive, ask.validation.negative))
    auroc = METRICS["auroc"].compute(ask.validation)
    if (auroc - 0.5) / math.sqrt((up + down + 1.0) / (12.0 * up * down)) < _REVERSED:
        guard(
            "TM103",
            f"on the validation sample AUROC is {auroc:.3f}: higher scores seem to mean negative, and methods that look for "
            "tpr above fpr find nothing. Nothing was flipped; check the scores and pos_label",
            strict=strict,
        )


#: Log odds of a validation sample may need a slope this far from 1, or so much added, beyond its error, before
#: probabilities are called uncalibrated.
_STEEP, _OFF = 1.5, 0.1


def _calibration(ask: Ask, *, strict: bool) -> None:
    """Say so when probabilities that are taken at their word are wrong on the validation sample."""
    if not ask.method.trusts_probabilities or ask.options.get("calibration"):
        return
    slope, error = log_odds_slope(ask.validation)
    added, doubt = log_odds_offset(ask.validation)
    if ask.stated:
        # At another prevalence than they were made for, calibrated probabilities are off by just this.
        own = ask.validation.prevalence
        added -= math.log(own / (1.0 - own)) - math.log(ask.training_prevalence / (1.0 - ask.training_prevalence))
    wrong = []
    if slope - 2.0 * error > _STEEP or slope + 2.0 * error < 1.0 / _STEEP:
        wrong.append(f"be multiplied by {slope:.2g}")
    if abs(added) - 2.0 * doubt > _OFF:
        wrong.append(f"have {added:+.2g} added")
    if wrong:
        guard(
            "TM110",
            f"{ask.method.name} takes the scores for calibrated probabilities, but on the validation sample their log odds would "
            f"have to {' and '.join(wrong)}. Use calibration='bcts' (em), say training_prevalence= if the model was trained at "
            "another one, or take a method for any scores such as bayes",
            strict=strict,
        )
