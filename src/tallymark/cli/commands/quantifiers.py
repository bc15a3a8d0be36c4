"""``tallymark quantifiers``: quantifiers and losses as a glossary."""

from __future__ import annotations

from typing import Any

from tallymark.cli.commands.metrics import ARROWS
from tallymark.cli.printing import print_json, print_table, print_text, table
from tallymark.errors import UnknownNameError, nearest
from tallymark.registry import LOSSES, QUANTIFIERS, Loss, Method


def run(name: str | None, *, as_json: bool) -> None:
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
        print_json("quantifiers", {"quantifiers": {key: describe_quantifier(entry) for key, entry in entries.items()}})
    elif name is None:
        heads = [("name", "left"), ("interval", "left"), ("needs", "left"), ("what it does", "prose")]
        rows = [
            [m.name, m.interval, "probabilities" if m.probabilities else "any scores", m.meaning]
            for m in QUANTIFIERS.values()
        ]
        print_table(table("Quantifiers", heads, rows))
        heads = [("name", "left"), ("range", "right"), ("better", "left"), ("what it means", "prose")]
        rows = [[m.name, f"{m.low:g} … {m.high:g}", ARROWS[m.better], m.meaning] for m in LOSSES.values()]
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
        "title": entry.title,
        "meaning": entry.meaning,
        "formula": entry.formula,
        "also_called": list(entry.aliases),
        "reference": entry.reference,
    }
    if isinstance(entry, Loss):
        return facts | {"range": [entry.low, entry.high], "better": entry.better, "ordered_classes": entry.ordinal}
    return facts | {
        "interval": entry.interval,
        "needs": "probabilities" if entry.probabilities else "any scores",
        "right_under_prior_shift": "yes" if entry.shift_proof else "no",
        "options": {name: str(default) for name, default in entry.options.items()},
    }
