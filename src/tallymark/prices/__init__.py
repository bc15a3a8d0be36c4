"""Price statistics from classified products.

``index`` computes price indices of tidy data; ``index_under_error`` and ``metrics_by_index_error`` what misclassified
products do to an index; ``index_audit`` which products to check by hand; ``impact`` whether errors differ in price from
what they are mistaken for; ``advise`` which metric to choose a classifier by.
"""

from tallymark.prices.advice import Advice, advise
from tallymark.prices.error_impact import ErrorImpact, Impact, impact
from tallymark.prices.index_audits import IndexAudit, index_audit
from tallymark.prices.index_errors import (
    IndexUnderError,
    MetricsByIndexError,
    index_under_error,
    metrics_by_index_error,
)
from tallymark.prices.price_index import FORMULAS, PriceIndex, index

__all__ = [
    "FORMULAS", "Advice", "ErrorImpact", "Impact", "IndexAudit", "IndexUnderError", "MetricsByIndexError", "PriceIndex",
    "advise", "impact", "index", "index_audit", "index_under_error", "metrics_by_index_error",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)
