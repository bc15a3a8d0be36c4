import copy
import io
import json
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tallymark as tm
from samples import normal_sample
from tallymark.summaries import storage
from tallymark.summaries.tally import packed


def summaries():
    y, s = normal_sample(200)
    w = np.linspace(1, 2, 200)
    return {
        "tally": tm.tally(y, s),
        "float32": tm.tally(y, s.astype(np.float32)),
        "counts": tm.tally(y, s, counts=np.arange(200) % 3 + 1).at_prevalence(0.01),
        "weights": tm.tally(y, s, weights=w),
        "quantised": tm.tally(y, s, weights=w).quantise([0.5]),
        "unlabelled": tm.tally(scores=s),
    }


@pytest.mark.parametrize("name", summaries())
def test_a_tally_comes_back_as_it_was(tmp_path, name):
    t = summaries()[name]
    t.save(tmp_path / "x.tally")
    back = tm.load(tmp_path / "x.tally")
    assert (back.labels, back.prior, back.grid, back.n) == (t.labels, t.prior, t.grid, t.n)
    for a, b in zip(t.runs, back.runs, strict=True):
        assert a.moments == b.moments
        for column in a.columns():
            np.testing.assert_array_equal(a.columns()[column], b.columns()[column])
            assert a.columns()[column].dtype == b.columns()[column].dtype


def test_the_sisters_come_back_as_they_were(tmp_path):
    path = tmp_path / "x"
    c = tm.confusion(["a", "b", "c"], ["a", "c", "c"], weights=[1, 2, 3])
    c.save(path)
    back = tm.load(path)
    assert back.labels == c.labels
    np.testing.assert_array_equal(back.squares, c.squares)
    m = tm.moments([0, 1, 1], [[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]], classes=[0, 1])
    m.save(path)
    np.testing.assert_array_equal(tm.load(path).m3, m.m3)
    s = tm.class_scores([0, 1, 1], [[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]], classes=[0, 1], weights=[1, 2, 3])
    s.save(path)
    assert tm.metrics.auroc_ovo(tm.load(path)) == tm.metrics.auroc_ovo(s)
    np.testing.assert_array_equal(tm.load(path).confusion.matrix, s.confusion.matrix)
    p = tm.panel([0, 1, 1], {"a/b": [1, 2, 3], "score:": [3, 2, 1]}, extra={"price": [9.0, 8.0, 7.0]})
    p.save(path)
    assert tm.load(path).models == p.models
    np.testing.assert_array_equal(tm.load(path).extra["price"], p.extra["price"])
    ts = p.tallies()
    ts.save(path)
    assert list(tm.load(path)) == list(ts)
    assert tm.metrics.auroc(tm.load(path)["a/b"]) == tm.metrics.auroc(ts["a/b"])


def test_damage_is_named_and_nothing_is_executed(tmp_path):
    path = tmp_path / "x.tally"
    with pytest.raises(tm.InputError, match="No file"):
        tm.load(path)
    tm.tally([0, 1], [0.1, 0.2]).save(path)
    good = path.read_bytes()
    for broken in (b"", b"hello", good[: len(good) // 2], good[:200] + b"\xff" * 40 + good[240:]):
        path.write_bytes(broken)
        with pytest.raises(tm.InputError, match="not a readable tallymark file|damaged"):
            tm.load(path)
    with path.open("wb") as file:
        np.savez(file, x=np.ones(3))
    with pytest.raises(tm.InputError, match="was not written by tallymark"):
        tm.load(path)
    with path.open("wb") as file:
        np.savez(file, tallymark=np.array([print], dtype=object), allow_pickle=True)
    with pytest.raises(tm.InputError, match="not a readable tallymark file"):
        tm.load(path)


def forge(path, kind, packed, change):
    """A file with a header and arrays that somebody changed."""
    header, arrays = packed
    header, arrays = {"version": 1, "kind": kind, **json.loads(json.dumps(header))}, dict(arrays)
    change(header, arrays)
    with path.open("wb") as file:
        np.savez(file, tallymark=np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays)


def plain():
    return tm.tally([0, 0, 1], [0.1, 0.3, 0.2])


def quantised():
    rng = np.random.default_rng(0)
    return tm.tally(rng.random(500) < 0.4, rng.random(500), weights=rng.random(500)).quantise([0.5])


def matrix():
    return tm.confusion([0, 0, 1, 1, 1], [0, 1, 1, 1, 0], weights=[1.0, 2.0, 1.5, 0.5, 0.25])


def set_in(name, value, index=0):
    """Change one entry of an array."""

    def change(_, arrays):
        arrays[name] = arrays[name].copy()
        arrays[name][index] = value

    return change


def moments_of_class(place, value):
    def change(header, _):
        header["moments"][0][place] = value

    return change


@pytest.mark.parametrize(
    ("make", "change", "message"),
    [
        (plain, lambda h, a: h.update(version=99), "format version 99, this tallymark reads 1"),
        (plain, lambda h, a: h.update(kind="spell"), "holds a 'spell'"),
        (plain, lambda h, a: h.update(kind=["tally"]), "holds a"),
        (plain, lambda h, a: h.pop("labels"), "'labels' is missing"),
        (plain, lambda h, a: h.update(labels=[0, 0]), "occurs twice"),
        (plain, lambda h, a: h.update(labels=[0, 1, 2]), "labels"),
        (plain, lambda h, a: h.update(labels=7), "labels"),
        (plain, lambda h, a: h.update(prior=5), "prior is 5"),
        (plain, lambda h, a: h.update(prior="x"), "prior is 'x'"),
        (plain, lambda h, a: h.update(moments=[[3, 0.2, 0, 0], None]), "moments of scores that are exact"),
        (plain, lambda h, a: h.update(grid=[[0.5], "float64"]), "do not belong together"),
        (plain, lambda h, a: a.update({"0.scores": np.array([2.0, 1.0])}), "not ascending"),
        (plain, lambda h, a: a.update({"0.scores": np.array([np.nan, 1.0])}), "not finite"),
        (plain, lambda h, a: a.update({"0.scores": np.array([1, 2])}), "wrong type"),
        (plain, lambda h, a: a.update({"0.scores": np.array([True, True])}), "wrong type"),
        (plain, lambda h, a: a.update({"0.scores": np.array([1j, 2j])}), "wrong type"),
        (plain, lambda h, a: a.update({"0.scores": np.ones((2, 2))}), "shape"),
        (plain, lambda h, a: a.update({"0.counts": np.array([1])}), "shape"),
        (plain, lambda h, a: a.update({"0.counts": np.array([-1, 2])}), "too small"),
        (plain, lambda h, a: a.update({"0.counts": np.array([1.5, 2])}), "wrong type"),
        (plain, lambda h, a: a.update({"0.counts": np.array([2**62, 2**62])}), r"2\*\*62"),
        (plain, lambda h, a: a.update({"0.weights": np.array([1.0, 2.0])}), "mixed"),
        (plain, lambda h, a: a.update({"7.scores": np.array([1.0])}), "unknown parts"),
        (plain, lambda h, a: a.pop("1.scores"), "no scores"),
        (quantised, moments_of_class(0, 1e9), "another mass"),
        (quantised, moments_of_class(1, 0.9), "the mean cannot"),
        (quantised, moments_of_class(1, float("nan")), "the mean cannot"),
        (quantised, moments_of_class(2, -5.0), "second moment"),
        (quantised, moments_of_class(2, float("nan")), "second moment"),
        (quantised, moments_of_class(3, 1e9), "third moment"),
        (quantised, moments_of_class(3, "x"), "four numbers"),
        (quantised, lambda h, a: h.update(grid=[[0.5, 0.1], "float64"]), "ascending"),
        (quantised, lambda h, a: h.update(grid=[[0.5], "object"]), "no known type"),
        (quantised, set_in("0.hi", -1.0), "cells overlap"),
        (quantised, set_in("0.lo", -1.0), "cells overlap"),
        (quantised, set_in("0.squares", -1.0), "too small"),
        (quantised, set_in("0.squares", 9.0), "squares do not belong"),
        (quantised, set_in("0.rows", 0), "too small"),
        (matrix, lambda h, a: h.update(positive=99), "positive class"),
        (matrix, lambda h, a: h.update(positive=True), "positive class"),
        (matrix, lambda h, a: h.update(threshold=float("nan")), "threshold"),
        (matrix, lambda h, a: h.update(prior=1.0), "prior"),
        (matrix, set_in("matrix", -1.0, (0, 0)), "too small"),
        (matrix, set_in("matrix", np.inf, (0, 0)), "not finite"),
        (matrix, set_in("rows_per_cell", 0, (0, 0)), "rows do not belong"),
        (matrix, lambda h, a: a.pop("squares"), "parts are missing"),
    ],
)
def test_every_promise_is_checked(tmp_path, make, change, message):
    path = tmp_path / "x"
    summary = make()
    kind, parts = ("confusion", summary.pack()) if make is matrix else ("tally", packed(summary))
    forge(path, kind, parts, lambda h, a: None)
    assert tm.load(path).n == pytest.approx(summary.n)
    forge(path, kind, parts, change)
    with pytest.raises(tm.InputError, match=message):
        tm.load(path)


def test_promises_of_moments_and_panels(tmp_path):
    path = tmp_path / "x"
    tm.moments([0, 1, 1], [[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]], classes=[0, 1]).save(path)
    whole = tm.load(path)
    for name, value in (("m2", -1.0), ("mean", np.nan), ("mass", -1.0)):
        with pytest.raises(tm.InputError, match="too small|not finite"):
            forge(path, "moments", whole.pack(), set_in(name, value))
            tm.load(path)
    panel = tm.panel([0, 1, 1], {"a": [0.9, 0.1, 0.3]}, counts=[1, 2, 3])
    stored = {"labels": [0, 1], "columns": ["is_positive", "counts", "score:a"]}
    arrays = {"0": panel.is_positive, "1": panel.counts, "2": panel.scores["a"]}
    for name, array in (("0", np.array([0, -4, 1])), ("1", np.array([1, -2, 3])), ("2", np.array([1.0, np.inf, 0.0]))):
        with pytest.raises(tm.InputError, match="wrong type|too small|not finite"):
            forge(path, "panel", (stored, arrays), lambda _, a, name=name, array=array: a.update({name: array}))
            tm.load(path)


def test_archives_that_claim_more_than_they_are(tmp_path):
    path = tmp_path / "x"
    plain().save(path)
    members = zipfile.ZipFile(path)
    kept = {name: members.read(name) for name in members.namelist()}
    members.close()

    def rewritten(changes, compression=zipfile.ZIP_STORED):
        with zipfile.ZipFile(path, "w", compression) as archive:
            for name, content in (kept | changes).items():
                archive.writestr(name, content)

    giant = kept["0.scores.npy"].replace(b"(2,)", b"(2" + b"0" * 12 + b",)")
    bomb = kept["0.scores.npy"][:128].replace(b"(2,)", b"(20000000,)") + bytes(160_000_000)
    for changes, options in (
        ({"0.scores.npy": giant}, {}),
        ({"0.scores.npy": bomb}, {"compression": zipfile.ZIP_DEFLATED}),
        ({"tallymark.npy": _npy(b"[" * 100_000)}, {}),
        ({"tallymark.npy": _npy(b"[1, 2]")}, {}),
        ({"tallymark.npy": _npy(b'{"version": 1')}, {}),
        ({"0.scores.npy": b"no array"}, {}),
    ):
        rewritten(changes, **options)
        with pytest.raises(tm.InputError, match="not a readable tallymark file"):
            tm.load(path)
    rewritten({})
    content = bytearray(path.read_bytes())
    for at in (content.find(b"PK\x01\x02") + 8, 6):
        content[at] |= 1
    path.write_bytes(bytes(content))
    with pytest.raises(tm.InputError, match="not a readable tallymark file"):
        tm.load(path)


def _npy(text):
    file = io.BytesIO()
    np.save(file, np.frombuffer(text, np.uint8))
    return file.getvalue()


@given(st.binary(min_size=1, max_size=8), st.floats(0, 1), st.sampled_from([plain, quantised, matrix]))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_mutated_files_are_refused_or_the_same(tmp_path, patch, place, make):
    path = tmp_path / "x"
    summary = make()
    summary.save(path)
    content = path.read_bytes()
    at = int(place * (len(content) - 1))
    path.write_bytes(content[:at] + patch + content[at + len(patch) :])
    try:
        back = tm.load(path)
    except tm.InputError:
        return
    assert json.dumps(back.to_dict()) == json.dumps(summary.to_dict())


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_copies_stay_sealed(copied):
    t = copied(quantised())
    panel = copied(tm.panel([0, 1, 1], {"a": [0.9, 0.1, 0.3]}))
    for array in (t.positive.scores, copied(matrix()).matrix, panel.is_positive, panel.scores["a"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "x.tally"
    tm.tally([0, 1], [0.1, 0.2]).save(path)
    before = path.read_bytes()

    def fail(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr(storage.np, "savez", fail)
    with pytest.raises(tm.InputError, match="Cannot write .*disk full"):
        tm.tally([0, 1], [0.5, 0.2]).save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["x.tally"]


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(tm.InputError, match="there is no folder"):
        tm.tally([0, 1], [0.1, 0.2]).save(tmp_path / "no" / "x")


def test_the_file_is_a_zip_without_pickles(tmp_path):
    tm.tally([0, 1], [0.1, 0.2]).save(tmp_path / "x")
    with zipfile.ZipFile(tmp_path / "x") as file:
        assert all(name.endswith(".npy") for name in file.namelist())


def test_class_scores_whose_parts_disagree_are_not_believed(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    scores = tm.class_scores(y, rng.dirichlet(np.ones(3), 60), classes=[0, 1, 2])
    path = tmp_path / "s.npz"
    scores.save(path)
    with np.load(path) as file:
        arrays = dict(file)
    answers = next(name for name in arrays if name.endswith("wrong/scores"))
    component = next(name for name in arrays if name.endswith("0/0/scores"))
    for name, changed in ((answers, arrays[answers][:0]), (component, arrays[component] * 0.5)):
        np.savez(path, **(arrays | {name: changed}))
        with pytest.raises(tm.InputError):
            tm.load(path)
