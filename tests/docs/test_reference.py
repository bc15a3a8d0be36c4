"""The reference's lists: heads with words, and links that are not put inside links."""

import inspect
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))


def test_tables_have_heads():
    import reference

    for title, about, listed in reference.parts().values():
        head = reference.part_page(title, about, listed).splitlines()[4]
        assert [cell.strip() for cell in head.strip("|").split("|")] == ["object", "what it is"]


def test_an_attribute_is_described_once():
    import reference

    # Sphinx refuses a property that the class lists under Attributes as well: the page would describe it twice.
    twice = []
    for _, _, listed in reference.parts().values():
        for one in (each for each in listed if inspect.isclass(each.value)):
            _, _, after = (inspect.getdoc(one.value) or "").partition("Attributes\n----------\n")
            section = re.split(r"\n\w.*\n-{3,}\n", after)[0]
            names = [
                name.strip() for line in re.findall(r"^([\w, ]+) : ", section, re.MULTILINE) for name in line.split(",")
            ]
            twice += [f"{one.path}.{name}" for name in names if isinstance(getattr(one.value, name, None), property)]
    assert not twice


def test_code_inside_a_link_is_no_link_of_its_own():
    nodes = pytest.importorskip("docutils.nodes")
    pytest.importorskip("sphinx")
    import links

    code = nodes.literal("", "tm.evaluate")
    # MyST puts a node between a link and its text.
    nodes.reference("", "", nodes.inline("", "", code), refuri="x")
    assert links._inside(code, (nodes.reference,))
    assert not links._inside(nodes.literal("", "tm.evaluate"), (nodes.reference,))


def test_programs_that_read_docs_find_every_page():
    pytest.importorskip("docutils.nodes")
    from docutils.core import publish_doctree

    import llms

    page = publish_doctree("Title\n=====\n\nOne is 0.5 here. Two.\n")
    assert llms.first_sentence(page) == "One is 0.5 here."
    text = llms.listed([("audits", "Audits", "Rows checked by hand.")])
    assert "- [Audits](audits.html): Rows checked by hand." in text
