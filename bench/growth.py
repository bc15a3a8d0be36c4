"""Does the time of a scan grow with the rows, and no faster?"""

import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path

import tallymark as tm
from bench.report import Measured, at_most
from bench.scanning import write
from bench.timing import rounds

#: Sizes below the asked one, as shares of it.
_SHARES = (0.005, 0.05, 0.25, 1.0)


def run(rows: int, repeats: int) -> Iterator[Measured]:
    """Time per row at each size, beside time per row at a quarter of the asked size or the largest before it."""
    with tempfile.TemporaryDirectory() as folder:
        per_row = {}
        for share in _SHARES:
            size = round(rows * share)
            path = Path(folder) / f"{size}.parquet"
            write(path, size)
            seconds = rounds(
                {"scan": lambda path=path: tm.scan(path, label="label", score="score", exact=False)}, repeats
            )
            per_row[size] = [s / size for s in seconds["scan"]]
        sizes = list(per_row)
        for before, size in itertools.pairwise(sizes):
            found = [b / a for a, b in zip(per_row[before], per_row[size], strict=True)]
            rate = f"{sorted(per_row[size])[len(per_row[size]) // 2] * 1e9:.0f} ns a row"
            yield at_most(
                f"scan, time per row, {size / 1e6:g} M", found, 1.3, f"of that at {before / 1e6:g} M", rate
            )  # fmt: skip
