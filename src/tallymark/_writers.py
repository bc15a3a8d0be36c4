"""A result's rows as text for a paper, a page or a spreadsheet: booktabs LaTeX, Markdown, CSV."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from tallymark._text import visible

#: What LaTeX takes for something else; a bracket or an asterisk that begins a line belongs to the command before it.
_LATEX = str.maketrans({
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "\u202f": r"\,", "\u2212": "$-$", "–": "--", "[": "{[}", "*": "{*}",
})  # fmt: skip

#: What Markdown takes for something else: links, emphasis, code, cells; underscores only at the edge of a word.
_MARKDOWN = re.compile(r"[\\|`*\[\]]|(?<![^\W_])_|_(?![^\W_])")

#: A cell that begins so is a formula to a spreadsheet.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

Columns = Mapping[str, Sequence[Any]]


def latex(
    columns: Columns, shown: Callable[[Any], str], caption: str = "", right: Collection[str] | None = None
) -> str:
    """A booktabs table; numbers, or the columns named, stand to the right."""
    numeric = {name: _numeric(values) if right is None else name in right for name, values in columns.items()}
    lines = [r"\begin{table}", *([rf"\caption{{{_latex(caption)}}}"] if caption else [])]
    lines += [rf"\begin{{tabular}}{{{''.join('r' if numeric[name] else 'l' for name in columns)}}}", r"\toprule"]
    lines += [" & ".join(map(_latex, columns)) + r" \\", r"\midrule"]
    lines += [
        " & ".join(_latex(_minus(shown(value))) for value in line) + r" \\"
        for line in zip(*columns.values(), strict=True)
    ]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"]) + "\n"


def _latex(text: str) -> str:
    return visible(text).translate(_LATEX)


def markdown(columns: Columns, shown: Callable[[Any], str], right: Collection[str] | None = None) -> str:
    """A pipe table; numbers, or the columns named, stand to the right."""

    def cell(text: str) -> str:
        return html.escape(_MARKDOWN.sub(r"\\\g<0>", visible(text)), quote=False)

    lines = ["| " + " | ".join(map(cell, columns)) + " |"]
    lines.append(
        "|"
        + "|".join(
            "---:" if (_numeric(values) if right is None else name in right) else "---"
            for name, values in columns.items()
        )
        + "|"
    )
    lines += [
        "| " + " | ".join(cell(_minus(shown(value))) for value in line) + " |"
        for line in zip(*columns.values(), strict=True)
    ]
    return "\n".join(lines) + "\n"


def comma_separated(columns: Columns) -> str:
    """A CSV table with all digits; what a spreadsheet would run as a formula is quoted as text."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_harmless(name) for name in columns])
    for line in zip(*columns.values(), strict=True):
        writer.writerow(
            ["" if value is None else _harmless(value) if isinstance(value, str) else _plainly(value) for value in line]
        )
    return out.getvalue()


def _plainly(value: Any) -> Any:
    item = value.item() if hasattr(value, "item") and not isinstance(value, list | tuple) else value
    return repr(item) if isinstance(item, float) else item


def _numeric(values: Sequence[Any]) -> bool:
    return any(
        (isinstance(value, int | float) and not isinstance(value, bool)) or hasattr(value, "dtype") for value in values
    )


def _harmless(text: str) -> str:
    return visible(f"'{text}" if text.startswith(_FORMULA) else text)


def _minus(text: str) -> str:
    """A number's hyphen as a minus."""
    return "−" + text[1:] if text.startswith("-") and text[1:2].isdigit() else text
