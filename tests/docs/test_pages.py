"""Pages that are written from the code say all of it, once."""

import inspect
import re
import sys
from pathlib import Path

import tallymark as tm

sys.path.insert(0, str(Path(__file__).parent))
from pages import DOCS, module

reference, architecture = module("reference"), module("architecture")


def test_every_public_object_has_one_page():
    listed = [one for _, _, members in reference.parts().values() for one in members]
    assert len({one.path for one in listed}) == len(listed)
    values = [id(one.value) for one in listed]
    assert len(set(values)) == len(values)
    for name in tm.__all__:
        place = getattr(tm, name)
        members = place.__all__ if inspect.ismodule(place) else ()
        for value in [getattr(place, member) for member in members] or [place]:
            assert inspect.ismodule(value) or id(value) in values, (name, value)


def test_every_object_says_in_one_line_what_it_is():
    empty = [one.path for _, _, members in reference.parts().values() for one in members if not one.first_line]
    assert empty == []


def test_the_reference_lists_every_part():
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    assert re.findall(r"^generated/api/(.+)$", text, re.MULTILINE) == list(reference.parts())


def test_the_house_has_every_module_and_every_band():
    drawn = [name for layer in architecture.layers() for name in layer]
    there = {path.stem if path.is_file() else path.name for path in architecture.PACKAGE.iterdir()}
    assert set(drawn) == {name for name in there if not name.startswith("__") or name == "__main__"} - {"py"}
    assert len(set(drawn)) == len(drawn)
    assert all(f">{band}</text>" in architecture.picture() for band in architecture.BANDS.values())
    assert all(architecture.about(name) for name in drawn)


def test_the_table_of_advice_is_that_of_the_library():
    lines = module("glossary").advice_table().splitlines()
    assert len(lines) == 2 + 12
    found = tm.advise(classes=2, prevalence_stable=False, values_stable=True, prevalence="low", emphasise="fp")
    assert f"| moves | stable | rare | `fbeta`, beta 1 | `{found.metric}`, beta {found.beta:g} |" in "\n".join(lines)


def test_every_page_is_in_the_sidebar():
    listed = re.findall(r"^([\w/]+)$", (DOCS / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert {path.stem for path in DOCS.glob("*.md")} - {"index"} <= set(listed)
