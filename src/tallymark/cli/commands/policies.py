"""List the policies that choose a threshold.

They are what --threshold and --policy take.

Example: tallymark policies
"""

from __future__ import annotations

from tallymark.cli.layout import table
from tallymark.cli.output import Output
from tallymark.registry import POLICIES


def run(output: Output) -> None:
    """List every policy, how it is written, and what it chooses."""
    if output.as_json:
        policies = {
            one.name: {
                "written": one.example or one.name,
                "arguments": list(one.arguments),
                "aliases": list(one.aliases),
                "judged_by": one.judged_by,
                "meaning": one.meaning,
                "reference": one.reference,
            }
            for one in POLICIES.values()
        }
        output.answer("policies", {"policies": policies})
        return
    heads = [("policy", "left"), ("written", "left"), ("judged by", "left"), ("what it chooses", "prose")]
    rows = [[one.name, one.example or one.name, one.judged_by, one.meaning] for one in POLICIES.values()]
    output.table(table("", heads, rows))
