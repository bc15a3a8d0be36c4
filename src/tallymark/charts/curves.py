"""Charts of curves over all thresholds: ROC, precision and recall, DET, gain and lift."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tallymark import curves
from tallymark._numbers import per_cent
from tallymark.charts import layers
from tallymark.charts.decimation import points, thinned
from tallymark.charts.inputs import curves_of, tallies_of
from tallymark.charts.parts import axis, line_of_chance, tips
from tallymark.charts.pictures import picture_of
from tallymark.charts.theme import Chart, altair, by_model, finished, nothing_to_draw, palette, rows
from tallymark.curves.cutoff import (
    CutoffCurve,
    DetCurve,
    GainCurve,
    PositiveTradeoffCurve,
    PrCurve,
    PredictiveRocCurve,
    RocCurve,
)
from tallymark.errors import InputError
from tallymark.inference.limits.bands import pr_band, roc_band
from tallymark.summaries.tally import Tally


@picture_of("RocCurve")
def roc(
    data: object,
    *,
    thresholds: Sequence[float | str] = (),
    band: bool = False,
    hull: bool = False,
    partial: tuple[float, float] | None = None,
    log: bool = False,
    theme: str = "light",
    seed: int = 0,
) -> Chart:
    """ROC curves: true positive rate against false positive rate, with the line of chance.

    Parameters
    ----------
    data
        A tally, a curve, several by name, or a panel.
    thresholds
        Numbers or policies to mark on each curve.
    band
        Add 95 % confidence bands.
    hull
        Add the convex hulls.
    partial
        Shade the area between two false positive rates.
    log
        Make the false positive rate logarithmic, which shows the low rates that rare events require.
    theme
        ``"light"`` or ``"dark"``.
    seed
        Seed of the bands.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> chart = tm.charts.roc(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35]))
    >>> chart.to_dict()["title"]["text"]
    'ROC'
    """
    drawn = curves_of(data, RocCurve, curves.roc, area="auroc", thin=True)
    tallies, curve_of = layers.apart(drawn)
    names = [layers.with_area(name, one) for name, one in drawn.items()]
    lines = [
        row
        for shown, curve in zip(names, curve_of.values(), strict=True)
        for row in points(curve.columns(), "fpr", "tpr", model=shown)
    ]
    least = _least_rate(tallies.values()) if log else None
    grid = None if least is None else np.geomspace(least, 1.0, 101)
    diagonal = np.linspace(0.0, 1.0, 2) if grid is None else grid
    drawn_layers = [line_of_chance([(float(v), float(v)) for v in diagonal], theme)]
    if partial is not None:
        drawn_layers.append(layers.shaded(curve_of, names, partial, theme))
    if band:
        limits = {n: roc_band(t, seed=seed, at=grid).points for n, t in zip(names, tallies.values(), strict=True)}
        drawn_layers.append(layers.bands(limits, names, theme))
    if hull:
        drawn_layers.append(layers.hulls(curve_of, names, theme))
    x = layers.rate_axis("fpr", "false positive rate", least)
    y = axis("y", "tpr", "true positive rate")
    drawn_layers.append(layers.lines(lines, x, y, names, theme, "area under the curve", more=["threshold"]))
    drawn_layers += _marks(curve_of, tallies, names, thresholds, ("fpr", "tpr"), theme, least=least)
    says = layers.areas_described("Area under the curve", drawn)
    under = layers.area_said("AUC", drawn)
    return finished(altair().layer(*drawn_layers), "ROC", theme, says=says, under=under)


def _marks(
    curve_of: Mapping[str, CutoffCurve],
    tallies: Mapping[str, Tally],
    names: Sequence[str],
    thresholds: Sequence[float | str],
    sides: tuple[str, str],
    theme: str,
    *,
    least: float | None = None,
    most: float = 1.0,
) -> list[Any]:
    """The layer of marked thresholds, if there are any: where each stands on its curve, read off the curve's columns.

    The horizontal axis goes from 0 to `most`, or from `least` to 1 where it is logarithmic.
    """

    def along(values: Any) -> Any:
        values = np.asarray(values, dtype=np.float64)
        if least is None:
            return values / most
        return np.clip(1.0 - np.log(np.maximum(values, least)) / np.log(least), 0.0, 1.0)

    kinds = dict(zip(names, curve_of.values(), strict=True))
    items = []
    for name, tally, cells, row in layers.merged_marks(names, tallies, thresholds):
        at = type(kinds[name])(tally, *(np.array([float(v)]) for v in (layers.threshold_of(cells), cells.tp, cells.fp)))
        x, y = (float(at.columns()[side][0]) for side in sides)
        if np.isfinite([x, y]).all():
            items.append(row | {sides[0]: x, sides[1]: y, "place": (float(along(x)), y)})
    if not items:
        return []
    lines = []
    for curve in curve_of.values():
        columns = curve.columns()
        kept = thinned(columns[sides[0]], columns[sides[1]])
        lines.append(np.column_stack([along(columns[sides[0]][kept]), columns[sides[1]][kept]]))
    return [layers.marks(items, *sides, names, theme, lines=lines)]


def _least_rate(tallies: Iterable[Tally]) -> float:
    """Where a logarithmic axis of false positive rates begins: half a negative row, or a hundred-thousandth."""
    return max(1e-5, min(0.5 / max(float(tally.negatives), 1.0) for tally in tallies))


@picture_of("PrCurve")
def pr(
    data: object,
    *,
    thresholds: Sequence[float | str] = (),
    band: bool = False,
    isolines: Sequence[float] = (0.2, 0.4, 0.6, 0.8),
    beta: float = 1.0,
    prevalence: float | None = None,
    theme: str = "light",
    seed: int = 0,
) -> Chart:
    """Precision–recall curves, with the prevalence as the line of chance and lines of equal F.

    Parameters
    ----------
    data
        A tally, a curve, several by name, or a panel.
    thresholds
        Numbers or policies to mark on each curve.
    band
        Add 95 % confidence bands.
    isolines
        Values of F whose lines are drawn.
    beta
        Beta of these F.
    prevalence
        Reweight the classes to this prevalence.
    theme
        ``"light"`` or ``"dark"``.
    seed
        Seed of the bands.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> chart = tm.charts.pr(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35]), prevalence=0.1)
    >>> chart.to_dict()["title"]["text"]
    'Precision and recall at prevalence 0.1'
    """
    drawn = curves_of(_reweighted(data, prevalence), PrCurve, curves.pr, area="average_precision", thin=True)
    tallies, curve_of = layers.apart(drawn)
    names = [layers.with_area(name, one) for name, one in drawn.items()]
    lines = []
    for shown, curve in zip(names, curve_of.values(), strict=True):
        columns = {n: v for n, v in curve.columns().items() if n in {"recall", "precision", "threshold"}}
        lines += points(columns, "recall", "precision", model=shown)
    first = next(iter(tallies.values()))
    drawn_layers = [
        layers.equal_f(isolines, beta, theme),
        line_of_chance([(0.0, first.prevalence), (1.0, first.prevalence)], theme),
    ]
    if band:
        limits = {n: pr_band(t, seed=seed).points for n, t in zip(names, tallies.values(), strict=True)}
        drawn_layers.append(layers.bands(limits, names, theme))
    x, y = axis("x", "recall", "recall"), axis("y", "precision", "precision")
    drawn_layers.append(
        layers.lines(lines, x, y, names, theme, "average precision", steps="step-before", more=["threshold"])
    )
    drawn_layers += _marks(curve_of, tallies, names, thresholds, ("recall", "precision"), theme)
    says = layers.areas_described("Average precision", drawn)
    title = f"Precision and recall{_at_prevalence(prevalence)}"
    under = layers.area_said("average precision", drawn)
    return finished(altair().layer(*drawn_layers), title, theme, says=says, under=under)


def _at_prevalence(prevalence: float | None) -> str:
    return "" if prevalence is None else f" at prevalence {prevalence:g}"


def _reweighted(data: object, prevalence: float | None) -> object:
    """Models with their classes reweighted to a prevalence, if one is stated."""
    return data if prevalence is None else {n: t.at_prevalence(prevalence) for n, t in tallies_of(data).items()}


@picture_of("PredictiveRocCurve")
def predictive_roc(
    data: object, *, thresholds: Sequence[float | str] = (), prevalence: float | None = None, theme: str = "light"
) -> Chart:
    """Predictive ROC curves: positive predictive value against 1 − negative predictive value.

    A ranking by chance has one point, at the prevalence on both sides. Shiu & Gatsonis (2008).

    Parameters
    ----------
    data
        A tally, a curve, several by name, or a panel.
    thresholds
        Numbers or policies to mark on each curve.
    prevalence
        Reweight the classes to this prevalence.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> chart = tm.charts.predictive_roc(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35]))
    >>> chart.to_dict()["title"]["text"]
    'Predictive ROC'
    """
    drawn = curves_of(_reweighted(data, prevalence), PredictiveRocCurve, curves.predictive_roc, thin=True)
    tallies, curve_of = layers.apart(drawn)
    names, sides, title = list(drawn), ("one_minus_npv", "ppv"), f"Predictive ROC{_at_prevalence(prevalence)}"
    lines = [row for name, curve in curve_of.items() for row in points(curve.columns(), *sides, model=name)]
    if not lines:
        return nothing_to_draw(title, "All scores are equal: no threshold predicts rows of both classes.", theme)
    chance = float(next(iter(tallies.values())).prevalence)
    most = min(1.0, 1.05 * max(chance, *(row[sides[0]] for row in lines)))
    alt = altair()
    x = alt.X(f"{sides[0]}:Q", title="1 − negative predictive value", scale=alt.Scale(domain=[0.0, most], nice=False))
    y = axis("y", sides[1], "positive predictive value")
    point = alt.Chart(rows([{"x": chance, "y": chance, "who": "chance"}])).encode(x="x:Q", y="y:Q")
    drawn_layers = [
        point.mark_point(shape="cross", size=70, filled=True, color=palette(theme).faint),
        point.mark_text(align="right", dx=-9, color=palette(theme).faint).encode(text="who:N"),
        layers.lines(lines, x, y, names, theme, more=["threshold"]),
        *_marks(curve_of, tallies, names, thresholds, sides, theme, most=most),
    ]
    says = f"A ranking by chance has both values at {per_cent(chance)}."
    return finished(alt.layer(*drawn_layers), title, theme, says=says)


@picture_of("PositiveTradeoffCurve")
def positive_tradeoff(
    data: object, *, thresholds: Sequence[float | str] = (), prevalence: float | None = None, theme: str = "light"
) -> Chart:
    """Positive trade-off curves: recall against the false discovery rate, with the line of chance.

    O'Reilly & Nielsen (2013).

    Parameters
    ----------
    data
        A tally, a curve, several by name, or a panel.
    thresholds
        Numbers or policies to mark on each curve.
    prevalence
        Reweight the classes to this prevalence.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> chart = tm.charts.positive_tradeoff(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35]))
    >>> chart.to_dict()["title"]["text"]
    'Positive trade-off'
    """
    drawn = curves_of(_reweighted(data, prevalence), PositiveTradeoffCurve, curves.positive_tradeoff, thin=True)
    tallies, curve_of = layers.apart(drawn)
    names, sides = list(drawn), ("fdr", "tpr")
    lines = [row for name, curve in curve_of.items() for row in points(curve.columns(), *sides, model=name)]
    chance = 1.0 - float(next(iter(tallies.values())).prevalence)
    x, y = axis("x", "fdr", "false discovery rate"), axis("y", "tpr", "true positive rate")
    drawn_layers = [
        line_of_chance([(chance, 0.0), (chance, 1.0)], theme),
        layers.lines(lines, x, y, names, theme, more=["threshold"]),
        *_marks(curve_of, tallies, names, thresholds, sides, theme),
    ]
    says = f"By chance {per_cent(chance)} of the rows predicted positive are negative."
    title = f"Positive trade-off{_at_prevalence(prevalence)}"
    return finished(altair().layer(*drawn_layers), title, theme, says=says)


@picture_of("DetCurve")
def det(data: object, *, theme: str = "light") -> Chart:
    """Detection error trade-off: both error rates on normal scales.

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
    >>> tm.charts.det(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35])).to_dict()["title"]["text"]
    'Detection error trade-off'
    """
    from scipy.special import ndtri

    alt = altair()
    tallies, curve_of = layers.apart(curves_of(data, DetCurve, curves.det, thin=True))
    lines = []
    for name, curve in curve_of.items():
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
    base = alt.Chart(rows(lines)).mark_line(interpolate="linear")
    chart = base.encode(
        x=alt.X("x:Q", title="false positive rate", axis=alt.Axis(**labels)),
        y=alt.Y("y:Q", title="false negative rate", axis=alt.Axis(**labels)),
        order="order:Q",
        tooltip=tips("model", "fpr", "fnr"),
        **by_model(list(tallies), theme),
    )
    return finished(chart, "Detection error trade-off", theme)


@picture_of("GainCurve")
def gain(data: object, *, lift: bool = False, log: bool = False, theme: str = "light") -> Chart:
    """Cumulative gain (recall against the share of rows predicted positive), or lift.

    Parameters
    ----------
    data
        A tally, a curve, several by name, or a panel.
    lift
        Draw lift instead of recall.
    log
        Make the share of rows logarithmic.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.charts.gain(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35]), lift=True).to_dict()["title"]["text"]
    'Lift'
    """
    tallies, curve_of = layers.apart(curves_of(data, GainCurve, curves.gain, thin=True))
    y, title = ("lift", "lift") if lift else ("recall", "share of positives found")
    items = []
    for name, curve in curve_of.items():
        items += points({"rate": curve.rate, "recall": curve.recall, "lift": curve.lift}, "rate", y, model=name)
    title_of = "Lift" if lift else "Cumulative gain"
    if all(len(np.unique(curve.rate[curve.rate > 0])) < 2 for curve in curve_of.values()):
        return nothing_to_draw(title_of, "All scores are equal: every list holds the same share of positives.", theme)
    sizes = [float(tally.n) for tally in tallies.values() if tally is not None]
    least = max(1e-5, 0.5 / max(sizes)) if log and sizes else None
    ends = np.linspace(0.0, 1.0, 2) if least is None else np.geomspace(least, 1.0, 101)
    chance = [(float(v), 1.0 if lift else float(v)) for v in ends]
    shown = layers.lines(
        [row for row in items if least is None or row["rate"] > 0],
        layers.rate_axis("rate", "share of rows predicted positive", least),
        axis("y", y, title, unit=not lift),
        list(curve_of),
        theme,
        None,
    )
    tenth = [f"{name} {per_cent(float(np.interp(0.1, curve.rate, curve.recall)))}" for name, curve in curve_of.items()]
    says = f"Positives found in the first tenth of the rows: {', '.join(tenth)}."
    return finished(altair().layer(line_of_chance(chance, theme), shown), title_of, theme, says=says)
