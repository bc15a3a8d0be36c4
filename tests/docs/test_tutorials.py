"""Every tutorial runs from beginning to end, says something, and becomes a notebook."""

import json
import sys
from pathlib import Path

import pytest

import tallymark as tm

sys.path.insert(0, str(Path(__file__).parent))
from pages import DOCS, module

pytestmark = pytest.mark.slow

notebooks = module("notebooks")


def test_every_script_is_listed():
    assert sorted(notebooks.TUTORIALS) == sorted(path.stem for path in (DOCS / "tutorials").glob("*.py"))


@pytest.mark.parametrize("name", notebooks.TUTORIALS)
def test_a_tutorial_runs(name, tmp_path):
    cells = notebooks.run(DOCS / "tutorials" / f"{name}.py")
    code = [cell for cell in cells if cell.kind == "code"]
    # Guards may speak; anything else that warns is a mistake of the tutorial.
    assert [said.category for cell in code for said in cell.said if said.category is not tm.GuardWarning] == []
    assert sum(bool(cell.outputs) for cell in code) > len(code) // 2
    assert any(output.svg for cell in code for output in cell.outputs)
    assert not any("{{" in cell.source for cell in cells if cell.kind == "markdown")

    text = notebooks.page(cells, name, tmp_path)
    assert text.startswith("# ")
    drawn = sum(output.svg is not None for cell in code for output in cell.outputs)
    assert len(list(tmp_path.glob("*.svg"))) == 2 * drawn  # light and dark

    written = json.loads(json.dumps(notebooks.notebook(cells)))
    assert (written["nbformat"], written["nbformat_minor"]) == (4, 5)
    assert [cell["cell_type"] for cell in written["cells"]] == [cell.kind for cell in cells]
    assert len({cell["id"] for cell in written["cells"]}) == len(cells)


def test_the_first_example_runs():
    cells = notebooks.run(notebooks.FIRST)
    assert all(cell.outputs and not cell.said for cell in cells)


def test_text_takes_its_numbers_from_the_code(tmp_path):
    path = tmp_path / "small.py"
    path.write_text("# %% [markdown]\n# # Title\n\n# %%\nx = 2\nx + 1\n\n# %% [markdown]\n# It is {{ x }}.\n", "utf-8")
    title, code, text = notebooks.run(path)
    assert (title.source, code.outputs[0].text, text.source) == ("# Title", "3", "It is 2.")


def test_an_error_names_the_cell(tmp_path):
    path = tmp_path / "wrong.py"
    path.write_text("# %%\nx = 2\n\n# %%\n1 / 0\n", "utf-8")
    with pytest.raises(ZeroDivisionError) as raised:
        notebooks.run(path)
    assert any("wrong.py, cell 2" in entry.path for entry in map(_Entry, raised.traceback))


class _Entry:
    def __init__(self, entry):
        self.path = str(entry.frame.code.raw.co_filename)
