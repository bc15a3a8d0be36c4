"""``tallymark metrics``: the registry as a glossary."""

from __future__ import annotations

import inspect
from itertools import groupby
from typing import Any

from tallymark import metrics
from tallymark.cli.printing import print_facts, print_json, print_table, print_text, table
from tallymark.metrics.averages import CLASS_METRICS
from tallymark.registry import METRICS, Metric


def run(name: str | None, *, as_json: bool) -> None:
    """Print all metrics, or all that is known of one."""
    if as_json:
        if name in _AVERAGES:
            print_json("metrics", {"metrics": {name: _average(name)}})
            return
        listed = [METRICS[name].name] if name else METRICS
        print_json("metrics", {"metrics": {key: describe(METRICS[key]) for key in listed}})
    elif name is None:
        by_family = sorted(METRICS.values(), key=lambda metric: metric.family)
        for family, members in groupby(by_family, key=lambda metric: metric.family):
            rows = [[m.name, f"{m.low:g} … {m.high:g}", ARROWS[m.better], m.meaning] for m in members]
            heads = [("metric", "left"), ("range", "right"), ("better", "left"), ("what it means", "prose")]
            print_table(table(family.capitalize(), heads, rows))
        print_table(
            table(
                "Averages over classes",
                [("metric", "left"), ("what it means", "prose")],
                [[key, CLASS_METRICS[key].meaning] for key in _AVERAGES],
            )
        )
    elif name in _AVERAGES:
        told = _average(name)
        print_text(f"{name} — {METRICS[told['metric']].title}, averaged over classes ({told['average']})", "bold")
        print_facts({"what it means": told["meaning"]})
    else:
        _explain(METRICS[name])


#: Averages of a metric over K classes, which have names of their own.
_AVERAGES = [key for key, one in CLASS_METRICS.items() if one.average is not None]


def _average(name: str) -> dict[str, Any]:
    one = CLASS_METRICS[name]
    return {"metric": one.metric, "average": one.average, "meaning": one.meaning}


def describe(metric: Metric) -> dict[str, Any]:
    """The facts of a metric as plain values."""
    return {
        "title": metric.title,
        "family": metric.family,
        "aliases": list(metric.aliases),
        "needs": metric.needs,
        "formula": metric.formula,
        "range": [metric.low, metric.high],
        "better": metric.better,
        "moves_with_prevalence": not metric.prevalence_free,
        "depends_on_order_only": metric.rank_only,
        "options": _options(metric),
        "meaning": metric.meaning,
        "reference": metric.reference,
    }


def _options(metric: Metric) -> dict[str, str]:
    """Options of a metric's function and their defaults."""
    if metric.parameters:
        return {name: f"{value:g}" for name, value in metric.parameters.items()}
    function = inspect.signature(getattr(metrics, metric.name))
    return {name: str(p.default) for name, p in function.parameters.items() if p.kind is p.KEYWORD_ONLY}


#: Which way is better, in words.
ARROWS = {"higher": "higher", "lower": "lower", "zero": "near 0", "neither": "–"}


def _explain(metric: Metric) -> None:
    print_text(f"{metric.name} — {metric.title}", "bold")
    print_text(metric.meaning)
    facts = describe(metric)
    lines = {
        "formula": metric.expression or metric.formula,
        "range": f"{metric.low:g} to {metric.high:g}, better: {ARROWS[metric.better]}",
        "needs": metric.needs,
        "moves with prevalence": "yes" if facts["moves_with_prevalence"] else "no",
        "depends on the order of scores only": "yes" if metric.rank_only else "no",
        "options": ", ".join(f"{key} = {value}" for key, value in facts["options"].items()),
        "also called": ", ".join(metric.aliases),
        "reference": metric.reference,
    }
    print_facts(lines)
