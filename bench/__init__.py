"""Benchmarks: peers and us in one run on the same data, printed as ratios."""
