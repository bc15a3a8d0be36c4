"""Guards are values: results carry them, and public functions warn once, at the caller's line."""

import inspect
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tallymark as tm
from tallymark.notes import GUARDS, GuardWarning, Note, emit


def caught(call):
    """What a call warns of, and the line below it."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        result = call()
    return result, [w for w in seen if isinstance(w.message, GuardWarning)]


def inverted(seed, n=200):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return y, rng.normal(-2.0 * y)


def calls():
    y, s = inverted(0)
    few = ([0, 0, 0, 1, 1], [0.1, 0.3, 0.2, 0.4, 0.9])
    return {
        "tally": lambda: tm.tally(y, (s > 0).astype(float)),
        "evaluate": lambda: tm.evaluate(tm.tally(*few)),
        "evaluate of groups": lambda: tm.evaluate(tm.panel(few[0], {"a": few[1], "b": few[1]})),
        "compare": lambda: tm.compare(tm.panel(few[0], {"a": few[1], "b": few[1][::-1]})),
        "at": lambda: tm.tally([0, 1, 0, 1], [0.35, 0.350001, 0.350002, 0.8]).quantise().at(0.3500015),
        "estimate": lambda: tm.quantify.estimate("ms", tm.tally(y, s), tm.tally(scores=s)),
        "mixture_fit": lambda: tm.quantify.mixture_fit(tm.tally(y, s), tm.tally(scores=np.linspace(-9, 9, 300))),
        "temperature": lambda: tm.calibration.temperature(tm.tally(y, 1 / (1 + np.exp(-s)))),
    }


@pytest.mark.parametrize("name", calls())
def test_the_warning_has_the_callers_line_and_comes_once(name):
    call = calls()[name]
    _, seen = caught(call)
    assert seen
    assert {w.filename for w in seen} == {__file__}
    assert inspect.getsourcelines(calls)[1] <= seen[0].lineno <= inspect.getsourcelines(calls)[1] + 15
    said = [(w.message.code, w.message.message) for w in seen]
    assert len(set(said)) == len(said)


@pytest.mark.parametrize(
    "name", ["evaluate", "evaluate of groups", "compare", "estimate", "mixture_fit", "temperature"]
)
def test_results_carry_what_was_warned_of(name):
    result, seen = caught(calls()[name])
    assert {(note.code, note.message) for note in result.warnings} == {
        (w.message.code, w.message.message) for w in seen
    }


def test_threads_keep_their_notes_apart():
    """Each result has its own notes, whatever runs beside it."""
    samples = {"inverted": inverted(1), "few": ([0, 0, 0, 1, 1], [0.1, 0.3, 0.2, 0.4, 0.9])}

    def work(number):
        kind = list(samples)[number % 2]
        return kind, {note.code for note in tm.evaluate(tm.tally(*samples[kind]), metrics=["auroc"]).warnings}

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(64)))
    assert all(codes == {"inverted": {"TM103"}, "few": {"TM107"}}[kind] for kind, codes in found)


def test_strict_raises_the_first_note():
    with pytest.raises(tm.GuardError, match="TM107"):
        tm.evaluate(tm.tally([0, 0, 0, 1, 1], [0.1, 0.3, 0.2, 0.4, 0.9]), strict=True)
    with pytest.raises(tm.GuardError, match="TM102: a"):
        emit([Note("TM102", "a"), Note("TM103", "b")], strict=True)


def test_a_note_has_a_declared_code():
    with pytest.raises(ValueError, match="not a declared guard"):
        Note("TM999", "what")
    assert all(guard.means and guard.do for guard in GUARDS.values())
