"""Constructors of summaries from arrays, dataframes and files."""
