"""``tm.not_worse``: a test of non-inferiority of one sample's metric against another's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tallymark import _check
from tallymark._display import Row, Shown, plain
from tallymark._numbers import number
from tallymark.errors import InputError
from tallymark.evaluation.evaluate import evaluate
from tallymark.inference.interval import checked_level
from tallymark.measures import Measure
from tallymark.registry import METRICS
from tallymark.summaries.confusion import Confusion
from tallymark.summaries.tally import Tally


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class NotWorse(Shown):
    """Test of whether a metric is not worse than before by more than a margin.

    Attributes
    ----------
    metric : str
        The metric.
    new, old : Measure
        The metric of both samples, with limits.
    margin : float
        The loss that would not matter.
    loss, most_loss : float
        How much worse the new value is (negative where it is better), and the upper limit of that at `level`.
    level : float
        Confidence level of the one-sided limit.
    """

    metric: str
    new: Measure
    old: Measure
    margin: float
    loss: float
    most_loss: float
    level: float
    name: str = "the model"

    @property
    def shown(self) -> bool:
        """Whether the loss is shown to be at most the margin."""
        return self.most_loss <= self.margin

    def heading(self) -> str:
        """The verdict in one sentence."""
        verdict = "is shown to be not worse" if self.shown else "is not shown to be not worse"
        by = f" by more than {self.margin:g}" if self.margin else ""
        limit = "its limit cannot be computed" if math.isnan(self.most_loss) else f"at most {number(self.most_loss)}"
        return (
            f"{self.name}: {self.metric} {number(self.new.value)}, before {number(self.old.value)}; it {verdict}{by} "
            f"(loss {number(self.loss)}, {limit} at {100 * self.level:g} %)"
        )

    def rows(self) -> list[Row]:
        """One line."""
        return [
            {
                "model": self.name,
                "metric": self.metric,
                "new": self.new.value,
                "old": self.old.value,
                "loss": self.loss,
                "most_loss": self.most_loss,
                "margin": self.margin,
                "shown": "yes" if self.shown else "no",
            }
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        entries = {name: getattr(self, name) for name in ("metric", "margin", "loss", "most_loss", "level", "shown")}
        return {"model": self.name, **plain(entries), "new": self.new.to_dict(), "old": self.old.to_dict()}


def not_worse(
    new: Tally | Confusion,
    old: Tally | Confusion,
    *,
    metric: str = "auroc",
    margin: float = 0.0,
    threshold: float | str | None = None,
    level: float = 0.95,
    **parameters: float,
) -> NotWorse:
    r"""Test that a metric is not worse than before by more than a margin, from two samples.

    The upper limit of the loss combines the limits of both values (MOVER; Zou & Donner 2008),
    :math:`d + \sqrt{(v_n - l_n)^2 + (u_o - v_o)^2}` of a metric that is better higher. The samples are taken as
    independent; of the same rows scored twice :func:`tallymark.compare` is sharper.

    Parameters
    ----------
    new, old
        Tallies or confusion matrices (:func:`tallymark.load` reads saved ones).
    metric
        A metric that is better higher or lower.
    margin
        A loss that would not matter.
    threshold
        For metrics at a threshold: the same for both samples.
    level
        Confidence level of the one-sided limit.
    **parameters
        Parameters of the metric.

    Returns
    -------
    NotWorse

    Examples
    --------
    >>> import numpy as np, tallymark as tm
    >>> rng = np.random.default_rng(1)
    >>> y = rng.random(4_000) < 0.3
    >>> old, new = (tm.tally(y, rng.normal(y * 1.5)) for _ in range(2))
    >>> tm.not_worse(new, old, margin=0.03).shown
    True
    """
    for name, data in (("new", new), ("old", old)):
        if not isinstance(data, Tally | Confusion):
            raise InputError(f"{name} is a {type(data).__name__}, expected a Tally or a Confusion; tm.load reads one.")
    facts, confidence = METRICS[metric], checked_level(level)
    if facts.better not in {"higher", "lower"}:
        raise InputError(f"{facts.name} is neither better higher nor better lower; choose another metric.")
    if confidence <= 0.5:
        raise InputError(f"level is {level!r}, expected more than 0.5 for a one-sided limit.")
    if not _check.real(margin, "margin") >= 0.0:
        raise InputError(f"margin is {margin!r}, expected a loss of 0 or more.")
    after, before = (_measured(data, facts.name, threshold, 2.0 * confidence - 1.0, parameters) for data in (new, old))
    higher = facts.better == "higher"
    return NotWorse(
        metric=facts.name,
        new=after,
        old=before,
        margin=float(margin),
        loss=before.value - after.value if higher else after.value - before.value,
        most_loss=_most(after, before) if higher else _most(before, after),
        level=confidence,
    )


def _measured(
    data: Tally | Confusion, metric: str, threshold: float | str | None, level: float, parameters: Mapping[str, Any]
) -> Measure:
    return evaluate(data, metrics=[metric], threshold=threshold, level=level, **parameters)[metric]


def _most(less: Measure, more: Measure) -> float:
    """Upper limit of `more` less `less`; nan where one has no limits."""
    if less.low is None or more.high is None:
        return math.nan
    return more.value - less.value + math.hypot(less.value - less.low, more.high - more.value)
