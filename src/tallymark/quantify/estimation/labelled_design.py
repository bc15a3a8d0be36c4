"""Test whether the labelled rows of a file are a random sample of its rows."""

from __future__ import annotations

import numpy as np

from tallymark._numbers import equals_p, per_cent
from tallymark.notes import Note
from tallymark.quantify.estimation.mixture_test import MixtureFit
from tallymark.summaries.run import Run
from tallymark.summaries.tally import Tally

#: Scores above this quantile of the unlabelled rows are set beside the others.
_TOP = 0.9


def design_notes(labelled: Tally, others: Tally, fit: MixtureFit) -> tuple[Note, ...]:
    """A note where labelled rows and the other rows of the same file cannot come from the same two classes.

    Labelled at random, or class by class, the scores of the other rows are a mixture of the two classes' scores,
    whatever the prevalence; where `fit` contradicts that, rows were chosen by their scores or by something that goes
    with them.
    """
    if not fit.contradicted:
        return ()
    run = others.runs[0]
    cut = run.scores[min(int(np.searchsorted(np.cumsum(run.mass), _TOP * float(run.total))), len(run) - 1)]
    top, rest = ([float(part(one, cut)) for one in (*labelled.runs, run)] for part in (_from, _before))
    shares = [(sum(side[:2]) / sum(side)) if sum(side) else 0.0 for side in (top, rest)]
    return (
        Note(
            "TM123",
            f"the labelled rows of this file were not drawn at random, nor class by class ({equals_p(fit.p_value)}): "
            f"{per_cent(shares[0])} of the rows with the highest scores are labelled, {per_cent(shares[1])} of the "
            "others. If they were chosen by their score, these counts are wrong, however narrow their intervals: say "
            "how rows were drawn with tallymark audit estimate (--inclusion or --stratum), or tm.audits.estimate",
        ),
    )


def _from(run: Run, cut: float) -> float:
    return float(run.mass_from(np.array(np.searchsorted(run.scores, cut, "left"))))


def _before(run: Run, cut: float) -> float:
    return float(run.mass_before(np.array(np.searchsorted(run.scores, cut, "left"))))
