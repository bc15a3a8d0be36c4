"""Merge saved tallies or other summaries into one.

The result is the same as one pass over all rows.

Example: tallymark merge january.tally february.tally --out both.tally
"""

from __future__ import annotations

from functools import reduce
from typing import Annotated

from tallymark._write import require_writable
from tallymark.cli.options import argument, text
from tallymark.cli.output import Output
from tallymark.errors import InputError
from tallymark.sources.constructors import load


def run(
    files: Annotated[list[str], argument("FILES...", "Saved summaries of parts of the data.")],
    out: Annotated[str, text("FILE", "Where to write the summary of all parts.")],
    output: Output,
) -> None:
    """Load, merge, save."""
    require_writable(out, inputs=files)
    parts = [load(file) for file in files]
    kinds = {type(part).__name__ for part in parts}
    if len(kinds) > 1:
        raise InputError(
            f"The files hold different kinds of summary ({', '.join(sorted(kinds))}); merge like with like."
        )
    whole = reduce(lambda a, b: a.merge(b), parts)
    whole.save(out)
    if output.as_json:
        output.answer("merge", {"out": out, "files": len(files), **whole.to_dict()})
        return
    output.text(f"{out}: {whole.heading()}, merged from {len(files)} files")
