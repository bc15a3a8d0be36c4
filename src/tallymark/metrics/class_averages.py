"""Averages over classes as functions of their own: ``tm.metrics.f1_macro(confusion)``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tallymark._check import Label
from tallymark.metrics.averages import CLASS_METRICS
from tallymark.metrics.margins import WEIGHTED
from tallymark.registry import METRICS
from tallymark.summaries.confusion import Confusion

_DOCSTRING = """{meaning}

The same as ``tm.metrics.{metric}(confusion, average={average!r})``.

Parameters
----------
confusion : Confusion
    Confusion matrix of K classes.
classes : sequence, optional
    Classes to average over; all of them by default.
{weights}
Returns
-------
float
    ``nan``, with a warning that gives the reason, where the metric is undefined.

Examples
--------
>>> import tallymark as tm
>>> round(tm.metrics.{name}(tm.confusion(list("aabbcc"), list("aabacc"))), 4)
{example}
"""

_WEIGHTS = """weights : mapping, optional
    Weight of each class; its number of rows by default.
"""


def _average(name: str, example: float) -> Callable[..., float]:
    """The function of an average; `example` is its value, to four decimals, in the docstring."""
    one = CLASS_METRICS[name]

    def plain(confusion: Confusion, /, *, classes: Sequence[Label] | None = None) -> float:
        return METRICS[one.metric].function(confusion, average=one.average, classes=classes)

    def weighted(
        confusion: Confusion,
        /,
        *,
        weights: Mapping[Label, float] | None = None,
        classes: Sequence[Label] | None = None,
    ) -> float:
        return METRICS[one.metric].function(confusion, average=one.average, weights=weights, classes=classes)

    function: Callable[..., float] = weighted if one.average in WEIGHTED else plain
    function.__module__ = __name__
    function.__name__ = function.__qualname__ = name
    function.__doc__ = _DOCSTRING.format(
        meaning=one.meaning,
        metric=one.metric,
        average=one.average,
        weights=_WEIGHTS if one.average in WEIGHTED else "",
        name=name,
        example=example,
    )
    return function


precision_macro = _average("precision_macro", 0.8889)
recall_macro = _average("recall_macro", 0.8333)
f1_macro = _average("f1_macro", 0.8222)
f1_of_macro_means = _average("f1_of_macro_means", 0.8602)
f1_of_weighted_means = _average("f1_of_weighted_means", 0.8602)
f1_micro = _average("f1_micro", 0.8333)
precision_weighted = _average("precision_weighted", 0.8889)
recall_weighted = _average("recall_weighted", 0.8333)
f1_weighted = _average("f1_weighted", 0.8222)

#: The averages by name.
AVERAGES = {name: globals()[name] for name, one in CLASS_METRICS.items() if one.average is not None}
