"""Evaluation of a K-class confusion matrix: overall metrics, averages over classes, and each class against the rest."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tallymark.errors import InputError, shown
from tallymark.evaluation.point_estimates import measure_of
from tallymark.evaluation.request import NO_SPREAD, Request, why_no_interval
from tallymark.inference.guards import table_notes
from tallymark.inference.limits.cell_metrics import RateQuery, limits_of_many
from tallymark.inference.limits.class_metrics import class_limits
from tallymark.measures import Evaluation
from tallymark.metrics.averages import CLASS_METRICS, PER_CLASS
from tallymark.metrics.multiclass import spcc_one_vs_one, spcc_one_vs_rest
from tallymark.registry import METRICS
from tallymark.summaries.confusion import Confusion
from tallymark.summaries.moments import Moments


def evaluate_classes(confusion: Confusion, request: Request) -> Evaluation:
    """A K-class matrix: metrics of the whole, averages, and each class against the rest."""
    metrics = request.metrics
    of_classes = {one.metric for one in CLASS_METRICS.values()}
    for name in metrics or ():
        if METRICS[name].needs == "confusion" and name not in of_classes:
            if len(confusion.labels) == 2:
                raise InputError(
                    f"{name} needs a positive class; say which of {shown(confusion.labels)} it is: "
                    f"tm.confusion(y, predicted, pos_label={confusion.labels[1]!r})."
                )
            average = f" Average it: tm.metrics.{name}(confusion, average='macro')." if METRICS[name].expression else ""
            raise InputError(f"{name} is a binary metric; this matrix has {len(confusion.labels)} classes.{average}")
    wanted = metrics if request.named is None else request.named
    chosen = {
        name: one for name, one in CLASS_METRICS.items() if wanted is None or name in wanted or one.metric in wanted
    }
    over = None if request.classes is None else confusion.known(request.classes)
    if over is not None and not any(one.average for one in chosen.values()):
        raise InputError("classes= says which classes averages such as f1_macro are over; none is among these metrics.")
    measures = {
        name: measure_of(
            METRICS[one.metric],
            confusion,
            name,
            **({} if one.average is None else {"average": one.average, "classes": over}),
        )
        for name, one in chosen.items()
    }
    parts = [confusion.one_vs_rest(label) for label in confusion.labels]
    of_each = [{name: measure_of(METRICS[name], part) for name in PER_CLASS} for part in parts]
    if request.level is not None:
        limits = limits_of_many([RateQuery(PER_CLASS, part) for part in parts], request.level, request.sampling)
        of_each = [
            request.with_limits(measured, ends, why_no_interval(part))
            for measured, ends, part in zip(of_each, limits, parts, strict=True)
        ]
    per_class = dict(zip(map(str, confusion.labels), of_each, strict=True))
    if request.level is not None:
        defined = {
            name: (one.metric, one.average) for name, one in chosen.items() if not math.isnan(measures[name].value)
        }
        places = None if over is None else [confusion.labels.index(label) for label in over]
        overall = class_limits(
            confusion, defined, request.level, request.sampling, request.seed, request.jobs, classes=places
        )
        measures = request.with_limits(measures, overall, NO_SPREAD)
    return Evaluation(
        measures,
        n=confusion.n,
        n_rows=confusion.n_rows,
        confusion=confusion,
        per_class=per_class,
        sampling=request.sampling,
        averaged_over=over,
        warnings=table_notes(confusion),
    )


def correlation_tables(moments: Moments) -> Mapping[str, Any]:
    """Score-class correlations (SPCC) of each class against every other class, and against the rest."""
    return {
        "classes": list(moments.labels),
        "spcc_one_vs_one": spcc_one_vs_one(moments),
        "spcc_one_vs_rest": spcc_one_vs_rest(moments),
    }
