"""Charts over operating conditions: cost, Brier, decision and reliability curves; metrics by threshold, prevalence."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tallymark import _check, curves
from tallymark._numbers import counted, number, per_cent
from tallymark.charts import layers
from tallymark.charts.decimation import points
from tallymark.charts.inputs import by_name, curves_of, tallies_of
from tallymark.charts.parts import axis, line_of_chance, tips
from tallymark.charts.pictures import picture_of
from tallymark.charts.theme import Chart, altair, by_model, finished, nothing_to_draw, palette, rows, shape_of, titled
from tallymark.curves.cutoff import ThresholdCurve
from tallymark.curves.decision import DecisionCurve
from tallymark.curves.operating import BrierCurve, CalibrationCurve, CostCurve, PrevalenceCurve
from tallymark.errors import InputError
from tallymark.inference.limits.bands import calibration_band
from tallymark.summaries.tally import Tally


@picture_of("CostCurve")
def cost_curve(data: object, *, theme: str = "light") -> Chart:
    """Cost curves: normalised expected cost against the probability-cost function, with the trivial classifiers.

    Parameters
    ----------
    data
        A tally, a curve, several by name, or a panel.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.charts.cost_curve(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35])).to_dict()["title"]["text"]
    'Cost curve'
    """
    tallies, curve_of = layers.apart(curves_of(data, CostCurve, curves.cost_curve, thin=True))
    lines = [
        row
        for name, curve in curve_of.items()
        for row in points(curve.columns(), "probability_cost", "cost", model=name)
    ]
    x = axis("x", "probability_cost", "probability cost", unit=False)
    y = axis("y", "cost", "normalised expected cost", unit=False)
    shown = layers.lines(lines, x, y, list(tallies), theme)
    chance = line_of_chance([(0.0, 0.0), (0.5, 0.5), (1.0, 0.0)], theme)
    says = _listed("Highest cost", {name: float(np.nanmax(curve.cost)) for name, curve in curve_of.items()})
    return finished(altair().layer(chance, shown), "Cost curve", theme, says=says)


@picture_of("BrierCurve")
def brier_curve(data: object, *, theme: str = "light") -> Chart:
    """Brier curves: loss of probabilities used as they are, against the cost share of false positives.

    Parameters
    ----------
    data
        A tally, a curve, several by name, or a panel.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.charts.brier_curve(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35])).to_dict()["title"]["text"]
    'Brier curve'
    """
    tallies, curve_of = layers.apart(curves_of(data, BrierCurve, curves.brier_curve, thin=True))
    lines = [
        row for name, curve in curve_of.items() for row in points(curve.columns(), "cost_share", "loss", model=name)
    ]
    x = axis("x", "cost_share", "share of the cost of a false positive", unit=False)
    shown = layers.lines(lines, x, axis("y", "loss", "loss", unit=False), list(tallies), theme)
    return finished(altair().layer(shown), "Brier curve", theme)


@picture_of("CalibrationCurve")
def calibration_curve(data: object, *, bins: int = 10, log: bool = False, theme: str = "light") -> Chart:
    """Reliability diagram: observed shares of positives against mean probabilities, in bins of equal size.

    Tallies get 95 % intervals.

    Parameters
    ----------
    data
        A tally, a curve, several by name, or a panel.
    bins
        Number of bins.
    log
        Make both axes logarithmic, for rare positives; bins without a positive then show their upper limit alone.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.charts.calibration_curve(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35]), bins=2).to_dict()["title"]["text"]
    'Reliability'
    """
    alt = altair()
    named = by_name(data)
    items: list[dict[str, Any]] = [
        {"model": name, **point} for name, one in named.items() for point in _reliability(name, one, bins)
    ]
    sizes = [row["rows"] for row in items]
    size = f", bins of about {counted(round(sum(sizes) / len(sizes)), 'row')}" if sizes else ""
    x, y = axis("x", "mean", f"mean probability{size}"), axis("y", "observed", "observed share of positives")
    ends = (0.0, 1.0)
    spans, shown = items, items
    if log:
        positive = [v for row in items for v in (row["mean"], row["observed"], row.get("high", 1.0)) if v > 0.0]
        ends = (10.0 ** np.floor(np.log10(min(positive, default=0.1))), 1.0)
        x, y = (_log_share(side, *ends) for side in (x, y))
        for row in items:
            # A lower limit of 0 is drawn at the edge of the plot.
            row["low"] = max(row["low"], ends[0]) if "low" in row else None
        spans = [row for row in items if row["mean"] > 0]
        shown = [row for row in spans if row["observed"] > 0]
    look = by_model(list(named), theme, shapes=True)
    limits = alt.Chart(rows(spans)).transform_filter("isValid(datum.low)").mark_rule(opacity=0.7)
    base = alt.Chart(rows(shown)).encode(x=x, y=y)
    layered = [
        line_of_chance([(float(v), float(v)) for v in (np.geomspace(*ends, 50) if log else ends)], theme),
        limits.encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=look["color"]),
        base.mark_line().encode(color=look["color"], strokeDash=look["strokeDash"]),
        base.mark_point(size=55, filled=True).encode(
            tooltip=tips("model", "mean", "observed", "low", "high", "rows"),
            color=look["color"],
            shape=shape_of(list(named)),
        ),
    ]
    highest = [
        f"{name} says {per_cent(row['mean'])} and {per_cent(row['observed'])} are positive"
        for name, row in {row["model"]: row for row in items}.items()
    ]
    return finished(alt.layer(*layered), "Reliability", theme, says=f"In the highest bin {'; '.join(highest)}.")


def _reliability(name: str, data: Any, bins: int) -> list[dict[str, float]]:
    """The bins of a calibration curve; of a tally with limits, unless its rows come in clusters."""
    if isinstance(data, Tally) and data.clusters is not None:
        # Limits of independent rows would be too narrow.
        data = curves.calibration_curve(data, bins=bins)
    if isinstance(data, CalibrationCurve):
        columns: dict[str, Any] = {"mean": data.mean_score, "observed": data.observed, "rows": data.mass}
    else:
        band = calibration_band(tallies_of({name: data})[name], bins=bins).points
        fields = {"mean": "x", "observed": "value", "low": "low", "high": "high", "rows": "n"}
        columns = {field: band[column] for field, column in fields.items()}
    lines = zip(*(np.asarray(values, dtype=np.float64).tolist() for values in columns.values()), strict=True)
    return [dict(zip(columns, line, strict=True)) for line in lines]


def _log_share(side: Any, low: float, high: float) -> Any:
    """An axis of shares on a logarithmic scale."""
    alt = altair()
    side.scale = alt.Scale(type="log", domain=[low, high], clamp=True)
    side.axis = alt.Axis(values=[10.0**k for k in range(round(np.log10(low)), 1)], format=".6~g")
    return side


@picture_of("DecisionCurve")
def decision_curve(data: object, *, theme: str = "light") -> Chart:
    """Decision curves: net benefit of probabilities, beside acting on everyone and on no one.

    Parameters
    ----------
    data
        A tally, a curve, several by name, or a panel.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.charts.decision_curve(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35])).to_dict()["title"]["text"]
    'Decision curve'
    """
    alt = altair()
    _, curve_of = layers.apart(curves_of(data, DecisionCurve, curves.decision_curve))
    lines = []
    for name, curve in curve_of.items():
        columns = {"threshold": curve.threshold, "net benefit": curve.net_benefit}
        lines += points(columns, "threshold", "net benefit", model=name)
    first = next(iter(curve_of.values()))
    # The net benefit of acting on everyone falls far below the range of interest.
    highest = {name: float(curve.net_benefit.max()) for name, curve in curve_of.items()}
    most = max(first.prevalence, *highest.values())
    least = -0.25 * most
    x = axis("x", "threshold", "probability from which one would act")
    y = alt.Y("net benefit:Q", title="net benefit per row", scale=alt.Scale(domain=[least, 1.05 * most], nice=False))
    if not any(row["net benefit"] >= least for row in lines):
        why = (
            "Acting on these probabilities as they are is worth less than acting on no one, from whichever probability "
            "on: calibrate them first."
        )
        return nothing_to_draw("Decision curve", why, theme)
    # Lines are clipped at the lower edge; points outside are kept, or the line would join the neighbours of a gap.
    shown = tips("model", "threshold", "net benefit")
    base = alt.Chart(rows(lines)).mark_line(clip=True)
    models = base.encode(x=x, y=y, order="order:Q", tooltip=shown, **by_model(list(curve_of), theme))
    # The two policies are labelled on their lines, so that the legend has models only.
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
    says = _listed("Highest net benefit", highest)
    return finished(alt.layer(*others, models), "Decision curve", theme, says=says)


@picture_of("ThresholdCurve")
def over_thresholds(
    data: object,
    *,
    metrics: Sequence[str] = ("recall", "specificity", "precision", "f1"),
    threshold: float | str | Sequence[float | str] | Mapping[str, float | str] | None = None,
    logit: bool = False,
    theme: str = "light",
) -> Chart:
    """Metrics of one model against the threshold.

    ``metrics=["fpr", "fnr"], threshold={"X": "x", "Max": "youden", "T50": "t50"}`` draws what policies of
    quantification choose.

    Parameters
    ----------
    data
        A tally or a threshold curve.
    metrics
        Names of metrics.
    threshold
        Thresholds to mark: a number, a policy, several of them, or several by the name that is written beside them.
    logit
        Draw probabilities on the log-odds scale.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
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
    lines = []
    for metric in metrics:
        columns = {"at": places, "value": curve[metric], "threshold": curve.thresholds}
        lines += points(columns, "at", "value", model=metric)
    if not lines:
        raise InputError("There is nothing to draw: name at least one metric that has a value at some threshold.")
    ends = (min(row["at"] for row in lines), max(row["at"] for row in lines))
    x = layers.logit_axis("at", "threshold", *ends) if logit else axis("x", "at", "threshold", unit=False)
    y = axis("y", "value", "value", unit=all(0.0 <= row["value"] <= 1.0 for row in lines))
    shown = layers.lines(lines, x, y, list(metrics), theme, steps="step-after", more=["threshold"])
    marks: list[Sequence[Any]] = []
    for value, text in _marked_thresholds(threshold, drawn.tally):
        at = float(np.clip(layers.log_odds(value) if logit else value, *ends))
        left = at > ends[0] + 0.7 * (ends[1] - ends[0])
        marks.append(layers.marked(at, "at", text, theme, left=left, row=len(marks)))
    best = {metric: float(np.nanmax(curve[metric])) for metric in metrics if np.isfinite(curve[metric]).any()}
    # All lines stand below all texts.
    parts = itertools.chain.from_iterable(zip(*marks, strict=True))
    return finished(altair().layer(shown, *parts), title, theme, says=_listed("Highest values", best))


def _marked_thresholds(threshold: Any, tally: Any) -> list[tuple[float, str]]:
    """Finite thresholds to mark, with the text beside each; those of one value share a mark."""
    if threshold is None:
        return []
    if isinstance(threshold, Mapping):
        named = {str(name): given for name, given in threshold.items()}
    else:
        listed = [threshold] if isinstance(threshold, str | int | float) else _check.listed(threshold)
        named = {given if isinstance(given, str) else "": given for given in listed}
        if len(named) < len(listed):
            named = {str(given): given for given in listed}
    values: dict[float, list[str]] = {}
    for name, given in named.items():
        if isinstance(given, str) and tally is None:
            raise InputError(f"The threshold {given!r} is a policy, which needs a tally; give a number.")
        value = tally.threshold_for(given) if isinstance(given, str) else given
        values.setdefault(_check.real(value, "threshold", infinite=True), []).append(name)
    return [
        (value, f"{', '.join(names)} ({number(value)})" if any(names) else layers.threshold_text(value))
        for value, names in sorted(values.items())
        if np.isfinite(value)
    ]


@picture_of("PrevalenceCurve")
def over_prevalence(
    data: object,
    *,
    metrics: Sequence[str] = ("precision", "f1", "mcc", "accuracy"),
    threshold: float | str = 0.5,
    theme: str = "light",
) -> Chart:
    """Metrics of one model at one threshold against the prevalence, on a logarithmic scale.

    The prevalence of the data is marked.

    Parameters
    ----------
    data
        A tally or a prevalence curve.
    metrics
        Names of metrics.
    threshold
        A number or a policy.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.charts.over_prevalence(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35])).to_dict()["title"]["text"]
    'Metrics by prevalence'
    """
    alt = altair()
    sample = None
    if isinstance(data, PrevalenceCurve):
        name, curve = "model", data
    else:
        name, tally = layers.only(tallies_of(data))
        sample = float(tally.prevalence)
        least = min(1e-3, 10.0 ** np.floor(np.log10(sample)))
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
        "prevalence:Q",
        title="prevalence",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(values=ticks, format=".4~g"),
    )
    layered = [layers.lines(lines, x, alt.Y("value:Q", title="value"), list(metrics), theme)]
    if sample is not None and low <= sample <= high:
        layered.extend(layers.marked(sample, "prevalence", "these rows", theme, left=sample > 0.05))
    at = curve.prevalence[0] if sample is None else sample
    values = {metric: float(np.interp(np.log(at), np.log(curve.prevalence), curve[metric])) for metric in metrics}
    says = _listed(f"At a prevalence of {per_cent(float(at))}", {n: v for n, v in values.items() if np.isfinite(v)})
    return finished(alt.layer(*layered), titled("Metrics by prevalence", name), theme, says=says)


def _listed(what: str, values: Mapping[str, float]) -> str:
    """Numbers as text, for readers who cannot see the chart."""
    return f"{what}: {', '.join(f'{name} {number(value)}' for name, value in values.items())}."
