"""The picture of a result: what a notebook shows beside its table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tallymark import charts
from tallymark.charts.notebook import with_titles
from tallymark.comparison.results import Comparison
from tallymark.curves.cutoff import DetCurve, GainCurve, PrCurve, RocCurve, ThresholdCurve
from tallymark.curves.decision import DecisionCurve
from tallymark.curves.histogram import ScoreHistogram
from tallymark.curves.operating import BrierCurve, CalibrationCurve, CostCurve, PrevalenceCurve
from tallymark.errors import InputError
from tallymark.inference.by_sample_size import BySize
from tallymark.measures import Evaluation, Evaluations
from tallymark.quantify.estimation.class_prevalences import ClassPrevalences
from tallymark.quantify.estimation.mixture_test import MixtureFit
from tallymark.quantify.estimation.prevalence import Prevalences
from tallymark.quantify.estimation.sensitivity import Sensitivity
from tallymark.summaries.confusion import Confusion

#: Metrics of a picture that stands beside the table of all.
_HEADLINE = ("auroc", "average_precision", "recall", "precision", "f1", "mcc", "balanced_accuracy")


def _forest(data: Evaluation | Evaluations) -> Any:
    first = data if isinstance(data, Evaluation) else next(iter(data.values()))
    shown = tuple(name for name in _HEADLINE if name in first)
    return charts.forest(data, metrics=shown or None)


#: Which picture a result has.
_PICTURES: Mapping[type, Callable[..., Any]] = {
    RocCurve: charts.roc,
    PrCurve: charts.pr,
    DetCurve: charts.det,
    GainCurve: charts.gain,
    ThresholdCurve: charts.over_thresholds,
    PrevalenceCurve: charts.over_prevalence,
    CostCurve: charts.cost_curve,
    BrierCurve: charts.brier_curve,
    CalibrationCurve: charts.calibration_curve,
    DecisionCurve: charts.decision_curve,
    ScoreHistogram: charts.score_histogram,
    Evaluation: _forest,
    Evaluations: _forest,
    Comparison: charts.comparison,
    Confusion: charts.confusion,
    BySize: charts.by_sample_size,
    Prevalences: charts.prevalences,
    ClassPrevalences: lambda found: charts.class_prevalences({next(iter(found.values())).method: found}),
    MixtureFit: charts.mixture_fit,
    Sensitivity: charts.sensitivity,
}

#: Size of a picture beside a table.
_WIDTH, _HEIGHT = 260, 200


def small_picture(result: object) -> str:
    """A result's picture as SVG, or nothing where it has none."""
    draw = next((draw for kind, draw in _PICTURES.items() if isinstance(result, kind)), None)
    if draw is None:
        return ""
    try:
        specification = draw(result).to_dict()
    except InputError:
        # Nothing in it can be drawn; the table says what there is.
        return ""
    if "height" in specification:
        specification |= {"width": _WIDTH, "height": min(specification["height"], _HEIGHT)}
    import vl_convert

    return with_titles(vl_convert.vegalite_to_svg(specification), specification.get("description", ""))
