"""A disk that fills while the engine spills: a clear error, nothing left behind."""

import contextlib
import subprocess
import sys

import duckdb
import pytest

import tallymark as tm

ROWS, GROUPS = 1_000_000, 30
OPTIONS = {"label": "y", "score": "p", "by": "g", "exact": False, "memory_limit": "60MB", "threads": 2}


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Far more cells than the memory limit holds."""
    path = tmp_path_factory.mktemp("spill") / "many.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            f"""COPY (SELECT (hash(i) % 5 = 0)::INTEGER AS y, hash(i + 1)::DOUBLE / 18446744073709551616.0 AS p,
                      hash(i + 2) % {GROUPS} AS g FROM range({ROWS}) t(i)) TO '{path}' (FORMAT parquet)"""
        )
    return path


@pytest.fixture
def spill(tmp_path, monkeypatch):
    folder = tmp_path / "spill"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def test_spilling_is_what_happens_here(many, spill):
    seen = []

    def look(_):
        for file in spill.rglob("*"):
            with contextlib.suppress(FileNotFoundError):  # The engine deletes while we look.
                seen.append(file.stat().st_size if file.is_file() else 0)

    tm.scan(many, progress=look, **OPTIONS)
    assert max(seen) > 0
    assert not list(spill.iterdir())


@pytest.mark.parametrize("progress", [None, lambda _: None])
def test_no_more_room_to_spill(many, spill, monkeypatch, progress):
    connect = duckdb.connect

    def small(*arguments, **options):
        connection = connect(*arguments, **options)
        connection.execute("SET max_temp_directory_size = '5MB'")
        return connection

    monkeypatch.setattr(duckdb, "connect", small)
    with pytest.raises(tm.InputError, match="room to spill.*Raise memory_limit=, or set TMPDIR"):
        tm.scan(many, progress=progress, **OPTIONS)
    assert not list(spill.iterdir())
    # The next question is answered as if nothing had happened.
    assert tm.scan(many, label="y", score="p", exact=False).n == ROWS


_CHILD = """
import resource, signal, sys, tempfile
tempfile.tempdir = sys.argv[2]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
import tallymark as tm
try:
    tm.scan(sys.argv[1], label="y", score="p", by="g", exact=False, memory_limit="60MB", threads=2)
except tm.InputError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are Unix's")
def test_a_write_that_fails(many, spill):
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(many), str(spill)], capture_output=True, text=True, check=True
    )
    assert "Cannot spill to disk" in done.stdout
    assert "TMPDIR" in done.stdout
    assert not list(spill.iterdir())
