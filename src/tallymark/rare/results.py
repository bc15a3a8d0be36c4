"""Results of counting a rare class in texts: scores, calibrated count, and four variants of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tallymark._check import Bools, Floats
from tallymark._display import Row, Shown, plain
from tallymark.errors import Undefined
from tallymark.notes import Note
from tallymark.quantify.estimation.bayesian_calibration import BayesianCalibration
from tallymark.quantify.estimation.mixture_test import MixtureFit, mixture_fit
from tallymark.quantify.estimation.prevalence import Prevalence
from tallymark.registry import METRICS
from tallymark.sources.constructors import tally_of_arrays
from tallymark.summaries.tally import Tally

#: Metrics of a variant where target labels are given; those at a threshold are taken at one half.
_MEASURES = ("spcc", "accuracy", "balanced_accuracy", "mcc", "auroc")


@dataclass(frozen=True, eq=False, repr=False)
class RareCount(Shown):
    """The number of texts of a rare class in a target, estimated by classifiers trained where the class is common.

    `scores` are mean probabilities and `votes` mean votes of the regressions, in the order of the target's texts, nan
    for texts left out; `validation` has out-of-sample scores of the labelled texts. `count` is the count after Bayesian
    Calibration, with an interval for the chance in both samples; it has a reason instead of a value where words do not
    separate the classes of the labelled texts. `table` has four variants: labels or probabilities, calibrated or not.
    """

    method: str
    scores: Floats
    votes: Floats
    validation: Tally
    calibration: BayesianCalibration
    count: Prevalence
    positive: Bools | None = None
    warnings: tuple[Note, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def counted(self) -> Bools:
        """Which texts of the target are counted."""
        return ~np.isnan(self.scores)

    @property
    def target(self) -> Tally:
        """The target's scores, labelled where target labels are given."""
        return self._tally(self.scores[self.counted])

    @property
    def calibrated(self) -> Tally:
        """The target's scores after calibration."""
        return self._tally(self.posteriors[self.counted])

    @cached_property
    def posteriors(self) -> Floats:
        """Each text's probability at the target's prevalence, nan for texts left out."""
        values = np.full(len(self.scores), np.nan)
        values[self.counted] = self.calibration.posterior(self.scores[self.counted])
        return values

    @cached_property
    def fit(self) -> MixtureFit:
        """Test of prior shift: whether the target's scores can be a mixture of the two classes'."""
        return mixture_fit(self.validation, tally_of_arrays(None, self.scores[self.counted]))

    @cached_property
    def table(self) -> list[Row]:
        """Counts by labels and by probabilities, before and after calibration; only before where there is no estimate.

        `sd` is the within-sample Bernoulli deviation √Σp(1−p), which leaves out the model's error; `low` and `high`
        include it. `bias` is the estimate's error as a share of all texts. Labels after calibration are the top ⌈n·π⌉
        scores.
        """
        kept = self.scores[self.counted]
        variants = {
            (False, "labels"): (self.votes[self.counted] >= 0.5).astype(np.float64),
            (False, "probabilities"): kept,
        }
        if self.count.reason is None:
            variants[True, "labels"] = self.calibration.labels(kept).astype(np.float64)
            variants[True, "probabilities"] = self.posteriors[self.counted]
        return [self._row(calibrated, kind, values) for (calibrated, kind), values in variants.items()]

    def _row(self, calibrated: bool, kind: str, values: Floats) -> Row:
        # Rounded, so that a sum of tiny probabilities is zero.
        estimate = round(float(values.sum()), 6)
        row: dict[str, Any] = {"calibrated": "yes" if calibrated else "no", "by": kind, "estimate": estimate}
        row["sd"] = round(float(np.sqrt(np.sum(values * (1.0 - values)))), 6) if kind == "probabilities" else None
        if self.count.low is not None:
            low, high = (self.count.count_low, self.count.count_high) if calibrated else (None, None)
            row |= {"low": low, "high": high}
        if self.positive is None:
            return row
        truth = self.positive[self.counted]
        cells = {"P": int(truth.sum()), "TP": int(np.count_nonzero(truth & (values >= 0.5)))}
        row = {"calibrated": row.pop("calibrated"), "by": row.pop("by"), **cells, **row}
        row["bias"] = (estimate - cells["P"]) / len(truth)
        tally = self._tally(values)
        return row | {name: _measured(name, tally) for name in _MEASURES}

    def _tally(self, values: Floats) -> Tally:
        if self.positive is None:
            return tally_of_arrays(None, values)
        return Tally.of(values, self.positive[self.counted], (False, True))

    def heading(self) -> str:
        """What was counted, and how."""
        left_out = int(np.count_nonzero(~self.counted))
        without = f", {left_out} left out" if left_out else ""
        return f"Rare events by {self.method}: {self.count!r}{without}{self.truth_said}"

    @property
    def truth_said(self) -> str:
        """The true count beside the estimate, where the target's labels are known."""
        if self.positive is None:
            return ""
        true, low, high = int(self.positive[self.counted].sum()), self.count.count_low, self.count.count_high
        if low is None or high is None:
            return f"; by their labels there are {true}"
        return f"; by their labels there are {true}, {'inside' if low <= true <= high else 'outside'} the interval"

    def rows(self) -> Sequence[Row]:
        """The four variants."""
        return self.table

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "method": self.method,
            "n": len(self.scores),
            "left_out": int(np.count_nonzero(~self.counted)),
            "count": self.count.to_dict(),
            "variants": plain(self.table),
            "details": plain(dict(self.details)),
        }


def _measured(name: str, tally: Tally) -> float:
    facts = METRICS[name]
    try:
        return facts.compute(tally.at(0.5) if facts.needs == "confusion" else tally)
    except Undefined:
        return math.nan


@dataclass(frozen=True, eq=False, repr=False)
class ClassWeightSweep(RareCount):
    """A count by the class weight that did best on labelled texts, beside what every other weight would have given."""

    weight: float = 1.0
    #: What each weight reaches on labelled texts it has not seen, and what it counts in the target.
    sweep: Sequence[Row] = ()
    #: The four variants of the count by each weight, as in `table`.
    variants: Sequence[Row] = ()

    def heading(self) -> str:
        """The count and the weight."""
        return f"{super().heading()}; positives weigh {self.weight:.4g}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        sweep = {
            "weight": self.weight,
            "sweep": plain(list(self.sweep)),
            "variants_by_weight": plain(list(self.variants)),
        }
        return super().to_dict() | sweep


@dataclass(frozen=True, eq=False, repr=False)
class RareComparison(Shown):
    """Counts of the same texts by several methods, side by side."""

    counts: Mapping[str, RareCount]

    def heading(self) -> str:
        """What is compared, and the true count where it is known."""
        first = next(iter(self.counts.values()))
        return f"Rare events by {len(self.counts)} methods, {int(first.counted.sum())} texts{self.truth_said}"

    @property
    def truth_said(self) -> str:
        """The true count, where the target's labels are known."""
        first = next(iter(self.counts.values()))
        if first.positive is None:
            return ""
        return f"; by their labels there are {int(first.positive[first.counted].sum())}"

    def rows(self) -> Sequence[Row]:
        """The calibrated probabilities of each method: estimate, deviation, interval; with labels also the truth.

        An estimate is missing where labelled texts do not show that words tell the classes apart.
        """
        return [self._row(name, one) for name, one in self.counts.items()]

    def _row(self, name: str, one: RareCount) -> Row:
        table = one.table if one.count.reason is None else []
        line = next((row for row in table if row["calibrated"] == "yes" and row["by"] == "probabilities"), {})
        wanted = ["P"] * (one.positive is not None) + ["estimate", "sd"]
        wanted += ["low", "high"] * (one.count.low is not None) + ["bias", "spcc", "auroc"] * (one.positive is not None)
        return {"method": name, **{column: line.get(column, math.nan) for column in wanted}}

    @property
    def variants(self) -> list[Row]:
        """The four variants of every method."""
        return [{"method": name, **row} for name, one in self.counts.items() for row in one.table]

    @property
    def warnings(self) -> tuple[Note, ...]:
        """The notes of all methods, each once."""
        return tuple(dict.fromkeys(note for one in self.counts.values() for note in one.warnings))

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"methods": {name: one.to_dict() for name, one in self.counts.items()}}
