"""Deciding: which metric, what errors do to a figure, what to check by hand.

``advise`` says which metric to watch; ``index`` computes price indices of tidy data, each with what it rests on; ``index_under_error`` what misclassified products do to one,
and how good a classifier must be; ``audit_plan`` draws the rows to check by hand and ``audit_estimate`` says what they tell.
"""

from tallymark.decide.advice import Advice, advise
from tallymark.decide.audit_estimates import AuditEstimate, audit_estimate
from tallymark.decide.audit_plans import AuditPlan, audit_plan
from tallymark.decide.index_errors import IndexUnderError, index_under_error
from tallymark.decide.price_index import FORMULAS, PriceIndex, index

__all__ = [
    "FORMULAS", "Advice", "AuditEstimate", "AuditPlan", "IndexUnderError", "PriceIndex", "advise", "audit_estimate", "audit_plan", "index",
    "index_under_error",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)
