"""Validation of arguments: users' values become clean arrays, or an error that says what to do.

Code behind this module need not check again whether lengths agree or scores are finite.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallymark._negative_labels import check_negatives
from tallymark.errors import InputError, shown

Floats: TypeAlias = NDArray[np.float64]
#: float64, or float32 where that was passed.
Scores: TypeAlias = NDArray[Any]
#: int64 counts or float64 weights.
Masses: TypeAlias = NDArray[Any]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Label: TypeAlias = bool | int | float | str
#: A column of any type, such as labels, names of clusters or dates.
Column: TypeAlias = NDArray[Any]

#: Above this, float64 cannot represent every whole number.
EXACT_INTEGER = 2**53

#: More rows than this do not fit the integers they are counted in.
_MOST_ROWS = 2.0**62

#: A label column with more values than this is more likely a score column.
_MOST_CLASSES = 1_000

#: (negative, positive) pairs that need no `pos_label`. True and False compare equal to 1 and 0.
_OBVIOUS = ((0, 1), (-1, 1))


def column(values: object, name: str) -> NDArray[Any]:
    """A one-dimensional array in native byte order without missing values; any dtype."""
    if isinstance(values, Iterator):
        raise InputError(f"{name} is a {type(values).__name__}, which can be read only once; pass list(…) of it.")
    if isinstance(values, np.ma.MaskedArray):
        _refuse_missing(np.ma.getmaskarray(values), name)
        values = values.data
    if isinstance(values, dict | set | frozenset):
        raise InputError(f"{name} is a {type(values).__name__}; pass a list, an array or a dataframe column.")
    # NumPy would silently turn [0, "1"] into text.
    mixed = isinstance(values, list | tuple) and any(isinstance(value, str) for value in values)
    try:
        array = np.asarray(values, dtype=object if mixed else None)
    except (ValueError, TypeError, RuntimeError) as error:
        # A tensor that records gradients refuses with a RuntimeError that says how to detach it.
        raise InputError(f"{name} is not a plain column of values ({error}); pass one value per row.") from None
    if array.ndim == 0:
        raise InputError(f"{name} is a single value ({values!r}), not a column; pass one value per row.")
    if array.ndim > 1:
        raise InputError(f"{name} has shape {array.shape}, expected one column; {_flattening(array)}.")
    if array.size == 0:
        raise InputError(f"{name} is empty; there is nothing to count. Check the filter or file it came from.")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype.kind == "O":
        _refuse_missing(_missing_of(array), name)
    return array


def scores(values: object, name: str = "scores") -> Scores:
    """A finite float column. float32 stays float32, so that thresholds can be rounded to it."""
    array = column(values, name)
    if array.dtype.kind == "O":
        array = _numbers_from_objects(array, name)
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name} has dtype {array.dtype}, expected numbers; convert it, e.g. with .astype(float).")
    if array.dtype.kind in "iu" and array.size and max(abs(int(array.min())), abs(int(array.max()))) > EXACT_INTEGER:
        raise InputError(too_large(name))
    clean: Scores = array if array.dtype == np.float32 else array.astype(np.float64, copy=False)
    _refuse_unfinite(clean, name)
    return clean


def matrix(values: object, name: str, *, columns: int | None = None) -> Floats:
    """A finite float64 matrix, one row per row of the data and one column per class."""
    if isinstance(values, np.ma.MaskedArray):
        _refuse_missing(np.atleast_1d(np.ma.getmaskarray(values).any(axis=-1)), name)
        values = values.data
    try:
        array = np.asarray(values)
        array = array.astype(np.float64) if array.dtype.kind == "O" else array
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise InputError(f"{name} is not a matrix of numbers ({error}).") from None
    if array.ndim != 2:
        raise InputError(
            f"{name} has shape {array.shape}, expected two dimensions: one row per row, one column per class."
        )
    if columns is not None and array.shape[1] != columns:
        raise InputError(
            f"{name} has {array.shape[1]} columns for {columns} classes; give one column per class, in order."
        )
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name} has dtype {array.dtype}, expected numbers; convert it with .astype(float).")
    clean: Floats = array.astype(np.float64, copy=False)
    bad: Bools = np.logical_not(np.isfinite(clean).all(axis=1))
    if bad.any():
        raise InputError(_bad_rows(name, "NaN or infinite values", bad))
    return clean


def weights(values: object, name: str = "weights") -> Floats:
    """Finite, not negative, not all zero."""
    array = _positive_somewhere(scores(values, name).astype(np.float64, copy=False), name)
    with np.errstate(over="ignore"):
        if not np.isfinite(np.sum(array**2)):
            raise InputError(f"{name} are too large to be squared and added; divide them all by a constant.")
    weighty(float(array.max()), name)
    return array


#: Products of two weights below this underflow.
_LIGHTEST = 1e-145

#: Third powers of sums of weights beyond this overflow.
_HEAVIEST = 1e90


def weighty(heaviest: float, name: str) -> None:
    """Refuse weights whose products underflow or overflow; no result depends on their unit."""
    if heaviest < _LIGHTEST:
        raise InputError(
            f"{name} are at most {heaviest:.3g}, too small to be multiplied; multiply them all by a constant."
        )
    if heaviest > _HEAVIEST:
        raise InputError(f"{name} are up to {heaviest:.3g}, too large to be multiplied; divide them all by a constant.")


def counts(values: object, name: str = "counts") -> Ints:
    """How often each row occurs: whole numbers, not negative, not all zero."""
    array = column(values, name)
    if array.dtype.kind not in "iu":
        raise InputError(
            f"{name} has dtype {array.dtype}, expected whole numbers (how often each row occurs); "
            "for survey or expenditure weights use weights=."
        )
    _positive_somewhere(array, name)
    countable(float(array.sum(dtype=np.float64)), name)
    return array.astype(np.int64, copy=False)


def countable(total: float, name: str) -> None:
    """Refuse more rows than the integers they are counted in can hold."""
    if total > _MOST_ROWS:
        raise InputError(f"{name} add up to more than 2**62 rows; use weights=, or divide them all by a constant.")


def groups(values: object, name: str) -> NDArray[Any]:
    """A group column: anything but missing values and NaN."""
    array = column(values, name)
    if array.dtype.kind == "f":
        _refuse_missing(np.isnan(array), name)
    return array


def same_length(columns: Mapping[str, NDArray[Any] | None]) -> None:
    """Refuse columns that do not line up row by row."""
    lengths = {name: len(array) for name, array in columns.items() if array is not None}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise InputError(f"Lengths differ: {listed} rows. Pass columns of the same rows in the same order.")


#: Shares closer to 0 or 1 than this are rounding.
_RAREST = 1e-15


def probability(value: float, name: str) -> float:
    """A number strictly between 0 and 1."""
    number = real(value, name)
    if not 0.0 < number < 1.0:
        raise InputError(f"{name} is {value!r}, expected a number strictly between 0 and 1.")
    if min(number, 1.0 - number) < _RAREST:
        raise InputError(f"{name} is {value!r}, too close to 0 or 1; expected {_RAREST:g} to 1 - {_RAREST:g}.")
    return number


def real(value: object, name: str, *, infinite: bool = False) -> float:
    """A single number, finite unless `infinite` ones are allowed too."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        raise InputError(f"{name} is {value!r}, expected a number.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isnan(number) or (math.isinf(number) and not infinite):
        raise InputError(f"{name} is {value!r}, expected a finite number.")
    return number


def whole(value: object, name: str, least: int, most: int = 10**9) -> int:
    """A whole number from `least` to `most`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
        limit = f"of {least} or more" if most == 10**9 else f"from {least} to {most}"
        raise InputError(f"{name} is {shown([value])[:80]}, expected a whole number {limit}.")
    return int(value)


def callback(progress: object) -> None:
    """Refuse a progress callback that cannot be called."""
    if progress is not None and not callable(progress):
        raise InputError(f"progress is {progress!r}, expected a function of the percentage that is done.")


def several(values: object, name: str) -> list[Any]:
    """The values of a list or another iterable; refuses a single value."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InputError(f"{name} is {shown([values])[:80]}, expected a list.")
    return list(values)


def listed(values: object) -> list[Any]:
    """One value or several, as a list."""
    if isinstance(values, np.ndarray):
        return list(np.atleast_1d(values).ravel())
    if isinstance(values, str) or not isinstance(values, Iterable):
        return [values]
    return list(values)


def pair(values: object, name: str) -> tuple[float, float]:
    """Two finite numbers, a range."""
    ends = listed(values)
    if len(ends) != 2:
        raise InputError(f"{name} is {values!r}, expected two numbers, from and to.")
    return real(ends[0], name), real(ends[1], name)


def labels(values: object, name: str = "labels") -> NDArray[Any]:
    """A label column: bool, numbers or text, nothing missing."""
    array = column(values, name)
    if array.dtype.kind == "f":
        _refuse_missing(np.isnan(array), name)
    elif array.dtype.kind == "O":
        kinds = kinds_of(array)
        if not all(issubclass(kind, str | bool | int | float | np.generic) for kind in kinds):
            listed = shown(sorted(kind.__name__ for kind in kinds))
            raise InputError(f"{name} holds objects of type {listed}; expected text, whole numbers or bools.")
    elif array.dtype.kind == "M":
        _refuse_missing(np.isnat(array), name)
    elif array.dtype.kind not in "biuUS":
        raise InputError(f"{name} has dtype {array.dtype}; expected text, whole numbers or bools.")
    try:
        return array.astype(str) if array.dtype.kind in "SM" else array
    except UnicodeDecodeError:
        raise InputError(f"{name} holds bytes that are not ASCII text; decode them first.") from None


def plain_label(value: object) -> Label:
    """A label as a plain Python value; whole floats become ints so that 1.0 and 1 are one label."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, float) and plain.is_integer():
        return int(plain)
    if isinstance(plain, bool | int | float | str):
        return plain
    raise InputError(f"{plain!r} ({type(plain).__name__}) cannot be a label; use text, a whole number or a bool.")


#: Words of a CSV that are read as a missing value, in its cells and in its header.
MISSING_WORDS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None")


class TypedLabel(str):
    """A label as a person typed it: it stands for the label, of whatever type, that is written so."""

    __slots__ = ()


def named_label(label: Label, present: Sequence[Label]) -> Label:
    """The label that `label` names; what was typed is compared as text, without case, then as a number."""
    if isinstance(label, TypedLabel):
        for written in (str, _lower_case, _as_number):
            matches = [value for value in present if written(value) == written(label)]
            if len(matches) == 1:
                return plain_label(matches[0])
        return str(label)
    return plain_label(label)


def _lower_case(value: object) -> str:
    return str(value).lower()


def _as_number(value: object) -> object:
    """The number that a label or a typed text is; a text that is none stands for itself."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return value


def does_not_occur(pos_label: Label, name: str, present: Sequence[Label]) -> InputError:
    """The error for a positive label that no row has."""
    given = f"--pos-label {str(pos_label)!r}" if isinstance(pos_label, TypedLabel) else f"pos_label={pos_label!r}"
    hint = f" In a CSV {str(pos_label)!r} is read as a missing value; write this label in another way."
    return InputError(
        f"{given} does not occur in {name}, which has the values {shown(present)}."
        + (hint if pos_label in MISSING_WORDS else "")
    )


def distinct(array: NDArray[Any], name: str = "labels") -> list[Label]:
    """The label values that occur, sorted."""
    items = np.unique(array) if array.dtype.kind in "biuf" else set(array.tolist())
    values = {plain_label(value) for value in items}
    try:
        return sorted(values)
    except TypeError:
        listed = shown(sorted(values, key=str))
        raise InputError(f"{name} mixes text and numbers ({listed}); convert it to one type first.") from None


def binary_labels(
    values: object,
    pos_label: Label | None = None,
    name: str = "labels",
    *,
    one_class: bool = False,
    rows: NDArray[Any] | None = None,
) -> tuple[Bools, tuple[Label, Label]]:
    """Mask of the positive rows, and the (negative, positive) labels. Only this function interprets labels.

    `one_class` accepts data in which only one of the two classes occurs (a group of a larger sample). `rows` is the
    number of rows of each value where `values` lists them once. Several values beside `pos_label` are counted as
    negative with a note that names them; one that is another spelling of it, or a word for a missing value, is refused.
    """
    array = labels(values, name)
    pair = _two_numbers(array) if array.dtype.kind in "biuf" else None
    classes = list(pair) if pair else distinct(array, name)
    negative, positive = _name_classes(classes, pos_label, name, one_class=one_class)
    if pos_label is not None:
        others = [label for label in classes if label != positive]
        check_negatives(positive, others, lambda: _occurrences(array, rows), name)
    # A text column never equals a number; NumPy would give a single bool.
    is_positive = np.asarray(array == positive, dtype=np.bool_)
    return is_positive, (negative, positive)


def calls(values: object, truth: object, name: str, label: str) -> NDArray[Any]:
    """A column of predicted labels; refuses labels that the truth does not have."""
    predicted, classes = labels(values, name), distinct(labels(truth, label), label)
    if unknown := [value for value in distinct(predicted, name) if value not in classes]:
        raise InputError(
            f"{name} holds {shown(unknown, 3)}, which no row of {label} has; both must use the same labels."
        )
    return predicted


def require_shared_label(truth: NDArray[Any], predicted: NDArray[Any], label: str, name: str) -> None:
    """Refuse predictions that share no label with the truth: they use other names, and are not all wrong."""
    of_truth, of_predictions = distinct(labels(truth, label), label), distinct(labels(predicted, name), name)
    if len(of_truth) > 1 and not set(of_truth) & set(of_predictions):
        raise InputError(
            f"{label} has the labels {shown(of_truth)} and {name} has {shown(of_predictions)}: none is in both, so no "
            "prediction could be right. Write both in the same labels."
        )


def obvious_positive(labels: Sequence[Label]) -> int | None:
    """Index of the positive one of two labels that need no `pos_label`; None for others."""
    for negative, positive in _OBVIOUS:
        if len(labels) == 2 and set(labels) == {negative, positive}:
            return list(labels).index(positive)
    return None


def encode(array: NDArray[Any], classes: Sequence[Label], name: str) -> Ints:
    """The position of each label in `classes`."""
    index = {label: position for position, label in enumerate(classes)}
    try:
        if array.dtype.kind in "biuf":
            values, inverse = np.unique(array, return_inverse=True)
            return np.array([index[plain_label(value)] for value in values], dtype=np.int64)[inverse]
        listed = array.tolist()
        codes = {value: index[plain_label(value)] for value in set(listed)}
        return np.fromiter(map(codes.__getitem__, listed), np.int64, array.size)
    except KeyError as error:
        raise InputError(f"{name} holds {error.args[0]!r}, which is not among the classes {shown(classes)}.") from None


def _name_classes(classes: list[Label], pos_label: Label | None, name: str, *, one_class: bool) -> tuple[Label, Label]:
    if pos_label is None:
        for negative, positive in _OBVIOUS:
            if classes == [negative, positive]:
                return plain_label(classes[0]), plain_label(classes[1])
            if len(classes) == 1 and one_class and classes[0] in (negative, positive):
                return plain_label(negative), plain_label(positive)
        if len(classes) == 1 and one_class:
            raise InputError(
                f"{name} has the value {classes[0]!r} only, and nothing says whether it is the positive one; name the "
                "positive "
                "label with pos_label (--pos-label on the command line)."
            )
        if len(classes) == 1:
            raise InputError(_only_one_class(name, classes[0]))
        if len(classes) > _MOST_CLASSES:
            raise InputError(
                f"{name} has {len(classes)} different values ({shown(classes, 3)}); are labels and scores swapped?"
            )
        raise InputError(
            f"{name} has the values {shown(classes)}; which one is positive? "
            "Say so with pos_label (--pos-label on the command line)."
        )
    chosen = named_label(pos_label, classes)
    others = [label for label in classes if label != chosen]
    if len(others) == len(classes) and (not one_class or len(classes) > 1):
        raise does_not_occur(pos_label, name, classes)
    if not others and not one_class:
        raise InputError(_only_one_class(name, classes[0]))
    return (others[0] if len(others) == 1 else f"not {chosen}"), chosen


def _occurrences(array: NDArray[Any], rows: NDArray[Any] | None) -> Counter[Label]:
    """Number of rows of each label; `rows` where the array lists labels once."""
    if rows is None:
        return Counter(map(plain_label, array.tolist()))
    occurs = Counter[Label]()
    for value, count in zip(array.tolist(), rows.tolist(), strict=True):
        occurs[plain_label(value)] += int(count)
    return occurs


def _only_one_class(name: str, value: Label) -> str:
    return (
        f"{name} has one class only: every row is {value!r}. A ranking needs both classes; check the filter, "
        "or pass scores= alone for an unlabelled sample."
    )


def _two_numbers(array: NDArray[Any]) -> tuple[Label, Label] | None:
    """The two values of a numeric column without sorting it, or None when there are not exactly two."""
    low, high = array.min(), array.max()
    if low == high or np.count_nonzero(array == low) + np.count_nonzero(array == high) != array.size:
        return None
    return plain_label(low), plain_label(high)


def too_large(name: str) -> str:
    """The message for whole numbers beyond :data:`EXACT_INTEGER`."""
    return f"{name} holds whole numbers beyond 2**53, which floats cannot tell apart; rank or rescale them first."


def _positive_somewhere(array: Masses, name: str) -> Masses:
    negative = array < 0
    if negative.any():
        raise InputError(_bad_rows(name, "negative values", negative))
    if not array.any():
        raise InputError(all_zero(name))
    return array


def all_zero(name: str) -> str:
    """The message for masses that are all zero."""
    return f"{name} are all zero; at least one row must count."


def _numbers_from_objects(array: NDArray[Any], name: str) -> NDArray[Any]:
    # astype would read the text "0.5" as a number; a column of text is more likely a mistake.
    if any(isinstance(value, str | bytes) for value in array):
        raise InputError(f"{name} holds text, expected numbers; convert the column to numbers first.")
    if any(isinstance(value, int | np.integer) and abs(int(value)) > EXACT_INTEGER for value in array):
        raise InputError(too_large(name))
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} has object dtype and is not all numbers ({error}); convert it first.") from None


def _refuse_unfinite(array: Scores, name: str) -> None:
    # The sum is finite unless a value is not (or the sum overflows): one pass and no temporary in the common case.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(array.sum()):
            return
    if (bad := np.isnan(array)).any():
        raise InputError(_bad_rows(name, "NaN", bad))
    if (bad := np.isinf(array)).any():
        raise InputError(_bad_rows(name, "infinite values", bad))


def _refuse_missing(missing: Bools, name: str) -> None:
    if missing.any():
        raise InputError(_bad_rows(name, "missing values", missing))


def _bad_rows(name: str, what: str, bad: Bools) -> str:
    many = int(np.count_nonzero(bad))
    rows = f"{many} rows, the first" if many > 1 else "one row,"
    return f"{name} has {what} in {rows} at index {int(np.argmax(bad))}; drop or repair those rows first."


def kinds_of(array: NDArray[Any]) -> set[type]:
    """The types of the values of an array of objects."""
    return set(map(type, array.tolist()))


def _missing_of(array: NDArray[Any]) -> Bools:
    """Which values of an array of objects are missing; text, whole numbers and bools never are."""
    if kinds_of(array) <= {str, int, bool}:
        return np.zeros(array.size, np.bool_)
    return np.fromiter(map(_is_missing, array), np.bool_, array.size)


def _is_missing(value: object) -> bool:
    # pandas' NA compares to NA, not to a bool, so it is recognised by its type.
    return (
        value is None
        or type(value).__name__ in {"NAType", "NaTType"}
        or (isinstance(value, float) and math.isnan(value))
    )


def _flattening(array: NDArray[Any]) -> str:
    if array.ndim == 2 and array.shape[1] == 2:
        return "for predict_proba output pass the positive class's column, [:, 1]"
    return "use .ravel() for one column, or one call per column"
