"""The examples of the documentation run."""

import doctest
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parent.parent / "docs").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
@pytest.mark.filterwarnings("ignore")
def test_page(page):
    assert (
        doctest.testfile(
            str(page), module_relative=False, verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE
        ).failed
        == 0
    )
