"""Bootstrap and jackknife on summaries, without copying rows."""
