"""Evaluation of K classes: predicted labels, a score for each class, and the rows behind them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tallymark.errors import InputError, shown
from tallymark.evaluation.point_estimates import measure_of
from tallymark.evaluation.request import Request
from tallymark.inference.guards import table_notes
from tallymark.inference.limits.cell_metrics import Asked as RatesAsked
from tallymark.inference.limits.cell_metrics import limits_of_many
from tallymark.inference.limits.class_metrics import class_limits
from tallymark.measures import Evaluation
from tallymark.metrics.averages import CLASS_METRICS, PER_CLASS
from tallymark.metrics.multiclass import spcc_one_vs_one, spcc_one_vs_rest
from tallymark.registry import METRICS
from tallymark.summaries.confusion import Confusion
from tallymark.summaries.moments import Moments


def evaluate_classes(confusion: Confusion, asked: Request) -> Evaluation:
    """A K-class matrix: metrics of the whole, averages, and each class against the rest."""
    metrics = asked.metrics
    known = {one.metric for one in CLASS_METRICS.values()}
    for name in metrics or ():
        if METRICS[name].needs == "confusion" and name not in known:
            if len(confusion.labels) == 2:
                raise InputError(
                    f"{name} speaks of a positive class; say which of {shown(confusion.labels)} it is: "
                    f"tm.confusion(y, predicted, pos_label={confusion.labels[1]!r})."
                )
            average = f" Average it: tm.metrics.{name}(confusion, average='macro')." if METRICS[name].expression else ""
            raise InputError(f"{name} speaks of two classes, here are {len(confusion.labels)}.{average}")
    asked_for = asked.named if asked.named is not None else metrics
    chosen = {
        name: one
        for name, one in CLASS_METRICS.items()
        if asked_for is None or name in asked_for or one.metric in asked_for
    }
    measures = {
        name: measure_of(
            METRICS[one.metric], confusion, name, **({} if one.average is None else {"average": one.average})
        )
        for name, one in chosen.items()
    }
    parts = [confusion.one_vs_rest(label) for label in confusion.labels]
    of_each = [{name: measure_of(METRICS[name], part) for name in PER_CLASS} for part in parts]
    if asked.level is not None:
        limits = limits_of_many([RatesAsked(PER_CLASS, part) for part in parts], asked.level, asked.sampling)
        of_each = [asked.with_limits(found, own) for found, own in zip(of_each, limits, strict=True)]
    per_class = dict(zip(map(str, confusion.labels), of_each, strict=True))
    if asked.level is not None:
        defined = {
            name: (one.metric, one.average) for name, one in chosen.items() if not math.isnan(measures[name].value)
        }
        measures = asked.with_limits(
            measures, class_limits(confusion, defined, asked.level, asked.sampling, asked.seed, asked.jobs)
        )
    return Evaluation(
        measures,
        n=confusion.n,
        n_rows=confusion.n_rows,
        confusion=confusion,
        per_class=per_class,
        sampling=asked.sampling,
        warnings=table_notes(confusion),
    )


def correlation_tables(moments: Moments) -> Mapping[str, Any]:
    """How well each class's score tells it from each other class, and from the rest."""
    return {
        "classes": list(moments.labels),
        "spcc_one_vs_one": spcc_one_vs_one(moments),
        "spcc_one_vs_rest": spcc_one_vs_rest(moments),
    }
