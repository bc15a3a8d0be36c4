"""``tallymark advise``."""

from __future__ import annotations

from typing import Any

from tallymark.cli.printing import print_json, print_table, print_text, table
from tallymark.decide.advice import advise


def run(*, as_json: bool, **options: Any) -> None:
    """Say which metric to watch, and why."""
    advice = advise(**options)
    if as_json:
        print_json("advise", advice.to_dict())
        return
    for line in advice.heading().splitlines():
        print_text(line, "bold" if not line.startswith("Doubtful") else "yellow")
    print_table(
        table("", [("about", "left"), ("because", "prose")], [[row["about"], row["because"]] for row in advice.rows()])
    )
