"""Data of a page's sliders: thresholds with exact counts, limits at each, confidence bands, and score histograms."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tallymark._check import Floats, Ints
from tallymark._display import plain
from tallymark._text import visible
from tallymark.charts.decimation import thinned
from tallymark.charts.layers import ODDS, log_odds
from tallymark.curves.decision import PROBABILITIES, acted_on
from tallymark.curves.histogram import score_histogram
from tallymark.decisions.verdicts import RARE_SHARE, leading_metrics
from tallymark.evaluation.request import Request, settings_at
from tallymark.inference.limits.bands import pr_band, roc_band
from tallymark.inference.limits.cell_metrics import RateQuery, limits_of_many
from tallymark.inference.resampling.strata import Pool
from tallymark.measures import Evaluation
from tallymark.metrics import expressions
from tallymark.metrics.headlines import SLIDERS
from tallymark.metrics.parameters import adjustable
from tallymark.registry import METRICS
from tallymark.reporting.mathml import formula
from tallymark.summaries.tally import Tally

#: Thresholds of a slider, of all sliders together, and cells of a large tally from which they are taken.
_MOST, _TOGETHER, _CELLS = 400, 2_400, 2**15

#: Rows beyond which a band is hardly wider than its line and is left out.
BANDS_UP_TO = 100_000

#: Bins of the scores by class.
_BINS = 48


def explored(
    tallies: Mapping[str, Tally], evaluations: Mapping[str, Evaluation], order: Sequence[str]
) -> dict[str, Any]:
    """Thresholds of each model with counts and limits, the chosen threshold included.

    The page opens with the first model of `order`, the second beside it. Rare positives get a logarithmic axis.
    """
    first = next(iter(evaluations.values()))
    names = list(tallies)
    most = min(_MOST, _TOGETHER // len(names))
    rare = float(first.positives or 0) / float(first.n) < RARE_SHARE
    fewest = max(float(tally.negatives) for tally in tallies.values())
    leading = [name for name in leading_metrics(first) if METRICS[name].expression is not None]
    return {
        "models": [_model(name, tally, evaluations[name], rare=rare, most=most) for name, tally in tallies.items()],
        "first": names.index(order[0]),
        "second": names.index(order[1]) if len(order) > 1 else None,
        "least": max(1e-5, 0.5 / fewest) if rare else None,
        "prevalence": first.prevalence,
        "odds_at": first.parameters.get("odds_at"),
        "parameters": adjustable(),
        "leading": list(dict.fromkeys((*leading, *SLIDERS))),
    }


def limits_note(evaluations: Mapping[str, Evaluation]) -> str:
    """The sentence that says which limits stand beside the sliders."""
    first = next(iter(evaluations.values()))
    if first.level is None:
        return "Counts are exact at every step of the slider."
    if first.sampling == "clusters":
        return (
            "Counts are exact at every step. Rows come in clusters, so limits stand only at the threshold of the table."
        )
    text = f"Counts are exact at every step. {100 * first.level:g} % limits are those of a threshold fixed beforehand"
    text += "; at the chosen one they allow for the choosing" if first.policy is not None else ""
    return text + ". Where the prevalence or the costs are moved, limits that depend on them are left out."


def _model(name: str, tally: Tally, evaluation: Evaluation, *, rare: bool, most: int) -> dict[str, Any]:
    threshold = float(evaluation.threshold or 0.0)
    cut = Pool.of(tally, _CELLS, [threshold]).thinned().cutoffs if sum(map(len, tally.runs)) > _CELLS else tally.cutoffs
    fpr, tpr = cut.fp / float(tally.negatives), cut.tp / float(tally.positives)
    # Thresholds ascend along the slider.
    kept = _kept(np.asarray(fpr), np.asarray(tpr), np.asarray(cut.thresholds), threshold, most)[::-1]
    thresholds = np.asarray(cut.thresholds, dtype=np.float64)[kept]
    start = int(np.searchsorted(thresholds, threshold, "left").clip(0, len(thresholds) - 1))
    # Both thresholds predict the same rows positive; the page shows that of the table.
    thresholds[start] = threshold
    logit = rare and tally.is_probability
    return {
        "name": visible(name),
        "P": plain(tally.positives),
        "N": plain(tally.negatives),
        "start": start,
        "thresholds": plain(thresholds),
        "tp": plain(cut.tp[kept]),
        "fp": plain(cut.fp[kept]),
        "limits": _limits(tally, evaluation, thresholds),
        "chosen": {
            m: [one.low, one.high]
            for m, one in evaluation.items()
            if m in SLIDERS and one.interval is not None and one.reason is None
        },
        "bands": _bands(tally, evaluation, rare=rare),
        "histogram": _histogram(tally, logit=logit),
        "acted_on": _acted_on(tally),
    }


def _acted_on(tally: Tally) -> dict[str, Any] | None:
    """True and false positives at each probability of the decision curve; None if scores are not probabilities."""
    if not tally.is_probability:
        return None
    tp, fp = acted_on(tally, PROBABILITIES)
    return {"t": PROBABILITIES.tolist(), "tp": plain(tp), "fp": plain(fp)}


def _kept(fpr: Floats, tpr: Floats, thresholds: Floats, chosen: float, most: int) -> Ints:
    """Indices of the thresholds that are kept: along the curve, and the chosen one; highest threshold first."""
    along = thinned(fpr, tpr, most)
    # The lowest threshold that is not below the chosen one: both predict the same rows positive.
    at = max(int(np.searchsorted(-thresholds, -chosen, "right")) - 1, 0)
    return np.unique(np.append(along, at))


def _limits(tally: Tally, evaluation: Evaluation, thresholds: Sequence[float] | Floats) -> dict[str, Any]:
    """Limits of the sliders' metrics at every threshold, each as if fixed beforehand."""
    if evaluation.level is None or evaluation.sampling == "clusters":
        return {}
    stated = tally.at_prevalence(evaluation.prevalence)
    request = Request(None, None, None, strict=False, parameters=evaluation.parameters)
    wanted = []
    for threshold in map(float, thresholds):
        matrix = stated.at(threshold)
        settings = settings_at(SLIDERS, matrix, request)
        wanted.append(RateQuery(tuple(settings), matrix, settings))
    limits = limits_of_many(wanted, evaluation.level, evaluation.sampling)  # type: ignore[arg-type]
    return {
        name: [[None if name not in one else _short(float(one[name][side])) for one in limits] for side in (0, 1)]
        for name in SLIDERS
    }


def _bands(tally: Tally, evaluation: Evaluation, *, rare: bool) -> dict[str, Any] | None:
    if evaluation.level is None or tally.clusters is not None or evaluation.n_rows > BANDS_UP_TO:
        return None
    at = np.geomspace(max(1e-5, 0.5 / float(tally.negatives)), 1.0, 81) if rare else None
    bands = {
        "roc": roc_band(tally, level=evaluation.level, at=at).points,
        "pr": pr_band(tally.at_prevalence(evaluation.prevalence), level=evaluation.level).points,
    }
    return {
        name: {side: [_short(v) for v in band[side].tolist()] for side in ("x", "low", "high")}
        for name, band in bands.items()
    }


def _histogram(tally: Tally, *, logit: bool) -> dict[str, Any]:
    """Shares of each class by score; edges and ticks are on the scale of the axis."""
    bins = score_histogram(tally, bins=_BINS, logit=logit)
    edges = np.append(bins.low[:_BINS], bins.high[_BINS - 1])
    edges = log_odds(edges) if logit else edges
    negative, positive = (bins.share[_BINS * side : _BINS * (side + 1)] for side in (0, 1))
    return {
        "edges": [_short(v) for v in edges.tolist()],
        "positive": [_short(v) for v in positive.tolist()],
        "negative": [_short(v) for v in negative.tolist()],
        "logit": logit,
        "ticks": _ticks(float(edges[0]), float(edges[-1]), logit=logit),
    }


def _ticks(low: float, high: float, *, logit: bool) -> list[tuple[float, str]]:
    """Positions on the axis and their labels."""
    if not np.isfinite(high - low):
        return []
    if logit:
        return [(at, f"{p:g}") for p in ODDS if low <= (at := float(log_odds(p))) <= high]
    step = 10.0 ** np.floor(np.log10((high - low) / 3)) if high > low else 1.0
    step *= next((m for m in (1, 2, 5, 10) if m * step * 6 >= high - low), 10)
    places = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
    return [(float(at), f"{at:.6g}".replace("-", "−")) for at in places.tolist()]


def _short(value: float) -> float | None:
    """A number to six digits; None for one that is not finite."""
    return float(f"{value:.6g}") if np.isfinite(value) else None


def formulas() -> str:
    """Every metric of the four cells as a JavaScript function of cells and parameters, from its declared expression."""
    settable = adjustable()
    lines = []
    for name, metric in METRICS.items():
        if metric.expression is None:
            continue
        live = {*settable, metric.threshold_parameter}
        values = {
            p: f"(q.{p} ?? {json.dumps(v)})" if p in live else json.dumps(v) for p, v in metric.parameters.items()
        }
        names = "".join(f"const {p} = {value}; " for p, value in values.items())
        body = expressions.to_javascript(metric.expression)
        lines.append(
            f"  {json.dumps(name)}: ({{tp, fp, fn, tn}}, q) => {{ const sqrt = Math.sqrt; {names}return {body}; }}"
        )
    return "const FORMULAS = {\n" + ",\n".join(lines) + "\n};"


#: Descriptions of the better direction.
_BETTER = {"higher": "higher is better", "lower": "lower is better", "zero": "best at 0", "neither": "an amount"}


def glossary() -> dict[str, dict[str, Any]]:
    """What the page explains of each metric on a click."""
    return {
        name: {
            "label": m.label,
            "title": m.title,
            "meaning": m.meaning,
            "formula": formula(m.formula),
            "low": "−∞" if m.low == -np.inf else f"{m.low:g}".replace("-", "−"),
            "high": "∞" if m.high == np.inf else f"{m.high:g}",
            "better": _BETTER[m.better],
            "reference": m.reference,
            "moves": not m.prevalence_free,
            "parameters": list(m.parameters),
            "aliases": list(m.aliases),
        }
        for name, m in METRICS.items()
    }
