"""What is counted as negative beside a positive label that is named: told with counts, or refused."""

import json
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

import tallymark as tm
from tallymark.cli.app import main

LABELS = ["J"] * 6 + ["N"] * 5 + ["X"] * 3
SCORES = np.linspace(0.9, 0.1, len(LABELS))


def with_label(label):
    return [*LABELS[:-2], label, label]


def frame_of(labels):
    return pd.DataFrame({"y": labels, "p": SCORES, "q": SCORES**2})


def saved(path, labels):
    frame_of(labels).to_parquet(path)
    return path


#: Every way to name a positive label among others; each takes labels, a file's place and the positive label.
DOORS = {
    "tally of arrays": lambda labels, path, one: tm.tally(labels, SCORES, pos_label=one),
    "tally of a frame": lambda labels, path, one: tm.tally(frame_of(labels), label="y", score="p", pos_label=one),
    "panel": lambda labels, path, one: tm.panel(labels, {"a": SCORES, "b": SCORES**2}, pos_label=one),
    "scan": lambda labels, path, one: tm.scan(saved(path, labels), label="y", score="p", pos_label=one),
    "scan into cells": lambda labels, path, one: tm.scan(
        saved(path, labels), label="y", score="p", pos_label=one, exact=False
    ),
    "scan_panel": lambda labels, path, one: tm.scan_panel(
        saved(path, labels), label="y", score=["p", "q"], pos_label=one
    ).tallies(),
    "audit": lambda labels, path, one: tm.audits.from_audit(frame_of(labels), label="y", score="p", pos_label=one),
}


@pytest.mark.parametrize("door", DOORS)
def test_several_negative_values_are_told_with_their_rows(door, tmp_path):
    with pytest.warns(tm.GuardWarning, match=r"'J' is positive; counted as negative: 'N' \(5 rows\), 'X' \(3 rows\)"):
        DOORS[door](LABELS, tmp_path / "d.parquet", "J")


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("other", ["j", " J", "J\u200b", "j "])
def test_another_spelling_of_the_positive_label_is_refused(door, other, tmp_path):
    with pytest.raises(tm.InputError, match=r"\(2 rows\) beside the positive label 'J'"):
        DOORS[door](with_label(other), tmp_path / "d.parquet", "J")


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("other", ["onbekend", "?", "n/a", "Unknown"])
def test_words_for_a_missing_value_are_asked_about(door, other, tmp_path):
    with pytest.raises(tm.InputError, match=r"\(2 rows\), which looks like a missing value"):
        DOORS[door](with_label(other), tmp_path / "d.parquet", "J")


def test_equal_numbers_are_another_spelling():
    with pytest.raises(tm.InputError, match="'1.0' \\(1 row\\) beside the positive label '1'"):
        tm.tally(["0", "1", "1.0"], [0.1, 0.2, 0.3], pos_label="1")


def test_a_positive_label_that_is_none_of_several_is_refused():
    frame = pd.DataFrame({"y": ["yes", "no"] * 60, "p": np.linspace(0.1, 0.9, 120), "t": np.repeat(np.arange(6), 20)})
    with pytest.raises(tm.InputError, match="pos_label='banana' does not occur"):
        tm.monitor.watch(frame, score="p", label="y", period="t", pos_label="banana")


def test_accents_are_another_spelling():
    with pytest.raises(tm.InputError, match="'vérifié' \\(1 row\\) beside the positive label 'verifie'"):
        tm.tally(["verifie", "vérifié", "non"], [0.1, 0.2, 0.3], pos_label="verifie")


def test_two_values_are_two_classes_without_a_word():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tm.tally(["unknown", "known"] * 3, SCORES[:6], pos_label="known").labels == ("unknown", "known")


#: Commands that take --pos-label, with what else they need.
COMMANDS = {
    "evaluate": ["--score", "p"],
    "compare": ["--score", "p,q"],
    "thresholds": ["--score", "p"],
    "costs": ["--score", "p", "--cost-fp", "1", "--cost-fn", "2"],
    "audit estimate": ["--score", "p"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_say_what_was_counted_as_negative(command, tmp_path, monkeypatch, capsys):
    path = tmp_path / "d.csv"
    frame_of(LABELS).to_csv(path, index=False)
    arguments = [*command.split(), str(path), "--label", "y", "--pos-label", "J", *COMMANDS[command], "--json"]
    monkeypatch.setattr(sys, "argv", ["tallymark", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    out = capsys.readouterr().out
    assert end.value.code == 0
    told = [note["message"] for note in json.loads(out)["warnings"] if note["code"] == "TM121"]
    assert told == ["in y 'J' is positive; counted as negative: 'N' (5 rows), 'X' (3 rows)."]
    frame_of(with_label("j")).to_csv(path, index=False)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert "'j' (2 rows) beside the positive label 'J'" in capsys.readouterr().err
