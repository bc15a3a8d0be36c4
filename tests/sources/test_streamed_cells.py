"""Cells counted as rows are read: the same bytes as the engine's own GROUP BY, and left to it where they must be."""

import numpy as np
import pandas as pd
import pytest

import tallymark as tm
from tallymark.sources import engine, streamed_cells

ROWS = 30_000
THRESHOLDS = (0.5, 0.5001, 0.50011, -1.0, 0.0, 1e-3)


def frame():
    rng = np.random.default_rng(0)
    y = (rng.random(ROWS) < 0.1).astype(int)
    smooth = rng.normal(size=ROWS) + 1.5 * y
    p = 1 / (1 + np.exp(-smooth))
    return pd.DataFrame({
        "smooth": smooth, "spiky": smooth.round(1) + rng.integers(0, 2, ROWS) * 1e-9, "p": p, "below": -p,
        "heavy": np.sign(smooth) * np.abs(smooth) ** 9, "narrow": 1 + 1e-7 * smooth, "f32": smooth.astype(np.float32),
        "constant": 0.3, "zeros": np.where(rng.random(ROWS) < 0.3, 0.0, p), "whole": (10 * smooth).astype(int),
        "tiny": p * 1e-300, "ascending": np.sort(p),
        "subnormal": p * 1e-310, "huge": p * 1e305, "magnitudes": np.exp(60 * smooth),
        "y": y, "signed": 2 * y - 1, "word": np.where(y == 1, "it's so", "no"), "flag": y == 1, "share": y / 2,
        "day": np.where(y == 1, np.datetime64("2024-02-29"), np.datetime64("2023-12-31")), "g": rng.choice(["a", "b"], ROWS),
    })  # fmt: skip


PLAIN = ["smooth", "spiky", "p", "below", "heavy", "narrow", "f32", "constant", "zeros", "whole", "tiny", "ascending"]
LEFT_TO_THE_ENGINE = ["subnormal", "huge", "magnitudes"]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    file = tmp_path_factory.mktemp("streamed") / "d.parquet"
    frame().to_parquet(file, row_group_size=4_000)
    return file


@pytest.fixture
def used(monkeypatch):
    """Whether cells were counted here, call by call."""
    calls = []
    counted = streamed_cells.streamed_cells

    def spied(*arguments):
        cells = counted(*arguments)
        calls.append(cells is not None)
        return cells

    monkeypatch.setattr(streamed_cells, "streamed_cells", spied)
    return calls


@pytest.fixture
def by_engine(monkeypatch):
    """Leave all counting to the engine, from when it is called."""
    return lambda: monkeypatch.setattr(streamed_cells, "streamed_cells", lambda *_: None)


def scanned(path, tmp_path, **options):
    tally = tm.scan(path, exact=False, thresholds=THRESHOLDS, **options)
    tally.save(tmp_path / "t.tally")
    return (tmp_path / "t.tally").read_bytes()


def same_both_ways(path, tmp_path, by_engine, **options):
    """Whether the stored bytes are the same when rows are counted here, in any number of threads, and by the engine."""
    stored = {scanned(path, tmp_path, threads=threads, **options) for threads in (1, 2, 4, 12)}
    by_engine()
    return {scanned(path, tmp_path, threads=2, **options)} == stored


@pytest.mark.parametrize("score", [*PLAIN, *LEFT_TO_THE_ENGINE])
def test_every_kind_of_score(path, tmp_path, used, by_engine, score):
    assert same_both_ways(path, tmp_path, by_engine, label="y", score=score)
    assert used == [score in PLAIN] * 4


@pytest.mark.parametrize("label", ["signed", "word", "flag", "share", None])
def test_every_kind_of_label(path, tmp_path, used, by_engine, label):
    positive = {"word": "it's so", "share": 0.5}.get(label)
    assert same_both_ways(path, tmp_path, by_engine, label=label, score="p", pos_label=positive)
    assert used == [True] * 4


def test_a_refused_label_is_refused_in_the_same_words(path, tmp_path, by_engine):
    with pytest.raises(tm.InputError) as refused:
        scanned(path, tmp_path, label="day", score="p")
    by_engine()
    with pytest.raises(tm.InputError) as refused_by_engine:
        scanned(path, tmp_path, label="day", score="p")
    assert str(refused.value) == str(refused_by_engine.value)


@pytest.mark.parametrize("where", ["g = 'a' AND p > 0.3", "y = 1 OR smooth < 0.1", "smooth BETWEEN 0 AND 0.1"])
def test_a_condition_on_the_rows(path, tmp_path, used, by_engine, where):
    assert same_both_ways(path, tmp_path, by_engine, label="y", score="smooth", where=where)
    assert used == [True] * 4


def test_several_files_and_models(path, tmp_path, used):
    made = frame()
    for i in range(3):
        made.iloc[i::3].to_parquet(tmp_path / f"it's {i} [1].parquet")
    ts = tm.scan(
        [tmp_path / f"it's {i} [1].parquet" for i in range(3)], label="y", score=["p", "smooth"], exact=False, threads=2
    )
    assert used == [True, True]
    for name in ("p", "smooth"):
        low, high = tm.bound(ts[name], "auroc")
        assert low <= tm.metrics.auroc(tm.tally(made["y"], made[name])) <= high


def test_groups_weights_counts_and_other_files_are_the_engines(path, tmp_path, used):
    frame()[["y", "p", "g"]].to_csv(tmp_path / "d.csv", index=False)
    tm.scan(path, label="y", score="p", by="g", exact=False, threads=2)
    tm.scan(path, label="y", score="p", weight="p", exact=False, threads=2)
    tm.scan(path, label="flag", score="p", count="y", exact=False, threads=2)
    tm.scan(tmp_path / "d.csv", label="y", score="p", exact=False, threads=2)
    assert used == [False] * 4


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("p", None, "1 rows have no score"),
        ("p", np.inf, "infinite score"),
        ("y", None, "1 rows have no y"),
        ("y", 7, "7"),
    ],
)
def test_a_bad_row_far_down_is_refused_in_the_usual_words(tmp_path, used, column, value, message):
    made = frame()[["y", "p"]].astype({"y": object})
    made.loc[ROWS - 5, column] = value
    made["y"] = made["y"].astype("Int64")
    made.to_parquet(tmp_path / "d.parquet", row_group_size=4_000)
    with pytest.raises(tm.InputError, match=message):
        tm.scan(tmp_path / "d.parquet", label="y", score="p", exact=False, threads=2)
    if column == "p" or value is None:
        assert used == [False]


def test_a_file_whose_rows_lie_outside_of_its_notes_is_refused(path, monkeypatch):
    monkeypatch.setattr(engine.Engine, "stored_range", lambda *_: (0.4, 0.6))
    for options in ({"exact": False, "threads": 2}, {"exact": False, "threads": 4}, {"exact": True}):
        with pytest.raises(tm.InputError, match="outside the range in the file's statistics; it is damaged"):
            tm.scan(path, label="y", score="p", **options)


def test_an_interrupt_leaves_the_engine_at_once(path, used):
    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tm.scan(path, label="y", score="p", exact=False, threads=2, progress=stop)


def test_two_statements_are_refused_and_not_run(path):
    with pytest.raises(tm.InputError, match="one condition|Cannot read"):
        tm.scan(path, label="y", score="p", exact=False, threads=2, where="true); CREATE TABLE x(i INT); SELECT (1")


@pytest.mark.parametrize("low", [0.49, 0.4999, -5.0, 100.0, 1e6])
@pytest.mark.parametrize("rows", [3, 50, 500])
def test_narrow_ranges_far_from_0(tmp_path, used, by_engine, low, rows):
    rng = np.random.default_rng(rows)
    made = {"y": np.r_[0, 1, rng.integers(0, 2, rows - 2)], "p": rng.uniform(low, low + 0.02 * abs(low), rows)}
    pd.DataFrame(made).to_parquet(tmp_path / "d.parquet")
    assert same_both_ways(tmp_path / "d.parquet", tmp_path, by_engine, label="y", score="p")
    assert used == [True] * 4


def test_a_file_that_notes_another_range_of_labels_does_no_harm(tmp_path):
    import struct

    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "d.parquet"
    labels = np.arange(5_000) % 2 * 1_000
    table = pa.table({"y": labels, "p": np.linspace(0, 1, 5_000)})
    pq.write_table(table, path, use_dictionary=False, compression="none")
    content = path.read_bytes()
    foot = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    lying = content[foot:].replace(struct.pack("<q", 1_000), struct.pack("<q", 1))
    assert lying != content[foot:]
    path.write_bytes(content[:foot] + lying)
    for threads in (2, 4):
        tally = tm.scan(path, label="y", score="p", pos_label=1_000, exact=False, threads=threads)
        assert (tally.n, tally.positives) == (5_000, 2_500)


@pytest.mark.parametrize("threads", [2, 4])
def test_progress_goes_on(tmp_path, threads):
    import duckdb

    with duckdb.connect() as engine:
        engine.execute(
            f"COPY (SELECT i % 2 AS y, sqrt(i) AS p FROM range(6000000) t(i)) TO '{tmp_path / 'd.parquet'}' (FORMAT parquet)"
        )
    seen = []
    tm.scan(tmp_path / "d.parquet", label="y", score="p", exact=False, threads=threads, progress=seen.append)
    assert all(0.0 <= percent <= 100.0 for percent in seen)
    # How far the engine says it is when a block arrives depends on how busy the machine is; that it is asked again does not.
    assert len(seen) > 5
    assert max(seen) > 0.0
