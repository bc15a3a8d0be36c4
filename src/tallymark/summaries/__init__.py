"""Mergeable summaries of labels and scores, from which all metrics and counts are computed."""
