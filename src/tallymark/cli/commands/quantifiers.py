"""List the quantifiers and their losses, or explain one.

The explanation has the formula, the options and the reference.

Example: tallymark quantifiers bayes
"""

from __future__ import annotations

from typing import Annotated, Any

from tallymark.cli.commands.metrics import BETTER
from tallymark.cli.layout import table
from tallymark.cli.options import argument
from tallymark.cli.output import Output
from tallymark.errors import UnknownNameError, nearest
from tallymark.registry import LOSSES, QUANTIFIERS, Loss, Method


def run(
    output: Output,
    name: Annotated[
        str | None, argument("[NAME]", "A quantifier or loss to explain; left out, all are listed.")
    ] = None,
) -> None:
    """Print all quantifiers and losses, or all facts about one."""
    entries = _entries(name)
    if output.as_json:
        output.answer("quantifiers", {"quantifiers": {key: describe(entry) for key, entry in entries.items()}})
    elif name is None:
        _list_all(output)
    else:
        (entry,) = entries.values()
        output.text(f"{entry.name} — {entry.title}", "bold")
        output.text(entry.meaning)
        for key, value in describe(entry).items():
            if value and key not in {"title", "meaning"}:
                output.text(f"{key.replace('_', ' ')}: {_listed(value)}", indent="  ")


def _entries(name: str | None) -> dict[str, Method | Loss]:
    entries: dict[str, Method | Loss] = {**QUANTIFIERS, **LOSSES}
    if name is None:
        return entries
    for group in (QUANTIFIERS, LOSSES):
        if name in group:
            return {group[name].name: group[name]}
    raise UnknownNameError(
        f"No quantifier or loss is called {name!r}.{nearest(name, entries)} There are: {', '.join(entries)}."
    )


def _list_all(output: Output) -> None:
    heads = [("name", "left"), ("interval", "left"), ("needs", "left"), ("what it does", "prose")]
    lines = [[one.name, one.interval, _needs(one), one.meaning] for one in QUANTIFIERS.values()]
    output.table(table("Quantifiers", heads, lines))
    heads = [("name", "left"), ("range", "right"), ("better", "left"), ("what it means", "prose")]
    lines = [[one.name, f"{one.low:g} … {one.high:g}", BETTER[one.better], one.meaning] for one in LOSSES.values()]
    output.table(table("Losses", heads, lines))


def _needs(method: Method) -> str:
    return "probabilities" if method.probabilities else "any scores"


def _listed(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} = {part}" for key, part in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def describe(entry: Method | Loss) -> dict[str, Any]:
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
        "needs": _needs(entry),
        "right_under_prior_shift": "yes" if entry.shift_proof else "no",
        "options": {name: str(default) for name, default in entry.options.items()},
    }
