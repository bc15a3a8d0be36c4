import json
import zipfile

import numpy as np
import pytest

import tallymark as tm
from samples import normal_sample
from tallymark.summaries import storage


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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h, a: h.update(version=99), "format version 99, this tallymark reads 1"),
        (lambda h, a: h.update(kind="spell"), "holds a 'spell'"),
        (lambda h, a: h.pop("labels"), "damaged"),
        (lambda h, a: a.update({"0.scores": np.array([2.0, 1.0])}), "not ascending"),
        (lambda h, a: a.update({"0.scores": np.array([np.nan, 1.0])}), "not ascending finite"),
        (lambda h, a: a.update({"0.counts": np.array([1])}), "different lengths"),
        (lambda h, a: a.update({"0.counts": np.array([-1, 2])}), "negative counts"),
        (lambda h, a: a.pop("1.scores"), "damaged"),
    ],
)
def test_every_promise_is_checked(tmp_path, change, message):
    path = tmp_path / "x"
    header, arrays = tm.tally([0, 0, 1], [0.1, 0.3, 0.2]).pack()
    header = {"version": 1, "kind": "tally", **json.loads(json.dumps(header))}
    arrays = dict(arrays)
    change(header, arrays)
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with path.open("wb") as file:
        np.savez(file, tallymark=text, **arrays)
    with pytest.raises(tm.InputError, match=message):
        tm.load(path)


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
