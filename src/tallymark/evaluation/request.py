"""What is asked of an evaluation: metrics, threshold, prevalence, intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from tallymark.errors import InputError, Undefined, nearest
from tallymark.inference.interval import Sampling, Seed
from tallymark.inference.limits.cell_metrics import Limits
from tallymark.measures import Measure
from tallymark.metrics.declare import cell_settings
from tallymark.metrics.parameters import check_parameter, stated_parameters
from tallymark.registry import METRICS, Metric
from tallymark.summaries.confusion import Confusion

Progress = Callable[[float], None]
IntervalMethod = Literal["default", "percentile", "bca"]


def checked_parameters(parameters: Mapping[str, float]) -> Mapping[str, float]:
    """Parameters that some metric has, each in its range."""
    known = {name for facts in METRICS.values() for name in facts.parameters}
    for name, value in parameters.items():
        if name not in known:
            raise InputError(
                f"evaluate has no option {name!r}.{nearest(name, known)} Parameters of metrics are: {', '.join(sorted(known))}."
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


@dataclass(frozen=True)
class Request:
    """What a caller asked for, checked."""

    metrics: list[str] | None
    threshold: float | str | None
    prevalence: float | None
    strict: bool
    level: float | None = None
    interval: str = "default"
    sampling: Sampling = "plain"
    seed: Seed = 0
    parameters: Mapping[str, float] = field(default_factory=dict)
    progress: Progress | None = None
    jobs: int | None = None
    #: Names as they were asked for, averages over classes among them; None for all.
    named: tuple[str, ...] | None = None

    def of(self, facts: Metric) -> dict[str, float]:
        """The parameters of a metric that were asked for, by name or by the policy."""
        asked = stated_parameters(self.threshold, self.parameters)
        return {name: value for name, value in asked.items() if name in facts.parameters}

    def with_limits(self, measures: dict[str, Measure], limits: Mapping[str, Limits]) -> dict[str, Measure]:
        """The measures with their intervals; an estimate at the end of its range belongs to its interval."""
        return measures | {
            name: replace(
                measures[name],
                low=min(low, measures[name].value),
                high=max(high, measures[name].value),
                interval_method=method,
                level=self.level,
            )
            for name, (low, high, method) in limits.items()
            if not math.isnan(measures[name].value)
        }

    def fitting(self, *needs: str) -> list[str]:
        """The asked metrics, or all that these summaries can give."""
        if self.metrics is None:
            return [name for name in METRICS if METRICS[name].needs in needs]
        for name in self.metrics:
            if METRICS[name].needs not in needs:
                raise InputError(f"{name} {_LACKING[METRICS[name].needs]}.")
        return self.metrics

    def refuse_resampling(self) -> None:
        """A matrix alone is not resampled: its default intervals need nothing but the cells."""
        if self.level is not None and self.interval != "default":
            raise InputError(f"interval={self.interval!r} resamples scores; labels alone have default intervals only.")

    def refuse_limits(self) -> None:
        """Moments alone have no intervals."""
        if self.level not in {None, 0.95} or self.interval != "default" or self.sampling != "plain":
            raise InputError(
                "level=, interval= and sampling= speak of intervals, which moments alone do not have; evaluate the rows: "
                "tm.class_panel(y, scores, classes=…)."
            )

    def refuse_binary_options(self) -> None:
        """A threshold and a prevalence speak of one positive class."""
        if self.threshold is not None or self.prevalence is not None:
            raise InputError(
                "threshold= and prevalence= speak of two classes; this data has a score for each of K classes."
            )


def settings_at(names: Iterable[str], matrix: Confusion, asked: Request) -> dict[str, dict[str, float]]:
    """All parameters of the metrics at a threshold; what has none there has no value either."""
    entries = {}
    for name in names:
        try:
            entries[name] = cell_settings(METRICS[name], asked.of(METRICS[name]), matrix.acts_from)
        except Undefined:
            continue
    return entries
