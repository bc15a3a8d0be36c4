"""Result of checking a judge: pass rates as judged and as corrected, error rates, agreement, and a difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tallymark._display import Limited, Row, Shown, plain
from tallymark._mappings import FrozenDict
from tallymark._numbers import counted
from tallymark.audits.class_estimates import AuditMeasure
from tallymark.measures import Measure
from tallymark.notes import Note
from tallymark.quantify.estimation.prevalence import Prevalence
from tallymark.raters.results import Agreement


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Judgement(Shown):
    """Pass rates of a judge checked by people.

    Attributes
    ----------
    judged, corrected : Measure
        Pass rate by the judge's verdicts, and corrected by people's (design-based).
    by_error_rates : Prevalence
        The pass rate from the judge's error rates (Rogan-Gladen); None where people passed all labelled items or none.
    sensitivity, specificity : Measure
        Share of the items that people pass which the judge passes, and of those they fail which it fails.
    agreement : Agreement
        Agreement of judge and people on the labelled items.
    difference : AuditMeasure
        Corrected difference of two systems, the first less the second; None of one system. Its p-value is in
        ``parameters``.
    systems, segments : mapping
        The same for each system, and for each segment.
    """

    n: int
    labelled: int
    judged: Measure | None = None
    corrected: AuditMeasure | None = None
    by_error_rates: Prevalence | None = None
    sensitivity: Measure | None = None
    specificity: Measure | None = None
    agreement: Agreement | None = None
    difference: AuditMeasure | None = None
    systems: Mapping[str, Judgement] = field(default_factory=dict)
    segments: Mapping[tuple[Any, ...], Judgement] = field(default_factory=dict)
    by: tuple[str, ...] = ()
    warnings: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        for name in ("systems", "segments"):
            object.__setattr__(self, name, FrozenDict(getattr(self, name)))

    @classmethod
    def of_systems(cls, systems: Mapping[str, Judgement]) -> Judgement:
        """Several systems judged on the same items."""
        first = next(iter(systems.values()))
        notes = tuple(dict.fromkeys(note for one in systems.values() for note in one.warnings))
        return cls(n=first.n, labelled=first.labelled, systems=systems, warnings=notes)

    def heading(self) -> str:
        """Items and labels; and which system is better, where there are two."""
        first = f"{counted(self.n, 'item')} judged, {self.labelled} of them by people too"
        if self.difference is None or self.difference.reason is not None:
            return first
        names = list(self.systems)
        low, high = self.difference.low or 0.0, self.difference.high or 0.0
        better = names[0] if low > 0.0 else names[1] if high < 0.0 else None
        verdict = "no difference is shown" if better is None else f"{better} passes more often"
        return f"{first}\n{names[0]} less {names[1]}: {self.difference.written}; {verdict}"

    def estimates(self) -> Iterator[tuple[str, float, Limited | None, str | None]]:
        """Name, value, limits and reason of each estimate."""
        for name in ("judged", "corrected", "by_error_rates", "sensitivity", "specificity"):
            one = getattr(self, name)
            if one is not None:
                yield name, one.value, one, one.reason
        if self.agreement is not None:
            for name in ("observed", "cohen_kappa", "gwet_ac"):
                coefficient = self.agreement[name]
                yield name, coefficient.value, coefficient, coefficient.reason

    def rows(self) -> list[Row]:
        """One line per estimate; by system and segment where there are any."""
        parts: list[tuple[dict[str, str], Judgement]] = [({"system": name}, one) for name, one in self.systems.items()]
        if not parts and self.segments:
            parts = [(dict.fromkeys(self.by, "(all)"), self)]
        parts += [(dict(zip(self.by, map(str, key), strict=True)), one) for key, one in self.segments.items()]
        lines: list[Row] = []
        for named, part in parts or [({}, self)]:
            lines += [{**named, **_line(*estimate)} for estimate in part.estimates()]
        if self.difference is not None:
            one = self.difference
            lines.append({"system": " − ".join(self.systems), **_line(one.name, one.value, one, one.reason)})
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        names = ("judged", "corrected", "by_error_rates", "sensitivity", "specificity", "agreement", "difference")
        parts = {name: None if (one := getattr(self, name)) is None else one.to_dict() for name in names}
        return {
            "n": self.n,
            "labelled": self.labelled,
            **parts,
            "systems": {name: one.to_dict() for name, one in self.systems.items()} or None,
            "segments": [
                {"segment": dict(zip(self.by, plain(list(key)), strict=True)), **one.to_dict()}
                for key, one in self.segments.items()
            ]
            or None,
        }


def _line(name: str, value: float, one: Limited | None, reason: str | None) -> Row:
    low, high = (None, None) if one is None else (one.low, one.high)
    return {"of": name, "value": value, "low": low, "high": high, "reason": reason}
