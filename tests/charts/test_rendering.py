"""Pictures of hostile names, and pictures that fail."""

import numpy as np
import pytest

import tallymark as tm
from tallymark._text import shortened, visible
from tallymark.charts import rendering
from tallymark.errors import PictureWarning

NAMES = {
    "control": "p\x1bq\x00\x07",
    "separators": "a\u2028<b>\u2029&",
    "surrogate": "x\ud800y",
    "turning": "\u202egnp.exe",
    "emoji": "👩‍👩‍👧‍👦" * 40,
    "flags": "🇩🇪🇫🇷" * 40,
    "accents": "e\u0301" * 90,
    "markup": "</text><script>alert(1)</script>",
    "long": "a very long name of a model that nobody would want to read to its end, one",
}


@pytest.fixture(scope="module")
def panel():
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.4
    # Two in one name: every model more is another second of pictures.
    names = list(NAMES.values())
    joined = [" ".join(names[i : i + 2]) for i in range(0, len(names), 2)]
    return tm.panel(y, {name: rng.normal(size=200) + y for name in [*joined, NAMES["emoji"]]})


def test_reports_of_hostile_names(tmp_path, panel):
    found = tm.report(panel, tmp_path / "r.html", title=" ".join(NAMES.values()))
    page = found.read_text(encoding="utf-8")
    assert "could not be drawn" not in page
    assert "<script>alert(1)" not in page


def test_pictures_drawn_in_this_process_take_them_too(tmp_path, panel):
    tm.charts.roc(panel).save(str(tmp_path / "roc.svg"))
    tm.charts.comparison(tm.compare(panel)).save(str(tmp_path / "compare.svg"))
    tm.charts.score_histogram(panel).save(str(tmp_path / "scores.svg"))
    for name in ("roc", "compare", "scores"):
        assert (tmp_path / f"{name}.svg").read_text(encoding="utf-8").startswith("<svg")


def test_names_that_become_alike_are_numbered(panel):
    twins = {f"{'the same beginning ' * 4}{i}{' and the same end' * 4}": tm.tally([0, 1], [0.1, 0.2]) for i in range(3)}
    drawn = tm.charts.roc(twins).to_dict()
    names = (
        {row["model"] for rows in drawn["datasets"].values() for row in rows if "model" in row}
        if "datasets" in drawn
        else set()
    )
    names |= {
        row["model"]
        for layer in drawn.get("layer", [drawn])
        for row in layer.get("data", {}).get("values", [])
        if "model" in row
    }
    assert len(names) == 3


def test_a_picture_that_fails_costs_that_picture_only():
    good = tm.charts.roc(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35])).to_dict()
    seen = []
    found = rendering.drawn([good, {"mark": "nonsense", "data": 7}, good], seen.append)
    assert [svg is None for svg in found] == [False, True, False]
    assert seen[-1] == 100.0


def test_an_artist_that_dies_is_replaced(monkeypatch):
    good = tm.charts.roc(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35])).to_dict()
    draw = rendering._Artist.draw

    def sometimes(self, specification):
        if specification.get("kill"):
            self._process.kill()
        return draw(self, specification)

    monkeypatch.setattr(rendering._Artist, "draw", sometimes)
    assert [svg is None for svg in rendering.drawn([good, {"kill": True}, good, good])] == [False, True, False, False]


def test_a_report_without_pictures_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "tallymark.reporting.pages.drawn", lambda specifications, progress: [None] * len(specifications)
    )
    with pytest.warns(PictureWarning, match="pictures could not be drawn"):
        found = tm.report(tm.tally([0, 1] * 30, [i / 60 for i in range(60)]), tmp_path / "r.html")
    assert "could not be drawn; the tables have its numbers" in found.read_text(encoding="utf-8")


def test_nothing_is_imported_from_the_folder_a_user_is_in(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("raise SystemExit(9)")
    (tmp_path / "vl_convert.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    good = tm.charts.roc(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35])).to_dict()
    assert rendering.drawn([good]) != [None]


@pytest.mark.parametrize("name", NAMES)
def test_names_are_shortened_between_characters(name):
    short = shortened(visible(NAMES[name]), 20)
    assert len(short) <= len(visible(NAMES[name]))
    short.encode()
    if name in {"emoji", "flags", "accents"}:
        one = {"emoji": "👩‍👩‍👧‍👦", "flags": "🇩🇪", "accents": "e\u0301"}[name]
        assert short.startswith(one)
        assert set(short.replace(one, "").replace("🇫🇷", "")) == {"…"}
