"""``tallymark merge``: summaries of parts become the summary of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from tallymark._write import require_writable
from tallymark.cli.printing import print_json, print_text
from tallymark.errors import InputError
from tallymark.sources.constructors import load


def run(files: Sequence[str], out: str, *, as_json: bool = False) -> None:
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
    if as_json:
        print_json("merge", {"out": out, "files": len(files), **whole.to_dict()})
        return
    print_text(f"{out}: {whole.heading()}, merged from {len(files)} files")
