"""``tm.evaluate``: all metrics of a summary, with intervals, chance levels and diagnostics."""
