"""Whatever is passed to a public function: an answer or an error of ours, never one from inside."""

import functools
import inspect
import warnings

import numpy as np
import pytest

import tallymark as tm
import tallymark.curves

BAD = {
    "none": None, "number": 3, "negative": -1, "nan": float("nan"), "text": "x", "empty text": "", "empty list": [], "dict": {"a": 1},
    "list": [1, 2], "object": object(), "empty array": np.array([]), "gaps": ["a", None], "function": len, "set": {1, 2}, "bytes": b"x",
    "bool": True, "texts": np.array(["a", "b"]), "ragged": [[1], [2, 3]], "iterator": iter([1]), "huge": 10**400, "huge list": [10**400, 1],
    "complex": np.array([1 + 2j]), "masked": np.ma.masked_array([1.0, 2.0], [True, False]), "module": np,
}  # fmt: skip
ROOMS = (tm, tm.metrics, tm.curves, tm.charts, tm.quantify, tm.intervals, tm.calibration)
FUNCTIONS = {
    function: f"{room.__name__}.{name}"
    for room in ROOMS
    for name in getattr(room, "__all__", dir(room))
    # These draw many samples or pictures whatever they are given.
    if inspect.isfunction(function := getattr(room, name, None))
    and name not in {"report", "by_sample_size", "evaluate"}
}
FUNCTIONS[functools.partial(tm.evaluate, metrics=["auroc"])] = "tallymark.evaluate"
TALLY = tm.tally([0, 1, 0, 1, 1], [0.1, 0.9, 0.4, 0.3, 0.5])


def required(function):
    """Parameters that must be given."""
    return [
        p for p in inspect.signature(function).parameters.values() if p.default is p.empty and p.kind < p.VAR_POSITIONAL
    ]


class Tensor:
    """What a library's array does that cannot be read."""

    def __array__(self, *_, **__):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", FUNCTIONS, ids=FUNCTIONS.values())
def test_wrong_things_are_refused_with_a_sentence(function):
    options = [p for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
    if any(p.default is p.empty for p in options):
        return
    many = max(1, len(required(function)))
    for bad in [*BAD.values(), Tensor()]:
        calls = [((bad,) * many, {}), ((TALLY, *(bad,) * (many - 1)), {})]
        # A flag is true or false of anything, and what a callback raises is its own.
        calls += [
            ((TALLY,), {p.name: bad})
            for p in options
            if many == 1 and not isinstance(p.default, bool) and p.name != "progress"
        ]
        for arguments, named in calls:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    function(*arguments, **named)
                except tm.TallymarkError as error:
                    assert len(str(error)) > 10
