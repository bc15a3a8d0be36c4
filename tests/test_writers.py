"""Results as LaTeX, Markdown and CSV."""

import csv
import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from tallymark._display import Shown
from tallymark._text import inert_json
from tallymark._writers import comma_separated, latex, markdown
from tallymark.cli.table_formats import FORMATS


def result():
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.4
    return tm.evaluate(tm.tally(y, rng.normal(y)), metrics=["auroc", "f1", "label_bias"])


def test_every_result_writes_itself():
    found = result()
    for made in (found, tm.compare(tm.panel([0, 1] * 20, {"a": range(40), "b": range(40, 0, -1)}))):
        lines = made.to_markdown().splitlines()
        assert len(lines) == len(made.rows()) + 2
        assert len({line.count("|") for line in lines}) == 1
        assert made.to_latex("A & B").count(r" \\") == len(made.rows()) + 1
        assert len(list(csv.reader(io.StringIO(made.to_csv())))) == len(made.rows()) + 1
    assert r"\caption{A \& B}" in found.to_latex("A & B")
    assert "label\\_bias" in found.to_latex()


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_csv_keeps_every_digit(value):
    text = comma_separated({"x": [value, np.float64(value)]})
    assert [float(line) for line in text.splitlines()[1:]] == [value, value]


@pytest.mark.parametrize("name", ["=1+1", "+x", "-x", "@x", "a,b", 'say "hi"', "two\nlines"])
def test_names_are_inert(name):
    text = comma_separated({name: ["=HYPERLINK(1)", name]})
    rows = list(csv.reader(io.StringIO(text)))
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)
    assert "\n" not in markdown({"a": [name]}, str).splitlines()[2]
    assert latex({"a_b": ["50 %"]}, str).count(r"\_") == 1


#: Everything that acts in a terminal or turns text around.
ACTING = [chr(n) for n in (*range(0x20), *range(0x7F, 0xA0), 0x061C, 0x200E, 0x200F, 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xD800)]  # fmt: skip


class Named(Shown):
    def __init__(self, name):
        self.name = name

    def heading(self):
        return f"Of {self.name}"

    def rows(self):
        return [{"group": self.name, self.name: 0.5}, {"group": "b", self.name: -0.5}]


def printed_by_commands(name, form, capsys):
    from tallymark.cli.output import Output

    output = Output(format=form)
    if output.as_json:
        output.answer(name, {name: [name]})
    else:
        output.rows(Named(name).rows(), name)
        output.facts({name: name})
        output.text(name)
    out = capsys.readouterr()
    return out.out + out.err


WRITERS = {
    "repr": lambda made, _: repr(made), "html": lambda made, _: made._repr_html_(), "latex": lambda made, _: made.to_latex(made.name),
    "markdown": lambda made, _: made.to_markdown(), "csv": lambda made, _: made.to_csv(),
    **{f"--format {form}": lambda made, capsys, form=form: printed_by_commands(made.name, form, capsys) for form in FORMATS},
}  # fmt: skip


MANY_LINES = {"repr", "html", *(f"--format {form}" for form in FORMATS)}


@pytest.mark.parametrize("writer", WRITERS)
def test_nothing_that_acts_reaches_a_terminal_or_a_file(writer, capsys):
    for mark in ACTING:
        text = WRITERS[writer](Named(f"a{mark}[31mb"), capsys)
        # Headings and sentences may have lines; a name in a table has none.
        assert (mark == "\n" and writer in MANY_LINES) or text.count("\n") == WRITERS[writer](
            Named("a[31mb"), capsys
        ).count("\n"), repr(mark)
        assert mark == "\n" or mark not in text, repr(mark)
        assert "[31mb" in text.replace("{[}", "[").replace("\\[", "[")


def test_json_says_the_same_without_what_acts():
    for mark in [*ACTING, "\U0001f600", "é", "\U000e0041"]:
        said = json.dumps({mark: f"a{mark}b\n"}, ensure_ascii=False, indent=2)
        assert json.loads(inert_json(said)) == json.loads(said)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;"),
        ("a|b", "a\\|b"),
        ("![x](http://y)", "!\\[x\\](http://y)"),
        ("&lt;", "&amp;lt;"),
        ("`c`", "\\`c\\`"),
        ("__init__", "\\_\\_init\\_\\_"),
        ("mean_score", "mean_score"),
        ("a\rb", "a\\\\rb"),
    ],
)
def test_markdown_shows_names_as_they_are(name, written):
    assert markdown({name: [name]}, str).splitlines()[0] == f"| {written} |"
    assert markdown({name: [name]}, str).splitlines()[2] == f"| {written} |"


@pytest.mark.parametrize("name", ["[2pt]", "*", "[", "\\", "{", "}"])
def test_a_latex_name_is_no_argument_of_the_command_before_it(name):
    for line in latex({name: [name]}, str).splitlines():
        assert not line.startswith(("[", "*")), line
    bare = latex({"a": [name]}, str).replace("\\{", "").replace("\\}", "")
    assert bare.count("{") == bare.count("}")


def test_a_minus_is_a_minus():
    assert "−0.5" in markdown({"x": [-0.5]}, str)
