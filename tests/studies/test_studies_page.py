"""The page of reproductions in its quick form: it is made, exact facts agree, and every figure and table is on it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from bench.datasets import have_data
from studies.exhibits import Answer, Effort, Exhibit, Fact, Store, Table, near
from studies.page import write_page

HERE = Path(__file__).parents[2]

#: Figures and tables of each document.
NUMBERED = {
    "S-PCC": [f"figure 1.{n}" for n in range(1, 10)] + [f"table 1.{n}" for n in range(1, 8)]
    + [f"figure 2.{n}" for n in range(1, 6)] + [f"table 2.{n}" for n in range(1, 5)] + ["tables b.1 and b.2"],
    "S-ROC": [f"figure {n}" for n in range(1, 9)],
    "S-ONS": ["tables 1 and 2", "annex a", "annex c", "annex d", "annex e"],
    "S-QUANT": [
        *(f"figure 2.{n}" for n in (1, 2, 3)), *(f"figure 3.{n}" for n in (1, 2, 3)), "table 4.2", "table 5.1",
        "table 5.2", *(f"figure 5.{n}" for n in range(1, 6)), "table 6.1", *(f"figure 6.{n}" for n in range(1, 10)),
    ],
    "S-SIMPLE": ["figure 1", "table i"],
}  # fmt: skip


@pytest.mark.slow
def test_every_figure_and_table_is_on_the_quick_page(tmp_path):
    if not have_data():
        pytest.skip("The reference data are not here.")
    done = subprocess.run(
        [sys.executable, "-m", "studies", "--quick", "--out", str(tmp_path)],
        cwd=HERE, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert "0 exact ones disagree" in done.stdout
    page = (tmp_path / "quick" / "index.html").read_text(encoding="utf-8")
    assert "Not made" not in page
    parts = re.split("<h2>", page)[1:]
    for part in parts:
        text = _with_ranges(part.lower())
        for wanted in NUMBERED[part.partition(":")[0]]:
            # A figure may have parts: 2.2a.
            assert re.search(rf"{re.escape(wanted)}[a-z]?\b", text), (part[:20], wanted)
    assert len(parts) == len(NUMBERED)


def _with_ranges(text):
    """The text, with "figures 5.1 to 5.5" and "tables 1.6 and 1.7" spelt out."""
    found = []
    for kind, first, word, last in re.findall(r"(figure|table)s (\d[.\d]*) (to|and) (\d[.\d]*)", text):
        stem, numbers = first.rpartition(".")[0], [int(one.rpartition(".")[2]) for one in (first, last.rstrip("."))]
        dot = f"{stem}." if stem else ""
        between = range(numbers[0], numbers[1] + 1) if word == "to" else numbers
        found += [f"{kind} {dot}{n}" for n in between]
    return text + " " + " ; ".join(found)


def test_an_answer_is_stored_and_read_again(tmp_path):
    calls = []

    def make(effort):
        calls.append(effort.quick)
        return Answer(facts=[near("a third", 0.33, 1 / 3, 5e-3)], tables=[Table("t", ("a",), [["<b>"]])], remark="é")

    one = Exhibit("S-ONS", "Table 9", "A title", make)
    store = Store(tmp_path / "answers", Effort(quick=True, folder=tmp_path))
    first, second = store.answer(one), store.answer(one)
    assert calls == [True]
    assert second == first
    assert second.facts == [Fact(what="a third", printed="0.33", ours="0.33333", agrees=True)]
    # An answer of another effort is another one.
    Store(tmp_path / "answers", Effort(quick=False, folder=tmp_path)).answer(one)
    assert calls == [True, False]
    write_page(tmp_path / "index.html", {one: second}, quick=True)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;" in page
    assert "<script" not in page


def test_numbers_agree_within_their_tolerance_only():
    assert near("x", 0.5, 0.505, 5e-3).agrees
    assert not near("x", 0.5, 0.506, 5e-3).agrees
    assert not near("x", 0.5, float("nan"), 5e-3).agrees
