from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tallymark._text import visible
from tallymark.cli.layout import Head, TextTable, wrapped

TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=60)


def laid_out(table, width):
    return [line.text for line in table.lines(width)]


def without_blanks(text):
    return "".join(text.split())


@st.composite
def tables(draw):
    heads = draw(
        st.lists(
            st.builds(Head, TEXTS, st.sampled_from(["left", "right", "prose"]), st.just(False)), min_size=1, max_size=6
        )
    )
    rows = draw(st.lists(st.lists(TEXTS, min_size=len(heads), max_size=len(heads)), max_size=4))
    return TextTable("", heads, rows)


@given(tables(), st.integers(8, 120))
@settings(deadline=None)
def test_lines_fit_and_have_no_blanks_at_their_ends(table, width):
    for line in laid_out(table, width):
        assert cell_len(line) <= width
        assert line == line.rstrip()
        assert visible(line) == line


@given(tables(), st.integers(8, 120))
@settings(deadline=None)
def test_every_character_is_there(table, width):
    printed = without_blanks("".join(laid_out(table, width)))
    for cell in [head.text for head in table.heads] + [cell for row in table.rows for cell in row]:
        for character in without_blanks(visible(cell)):
            assert character in printed


NAMES = ["a rather long metric name", "average_precision"]
TABLE = TextTable(
    "Title",
    [Head("metric"), Head("first model", "right"), Head("second model", "right"), Head("what it means", "prose")],
    [
        [name, "0.8955 (0.7981–0.9483)", "10429.4225 (10324.4979–10535.4258)", "Words that say what it is."]
        for name in NAMES
    ],
)


def test_names_and_numbers_stay_whole_where_they_fit_at_all():
    for width in (60, 80, 100, 120):
        lines = laid_out(TABLE, width)
        for row in TABLE.rows:
            for cell in row[:3]:
                assert any(cell in line for line in lines), (width, cell)


def test_a_wide_table_goes_on_below_with_its_names():
    lines = laid_out(TABLE, 66)
    assert sum(line.startswith("average_precision") for line in lines) == 2
    assert "    Words that say what it is." in lines


def test_a_table_that_fits_is_one_block():
    assert laid_out(TABLE, 200) == [
        "Title",
        "metric                                first model                        second model  what it means",
        "a rather long metric name  0.8955 (0.7981–0.9483)  10429.4225 (10324.4979–10535.4258)  Words that say what it is.",
        "average_precision          0.8955 (0.7981–0.9483)  10429.4225 (10324.4979–10535.4258)  Words that say what it is.",
    ]


def test_control_characters_are_spelled_out():
    table = TextTable("t\x1b[31m", [Head("a\u202e")], [["x\x07\u2028"]])
    assert laid_out(table, 40) == [r"t\x1b[31m", r"a\u202e", r"x\x07\u2028"]


def test_wrapping_breaks_between_words():
    assert wrapped("one two three", 7) == ["one two", "three"]
    assert wrapped("一二三四", 4) == ["一二", "三四"]


def test_an_optional_column_gives_way_and_says_so():
    table = TextTable(
        "", [Head("m"), Head("value", "right"), Head("chance", "right", optional=True)], [["f1", "0.5", "0.25 / 0.75"]]
    )
    assert laid_out(table, 40)[0] == "m   value       chance"
    assert laid_out(table, 16) == [
        "m   value",
        "f1    0.5",
        "  Columns left",
        "  out (terminal",
        "  too narrow):",
        "  chance.",
    ]
