"""The questions that a file can answer, each with the command and the Python lines that answer it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from tallymark._check import Label, obvious_positive
from tallymark._negative_labels import means_unknown
from tallymark._numbers import number
from tallymark.profiling.cautions import same_spelling
from tallymark.profiling.column_facts import ColumnFacts
from tallymark.profiling.results import Parts, Question
from tallymark.profiling.roles import classes_of
from tallymark.sources.data_file import options_of
from tallymark.sources.duck import quoted, text

#: Models named in one command at most.
_MODELS = 5

#: Fewer periods than this cannot be watched: a reference of three and one more.
_PERIODS = 4

#: Width of the interval that a plan of rows to check is for, where the share is not known; else a part of the share.
_WIDTH = 0.1


@dataclass(frozen=True)
class Source:
    """What was looked at: one path, or something that has no name on a command line."""

    path: str | None
    data: Any

    @property
    def is_files(self) -> bool:
        """Whether functions that read files take it."""
        return self.path is not None or isinstance(self.data, list | tuple)

    @property
    def python(self) -> str:
        """It in a line of Python; a dataframe is called ``data``."""
        if self.path is not None:
            stated = "".join(f", {name}={value!r}" for name, value in options_of(self.data).items())
            return f"tm.data_file({str(self.path)!r}{stated})" if stated else repr(self.path)
        if self.is_files:
            return repr([fspath(one) if isinstance(one, PathLike) else one for one in self.data])
        return "data"

    def command(self, *words: str, **options: Any) -> tuple[str, ...]:
        """A command about the file; empty where it has no one name."""
        if self.path is None:
            return ()
        # A name that begins with a hyphen would be taken for an option.
        file = f"./{self.path}" if self.path.startswith("-") else self.path
        return ("tallymark", *words, file, *_as_options(options), *_as_options(options_of(self.data)))


def _as_options(options: Mapping[str, Any]) -> Iterator[str]:
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            yield option
        elif isinstance(value, list | tuple):
            yield from (option, ",".join(value))
        elif value not in (None, False):
            # A value that begins with a hyphen stands behind an equals sign.
            yield from ((f"{option}={value}",) if str(value).startswith("-") else (option, str(value)))


@dataclass(frozen=True)
class _File:
    """What the questions are asked of."""

    source: Source
    columns: Mapping[str, ColumnFacts]
    parts: Parts

    @property
    def truth(self) -> ColumnFacts | None:
        return None if self.parts.truth is None else self.columns[self.parts.truth]

    @property
    def classes(self) -> list[Label]:
        return [] if self.truth is None else classes_of(self.truth)

    @property
    def unknown(self) -> list[str]:
        """Labels that stand for an unknown truth."""
        values = {} if self.truth is None else self.truth.values or {}
        return [label for label in values if isinstance(label, str) and means_unknown(label)]

    @property
    def scores(self) -> list[str]:
        """Scores that options can name."""
        return [name for name in self.parts.scores if _nameable(name)][:_MODELS]

    @property
    def predicted(self) -> list[str]:
        return [name for name in self.parts.predicted if _nameable(name)][:_MODELS]

    @property
    def positive(self) -> Label | None:
        """The positive label where it has to be said."""
        return None if obvious_positive(self.classes) is not None else self.parts.positive

    @property
    def condition(self) -> str | None:
        """Rows whose label is known or missing, in SQL."""
        if not self.unknown or self.truth is None:
            return None
        name = quoted(self.truth.name)
        return f"{name} IS NULL OR {name} NOT IN ({', '.join(text(label) for label in self.unknown)})"

    def missing(self, *names: str | None) -> bool:
        """Whether one of these columns has missing values."""
        return any(name is not None and self.columns[name].missing > 0 for name in names)

    def labels_missing(self) -> str:
        """Why the truth cannot be used, empty where it can."""
        if self.truth is None:
            return "It needs a column with the true class, and none looks like one."
        if len(self.classes) < 2:
            return f"{self.truth.name} has one class only; it needs rows of two."
        if alike := same_spelling(self.truth):
            listed = ", ".join(map(repr, alike[0]))
            return f"First write the labels in {self.truth.name} in one way: {listed}."
        return ""


def _nameable(name: str) -> bool:
    return "," not in name and name.strip() == name


def questions_of(source: Source, columns: Mapping[str, ColumnFacts], parts: Parts) -> tuple[Question, ...]:
    """Each question, answered or with what is missing."""
    file = _File(source, columns, parts)
    return tuple(
        ask(name, file)
        for name, ask in {
            "How good is it?": _how_good,
            "Which is better?": _which_is_better,
            "How many are there?": _how_many,
            "How many more must I check?": _how_many_more,
            "Has it changed?": _has_it_changed,
            "Do the judges agree?": _judges,
        }.items()
    )


def _how_good(asked: str, file: _File) -> Question:
    if reason := file.labels_missing():
        return Question(asked, reason)
    parts, source = file.parts, file.source
    mass: dict[str, Any] = {"weight": parts.weight, "count": parts.count}
    if parts.by_class:
        pairs = [f"{label}={name}" for label, name in parts.by_class.items()]
        needed = [parts.truth, *parts.by_class.values()]
        dropped = file.missing(*needed)
        command = source.command("evaluate", label=parts.truth)
        command = (*command, *(word for pair in pairs for word in ("--probability", pair))) if command else ()
        command = (*command, *_as_options(_rows(file, dropped=dropped) | mass)) if command else ()
        by_class: dict[str, Any] = {"label": parts.truth, "score": dict(parts.by_class), **mass}
        return Question(
            asked,
            f"The classes of {parts.truth} by the scores {_listed(parts.by_class.values())}.",
            command,
            _of_frame(file, "tm.evaluate(tm.class_panel(rows, {}))", by_class, dropped),
        )
    if file.scores and (len(file.classes) == 2 or not file.predicted):
        dropped = file.missing(parts.truth, *file.scores)
        given: dict[str, Any] = {"label": parts.truth, "score": file.scores} | mass
        said = f"{parts.truth} is the truth, {_is_positive(file)}, and {_listed(file.scores)} the score."
        command = source.command("evaluate", **given, pos_label=file.positive, **_rows(file, dropped=dropped))
        return Question(asked, said, command, _of_scores(file, "tm.evaluate({})", given, dropped))
    if file.predicted:
        dropped = file.missing(parts.truth, *file.predicted)
        two = file.positive if len(file.classes) == 2 else None
        given = {"label": parts.truth, "predicted": file.predicted, "pos_label": two} | mass
        command = source.command("evaluate", **given, **_rows(file, dropped=dropped))
        one = {"predicted": file.predicted[0], "label": parts.truth, "pos_label": two} | mass
        return Question(
            asked,
            f"{parts.truth} is the truth and {_listed(file.predicted)} the predicted class.",
            command,
            _of_frame(file, "tm.evaluate(tm.confusion(rows, {}))", one, dropped),
        )
    return Question(asked, "It needs a column with scores or predicted classes beside the truth.")


def _which_is_better(asked: str, file: _File) -> Question:
    parts = file.parts
    if reason := file.labels_missing():
        return Question(asked, reason)
    if len(file.scores) > 1 and not parts.by_class:
        dropped = file.missing(parts.truth, *file.scores)
        given: dict[str, Any] = {"label": parts.truth, "score": file.scores}
        given |= {"weight": parts.weight, "count": parts.count}
        command = file.source.command("compare", **given, pos_label=file.positive, **_rows(file, dropped=dropped))
        python = _of_panel(file, given, dropped)
        return Question(asked, f"{_listed(file.scores)} on the same rows.", command, python)
    if len(file.predicted) > 1 and len(file.classes) == 2:
        dropped = file.missing(parts.truth, *file.predicted)
        given = {"label": parts.truth, "predicted": file.predicted, "pos_label": file.positive}
        given["metric"] = "accuracy"
        command = file.source.command("compare", **given, **_rows(file, dropped=dropped))
        return Question(asked, f"The decisions of {_listed(file.predicted)} on the same rows.", command)
    return Question(asked, "It needs the scores of two models on the same rows.")


def _how_many(asked: str, file: _File) -> Question:
    parts = file.parts
    if file.truth is None and file.scores:
        return Question(
            asked,
            "No row has a label. Count it with a file of labelled rows that the same model scored (tallymark quantify "
            f"LABELLED {file.source.path or 'THIS'} --label … --score {file.scores[0]}), or check some rows by hand.",
        )
    if reason := file.labels_missing():
        return Question(asked, reason)
    if not file.scores:
        return Question(asked, "It needs a score column, and rows without a label to count.")
    if not file.missing(parts.truth):
        how = f"tallymark quantify LABELLED NEW --label {parts.truth} --score {file.scores[0]}"
        return Question(asked, f"Every row has a label. A second file with scores can be counted: {how}.")
    if file.unknown:
        return Question(asked, f"First empty the cells of {parts.truth} that say {', '.join(map(repr, file.unknown))}.")
    given = {"label": parts.truth, "score": file.scores[0]}
    dropped = file.missing(file.scores[0], parts.weight, parts.count)
    mass = {"weight": parts.weight, "count": parts.count}
    unlabelled = file.columns[parts.truth or ""].missing
    said = f"{number(unlabelled)} rows have no label: they are counted by {file.scores[0]}."
    command = file.source.command("quantify", **given, pos_label=file.positive, **mass, **_rows(file, dropped=dropped))
    return Question(asked, said, command, _count_lines(file, given | mass, dropped))


def _how_many_more(asked: str, file: _File) -> Question:
    parts, truth = file.parts, file.truth
    checked = truth is not None and truth.missing > 0 and not file.unknown and not file.labels_missing()
    score = file.scores[0] if file.scores else None
    if truth is not None and truth.missing == 0:
        return Question(asked, f"None: every row has a value of {truth.name}.")
    if score is None and not (checked and parts.groups):
        return Question(asked, "It needs a score column, or a column of groups and some rows that were checked.")
    if score is not None and file.missing(score):
        return Question(asked, f"First leave out the rows without {score}, or score them: a plan is for all rows.")
    given: dict[str, Any] = {"score": score, "width": _width(file)}
    if score is None:
        given["stratum"] = [name for name in parts.groups if _nameable(name) and not file.missing(name)][:1]
        if not given["stratum"]:
            return Question(asked, "It needs a score column, or a column of groups without missing values.")
    if checked:
        given |= {"checked": parts.truth, "pos_label": file.positive}
    said = f"Rows to check for an interval {given['width']:g} wide of the share."
    python = ("import tallymark as tm", _call("tm.audits.plan", file.source.python, given))
    return Question(asked, said, file.source.command("audit", "plan", **given), python)


def _has_it_changed(asked: str, file: _File) -> Question:
    parts = file.parts
    if parts.period is None or not file.scores:
        return Question(asked, "It needs a column with the period, and a score column.")
    period, score = file.columns[parts.period], file.scores[0]
    if period.distinct < _PERIODS:
        return Question(asked, f"{period.name} has {period.distinct} periods, and watching needs {_PERIODS}.")
    label = None if file.labels_missing() else parts.truth
    given: dict[str, Any] = {"score": score, "period": parts.period, "label": label}
    given |= {"pos_label": file.positive} if label is not None else {}
    wanted = [f"({file.condition})"] if file.condition and label is not None else []
    for name in (score, parts.period):
        if file.missing(name):
            real = f" AND NOT isnan({quoted(name)})" if file.columns[name].type == "numbers" else ""
            wanted.append(f"{quoted(name)} IS NOT NULL{real}")
    where = " AND ".join(wanted) or None
    python = _lines(file, lambda rows: _call("tm.monitor.watch", rows, given), where, [score, parts.period])
    said = f"{score} by {parts.period}, {number(period.distinct)} periods."
    return Question(asked, said, file.source.command("watch", **given, where=where), python)


def _judges(asked: str, file: _File) -> Question:
    parts, truth = file.parts, file.truth
    if len(parts.raters) > 1 and all(map(_nameable, parts.raters)):
        given: dict[str, Any] = {"rater": list(parts.raters)}
        python = _lines(file, lambda rows: _call("tm.raters.agreement", rows, given), None, [])
        return Question(asked, f"{_listed(parts.raters)}.", file.source.command("agree", **given), python)
    partly = truth is not None and truth.missing > 0 and len(file.classes) == 2 and not file.labels_missing()
    if truth is not None and partly and file.predicted:
        judge = file.predicted[0]
        same = set(classes_of(file.columns[judge])) == set(file.classes)
        if not same or file.missing(judge) or not _nameable(truth.name):
            return Question(asked, f"It needs a verdict of {judge} in every row, in the words of {truth.name}.")
        given = {"judge": judge, "human": truth.name, "pos_label": file.positive}
        where = file.condition
        said = f"{judge} has a verdict on every row, {truth.name} on {number(truth.rows - truth.missing)}."
        python = _lines(file, lambda rows: _call("tm.raters.judge", rows, given), where, [])
        return Question(asked, said, file.source.command("judge", **given, where=where), python)
    return Question(
        asked, "It needs the verdicts of two raters, or those of a judge with people's on some of the rows."
    )


def _rows(file: _File, *, dropped: bool) -> dict[str, Any]:
    """Which rows a command reads."""
    return {"drop_missing": dropped, "where": file.condition}


def _is_positive(file: _File) -> str:
    return f"{file.parts.positive!r} its positive label"


def _width(file: _File) -> float:
    """A width that tells the share from 0: half of the share of the rows labelled so far."""
    known = (file.truth.values or {}) if file.truth is not None and file.parts.positive is not None else {}
    total = sum(known.values())
    share = known.get(file.parts.positive, 0) / total if total and file.parts.positive is not None else 0.0
    return float(f"{min(max(share / 2.0, 0.001), _WIDTH):.1g}") if share else _WIDTH


def _listed(names: Any) -> str:
    return ", ".join(names)


def _call(function: str, first: str, options: Mapping[str, Any]) -> str:
    """A call in Python; options that are not used are left out."""
    return f"{function}({', '.join([first, *_named(options)])})"


def _named(options: Mapping[str, Any]) -> Iterator[str]:
    for name, value in options.items():
        if value not in (None, False):
            one = value[0] if isinstance(value, list | tuple) and len(value) == 1 else value
            yield f"{name}={list(one) if isinstance(one, tuple) else one!r}"


def _lines(file: _File, call: Callable[[str], str], where: str | None, present: Sequence[str]) -> tuple[str, ...]:
    """A call of a function that reads files and frames; of the rows that satisfy the condition."""
    if where is None:
        return ("import tallymark as tm", call(file.source.python))
    if file.source.is_files:
        return ("import tallymark as tm", f"{call(file.source.python)[:-1]}, where={where!r})")
    return (*_filtered(file, present, keep_missing=True), call("rows"))


def _filtered(file: _File, present: Sequence[str], *, keep_missing: bool) -> tuple[str, ...]:
    """Lines that make ``rows`` of a dataframe: those with a known label, without missing values where told."""
    rows = "nw.from_native(data)"
    if file.unknown and file.parts.truth is not None:
        label = f"nw.col({file.parts.truth!r})"
        kept = f" | {label}.is_null()" if keep_missing else ""
        rows += f".filter(~{label}.is_in({file.unknown!r}){kept})"
    rows += f".drop_nulls({list(present)!r})" if present else ""
    return ("import narwhals as nw", "import tallymark as tm", f"rows = {rows}")


def _of_scores(file: _File, around: str, given: Mapping[str, Any], dropped: bool) -> tuple[str, ...]:
    """Lines about the tallies of some scores."""
    options = {**given, "pos_label": file.positive, "drop_missing": dropped}
    if file.source.is_files:
        made = _call("tm.scan", file.source.python, {**options, "where": file.condition})
        return ("import tallymark as tm", around.format(made))
    if file.unknown:
        return (*_filtered(file, [], keep_missing=False), around.format(_call("tm.tally", "rows", options)))
    return ("import tallymark as tm", around.format(_call("tm.tally", "data", options)))


def _of_panel(file: _File, given: Mapping[str, Any], dropped: bool) -> tuple[str, ...]:
    """Lines that compare scores on the same rows."""
    options = {**given, "pos_label": file.positive}
    if file.source.is_files:
        made = _call("tm.scan_panel", file.source.python, {**options, "drop_missing": dropped, "where": file.condition})
        return ("import tallymark as tm", f"tm.compare({made})")
    if not dropped and not file.unknown:
        return ("import tallymark as tm", f"tm.compare({_call('tm.panel', 'data', options)})")
    needed = [str(file.parts.truth), *file.scores]
    return (*_filtered(file, needed, keep_missing=False), f"tm.compare({_call('tm.panel', 'rows', options)})")


def _count_lines(file: _File, given: Mapping[str, Any], dropped: bool) -> tuple[str, ...]:
    """Lines that count the rows without a label."""
    label = str(file.parts.truth)
    known, target = {**given, "pos_label": file.positive}, {k: v for k, v in given.items() if k != "label"}
    counted = "tm.quantify.count(validation, target, same_population=True)"
    if file.source.is_files:
        name = quoted(label)
        rows = {"drop_missing": dropped}
        return (
            "import tallymark as tm",
            f"validation = {_call('tm.scan', file.source.python, {**known, 'where': f'{name} IS NOT NULL', **rows})}",
            f"target = {_call('tm.scan', file.source.python, {**target, 'where': f'{name} IS NULL', **rows})}",
            counted,
        )
    lines = _filtered(file, file.scores[:1] if dropped else [], keep_missing=True)
    known_rows, other_rows = (f"rows.filter({sign}nw.col({label!r}).is_null())" for sign in ("~", ""))
    return (
        *lines,
        f"validation = {_call('tm.tally', known_rows, known)}",
        f"target = {_call('tm.tally', other_rows, target)}",
        counted,
    )


def _of_frame(file: _File, around: str, given: Mapping[str, Any], dropped: bool) -> tuple[str, ...]:
    """Lines about a function that takes dataframes only."""
    columns = [name for name in (given["label"], *_columns_in(given)) if name is not None]
    rows = _filtered(file, columns if dropped else [], keep_missing=False)
    if file.source.is_files:
        reader = _READERS.get(_ending(file.source.path or ""))
        if reader is None or options_of(file.source.data) or not Path(file.source.path or "").is_file():
            return ()
        rows = ("import pandas as pd", *rows[:-1], f"data = {reader.format(file.source.python)}", rows[-1])
    options = {name: value for name, value in given.items() if value is not None}
    return (*rows, around.format(", ".join(_named(options))))


def _columns_in(given: Mapping[str, Any]) -> Iterator[str]:
    for name in ("score", "predicted", "weight", "count"):
        value = given.get(name)
        yield from value.values() if isinstance(value, Mapping) else [value] if isinstance(value, str) else []


#: How pandas reads a file, by the ending of its name.
_READERS = {
    ".parquet": "pd.read_parquet({})",
    ".csv": "pd.read_csv({}, sep=None, engine='python')",
    ".tsv": "pd.read_csv({}, sep='\\t')",
    ".jsonl": "pd.read_json({}, lines=True)",
}


def _ending(path: str) -> str:
    return Path(path.removesuffix(".gz")).suffix.lower()
