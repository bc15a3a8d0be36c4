"""Base class of curves, and the check of their argument."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Concatenate, ParamSpec, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from tallymark._display import Row, Shown, frame, plain
from tallymark.errors import InputError
from tallymark.metrics.declare import with_sections
from tallymark.summaries.tally import Tally

Options = ParamSpec("Options")
Result = TypeVar("Result")

#: Points of a curve, by column.
Columns: TypeAlias = Mapping[str, NDArray[Any]]

#: Points listed in a printed curve.
_PRINTED = 10


class Curve(Shown):
    """Named arrays of equal length, one row per point."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def columns(self) -> Columns:
        """The points, by column: the fields that are arrays."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}

    def __len__(self) -> int:
        return len(next(iter(self.columns().values())))

    def heading(self) -> str:
        """Name, number of points, and the area where one is defined."""
        area = getattr(self, "auc", None)
        return f"{type(self).__name__} of {len(self)} points" + ("" if area is None else f", area {area:.4f}")

    def rows(self) -> list[Row]:
        """Every point."""
        return self._points(range(len(self)))

    def printed_rows(self) -> list[Row]:
        """About ten points spread over the curve."""
        last = len(self) - 1
        return self._points(sorted({round(i * last / (_PRINTED - 1)) for i in range(_PRINTED)}))

    def _points(self, places: Sequence[int]) -> list[Row]:
        columns = {name: array[list(places)].tolist() for name, array in self.columns().items()}
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]

    def to_frame(self) -> Any:
        """Every point as a dataframe."""
        return frame({name: array.copy() for name, array in self.columns().items()})

    def to_dict(self) -> dict[str, Any]:
        """Every point as plain values."""
        return {name: plain(array) for name, array in self.columns().items()}


def of_a_tally(make: Callable[Concatenate[Tally, Options], Result]) -> Callable[Concatenate[Tally, Options], Result]:
    """Check the argument of a function that makes a curve from a tally with rows of both classes."""

    @functools.wraps(make)
    def checked(tally: Tally, /, *columns: Options.args, **options: Options.kwargs) -> Result:
        if columns:
            raise InputError(f"{make.__name__} takes one Tally. Write tm.{make.__name__}(tm.tally(y, scores)).")
        return make(with_both_classes(tally, make.__name__), **options)  # type: ignore[call-arg]

    checked.__doc__ = with_sections(
        make.__doc__ or "",
        "tally : Tally\n    Labelled scores with rows of both classes.",
        make.__annotations__["return"],
    )
    return checked


def with_both_classes(tally: object, maker: str) -> Tally:
    """A tally with rows of both classes; refuses anything else with the call that makes one."""
    if not isinstance(tally, Tally):
        raise InputError(f"{maker} takes a Tally, got {type(tally).__name__}. Write tm.{maker}(tm.tally(y, scores)).")
    if not tally.positives or not tally.negatives:
        raise InputError(f"{maker} needs rows of both classes.")
    return tally
