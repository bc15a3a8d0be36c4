"""Rows are data: what every result exports has all rows, all digits, and one kind of value in each column."""

import csv
import io
import math
import warnings

import numpy as np
import pytest
from fuzz.working_calls import CALLS, FRAME, TALLY

import tallymark as tm
from tallymark._display import Shown, plain

#: Functions of a tally alone that return a curve or another table.
OF_TALLY = (
    tm.roc, tm.pr, tm.det, tm.gain, tm.predictive_roc, tm.positive_tradeoff, tm.cost_curve, tm.brier_curve,
    tm.decision_curve, tm.calibration_curve, tm.score_histogram, tm.mann_whitney, tm.brier_parts, tm.score_parts,
)  # fmt: skip


def results():
    """A result of every public function that returns a table, by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        calls = {function.__name__: (function, *call) for function, call in CALLS.items()}
        calls |= {function.__name__: (function, (TALLY,), {}) for function in OF_TALLY}
        grouped = tm.tally(FRAME, label="y", score=["p", "q"], by=["kind", "w"])
        calls["evaluate by group"] = (tm.evaluate, (grouped,), {"metrics": ["auroc", "f1"]})
        made = {name: function(*arguments, **options) for name, (function, arguments, options) in calls.items()}
    return {name: one for name, one in made.items() if isinstance(one, Shown) and type(one).rows is not Shown.rows}


RESULTS = results()


def is_number(value):
    return isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)


def same(written, value):
    if value is None or (is_number(value) and math.isnan(value)):
        return written in {"", "nan"}
    return float(written) == value if is_number(value) else True


def test_most_results_are_here():
    assert len({type(one) for one in RESULTS.values()}) > 40


@pytest.mark.parametrize("name", RESULTS)
def test_csv_has_every_row_and_every_digit(name):
    result = RESULTS[name]
    rows = list(csv.DictReader(io.StringIO(result.to_csv())))
    assert len(rows) == len(result.rows())
    for written, row in zip(rows, result.rows(), strict=True):
        assert all(same(written[str(column)], value) for column, value in row.items()), (written, row)


@pytest.mark.parametrize("name", RESULTS)
def test_a_column_holds_numbers_or_texts_and_never_both(name):
    """A reason stands in a column of its own, never in a number's."""
    rows = RESULTS[name].rows()
    for column in {column for row in rows for column in row}:
        kinds = {is_number(row[column]) for row in rows if row.get(column) is not None}
        assert len(kinds) <= 1, column


@pytest.mark.parametrize("name", RESULTS)
def test_rows_are_plain_values(name):
    """A cell is a number, a text, a bool, a date or nothing: no list, no mapping, no rendering of several numbers."""
    for row in RESULTS[name].rows():
        assert all(not isinstance(plain(value), list | dict) for value in row.values()), row


@pytest.mark.parametrize("name", RESULTS)
def test_a_frame_has_the_same_rows(name):
    result = RESULTS[name]
    assert len(result.to_frame()) == len(result.rows())


def test_two_columns_of_groups_are_two_columns():
    assert {"model", "kind", "w"} <= set(RESULTS["evaluate by group"].rows()[0])
