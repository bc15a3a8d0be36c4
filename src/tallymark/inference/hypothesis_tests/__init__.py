"""Hypothesis tests: paired comparisons of models, and tests of one model against chance."""
