"""Formulas as MathML, which browsers draw themselves: no script, no font to fetch."""

from __future__ import annotations

import html
from functools import cache
from xml.etree import ElementTree


@cache
def formula(latex: str) -> str:
    """A LaTeX formula as MathML; as it is written where the converter cannot read it (a user's own may be anything)."""
    from latex2mathml import converter, exceptions

    known = vars(exceptions).values()
    unreadable: tuple[type[Exception], ...] = tuple(
        one for one in known if isinstance(one, type) and issubclass(one, Exception)
    )
    # Formulas that end too early.
    unreadable += (IndexError, ValueError)
    try:
        made = converter.convert_to_element(latex, display="block")
    except unreadable:
        return f"<code>{html.escape(latex)}</code>"
    for part in made.iter():
        # The converter writes signs as references and would paste them in unescaped, whatever they are.
        part.text = html.unescape(part.text) if part.text else part.text
    return ElementTree.tostring(made, encoding="unicode")
