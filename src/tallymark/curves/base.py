"""What all curves share: named columns that show themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from tallymark._show import Row, Shown, frame, plain
from tallymark.errors import InputError
from tallymark.summaries.tally import Tally

#: Points listed in a printed curve.
_PRINTED = 10


class Curve(Shown):
    """Named arrays of equal length, one row per point."""

    __slots__ = ()

    def columns(self) -> Mapping[str, NDArray[Any]]:
        """The points, by column."""
        raise TypeError(f"{type(self).__name__} has no columns()")

    def __len__(self) -> int:
        return len(next(iter(self.columns().values())))

    def heading(self) -> str:
        """Name, points and area where it means something."""
        area = getattr(self, "auc", None)
        return f"{type(self).__name__} of {len(self)} points" + ("" if area is None else f", area {area:.4f}")

    def rows(self) -> list[Row]:
        """About ten points spread over the curve; :meth:`to_frame` has all."""
        columns = self.columns()
        last = len(self) - 1
        chosen = sorted({round(i * last / (_PRINTED - 1)) for i in range(_PRINTED)})
        return [{name: array[i].item() for name, array in columns.items()} for i in chosen]

    def to_frame(self) -> Any:
        """Every point as a dataframe."""
        return frame({name: array.copy() for name, array in self.columns().items()})

    def to_dict(self) -> dict[str, Any]:
        """Every point as plain values."""
        return {name: plain(array) for name, array in self.columns().items()}


def labelled_tally(tally: object, maker: str) -> Tally:
    """The argument of a curve: a tally with rows of both classes."""
    if not isinstance(tally, Tally):
        raise InputError(f"{maker} takes a Tally, got {type(tally).__name__}. Write tm.{maker}(tm.tally(y, scores)).")
    if not tally.positives or not tally.negatives:
        raise InputError(f"{maker} needs rows of both classes.")
    return tally
