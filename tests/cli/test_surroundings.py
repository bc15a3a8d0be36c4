"""The command line where it may find itself: narrow, without UTF-8, cut off, on hostile names."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from rich.cells import cell_len


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("rows")
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.3
    frame = pd.DataFrame(
        {"y": y.astype(int), "a rather long model name": rng.random(400) / 2 + y / 4, "p": rng.random(400) / 2 + y / 5}
    )
    frame["region"] = np.array(["Île-de-France", "Nordrhein-Westfalen", "東京都"])[rng.integers(0, 3, 400)]
    frame.to_csv(made / "rows.csv", index=False)
    frame.rename(columns={"p": "p\x1b[31mq"}).assign(region="x\x1b]0;owned\x07").to_csv(
        made / "hostile.csv", index=False
    )
    return made


def tallymark(folder, *words, **environment):
    return subprocess.run(
        [sys.executable, "-m", "tallymark", *words], cwd=folder, capture_output=True, check=False,
        env={**os.environ, **environment}, encoding="utf-8", errors="surrogateescape",
    )  # fmt: skip


EVALUATE = ("evaluate", "rows.csv", "--label", "y", "--score", "p")


@pytest.mark.parametrize("columns", [1, 7, 30, 60, 80, 200])
def test_tables_fit_and_keep_names_and_digits(folder, columns):
    found = tallymark(folder, *EVALUATE, "--score", "a rather long model name", "--by", "region", COLUMNS=str(columns))
    assert found.returncode == 0
    assert max(map(cell_len, found.stdout.splitlines())) <= columns if columns > 1 else True
    assert not any(line.endswith(" ") for line in found.stdout.splitlines())
    if columns >= 60:
        for name in ("Île-de-France", "Nordrhein-Westfalen", "東京都", "a rather long model name"):
            assert name in found.stdout
    wide = tallymark(folder, *EVALUATE, "--score", "a rather long model name", "--by", "region", COLUMNS="1000").stdout
    narrow = "".join(found.stdout.split())
    assert all(
        "".join(cell.split()) in narrow
        for line in wide.splitlines()[2:5]
        for cell in line.split("  ")
        if cell and columns >= 60
    )


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
@pytest.mark.parametrize(
    "words", [(*EVALUATE, "--by", "region", "--level", "0"), ("metrics",), ("metrics", "auroc"), ("quantifiers",)]
)
def test_terminals_that_lack_characters(folder, encoding, words):
    found = tallymark(folder, *words, PYTHONIOENCODING=encoding)
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout


def test_names_that_act_in_a_terminal_are_spelled_out(folder):
    found = tallymark(
        folder, "evaluate", "hostile.csv", "--label", "y", "--score", "p\x1b[31mq", "--by", "region", "--level", "0"
    )
    assert found.returncode == 0
    assert "\x1b" not in found.stdout
    assert r"p\x1b[31mq" in found.stdout
    wrong = tallymark(folder, "evaluate", "hostile.csv", "--label", "y", "--score", "\x1b[31m")
    assert wrong.returncode == 2
    assert "\x1b" not in wrong.stderr


def test_standard_output_closed_or_cut_off(folder):
    closed = subprocess.run(
        [sys.executable, "-m", "tallymark", *EVALUATE, "--level", "0"], cwd=folder, stderr=subprocess.PIPE, check=False,
        preexec_fn=lambda: os.close(1),
    )  # fmt: skip
    assert (closed.returncode, closed.stderr) == (0, b"")
    command = [sys.executable, "-m", "tallymark", "metrics"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as cut:
        cut.stdout.read(5)
        cut.stdout.close()
        assert b"Traceback" not in cut.stderr.read()


def test_it_is_a_module_and_h_helps(folder):
    assert tallymark(folder, "-h").stdout.startswith("Usage")
    assert "--label" in tallymark(folder, "evaluate", "-h").stdout


def test_the_input_is_never_the_output(folder):
    before = (folder / "rows.csv").read_bytes()
    for words in (
        (*EVALUATE, "--report", "rows.csv"),
        ("calibrate", "rows.csv", "rows.csv", "--label", "y", "--score", "p", "--out", "rows.csv"),
    ):
        found = tallymark(folder, *words)
        assert found.returncode == 2
        assert "files to be read" in found.stderr
    assert (folder / "rows.csv").read_bytes() == before
