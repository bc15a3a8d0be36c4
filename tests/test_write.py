"""Only the file that was named is written, all of it or nothing."""

import os
import subprocess
import sys

import pytest

import tallymark as tm
from tallymark._write import replacing, require_writable


def names(folder):
    return sorted(one.name for one in folder.iterdir())


def test_the_file_takes_its_name_at_the_end(tmp_path):
    target = tmp_path / "out.txt"
    target.write_text("old")
    with replacing(target) as temporary:
        temporary.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert names(tmp_path) == ["out.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, tm.InputError])
def test_whatever_fails_leaves_the_old_file(tmp_path, error):
    target = tmp_path / "out.txt"
    target.write_text("old")
    with pytest.raises(error), replacing(target) as temporary:
        temporary.write_text("half")
        raise error("x")
    assert target.read_text() == "old"
    assert names(tmp_path) == ["out.txt"]


def test_a_neighbour_with_a_likely_name_is_left_alone(tmp_path):
    for name in ("keep.html.unfinished", "keep.html.tmp", ".keep.html", "keep.html~"):
        (tmp_path / name).write_text("mine")
    tm.report(tm.tally([0, 1] * 30, [i / 60 for i in range(60)]), tmp_path / "keep.html")
    for name in ("keep.html.unfinished", "keep.html.tmp", ".keep.html", "keep.html~"):
        assert (tmp_path / name).read_text() == "mine"


def test_what_must_not_be_written(tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("y,p\n0,0.1\n")
    (tmp_path / "link.html").symlink_to(rows)
    os.mkfifo(tmp_path / "pipe")
    for path, options, message in (
        ("", {}, "a folder"), (tmp_path, {}, "a folder"), (tmp_path / "no" / "x", {}, "no folder"), (tmp_path / "pipe", {}, "a device or a pipe"),
        ("/dev/null", {}, "a device or a pipe"), (rows, {"inputs": [rows]}, "files to be read"), (tmp_path / "link.html", {"inputs": [rows]}, "files to be read"),
        (rows, {"over": (b"<!doctype",)}, "holds something else"), ("x" * 300, {}, "Cannot write"), ("a\0b", {}, "Cannot write"),
    ):  # fmt: skip
        with pytest.raises(tm.InputError, match=message):
            require_writable(path, **options)
    assert rows.read_text() == "y,p\n0,0.1\n"


def test_a_long_name_that_the_disk_takes_is_taken(tmp_path):
    target = tmp_path / ("n" * 250)
    with replacing(target) as temporary:
        temporary.write_text("new")
    assert target.read_text() == "new"


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with replacing(tmp_path / "link") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_full_disk_is_a_sentence(tmp_path):
    code = (
        "import resource, sys, numpy as np, tallymark as tm; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000));"
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "t = tm.tally(np.arange(9000) % 2, np.arange(9000.0));"
        "t.save(sys.argv[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "x.tally")], capture_output=True, text=True, check=False
    )
    assert "InputError: Cannot write" in done.stderr
    assert names(tmp_path) == []


def test_two_runs_on_one_output_leave_one_whole_file(tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("y,p\n" + "0,0.1\n1,0.8\n0,0.4\n1,0.6\n" * 500)
    command = [
        sys.executable,
        "-m",
        "tallymark",
        "calibrate",
        str(rows),
        str(rows),
        "--label",
        "y",
        "--score",
        "p",
        "--method",
        "platt",
        "--out",
        str(tmp_path / "out.csv"),
    ]
    runs = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(3)]
    assert [run.wait() for run in runs] == [0, 0, 0]
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 2_001
    assert names(tmp_path) == ["out.csv", "rows.csv"]
