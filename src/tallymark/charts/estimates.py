"""Charts of estimates with intervals: forest plot of metrics, differences of models, metrics by sample size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tallymark._numbers import number, with_limits
from tallymark._text import shortened
from tallymark.charts.inputs import group_name
from tallymark.charts.parts import described, tips, with_level
from tallymark.charts.pictures import picture_of
from tallymark.charts.theme import Chart, altair, by_model, finished, palette, require_kind, rows, shape_of
from tallymark.errors import InputError
from tallymark.inference.interval import checked_number
from tallymark.measures import Evaluation, Evaluations, Measure
from tallymark.metrics import headlines
from tallymark.registry import METRICS

if TYPE_CHECKING:
    from tallymark.comparison.results import Comparison
    from tallymark.inference.by_sample_size import BySize
    from tallymark.simple import NoSimple


def forest(data: Evaluation | Evaluations, *, metrics: tuple[str, ...] | None = None, theme: str = "light") -> Chart:
    """Forest plot: metrics with their intervals and chance levels (ticks), by metric and model.

    Parameters
    ----------
    data
        One or several evaluations.
    metrics
        Names of the metrics to draw; all by default.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> ev = tm.evaluate(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35]), metrics=["auroc", "f1"])
    >>> tm.charts.forest(ev).to_dict()["title"]["text"]
    'Metrics with 95 % intervals'
    """
    require_kind(data, ("Evaluation", "Evaluations"), "tm.evaluate")
    alt = altair()
    several = _by_name(data)
    items: list[dict[str, Any]] = [
        {"model": name, "metric": m.name, "value": m.value, "low": m.low, "high": m.high, "chance": m.chance}
        for name, ev in several.items()
        for m in ev.values()
        if (metrics is None or m.name in metrics) and in_forest(m)
    ]
    if not items:
        raise InputError("There is nothing to draw: no metric of these has a value between -1 and 1.")
    level = next((ev.level for ev in several.values() if ev.level is not None), None)
    names = list(several)
    order = list(dict.fromkeys(row["metric"] for row in items))
    colour = by_model(names, theme, shapes=True)["color"]
    side = {"yOffset": alt.YOffset("model:N", sort=names)} if len(names) > 1 else {}
    base = alt.Chart(rows(items)).encode(y=alt.Y("metric:N", sort=order, title=None), **side)
    shown = tips("model", "metric", "value", "low", "high", "chance", text=("model", "metric"))
    spans = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title="value"), x2="high:Q", color=colour, tooltip=shown
    )
    dots = base.mark_point(filled=True, size=60).encode(x="value:Q", color=colour, shape=shape_of(names), tooltip=shown)
    ticks = base.mark_tick(color=palette(theme).faint, thickness=2, size=12).encode(x="chance:Q", tooltip=shown)
    says = described(items, "model", "metric")
    height = max(60, 22 * len(order) * max(1, len(names)))
    return finished(alt.layer(spans, ticks, dots), with_level("Metrics", level), theme, says=says, height=height)


@picture_of("Evaluation", "Evaluations")
def headline_forest(data: Evaluation | Evaluations) -> Chart:
    """The forest plot of the headline metrics."""
    first = next(iter(_by_name(data).values()))
    return forest(data, metrics=tuple(name for name in headlines.FOREST if name in first) or None)


def _by_name(data: Evaluation | Evaluations) -> dict[str, Evaluation]:
    if isinstance(data, Evaluation):
        return {"model": data}
    return {group_name(key): one for key, one in data.entries.items()}


def in_forest(measure: Measure) -> bool:
    """Whether a measure can share an axis with others: it and its limits are numbers, it lies between -1 and 1."""
    numbers = (measure.value, measure.low, measure.high, measure.chance)
    return all(v is None or np.isfinite(v) for v in numbers) and abs(measure.value) <= 1.0


#: Characters of a name in a pair.
_HALF = 22

#: Pairs that a description lists at most.
_PAIRS = 15


@picture_of("Comparison")
def comparison(data: Comparison, *, theme: str = "light") -> Chart:
    """Differences of every pair of models with their intervals and the line of no difference.

    Parameters
    ----------
    data
        The result of :func:`tallymark.compare`.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> p = tm.panel([0, 1, 0, 1, 0, 1], {"a": [1, 2, 3, 4, 5, 6], "b": [2, 1, 6, 3, 4, 5]})
    >>> tm.charts.comparison(tm.compare(p)).to_dict()["title"]["text"]
    'Difference of AUROC with 95 % intervals'
    """
    require_kind(data, "Comparison", "tm.compare")
    alt = altair()
    colours = palette(theme)
    words = ("shown", "not shown")
    lines: list[dict[str, Any]] = [
        {
            "pair": f"{shortened(p.first, _HALF)} − {shortened(p.second, _HALF)}",
            "difference": p.difference,
            "low": p.low,
            "high": p.high,
            "p": p.p_holm,
            "verdict": p.verdict,
            "model": words[0] if p.p_holm < 1.0 - data.level else words[1],
        }
        for p in data.pairs
    ]
    base = alt.Chart(rows(lines)).encode(y=alt.Y("pair:N", sort=None, title=None))
    shown = tips("pair", "difference", "low", "high", "p", "verdict", text=("pair", "verdict"))
    scale = alt.Scale(domain=list(words), range=[colours.positive, colours.faint])
    legend = alt.Legend(title="difference", orient="bottom")
    colour = alt.Color("model:N", scale=scale, legend=legend)
    shape = alt.Shape("model:N", scale=alt.Scale(domain=list(words), range=["circle", "diamond"]), legend=legend)
    label = METRICS[data.metric].label
    x = alt.X("low:Q", title=f"difference of {label}")
    layers = [
        alt.Chart(rows([{"x": 0.0}])).mark_rule(strokeDash=[3, 3], color=colours.ink).encode(x="x:Q"),
        base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q", color=colour, tooltip=shown),
        base.mark_point(filled=True, size=70).encode(x="difference:Q", color=colour, shape=shape, tooltip=shown),
    ]
    together = "simultaneous " if len(lines) > 1 else ""
    title = f"Difference of {label} with {together}{100 * data.level:g} % intervals"
    texts = [
        f"{row['pair']} {with_limits(row['difference'], row['low'], row['high'])}, {row['verdict']}"
        for row in lines[:_PAIRS]
    ]
    return finished(alt.layer(*layers), title, theme, says=f"{'; '.join(texts)}.", height=max(60, 28 * len(lines)))


@picture_of("NoSimple")
def without_simple(
    data: NoSimple, *, metric: str = "auroc", threshold: float | str | None = None, theme: str = "light"
) -> Chart:
    """A metric of each model with and without the rows that every model classifies correctly at any threshold.

    Parameters
    ----------
    data
        The result of :func:`tallymark.without_simple`.
    metric
        Name of the metric.
    threshold
        A number or a policy, for metrics that need one.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> p = tm.panel([0, 0, 0, 1, 1, 0, 0], {"a": [1, 2, 110, 6, 120, 0, 0], "b": [100, 150, 2, 130, 3, 0, 0]})
    >>> tm.charts.without_simple(tm.without_simple(p)).to_dict()["title"]["text"]
    'auroc without simple objects (28.6 % of the rows)'
    """
    require_kind(data, "NoSimple", "tm.without_simple")
    alt = altair()
    colours = palette(theme)
    lines = [
        {"model": row["model"], "with": row["original"], "without": row["without_simple"]}
        for row in data.compare(metric, threshold=threshold)
        if np.isfinite([row["original"], row["without_simple"]]).all()
    ]
    base = alt.Chart(rows(lines)).encode(y=alt.Y("model:N", sort=None, title=None))
    shown = tips("model", "with", "without")
    layers = [
        base.mark_rule(strokeWidth=2, color=colours.faint).encode(
            x=alt.X("with:Q", title=metric, scale=alt.Scale(zero=False)), x2="without:Q"
        ),
        base.mark_point(size=70, color=colours.faint, strokeWidth=2).encode(x="with:Q", tooltip=shown),
        base.mark_point(size=70, filled=True, color=colours.positive).encode(x="without:Q", tooltip=shown),
    ]
    title = f"{metric} without simple objects ({100 * data.share:.1f} % of the rows)"
    texts = [f"{row['model']} {number(row['with'])} with them, {number(row['without'])} without" for row in lines]
    says = f"Open marks: all rows. {'; '.join(texts)}."
    return finished(alt.layer(*layers), title, theme, says=says, height=max(60, 30 * len(lines)))


def simple_objects(data: NoSimple, *, most: int = 100, theme: str = "light") -> Chart:
    """AUROC of each model against the number of simple negatives, and without simple objects (dashed).

    The other rows and the simple positives stay as they are: each simple negative turns every model's AUROC towards 1.
    Rahardja & Fränti, figure 1.

    Parameters
    ----------
    data
        The result of :func:`tallymark.without_simple`.
    most
        The largest number of simple negatives.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> p = tm.panel([0, 0, 0, 1, 1], {"a": [1, 2, 110, 6, 120], "b": [100, 150, 2, 130, 3]})
    >>> tm.charts.simple_objects(tm.without_simple(p)).to_dict()["title"]["text"]
    'AUROC by the number of simple negatives'
    """
    require_kind(data, "NoSimple", "tm.without_simple")
    alt = altair()
    numbers = np.unique(np.round(np.linspace(0, checked_number(most, "most", 1), 101)))
    values = {row["model"]: row["without_simple"] for row in data.compare("auroc")}
    lines, flat = [], []
    for name, whole in data.panel.tallies().items():
        if not np.isfinite(values[name]):
            continue
        rest = data.reduced.tallies()[name]
        # The pairs that a model ranks wrongly stay; only the number of all pairs grows.
        wrong = (1.0 - values[name]) * rest.positives * rest.negatives
        reached = 1.0 - wrong / (float(whole.positives) * (float(rest.negatives) + numbers))
        lines += [{"model": name, "n": float(m), "value": float(v)} for m, v in zip(numbers, reached, strict=True)]
        flat += [{"model": name, "n": float(m), "value": float(values[name])} for m in (0, numbers[-1])]
    if not lines:
        raise InputError("There is nothing to draw: all objects are simple.")
    names = list(values)
    colour = by_model(names, theme)["color"]
    x = alt.X("n:Q", title="simple negatives", scale=alt.Scale(nice=False))
    y = alt.Y("value:Q", title="AUROC", scale=alt.Scale(zero=False))
    drawn = alt.Chart(rows(lines)).mark_line().encode(x=x, y=y, color=colour, tooltip=tips("model", "n", "value"))
    without = alt.Chart(rows(flat)).mark_line(strokeDash=[5, 3]).encode(x=x, y=y, color=colour)
    says = "; ".join(f"{name} {number(value)}" for name, value in values.items())
    title, under = "AUROC by the number of simple negatives", "dashed: without simple objects"
    return finished(
        alt.layer(without, drawn), title, theme, says=f"Without simple objects: {says}.", under=under, width=400
    )


@picture_of("BySize")
def by_sample_size(data: BySize, *, theme: str = "light") -> Chart:
    """Metrics of subsamples, with the spread of their values, against the number of rows.

    Parameters
    ----------
    data
        The result of :func:`tallymark.by_sample_size`.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> t = tm.tally([0, 1] * 100, range(200))
    >>> tm.charts.by_sample_size(tm.by_sample_size(t, replicates=20)).to_dict()["title"]["text"]
    'Metrics of subsamples'
    """
    require_kind(data, "BySize", "tm.by_sample_size")
    alt = altair()
    lines = [
        {"n": row["n"], "model": name, "value": row[name], "low": row[f"{name} low"], "high": row[f"{name} high"]}
        for row in data.rows()
        for name in data.metrics
    ]
    look = by_model(list(data.metrics), theme)
    x = alt.X("n:Q", title="rows of a subsample", scale=alt.Scale(type="log", nice=False, padding=8))
    base = alt.Chart(rows(lines)).encode(x=x)
    shown = [alt.Tooltip("model:N", title="metric"), alt.Tooltip("n:Q"), *tips("value", "low", "high")]
    area = base.mark_area(opacity=0.18).encode(
        y=alt.Y("low:Q", title="value", scale=alt.Scale(zero=False)), y2="high:Q", color=look["color"]
    )
    line = base.mark_line(point=True).encode(y="value:Q", tooltip=shown, **look)
    return finished(alt.layer(area, line), "Metrics of subsamples", theme)


def size_scatter(data: BySize, *, theme: str = "light") -> Chart:
    """Scatter plot of the first two metrics of every subsample, such as ROC-AUC and PR-AUC.

    The legend has Pearson's r at each size, as the result's table has it.

    Parameters
    ----------
    data
        The result of :func:`tallymark.by_sample_size`.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> t = tm.tally([0, 1] * 100, range(200))
    >>> tm.charts.size_scatter(tm.by_sample_size(t, replicates=20)).to_dict()["title"]["text"]
    'pr_auc against auroc of subsamples'
    """
    require_kind(data, "BySize", "tm.by_sample_size")
    if len(data.metrics) < 2:
        raise InputError("A scatter needs two metrics: tm.by_sample_size(t, ('auroc', 'pr_auc')).")
    alt = altair()
    first, second = data.metrics[:2]
    correlations = [float(row["pearson r"]) for row in data.rows()]
    names = [
        f"{n} (r {number(r)})" if np.isfinite(r) else str(n) for n, r in zip(data.sizes, correlations, strict=True)
    ]
    dots = [
        {"x": float(v[0]), "y": float(v[1]), "model": name}
        for name, values in zip(names, data.values, strict=True)
        for v in values[:200]
        if np.isfinite(v[:2]).all()
    ]
    points = alt.Chart(rows(dots)).mark_point(size=18, opacity=0.6, filled=True)
    chart = points.encode(
        x=alt.X("x:Q", title=first, scale=alt.Scale(zero=False)),
        y=alt.Y("y:Q", title=second, scale=alt.Scale(zero=False)),
        color=by_model(names, theme, "rows, and Pearson's r", shapes=True)["color"],
        shape=shape_of(names),
        tooltip=[alt.Tooltip("model:N", title="rows"), "x:Q", "y:Q"],
    )
    return finished(chart, f"{second} against {first} of subsamples", theme, says=f"Rows: {', '.join(names)}.")
