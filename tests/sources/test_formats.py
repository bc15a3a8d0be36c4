"""Files that mislead a reader who looks at their first rows, their folders or their neighbours."""

import gzip
import json
import os

import numpy as np
import pandas as pd
import pytest

import tallymark as tm
from tallymark.sources.engine import engine
from tallymark.sources.files import Reading
from tallymark.sources.formats import Wanted
from tallymark.sources.written_rows import write_rows

#: More rows than a reader looks at before it settles a column's type.
MANY = 25_000


def write(path, frame):
    """A frame in the format its name asks for; JSON lines with numbers as they are."""
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in frame.to_dict("records")))
    else:
        frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("name", ["d.csv", "d.jsonl"])
@pytest.mark.parametrize("exact", [True, False])
def test_scores_that_begin_with_whole_numbers_keep_their_fractions(tmp_path, name, exact):
    rng = np.random.default_rng(0)
    late = rng.random(4_000).round(3)
    y = np.concatenate([rng.random(MANY) < 0.02, rng.random(4_000) < late]).astype(int)
    p = [0] * MANY + late.tolist()
    w = [1] * MANY + [0.5] * 4_000
    path = write(
        tmp_path / name, pd.DataFrame({"y": y, "p": pd.Series(p, dtype=object), "w": pd.Series(w, dtype=object)})
    )
    found = tm.scan(path, label="y", score="p", weight="w", exact=exact)
    truth = tm.tally(y, np.array(p, dtype=float), weights=np.array(w, dtype=float))
    assert found.n == pytest.approx(truth.n)
    assert tm.metrics.auroc(found) == pytest.approx(tm.metrics.auroc(truth), abs=1e-4)


@pytest.mark.parametrize("name", ["d.csv", "d.jsonl"])
def test_a_condition_sees_fractions_too(tmp_path, name):
    price = pd.Series([1] * MANY + [1.4, 1.6], dtype=object)
    path = write(tmp_path / name, pd.DataFrame({"y": [0, 1] * (MANY // 2 + 1), "p": 0.5, "price": price}))
    assert tm.scan(path, score="p", where="price > 1.2").n == 2


def test_codes_keep_their_zeros(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("y,p,nuts\n0,0.1,01\n1,0.2,01\n0,0.3,1\n1,0.4,1\n")
    for exact in (True, False):
        found = tm.scan(path, label="y", score="p", by="nuts", exact=exact)
        assert list(found) == ["01", "1"]


@pytest.mark.parametrize("exact", [True, False])
def test_a_label_that_changes_its_look_far_down(tmp_path, exact):
    path = tmp_path / "d.csv"
    for other in ("1.0", "maybe"):
        path.write_text("y,p\n" + "0,0.1\n1,0.4\n" * MANY + f"{other},0.3\n")
        with pytest.raises(tm.InputError, match=f"'{other}'"):
            tm.scan(path, label="y", score="p", exact=exact)


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["0", "1"], [0, 1]), (["0", "1.0"], [0.0, 1.0]), (["-1", "+1"], ["-1", "+1"]), (["01", "1"], ["01", "1"]),
        (["True", "false"], [True, False]), (["True", "true"], ["True", "true"]), (["1e2", "3"], ["1e2", "3"]),
        (["1.1", "1.10"], ["1.1", "1.10"]), (["1", "1.0"], ["1", "1.0"]), (["0", "-0"], ["0", "-0"]),
        (["2024.10", "2025.5"], ["2024.10", "2025.5"]), (["0.1", "1e-05"], [0.1, 1e-05]), (["1_0", "3"], ["1_0", "3"]),
        (["inf", "3"], ["inf", "3"]), (["9" * 25, "3"], ["9" * 25, "3"]), ([".", "3"], [".", "3"]), (["1e999", "3"], ["1e999", "3"]),
    ],
)  # fmt: skip
def test_what_texts_stand_for(texts, values):
    column = np.array(texts, dtype=object)
    assert Reading.of(column, untyped=True)(column).tolist() == values
    assert Reading.of(column, untyped=False)(column).tolist() == texts
    masked = np.ma.MaskedArray(np.array([*texts, None], dtype=object), [False] * len(texts) + [True])
    assert Reading.of(masked, untyped=True)(masked).compressed().tolist() == values


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("exact", [True, False])
def test_a_folders_name_never_replaces_a_column(tmp_path, suffix, exact):
    frame = pd.DataFrame({"y": [0, 1, 0, 1], "p": [0.1, 0.9, 0.6, 0.5]})
    folder = tmp_path / "P=7" / "y=1"
    folder.mkdir(parents=True)
    path = write(folder / f"a.{suffix}", frame)
    assert tm.metrics.auroc(tm.scan(path, label="y", score="p", exact=exact)) == 0.75


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_folders_that_add_a_column_still_do(tmp_path, suffix):
    for region in ("01", "02"):
        folder = tmp_path / f"region={region}"
        folder.mkdir()
        write(folder / f"a.{suffix}", pd.DataFrame({"y": [0, 1], "p": [0.1, 0.9]}))
    found = tm.scan(str(tmp_path / "*" / f"*.{suffix}"), label="y", score="p", by="region")
    assert list(found) == ["01", "02"]


@pytest.mark.parametrize("exact", [True, False])
def test_files_of_different_types_and_orders_are_joined_by_name(tmp_path, exact):
    pd.DataFrame({"y": [0, 1], "p": [0, 1]}).to_parquet(tmp_path / "a.parquet")
    pd.DataFrame({"p": [0.4, 0.6], "y": [1, 0]}).to_parquet(tmp_path / "b.parquet")
    pd.DataFrame({"y": [0, 1], "p": [0, 1], "z": ["q", "r"]}).to_csv(tmp_path / "a.csv", index=False)
    pd.DataFrame({"p": [0.4, 0.6], "y": [1, 0], "z": ["q", "r"]}).to_csv(tmp_path / "b.csv", index=False)
    for pattern in ("*.parquet", "*.csv"):
        t = tm.scan(str(tmp_path / pattern), label="y", score="p", exact=exact)
        assert t.positive.scores.tolist() == [0.4, 1.0]
        assert t.negative.scores.tolist() == [0.0, 0.6]


def test_a_file_that_lacks_a_column_is_named_also_when_missing_values_are_dropped(tmp_path):
    pd.DataFrame({"y": [0, 1], "p": [0.2, 0.4]}).to_csv(tmp_path / "a.csv", index=False)
    pd.DataFrame({"y": [0, 1], "q": [0.2, 0.4]}).to_csv(tmp_path / "b.csv", index=False)
    with pytest.raises(tm.InputError, match=r"b\.csv.*No column 'p'"):
        tm.scan(str(tmp_path / "*.csv"), label="y", score="p", drop_missing=True)


COUNTS = pd.DataFrame({"y": [0, 1, 0, 1], "p": [0.1, 0.9, 0.6, 0.5]})
BAD_COUNTS = {
    "fractions": ([1.5, 0.4, 2.5, 1.6], "whole number"),
    "beyond all integers": ([2**61] * 4, "more than 2\\*\\*62|whole number"),
    "zeros": ([0, 0, 0, 0], "all zero"),
    "negative": ([1, -1, 1, 1], "negative"),
    "missing": ([1, None, 1, 1], "missing|no weight or count|have no n;"),
}


@pytest.mark.parametrize("kind", BAD_COUNTS)
@pytest.mark.parametrize("door", ["csv", "parquet", "jsonl", "polars", "duckdb"])
@pytest.mark.parametrize("exact", [True, False])
def test_counts_are_checked_by_every_door(tmp_path, kind, door, exact):
    counts, message = BAD_COUNTS[kind]
    frame = COUNTS.assign(n=pd.Series(counts, dtype="Float64" if kind == "fractions" else "Int64"))
    options = {"label": "y", "score": "p", "count": "n", "exact": exact}
    with pytest.raises(tm.InputError, match=message):
        if door in ("csv", "parquet", "jsonl"):
            plain = frame.astype(object).where(frame.notna(), None)
            tm.scan(write(tmp_path / f"d.{door}", frame if door == "parquet" else plain), **options)
        elif door == "polars":
            import polars as pl

            tm.tally(
                pl.DataFrame({name: frame[name].tolist() for name in ("y", "p")} | {"n": counts}).lazy(), **options
            )
        else:
            import duckdb

            with duckdb.connect() as connection:
                connection.register("rows", frame)
                tm.tally(connection.sql("SELECT * FROM rows"), **options)


@pytest.mark.parametrize("weights", [[0.0, 0.0, 0.0, 0.0], [1e-200, 1e-200, 1e-200, 1e-200]])
def test_weights_that_weigh_nothing(tmp_path, weights):
    path = write(tmp_path / "d.csv", COUNTS.assign(w=weights))
    for exact in (True, False):
        with pytest.raises(tm.InputError, match="all zero|too small"):
            tm.scan(path, label="y", score="p", weight="w", exact=exact)


@pytest.mark.parametrize("name", ["d.csv", "d.parquet", "d.jsonl"])
@pytest.mark.parametrize("exact", [True, False])
def test_whole_numbers_that_floats_merge_are_refused(tmp_path, name, exact):
    for scores in ([2**53 + 1, 2**53, 3, 4], [2**60 + 1, 0.5, 3, 4]):
        if name == "d.parquet" and 0.5 in scores:
            continue
        path = write(tmp_path / name, COUNTS.assign(p=pd.Series(scores, dtype=object if 0.5 in scores else "int64")))
        with pytest.raises(tm.InputError, match=r"beyond 2\*\*53"):
            tm.scan(path, label="y", score="p", exact=exact)
    path = write(tmp_path / name, COUNTS.assign(p=[1e30, 1e300, 0.5, -1e25]))
    assert tm.scan(path, label="y", score="p", exact=exact).range == (-1e25, 1e300)


@pytest.mark.parametrize("exact", [True, False])
def test_groups_that_are_nan_are_missing(tmp_path, exact):
    import polars as pl

    frame = pl.DataFrame({"y": [0, 1] * 4, "p": np.arange(8) / 8, "g": [1.0] * 4 + [float("nan")] * 4})
    frame.write_parquet(tmp_path / "d.parquet")
    options = {"label": "y", "score": "p", "by": "g", "exact": exact}
    for door in (
        lambda **more: tm.scan(tmp_path / "d.parquet", **options, **more),
        lambda **more: tm.tally(frame.lazy(), **options, **more),
    ):
        with pytest.raises(tm.InputError, match="missing values in 4 rows|4 rows have no g"):
            door()
        assert list(door(drop_missing=True)) == [1.0]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("d.csv", "y,p,p\n0,0.1,1\n1,0.2,2\n", "'p', 'p'.*rename"),
        ("d.csv", "y,P,p\n0,0.1,1\n1,0.2,2\n", "'P', 'p'.*rename"),
        ("d.csv", "y,p\n0,0.1\n1,x\n", "p holds 'x' in line 3, expected numbers"),
        ("d.jsonl", '{"y": 0, "p": 0.1}\n{"y": 1, "p": "x"}\n', "in line 2, expected numbers"),
        ("d.csv", "y,p\n0,0.1\n1,ü\n".encode("utf-16"), "p holds .* expected numbers"),
        ("d.csv", "y,p,t\n0,0.1,ü\n1,0.2,é\n".encode("latin-1") + "é".encode(), "UTF-8"),
        ("d.jsonl", '{"y": 0, "p": [1, 2]}\n{"y": 1, "p": [3]}\n', "Cannot read|expected numbers"),
        ("d.csv", "y,p\n0,1e999\n1,0.2\n", "infinite"),
    ],
)  # fmt: skip
def test_files_that_are_refused_with_a_sentence(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    for exact in (True, False):
        with pytest.raises(tm.InputError, match=message):
            tm.scan(path, label="y", score="p", exact=exact)


@pytest.mark.parametrize("role", ["label", "score", "by", "weight", "count"])
@pytest.mark.parametrize("exact", [True, False])
def test_nested_columns_are_refused(tmp_path, role, exact):
    frame = COUNTS.assign(nested=[[1, 2]] * 4)
    frame.to_parquet(tmp_path / "d.parquet")
    with pytest.raises(tm.InputError, match="nested holds"):
        tm.scan(tmp_path / "d.parquet", **{"label": "y", "score": "p", "exact": exact} | {role: "nested"})


def test_quoted_newlines_far_down(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("y,p,t\n" + "0,0.1,x\n1,0.2,y\n" * MANY + '1,0.3,"a\nb"\n')
    assert tm.scan(path, label="y", score="p").n == 2 * MANY + 1


def test_dates_and_ids_in_json_lines_stay_text(tmp_path):
    ident = "0a1b2c3d-1111-2222-3333-444455556666"
    path = tmp_path / "d.jsonl"
    path.write_text("".join(json.dumps({"d": "2020-01-01", "u": ident, "y": i % 2, "p": 0.5}) + "\n" for i in range(4)))
    assert list(tm.scan(path, score="p", by=["d", "u"])) == [("2020-01-01", ident)]
    assert tm.scan(path, score="p", where="d = '2020-01-01'").n == 4


@pytest.mark.parametrize(
    "where", ["p > (SELECT count(*) FROM read_csv('{other}'))", "p IN (SELECT x FROM 'https://example.org/a.parquet')"]
)
def test_a_condition_reads_no_other_file_and_no_network(tmp_path, where):
    path, other = tmp_path / "d.csv", tmp_path / "other.csv"
    path.write_text("y,p\n0,0.1\n1,0.2\n")
    other.write_text("x\n1\n")
    for exact in (True, False):
        with pytest.raises(tm.InputError, match="may look at the rows of"):
            tm.scan(path, label="y", score="p", where=where.format(other=other), exact=exact)


@pytest.mark.parametrize("options", [{"where": " "}, {"threads": 10**14}, {"threads": 0}, {"thresholds": ["x"]}])
def test_bad_options(tmp_path, options):
    path = tmp_path / "d.csv"
    path.write_text("y,p\n0,0.1\n1,0.2\n")
    with pytest.raises(tm.InputError, match=next(iter(options))):
        tm.scan(path, label="y", score="p", exact=False, **options)


@pytest.mark.parametrize("path", [None, 3, "x" * 5_000, "a\0b.csv", {"a": 1}])
def test_things_that_are_no_paths(path):
    with pytest.raises(tm.InputError):
        tm.scan(path, label="y", score="p")


def test_names_that_look_like_patterns_and_homes(tmp_path, monkeypatch):
    folder = tmp_path / "[1]"
    folder.mkdir()
    (folder / "a.csv").write_text("y,p\n0,0.1\n1,0.2\n")
    assert tm.scan(str(folder / "*.csv"), label="y", score="p").n == 2
    monkeypatch.chdir(tmp_path)
    (tmp_path / "~.csv").write_text("y,p\n0,0.1\n1,0.2\n")
    assert tm.scan("~.csv", label="y", score="p").n == 2


def test_a_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "d.csv")
    with pytest.raises(tm.InputError, match="not a regular file"):
        tm.scan(tmp_path / "d.csv", label="y", score="p")


def test_rows_are_written_as_they_were_read(tmp_path):
    path, out = tmp_path / "d.csv.gz", tmp_path / "out.csv"
    with gzip.open(path, "wt") as file:
        file.write("code,p,t\n007,1,NA\n008,0.50,\n")
    with engine(path, [Wanted("p", "", "number")], writes=str(out)) as source:
        source.keep_order()
        write_rows(source, str(out), {"q": np.array([0.25, 0.75])}, parquet=False)
    assert out.read_text() == "code,p,t,q\n007,1,NA,0.25\n008,0.50,,0.75\n"


def test_two_spellings_of_a_label_are_two_labels(tmp_path):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400)
    spelled = np.where(y, np.where(rng.random(400) < 0.5, "1", "1.0"), "0")
    pd.DataFrame({"y": spelled, "a": rng.random(400) + y}).to_csv(tmp_path / "d.csv", index=False)
    with pytest.raises(tm.InputError, match=r"y has the values '0', '1', '1\.0'; which one is positive\?"):
        tm.evaluate(tm.scan(tmp_path / "d.csv", label="y", score="a"))


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("door", ["file", "polars"])
def test_rows_that_count_nothing_are_not_there(tmp_path, exact, door):
    """They have no part in the extremes; a group of such rows alone is empty."""
    frame = pd.DataFrame(
        {"y": [0, 1, 0, 1, 1], "p": [0.1, 0.7, 0.2, 0.6, 0.9], "n": [2, 1, 1, 3, 0], "g": list("aabbc")}
    )
    if door == "file":
        found = tm.scan(write(tmp_path / "d.csv", frame), label="y", score="p", count="n", by="g", exact=exact)
    else:
        import polars as pl

        found = tm.tally(pl.from_pandas(frame).lazy(), label="y", score="p", count="n", by="g", exact=exact)
    assert {key: t.n for key, t in found.items()} == {"a": 3, "b": 4, "c": 0}
    whole = found["a"].merge(found["b"], found["c"])
    assert whole.range == (0.1, 0.7)
    assert tm.evaluate(found)["c"].n == 0


@pytest.mark.parametrize("shape", ["probabilities", "outlier", "two scales", "constant class", "huge", "counts"])
def test_moments_of_scanned_files_are_those_of_the_rows(tmp_path, shape):
    """Summed as whole numbers over the range of all scores, or by cell where that would lose digits."""
    rng = np.random.default_rng(3)
    y = np.arange(3_000) % 3 == 0
    s = {
        "outlier": lambda: np.append(rng.normal(size=2_999), 1e12),
        "two scales": lambda: np.where(y, rng.normal(size=3_000) * 1e9, rng.normal(size=3_000)),
        "constant class": lambda: np.where(y, 0.25, rng.random(3_000)),
        "huge": lambda: rng.normal(size=3_000) * 1e290,
    }.get(shape, lambda: rng.random(3_000))()
    n = rng.integers(0, 4, 3_000) if shape == "counts" else np.ones(3_000, dtype=int)
    path = write(tmp_path / "d.parquet", pd.DataFrame({"y": y, "p": s, "n": n, "g": np.arange(3_000) % 2}))
    found = tm.scan(path, label="y", score="p", count="n" if shape == "counts" else None, by="g", exact=False)
    for group, t in found.items():
        for run, label in zip(t.runs, (False, True), strict=True):
            own = np.repeat(s, n * ((y == label) & (np.arange(3_000) % 2 == group)))
            exact = np.array([float(v) for v in own])
            scale = np.abs(exact).max()
            assert run.moments.mass == len(exact)
            assert run.moments.mean / scale == pytest.approx(np.mean(exact / scale), rel=1e-10, abs=1e-14)
            if shape != "huge":
                spread = np.sum((exact / scale - np.mean(exact / scale)) ** 2)
                assert run.moments.m2 / scale**2 == pytest.approx(spread, rel=1e-8, abs=1e-20)
