"""The code beside a picture draws that picture."""

import sys
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from pages import module

pytestmark = pytest.mark.slow

gallery = module("gallery")


@pytest.fixture(scope="module")
def names():
    """What the page shows, run: the imports, then all the data."""
    made = {}
    exec(gallery.IMPORTS, made)
    exec(gallery.sources(list(gallery.DATA)), made)
    # Data are made once, as the gallery does.
    made |= {name: cache(made[name]) for name in gallery.DATA}
    return made


@pytest.mark.parametrize("name", gallery.PICTURES)
def test_what_is_shown_is_what_is_drawn(names, name):
    shown = gallery.call(name)
    assert shown.startswith("tm.charts.")
    assert "theme" not in shown
    assert eval(shown, names).to_dict() == gallery.pictures()[name]("light").to_dict()


@pytest.mark.parametrize("name", gallery.PICTURES)
def test_the_data_of_a_picture_come_before_what_needs_them(name):
    listed = gallery.data_of(name)
    assert listed
    for place, one in enumerate(listed):
        source = gallery.sources([one])
        assert all(f"{other}()" not in source for other in listed[place + 1 :])


def test_the_page_shows_every_call():
    page = gallery.page()
    assert all(gallery.call(name) in page for name in gallery.PICTURES)
