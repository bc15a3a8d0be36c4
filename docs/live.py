"""The report on the first page: a real one, of generated data, written when the docs are built."""

import warnings
from pathlib import Path

import numpy as np

import tallymark as tm


def panel():
    """Two models on 20 000 rows, of which about one in a hundred is positive."""
    rng = np.random.default_rng(12)
    y = rng.random(20_000) < 0.01
    # One ranks all positives well, the other finds most of them with certainty and misses the rest.
    old = rng.normal(2.3 * y - 4.6)
    found = y & (rng.random(len(y)) < 0.6)
    new = rng.normal(4.5 * found - 4.6)
    return tm.panel(y, {name: 1 / (1 + np.exp(-score)) for name, score in (("old", old), ("new", new))})


def write(app):
    folder = Path(app.srcdir) / "generated" / "live"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tm.GuardWarning)  # the report shows them
        tm.report(panel(), folder / "report.html", threshold="f1", title="Two models, generated data")


def setup(app):
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
