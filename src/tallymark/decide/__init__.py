"""Deciding: what errors do to a figure, and what results say.

``advise`` says which metric to watch; ``index`` computes price indices of tidy data, each with what it rests on; ``index_under_error`` what misclassified products do to one,
and how good a classifier must be.
"""

from tallymark.decide.advice import Advice, advise
from tallymark.decide.index_errors import IndexUnderError, index_under_error
from tallymark.decide.price_index import FORMULAS, PriceIndex, index

__all__ = ["FORMULAS", "Advice", "IndexUnderError", "PriceIndex", "advise", "index", "index_under_error"]


def __dir__() -> list[str]:
    return sorted(__all__)
