"""Resampling rows without copying them."""
