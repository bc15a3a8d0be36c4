"""Several models in files: the engine finds simple rows and sums DeLong's covariance."""

import numpy as np
import pytest

import tallymark as tm
from tallymark.sources import open_rows


def _write(path, columns):
    import pandas as pd

    pd.DataFrame(columns).to_parquet(path)
    return path


def _columns(n=20_000, seed=0, label=("no", "yes")):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.1
    common = rng.normal(size=n)
    return {
        "y": np.where(y, label[1], label[0]),
        "a'; --": y * 1.5 + common + rng.normal(size=n),
        "select": y * 1.2 + common + rng.normal(size=n),
        "w": rng.exponential(size=n) + 0.1,
        "c": rng.integers(0, 4, n),
        "part": rng.integers(0, 2, n),
    }


_MODELS = ["a'; --", "select"]


@pytest.fixture
def beyond(monkeypatch):
    """Every file counts as too large to read."""
    monkeypatch.setattr(open_rows, "SMALL", 0)


@pytest.mark.parametrize("mass", [{}, {"weight": "w"}, {"count": "c"}])
@pytest.mark.parametrize("where", [None, "part = 1"])
def test_the_engines_comparison_is_that_of_the_rows(tmp_path, beyond, mass, where):
    path = _write(tmp_path / "s.parquet", _columns())
    found = tm.compare(tm.scan_panel(path, label="y", score=_MODELS, where=where, pos_label="yes", **mass))
    rows = _columns()
    kept = rows["part"] == 1 if where else np.ones(len(rows["y"]), bool)
    given = {"weights": rows["w"][kept]} if "weight" in mass else {"counts": rows["c"][kept]} if mass else {}
    panel = tm.panel(rows["y"][kept], {m: rows[m][kept] for m in _MODELS}, pos_label="yes", **given)
    wanted = tm.compare(panel)
    assert found.difference == pytest.approx(wanted.difference, abs=2e-5)
    assert found.pairs[0].error == pytest.approx(wanted.pairs[0].error, rel=2e-3)
    assert found.p_value == pytest.approx(wanted.p_value, rel=0.05)
    assert found.verdict == wanted.verdict


def test_small_files_are_read(tmp_path):
    path = _write(tmp_path / "s.parquet", _columns(500))
    panel = tm.scan_panel(path, label="y", score=_MODELS, pos_label="yes")
    with panel.open() as rows:
        assert rows.small
    found = tm.compare(panel, metric="average_precision")
    rows = _columns(500)
    wanted = tm.compare(tm.panel(rows["y"], {m: rows[m] for m in _MODELS}, pos_label="yes"), metric="average_precision")
    assert found.pairs == wanted.pairs


@pytest.mark.parametrize("label", [("no", "yes"), (0, 1), (False, True)])
def test_simple_rows_are_those_of_the_panel(tmp_path, label):
    columns = _columns(3000, seed=2, label=label)
    path = _write(tmp_path / "s.parquet", columns)
    found = tm.without_simple(tm.scan_panel(path, label="y", score=_MODELS, weight="w", pos_label=label[1]))
    wanted = tm.without_simple(
        tm.panel(columns["y"], {m: columns[m] for m in _MODELS}, weights=columns["w"], pos_label=label[1])
    )
    assert (found.n, found.n_simple) == (wanted.n, wanted.n_simple)
    assert found.n_simple > 0
    assert found.share == pytest.approx(wanted.share)
    assert found.verdict == wanted.verdict
    for ours, theirs in zip(found.compare("auroc"), wanted.compare("auroc"), strict=True):
        assert ours["without_simple"] == pytest.approx(theirs["without_simple"])
    assert "NoSimple" in repr(found)


def test_all_rows_simple(tmp_path):
    path = _write(tmp_path / "s.parquet", {"y": [0, 0, 1, 1], "a": [1.0, 2.0, 3.0, 4.0]})
    found = tm.without_simple(tm.scan_panel(path, label="y", score=["a"]))
    assert found.share == 1.0
    assert "nothing is left" in found.compare()[0]["reason"]


def test_without_simple_rows_a_comparison_goes_on(tmp_path, beyond):
    path = _write(tmp_path / "s.parquet", _columns(5000))
    panel = tm.scan_panel(path, label="y", score=_MODELS, pos_label="yes")
    whole, reduced = tm.compare(panel), tm.compare(tm.without_simple(panel).reduced)
    # One factor for every model: the order stays, the difference grows.
    assert reduced.difference / whole.difference > 1.0


def test_ranks_hidden_in_one_cell_are_refused(tmp_path, beyond):
    rng = np.random.default_rng(0)
    y = rng.random(2000) < 0.3
    columns = {"y": y.astype(int), "a": 1.0 + 1e-9 * rng.random(2000), "b": rng.random(2000)}
    panel = tm.scan_panel(_write(tmp_path / "s.parquet", columns), label="y", score=["a", "b"])
    with panel.open() as rows:
        found = rows.tallies(exact=False)["a"]
    if tm.bound(found, "auroc")[1] - tm.bound(found, "auroc")[0] > 1e-3:
        with pytest.raises(tm.InputError, match="share a cell"):
            tm.compare(panel)


def test_missing_scores_are_not_simple(tmp_path):
    path = tmp_path / "n.csv"
    path.write_text("y,a,b\n0,0.1,0.3\n1,,0.2\n0,0.4,0.1\n1,0.35,0.9\n0,nan,0.2\n", encoding="utf-8")
    with pytest.raises(tm.InputError, match="a: 2 rows have no finite value"):
        tm.without_simple(tm.scan_panel(path, label="y", score=["a", "b"]))


def test_differences_finer_than_cells_are_not_certain(tmp_path, beyond):
    rng = np.random.default_rng(0)
    y = rng.random(4000) < 0.5
    x = rng.integers(0, 2000, 4000) / 2000.0
    columns = {"y": y.astype(int), "a": x + y * 1e-9, "b": x - y * 1e-9}
    panel = tm.scan_panel(_write(tmp_path / "s.parquet", columns), label="y", score=["a", "b"])
    found = tm.compare(panel)
    # Every tie is broken by one model for and by the other against the positives: half a thousandth of the pairs.
    rows = tm.compare(tm.panel(y, {m: columns[m] for m in "ab"}))
    assert found.low <= rows.difference <= found.high
    assert found.verdict == tm.compare(panel, method="delong").verdict == "no difference shown"


def test_a_panel_in_files_is_evaluated_and_compared_by_gini(tmp_path, beyond):
    path = _write(tmp_path / "s.parquet", _columns(3000))
    panel = tm.scan_panel(path, label="y", score=_MODELS, pos_label="yes")
    assert set(tm.evaluate(panel, metrics="auroc", level=None)) == set(_MODELS)
    auroc, gini = (tm.compare(panel, metric=m) for m in ("auroc", "gini"))
    assert gini.difference == pytest.approx(2 * auroc.difference)
    assert gini.p_value == pytest.approx(auroc.p_value)


def test_bad_input(tmp_path, beyond):
    path = _write(tmp_path / "s.parquet", _columns(100))
    with pytest.raises(tm.InputError, match="'nope'"):
        tm.scan_panel(path, label="y", score=["nope"])
    with pytest.raises(tm.InputError, match="must list"):
        tm.scan_panel(path, label="y", score="select")
    with pytest.raises(tm.InputError, match="not both"):
        tm.scan_panel(path, label="y", score=_MODELS, weight="w", count="c")
    with pytest.raises(tm.InputError, match="by auroc"):
        tm.compare(tm.scan_panel(path, label="y", score=_MODELS, pos_label="yes"), metric="f1", threshold=0.5)
