"""Charts of score distributions: histograms by class, and a target's scores beside the fitted mixture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tallymark import _check, curves
from tallymark._numbers import number
from tallymark._text import shortened, visible
from tallymark.charts import layers
from tallymark.charts.inputs import by_name, curves_of
from tallymark.charts.parts import tips
from tallymark.charts.pictures import picture_of
from tallymark.charts.theme import WIDTH, Chart, altair, finished, finished_panels, palette, require_kind, rows, titled
from tallymark.curves.histogram import ScoreHistogram
from tallymark.summaries.tally import Tally

if TYPE_CHECKING:
    from tallymark.quantify.estimation.mixture_test import MixtureFit


@picture_of("ScoreHistogram")
def score_histogram(
    data: object,
    *,
    bins: int = 40,
    log: bool = False,
    logit: bool = False,
    threshold: float | None = None,
    calibrated: Tally | None = None,
    theme: str = "light",
) -> Chart:
    """Histograms of scores by class, as shares of each class.

    Parameters
    ----------
    data
        A tally, a curve, several by name, or a panel.
    bins
        Number of bins.
    log
        Draw counts on a logarithmic scale instead.
    logit
        Draw probabilities on the log-odds scale.
    threshold
        Threshold to mark.
    calibrated
        The tally after calibration, shown beside.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.charts.score_histogram(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35])).to_dict()["title"]["text"]
    'Scores by class'
    """
    alt = altair()
    colours = palette(theme)
    parts: Mapping[str, Any] = by_name(data)
    if calibrated is not None:
        (first,) = parts.values()
        parts = {"before": first, "after": calibrated}
    histograms = curves_of(parts, ScoreHistogram, lambda tally: curves.score_histogram(tally, bins=bins, logit=logit))
    items: list[dict[str, Any]] = []
    for name, drawn in histograms.items():
        columns = drawn.curve.columns()
        lines = zip(*(values.tolist() for values in columns.values()), strict=True)
        items += [{"model": name, **dict(zip(columns, line, strict=True))} for line in lines]
    # The positive class is on top.
    labels = list(dict.fromkeys(row["class"] for row in items))[::-1]
    for row in items:
        row["from"], row["to"] = (layers.log_odds(v) if logit else v for v in (row["low"], row["high"]))
        row["part"] = row["class"] if len(parts) == 1 else f"{row['class']}, {row['model']}"
    field, title = ("count", "rows") if log else ("share", "share")
    least = 10.0 ** np.floor(np.log10(min((row["count"] for row in items if row["count"] > 0), default=1.0)) - 1)
    scale = alt.Scale(type="log", domainMin=float(least)) if log else alt.Scale()
    ends = float(min(row["from"] for row in items)), float(max(row["to"] for row in items))
    order = list(dict.fromkeys(row["part"] for label in labels for row in items if row["class"] == label))
    panels = []
    for part in order:
        bins_of = [row for row in items if row["part"] == part and row["count"] > 0]
        is_positive = bins_of and bins_of[0]["class"] == labels[0]
        bars = alt.Chart(rows(bins_of)).mark_bar(stroke=colours.paper, strokeWidth=0.5)
        bars = bars.encode(
            x=_score_axis(ends, logit=logit, titled=part == order[-1]),
            x2="to:Q",
            y=alt.Y(f"{field}:Q", title=title, stack=None, scale=scale, axis=alt.Axis(tickCount=4)),
            y2=alt.datum(float(least) if log else 0.0),
            color=alt.value(colours.positive if is_positive else colours.negative),
            tooltip=[
                *tips("class", "low", "high", text=("class",)),
                *tips("count", format=",.6~g"),
                *tips("share"),
            ],
        )
        panel = [bars]
        if threshold is not None and np.isfinite(_check.real(threshold, "threshold", infinite=True)):
            at = float(np.clip(layers.log_odds(threshold) if logit else threshold, *ends))
            text = layers.threshold_text(threshold) if part == order[0] else ""
            panel.extend(layers.marked(at, "from", text, theme, left=at > sum(ends) / 2))
        panels.append(alt.layer(*panel).properties(width=WIDTH, height=110, title=_small_title(part)))
    texts = []
    for name, drawn in histograms.items():
        if drawn.tally is not None:
            up, down = (number(_median(run)) for run in drawn.tally.runs[::-1])
            texts.append(f"{name}: half of the positives score {up} or more, half of the negatives {down} or more.")
    shown = titled("Scores by class", next(iter(parts)) if len(parts) == 1 else None)
    return finished_panels(alt.vconcat(*panels, spacing=8), shown, theme, says=" ".join(texts))


def _score_axis(ends: tuple[float, float], *, logit: bool, titled: bool) -> Any:
    alt = altair()
    if logit:
        return layers.logit_axis("from", "score", *ends, named=titled)
    return alt.X("from:Q", title="score" if titled else None, scale=alt.Scale(domain=list(ends), nice=False))


def _small_title(part: str) -> Any:
    return altair().Title(shortened(visible(f"class {part}"), 60), anchor="start", fontSize=12, fontWeight="normal")


def _median(run: Any) -> float:
    """Median score of a class."""
    half = float(run.total) / 2.0
    before = run.mass_before(np.arange(len(run)))
    return float(run.scores[int(np.searchsorted(before, half, "right")) - 1])


@picture_of("MixtureFit")
def mixture_fit(data: MixtureFit, *, theme: str = "light") -> Chart:
    """Binned scores of a target (bars) beside the fitted mixture of the classes (points): a check of prior shift.

    Parameters
    ----------
    data
        The result of :func:`tallymark.quantify.mixture_fit`.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> t = tm.tally([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.4, 0.35, 0.8, 0.9])
    >>> fit = tm.quantify.mixture_fit(t, tm.tally(scores=[0.1, 0.2, 0.3, 0.9]))
    >>> tm.charts.mixture_fit(fit).to_dict()["title"]["text"].startswith("Scores to be counted")
    True
    """
    require_kind(data, "MixtureFit", "tm.quantify.mixture_fit")
    alt = altair()
    colours = palette(theme)
    lines = data.rows()
    items = [
        {
            "bin": f"{i + 1}",
            "from": _text(row["from"]),
            "to": _text(row["to"]),
            "observed": row["observed"],
            "expected": row["expected"],
            "of positives": data.prevalence * row["positive"],
        }
        for i, row in enumerate(lines)
    ]
    order = [row["bin"] for row in items]
    base = alt.Chart(rows(items)).encode(
        x=alt.X("bin:N", sort=order, title="bin of the score, low to high", axis=alt.Axis(labelAngle=0))
    )
    shown = tips("from", "to", "observed", "expected", "of positives", text=("from", "to"))
    bars = base.mark_bar(opacity=0.35, color=colours.faint).encode(
        y=alt.Y("observed:Q", title="share of the target's rows"), tooltip=shown
    )
    positive = base.mark_bar(opacity=0.7, color=colours.positive).encode(y="of positives:Q", tooltip=shown)
    dots = base.mark_point(filled=True, size=60, color=colours.ink).encode(y="expected:Q", tooltip=shown)
    title = f"Scores to be counted, mixture at {100 * data.prevalence:.1f} % (points)"
    return finished(alt.layer(bars, positive, dots), title, theme, width=420)


def _text(value: float) -> str:
    if np.isfinite(value):
        return f"{value:.4g}"
    return "−∞" if value < 0 else "∞"
