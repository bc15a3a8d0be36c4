"""Command lines, made from what every command declares: its arguments, its options, and words that fit them or do not."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

#: What an option may be given, right and wrong; where none is said here, any of `_ANYTHING`.
_WORDS = {
    "--label": ["y", "Y", "nope", "", "g"], "--score": ["p", "p", "p", "w", "text", "P", "p,w"], "--predicted": ["y", "g", "y,g"],
    "--by": ["g", "g,g", "y,g", "p", ",", ""], "--weight": ["w", "p", "n"], "--count": ["n", "w"], "--cluster": ["g", "text", "p"],
    "--where": ["p > 0.2", "g = 'g01'", "1=1; DROP TABLE x", "(", "p > (SELECT 1 FROM '/etc/passwd')"],
    "--threshold": ["0.5", "youden", "f1", "tpr:0.9", "cost:1,50", "cost:0,0", "rate:2", "nan", "x", "fbeta:-1", "1e400"],
    "--metric": ["auroc", "f1", "nonsense", "brier", "kappa", "f1_macro"], "--seed": ["0", "7", "-1", "99999999999999999999"],
    "--threads": ["1", "0", "10", "99999999999"], "--jobs": ["1", "0", "-1"], "--memory-limit": ["100MB", "x", "-1"],
    "--pos-label": ["1", "yes", "ß", "nobody", "1.0"], "--sampling": ["plain", "stratified", "x"], "--interval": ["default", "bca", "no"],
    "--policy": ["youden", "x"], "--expect": ["precision", "x"], "--probability": ["0=p", "1=w", "x"], "--require": ["auroc>=0.5", "f1<0", "x"],
    "--machines": ["3", "0", "-1"], "--replicates": ["20", "0", "-1"], "--draws": ["20", "0"], "--run-length": ["370", "0", "x"],
    "--detector": ["IForest", "MOD", "x"], "--feature": ["p", "w", "p,w", "text"], "--formula": ["fisher", "geks", "x"],
    "--period": ["g", "n", "y", "nope"], "--product": ["text", "g", "n"], "--price": ["w", "p", "text"], "--value": ["w", "p", "text"],
    "--quantity": ["n", "w", "p"], "--matrix": ["0,1;5,0", "x"], "--store": ["store.db", "rows.csv", "", "."],
    "--report": ["report.html", "rows.csv", "", "/dev/null", "no/such/folder.html", "."],
    "--out": ["out.csv", "out.xlsx", "out.ods", "out.html", "rows.csv", "x" * 300, "", "/dev/null"], "--all": ["out.csv", "rows.csv", "."], "--format": ["csv", "md", "latex", "json", "x"],
}  # fmt: skip
_ANYTHING = ("y", "p", "g", "w", "n", "text", "0.5", "1", "2", "0", "-1", "nan", "1e400", "", "x", "ß", "ac", "total")

#: What makes sense of an option that must be there.
_SENSE = {
    "--label": "y", "--score": "p", "--out": "out.csv", "--text": "text", "--period": "g", "--product": "text", "--price": "w", "--value": "w",
    "--predicted": "y", "--auroc": "0.8", "--difference": "0.1",
}  # fmt: skip

#: Commands that take seconds, or leave a folder, and the share of cases in which one of them is left in.
_LONG, _SELDOM = {"demo", "rare", "detect"}, 0.05

#: Files that a command may leave behind.
WRITTEN = {"rows.csv", "report.html", "out.csv", "out.xlsx", "out.ods", "out.html", "store.db", "x" * 300}


@cache
def _commands() -> dict[tuple[str, ...], Any]:
    import typer

    from tallymark.cli.app import app

    def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
        below = command.list_commands(None) if hasattr(command, "list_commands") else []
        for name in below:
            yield from leaves(command.get_command(None, name), (*path, name))
        if not below:
            yield path, command

    return dict(leaves(typer.main.get_command(app)))


#: Takes no file of rows; never ends by itself.
_NOT_TRIED = {("demo",), ("serve",)}


def arguments(rng: np.random.Generator) -> list[str]:
    """A command line: some of it makes sense."""
    seldom = rng.random() >= _SELDOM
    known = [path for path in _commands() if not (seldom and _LONG.intersection(path)) and path not in _NOT_TRIED]
    path = ("evaluate",) if rng.random() < 0.2 else known[rng.integers(len(known))]
    command = _commands()[path]
    options = [one for one in command.params if one.opts and one.opts[0].startswith("--")]
    words = [
        *path,
        *(
            "rows.csv" if one.required else str(rng.choice(["rows.csv", "auroc", "ac", "x", ""]))
            for one in command.params
            if one not in options and rng.random() < (0.95 if one.required else 0.5)
        ),
    ]
    # A score is wanted nearly everywhere, though labels may do instead.
    likely = [one.opts[0] for one in options if one.required or one.opts[0] in {"--label", "--score"}]
    for name in likely:
        if rng.random() < 0.9:
            words += [name, _SENSE.get(name, "5")]
    for one in (options[i] for i in rng.integers(0, len(options), int(rng.integers(0, 5)))) if options else ():
        name = one.opts[0]
        # Pictures take seconds each; a few are enough.
        if name == "--report" and rng.random() < 0.8:
            continue
        words += [name] if one.is_flag else [name, str(rng.choice(_WORDS.get(name, _ANYTHING)))]
    return words
