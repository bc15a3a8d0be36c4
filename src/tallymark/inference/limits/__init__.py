"""Confidence limits, by the kind of metric."""
