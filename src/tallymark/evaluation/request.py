"""The checked options of an evaluation: metrics, threshold, prevalence, intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from tallymark._check import Label
from tallymark.errors import InputError, Undefined, nearest
from tallymark.inference.interval import Sampling, Seed
from tallymark.inference.limits.cell_metrics import Limits
from tallymark.inference.resampling.parallel import Resampling
from tallymark.inference.scales import including
from tallymark.measures import Measure
from tallymark.metrics.declare import cell_settings
from tallymark.metrics.parameters import check_parameter, stated_parameters
from tallymark.registry import METRICS, Metric
from tallymark.summaries.confusion import Confusion

Progress = Callable[[float], None]
IntervalMethod = Literal["default", "percentile", "bca"]


def checked_parameters(parameters: Mapping[str, float]) -> Mapping[str, float]:
    """Parameters that some metric has, each in its range."""
    allowed = sorted({name for facts in METRICS.values() for name in facts.parameters})
    for name, value in parameters.items():
        if name not in allowed:
            raise InputError(
                f"evaluate has no option {name!r}.{nearest(name, allowed)} "
                f"Parameters of metrics are: {', '.join(allowed)}."
            )
        check_parameter(name, value)
    return parameters


#: Why a metric does not fit, by what it needs.
_LACKING = {
    "confusion": "needs predicted classes, or a threshold on scores",
    "tally": "needs scores of two classes: tm.tally(y, scores)",
    "probabilities": "needs probabilities of two classes: tm.tally(y, probabilities)",
    "moments": "needs a score for each class: tm.moments(y, scores, classes=…)",
    "multiclass": "needs a score for each class: tm.class_scores(y, scores, classes=…)",
}


#: Why a metric with a value has no interval.
NO_SPREAD = "it does not vary, or is undefined, in resamples of these rows"


@dataclass(frozen=True)
class Request:
    """The options of :func:`tallymark.evaluate`, checked."""

    metrics: list[str] | None
    threshold: float | str | None
    prevalence: float | None
    strict: bool
    level: float | None = None
    interval: IntervalMethod = "default"
    sampling: Sampling = "plain"
    seed: Seed = 0
    parameters: Mapping[str, float] = field(default_factory=dict)
    progress: Progress | None = None
    jobs: int | None = None
    #: Names as the caller gave them, averages over classes among them; None for all.
    named: tuple[str, ...] | None = None
    #: Classes that averages over classes are over; None for all.
    classes: Sequence[Label] | None = None

    def resampling(self, replicates: int) -> Resampling:
        """The options of so many resamples."""
        return Resampling(replicates, self.seed, self.jobs, self.sampling)

    def of(self, facts: Metric) -> dict[str, float]:
        """The given parameters that a metric has, set by name or by the policy."""
        given = stated_parameters(self.threshold, self.parameters)
        return {name: value for name, value in given.items() if name in facts.parameters}

    def with_limits(
        self, measures: Mapping[str, Measure], limits: Mapping[str, Limits], otherwise: str
    ) -> dict[str, Measure]:
        """The measures with their intervals, widened to include the estimate; `otherwise` says why one has none."""
        completed = dict(measures)
        for name, measure in measures.items():
            if math.isnan(measure.value):
                continue
            if name in limits:
                low, high = including(measure.value, *limits[name][:2])
                method = limits[name][2]
                completed[name] = replace(
                    measure, low=low, high=high, interval_method=method, level=self.level, no_interval=None
                )
            elif measure.interval is None:
                completed[name] = replace(measure, no_interval=otherwise)
        return completed

    def fitting(self, *needs: str) -> list[str]:
        """The chosen metrics, or all that need one of these summaries; refuse one that needs another."""
        if self.metrics is None:
            return [name for name in METRICS if METRICS[name].needs in needs]
        for name in self.metrics:
            if METRICS[name].needs not in needs:
                raise InputError(f"{name} {_LACKING[METRICS[name].needs]}.")
        return self.metrics

    def refuse_resampling(self) -> None:
        """Refuse bootstrap intervals of a confusion matrix, which has no scores."""
        if self.level is not None and self.interval != "default":
            raise InputError(f"interval={self.interval!r} resamples scores; labels alone have default intervals only.")

    def refuse_limits(self) -> None:
        """Refuse options of intervals, which moments alone do not have."""
        if self.level not in {None, 0.95} or self.interval != "default" or self.sampling != "plain":
            raise InputError(
                "level=, interval= and sampling= are options of intervals, which moments alone do not have; "
                "evaluate the rows: tm.class_panel(y, scores, classes=…)."
            )

    def refuse_binary_options(self) -> None:
        """Refuse a threshold and a prevalence, which need one positive class."""
        if self.threshold is not None or self.prevalence is not None:
            raise InputError(
                "threshold= and prevalence= are for two classes; this data has a score for each of K classes."
            )


def why_no_interval(matrix: Confusion) -> str:
    """Why a metric of a binary matrix has a value and no interval."""
    return "class sizes are fixed by design" if all(matrix.truth) else "an interval needs rows of both classes"


def settings_at(names: Iterable[str], matrix: Confusion, request: Request) -> dict[str, dict[str, float]]:
    """All parameters of the metrics at a threshold, without those that are undefined there."""
    entries = {}
    for name in names:
        try:
            entries[name] = cell_settings(METRICS[name], request.of(METRICS[name]), matrix.acts_from)
        except Undefined:
            continue
    return entries
