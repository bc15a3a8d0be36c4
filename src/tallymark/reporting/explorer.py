"""The page's own arithmetic: thresholds with exact counts, and the registry's formulas in JavaScript."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from tallymark._check import Ints
from tallymark._display import plain
from tallymark.charts.thinning import thinned
from tallymark.inference.resampling.strata import Pool
from tallymark.metrics import expressions
from tallymark.registry import METRICS
from tallymark.summaries.tally import Tally

#: Thresholds the slider runs over, and the cells of a large tally they are taken from.
_MOST, _CELLS = 1_500, 2**15


def parameters() -> dict[str, float]:
    """Parameters that can be typed into the page, with the values the library takes."""
    entries = {name: value for metric in METRICS.values() for name, value in metric.parameters.items()}
    return {name: entries[name] for name in ("beta", "cost_fp", "cost_fn")}


def explored(tallies: Mapping[str, Tally], thresholds: Mapping[str, float]) -> dict[str, Any]:
    """For each model the thresholds of the slider with exact counts; the chosen threshold is among them."""
    models = [_model(name, tally, thresholds[name]) for name, tally in tallies.items()]
    return {"models": models}


def _model(name: str, tally: Tally, threshold: float) -> dict[str, Any]:
    cut = Pool.of(tally, _CELLS, [threshold]).thinned().cutoffs if sum(map(len, tally.runs)) > _CELLS else tally.cutoffs
    fpr, tpr = cut.fp / float(tally.negatives), cut.tp / float(tally.positives)
    kept = _drawn(np.asarray(fpr), np.asarray(tpr), np.asarray(cut.thresholds), threshold)
    return {
        "name": name,
        "P": plain(tally.positives),
        "N": plain(tally.negatives),
        "start": _at(cut.thresholds[kept], threshold),
        "thresholds": plain(cut.thresholds[kept]),
        "tp": plain(cut.tp[kept]),
        "fp": plain(cut.fp[kept]),
    }


def _drawn(fpr: Any, tpr: Any, thresholds: Any, chosen: float) -> Ints:
    """Places of the thresholds that are kept: along the curve, and the chosen one; highest threshold first."""
    along = thinned(fpr, tpr, _MOST)
    return np.unique(np.append(along, _at(thresholds, chosen)))


def _at(thresholds: Any, chosen: float) -> int:
    """The place of the lowest threshold that is not below the chosen one: both call the same rows positive."""
    return max(int(np.searchsorted(-thresholds, -chosen, "right")) - 1, 0)


def formulas() -> str:
    """Every metric of the four cells as a JavaScript function of the cells and the parameters, from one declaration."""
    typed = parameters()
    lines = []
    for name, metric in METRICS.items():
        if metric.expression is None:
            continue
        live = {*typed, metric.threshold_parameter}
        values = {
            p: f"(q.{p} ?? {json.dumps(v)})" if p in live else json.dumps(v) for p, v in metric.parameters.items()
        }
        names = "".join(f"const {p} = {value}; " for p, value in values.items())
        body = expressions.to_javascript(metric.expression)
        lines.append(
            f"  {json.dumps(name)}: ({{tp, fp, fn, tn}}, q) => {{ const sqrt = Math.sqrt; {names}return {body}; }}"
        )
    return "const FORMULAS = {\n" + ",\n".join(lines) + "\n};"


def glossary() -> dict[str, dict[str, Any]]:
    """What a click on a metric explains."""
    return {
        name: {
            "title": m.title,
            "meaning": m.meaning,
            "formula": m.expression or m.formula,
            "low": plain(m.low),
            "high": plain(m.high),
            "better": m.better,
            "reference": m.reference,
            "moves": not m.prevalence_free,
        }
        for name, m in METRICS.items()
    }
