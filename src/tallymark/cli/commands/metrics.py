"""List the metrics, or explain one.

The explanation has the formula, the range, the options and the reference.

Example: tallymark metrics average_precision
"""

from __future__ import annotations

import inspect
from itertools import groupby
from typing import Annotated, Any

from tallymark import metrics
from tallymark.cli.layout import table
from tallymark.cli.options import argument
from tallymark.cli.output import Output
from tallymark.metrics.averages import CLASS_METRICS
from tallymark.registry import METRICS, Metric

#: Averages of a metric over K classes, which have names of their own.
_AVERAGES = [key for key, one in CLASS_METRICS.items() if one.average is not None]

#: Which values are better, in words.
BETTER = {"higher": "higher", "lower": "lower", "zero": "near 0", "neither": "–"}


def run(
    output: Output,
    name: Annotated[str | None, argument("[NAME]", "A metric to explain; left out, all are listed.")] = None,
) -> None:
    """Print all metrics, or all facts about one."""
    if output.as_json:
        output.answer("metrics", {"metrics": _described(name)})
    elif name is None:
        _list_all(output)
    elif name in _AVERAGES:
        average = _average(name)
        title = METRICS[average["metric"]].title
        output.text(f"{name} — {title}, averaged over classes ({average['average']})", "bold")
        output.facts({"what it means": average["meaning"]})
    else:
        _explain(METRICS[name], output)


def _described(name: str | None) -> dict[str, Any]:
    if name in _AVERAGES:
        return {str(name): _average(str(name))}
    return {key: describe(METRICS[key]) for key in ([METRICS[name].name] if name else METRICS)}


def _average(name: str) -> dict[str, Any]:
    one = CLASS_METRICS[name]
    return {"metric": one.metric, "average": one.average, "meaning": one.meaning}


def _list_all(output: Output) -> None:
    by_family = sorted(METRICS.values(), key=lambda metric: metric.family)
    heads = [("metric", "left"), ("range", "right"), ("better", "left"), ("what it means", "prose")]
    for family, members in groupby(by_family, key=lambda metric: metric.family):
        lines = [[one.name, f"{one.low:g} … {one.high:g}", BETTER[one.better], one.meaning] for one in members]
        output.table(table(family.capitalize(), heads, lines))
    averages = [[key, CLASS_METRICS[key].meaning] for key in _AVERAGES]
    output.table(table("Averages over classes", [("metric", "left"), ("what it means", "prose")], averages))


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


def _explain(metric: Metric, output: Output) -> None:
    output.text(f"{metric.name} — {metric.title}", "bold")
    output.text(metric.meaning)
    facts = describe(metric)
    output.facts(
        {
            "formula": metric.expression or metric.formula,
            "range": f"{metric.low:g} to {metric.high:g}, better: {BETTER[metric.better]}",
            "needs": metric.needs,
            "moves with prevalence": "yes" if facts["moves_with_prevalence"] else "no",
            "depends on the order of scores only": "yes" if metric.rank_only else "no",
            "options": ", ".join(f"{key} = {value}" for key, value in facts["options"].items()),
            "also called": ", ".join(metric.aliases),
            "reference": metric.reference,
        }
    )
