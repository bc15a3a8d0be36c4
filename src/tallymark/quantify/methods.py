"""All quantifiers: importing this declares them."""

from tallymark.quantify import counting, likelihood, matching

__all__ = ["counting", "likelihood", "matching"]
