"""Inputs of charts: results by name; curves of tallies are computed by ``tallymark.curves``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tallymark.errors import InputError
from tallymark.inference.resampling.strata import lighter
from tallymark.registry import METRICS
from tallymark.summaries.panel import Panel
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally


@dataclass(frozen=True)
class Drawn:
    """A curve, its tally (None where the curve does not keep it), and the area that the legend states."""

    curve: Any
    tally: Any = None
    area: float | None = None


def group_name(key: object) -> str:
    """A group's key as text: its parts joined."""
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def by_name(data: object) -> dict[str, Any]:
    """Inputs by name: one alone is called ``model``, a panel has its models, groups have their keys."""
    if isinstance(data, Panel):
        data = data.tallies()
    if isinstance(data, Tallies):
        entries: dict[str, Any] = {group_name(key): tally for key, tally in data.entries.items()}
    elif isinstance(data, Mapping):
        entries = {str(name): one for name, one in data.items()}
    else:
        entries = {"model": data}
    if not entries:
        raise InputError("There is no model to draw; pass a labelled tally, a panel, or several by name.")
    return entries


def curves_of(
    data: object, kind: type, make: Callable[[Tally], Any], *, area: str | None = None, thin: bool = False
) -> dict[str, Drawn]:
    """Curves by name: those of the right `kind` as they are, those of tallies computed by `make`.

    `area` is the metric that the legend states; `thin` leaves out points that cannot be told apart on a screen.
    """
    entries = {}
    for name, one in by_name(data).items():
        if isinstance(one, kind):
            entries[name] = Drawn(one, getattr(one, "tally", None), getattr(one, "auc", None))
            continue
        tally = _labelled(name, one)
        value = None if area is None else METRICS[area].compute(tally)
        entries[name] = Drawn(make(lighter(tally) if thin else tally), tally, value)
    return entries


def tallies_of(data: object) -> dict[str, Tally]:
    """Labelled tallies by name, from a tally, a curve, several by name, or a panel."""
    return {name: _labelled(name, one) for name, one in by_name(data).items()}


def _labelled(name: str, one: Any) -> Tally:
    tally = one if isinstance(one, Tally) else getattr(one, "tally", None)
    if not isinstance(tally, Tally) or not tally.labelled:
        raise InputError(
            f"{name!r} is a {type(one).__name__}, expected a labelled tally or a curve of one; "
            "pass tm.tally(y, scores), a panel, or several by name."
        )
    return tally
