"""From what a person chose on the page to a command, and to the same in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tallymark.errors import InputError

Choices = Mapping[str, Any]


def words_of(question: str, files: Sequence[str], choices: Choices) -> list[str]:
    """The command line, without ``tallymark``; refuses what the question needs and was not chosen."""
    if question not in _QUESTIONS:
        raise InputError(f"There is no question {question!r}; there are {', '.join(_QUESTIONS)}.")
    if not files:
        raise InputError("Choose a file first.")
    return list(_QUESTIONS[question](list(files), choices))


def python_of(question: str, files: Sequence[str], choices: Choices, stated: Mapping[str, str] | None = None) -> str:
    """Lines of Python that answer the same; empty where the library has no call for it.

    `stated` is how the files are to be read, where that was said.
    """
    words_of(question, files, choices)
    options = "".join(f", {name}={value!r}" for name, value in (stated or {}).items())
    written = [f"tm.data_file({file!r}{options})" if options else repr(file) for file in files]
    lines = _PYTHON[question](written, choices)
    return "\n".join(["import tallymark as tm", *lines]) if lines else ""


def _good(files: Sequence[str], given: Choices) -> Iterator[str]:
    yield from ("evaluate", _only(files))
    yield from _truth(given)
    if predicted := _text(given, "predicted"):
        if given.get("scores"):
            raise InputError("Choose scores or a predicted class, not both: each has metrics of its own.")
        yield from ("--predicted", predicted)
    else:
        yield from ("--score", ",".join(_several(given, "scores", 1)))
        yield from _dearer_error(given)
    yield from _named(given, "called", "weight", "cluster")
    if given.get("stratified"):
        yield from ("--sampling", "stratified")


def _better(files: Sequence[str], given: Choices) -> Iterator[str]:
    yield from ("compare", _only(files))
    yield from _truth(given)
    yield from ("--score", ",".join(_several(given, "scores", 2)))
    if given.get("top"):
        yield from ("--metric", "average_precision")
    yield from _named(given, "weight", "cluster")


def _many(files: Sequence[str], given: Choices) -> Iterator[str]:
    if len(files) > 2:
        raise InputError("Choose one file of labelled rows and one of new rows, not more.")
    yield from ("quantify", *files)
    yield from _truth(given, labelled=False)
    yield from ("--score", _several(given, "scores", 1)[0])
    yield from _named(given, "called", "by", "weight")


def _check(files: Sequence[str], given: Choices) -> Iterator[str]:
    yield from ("audit", "plan", _only(files))
    if scores := given.get("scores"):
        yield from ("--score", str(scores[0]))
    yield from _named(given, "stratum", "checked")
    yield from ("--width", str(given.get("width") or "0.05"))


def _changed(files: Sequence[str], given: Choices) -> Iterator[str]:
    yield from ("watch", _only(files))
    yield from ("--period", _needed(given, "period", "the column with the period"))
    yield from ("--score", _several(given, "scores", 1)[0])
    if label := _text(given, "label"):
        yield from ("--label", label)
        yield from _named(given, "pos_label")


_QUESTIONS: Mapping[str, Callable[[Sequence[str], Choices], Iterator[str]]] = {
    "good": _good,
    "better": _better,
    "many": _many,
    "check": _check,
    "changed": _changed,
}


def _python_good(files: Sequence[str], given: Choices) -> list[str]:
    if given.get("predicted"):
        return []
    options = _call(given, "label", "pos_label", "weight", "cluster", "drop_missing", score=given["scores"])
    settings = _call({"threshold": f"cost:{given['costs']}"} if given.get("costs") else {}, "threshold")
    sampling = ", sampling='stratified'" if given.get("stratified") else ""
    return [
        f"tally = tm.scan({files[0]}{options})",
        f"tm.report(tm.evaluate(tally{settings}{sampling}), 'report.html')",
    ]


def _python_better(files: Sequence[str], given: Choices) -> list[str]:
    options = _call(given, "label", "pos_label", "weight", "cluster", "drop_missing", score=given["scores"])
    metric = ", metric='average_precision'" if given.get("top") else ""
    return [f"panel = tm.scan_panel({files[0]}{options})", f"print(tm.compare(panel{metric}))"]


def _python_many(files: Sequence[str], given: Choices) -> list[str]:
    score = given["scores"][0]
    if len(files) < 2 or given.get("by"):
        return []
    labelled = _call(given, "label", "pos_label", "weight", score=score)
    return [
        f"validation = tm.scan({files[0]}{labelled})",
        f"target = tm.scan({files[1]}{_call(given, 'weight', score=score)})",
        "print(tm.quantify.count(validation, target))",
    ]


def _python_check(files: Sequence[str], given: Choices) -> list[str]:
    score = (given.get("scores") or [None])[0]
    options = _call(given, "stratum", "checked", **({} if score is None else {"score": score}))
    return [f"plan = tm.audits.plan({files[0]}{options}, width={float(given.get('width') or 0.05)!r})", "print(plan)"]


def _python_changed(files: Sequence[str], given: Choices) -> list[str]:
    options = _call(given, "period", "label", "pos_label", score=given["scores"][0])
    return [f"print(tm.monitor.watch({files[0]}{options}))"]


def _call(given: Choices, *names: str, **more: Any) -> str:
    """Keyword arguments as they are written; a positive label that is a number is one."""
    chosen = {name: given[name] for name in names if given.get(name)} | more
    label = chosen.get("pos_label")
    if isinstance(label, str) and label.removeprefix("-").isdecimal():
        chosen["pos_label"] = int(label)
    elif label in {"true", "false"}:
        chosen["pos_label"] = label == "true"
    return "".join(f", {name}={value!r}" for name, value in chosen.items())


_PYTHON: Mapping[str, Callable[[Sequence[str], Choices], list[str]]] = {
    "good": _python_good,
    "better": _python_better,
    "many": _python_many,
    "check": _python_check,
    "changed": _python_changed,
}


def _truth(given: Choices, *, labelled: bool = True) -> Iterator[str]:
    """The truth, its positive label, and what happens to rows without one."""
    yield from ("--label", _needed(given, "label", "the column with the truth"))
    yield from _named(given, "pos_label")
    if labelled and given.get("drop_missing"):
        yield "--drop-missing"


def _dearer_error(given: Choices) -> Iterator[str]:
    """A threshold for stated costs of the errors; else the scores are cut at one half."""
    if costs := _text(given, "costs"):
        yield from ("--threshold", f"cost:{costs}")


def _named(given: Choices, *names: str) -> Iterator[str]:
    for name in names:
        if value := _text(given, name):
            # A value that begins with a hyphen would be taken for an option.
            yield f"--{name.replace('_', '-')}={value}"


def _only(files: Sequence[str]) -> str:
    if len(files) > 1:
        raise InputError("This question is about one file; choose one.")
    return files[0]


def _needed(given: Choices, name: str, what: str) -> str:
    value = _text(given, name)
    if not value:
        raise InputError(f"Say which is {what}.")
    return value


def _text(given: Choices, name: str) -> str:
    value = given.get(name)
    if value is not None and not is_text(value):
        raise InputError(f"{name} is {value!r}, expected a text.")
    return value or ""


def is_text(value: object) -> bool:
    """Whether it is a text that a command can be given."""
    return isinstance(value, str) and "\0" not in value and not any("\ud800" <= mark <= "\udfff" for mark in value)


def _several(given: Choices, name: str, least: int) -> list[str]:
    values = given.get(name) or []
    if not isinstance(values, list) or not all(is_text(value) and value for value in values):
        raise InputError(f"{name} is {values!r}, expected names of columns.")
    if len(values) < least:
        raise InputError("Choose a score column." if least == 1 else "Choose the scores of two models or more.")
    return values
