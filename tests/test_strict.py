"""``strict`` holds for every note, and rows that are left out are noted; in the library and on the command line."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from typer.testing import CliRunner

import tallymark as tm
from command_tree import every_command
from tallymark.cli.app import app
from tallymark.notes import GuardWarning

N = 80
Y = np.arange(N) % 2
P = np.round(np.linspace(0.05, 0.6, N) + 0.2 * Y, 3)
FRAME = pd.DataFrame({
    "y": Y, "p": P, "q": P[::-1], "hat": (P > 0.4).astype(int), "m": np.where(np.arange(N) % 8 == 0, np.nan, P),
    "hm": np.where(np.arange(N) % 8 == 0, None, (P > 0.4).astype(int)), "k": np.where(Y == 1, "a", np.where(np.arange(N) % 4, "b", "c")),
})  # fmt: skip
LEFT_OUT = f"10 of {N} rows are left out"


@pytest.fixture
def rows(tmp_path):
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    return str(tmp_path / "rows.csv")


def noted(function, *arguments, **named):
    with pytest.warns(GuardWarning) as told:
        function(*arguments, **named)
    return [str(one.message) for one in told]


READERS = {
    "frame": lambda rows, **o: tm.tally(FRAME, **o),
    "lazy frame": lambda rows, **o: tm.tally(pl.from_pandas(FRAME[["y", "m", "p", "k"]]).lazy(), **o),
    "file": tm.scan,
}


@pytest.mark.parametrize("kind", READERS)
def test_rows_left_out_are_counted(kind, rows):
    told = noted(READERS[kind], rows, label="y", score="m", drop_missing=True)
    assert [text for text in told if LEFT_OUT in text and "TM124" in text]


@pytest.mark.parametrize("kind", READERS)
def test_leaving_out_rows_that_was_asked_for_is_no_error(kind, rows):
    with pytest.warns(GuardWarning, match=LEFT_OUT):
        made = READERS[kind](rows, label="y", score="m", drop_missing=True, strict=True)
    assert made.n == N - 10


def test_a_panel_of_files_notes_its_rows_once(rows):
    with pytest.warns(GuardWarning) as told:
        panel = tm.scan_panel(rows, label="y", score=["p", "m"], drop_missing=True)
        tm.compare(panel)
    assert sum("TM124" in str(one.message) for one in told) == 1


STRICT_READERS = {
    **READERS,
    "arrays": lambda rows, **o: tm.tally(FRAME["k"].to_numpy(), P, pos_label=o["pos_label"], strict=o["strict"]),
    "audit_estimate": lambda rows, **o: tm.audits.estimate(FRAME, **o),
    "from_audit": lambda rows, **o: tm.quantify.from_audit(FRAME, **o),
}


@pytest.mark.parametrize("kind", STRICT_READERS)
def test_labels_counted_as_negative_are_an_error_of_strict_callers(kind, rows):
    options = {"label": "k", "score": "p", "pos_label": "a"}
    assert any("TM121" in text for text in noted(STRICT_READERS[kind], rows, **options, strict=False))
    with pytest.raises(tm.errors.GuardError, match="TM121"):
        STRICT_READERS[kind](rows, **options, strict=True)


COMMANDS = dict(every_command())
LABELLED = [name for name, command in COMMANDS.items() if any(option.name == "label" for option in command.params)]


def test_most_commands_read_labels():
    assert len(LABELLED) > 12


@pytest.mark.parametrize("name", LABELLED, ids=" ".join)
def test_every_command_that_reads_labels_can_be_strict(name):
    assert "strict" in {parameter.name for parameter in COMMANDS[name].params}


OF_LABELS = {
    "evaluate": ["--score", "p"], "compare": ["--score", "p,q"], "thresholds": ["--score", "p"], "by-size": ["--score", "p", "--size", "40"],
    "mann-whitney": ["--score", "p"],
}  # fmt: skip


@pytest.mark.parametrize("name", OF_LABELS)
def test_a_strict_command_refuses_labels_counted_as_negative(name, rows):
    typed = [name, rows, "--label", "k", "--pos-label", "a", *OF_LABELS[name]]
    assert CliRunner().invoke(app, typed).exit_code == 0
    refused = CliRunner().invoke(app, [*typed, "--strict"])
    assert isinstance(refused.exception, tm.errors.GuardError)
    assert "TM121" in str(refused.exception)


@pytest.mark.parametrize(("name", "columns"), [("evaluate", "hm"), ("compare", "hm,hat")])
def test_predicted_classes_can_be_filtered_as_scores_can(name, columns, rows, tmp_path):
    kept = FRAME[(np.arange(N) % 8 != 0) & (FRAME["p"] > 0.2)]
    kept.astype({"hm": int}).to_csv(tmp_path / "kept.csv", index=False)
    asked = ["--label", "y", "--predicted", columns, "--json"]
    plain = CliRunner().invoke(app, [name, str(tmp_path / "kept.csv"), *asked])
    with pytest.warns(GuardWarning, match="TM124"):
        filtered = CliRunner().invoke(app, [name, rows, *asked, "--drop-missing", "--where", "p > 0.2"])
    one, two = (json.loads(result.stdout) for result in (plain, filtered))
    assert one | {"warnings": []} == two | {"warnings": []}
