"""Confidence limits, by what a metric is made of."""
