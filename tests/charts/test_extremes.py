"""Charts of extreme data: a chart that can be drawn, or an error of this library; and lines that are the library's values."""

import inspect
import math
import re
import warnings

import numpy as np
import pytest

import tallymark as tm

pytestmark = pytest.mark.slow

Y = np.r_[np.zeros(30, int), np.ones(30, int)]
NORMAL = np.random.default_rng(0).normal(Y)
SCORES = {
    "constant": np.full(60, 0.5),
    "all zero": np.zeros(60),
    "beyond [0, 1]": 1_000.0 * NORMAL,
    "tiny": 1e-7 * NORMAL,
    "huge": 1e300 * NORMAL,
    "perfect": np.linspace(0.1, 0.9, 60),
    "labels": Y.astype(float),
    "reversed": np.linspace(0.9, 0.1, 60),
}


def results(y, scores):
    """A tally and what the library makes of it, where it makes something."""
    tally = tm.tally(y, scores, pos_label=1)
    yield tally
    for make in (
        lambda: tally.at(0.5),
        lambda: tm.evaluate(tally, threshold=0.5),
        lambda: tm.compare(tm.panel(y, {"a": scores, "b": scores[::-1]}), metric="auroc"),
        lambda: tm.quantify.estimate("ac", tally, tm.tally(scores=scores), replicates=20),
        lambda: tm.quantify.mixture_fit(tally, tm.tally(scores=scores)),
    ):
        try:
            yield make()
        except tm.TallymarkError:
            continue


@pytest.mark.parametrize(
    ("y", "scores"),
    [
        *((Y, scores) for scores in SCORES.values()),
        (np.array([0, 1, 0, 1]), np.array([0.1, 0.8, 0.4, 0.35])),
        (np.array([0, 1]), np.array([0.2, 0.3])),
    ],
    ids=[*SCORES, "four rows", "two rows"],
)
def test_a_chart_or_a_sentence(y, scores):
    import vl_convert

    drawn = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for data in results(y, scores):
            for name in tm.charts.__all__:
                draw = getattr(tm.charts, name)
                needed = [p for p in inspect.signature(draw).parameters.values() if p.default is p.empty]
                if len(needed) > 1:
                    continue
                try:
                    chart = draw(data)
                except tm.TallymarkError:
                    continue
                svg = vl_convert.vegalite_to_svg(chart.to_dict())
                assert not re.search(r' d="[^"]*NaN', svg), name
                drawn += 1
    assert drawn


def layers(part):
    """Layers of a chart that hold data, with what they inherit."""
    if "layer" in part:
        for inner in part["layer"]:
            yield from layers({"data": part.get("data"), **inner})
    elif part.get("data") and part["data"].get("values"):
        yield part


#: Charts of a function of x, with the fields that are drawn and the library's own values there.
FUNCTIONS = {
    "decision_curve": ("threshold", "net benefit", lambda t, x: tm.decision_curve(t, thresholds=x).net_benefit),
    "cost_curve": ("probability_cost", "cost", lambda t, x: np.interp(x, *tm.cost_curve(t).columns().values())),
    "over_prevalence": ("prevalence", "value", lambda t, x: tm.over_prevalence(t.at(0.5), ["precision"], x)["precision"]),
    "gain": ("rate", "recall", lambda t, x: np.interp(x, tm.gain(t).rate, tm.gain(t).recall)),
}  # fmt: skip


@pytest.mark.parametrize("name", list(FUNCTIONS))
@pytest.mark.parametrize(
    ("scores", "prevalence"), [("perfect", None), ("constant", None), ("weak", 0.02), ("good", 0.3)]
)
def test_the_line_drawn_has_the_values_of_the_library(name, scores, prevalence):
    gap = {"weak": 1.0, "good": 3.0}
    drawn = SCORES.get(scores)
    if drawn is None:
        drawn = 1.0 / (1.0 + np.exp(-2.0 * np.random.default_rng(1).normal(gap[scores] * Y)))
    tally = tm.tally(Y, drawn).at_prevalence(prevalence)
    x, y, library = FUNCTIONS[name]
    options = {"metrics": ["precision"]} if name == "over_prevalence" else {}
    chart = getattr(tm.charts, name)(tally, **options).to_dict()
    if "All scores are equal" in chart["description"]:
        return
    (line,) = (p for p in layers(chart) if "model" in p["data"]["values"][0] and p["mark"]["type"] == "line")
    rows = sorted(line["data"]["values"], key=lambda row: row["order"])
    # At and between the points that are drawn: a gap in the points would show as a line that joins its sides.
    xs, ys = ([row[field] for row in rows] for field in (x, y))
    at = np.array(tm.decision_curve(tally).threshold) if name == "decision_curve" else np.linspace(xs[0], xs[-1], 57)
    assert np.interp(at, xs, ys) == pytest.approx(library(tally, at), rel=0.02, abs=1e-9)
    # What is beyond the ends of an axis leaves the picture; it is not moved to the edge.
    domain = line["encoding"]["y"].get("scale", {}).get("domain", [-math.inf, math.inf])
    assert line["mark"].get("clip") or (min(ys) >= domain[0] and max(ys) <= domain[1])


@pytest.mark.parametrize("draw", [tm.charts.calibration_curve, tm.charts.brier_curve, tm.charts.decision_curve])
def test_charts_of_probabilities_refuse_other_scores(draw):
    with pytest.raises(tm.TallymarkError, match="calibrate"):
        draw(tm.tally(Y, SCORES["beyond [0, 1]"]))
    with pytest.raises(tm.TallymarkError, match="calibrate"):
        tm.intervals.calibration_band(tm.tally(Y, SCORES["beyond [0, 1]"]))
