"""Audits: sampling plans and design-based estimates from rows checked by hand.

``plan`` draws the rows to check; ``estimate`` estimates precision, recall and other rates over all rows from them,
``from_audit`` the share and the count of positives, and ``from_counts`` the same from a table of counts. Nothing is
assumed about the scores or about a shift between samples.
"""

from tallymark.audits.count_table import from_counts
from tallymark.audits.estimates import AuditEstimate, estimate
from tallymark.audits.plans import AuditPlan, plan
from tallymark.audits.prevalences import from_audit

__all__ = ["AuditEstimate", "AuditPlan", "estimate", "from_audit", "from_counts", "plan"]


def __dir__() -> list[str]:
    return sorted(__all__)
