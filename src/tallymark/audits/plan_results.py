"""Result of planning an audit: the rows to check, their inclusion probabilities, and the interval to expect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tallymark._check import Floats, Ints
from tallymark._display import Row, Shown, frame, plain
from tallymark._numbers import amount, counted, noun, number, share_of_rows

#: What a plan rests on.
SCORES, RATES, WORST = "the scores", "the rates of the rows checked before", "the worst case, a share of one half"


@dataclass(frozen=True, eq=False, repr=False)
class AuditPlan(Shown):
    """Rows to check by hand, their inclusion probabilities, and the interval to expect.

    `drawn` are the places of the rows to check, in order; `inclusion` and `stratum` belong to every row of the data (0
    and -1 for rows outside of the plan). `expected` has the estimate and limits to expect if the scores are right, by
    group where there are groups; `simple` is how many rows a simple random sample would need for the same width.
    """

    measure: str
    design: str
    drawn: Ints
    inclusion: Floats
    stratum: Ints
    scores: Floats
    strata: tuple[Row, ...]
    expected: Mapping[tuple[Any, ...], tuple[float, float, float]]
    simple: int
    level: float
    by: tuple[str, ...] = ()
    #: Rows that were checked before; `drawn` are further ones.
    checked: int = 0
    #: What the plan rests on: the scores as probabilities, the rates of rows checked before, or the worst case.
    basis: str = SCORES

    @property
    def size(self) -> int:
        """How many rows are to be checked, besides those that were."""
        return len(self.drawn)

    @property
    def saved(self) -> int:
        """Rows saved against a simple random sample of the same width."""
        return max(self.simple - self.size - self.checked, 0)

    def list_to_check(self) -> Any:
        """The drawn rows as a dataframe: place in the data, score, stratum and inclusion probability."""
        return frame(self.columns())

    def columns(self) -> dict[str, Any]:
        """The same as arrays."""
        return {
            "row": self.drawn,
            "score": self.scores[self.drawn],
            "stratum": self.stratum[self.drawn],
            "inclusion": self.inclusion[self.drawn],
        }

    def _share(self, value: float) -> str:
        return number(share_of_rows(value, len(self.scores)))

    def heading(self) -> str:
        """How many, and what to expect of it."""
        parts = [
            f"{', '.join(f'{name} {value}' for name, value in zip(self.by, key, strict=True)) or self.measure} "
            f"{self._share(value)} ({self._share(low)} to {self._share(high)})"
            for key, (value, low, high) in self.expected.items()
        ]
        how = f"; a simple random sample would need {self.simple} for the same width" if self.saved else ""
        more = f" and {len(parts) - 4} more" if len(parts) > 4 else ""
        total = float(self.scores.sum())
        doubt = (
            " The scores leave hardly a row to be positive; if that is not so, calibrate them before you plan."
            if total < 1.0
            else ""
        )
        rows = f"{self.size} more {noun(self.size, 'row')}" if self.checked else counted(self.size, "row")
        sentence = f"Check {rows} ({self.design} sample){how}."
        expected = f"expect {'; '.join(parts[:4])}{more} at {100 * self.level:g} %."
        if self.basis != SCORES:
            already = f" {counted(self.checked, 'row')} checked before count as random within their strata." * bool(
                self.checked
            )
            return f"{sentence} By {self.basis}, {expected}{already}"
        return (
            f"{sentence} If the scores are right probabilities (they add up to {amount(round(total, 2))} positives "
            f"among {len(self.scores)} rows), {expected}{doubt}"
        )

    def rows(self) -> Sequence[Row]:
        """A line per stratum."""
        return self.strata

    def to_dict(self) -> dict[str, Any]:
        """Plain values, with the list of rows."""
        return {
            "measure": self.measure,
            "design": self.design,
            "size": self.size,
            "checked": self.checked,
            "basis": self.basis,
            "simple": self.simple,
            "saved": self.saved,
            "level": self.level,
            "expected": [
                {"group": dict(zip(self.by, plain(key), strict=True)) or None, "value": v, "low": a, "high": b}
                for key, (v, a, b) in self.expected.items()
            ],
            "strata": plain([dict(row) for row in self.strata]),
            "sample": plain(
                [dict(zip(self.columns(), line, strict=True)) for line in zip(*self.columns().values(), strict=True)]
            ),
        }
