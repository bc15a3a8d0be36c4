"""``tallymark policies``: the ways to choose a threshold."""

from __future__ import annotations

from tallymark.cli.printing import print_json, print_table, table
from tallymark.registry import POLICIES


def run(*, as_json: bool) -> None:
    """List every policy, how it is written, and what it does."""
    if as_json:
        print_json("policies", {"policies": {
            one.name: {"written": one.example or one.name, "arguments": list(one.arguments), "aliases": list(one.aliases),
                       "judged_by": one.judged_by, "meaning": one.meaning, "reference": one.reference}
            for one in POLICIES.values()
        }})  # fmt: skip
        return
    heads = [("policy", "left"), ("written", "left"), ("judged by", "left"), ("what it chooses", "prose")]
    print_table(
        table("", heads, [[one.name, one.example or one.name, one.judged_by, one.meaning] for one in POLICIES.values()])
    )
