"""Counts from an audit: rows of the target itself, drawn at random and checked by hand. Nothing is assumed of any shift."""
