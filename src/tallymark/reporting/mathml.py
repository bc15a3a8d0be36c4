"""Formulas as MathML, which browsers render without scripts or fonts."""

from __future__ import annotations

import html
from functools import cache
from xml.etree import ElementTree


@cache
def formula(latex: str) -> str:
    """A LaTeX formula as MathML; unchanged where the converter cannot read it, as users' formulas may be anything."""
    from latex2mathml import converter, exceptions

    unreadable: tuple[type[Exception], ...] = tuple(
        one for one in vars(exceptions).values() if isinstance(one, type) and issubclass(one, Exception)
    )
    # Formulas that end too early.
    unreadable += (IndexError, ValueError)
    try:
        element = converter.convert_to_element(latex, display="block")
    except unreadable:
        return f"<code>{html.escape(latex)}</code>"
    for part in element.iter():
        # The converter writes signs as character references, which serialisation would escape again.
        part.text = html.unescape(part.text) if part.text else part.text
    return ElementTree.tostring(element, encoding="unicode")
