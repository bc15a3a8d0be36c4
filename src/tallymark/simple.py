"""NoSimple: evaluation without the rows that every model ranks correctly at any threshold (Rahardja & Fränti)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from tallymark._check import Bools
from tallymark._display import Row, Shown, plain
from tallymark.errors import InputError, Undefined
from tallymark.registry import METRICS
from tallymark.sources.duck import double, quoted
from tallymark.sources.filepanel import FilePanel
from tallymark.sources.open_rows import Table
from tallymark.summaries.panel import Panel
from tallymark.summaries.tally import Tally

Verdict = Literal["negligible", "moderate", "decisive"]

#: Shares of simple objects from which their effect is moderate, and beyond which it is decisive (Rahardja & Fränti).
_MODERATE, _DECISIVE = 0.02, 0.30


@dataclass(frozen=True, eq=False, repr=False)
class NoSimple(Shown):
    """Models with and without their simple objects: rows that every model ranks correctly at any threshold.

    `panel` has all rows, `reduced` the rows that are not simple; `simple` marks the simple rows of a panel in memory
    and is None for one in files, whose rows are not read. The order of the models by AUROC never changes when simple
    objects are left out, only their differences grow; other metrics can reorder them.
    """

    panel: Panel | FilePanel
    reduced: Panel | FilePanel
    simple: Bools | None = None

    @property
    def n(self) -> int:
        """Rows in all."""
        return self.panel.n

    @property
    def n_simple(self) -> int:
        """Rows left out."""
        return self.panel.n - self.reduced.n

    @cached_property
    def share(self) -> float:
        """Share of simple objects, by count or weight."""
        if isinstance(self.panel, Panel):
            mass = self.panel.mass
            return float(np.sum(mass[self.simple]) / np.sum(mass)) if len(mass) else 0.0
        with self.panel.open() as table:
            total = table.mass()
        with self.reduced.open() as table:  # type: ignore[union-attr]
            return 1.0 - table.mass() / total

    @cached_property
    def _pairs(self) -> Mapping[str, tuple[Tally | None, Tally | None]]:
        """Each model's tally of all rows and of the rows that are not simple; None where there are no rows."""
        whole, rest = (panel.tallies() if panel.n else {} for panel in (self.panel, self.reduced))
        return {model: (whole.get(model), rest.get(model)) for model in self.panel.models}

    @property
    def verdict(self) -> Verdict:
        """How much the simple objects matter: negligible under 2 %, decisive over 30 %."""
        if self.share < _MODERATE:
            return "negligible"
        return "moderate" if self.share <= _DECISIVE else "decisive"

    def compare(self, metric: str = "auroc", *, threshold: float | str | None = None, **options: Any) -> list[Row]:
        """A metric of each model with and without the simple objects.

        Parameters
        ----------
        metric : str
            Name of the metric.
        threshold : float or str, optional
            Number or policy, for a metric at one threshold; a policy chooses again on the reduced data.
        **options
            Options of the metric.

        Returns
        -------
        list of dict
            One row per model; `reason` says why a value is undefined.
        """
        facts = METRICS[metric]
        if facts.needs == "confusion" and threshold is None:
            raise InputError(f"{metric} needs a threshold: compare({metric!r}, threshold=0.5).")
        rows: list[Row] = []
        for model, pair in self._pairs.items():
            values, reason = {}, None
            for name, tally in zip(("original", "without_simple"), pair, strict=True):
                try:
                    if tally is None:
                        raise Undefined("all objects are simple; nothing is left to evaluate")
                    summary = tally.at(threshold) if facts.needs == "confusion" and threshold is not None else tally
                    values[name] = facts.compute(summary, **options)
                except Undefined as error:
                    values[name], reason = math.nan, error.reason
            row: Row = {"model": model, **values, "change": values["without_simple"] - values["original"]}
            rows.append({**row, "reason": reason} if reason else row)
        return rows

    def heading(self) -> str:
        """Share and verdict."""
        return (
            f"NoSimple: {self.n_simple} of {self.n} rows are simple ({100 * self.share:.1f} %, {self.verdict}); "
            f"AUROC with and without them"
        )

    def rows(self) -> list[Row]:
        """AUROC with and without."""
        return self.compare("auroc")

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "n": self.n,
            "simple": self.n_simple,
            "share": self.share,
            "verdict": self.verdict,
            "auroc": plain(self.compare("auroc")),
        }


def simple_rows(panel: Panel) -> Bools:
    """Mask of the simple rows: for every model, strictly below all positives or strictly above all negatives."""
    weighted = panel.mass > 0
    positive, negative = panel.is_positive & weighted, ~panel.is_positive & weighted
    if not positive.any() or not negative.any():
        return np.zeros(panel.n, dtype=np.bool_)
    simple = np.ones(panel.n, dtype=np.bool_)
    for scores in panel.scores.values():
        lowest_positive, highest_negative = scores[positive].min(), scores[negative].max()
        simple &= (scores < lowest_positive) | (scores > highest_negative)
    return simple


def simple_condition(table: Table) -> str:
    """SQL condition of the simple rows, as in :func:`simple_rows`."""
    models = table.roles.scores
    ends = ", ".join(
        f"min(s{i}) FILTER (positive) AS low{i}, max(s{i}) FILTER (NOT positive) AS high{i}" for i in range(len(models))
    )
    missing = ", ".join(f"count(*) FILTER (s{i} IS NULL OR NOT isfinite(s{i})) AS bad{i}" for i in range(len(models)))
    bad = table.source.query(f"SELECT count(*) FILTER (positive IS NULL) AS bad, {missing} FROM ({table.rows})")
    columns = table.source.query(f"SELECT {ends} FROM ({table.rows}) WHERE m > 0")
    for name, column in zip(
        (table.roles.label, *models), ("bad", *(f"bad{i}" for i in range(len(models)))), strict=True
    ):
        if bad[column][0]:
            raise InputError(
                f"{name}: {int(bad[column][0])} rows have no finite value; drop or repair them, "
                "or leave them out with where=."
            )
    parts = []
    for i, model in enumerate(models):
        low, high = (columns[f"{end}{i}"] for end in ("low", "high"))
        if np.ma.getmaskarray(low).any() or np.ma.getmaskarray(high).any():
            return "false"
        score = f"{quoted(model)}::DOUBLE"
        parts.append(f"({score} < {double(float(low[0]))} OR {score} > {double(float(high[0]))})")
    return " AND ".join(parts)


def without_simple(panel: Panel | FilePanel) -> NoSimple:
    """Leave out the rows that all models of a panel rank correctly whatever the threshold.

    A row is simple when every model scores it below all positives or above all negatives (Rahardja & Fränti, NoSimple:
    data bias evaluation metrics).

    Parameters
    ----------
    panel : Panel or FilePanel
        Scores of the models on the same rows; one in files (:func:`tallymark.scan_panel`) is searched by the engine. It
        is not changed.

    Returns
    -------
    NoSimple

    Examples
    --------
    >>> import tallymark as tm
    >>> p = tm.panel([0, 0, 0, 1, 1, 0, 0], {"a": [1, 2, 110, 6, 120, 0, 0], "b": [100, 150, 2, 130, 3, 0, 0]})
    >>> result = tm.without_simple(p)
    >>> int(result.simple.sum()), result.verdict
    (2, 'moderate')
    >>> [round(row["without_simple"], 4) for row in result.compare("auroc")]
    [0.8333, 0.5]
    """
    if isinstance(panel, FilePanel):
        with panel.open() as table:
            return NoSimple(panel, panel.keep(f"NOT ({simple_condition(table)})"))
    if not isinstance(panel, Panel):
        raise InputError(
            f"without_simple takes a Panel, got {type(panel).__name__}. "
            'Write tm.panel(y, {"a": score_a, "b": score_b}).'
        )
    simple = simple_rows(panel)
    simple.flags.writeable = False
    return NoSimple(panel, panel.keep(~simple), simple)
