"""Curves of what a classifier is worth at a threshold, a prevalence, a cost; and whether its probabilities are true."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tallymark import _check, curves
from tallymark._numbers import counted, number, per_cent
from tallymark.charts import layers
from tallymark.charts.decimation import points
from tallymark.charts.inputs import by_name, curves_of, tallies_of
from tallymark.charts.parts import axis, line_of_chance, tips
from tallymark.charts.theme import altair, by_model, finished, nothing_to_draw, palette, rows, shape_of, titled
from tallymark.curves.cutoff import ThresholdCurve
from tallymark.curves.decision import DecisionCurve
from tallymark.curves.operating import BrierCurve, CalibrationCurve, CostCurve, PrevalenceCurve
from tallymark.errors import InputError
from tallymark.inference.limits.bands import calibration_band
from tallymark.summaries.tally import Tally


def cost_curve(data: object, *, theme: str = "light") -> Any:
    """Normalised expected cost against the probability-cost function, beside predicting all or none positive.

    >>> import tallymark as tm
    >>> tm.charts.cost_curve(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35])).to_dict()["title"]["text"]
    'Cost curve'
    """
    tallies, made = layers.apart(curves_of(data, CostCurve, curves.cost_curve, thin=True))
    lines = [
        row for name, curve in made.items() for row in points(curve.columns(), "probability_cost", "cost", model=name)
    ]
    x = axis("x", "probability_cost", "probability cost", unit=False)
    y = axis("y", "cost", "normalised expected cost", unit=False)
    shown = layers.lines(lines, x, y, list(tallies), theme, None)
    chance = line_of_chance([(0.0, 0.0), (0.5, 0.5), (1.0, 0.0)], theme)
    said = _said("Highest cost", {name: float(np.nanmax(curve.cost)) for name, curve in made.items()})
    return finished(altair().layer(chance, shown), "Cost curve", theme, says=said)


def brier_curve(data: object, *, theme: str = "light") -> Any:
    """Loss of probabilities used as they are, against the share of the cost that false positives have.

    >>> import tallymark as tm
    >>> tm.charts.brier_curve(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35])).to_dict()["title"]["text"]
    'Brier curve'
    """
    tallies, made = layers.apart(curves_of(data, BrierCurve, curves.brier_curve, thin=True))
    lines = [row for name, curve in made.items() for row in points(curve.columns(), "cost_share", "loss", model=name)]
    x = axis("x", "cost_share", "share of the cost of a false positive", unit=False)
    shown = layers.lines(lines, x, axis("y", "loss", "loss", unit=False), list(tallies), theme, None)
    return finished(altair().layer(shown), "Brier curve", theme)


def calibration_curve(data: object, *, bins: int = 10, log: bool = False, theme: str = "light") -> Any:
    """Observed shares of positives against mean probabilities, bins of equal size; of tallies with 95 % intervals.

    `log` makes both axes logarithmic, for rare positives; bins without a positive then show their upper limit alone.

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
    sizes = [row["rows"] for row in items]
    held = f", bins of about {counted(round(sum(sizes) / len(sizes)), 'row')}" if sizes else ""
    x, y = axis("x", "mean", f"mean probability{held}"), axis("y", "observed", "observed share of positives")
    ends = (0.0, 1.0)
    if log:
        seen = [v for row in items for v in (row["mean"], row["observed"], row.get("high", 1.0)) if v > 0.0]
        ends = (10.0 ** np.floor(np.log10(min(seen, default=0.1))), 1.0)
        x, y = (_log_share(side, *ends) for side in (x, y))
        for row in items:
            # Nothing seen stands at the lower edge, as an open interval.
            row["low"] = max(row.get("low", ends[0]), ends[0]) if "low" in row else None
    shown = rows([row for row in items if not log or (row["observed"] > 0 and row["mean"] > 0)])
    spans = (
        alt.Chart(rows([row for row in items if not log or row["mean"] > 0]))
        .transform_filter("isValid(datum.low)")
        .mark_rule(opacity=0.7)
        .encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=look["color"])
    )
    fields = tips("model", "mean", "observed", "low", "high", "rows")
    base = alt.Chart(shown)
    joined = base.mark_line().encode(x=x, y=y, color=look["color"], strokeDash=look["strokeDash"])
    dots = base.mark_point(size=55, filled=True).encode(
        x=x, y=y, tooltip=fields, color=look["color"], shape=shape_of(list(named))
    )
    top = {row["model"]: row for row in items}
    said = "In the highest bin " + "; ".join(
        f"{name} says {per_cent(row['mean'])} and {per_cent(row['observed'])} are positive" for name, row in top.items()
    )
    grid = [(float(v), float(v)) for v in (np.geomspace(*ends, 50) if log else (0.0, 1.0))]
    return finished(alt.layer(line_of_chance(grid, theme), spans, joined, dots), "Reliability", theme, says=said + ".")


def _log_share(side: Any, low: float, high: float) -> Any:
    """An axis of shares on a logarithmic scale."""
    alt = altair()
    side.scale = alt.Scale(type="log", domain=[low, high], clamp=True)
    side.axis = alt.Axis(values=[10.0**k for k in range(round(np.log10(low)), 1)], format=".6~g")
    return side


def decision_curve(data: object, *, theme: str = "light") -> Any:
    """Decision curves of probabilities, beside acting on everyone and on no one.

    >>> import tallymark as tm
    >>> tm.charts.decision_curve(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35])).to_dict()["title"]["text"]
    'Decision curve'
    """
    alt = altair()
    _, made = layers.apart(curves_of(data, DecisionCurve, curves.decision_curve))
    lines = [
        row
        for name, curve in made.items()
        for row in points(
            {"threshold": curve.threshold, "net benefit": curve.net_benefit}, "threshold", "net benefit", model=name
        )
    ]
    first = next(iter(made.values()))
    # Acting on everyone soon costs far more than anyone would look at.
    most = max(first.prevalence, *(float(curve.net_benefit.max()) for curve in made.values()))
    least = -0.25 * most
    x = axis("x", "threshold", "probability from which one would act")
    y = alt.Y("net benefit:Q", title="net benefit per row", scale=alt.Scale(domain=[least, 1.05 * most], nice=False))
    if not any(row["net benefit"] >= least for row in lines):
        why = "Acting on these probabilities as they are is worth less than acting on no one, from whichever probability on: calibrate them first."
        return nothing_to_draw("Decision curve", why, theme)
    # Lines leave the picture at its lower edge; without the points outside they would join the neighbours of a gap.
    own = (
        alt.Chart(rows(lines))
        .mark_line(clip=True)
        .encode(
            x=x, y=y, order="order:Q", tooltip=tips("model", "threshold", "net benefit"), **by_model(list(made), theme)
        )
    )
    # Named on the line, so that the legend is the models' alone.
    others = []
    for who, values, dash, side in (
        ("act on everyone", first.treat_all, [1, 0], {"align": "left", "dx": 6, "dy": -8}),
        ("act on no one", first.treat_none, [2, 3], {"align": "right", "dx": -4, "dy": 8}),
    ):
        whole = [
            {"threshold": float(t), "net benefit": float(v), "who": who}
            for t, v in zip(first.threshold, values, strict=True)
        ]
        line = alt.Chart(rows(whole)).encode(x=x, y=y, tooltip=tips("who", "threshold", "net benefit"))
        others.append(line.mark_line(color=palette(theme).faint, strokeDash=dash, clip=True))
        inside = [row for row in whole if row["net benefit"] >= least]
        label = alt.Chart(rows(inside[-1:])).mark_text(color=palette(theme).faint, **side)
        others.append(label.encode(x=x, y=y, text="who:N"))
    said = _said("Highest net benefit", {name: float(curve.net_benefit.max()) for name, curve in made.items()})
    return finished(alt.layer(*others, own), "Decision curve", theme, says=said)


def over_thresholds(
    data: object, *, metrics: Sequence[str] = ("recall", "specificity", "precision", "f1"), threshold: float | None = None,
    logit: bool = False, theme: str = "light",
) -> Any:  # fmt: skip
    """Metrics against the threshold, one model; `threshold` is marked, `logit` draws probabilities by their log odds.

    >>> import tallymark as tm
    >>> tm.charts.over_thresholds(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35])).to_dict()["title"]["text"]
    'Metrics by threshold'
    """
    name, drawn = layers.only(
        curves_of(data, ThresholdCurve, lambda tally: curves.over_thresholds(tally, metrics), thin=True)
    )
    curve = drawn.curve
    metrics = list(curve.values)
    title = titled("Metrics by threshold", name)
    if len(np.unique(curve.thresholds[np.isfinite(curve.thresholds)])) < 2:
        return nothing_to_draw(title, "All scores are equal: there is one threshold, and nothing to choose.", theme)
    places = layers.log_odds(curve.thresholds) if logit else curve.thresholds
    lines = [
        row
        for metric in metrics
        for row in points(
            {"at": places, "value": curve[metric], "threshold": curve.thresholds}, "at", "value", model=metric
        )
    ]
    if not lines:
        raise InputError("There is nothing to draw: name at least one metric that has a value at some threshold.")
    ends = (min(row["at"] for row in lines), max(row["at"] for row in lines))
    x = layers.logit_axis("at", "threshold", *ends) if logit else axis("x", "at", "threshold", unit=False)
    y = axis("y", "value", "value", unit=all(0.0 <= row["value"] <= 1.0 for row in lines))
    shown = layers.lines(lines, x, y, list(metrics), theme, None, steps="step-after", more=["threshold"])
    marks = []
    if threshold is not None and np.isfinite(_check.real(threshold, "threshold", infinite=True)):
        at = float(np.clip(layers.log_odds(threshold) if logit else threshold, *ends))
        marks.append(layers.marked(at, "at", layers.threshold_text(threshold), theme, left=at > sum(ends) / 2))
    best = {metric: float(np.nanmax(curve[metric])) for metric in metrics if np.isfinite(curve[metric]).any()}
    return finished(altair().layer(shown, *marks), title, theme, says=_said("Highest values", best))


def over_prevalence(
    data: object,
    *,
    metrics: Sequence[str] = ("precision", "f1", "mcc", "accuracy"),
    threshold: float | str = 0.5,
    theme: str = "light",
) -> Any:
    """Metrics at one threshold against the prevalence they would have, on a logarithmic scale; the data's own is marked.

    >>> import tallymark as tm
    >>> tm.charts.over_prevalence(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35])).to_dict()["title"]["text"]
    'Metrics by prevalence'
    """
    alt = altair()
    own = None
    if isinstance(data, PrevalenceCurve):
        name, curve = "model", data
    else:
        name, tally = layers.only(tallies_of(data))
        own = float(tally.prevalence)
        least = min(1e-3, 10.0 ** np.floor(np.log10(own)))
        curve = curves.over_prevalence(tally.at(threshold), metrics, np.geomspace(least, 0.5, 60))
    metrics = list(curve.values)
    lines = [
        row
        for metric in metrics
        for row in points({"prevalence": curve.prevalence, "value": curve[metric]}, "prevalence", "value", model=metric)
    ]
    low, high = float(curve.prevalence.min()), float(curve.prevalence.max())
    ticks = [v for v in (1e-5, 1e-4, 0.001, 0.01, 0.1, 0.5) if low * 0.999 <= v <= high * 1.001]
    x = alt.X(
        "prevalence:Q", title="prevalence", scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(values=ticks, format=".4~g"),
    )  # fmt: skip
    shown = layers.lines(lines, x, alt.Y("value:Q", title="value"), list(metrics), theme, None)
    marks = (
        []
        if own is None or not low <= own <= high
        else [layers.marked(own, "prevalence", "these rows", theme, left=own > 0.05)]
    )
    at = curve.prevalence[0] if own is None else own
    here = {metric: float(np.interp(np.log(at), np.log(curve.prevalence), curve[metric])) for metric in metrics}
    said = _said(f"At a prevalence of {per_cent(float(at))}", {n: v for n, v in here.items() if np.isfinite(v)})
    return finished(alt.layer(shown, *marks), titled("Metrics by prevalence", name), theme, says=said)


def _said(what: str, values: Mapping[str, float]) -> str:
    """Numbers in words, for those who cannot see the picture."""
    return f"{what}: {', '.join(f'{name} {number(value)}' for name, value in values.items())}."
