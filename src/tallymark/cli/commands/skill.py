"""Print a guide to the commands for assistants that run them.

Example: tallymark skill > SKILL.md
"""

from __future__ import annotations

from importlib import resources

from tallymark.cli.output import Output


def run(output: Output) -> None:
    """Print the guide as it is, in Markdown."""
    guide = resources.files("tallymark.cli").joinpath("skill.md").read_text(encoding="utf-8")
    if output.as_json:
        output.answer("skill", {"markdown": guide})
        return
    print(guide, end="")
