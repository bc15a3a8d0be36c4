"""Confidence limits, resampling and hypothesis tests: how sure a number is."""
