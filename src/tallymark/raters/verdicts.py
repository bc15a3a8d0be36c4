"""Verdicts of a judge on all items and of people on some, read from columns: passes, classes, or grades."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from tallymark import _check
from tallymark._check import Bools, Floats, Ints, Label
from tallymark._negative_labels import check_negatives, plain_spelling, require_one_spelling
from tallymark.audits.checked_rows import checked_unevenly, without_verdict
from tallymark.audits.corrected_means import LabelDesign
from tallymark.errors import InputError, shown
from tallymark.sources.any_columns import numbers
from tallymark.sources.columns import rows_by_group

#: What verdicts are: a pass or not, one of several classes, or a number whose mean is wanted.
Scale = Literal["pass", "classes", "grades"]

#: Words for failing and passing, and numbers, that need no ``pos_label``, without capitals and spaces.
_PASSING = (
    ("fail", "pass"), ("failed", "passed"), ("no", "yes"), ("n", "y"), ("false", "true"), ("incorrect", "correct"),
    ("wrong", "right"), ("bad", "good"), ("0", "1"), ("0.0", "1.0"), ("-1", "1"),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Verdicts of a judge on all items, and of people on those labelled, with how those were drawn.

    Of passes, verdicts are 1 and 0, of classes their code, of grades the grade; `human` has no meaning where an item is
    not labelled.
    """

    judged: Floats
    human: Floats
    labelled: Bools
    #: Whether verdicts are 1 for a pass and 0 for a failure.
    passes: bool = True
    classes: tuple[Label, ...] = ()
    stratum: Ints | None = None
    inclusion: Floats | None = None
    cluster: Ints | None = None
    #: What the items are called, where a column says it.
    names: NDArray[Any] | None = None

    def part(self, rows: Any) -> Verdicts:
        """Some of the items."""
        columns = {name: value[rows] for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        return replace(self, **columns)

    def passing(self, code: int) -> Verdicts:
        """Of classes: one of them against the others."""
        return replace(self, judged=(self.judged == code) * 1.0, human=(self.human == code) * 1.0)

    @property
    def range(self) -> tuple[float, float]:
        """Lowest and highest verdict; of passes 0 and 1."""
        people = self.human[self.labelled]
        ends = [*self.judged[[self.judged.argmin(), self.judged.argmax()]], people.min(), people.max()]
        return (min(0.0, *ends), max(1.0, *ends)) if self.passes else (float(min(ends)), float(max(ends)))

    def design(self) -> LabelDesign:
        """How the labelled items were drawn; within verdicts, where people labelled more of one than of another."""
        stratum = np.unique(self.judged, return_inverse=True)[1].ravel() if self.uneven else self.stratum
        return LabelDesign.of(self.labelled, stratum, self.inclusion, self.cluster)

    @property
    def has_design(self) -> bool:
        """Whether it was said how the labelled items were drawn."""
        return self.stratum is not None or self.inclusion is not None or self.cluster is not None

    @cached_property
    def uneven(self) -> bool:
        """Whether, of items drawn in no stated way, people labelled more of one verdict than of another."""
        if self.has_design:
            return False
        return checked_unevenly(np.unique(self.judged, return_inverse=True)[1].ravel(), self.labelled)


@dataclass(frozen=True)
class Meaning:
    """What the verdicts of all columns are, and of passes which one is a pass."""

    scale: Scale
    classes: tuple[Label, ...] = ()
    #: Of passes: the verdict of each column that is a pass; columns may use different words.
    passing: Mapping[str, Label] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        columns: Mapping[str, NDArray[Any]],
        judges: Sequence[str],
        humans: Sequence[str],
        scale: str | None,
        pos_label: Any,
    ) -> Meaning:
        """As said, or as the values show: two known words are a pass and a failure, several numbers are grades."""
        if scale is not None and scale not in get_args(Scale):
            raise InputError(f"scale is {scale!r}, expected one of {', '.join(get_args(Scale))}.")
        if scale == "grades":
            if pos_label is not None:
                raise InputError("pos_label= is for verdicts of pass and fail; leave it out with scale='grades'.")
            return cls("grades")
        names = (*judges, *humans)
        occurs = {name: _occurrences(columns[name], name) for name in names}
        if pos_label is not None:
            if scale == "classes":
                raise InputError("pos_label= is for verdicts of pass and fail; leave it out with scale='classes'.")
            return cls("pass", passing=_named_pass(occurs, pos_label))
        known = {name: _known_pass(one) for name, one in occurs.items() if one}
        passing = {name: label for name, label in known.items() if label is not None}
        if scale != "classes" and len(passing) == len(known):
            return cls("pass", passing=passing)
        return cls._unnamed({label for one in occurs.values() for label in one}, scale)

    @classmethod
    def _unnamed(cls, labels: set[Label], scale: str | None) -> Meaning:
        """Verdicts that are no pass and fail: classes, or numbers to average."""
        if len({isinstance(one, str) for one in labels}) > 1:
            raise InputError(f"The verdicts mix words and numbers ({shown(sorted(labels, key=str))}); write all alike.")
        classes = tuple(sorted(labels))
        require_one_spelling(classes, "the verdicts")
        words = any(isinstance(one, str) for one in classes)
        if scale == "classes" or (scale is None and len(classes) > 2 and words):
            if scale is None:
                _refuse_numbers_as_text(classes)
            return cls("classes", classes)
        if scale is None and len(classes) > 2:
            return cls("grades")
        raise InputError(f"The verdicts are {shown(list(classes))}; which one is a pass? Say so with pos_label=.")

    def verdicts(self, judge: NDArray[Any], human: NDArray[Any], name: str, other: str) -> Verdicts:
        """A pair of columns."""
        if (missing := int(without_verdict(judge).sum())) > 0:
            raise InputError(f"{name} has no verdict in {missing} rows; a judge must have judged every item.")
        labelled = ~without_verdict(human)
        if not labelled.any():
            raise InputError(f"No item has a human verdict in {other}; the judge cannot be checked without any.")
        values = np.zeros(len(labelled))
        if self.scale == "grades":
            judged = numbers(judge, name)
            values[labelled] = numbers(np.ma.getdata(human)[labelled], other)
            if not (np.isfinite(judged).all() and np.isfinite(values).all()):
                raise InputError(f"{name} or {other} has grades that are not finite; leave those items out.")
            return Verdicts(judged, values, labelled, passes=False)
        seen = np.ma.getdata(human)[labelled]
        if self.scale == "pass":
            values[labelled] = seen == self.passing[other]
            return Verdicts(np.asarray(np.ma.getdata(judge) == self.passing[name], np.float64), values, labelled)
        values[labelled] = _check.encode(_check.labels(seen, other), self.classes, other)
        judged = _check.encode(_check.labels(judge, name), self.classes, name).astype(np.float64)
        return Verdicts(judged, values, labelled, passes=False, classes=self.classes)


def _occurrences(column: NDArray[Any], name: str) -> Counter[Label]:
    """How often each verdict of a column occurs."""
    present = np.ma.getdata(column)[~without_verdict(column)]
    if not len(present):
        return Counter()
    values, counts = np.unique(_check.labels(present, name), return_counts=True)
    return Counter({_check.plain_label(value): count for value, count in zip(values, counts.tolist(), strict=True)})


def _named_pass(occurs: Mapping[str, Counter[Label]], pos_label: Any) -> dict[str, Label]:
    """The verdict that was named as a pass, which every column must have; all others are failures."""
    together = Counter[Label]()
    for one in occurs.values():
        together.update(one)
    classes = sorted(together, key=lambda one: (isinstance(one, str), one))
    passing = _check.named_label(pos_label, classes)
    if passing not in together:
        raise _check.does_not_occur(pos_label, "the verdicts", classes)
    check_negatives(passing, [one for one in classes if one != passing], lambda: together, "the verdicts")
    for name, one in occurs.items():
        if len(one) > 1 and passing not in one:
            raise InputError(
                f"{name} has the verdicts {shown(list(one))} and never {passing!r}, so that all its items would fail. "
                "Write the verdicts of all columns in the same words."
            )
    return dict.fromkeys(occurs, passing)


def _known_pass(occurs: Counter[Label]) -> Label | None:
    """The verdict of a column that is a pass, where all its verdicts are known words or numbers."""
    spelt = {plain_spelling(int(one) if isinstance(one, bool) else one): one for one in occurs}
    for negative, positive in _PASSING:
        if spelt and len(spelt) == len(occurs) and spelt.keys() <= {negative, positive}:
            return spelt.get(positive, positive)
    return None


def _refuse_numbers_as_text(classes: Sequence[Label]) -> None:
    """Refuse to take for classes what a file wrote as numbers in several ways, such as 0.5 and 0.50."""
    try:
        [float(one) for one in classes]
    except ValueError:
        return
    raise InputError(
        f"The verdicts {shown(list(classes))} are numbers written in several ways. Say scale='grades' for their mean, "
        "or scale='classes' for the share of each."
    )


def by_system(one: Verdicts, columns: Mapping[str, Any], system: str, item: str) -> tuple[dict[str, Verdicts], Ints]:
    """The verdicts of each system in the same order of items, and the rows of the first system in that order."""
    items = _check.groups(columns[item], item)
    systems: dict[str, Verdicts] = {}
    first: Ints | None = None
    for (name,), rows in rows_by_group([_check.groups(columns[system], system)]):
        ordered = np.asarray(rows)[np.argsort(items[rows], kind="stable")]
        if len(np.unique(items[ordered])) < len(ordered):
            raise InputError(f"{system} {name} has an item more than once; each system has one answer to an item.")
        first = ordered if first is None else first
        if not np.array_equal(items[ordered], items[first]):
            raise InputError(f"The systems were not judged on the same items ({item}); keep those that all have.")
        systems[str(name)] = one.part(ordered)
    return systems, np.array([], np.int64) if first is None else first


def segments_of(columns: Mapping[str, Any], by: Sequence[str], items: Any) -> Iterator[tuple[tuple[Any, ...], Ints]]:
    """The items of each segment."""
    for key, rows in rows_by_group([_check.groups(columns[name], name)[items] for name in by]):
        yield key, np.asarray(rows)
