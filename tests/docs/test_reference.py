"""The reference's lists: heads with words, and links that are not put inside links."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))


def test_tables_have_heads():
    import reference

    for title, about, listed in reference.parts().values():
        head = reference.part_page(title, about, listed).splitlines()[4]
        assert [cell.strip() for cell in head.strip("|").split("|")] == ["object", "what it is"]


def test_code_inside_a_link_is_no_link_of_its_own():
    nodes = pytest.importorskip("docutils.nodes")
    pytest.importorskip("sphinx")
    import links

    code = nodes.literal("", "tm.evaluate")
    # MyST puts a node between a link and its text.
    nodes.reference("", "", nodes.inline("", "", code), refuri="x")
    assert links._inside(code, (nodes.reference,))
    assert not links._inside(nodes.literal("", "tm.evaluate"), (nodes.reference,))
