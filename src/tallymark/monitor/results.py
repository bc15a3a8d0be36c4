"""Results of monitoring: the periods, their signals and the advice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tallymark._display import Row, Shown, plain
from tallymark._numbers import counted
from tallymark.audits.plan_results import AuditPlan
from tallymark.monitor.new_items import NewItems
from tallymark.notes import Note
from tallymark.quantify.estimation.prevalence import Prevalence


@dataclass(frozen=True, eq=False)
class Watched:
    """Numbers and signals of one period; None and nan where there is none."""

    period: Any
    rows: int
    reference: bool
    mean_score: float
    prevalence: Prevalence | None
    audit: Prevalence | None
    expected: Mapping[str, float]
    fit_p: float
    fit_distance: float
    drift_p: float
    value_mean: float
    value_ks: float
    #: The larger cumulative sum of the chart of scores, and of the chart of values.
    score_sum: float
    value_sum: float
    signals: tuple[str, ...]
    advice: str
    #: Labelled rows of a later period that were not used, because `audit` did not state that they are a random sample.
    unused_labels: int = 0

    def row(self) -> Row:
        """One line."""
        one, audit = self.prevalence, self.audit
        entries: dict[str, Any] = {
            "period": self.period,
            "rows": self.rows,
            "reference": self.reference,
            "mean_score": self.mean_score,
        }
        if one is not None:
            entries |= {"prevalence": one.prevalence, "low": one.low, "high": one.high, "count": one.count}
        if audit is not None:
            entries |= {"audit": audit.prevalence, "audit_low": audit.low, "audit_high": audit.high}
        entries |= {f"expected_{name}": value for name, value in self.expected.items()}
        entries |= {
            "score_sum": self.score_sum,
            "fit_p": self.fit_p,
            "fit_distance": self.fit_distance,
            "drift_p": self.drift_p,
        }
        entries |= {"value_mean": self.value_mean, "value_ks": self.value_ks, "value_sum": self.value_sum}
        kept = {name: value for name, value in entries.items() if not (isinstance(value, float) and math.isnan(value))}
        return {**kept, "signal": ", ".join(self.signals), "advice": self.advice}


@dataclass(frozen=True, eq=False, repr=False)
class Watch(Shown):
    """Monitored periods, with the limit of the control charts and their false alarm rate."""

    periods: tuple[Watched, ...]
    limit: float
    run_length: float
    median_run_length: float
    charts: int
    threshold: float | None
    plan: AuditPlan | None
    history: tuple[Row, ...]
    #: Whether there is a validation sample, so that prevalences and expected metrics are given.
    counted: bool
    #: New items beside known ones, where a column names the items.
    new_items: NewItems | None = None
    warnings: tuple[Note, ...] = ()

    @property
    def signals(self) -> tuple[Watched, ...]:
        """The periods with a signal."""
        return tuple(one for one in self.periods if one.signals)

    @property
    def verdict(self) -> str:
        """What to do now, by the last period."""
        last = self.periods[-1]
        return f"{last.period}: {last.advice or 'no change that these charts detect'}{self._unused}"

    @property
    def _unused(self) -> str:
        """A sentence about labels of later periods that were not used."""
        periods = sum(one.unused_labels > 0 for one in self.periods)
        if not periods:
            return ""
        rows, where = sum(one.unused_labels for one in self.periods), counted(periods, "later period")
        return (
            f". {counted(rows, 'labelled row')} of {where} {'was' if rows == 1 else 'were'} not used: if they were "
            "drawn at random from their periods, add audit=True (--audit on the command line)"
        )

    @property
    def rate(self) -> str:
        """The false alarm rate in words."""
        return (
            f"If nothing changed, the {self.charts} charts together would signal once in {self.run_length:g} periods "
            f"on average (half of the time within {self.median_run_length:.0f}), the reference being estimated"
        )

    def heading(self) -> str:
        """The verdict and the false alarm rate."""
        return f"{self.verdict}\n{self.rate}."

    def rows(self) -> Sequence[Row]:
        """A line per period."""
        return [one.row() for one in self.periods]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "verdict": self.verdict,
            "limit": self.limit,
            "run_length": self.run_length,
            "median_run_length": self.median_run_length,
            "charts": self.charts,
            "threshold": self.threshold,
            "periods": plain([dict(row) for row in self.rows()]),
            "history": plain([dict(row) for row in self.history]),
            "plan": None if self.plan is None else self.plan.to_dict(),
            "new_items": None if self.new_items is None else self.new_items.to_dict(),
        }
