"""Studies: the evaluation of a protocol's samples beside QuaPy, what keeping a cell costs, how fast a large store is listed, and the
nearest-neighbour study of the thesis from beginning to end."""

import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from quapy import evaluation
from quapy.data import LabelledCollection

import tallymark as tm
from bench.datasets import data_folder, have_data
from bench.quantifiers import Listed, draw, learnt, peers
from bench.report import Measured, at_most, faster
from bench.timing import rounds
from tallymark.study import stores
from tallymark.study.units import Outcome

#: Methods of the thesis that QuaPy has.
_METHODS = ("ac", "x", "max", "t50", "ms")
_CELL = {
    "nominal": np.linspace(0, 1, 11),
    "drawn": np.full((11, 2), 0.5),
    "sizes": np.full(11, 50),
    "estimates": np.full((11, 2), 0.5),
}


def run(size: int, repeats: int) -> Iterator[Measured]:
    warnings.filterwarnings("ignore")
    yield from _evaluation(repeats)
    yield from _store(size)
    if have_data():
        yield _whole()


def _evaluation(repeats: int) -> Iterator[Measured]:
    """The samples of ten folds of 2 000 rows, by five methods."""
    rng = np.random.default_rng(0)
    y, s = draw(rng, 2_000, 0.4)
    splits = list(tm.study.protocol(y))
    known = {name: (peer, kind) for name, _, peer, kind, _ in peers() if name in _METHODS}

    def ours():
        return [
            tm.quantify.estimate_many(name, tm.tally(y[split.train], s[split.train]), s[split.test], list(split.index), **({"threshold": 0.5} if name == "ac" else {}))
            for split in splits
            for name in _METHODS
        ]  # fmt: skip

    def theirs():
        found = []
        for split in splits:
            data = LabelledCollection(s[split.test][:, None], y[split.test], classes=[0, 1])
            for name in _METHODS:
                peer, kind = known[name]
                fitted = learnt(peer, kind, y[split.train], s[split.train], float(y[split.train].mean()))
                found.append(evaluation.prediction(fitted, Listed(data, split.index), aggr_speedup=False)[1][:, 1])
        return found

    gap = max(float(np.abs(a - b).max()) for a, b in zip(ours(), theirs(), strict=True))
    seconds = rounds({"ours": ours, "quapy": theirs}, repeats)
    ratio = [b / a for a, b in zip(seconds["ours"], seconds["quapy"], strict=True)]
    made = faster(f"10 folds x 11 prevalences x {len(_METHODS)} methods, evaluation only", ratio, 50.0)
    yield Measured(
        made.name,
        made.ratios,
        made.unit,
        made.goal,
        made.larger_is_better,
        f"(largest difference of the estimates {gap:.1g})",
    )


def _store(cells: int) -> Iterator[Measured]:
    """A cell is kept in a millisecond, and a million are listed in two seconds."""
    with TemporaryDirectory() as folder, stores.writing(Path(folder) / "s.sqlite") as store:
        started = time.perf_counter()
        for number in range(1_000):
            store.add("d", number, "m", Outcome(f"{number:064d}", error=None, seconds=0.0, **_CELL))
        spent = (time.perf_counter() - started) / 1_000
        yield at_most("keeping one cell", [spent / 1e-3], 1.0, "of a millisecond", f"({1e3 * spent:.2f} ms)")
        blob = np.zeros(11).tobytes()
        rows = (
            (f"x{number:063d}", "d", number, "m", None, 2, blob, blob + blob, blob, blob + blob, 0.0)
            for number in range(cells)
        )
        with store._connection as connection:  # noqa: SLF001 - a million one by one would be the bench
            connection.executemany("INSERT INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        started = time.perf_counter()
        listed = len(store.status())
        spent = time.perf_counter() - started
        yield at_most(f"listing {listed} cells", [spent / 2.0], 1.0, "of 2 s", f"({spent:.2f} s)")


def _whole() -> Measured:
    """24 problems × 10 folds × 11 prevalences × 10 systems."""
    import os

    os.environ.setdefault("TALLYMARK_DATA", str(data_folder()))
    study = tm.study.Study.from_toml(Path(__file__).parents[1] / "studies" / "nearest_neighbours.toml")
    with TemporaryDirectory() as folder:
        started = time.perf_counter()
        done = study.run(jobs=2, store=Path(folder) / "s.sqlite")
        spent = time.perf_counter() - started
    return at_most(
        "nearest_neighbours.toml from beginning to end",
        [spent / 600.0],
        1.0,
        "of ten minutes",
        f"({spent:.0f} s, {done.done} cells)",
    )
