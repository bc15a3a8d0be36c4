"""``tallymark metrics``: the registry as a glossary."""

from __future__ import annotations

import inspect
from itertools import groupby
from typing import Any

from tallymark import metrics
from tallymark.cli.printing import print_json, print_table, print_text, table
from tallymark.errors import UnknownNameError, nearest
from tallymark.registry import LOSSES, METRICS, QUANTIFIERS, Loss, Method, Metric


def run(name: str | None, *, as_json: bool) -> None:
    """Print all metrics, or all that is known of one."""
    if as_json:
        print_json({key: describe(METRICS[key]) for key in ([name] if name else METRICS)})
    elif name is None:
        by_family = sorted(METRICS.values(), key=lambda metric: metric.family)
        for family, members in groupby(by_family, key=lambda metric: metric.family):
            rows = [[m.name, f"{m.low:g} … {m.high:g}", _ARROWS[m.better], m.meaning] for m in members]
            heads = [("metric", "left"), ("range", "right"), ("better", "left"), ("what it means", "prose")]
            print_table(table(family.capitalize(), heads, rows))
    else:
        _explain(METRICS[name])


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


_ARROWS = {"higher": "higher", "lower": "lower", "zero": "near 0", "neither": "–"}


def _explain(metric: Metric) -> None:
    print_text(f"{metric.name} — {metric.title}", "bold")
    print_text(metric.meaning)
    facts = describe(metric)
    lines = {
        "formula": metric.expression or metric.formula,
        "range": f"{metric.low:g} to {metric.high:g}, better: {_ARROWS[metric.better]}",
        "needs": metric.needs,
        "moves with prevalence": "yes" if facts["moves_with_prevalence"] else "no",
        "depends on the order of scores only": "yes" if metric.rank_only else "no",
        "options": ", ".join(f"{key} = {value}" for key, value in facts["options"].items()),
        "also called": ", ".join(metric.aliases),
        "reference": metric.reference,
    }
    for key, value in lines.items():
        if value:
            print_text(f"{key}: {value}", indent="  ")


def run_quantifiers(name: str | None, *, as_json: bool) -> None:
    """Print all quantifiers and losses, or all that is known of one."""
    entries: dict[str, Method | Loss] = {**QUANTIFIERS, **LOSSES}
    if name is not None:
        known = next((group[name] for group in (QUANTIFIERS, LOSSES) if name in group), None)
        if known is None:
            raise UnknownNameError(
                f"No quantifier or loss is called {name!r}.{nearest(name, entries)} There are: {', '.join(entries)}."
            )
        entries = {known.name: known}
    if as_json:
        print_json({key: describe_quantifier(entry) for key, entry in entries.items()})
    elif name is None:
        heads = [("name", "left"), ("interval", "left"), ("needs", "left"), ("what it does", "prose")]
        rows = [
            [m.name, m.interval, "probabilities" if m.probabilities else "any scores", m.meaning]
            for m in QUANTIFIERS.values()
        ]
        print_table(table("Quantifiers", heads, rows))
        heads = [("name", "left"), ("range", "right"), ("better", "left"), ("what it means", "prose")]
        rows = [[m.name, f"{m.low:g} … {m.high:g}", _ARROWS[m.better], m.meaning] for m in LOSSES.values()]
        print_table(table("Losses", heads, rows))
    else:
        (entry,) = entries.values()
        print_text(f"{entry.name} — {entry.title}", "bold")
        print_text(entry.meaning)
        for key, value in describe_quantifier(entry).items():
            if value and key not in {"title", "meaning"}:
                print_text(f"{key.replace('_', ' ')}: {_listed(value)}", indent="  ")


def _listed(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} = {part}" for key, part in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


def describe_quantifier(entry: Method | Loss) -> dict[str, Any]:
    """The facts of a quantifier or loss as plain values."""
    facts: dict[str, Any] = {
        "title": entry.title, "meaning": entry.meaning, "formula": entry.formula, "also_called": list(entry.aliases),
        "reference": entry.reference,
    }  # fmt: skip
    if isinstance(entry, Loss):
        return facts | {"range": [entry.low, entry.high], "better": entry.better, "ordered_classes": entry.ordinal}
    options = inspect.signature(entry.kernel).parameters.values()
    return facts | {
        "interval": entry.interval,
        "needs": "probabilities" if entry.probabilities else "any scores",
        "right_under_prior_shift": "yes" if entry.shift_proof else "no",
        "options": {p.name: str(p.default) for p in options if p.kind is p.KEYWORD_ONLY},
    }
