"""Raters: agreement of people, of judges, and of both."""

from tallymark.raters.agreement import agreement
from tallymark.raters.judgements import Judgement
from tallymark.raters.judging import judge
from tallymark.raters.results import Agreement, Coefficient, Rater, RaterPair

__all__ = ["Agreement", "Coefficient", "Judgement", "Rater", "RaterPair", "agreement", "judge"]


def __dir__() -> list[str]:
    return sorted(__all__)
