"""Input of an audit: all rows of the target, some of them checked, with their strata and inclusion probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tallymark import _check
from tallymark._check import Bools, Floats, Ints, Label
from tallymark.audits.strata import Stratum
from tallymark.errors import InputError, shown
from tallymark.sources.any_columns import any_columns, is_missing, numbers
from tallymark.sources.columns import rows_by_group
from tallymark.sources.formats import Wanted, column_names

#: Strata read off inclusion probabilities have this many checked rows on average, at least.
_ROWS_A_STRATUM = 4

#: Of all rows of a target at least this share of those that should have been drawn were checked; of a sample alone far
#: fewer.
_DRAWN = 0.5

#: Scores beyond this leave the floats when they are squared.
_LARGEST = 1e100

#: p-value below which rows are taken to have been checked more often with one prediction than with another, and the
#: number of different predictions up to which that is asked.
_UNEVEN, _FEW_CODES = 1e-4, 20

#: Checked rows from which a stratum has a variance of its own.
FEW = 2


@dataclass(frozen=True, eq=False)
class Design:
    """Every row of the target: whether it was checked, its score, weight (`worth`), stratum and groups."""

    checked: Bools
    score: Floats
    worth: Floats
    inclusion: Floats
    stratum: Ints
    groups: tuple[tuple[tuple[Any, ...], Any], ...]
    by: tuple[str, ...] = ()
    #: The name of each stratum, by its code.
    stratum_names: tuple[str, ...] = ()
    #: Whether rows that were not checked are listed too.
    listed: bool = True
    #: Whether the scores are probabilities, or at least lie within [0, 1].
    is_probability: bool = True

    @property
    def n(self) -> float:
        """The rows of the target: those listed, or those that the checked ones stand for."""
        return float(len(self.checked)) if self.listed else float((1.0 / self.inclusion).sum())


@dataclass(frozen=True, eq=False, kw_only=True)
class Audit(Design):
    """The rows of an audit of two classes: their design, and which of the checked ones are positive."""

    truth: Bools
    #: The negative and the positive label.
    labels: tuple[Label, Label] = (0, 1)

    def strata(self, kept: Any = slice(None)) -> list[Stratum]:
        """The strata of some rows; where one of them would have too few checked rows, all are one, weighed by their
        masses.
        """
        part = self.part(kept)
        codes = np.unique(part.stratum)
        out_of_reach = part.inclusion == 0.0
        if len(codes) > 1 and not out_of_reach.any() and any(_thin(part, part.stratum == code) for code in codes):
            return [_stratum(part, np.ones(len(part.truth), np.bool_), pooled=True)]
        return [_stratum(part, part.stratum == code) for code in codes]

    def part(self, kept: Any) -> Audit:
        """Some of the rows."""
        return part_of(self, kept)


_Rows = TypeVar("_Rows", bound=Design)


def part_of(design: _Rows, kept: Any) -> _Rows:
    """Some of the rows of a design or an audit."""
    columns = {name: value[kept] for name, value in vars(design).items() if isinstance(value, np.ndarray)}
    return replace(design, **columns, groups=())


def _thin(audit: Audit, rows: Bools) -> bool:
    """Whether a stratum has too few checked rows for an estimate."""
    checked = audit.checked & rows
    missed = (rows & ~audit.checked).any() or bool((audit.inclusion[checked] < 1.0).any())
    return int(checked.sum()) < FEW and bool(missed)


def _stratum(audit: Audit, rows: Bools, *, pooled: bool = False) -> Stratum:
    checked = rows & audit.checked
    worth = audit.worth[rows]
    inclusion = audit.inclusion[checked]
    if audit.listed and not pooled and len(inclusion) and np.ptp(inclusion) == 0.0:
        # A random sample of this stratum, as large as it is.
        inclusion = np.full(int(checked.sum()), checked.sum() / rows.sum())
    mass = 1.0 / inclusion
    size = float(worth.sum()) if audit.listed else float(audit.worth[checked] @ mass)
    mean = float(worth @ audit.score[rows]) / float(worth.sum()) if worth.sum() > 0.0 else 0.0
    return Stratum(
        size,
        mean if audit.listed else 0.0,
        audit.truth[checked].astype(np.float64),
        audit.score[checked],
        audit.worth[checked],
        inclusion,
    )


def read_audit(
    data: Any,
    *,
    label: str,
    score: str | None,
    by: str | Sequence[str] | None = None,
    inclusion: str | None = None,
    stratum: str | Sequence[str] | None = None,
    value: str | None = None,
    size: Mapping[Any, float] | None = None,
    pos_label: Any = None,
    where: str | None = None,
) -> Audit:
    """An audit from a dataframe or files: a null label is a row that was not checked."""
    groups, layers = column_names(by, "by="), column_names(stratum, "stratum=")
    wanted = columns_wanted(label, score, groups, inclusion, layers, value)
    return audit_of(
        any_columns(data, wanted, where=where), label, score, groups, inclusion, layers, value, pos_label, size
    )


def columns_wanted(
    label: str, score: str | None, by: Sequence[str], inclusion: str | None, stratum: Sequence[str], value: str | None
) -> list[Wanted]:
    """The columns an audit names."""
    amounts = ((score, "score="), (inclusion, "inclusion="), (value, "value="))
    return [
        Wanted(label, "label=", "class"),
        *(Wanted(name, "by=") for name in by),
        *(Wanted(name, "stratum=") for name in stratum),
        *(Wanted(name, option, "number") for name, option in amounts if name is not None),
    ]


def design_of(
    columns: Mapping[str, NDArray[Any]],
    label: str,
    *,
    score: str | None = None,
    by: Sequence[str] = (),
    inclusion: str | None = None,
    stratum: Sequence[str] = (),
    value: str | None = None,
    size: Mapping[Any, float] | None = None,
) -> Design:
    """The design of an audit from columns already read; `size` has the rows of each stratum of a list of checked rows
    alone.
    """
    checked = ~without_verdict(columns[label])
    rows = len(checked)
    if not checked.any():
        raise InputError(f"No row has a value of {label}; an audit needs rows that were checked by hand.")
    if score is not None and float(np.abs(_check.scores(columns[score], score)).max()) > _LARGEST:
        raise InputError(f"{score} goes beyond {_LARGEST:g}; divide the scores by a constant.")
    p = np.zeros(rows) if score is None else np.asarray(_check.scores(columns[score], score), dtype=np.float64)
    worth = np.ones(rows) if value is None else _check.weights(columns[value], value)
    chance = _inclusion(columns, inclusion, checked)
    layers, strata = stratum_codes([_check.groups(columns[name], name) for name in stratum], rows)
    listed = bool((~checked).any()) or (inclusion is None and size is None)
    if size is not None:
        chance = _chances_by_size(size, stratum, inclusion, layers, strata, checked)
    elif inclusion is None:
        chance = _sampled(layers, _names(strata, stratum), checked)
    else:
        _refuse_part_of_a_list(chance, checked, label)
        if not stratum:
            layers, strata = _alike(chance, checked), []
    keys = [_check.groups(columns[name], name) for name in by]
    return Design(
        checked=checked,
        score=p,
        worth=worth,
        inclusion=chance,
        stratum=layers,
        groups=tuple(rows_by_group(keys)) if by else (),
        by=tuple(by),
        stratum_names=_names(strata, stratum),
        listed=listed,
        is_probability=bool(p.min() >= 0.0 and p.max() <= 1.0),
    )


def audit_of(
    columns: Mapping[str, NDArray[Any]],
    label: str,
    score: str | None = None,
    by: Sequence[str] = (),
    inclusion: str | None = None,
    stratum: Sequence[str] = (),
    value: str | None = None,
    pos_label: Any = None,
    size: Mapping[Any, float] | None = None,
) -> Audit:
    """An audit of two classes from columns already read."""
    design = design_of(columns, label, score=score, by=by, inclusion=inclusion, stratum=stratum, value=value, size=size)
    return with_two_classes(columns, label, design, pos_label)


def with_two_classes(columns: Mapping[str, NDArray[Any]], label: str, design: Design, pos_label: Any = None) -> Audit:
    """The audit of a design whose verdicts are of two classes."""
    truth = np.zeros(len(design.checked), dtype=np.bool_)
    present = np.ma.getdata(columns[label])[design.checked]
    _require_known(present, pos_label, label)
    truth[design.checked], labels = _check.binary_labels(present, pos_label, label, one_class=True)
    return Audit(**vars(design), truth=truth, labels=labels)


def checked_unevenly(codes: Ints, checked: Bools) -> bool:
    """Whether a larger share of the rows was checked with one code (a prediction, a verdict) than with another.

    Fisher's exact test of each code against the others, for a code may be that of few rows (Bonferroni).
    """
    rows, drawn = np.bincount(codes), np.bincount(codes, checked)
    if checked.all() or not 1 < len(rows) <= _FEW_CODES:
        return False
    from scipy.stats import hypergeom

    expected = hypergeom(len(checked), rows, int(checked.sum()))
    tails = np.minimum(expected.cdf(drawn), expected.sf(drawn - 1.0))
    return bool(2.0 * len(rows) * tails.min() < _UNEVEN)


def without_verdict(column: NDArray[Any]) -> Bools:
    """Which rows were not checked: those without a value, or with an empty text."""
    missing = is_missing(column)
    if (values := np.ma.getdata(column)).dtype.kind in "OU":
        # An empty cell is not a finding, wherever it was read from.
        missing = missing | np.asarray([value == "" for value in values.tolist()], dtype=np.bool_)
    return missing


def _require_known(present: NDArray[Any], pos_label: Any, label: str) -> None:
    """Refuse a positive label that two other values leave no room for, or that is of another kind than they are."""
    if pos_label is None:
        return
    values = _check.distinct(_check.labels(present, label), label)
    wanted = _check.named_label(pos_label, values)
    if wanted not in values and (len(values) > 1 or isinstance(wanted, str) != isinstance(values[0], str)):
        raise _check.does_not_occur(pos_label, label, values)


def _inclusion(columns: Mapping[str, NDArray[Any]], name: str | None, checked: Bools) -> Floats:
    """The inclusion probability of each row, nan where it is not given."""
    if name is None:
        return np.full(len(checked), np.nan)
    chance = numbers(columns[name], name)
    of = chance[checked]
    if bad := int((~np.isfinite(of) | (of <= 0.0)).sum()):
        raise InputError(
            f"{bad} rows have a label but no {name} above 0, so they lie outside the sample that was drawn; take their "
            "labels out, or say with which probability they were drawn."
        )
    if (of > 1.0).any():
        raise InputError(
            f"{name} goes up to {of.max():g}, expected probabilities from 0 to 1; for weights pass 1 / weight."
        )
    return chance


def stratum_codes(keys: Sequence[NDArray[Any]], rows: int) -> tuple[Ints, list[tuple[Any, ...]]]:
    """The code of each row's stratum, and the values that make each stratum."""
    codes, strata = np.zeros(rows, dtype=np.int64), []
    for number, (key, members) in enumerate(rows_by_group(keys)):
        codes[members] = number
        strata.append(key)
    return codes, strata


def _names(strata: Sequence[tuple[Any, ...]], columns: Sequence[str]) -> tuple[str, ...]:
    """What messages call each stratum."""
    return tuple(", ".join(f"{name} {part}" for name, part in zip(columns, key, strict=True)) for key in strata)


def _chances_by_size(
    size: Mapping[Any, float],
    stratum: Sequence[str],
    inclusion: str | None,
    layers: Ints,
    strata: Sequence[tuple[Any, ...]],
    checked: Bools,
) -> Floats:
    """Inclusion probabilities of a list of checked rows from the sizes of their strata."""
    if not isinstance(size, Mapping):
        raise InputError(f"size= is {shown([size])[:80]}, expected the number of rows of each stratum by its name.")
    if not stratum or inclusion is not None:
        raise InputError(
            "size= has the number of rows of each stratum; name its column with stratum=, and no inclusion=."
        )
    if not checked.all():
        raise InputError(
            f"{int((~checked).sum())} rows were not checked; with size= pass the checked rows alone, or leave size= "
            "out and pass every row of the target."
        )
    sizes = {
        key if isinstance(key, tuple) else (key,): _check.real(number, f"The size of the stratum {key!r}")
        for key, number in size.items()
    }
    if missing := [key for key in strata if key not in sizes]:
        raise InputError(f"size= has no size of the stratum {shown(missing)}; it has {shown(list(sizes))}.")
    if surplus := [key for key in sizes if key not in strata]:
        raise InputError(
            f"The stratum {shown(surplus)} of size= has no checked row, so nothing is known of it; check some, or put "
            "strata together."
        )
    number_checked = np.bincount(layers)
    rows = np.array([sizes[key] for key in strata])
    if not (rows >= number_checked).all():
        bad = int(np.flatnonzero(~(rows >= number_checked))[0])
        raise InputError(
            f"The stratum {shown([strata[bad]])} has {number_checked[bad]} checked rows but a size of {rows[bad]:g}."
        )
    return np.asarray((number_checked / rows)[layers])


def _alike(chance: Floats, checked: Bools) -> Ints:
    """Strata of rows with the same probability, where there are few such and each was checked often enough; else a
    single one.
    """
    if not np.isfinite(chance).all():
        return np.zeros(len(chance), dtype=np.int64)
    codes = np.unique(chance, return_inverse=True)[1].astype(np.int64)
    if (chance == 0.0).any():
        # Rows that could not be drawn stay apart: nothing can be said of them, or of all rows together.
        within = _alike(chance[chance > 0.0], checked[chance > 0.0])
        codes = np.full(len(chance), -1, dtype=np.int64)
        codes[chance > 0.0] = within
        return codes
    sizes, number_checked = np.bincount(codes), np.bincount(codes, checked)
    certain = (number_checked == sizes) & (np.unique(chance) >= 1.0)
    enough = ((number_checked >= FEW) | certain).all() and len(sizes) * _ROWS_A_STRATUM <= checked.sum()
    return codes if enough else np.zeros(len(chance), dtype=np.int64)


def _refuse_part_of_a_list(chance: Floats, checked: Bools, label: str) -> None:
    """Refuse a list of drawn rows some of which have no label: they would pass for the rest of the target."""
    if checked.all() or not np.isfinite(chance).all():
        return
    if chance.sum() < _DRAWN * checked.sum():
        raise InputError(
            f"{int((~checked).sum())} rows have no {label}, but their inclusion probabilities say that these rows are "
            f"a sample and not all of the target (they stand for {(1.0 / chance).sum():.0f}); leave the rows that were "
            "not checked out, or pass all rows."
        )


def _sampled(layers: Ints, names: Sequence[str], checked: Bools) -> Floats:
    """The share of each stratum that was checked."""
    sizes, number_checked = np.bincount(layers), np.bincount(layers, checked)
    if not number_checked.all():
        empty = [names[code] for code in np.flatnonzero(number_checked == 0).tolist()]
        raise InputError(
            f"The stratum {shown(empty, 3)} has no checked row, so nothing is known of it; check some, or put strata "
            "together."
        )
    return np.asarray((number_checked / sizes)[layers])
