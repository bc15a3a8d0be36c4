"""Raters: agreement of people, of judges, and of both."""

from tallymark.raters.agreement import agreement
from tallymark.raters.judge_drift import JudgeDrift, judge_drift
from tallymark.raters.judgements import Judgement
from tallymark.raters.judging import judge
from tallymark.raters.label_plans import LabelPlan, plan
from tallymark.raters.results import Agreement, Coefficient, Rater, RaterPair

__all__ = [
    "Agreement", "Coefficient", "JudgeDrift", "Judgement", "LabelPlan", "Rater", "RaterPair", "agreement", "judge",
    "judge_drift", "plan",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)
