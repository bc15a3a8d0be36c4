"""All quantifiers: importing this declares them."""

from tallymark.quantify.kernels import adjusted, likelihood, matching

__all__ = ["adjusted", "likelihood", "matching"]
