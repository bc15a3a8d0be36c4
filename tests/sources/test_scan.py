"""Files larger than memory: the same answers as arrays, or a bound that holds them."""

import io
import json

import numpy as np
import pandas as pd
import pytest

import tallymark as tm
from tallymark.sources import cell_queries, open_rows
from tallymark.summaries.score_grid import cell_key

ROWS = 40_000


def frame(seed=0, rows=ROWS):
    rng = np.random.default_rng(seed)
    y = (rng.random(rows) < 0.1).astype(int)
    smooth = rng.normal(size=rows) + 1.5 * y
    return pd.DataFrame({
        "y": y, "smooth": smooth, "spiky": smooth.round(1) + rng.integers(0, 2, rows) * 1e-9,
        "heavy": np.sign(smooth) * np.abs(smooth) ** 9, "narrow": 1 + 1e-7 * smooth,
        "p": 1 / (1 + np.exp(-smooth)), "f32": smooth.astype(np.float32), "repeated": smooth.round(1),
        "w": rng.random(rows) + 0.5, "k": rng.integers(1, 4, rows), "region": rng.choice(["n", "s'x", "w;"], rows),
        "word": np.where(y == 1, "yes", "no"), "flag": y == 1,
    })  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scan")
    made = frame()
    made.to_parquet(folder / "d.parquet")
    made.to_csv(folder / "d.csv", index=False)
    made.to_csv(folder / "d.csv.gz", index=False)
    made.to_json(folder / "d.jsonl", orient="records", lines=True, double_precision=15)
    for i in range(3):
        made.iloc[i::3].to_parquet(folder / f"part-{i}.parquet")
    return folder


MASSES = {"unit": {}, "weight": {"weight": "w"}, "count": {"count": "k"}}


@pytest.mark.parametrize("mass", MASSES)
@pytest.mark.parametrize("score", ["smooth", "spiky", "heavy", "narrow", "p", "f32"])
def test_the_rows_metrics_lie_in_the_bound(data, score, mass):
    made, options = frame(), MASSES[mass]
    q = tm.scan(data / "d.parquet", label="y", score=score, exact=False, **options)
    weights = {"weight": "weights", "count": "counts"}
    t = tm.tally(made["y"], made[score], **{weights[k]: made[v] for k, v in options.items()})
    assert q.n == pytest.approx(t.n)
    for name in ("auroc", "average_precision", "ks", "h_measure", "spcc", "kendall", "d_a"):
        exact = getattr(tm.metrics, name)(t)
        low, high = tm.bound(q, name)
        assert low - 1e-7 <= exact <= high + 1e-7, name
    low, high = tm.bound(q, "auroc")
    assert high - low < 3e-5
    for a, b in zip(q.runs, t.runs, strict=True):
        assert a.moments.mean == pytest.approx(b.moments.mean, rel=1e-9)
        assert a.moments.variance == pytest.approx(b.moments.variance, rel=1e-6)
        assert a.n_rows == b.n_rows
    assert q.at(0.5).tp == pytest.approx(t.at(0.5).tp)
    best = max(tm.metrics.f1(t.at("f1")), 0)
    assert tm.metrics.f1(q.at("f1")) <= best + 1e-12


def test_small_files_are_exact_and_exact_can_be_asked_for(data):
    t = tm.tally(frame()["y"], frame()["smooth"])
    for exact in (None, True):
        s = tm.scan(data / "d.parquet", label="y", score="smooth", exact=exact)
        assert s.grid is None
        assert tm.metrics.auroc(s) == tm.metrics.auroc(t)


def test_large_files_are_quantised_by_themselves(data, monkeypatch):
    monkeypatch.setattr(open_rows, "SMALL", 1_000)
    s = tm.scan(data / "d.parquet", label="y", score="smooth")
    assert s.grid is not None
    ev = tm.evaluate(s)
    assert ev["auroc"].bound[0] <= tm.metrics.auroc(tm.tally(frame()["y"], frame()["smooth"])) <= ev["auroc"].bound[1]


def test_repeated_scores_stay_exact(data):
    q = tm.scan(data / "d.parquet", label="y", score="repeated", exact=False)
    assert q.exact
    assert tm.metrics.auroc(q) == tm.metrics.auroc(tm.tally(frame()["y"], frame()["repeated"]))


def test_the_engine_computes_the_key_numpy_computes():
    import duckdb

    s = np.r_[frame()["heavy"].to_numpy(), 1e300, -1e300, 1e-320, 0.0, 1e-5]
    with duckdb.connect() as con:
        found = con.execute(
            f"SELECT s, {cell_queries.key_of('s')} AS key FROM (SELECT UNNEST($1) AS s)", [s.tolist()]
        ).fetchnumpy()
    np.testing.assert_array_equal(found["key"], cell_key(found["s"]))


@pytest.mark.parametrize("name", ["d.csv", "d.csv.gz", "d.jsonl", "part-*.parquet"])
def test_every_format_and_pattern(data, name):
    for exact in (None, False):
        t = tm.scan(str(data / name), label="y", score="smooth", exact=exact)
        low, high = tm.bound(t, "auroc")
        assert low - 1e-9 <= tm.metrics.auroc(tm.tally(frame()["y"], frame()["smooth"])) <= high + 1e-9
    parts = tm.scan([data / "part-0.parquet", data / "part-2.parquet"], label="y", score="smooth", exact=False)
    assert parts.n < ROWS


def test_quantised_parts_merge_into_the_whole(data):
    parts = [tm.scan(data / f"part-{i}.parquet", label="y", score="repeated", exact=False) for i in range(3)]
    whole = tm.scan(data / "d.parquet", label="y", score="repeated", exact=False)
    merged = parts[0].merge(*parts[1:])
    for a, b in zip(merged.runs, whole.runs, strict=True):
        for column in a.columns():
            np.testing.assert_array_equal(a.columns()[column], b.columns()[column])


def test_groups_models_and_conditions(data):
    made = frame()
    ts = tm.scan(data / "d.parquet", label="y", score=["smooth", "p"], by="region", exact=False)
    assert set(ts) == {(s, r) for s in ("smooth", "p") for r in ("n", "s'x", "w;")}
    for region in ("n", "s'x", "w;"):
        own = made[made.region == region]
        low, high = tm.bound(ts["smooth", region], "auroc")
        assert low - 1e-9 <= tm.metrics.auroc(tm.tally(own["y"], own["smooth"])) <= high + 1e-9
        assert high - low < 1e-3
    for exact in (True, False):
        t = tm.scan(data / "d.parquet", label="y", score="smooth", where="region = 'n' AND w > 1", exact=exact)
        assert t.n == ((made.region == "n") & (made.w > 1)).sum()
    u = tm.scan(data / "d.parquet", score="p", exact=False)
    assert (u.labelled, u.n) == (False, ROWS)
    assert tm.metrics.positive_estimate(u) == pytest.approx(made["p"].sum())


@pytest.mark.parametrize(
    ("label", "pos_label", "labels"), [("word", "yes", ("no", "yes")), ("flag", None, (False, True))]
)
def test_labels_of_every_kind(data, label, pos_label, labels):
    for name in ("d.csv", "d.parquet"):
        t = tm.scan(data / name, label=label, score="smooth", pos_label=pos_label, exact=False)
        assert t.labels == labels
        assert t.positives == frame()["y"].sum()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"score": "smoth"}, "No column 'smoth'.*Did you mean 'smooth'"),
        ({"score": "smooth", "label": "word"}, "which one is positive"),
        ({"score": "smooth", "where": "region = 'nowhere'"}, "has no rows that satisfy"),
        ({"score": "smooth", "where": "true); DROP TABLE x; SELECT (1"}, "Cannot read|one condition"),
        ({"score": "smooth", "where": "nonsense >"}, "Cannot read"),
        ({"score": "word"}, "word holds .*, expected numbers"),
        ({"score": "smooth", "memory_limit": "lots"}, "memory_limit='lots'"),
        ({"score": "smooth", "weight": "w", "count": "k"}, "not both"),
    ],
)
def test_bad_questions(data, options, message):
    with pytest.raises(tm.InputError, match=message):
        tm.scan(data / "d.parquet", exact=False, **{"label": "y", **options})


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("p", None, "2 rows have no score"),
        ("p", float("nan"), "2 rows have a NaN or infinite score|2 rows have no score"),
        ("p", float("inf"), "2 rows have a NaN or infinite score"),
        ("y", None, "2 rows have no y"),
        ("w", -1.0, "2 rows have a negative weight|rows have a negative weight"),
        ("w", None, "2 rows have no weight"),
        ("g", None, "2 rows have no g"),
    ],
)
def test_bad_rows_are_counted(tmp_path, column, value, message):
    columns = {"y": [0, 1, 0, 1, 0, 1], "p": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], "w": [1.0] * 6, "g": ["a"] * 6}
    columns[column] = [value, value, *columns[column][2:]]
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), tmp_path / "d.parquet")
    with pytest.raises(tm.InputError, match=message):
        tm.scan(tmp_path / "d.parquet", label="y", score="p", weight="w", by="g", exact=False)


@pytest.mark.parametrize("exact", [True, False])
def test_missing_values_can_be_dropped(tmp_path, exact):
    (tmp_path / "d.csv").write_text("y,p,g\n0,0.1,a\n1,,a\n0,0.3,\n1,0.4,a\n,0.5,a\n1,nan,a\n")
    t = tm.scan(tmp_path / "d.csv", label="y", score="p", by="g", drop_missing=True, exact=exact)
    assert (t["a"].positives, t["a"].negatives) == (1, 1)
    text = tm.scan(tmp_path / "d.csv", label="y", score="p", drop_missing=True, exact=exact, where="p > 0.2")
    assert text.n == 2


def test_bad_files(tmp_path, data):
    good = (data / "d.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(good[: len(good) // 2])
    (tmp_path / "ragged.csv").write_text("y,p\n" + "0,0.1\n1,0.2\n" * 50 + "1,0.2,3,4\n" + "0,0.3\n" * 50)
    (tmp_path / "a.parquet").write_bytes(good)
    pd.DataFrame({"y": [1], "other": [0.5]}).to_parquet(tmp_path / "b.parquet")
    for paths, message in (
        (tmp_path / "cut.parquet", "Cannot read"),
        (tmp_path / "ragged.csv", "line 102 has 4 fields, the header 2"),
        (tmp_path, "is a directory; name its files"),
        (str(tmp_path / "*.pq"), "No file matches"),
        ([], "No files given"),
        ([tmp_path / "a.parquet", tmp_path / "ragged.csv"], "different kinds"),
        ([tmp_path / "a.parquet", tmp_path / "b.parquet"], "b.parquet.*No column 'smooth'"),
    ):
        with pytest.raises(tm.InputError, match=message):
            tm.scan(paths, label="y", score="smooth" if "parquet" in str(paths) else "p", exact=False)


def test_memory_limits_progress_and_clean_up(data, monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    seen = []
    t = tm.scan(
        data / "d.parquet",
        label="y",
        score="smooth",
        exact=False,
        memory_limit="200MB",
        threads=1,
        progress=seen.append,
    )
    assert t.n == ROWS
    assert all(0 <= percent <= 100 for percent in seen)
    with pytest.raises(tm.InputError):
        tm.scan(data / "d.parquet", label="y", score="nope", exact=False, progress=seen.append)
    assert not list(tmp_path.iterdir())


def test_an_interrupt_leaves_nothing_behind(data, monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)

    for failure in (KeyboardInterrupt, ZeroDivisionError):

        def stop(_, failure=failure):
            raise failure

        with pytest.raises(failure):
            tm.scan(data / "d.csv", label="y", score="smooth", exact=False, progress=stop)
    assert not list(tmp_path.iterdir())


def test_a_saved_scan_can_be_evaluated_and_merged_on_the_command_line(data, tmp_path):
    from typer.testing import CliRunner

    from tallymark.cli.app import app

    for i in range(3):
        tm.scan(data / f"part-{i}.parquet", label="y", score="smooth", exact=False).save(tmp_path / f"{i}.tally")
    files = [str(tmp_path / f"{i}.tally") for i in range(3)]
    run = CliRunner().invoke(app, ["merge", *files, "--out", str(tmp_path / "all.tally")], catch_exceptions=False)
    assert "merged from 3 files" in run.stdout.replace("\n", "")
    run = CliRunner().invoke(app, ["evaluate", str(tmp_path / "all.tally"), "--json"], catch_exceptions=False)
    found = json.load(io.StringIO(run.stdout))
    assert found["n"] == ROWS
    low, high = found["models"][str(tmp_path / "all.tally")]["metrics"]["auroc"]["bound"]
    assert low <= tm.metrics.auroc(tm.tally(frame()["y"], frame()["smooth"])) <= high
    for arguments in (
        ["evaluate", str(data / "d.parquet"), "--label", "y", "--score", "p", "--exact", "--where", "region = 'n'"],
        [
            "evaluate",
            str(data / "part-*.parquet"),
            "--label",
            "y",
            "--score",
            "p",
            "--memory-limit",
            "500MB",
            "--threads",
            "1",
        ],
    ):
        assert CliRunner().invoke(app, arguments, catch_exceptions=False).exit_code == 0


@pytest.mark.parametrize("options", [{}, {"count": "c"}, {"weight": "w"}])
def test_any_number_of_threads_gives_the_same_bytes(tmp_path, options):
    rng = np.random.default_rng(0)
    y = rng.random(60_000) < 0.2
    columns = {"y": y.astype(int), "p": 0.5 * rng.random(60_000) + 0.3 * y, "c": rng.integers(1, 9, 60_000)}
    columns["w"] = rng.random(60_000) ** 8 * 1e6
    pd.DataFrame(columns).to_parquet(tmp_path / "s.parquet", row_group_size=5_000)
    saved = []
    for threads in (1, 2, 2, 3, 4, 8):
        tally = tm.scan(tmp_path / "s.parquet", label="y", score="p", exact=False, threads=threads, **options)
        tally.save(tmp_path / "s.tally")
        saved.append((tmp_path / "s.tally").read_bytes())
    assert len(set(saved)) == 1
    masses = {"count": {"counts": columns["c"]}, "weight": {"weights": columns["w"]}}
    rows = tm.tally(y.astype(int), columns["p"], **masses.get(next(iter(options), ""), {}))
    assert tm.metrics.spcc(tally) == pytest.approx(tm.metrics.spcc(rows), rel=1e-13)
    assert tm.metrics.brier(tally) == pytest.approx(tm.metrics.brier(rows), rel=1e-13)
