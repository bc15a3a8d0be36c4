"""Write ranks, tests and pictures to one HTML file.

Example: tallymark study report forman.toml study.html
"""

from __future__ import annotations

from typing import Annotated

from tallymark.cli.commands.study.options import File
from tallymark.cli.options import Level, argument
from tallymark.cli.output import ReportedOutput
from tallymark.study.studies import Study


def run(file: File, out: Annotated[str, argument("OUT", "HTML file to write.")], level: Level = 0.95) -> None:
    """Write the report of a study."""
    output = ReportedOutput(report=out)
    output.require_place(file)
    output.write_report(Study.from_toml(file).results(), file, level=level)
    output.say_where()
