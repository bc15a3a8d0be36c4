"""Diagnostics of a quantification problem."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tallymark.calibration.maps import log_odds_offset, log_odds_slope
from tallymark.notes import Note
from tallymark.quantify.estimation.problem import Problem
from tallymark.registry import METRICS
from tallymark.summaries.tally import Tally


def notes_of(problem: Problem, groups: Mapping[tuple[Any, ...], Tally]) -> tuple[Note, ...]:
    """Guards of a problem and its targets."""
    return (*_range(problem, groups), *_direction(problem), *(_calibration(problem) or _few_scores(problem)))


#: A share of target rows beyond the validation sample's scores from which it is worth a word; of n validation rows
#: about two in n are expected there, in a class that has become common a few times as many.
_BEYOND, _BY_CHANCE = 0.01, 20.0


def _range(problem: Problem, groups: Mapping[tuple[Any, ...], Tally]) -> Iterator[Note]:
    low, high = problem.validation.range
    for key, target in groups.items():
        run = target.runs[0]
        beyond = float(run.mass_before(np.array(np.searchsorted(run.scores, low, "left"))))
        beyond += float(run.mass_from(np.array(np.searchsorted(run.scores, high, "right"))))
        if beyond > (_BEYOND + _BY_CHANCE / problem.validation.n_rows) * run.total:
            where = f"group {', '.join(map(str, key))}: " if key else ""
            yield Note(
                "TM108",
                f"{where}{100 * beyond / run.total:.1f} % of the target's scores lie outside the validation sample's "
                f"range ({low:g} to {high:g}); the same model on the same kind of data would not give them. Check the "
                "model and the columns",
            )


#: Standard errors below one half at which an AUROC means that the scores are reversed.
_REVERSED = -4.0


def _direction(problem: Problem) -> Iterator[Note]:
    up, down = (run.effective_size for run in (problem.validation.positive, problem.validation.negative))
    auroc = METRICS["auroc"].compute(problem.validation)
    if (auroc - 0.5) / math.sqrt((up + down + 1.0) / (12.0 * up * down)) < _REVERSED:
        yield Note(
            "TM103",
            f"on the validation sample AUROC is {auroc:.3f}: higher scores seem to mean negative, and methods that "
            "look for tpr above fpr find nothing. Nothing was flipped; check the scores and pos_label",
        )


#: Log odds of a validation sample may need a slope this far from 1, or so much added, beyond its error, before
#: probabilities are called uncalibrated.
_STEEP, _OFF = 1.5, 0.1


def _calibration(problem: Problem) -> list[Note]:
    """A note where a method trusts probabilities that are miscalibrated on the validation sample."""
    if not problem.method.trusts_probabilities or problem.needs_bootstrap:
        return []
    slope, error = log_odds_slope(problem.validation)
    added, doubt = log_odds_offset(problem.validation)
    if problem.stated:
        # At another prevalence than they were made for, calibrated probabilities are off by just this.
        prevalence = problem.validation.prevalence
        added -= math.log(prevalence / (1.0 - prevalence)) - math.log(
            problem.training_prevalence / (1.0 - problem.training_prevalence)
        )
    wrong = []
    if slope - 2.0 * error > _STEEP or slope + 2.0 * error < 1.0 / _STEEP:
        wrong.append(f"be multiplied by {slope:.2g}")
    if abs(added) - 2.0 * doubt > _OFF:
        wrong.append(f"have {added:+.2g} added")
    if not wrong:
        return []
    text = (
        f"{problem.method.name} takes the scores for calibrated probabilities, but on the validation sample their "
        f"log odds would have to {' and '.join(wrong)}. {_REMEDY}"
    )
    return [Note("TM110", text)]


#: Different scores up to which they may be the leaves of a tree.
_LEAVES = 8


def _few_scores(problem: Problem) -> list[Note]:
    """A note where a method trusts probabilities of a few values, each of which is off by its own error.

    A tree of seven leaves passed the tests of slope and level in a third of the samples in which the limits missed.
    """
    if not problem.method.trusts_probabilities or problem.needs_bootstrap or not problem.stated:
        return []
    values = len(np.unique(np.concatenate([run.scores for run in problem.validation.runs])))
    if values > _LEAVES:
        return []
    text = (
        f"{problem.method.name} takes the scores for calibrated probabilities, and they have {values} different "
        "values, such as the leaves of a tree: each is off by the error of the rows it was fitted to, which the limits "
        f"do not include. {_REMEDY}"
    )
    return [Note("TM110", text)]


_REMEDY = (
    "Use calibration='bcts' (em), say training_prevalence= if the model was trained at another one, or take a method "
    "for any scores such as bayes"
)


#: Deviations of the fitted count between resamples of the validation sample by which it may differ, which one in ten
#: samples of calibrated probabilities exceeds; and the part of the interval on its side that such a difference must
#: exceed to matter.
_DIFFERENT, _MATTERS = 1.645, 0.5


def uncalibrated(
    problem: Problem, target: Tally, share: float, ends: tuple[float, float], deviation: float
) -> tuple[Note, ...]:
    """A note where probabilities fitted to the validation sample count another number than the limits or its own
    `deviation` allow for.

    Both count the same target, so that only the error of the fit can part them.
    """
    fitted = problem.fitted
    if fitted is None:
        return ()
    other = fitted.share_of(target)
    # A part of the interval, if the difference is more than the fit's own error; otherwise all of it.
    part = _MATTERS if abs(other - share) > _DIFFERENT * deviation else 1.0
    low, high = (share + part * (end - share) for end in ends)
    if math.isnan(other) or low <= other <= high:
        return ()
    options = ", ".join(f"{name}={value!r}" for name, value in problem.method.fitted_with.items())
    text = (
        f"{problem.method.name} takes the scores for calibrated probabilities; calibrated on the validation sample "
        f"({options}) they count {other * target.n:.0f} of {target.n:.0f} instead of {share * target.n:.0f} "
        f"({ends[0] * target.n:.0f} to {ends[1] * target.n:.0f}). {_REMEDY}"
    )
    return (Note("TM110", text),)
