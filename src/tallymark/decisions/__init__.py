"""Decisions with a classifier: costs and gains of its predictions, and which classifier is best for which costs."""

from tallymark.decisions.item_costs import Costs, ModelCost, costs
from tallymark.decisions.roc_space import Point, Space, space

__all__ = ["Costs", "ModelCost", "Point", "Space", "costs", "space"]


def __dir__() -> list[str]:
    return sorted(__all__)
