"""Whatever is passed to a public function: an answer or an error of ours, never one from inside."""

import functools
import inspect
import warnings

import numpy as np
import pytest
from fuzz.working_calls import CALLS, LEFT_OUT

import tallymark as tm
import tallymark.curves

BAD = {
    "none": None, "number": 3, "negative": -1, "nan": float("nan"), "text": "x", "empty text": "", "empty list": [], "dict": {"a": 1},
    "list": [1, 2], "object": object(), "empty array": np.array([]), "gaps": ["a", None], "function": len, "set": {1, 2}, "bytes": b"x",
    "bool": True, "texts": np.array(["a", "b"]), "ragged": [[1], [2, 3]], "iterator": iter([1]), "huge": 10**400, "huge list": [10**400, 1],
    "complex": np.array([1 + 2j]), "masked": np.ma.masked_array([1.0, 2.0], [True, False]), "module": np,
}  # fmt: skip
MODULES = (tm, tm.metrics, tm.curves, tm.charts, tm.quantify, tm.intervals, tm.calibration)
FUNCTIONS = {
    function: f"{module.__name__}.{name}"
    for module in MODULES
    for name in getattr(module, "__all__", dir(module))
    # These draw many samples or pictures whatever they are given.
    if inspect.isfunction(function := getattr(module, name, None))
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


#: Of the wrong things those that pass the most checks before they fail.
HARD = [-1, float("nan"), "x", {"a": 1}, ["a", None], [[1], [2, 3]], 10**400, 5]
PUBLIC = {
    function: f"{module.__name__}.{name}"
    for module in (
        *MODULES,
        tm.learners,
        tm.rare,
        tm.study,
        tm.audits,
        tm.raters,
        tm.decisions,
        tm.monitor,
        tm.prices,
        tm.extend,
        tm.scorers,
    )
    for name in getattr(module, "__all__", [])
    if inspect.isfunction(function := getattr(module, name)) and function not in LEFT_OUT
    # Charts and metrics take a result or a tally alone, and are called with wrong ones above.
    if module not in {tm.charts, tm.metrics}
}


def working(function):
    """A call that works, by parameter."""
    arguments, named = CALLS.get(function, ((TALLY,), {}))
    bound = inspect.signature(function).bind(*arguments, **named)
    return dict(bound.arguments)


def called(function, arguments):
    given = inspect.signature(function).bind_partial()
    given.arguments.update(arguments)
    return function(*given.args, **given.kwargs)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", PUBLIC, ids=PUBLIC.values())
def test_one_wrong_argument_among_right_ones_is_refused_with_a_sentence(function, tmp_path, monkeypatch):
    # "x" may be the name of a file to write.
    monkeypatch.chdir(tmp_path)
    right = working(function)
    called(function, right)
    for one in inspect.signature(function).parameters.values():
        if isinstance(one.default, bool) or one.kind in {one.VAR_KEYWORD, one.VAR_POSITIONAL}:
            continue
        for bad in HARD:
            try:
                called(function, right | {one.name: bad})
            except tm.TallymarkError as error:
                assert len(str(error)) > 10, one.name


@pytest.mark.parametrize(
    "call",
    [
        lambda: tm.scan([1], label="y", score="p"),
        lambda: tm.scan([None], label="y", score="p"),
        lambda: tm.scan("none.csv", label="y", score="p", progress=5),
        lambda: tm.evaluate(TALLY, progress=5),
        lambda: tm.learners.detectors("mod").scores([[1.0], [2.0], [1e308], [-1e308]]),
        lambda: tm.learners.detectors("mod").scores([[1.0], [2.0], [3.0]], progress=5),
        lambda: tm.class_scores(None, [[0.5, 0.5]], classes=[0, 1]),
        lambda: tm.study.wilcoxon({"a": [1, 2, 3], "b": [2, 4, 7]}, level=95),
        lambda: tm.study.holm([0.1, 0.2], level=-1),
    ],
)
def test_what_was_once_raw(call):
    with pytest.raises(tm.InputError):
        call()


def test_class_scores_are_taken_where_their_moments_are():
    y, scores = ["a", "b", "c"] * 10, np.random.default_rng(0).dirichlet(np.ones(3), 30)
    both = [make(y, scores, classes=["a", "b", "c"]) for make in (tm.moments, tm.class_scores)]
    for metric in (tm.metrics.spcc_one_vs_one, tm.metrics.spcc_one_vs_rest):
        assert np.array_equal(*map(metric, both))


def test_a_matrix_as_a_target_is_told_of_class_panels():
    with pytest.raises(tm.InputError, match="class_panel"):
        tm.quantify.estimate("ac", TALLY, np.ones((4, 3)) / 3)
