"""Columns that pandas numbers, and integers as labels and names: everywhere what the same columns in words give."""

import inspect

import numpy as np
import pandas as pd
import pytest
from fuzz.working_calls import CALLS, FRAME, P, Q, Y

import tallymark as tm

#: Functions of a dataframe, by their working calls; the tables of tests have their own test below.
OF_FRAMES = [
    function for function, (arguments, named) in CALLS.items() if named and arguments and arguments[0] is FRAME
]
OF_FRAMES += [tm.tally, tm.panel, tm.confusion, tm.class_scores, tm.class_panel]
NAMED = {
    tm.tally: {"label": "y", "score": "p", "by": "kind", "weight": "w", "cluster": "pair", "pos_label": 1},
    tm.panel: {"label": "y", "score": ["p", "q"], "weight": "w", "cluster": "pair"},
    tm.confusion: {"label": "y", "predicted": "hat", "weight": "w"},
    tm.class_scores: {"label": "kind", "score": {"a": "p", "b": "q", "c": "price"}, "weight": "w"},
    tm.class_panel: {"label": "kind", "score": {"a": "p", "b": "q", "c": "price"}, "weight": "w"},
}
NUMBERS = {name: place for place, name in enumerate(FRAME.columns)}
#: Options that name columns, and those whose words are no columns.
NOT_COLUMNS = {"metrics", "method", "formula", "pos_label", "threshold"}


def numbered(value, names):
    """The same names as numbers, in whatever holds them."""
    if isinstance(value, dict):
        return {key: numbered(one, names) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(numbered(one, names) for one in value)
    return names.get(value, value) if isinstance(value, str) else value


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", OF_FRAMES, ids=lambda function: function.__name__)
@pytest.mark.parametrize("kind", [int, np.int64])
def test_numbered_columns_are_columns(function, kind):
    given = NAMED.get(function) or CALLS[function][1]
    names = {name: kind(number) for name, number in NUMBERS.items()}
    frame = FRAME.rename(columns=names)
    options = {name: value if name in NOT_COLUMNS else numbered(value, names) for name, value in given.items()}
    assert options != given
    as_text = FRAME.rename(columns={name: str(number) for name, number in NUMBERS.items()})
    text_options = {name: value if name in NOT_COLUMNS else numbered(value, {n: str(v) for n, v in NUMBERS.items()}) for name, value in given.items()}  # fmt: skip
    assert repr(function(frame, **options)) == repr(function(as_text, **text_options))


def test_every_function_that_takes_a_dataframe_is_tried():
    columns = {"label", "score", "predicted", "period", "price", "judge", "rater", "before"}
    modules = (tm, tm.audits, tm.decisions, tm.monitor, tm.prices, tm.quantify, tm.raters)
    taking = {
        function
        for module in modules
        for name in module.__all__
        if inspect.isfunction(function := getattr(module, name))
        # A scan reads files, whose columns are text; a regression takes arrays.
        and function not in {tm.scan, tm.scan_panel, tm.quantify.regression}
        and columns & set(inspect.signature(function).parameters)
    }
    assert taking - {tm.brier_parts, tm.score_parts, *OF_FRAMES} == set()


def test_columns_of_files_may_be_numbers_too(tmp_path):
    path = tmp_path / "f.parquet"
    FRAME.rename(columns={name: str(number) for name, number in NUMBERS.items()}).to_parquet(path)
    wanted = tm.evaluate(tm.scan(path, label="0", score="1"))
    assert repr(tm.evaluate(tm.scan(path, label=0, score=1))) == repr(wanted)
    assert repr(tm.evaluate(tm.scan([path], label=0, score=[1, 2]))) == repr(
        tm.evaluate(tm.scan(path, label="0", score=["1", "2"]))
    )
    assert repr(tm.compare(tm.scan_panel(path, label=0, score=[1, 2]))) == repr(
        tm.compare(tm.scan_panel(path, label="0", score=["1", "2"]))
    )


def test_a_number_and_its_text_are_not_two_columns():
    frame = pd.DataFrame(np.column_stack((Y, P)), columns=[0, "0"])
    with pytest.raises(tm.InputError, match="unique column names"):
        tm.tally(frame, label=0, score="0")
    with pytest.raises(tm.InputError, match="No column '7'"):
        tm.tally(pd.DataFrame(np.column_stack((Y, P))), label=0, score=7)


def test_integers_are_names_of_models_and_classes():
    by_number = tm.panel(Y, {1: P, 2: Q})
    assert repr(tm.compare(by_number)) == repr(tm.compare(tm.panel(Y, {"1": P, "2": Q})))
    assert repr(tm.evaluate(by_number)) == repr(tm.evaluate(tm.panel(Y, {"1": P, "2": Q})))
    for labels in ([3, 7], [0, 1], [-1, 1], [10, 20]):
        y = np.array(labels)[Y]
        assert (
            tm.evaluate(tm.tally(y, P, pos_label=labels[1]))["auroc"].value
            == tm.evaluate(tm.tally(Y, P))["auroc"].value
        )
