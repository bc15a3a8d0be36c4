"""Results as LaTeX, Markdown and CSV."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from tallymark._tables import comma_separated, latex, markdown


def result():
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.4
    return tm.evaluate(tm.tally(y, rng.normal(y)), metrics=["auroc", "f1", "label_bias"])


def test_every_result_writes_itself():
    found = result()
    for made in (found, tm.compare(tm.panel([0, 1] * 20, {"a": range(40), "b": range(40, 0, -1)}))):
        lines = made.to_markdown().splitlines()
        assert len(lines) == len(made.rows()) + 2
        assert len({line.count("|") for line in lines}) == 1
        assert made.to_latex("A & B").count(r" \\") == len(made.rows()) + 1
        assert len(list(csv.reader(io.StringIO(made.to_csv())))) == len(made.rows()) + 1
    assert r"\caption{A \& B}" in found.to_latex("A & B")
    assert "label\\_bias" in found.to_latex()


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_csv_keeps_every_digit(value):
    text = comma_separated({"x": [value, np.float64(value)]})
    assert [float(line) for line in text.splitlines()[1:]] == [value, value]


@pytest.mark.parametrize("name", ["=1+1", "+x", "-x", "@x", "a,b", 'say "hi"', "two\nlines"])
def test_names_are_inert(name):
    text = comma_separated({name: ["=HYPERLINK(1)", name]})
    rows = list(csv.reader(io.StringIO(text)))
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)
    assert "\n" not in markdown({"a": [name]}, str).splitlines()[2]
    assert latex({"a_b": ["50 %"]}, str).count(r"\_") == 1


def test_a_minus_is_a_minus():
    assert "−0.5" in markdown({"x": [-0.5]}, str)
