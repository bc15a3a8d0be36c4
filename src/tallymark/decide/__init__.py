"""Deciding: which metric, what errors do to a figure, what to check by hand.

``advise`` says which metric to watch; ``index`` computes price indices of tidy data, each with what it rests on; ``index_under_error`` what misclassified products do to one,
and how good a classifier must be; ``costs`` what calls cost and earn item by item; ``impact`` whether errors differ in price from what they are mistaken for; ``space`` which of several classifiers could be the best choice, and for which costs; ``audit_plan`` draws the rows to check by hand and ``audit_estimate`` says what they tell; ``watch`` does all of it period by
period, and signals when to look again.
"""

from tallymark.decide.advice import Advice, advise
from tallymark.decide.audit_estimates import AuditEstimate, audit_estimate
from tallymark.decide.audit_plans import AuditPlan, audit_plan
from tallymark.decide.impacts import ErrorImpact, Impact, impact
from tallymark.decide.index_audits import IndexAudit, index_audit
from tallymark.decide.index_errors import (
    IndexUnderError,
    MetricsByIndexError,
    index_under_error,
    metrics_by_index_error,
)
from tallymark.decide.item_costs import Costs, ModelCost, costs
from tallymark.decide.price_index import FORMULAS, PriceIndex, index
from tallymark.decide.spaces import Point, Space, space
from tallymark.decide.watch_results import Watch, Watched
from tallymark.decide.watching import watch

__all__ = [
    "FORMULAS", "Advice", "AuditEstimate", "AuditPlan", "Costs", "ErrorImpact", "Impact", "IndexAudit", "IndexUnderError", "MetricsByIndexError", "ModelCost", "Point", "PriceIndex", "Space", "Watch", "Watched", "advise", "audit_estimate", "audit_plan", "costs", "impact", "index", "index_audit",
    "index_under_error", "metrics_by_index_error", "space", "watch",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)
