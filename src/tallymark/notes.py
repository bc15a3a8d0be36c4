"""Guards: diagnostics of likely mistakes in the data, as notes that public functions return and warn of once."""

from __future__ import annotations

import contextlib
import functools
import html
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec, Self, TypeVar

from tallymark._text import visible
from tallymark.errors import GuardError

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Guard:
    """A likely mistake that is checked for: what it means and what to do."""

    means: str
    do: str
    #: Whether it concerns how the rows were read, which no result records; the command line adds such notes to its
    #: answer.
    of_input: bool = False
    #: Whether strict callers want an error; not where it says what an option of theirs did.
    fatal: bool = True


#: Every guard by its stable code; the table in the docs is made from it.
GUARDS = {
    "TM101": Guard(
        "the scores take at most two values, like predicted labels",
        "pass the scores behind them, or use `tm.confusion`",
    ),
    "TM102": Guard("a metric of probabilities was requested for scores outside [0, 1]", "calibrate the scores first"),
    "TM103": Guard("AUROC is far below ½", "check the direction of the scores and `pos_label`"),
    "TM104": Guard(
        "a tenth of the rows or more share one score", "remember that ties count ½ and no threshold separates them"
    ),
    "TM105": Guard("one class's scores are strongly skewed", "read sPCC and d′ beside AUROC, or transform the scores"),
    "TM106": Guard("a threshold inside a cell of a quantised tally was moved", "name it in `quantise(thresholds=[…])`"),
    "TM107": Guard("fewer than ten rows of a class, by count or by effective size", "collect more"),
    "TM108": Guard(
        "scores to be counted lie outside the labelled ones' range",
        "check that both come from the same model and column",
    ),
    "TM109": Guard(
        "the scores to be counted are no mixture of the two classes' scores",
        "label some of those rows before you publish a count",
    ),
    "TM110": Guard(
        "a quantifier that takes scores for calibrated probabilities was given others, wrong in slope or in level",
        '`calibration="bcts"`, `training_prevalence=`, or a method for any scores',
    ),
    "TM111": Guard(
        "at the stated prevalence the top of the list rests on few negatives",
        "gather the negatives it names, or read AUROC",
    ),
    "TM112": Guard(
        "fewer rows than a metric's interval needs for its nominal coverage, or a test that errs too often",
        "read its limits as rough",
    ),
    "TM113": Guard(
        "a few rows, or very uneven weights or values, carry an interval",
        "read AUROC, transform the scores or values, or trim the weights",
    ),
    "TM114": Guard("the number of neighbours exceeds the rows of the smallest class", "take fewer neighbours"),
    "TM115": Guard(
        "a structured SVM stopped before it converged, or its optimum predicts one class for every row",
        "raise `max_iter`, or raise `C` and scale the attributes",
    ),
    "TM116": Guard(
        "texts without information: without a known word, or shorter than the minimum length",
        "check them by hand; they are counted like an empty text, or left out where the note says so",
    ),
    "TM117": Guard(
        "an audit found no positive row, or no negative one",
        "read its one limit, or check more rows where scores are high",
    ),
    "TM118": Guard(
        "an audit and a quantifier count differently by more than chance explains",
        "believe the audit: the classes' scores have changed since the validation sample",
    ),
    "TM119": Guard("a class has rows in fewer than ten clusters", "gather rows of more clusters; limits are rough"),
    "TM120": Guard(
        "rows with the same score and label repeat so often that they are hardly independent",
        "say which rows belong together with `cluster=`",
    ),
    "TM121": Guard(
        "with a positive label named, several other values were counted as negative",
        "check that each of them is; recode or leave out rows whose class is not known",
        of_input=True,
    ),
    "TM122": Guard("a threshold above 1 on probabilities", "write it as a share: 0.5, not 50"),
    "TM123": Guard(
        "the scores of a file's labelled rows differ from its other rows' by more than chance and class sizes explain",
        "say how they were drawn: `tallymark audit estimate --inclusion` or `--stratum`",
    ),
    "TM124": Guard(
        "`drop_missing` left out rows with a missing value",
        "check that values are not missing more often in one class than in the other",
        of_input=True,
        fatal=False,
    ),
    "TM125": Guard(
        "rows that an audit planned were not checked",
        "check them too: where rows were left because they are hard, the estimate is of the easy ones",
    ),
    "TM126": Guard(
        "the rows of a period that is watched move together, or too few labelled periods tell whether they do",
        "take twenty periods or more as the reference, and check an alarm of moved classes by labels",
    ),
    "TM127": Guard(
        "raters agree on most items, yet kappa is low because most ratings are of one class",
        "read the agreement on each class, and `gwet_ac` beside kappa",
        fatal=False,
    ),
    "TM128": Guard(
        "people checked a larger share of the rows with one prediction or verdict than with another",
        "say how the rows to check were drawn: `stratum=` or `inclusion=`",
    ),
    "TM129": Guard(
        "an audit got the checked rows alone, so that what they are a sample of is not known",
        "pass every row of the target, or `size=` or `inclusion=`",
    ),
    "TM130": Guard(
        "a file's encoding, numbers, sheet or value labels were recognised from what is in it",
        "check the sentence; state what is otherwise by `tm.data_file` or `--encoding`, `--decimal`, `--sheet`",
        of_input=True,
        fatal=False,
    ),
    "TM131": Guard(
        "scores were put into bins so that no count is small (`private=`)",
        "read the numbers as those of the bins; merge groups that are named as left out",
        of_input=True,
        fatal=False,
    ),
}


@dataclass(frozen=True)
class Note:
    """A guard that fired: its stable code and what to do."""

    code: str
    message: str

    def __post_init__(self) -> None:
        if self.code not in GUARDS:
            raise ValueError(f"{self.code} is not a declared guard")


class GuardWarning(UserWarning):
    """A guard that fired; `code` is stable, the message says what to do."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message

    def __reduce__(self) -> tuple[type[Self], tuple[str, str]]:
        # An exception is otherwise unpickled from the text it shows.
        return type(self), (self.code, self.message)


_INPUT_NOTES: ContextVar[list[Note] | None] = ContextVar("input_notes", default=None)


@contextmanager
def recording_input_notes() -> Iterator[None]:
    """A context in which notes of how rows were read are kept for :func:`input_notes`."""
    token = _INPUT_NOTES.set([])
    try:
        yield
    finally:
        _INPUT_NOTES.reset(token)


def input_notes() -> tuple[Note, ...]:
    """The notes of the input so far, each once."""
    return tuple(dict.fromkeys(_INPUT_NOTES.get() or ()))


_STRICT: ContextVar[bool] = ContextVar("strict", default=False)


@contextmanager
def strictly(*, strict: bool) -> Iterator[None]:
    """Within it every note is an error, or (False) none is unless a function asks for it."""
    token = _STRICT.set(strict)
    try:
        yield
    finally:
        _STRICT.reset(token)


def honours_strict(function: Callable[P, R]) -> Callable[P, R]:
    """A function whose option ``strict`` also holds for what it reads and calls."""

    @functools.wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        with strictly(strict=bool(kwargs.get("strict")) or _STRICT.get()):
            return function(*args, **kwargs)

    return wrapped


_PASSED_ON: ContextVar[bool] = ContextVar("passed_on", default=False)


@contextmanager
def passing_on_notes() -> Iterator[None]:
    """Within it no note is warned of: for functions that call public ones and pass on the notes of their results."""
    token = _PASSED_ON.set(True)
    try:
        yield
    finally:
        _PASSED_ON.reset(token)


def emit(notes: Iterable[Note], *, strict: bool = False) -> None:
    """Warn of each note once, with the line of the caller's own code; raise at the first where the caller is strict."""
    if _PASSED_ON.get():
        return
    show = _notebook_display()
    with warnings.catch_warnings(record=True) if show else nullcontext() as caught:
        _warn(notes, strict=strict)
    if show and caught:
        show(_NoteBox([str(one.message) for one in caught]))


def _warn(notes: Iterable[Note], *, strict: bool) -> None:
    for note in dict.fromkeys(notes):
        if (strict or _STRICT.get()) and GUARDS[note.code].fatal:
            raise GuardError(f"{note.code}: {note.message}")
        if GUARDS[note.code].of_input and (kept := _INPUT_NOTES.get()) is not None:
            kept.append(note)
        warnings.warn(GuardWarning(note.code, note.message), stacklevel=_level_of_the_user())


def _notebook_display() -> Callable[[object], None] | None:
    """How a running notebook shows something; None elsewhere. There a warning would be red and look like an error."""
    interactive = sys.modules.get("IPython")
    shell = None if interactive is None else interactive.get_ipython()
    if interactive is None or not hasattr(shell, "kernel"):
        return None
    display: Callable[[object], None] = interactive.display.display
    return display


@dataclass(frozen=True)
class _NoteBox:
    """Notes as a quiet box of a notebook, or as plain lines."""

    messages: Sequence[str]

    def __repr__(self) -> str:
        return "\n".join(map(visible, self.messages))

    def _repr_html_(self) -> str:
        return box(self.messages)


def box(messages: Iterable[str]) -> str:
    """HTML of a quiet box with messages; every text is escaped."""
    items = "".join(f"<li>{html.escape(visible(message))}</li>" for message in messages)
    return f'<div style="{_QUIET}"><ul style="margin: 0; padding-left: 1.2em">{items}</ul></div>'


#: The style of what must be seen, and is no error.
_QUIET = "border-left: 3px solid #9aa0a6; padding: 0.2em 0.8em; margin: 0.4em 0; font-size: 92%; max-width: 60em"

_PACKAGE = str(Path(__file__).parent)


def _level_of_the_user() -> int:
    """Number of frames up to the first one outside of this package, as `warnings.warn` counts from :func:`emit`."""
    frame, level = sys._getframe(1), 1  # noqa: SLF001 - there is no other way to look up the stack without a trace
    while frame.f_back is not None and frame.f_code.co_filename.startswith((_PACKAGE, str(contextlib.__file__))):
        frame, level = frame.f_back, level + 1
    return level
