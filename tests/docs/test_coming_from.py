"""Every call of ours that the page shows runs, and gives scikit-learn's number where the page says so."""

import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from pages import DOCS

TEXT = (DOCS / "coming_from.md").read_text(encoding="utf-8")
SETUP = re.search(r"```python\n(.*?)```", TEXT, re.DOTALL)[1]


def rows():
    """Of every table: its section, the two calls and the remark."""
    for section in TEXT.split("\n## ")[1:]:
        title = section.splitlines()[0]
        for line in section.splitlines():
            cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
            if line.startswith("| `") and len(cells) >= 2:
                yield title, cells[0], cells[1].strip("`"), cells[2].rstrip(" |") if len(cells) > 2 else ""


ROWS = list(rows())


@pytest.fixture(scope="module")
def names():
    made = {}
    exec(SETUP, made)
    return made


def test_every_table_is_read():
    assert {title for title, *_ in ROWS} == {"scikit-learn", "pROC", "QuaPy", "caret"}
    assert len(ROWS) == sum(line.startswith("| `") for line in TEXT.splitlines())


@pytest.mark.parametrize(("title", "theirs", "ours", "remark"), ROWS, ids=[row[2] for row in ROWS])
def test_a_line(names, title, theirs, ours, remark):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = eval(ours, names)
        assert value is not None
        if title == "scikit-learn":
            other = eval(theirs.strip("`"), names)
            if remark == "same number":
                np.testing.assert_allclose(np.asarray(value, float), np.asarray(other, float), rtol=1e-9)
        else:
            assert remark != "same number"
