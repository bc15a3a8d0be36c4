"""Curves of one or several models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tallymark import _check, curves
from tallymark.charts.inputs import Drawn, by_name, curves_of, tallies_of
from tallymark.charts.parts import axis, line_of_chance, tips
from tallymark.charts.theme import altair, by_model, finished, palette, rows, titled
from tallymark.charts.thinning import points
from tallymark.curves.cutoff import DetCurve, GainCurve, PrCurve, RocCurve, ThresholdCurve
from tallymark.curves.decision import DecisionCurve
from tallymark.curves.isolines import precision_at_f
from tallymark.curves.operating import BrierCurve, CalibrationCurve, CostCurve, PrevalenceCurve
from tallymark.errors import InputError
from tallymark.inference.limits.bands import calibration_band, pr_band, roc_band
from tallymark.summaries.tally import Tally


def roc(
    data: object,
    *,
    thresholds: Sequence[float | str] = (),
    band: bool = False,
    hull: bool = False,
    partial: tuple[float, float] | None = None,
    theme: str = "light",
    seed: int = 0,
) -> Any:
    """ROC curves: true positive rate against false positive rate, with the line of chance.

    `data` is a tally, a curve, several by name, or a panel. `thresholds` are numbers or policies marked on each curve;
    `band` adds 95 % bands, `hull` the convex hulls, `partial` shades the area between two false positive rates.

    >>> import tallymark as tm
    >>> chart = tm.charts.roc(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35]))
    >>> chart.to_dict()["title"]["text"]
    'ROC'
    """
    drawn = curves_of(data, RocCurve, curves.roc, area="auroc", thin=True)
    tallies, made = _apart(drawn)
    names = [_with_area(name, one) for name, one in drawn.items()]
    lines = [
        row
        for shown, curve in zip(names, made.values(), strict=True)
        for row in points(curve.columns(), "fpr", "tpr", model=shown)
    ]
    layers = [line_of_chance([(0.0, 0.0), (1.0, 1.0)], theme)]
    if partial is not None:
        layers.append(_shaded(made, names, partial, theme))
    if band:
        layers.append(
            _bands(
                {n: roc_band(t, seed=seed).points for n, t in zip(names, tallies.values(), strict=True)}, names, theme
            )
        )
    if hull:
        layers.append(_hulls(made, names, theme))
    layers.append(
        _lines(lines, "fpr", "tpr", "false positive rate", "true positive rate", names, theme, "area under the curve")
    )
    marks = [
        {
            "model": name,
            "fpr": c.fp / tally.negatives,
            "tpr": c.tp / tally.positives,
            "at": str(threshold),
            "threshold": c.threshold,
        }
        for (name, tally) in zip(names, tallies.values(), strict=True)
        for threshold in _check.listed(thresholds)
        for c in [tally.at(threshold)]
    ]
    if marks:
        layers.append(_marks(marks, "fpr", "tpr", names, theme))
    return finished(altair().layer(*layers), "ROC", theme)


def pr(
    data: object, *, thresholds: Sequence[float | str] = (), band: bool = False, isolines: Sequence[float] = (0.2, 0.4, 0.6, 0.8),
    beta: float = 1.0, prevalence: float | None = None, theme: str = "light", seed: int = 0,
) -> Any:  # fmt: skip
    """Precision against recall, with the prevalence as the line of chance and lines of equal F.

    `prevalence` shows the same data at another prevalence; other options as for :func:`roc`.

    >>> import tallymark as tm
    >>> chart = tm.charts.pr(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35]), prevalence=0.1)
    >>> chart.to_dict()["title"]["text"]
    'Precision and recall at prevalence 0.1'
    """
    seen = data if prevalence is None else {n: t.at_prevalence(prevalence) for n, t in tallies_of(data).items()}
    drawn = curves_of(seen, PrCurve, curves.pr, area="average_precision", thin=True)
    tallies, made = _apart(drawn)
    names = [_with_area(name, one) for name, one in drawn.items()]
    lines = [
        row
        for shown, curve in zip(names, made.values(), strict=True)
        for row in points(
            {n: v for n, v in curve.columns().items() if n in {"recall", "precision", "threshold"}},
            "recall",
            "precision",
            model=shown,
        )
    ]
    first = next(iter(tallies.values()))
    layers = [
        _equal_f(isolines, beta, theme),
        line_of_chance([(0.0, first.prevalence), (1.0, first.prevalence)], theme),
    ]
    if band:
        layers.append(
            _bands(
                {n: pr_band(t, seed=seed).points for n, t in zip(names, tallies.values(), strict=True)}, names, theme
            )
        )
    layers.append(
        _lines(
            lines, "recall", "precision", "recall", "precision", names, theme, "average precision", steps="step-before"
        )
    )
    marks = []
    for name, tally in zip(names, tallies.values(), strict=True):
        for threshold in _check.listed(thresholds):
            cells = tally.at(threshold).cells
            if cells.tp + cells.fp > 0:
                marks.append(
                    {
                        "model": name,
                        "recall": float(cells.tp / (cells.tp + cells.fn)),
                        "precision": float(cells.tp / (cells.tp + cells.fp)),
                        "at": str(threshold),
                    }
                )
    if marks:
        layers.append(_marks(marks, "recall", "precision", names, theme))
    at = "" if prevalence is None else f" at prevalence {prevalence:g}"
    return finished(altair().layer(*layers), f"Precision and recall{at}", theme)


def det(data: object, *, theme: str = "light") -> Any:
    """Detection error trade-off: both error rates on normal scales.

    >>> import tallymark as tm
    >>> tm.charts.det(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35])).to_dict()["title"]["text"]
    'Detection error trade-off'
    """
    from scipy.special import ndtri

    alt = altair()
    tallies, made = _apart(curves_of(data, DetCurve, curves.det, thin=True))
    lines = []
    for name, curve in made.items():
        with np.errstate(divide="ignore"):
            x, y = ndtri(curve.fpr), ndtri(curve.fnr)
        lines += points({"fpr": curve.fpr, "fnr": curve.fnr, "x": x, "y": y}, "x", "y", model=name)
    if not lines:
        raise InputError(
            "These classes do not overlap: no threshold makes errors of both kinds, so there is no trade-off to draw."
        )
    ticks = [0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99]
    places = [float(ndtri(t)) for t in ticks]
    words = " : ".join(
        f"abs(datum.value - ({p:.4f})) < 0.01 ? '{100 * t:g} %'" for p, t in zip(places, ticks, strict=True)
    )
    labels = {"values": places, "labelExpr": f"{words} : ''"}
    chart = (
        alt.Chart(rows(lines))
        .mark_line(interpolate="linear")
        .encode(
            x=alt.X("x:Q", title="false positive rate", axis=alt.Axis(**labels)),
            y=alt.Y("y:Q", title="false negative rate", axis=alt.Axis(**labels)),
            order="order:Q",
            tooltip=tips("model", "fpr", "fnr"),
            **by_model(list(tallies), theme),
        )
    )
    return finished(chart, "Detection error trade-off", theme)


def gain(data: object, *, lift: bool = False, theme: str = "light") -> Any:
    """Cumulative gain (recall against the share of rows predicted positive), or lift.

    >>> import tallymark as tm
    >>> tm.charts.gain(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35]), lift=True).to_dict()["title"]["text"]
    'Lift'
    """
    tallies, made = _apart(curves_of(data, GainCurve, curves.gain, thin=True))
    y, title = ("lift", "lift") if lift else ("recall", "share of positives found")
    lines = []
    for name, curve in made.items():
        lines += points({"rate": curve.rate, "recall": curve.recall, "lift": curve.lift}, "rate", y, model=name)
    chance = [(0.0, 1.0), (1.0, 1.0)] if lift else [(0.0, 0.0), (1.0, 1.0)]
    layers = [line_of_chance(chance, theme)]
    layers.append(
        _lines(lines, "rate", y, "share of rows predicted positive", title, list(tallies), theme, None, unit=not lift)
    )
    return finished(altair().layer(*layers), "Lift" if lift else "Cumulative gain", theme)


def cost_curve(data: object, *, theme: str = "light") -> Any:
    """Normalised expected cost against the probability-cost function, beside predicting all or none positive.

    >>> import tallymark as tm
    >>> tm.charts.cost_curve(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35])).to_dict()["title"]["text"]
    'Cost curve'
    """
    tallies, made = _apart(curves_of(data, CostCurve, curves.cost_curve, thin=True))
    lines = [
        row for name, curve in made.items() for row in points(curve.columns(), "probability_cost", "cost", model=name)
    ]
    layers = [line_of_chance([(0.0, 0.0), (0.5, 0.5), (1.0, 0.0)], theme)]
    layers.append(
        _lines(
            lines,
            "probability_cost",
            "cost",
            "probability cost",
            "normalised expected cost",
            list(tallies),
            theme,
            None,
            unit=False,
        )
    )
    return finished(altair().layer(*layers), "Cost curve", theme)


def brier_curve(data: object, *, theme: str = "light") -> Any:
    """Loss of probabilities used as they are, against the share of the cost that false positives have.

    >>> import tallymark as tm
    >>> tm.charts.brier_curve(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35])).to_dict()["title"]["text"]
    'Brier curve'
    """
    tallies, made = _apart(curves_of(data, BrierCurve, curves.brier_curve, thin=True))
    lines = [row for name, curve in made.items() for row in points(curve.columns(), "cost_share", "loss", model=name)]
    chart = _lines(
        lines,
        "cost_share",
        "loss",
        "share of the cost of a false positive",
        "loss",
        list(tallies),
        theme,
        None,
        unit=False,
    )
    return finished(altair().layer(chart), "Brier curve", theme)


def calibration_curve(data: object, *, bins: int = 10, theme: str = "light") -> Any:
    """Observed shares of positives against mean probabilities, bins of equal size; of tallies with 95 % intervals.

    >>> import tallymark as tm
    >>> tm.charts.calibration_curve(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35]), bins=2).to_dict()["title"]["text"]
    'Reliability'
    """
    alt = altair()
    items = []
    named = by_name(data)
    for name, one in named.items():
        if isinstance(one, Tally) and one.clusters is not None:
            # Limits that take rows one by one would be far too sure.
            one = curves.calibration_curve(one, bins=bins)  # noqa: PLW2901
        if isinstance(one, CalibrationCurve):
            points_of = {"mean": one.mean_score, "observed": one.observed, "rows": one.mass}
        else:
            band = calibration_band(tallies_of({name: one})[name], bins=bins).points
            points_of = {
                "mean": band["x"],
                "observed": band["value"],
                "low": band["low"],
                "high": band["high"],
                "rows": band["n"],
            }
        lines_of = zip(*(np.asarray(values, dtype=np.float64).tolist() for values in points_of.values()), strict=True)
        items += [{"model": name, **dict(zip(points_of, line, strict=True))} for line in lines_of]
    look = by_model(list(named), theme)
    base = alt.Chart(rows(items))
    x, y = axis("x", "mean", "mean probability"), axis("y", "observed", "observed share of positives")
    spans = (
        base.transform_filter("isValid(datum.low)")
        .mark_rule(opacity=0.7)
        .encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=look["color"])
    )
    lines = base.mark_line(point=True).encode(
        x=x, y=y, tooltip=tips("model", "mean", "observed", "low", "high", "rows"), **look
    )
    return finished(alt.layer(line_of_chance([(0, 0), (1, 1)], theme), spans, lines), "Reliability", theme)


def decision_curve(data: object, *, theme: str = "light") -> Any:
    """Decision curves of probabilities, beside acting on everyone and on no one.

    >>> import tallymark as tm
    >>> tm.charts.decision_curve(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35])).to_dict()["title"]["text"]
    'Decision curve'
    """
    alt = altair()
    _, made = _apart(curves_of(data, DecisionCurve, curves.decision_curve))
    lines = [
        row
        for name, curve in made.items()
        for row in points(
            {"threshold": curve.threshold, "net benefit": curve.net_benefit}, "threshold", "net benefit", model=name
        )
    ]
    first = next(iter(made.values()))
    # Acting on everyone soon costs far more than anyone would look at.
    least = -0.25 * max(first.prevalence, *(float(curve.net_benefit.max()) for curve in made.values()))
    x = axis("x", "threshold", "probability from which one would act")
    y = alt.Y("net benefit:Q", title="net benefit per row", scale=alt.Scale(domainMin=least))
    base = alt.Chart(rows([row for row in lines if row["net benefit"] >= least]))
    own = base.mark_line().encode(
        x=x, y=y, order="order:Q", tooltip=tips("model", "threshold", "net benefit"), **by_model(list(made), theme)
    )
    # Named on the line, so that the legend is the models' alone.
    others = []
    for who, values, dash, side in (
        ("act on everyone", first.treat_all, [1, 0], {"align": "left", "dx": 6}),
        ("act on no one", first.treat_none, [2, 3], {"align": "right", "dx": -4, "dy": 8}),
    ):
        shown = [
            {"threshold": float(t), "net benefit": float(v), "who": who}
            for t, v in zip(first.threshold, values, strict=True)
            if v >= least
        ]
        line = alt.Chart(rows(shown)).encode(x=x, y=y, tooltip=tips("who", "threshold", "net benefit"))
        others.append(line.mark_line(color="grey", strokeDash=dash))
        label = alt.Chart(rows(shown[-1:])).mark_text(color="grey", **side)
        others.append(label.encode(x=x, y=y, text="who:N"))
    return finished(alt.layer(*others, own), "Decision curve", theme)


def over_thresholds(
    data: object, *, metrics: Sequence[str] = ("recall", "specificity", "precision", "f1"), theme: str = "light"
) -> Any:
    """Metrics against the threshold, one model.

    >>> import tallymark as tm
    >>> tm.charts.over_thresholds(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35])).to_dict()["title"]["text"]
    'Metrics by threshold'
    """
    name, drawn = _one(curves_of(data, ThresholdCurve, lambda tally: curves.over_thresholds(tally, metrics), thin=True))
    curve = drawn.curve
    metrics = list(curve.values)
    lines = [
        row
        for metric in metrics
        for row in points({"threshold": curve.thresholds, "value": curve[metric]}, "threshold", "value", model=metric)
    ]
    chart = _lines(
        lines, "threshold", "value", "threshold", "value", list(metrics), theme, None, unit=False, steps="step-after"
    )
    return finished(altair().layer(chart), titled("Metrics by threshold", name), theme)


def over_prevalence(
    data: object,
    *,
    metrics: Sequence[str] = ("precision", "f1", "mcc", "accuracy"),
    threshold: float | str = 0.5,
    theme: str = "light",
) -> Any:
    """Metrics at one threshold against the prevalence they would have, on a logarithmic scale.

    >>> import tallymark as tm
    >>> tm.charts.over_prevalence(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35])).to_dict()["title"]["text"]
    'Metrics by prevalence'
    """
    alt = altair()
    if isinstance(data, PrevalenceCurve):
        name, curve = "model", data
    else:
        name, tally = _one(tallies_of(data))
        curve = curves.over_prevalence(tally.at(threshold), metrics, np.geomspace(1e-4, 0.5, 60))
    metrics = list(curve.values)
    lines = [
        row
        for metric in metrics
        for row in points({"prevalence": curve.prevalence, "value": curve[metric]}, "prevalence", "value", model=metric)
    ]
    base = alt.Chart(rows(lines)).mark_line().encode(
        x=alt.X("prevalence:Q", title="prevalence", scale=alt.Scale(type="log")), y=alt.Y("value:Q", title="value"),
        order="order:Q", tooltip=tips("model", "prevalence", "value"), **by_model(list(metrics), theme),
    )  # fmt: skip
    return finished(base, titled("Metrics by prevalence", name), theme)


def _one(models: Mapping[str, Any]) -> tuple[str, Any]:
    if len(models) != 1:
        raise InputError(f"This picture shows one model, got {len(models)}; draw one for each.")
    return next(iter(models.items()))


def _apart(drawn: Mapping[str, Drawn]) -> tuple[dict[str, Tally], dict[str, Any]]:
    """The tallies and the curves, by name."""
    return {name: one.tally for name, one in drawn.items()}, {name: one.curve for name, one in drawn.items()}


def _with_area(name: str, drawn: Drawn) -> str:
    return name if drawn.area is None else f"{name} ({drawn.area:.3f})"


def _lines(
    found: list[dict[str, Any]], x: str, y: str, x_title: str, y_title: str, names: Sequence[str], theme: str,
    legend: str | None, *, unit: bool = True, steps: str = "linear",
) -> Any:  # fmt: skip
    alt = altair()
    extra = [name for name in ("threshold",) if found and name in found[len(found) // 2] and name not in {x, y}]
    return alt.Chart(rows(found)).mark_line(strokeWidth=2, interpolate=steps).encode(
        x=axis("x", x, x_title, unit=unit), y=axis("y", y, y_title, unit=unit), order="order:Q",
        tooltip=tips("model", x, y, *extra), **by_model(names, theme, legend),
    )  # fmt: skip


def _bands(bands: Mapping[str, Mapping[str, Any]], names: Sequence[str], theme: str) -> Any:
    alt = altair()
    items = [
        {"model": name, "x": float(x), "low": float(low), "high": float(high)}
        for name, band in bands.items()
        for x, low, high in zip(band["x"], band["low"], band["high"], strict=True)
        if np.isfinite([x, low, high]).all()
    ]
    return (
        alt.Chart(rows(items))
        .mark_area(opacity=0.18)
        .encode(x="x:Q", y=alt.Y("low:Q"), y2="high:Q", color=by_model(names, theme, legend=False)["color"])
    )


def _hulls(made: Mapping[str, Any], names: Sequence[str], theme: str) -> Any:
    alt = altair()
    items = [
        row
        for shown, curve in zip(names, made.values(), strict=True)
        for hull in [curve.hull()]
        for row in points({"x": hull.fpr, "y": hull.tpr}, "x", "y", model=shown)
    ]
    return (
        alt.Chart(rows(items))
        .mark_line(strokeWidth=1, opacity=0.8)
        .encode(
            x="x:Q", y="y:Q", order="order:Q", color=by_model(names, theme, legend=False)["color"], detail="model:N"
        )
    )


def _shaded(made: Mapping[str, Any], names: Sequence[str], partial: tuple[float, float], theme: str) -> Any:
    alt = altair()
    low, high = _check.pair(partial, "partial")
    grid = np.linspace(low, high, 100)
    items = [
        {"model": shown, "x": float(x), "y": float(y)}
        for shown, curve in zip(names, made.values(), strict=True)
        for x, y in zip(grid, np.interp(grid, curve.fpr, curve.tpr), strict=True)
    ]
    return (
        alt.Chart(rows(items))
        .mark_area(opacity=0.2)
        .encode(x="x:Q", y=alt.Y("y:Q", stack=None), color=by_model(names, theme, legend=False)["color"])
    )


def _marks(found: list[dict[str, Any]], x: str, y: str, names: Sequence[str], theme: str) -> Any:
    alt = altair()
    base = alt.Chart(rows(found)).encode(x=f"{x}:Q", y=f"{y}:Q")
    dots = base.mark_point(size=70, filled=True).encode(
        color=by_model(names, theme, legend=False)["color"], tooltip=tips("model", "at", x, y)
    )
    if len(names) > 1:
        return dots
    return dots + base.mark_text(dx=9, align="left", color=palette(theme).ink).encode(text="at:N")


def _equal_f(levels: Sequence[float], beta: float, theme: str) -> Any:
    """Lines along which F-beta is the same: precision = F r / ((1 + b²) r - b² F)."""
    alt = altair()
    found, ends = [], []
    beta = _check.real(beta, "beta")
    for level in (_check.probability(one, "isolines") for one in _check.listed(levels)):
        r = np.linspace(0.001, 1.0, 200)
        p = precision_at_f(level, beta, r)
        held = np.isfinite(p)
        found += [{"x": float(a), "y": float(b), "level": level} for a, b in zip(r[held], p[held], strict=True)]
        if held.any():
            ends.append({"x": 1.0, "y": float(p[held][-1]), "text": f"F {level:g}"})
    colour = palette(theme).faint
    lines = (
        alt.Chart(rows(found))
        .mark_line(strokeWidth=0.7, color=colour, opacity=0.7)
        .encode(x="x:Q", y="y:Q", detail="level:N")
    )
    words = (
        alt.Chart(rows(ends))
        .mark_text(align="right", dx=-3, dy=-5, fontSize=9, color=colour)
        .encode(x="x:Q", y="y:Q", text="text:N")
    )
    return lines + words
