"""Files as offices have them: any encoding, decimal commas, per cent, spreadsheets, statistics packages."""

import datetime
import sys
import warnings

import numpy as np
import openpyxl
import pandas as pd
import pyreadstat
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from tallymark.sources import encodings
from tallymark.sources.any_columns import any_columns
from tallymark.sources.formats import Wanted

N = 200
RNG = np.random.default_rng(0)
Y = (RNG.random(N) < 0.3).astype(int)
FRAME = pd.DataFrame(
    {
        "naam": [f"café {i % 7}" for i in range(N)],
        "y": Y,
        "score": np.clip(RNG.normal(0.3 + 0.3 * Y, 0.2), 0.001, 0.999).round(3),
        "weight": RNG.gamma(2.0, 800.0, N).round(2),
    }
)


def read(path, **options):
    """The scan of a file, and what was said of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tally = tm.scan(path, label="y", score="score", weight="weight", **options)
    return tally, [str(one.message).partition(": read as ")[2] for one in caught if "TM130" in str(one.message)]


def grouped(number, mark, decimal):
    return f"{number:,.2f}".replace(",", "_").replace(".", decimal).replace("_", mark)


def as_texts(decimal, mark=""):
    texts = FRAME.copy()
    texts["score"] = [f"{v:.3f}".replace(".", decimal) for v in FRAME["score"]]
    texts["weight"] = [grouped(v, mark, decimal) for v in FRAME["weight"]]
    return texts


def write_csv(frame, separator=",", encoding="utf-8"):
    return lambda path: frame.to_csv(path, index=False, sep=separator, encoding=encoding)


def write_sheet(path):
    with pd.ExcelWriter(path) as writer:
        FRAME.to_excel(writer, index=False, startrow=3, sheet_name="Data")
    book = openpyxl.load_workbook(path)
    sheet = book["Data"]
    sheet["A1"] = "Results of 2024"
    sheet.merge_cells("A1:D1")
    sheet.cell(row=sheet.max_row + 2, column=1, value="Source: the office")
    book.create_sheet("Notes")["A1"] = "n.a."
    book.save(path)


#: How the same rows are written, and what is said of the reading.
FILES = {
    "plain.csv": (write_csv(FRAME), ""),
    "mark.csv": (write_csv(FRAME, encoding="utf-8-sig"), ""),
    "comma.csv": (write_csv(as_texts(","), ";", "cp1252"), "Windows-1252, decimal comma"),
    "latin.txt": (write_csv(as_texts(",", "."), "\t", "latin-1"), "Windows-1252, decimal comma"),
    "unicode.csv": (write_csv(as_texts(",", " "), ";", "utf-16"), "UTF-16, decimal comma"),
    "unmarked.csv": (write_csv(as_texts(",", "\u202f"), ";", "utf-16-le"), "UTF-16, decimal comma"),
    "english.csv": (write_csv(as_texts(".", ","), ","), "thousands marks"),
    "swiss.csv": (write_csv(as_texts(".", "’"), ";"), "thousands marks"),
    "packed.csv.gz": (write_csv(as_texts(","), ";", "cp1252"), "Windows-1252, decimal comma"),
    "book.xlsx": (write_sheet, "sheet Data, names of columns in row 4, 1 line below the table left out"),
    "texts.xlsx": (lambda path: as_texts(",", ".").to_excel(path, index=False), "decimal comma"),
    "stata.dta": (lambda path: pyreadstat.write_dta(FRAME, str(path)), ""),
    "spss.sav": (lambda path: pyreadstat.write_sav(FRAME, str(path)), ""),
    "sas.xpt": (lambda path: pyreadstat.write_xport(FRAME, str(path), file_format_version=8), ""),
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_numbers(tmp_path, name):
    write, said = FILES[name]
    write(tmp_path / name)
    tally, notes = read(tmp_path / name)
    expected = tm.tally(FRAME, label="y", score="score", weight="weight")
    assert tm.metrics.auroc(tally) == pytest.approx(tm.metrics.auroc(expected), abs=1e-15)
    assert tm.metrics.brier(tally) == pytest.approx(tm.metrics.brier(expected), abs=1e-15)
    assert [one for one in notes if one] == ([f"{said}."] if said else [])
    names = any_columns(str(tmp_path / name), [Wanted("naam", "by", "text")])["naam"]
    assert names.tolist() == FRAME["naam"].tolist()


@given(
    st.lists(
        st.floats(-9e5, 9e5).map(lambda v: round(v, 2)).filter(lambda v: v != round(v, 0)), min_size=3, max_size=20
    ),
    st.sampled_from([(",", "."), (",", " "), (",", ""), (".", ","), (".", ""), (".", "'")]),
)
def test_numbers_come_back_however_they_are_written(tmp_path_factory, values, style):
    decimal, mark = style
    path = tmp_path_factory.mktemp("numbers") / "n.csv"
    path.write_text("x;y\n" + "\n".join(f"{grouped(v, mark, decimal)};1" for v in values), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert any_columns(str(path), [Wanted("x", "score", "number")])["x"].tolist() == values


def test_what_has_two_readings_is_refused_until_it_is_stated(tmp_path):
    path = tmp_path / "two.csv"
    path.write_text("y;score\n1;1.234\n0;2.345\n1;3.456\n")
    with pytest.raises(tm.InputError, match=r"'1\.234'.*1\.234 or 1234.*--decimal point.*--decimal comma"):
        tm.scan(path, label="y", score="score")
    assert tm.scan(tm.data_file(path, decimal="point"), label="y", score="score").runs[1].scores[0] == 1.234
    assert tm.scan(tm.data_file(path, decimal=","), label="y", score="score").runs[1].scores[0] == 1234
    # Another column that shows the mark decides.
    path.write_text("y;score;weight\n1;1.234;0,5\n0;2.345;1,5\n")
    assert tm.scan(path, label="y", score="score", weight="weight").runs[1].scores[0] == 1234


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["0,5", "0.7"], r"'0[.,][57]' beside '0[.,][57]'"),
        (["5 %", "7"], "per cent sign or none"),
        (["0,5", "unknown"], "holds 'unknown', expected numbers"),
        (["0.5", "unknown"], "holds 'unknown' in line 3, expected numbers"),
    ],
)
def test_mixtures_are_refused(tmp_path, cells, message):
    path = tmp_path / "mixed.csv"
    path.write_text("y;score\n" + "".join(f"{i % 2};{cell}\n" for i, cell in enumerate(cells)))
    with pytest.raises(tm.InputError, match=message):
        tm.scan(path, label="y", score="score")


def test_a_decimal_comma_far_down_is_not_overlooked(tmp_path):
    path = tmp_path / "far.csv"
    path.write_text("y;score\n" + "1;1\n0;2\n" * 3_000 + "1;2,5\n")
    assert tm.scan(path, label="y", score="score").runs[1].scores[-1] == 2.5
    path.write_text("y;score\n" + "1;0.5\n0;0.25\n" * 3_000 + "1;2,5\n")
    with pytest.raises(tm.InputError, match=r"'2,5'"):
        tm.scan(path, label="y", score="score")


@pytest.mark.parametrize("cells", [["35 %", "72,5 %", "100 %"], ["35", "72,5", "100"]])
def test_per_cent_is_divided_by_100(tmp_path, cells):
    path = tmp_path / "shares.csv"
    path.write_text("y;Score (%)\n" + "".join(f"{i % 2};{cell}\n" for i, cell in enumerate(cells)))
    with pytest.warns(tm.GuardWarning, match=r"decimal comma, Score \(%\) divided by 100"):
        tally = tm.scan(path, label="y", score="Score (%)")
    assert tally.runs[0].scores.tolist() == [0.35, 1.0]
    assert tally.runs[1].scores.tolist() == [0.725]


def test_shares_under_a_header_of_per_cent_stay(tmp_path):
    path = tmp_path / "shares.csv"
    path.write_text("y,Score (%),w\n1,0.35,2\n0,0.5,1\n1,0.9,3\n")
    assert tm.scan(path, label="y", score="Score (%)", weight="w").runs[0].scores.tolist() == [0.5]


def test_other_encodings_are_refused_until_they_are_stated(tmp_path):
    path = tmp_path / "old.csv"
    path.write_bytes("y,score,naam\n1,0.5,café\n0,0.2,thé\n".encode("cp850"))
    with pytest.raises(tm.InputError, match=r"caf.*encoding="):
        tm.scan(path, label="y", score="score")
    found = any_columns(tm.data_file(path, encoding="cp850"), [Wanted("naam", "by", "text")])
    assert found["naam"].tolist() == ["café", "thé"]
    path.write_bytes("y,score,naam\n1,0.5,café\n".encode() + "0,0.2,thé\n".encode("latin-1"))
    with pytest.raises(tm.InputError, match="partly UTF-8"):
        tm.scan(path, label="y", score="score")


@given(st.text(st.characters(codec="cp1252", exclude_characters="\0"), min_size=1))
def test_text_is_recognised_or_refused_but_never_read_as_other_letters(tmp_path_factory, words):
    path = tmp_path_factory.mktemp("encoded") / "t.csv"
    path.write_bytes(words.encode("cp1252"))
    try:
        encoding = encodings.recognised(str(path)) or "utf-8"
    except tm.InputError:
        return
    # Bytes that are valid UTF-8 are read so; nothing in them tells that they are not.
    assert path.read_bytes().decode(encoding) == words or encoding == "utf-8"


def test_value_labels_can_be_the_positive_label(tmp_path):
    names = {"y": {0: "nee", 1: "ja"}}
    pyreadstat.write_dta(FRAME, str(tmp_path / "l.dta"), variable_value_labels=names)
    with pytest.warns(tm.GuardWarning, match="value labels of y"):
        tally = tm.scan(tmp_path / "l.dta", label="y", score="score", pos_label="ja")
    assert tm.metrics.auroc(tally) == pytest.approx(tm.metrics.auroc(tm.tally(FRAME, label="y", score="score")))


def test_sheets_are_chosen_by_name_number_or_what_they_have(tmp_path):
    path = tmp_path / "sheets.xlsx"
    with pd.ExcelWriter(path) as writer:
        FRAME.to_excel(writer, index=False, sheet_name="2023")
        FRAME.assign(score=1 - FRAME["score"]).to_excel(writer, index=False, sheet_name="2024")
    with pytest.raises(tm.InputError, match="sheets '2023', '2024'; say which with --sheet"):
        tm.scan(path, label="y", score="score")
    one, other = (tm.metrics.auroc(tm.scan(tm.data_file(path, sheet=s), label="y", score="score")) for s in ("2023", 2))
    assert one == pytest.approx(1 - other)
    with pytest.raises(tm.InputError, match="no sheet '2025'"):
        tm.scan(tm.data_file(path, sheet="2025"), label="y", score="score")


def test_cells_of_a_sheet_keep_what_they_are(tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    rows = [["code", "mixed", "day", "flag", "NA"], ["007", 7, datetime.date(2024, 5, 1), True, 1], ["7", "x", None, False, "NA"]]  # fmt: skip
    for row in rows:
        sheet.append(row)
    book.save(tmp_path / "cells.xlsx")
    wanted = [Wanted(name, "by", "text") for name in ("code", "mixed", "flag")]
    found = any_columns(str(tmp_path / "cells.xlsx"), wanted)
    assert {name: values.tolist() for name, values in found.items()} == {
        "code": ["007", "7"],
        "mixed": ["7", "x"],
        "flag": [True, False],
    }
    sheet["B3"] = "7"
    book.save(tmp_path / "cells.xlsx")
    with pytest.raises(tm.InputError, match="mixed holds 7 as a number and as a text"):
        any_columns(str(tmp_path / "cells.xlsx"), wanted)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoding": "klingon"}, "encoding='klingon' is not known"),
        ({"decimal": ";"}, "decimal=';'"),
        ({"separator": "ab"}, "separator='ab'"),
        ({"sheet": 0}, "sheet=0"),
        ({"encoding": "rot13"}, "encoding='rot13'"),
    ],
)
def test_options_that_cannot_be_are_refused(options, message):
    with pytest.raises(tm.InputError, match=message):
        tm.data_file("x.csv", **options)


def test_options_of_another_kind_of_file_are_refused(tmp_path):
    FRAME.to_parquet(tmp_path / "f.parquet")
    with pytest.raises(tm.InputError, match="sheet= says nothing of such a file"):
        tm.scan(tm.data_file(tmp_path / "f.parquet", sheet="a"), label="y", score="score")


@pytest.mark.parametrize("name", ["bad.xlsx", "bad.xls", "bad.ods", "bad.dta", "bad.sav", "bad.sas7bdat", "bad.xpt"])
@pytest.mark.parametrize("content", [b"not such a file", b"PK\x03\x04" + b"\0" * 60, b"\0" * 400])
def test_damaged_files_are_refused_with_a_sentence(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(tm.InputError, match=rf"{name}"):
        tm.scan(tmp_path / name, label="y", score="score")


@pytest.mark.parametrize(("name", "module"), [("f.xlsx", "python_calamine"), ("f.dta", "pyreadstat")])
def test_a_missing_reader_is_named_with_its_cure(tmp_path, monkeypatch, name, module):
    (tmp_path / name).write_bytes(b"x")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(tm.InputError, match=r"pip install 'tallymark\[office\]'"):
        tm.scan(tmp_path / name, label="y", score="score")


def test_a_separator_can_be_stated(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("y~score\n1~0.5\n0~0.25\n")
    assert tm.scan(tm.data_file(path, separator="~"), label="y", score="score").n == 2


def test_numbers_of_a_sheet_have_one_reading(tmp_path):
    path = tmp_path / "mixed.xlsx"
    pd.DataFrame({"y": [1, 0, 1], "score": ["0,5", "0,7", 0.1], "w": [1.234, "12", 7.125]}).to_excel(path, index=False)
    with pytest.warns(tm.GuardWarning, match="decimal comma"):
        found = any_columns(str(path), [Wanted("score", "score", "number"), Wanted("w", "weight", "number")])
    assert found["score"].tolist() == [0.5, 0.7, 0.1]
    assert found["w"].tolist() == [1.234, 12.0, 7.125]


def test_a_mark_that_other_columns_show_is_said(tmp_path):
    path = tmp_path / "w.csv"
    path.write_text("y;score;weight\n1;0.5;1.234\n0;0.7;950\n1;0.2;12.500\n")
    tally, notes = read(path)
    assert notes == ["weight with a decimal point as other columns."]
    assert tally.positives == pytest.approx(13.734)


def test_conditions_see_the_numbers(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text("y;score;weight;omzet\n1;0,5;1;9.500\n0;0,7;1;1.200,50\n1;0,2;1;800\n0;0,1;1;20.000\n")
    with pytest.warns(tm.GuardWarning):
        assert tm.scan(path, label="y", score="score", where="omzet > 1000").n == 3
        assert tm.scan(path, label="y", score="score", where='"omzet" between 1200 and 9600').n == 2


def test_files_with_different_options_are_refused(tmp_path):
    one, other = (
        tm.data_file(write(FRAME, tmp_path / name), decimal=mark) for name, mark in (("a.csv", "."), ("b.csv", ","))
    )
    with pytest.raises(tm.InputError, match="different options"):
        tm.scan([one, other], label="y", score="score")


def write(frame, path):
    frame.to_csv(path, index=False)
    return path


def test_errors_and_formulas_of_a_sheet(tmp_path):
    book = openpyxl.Workbook()
    for row in [["y", "score"], [1, 0.5], [0, "=1/4"], [0, 0.25]]:
        book.active.append(row)
    book.save(tmp_path / "f.xlsx")
    with pytest.raises(tm.InputError, match="formulas without values"):
        tm.scan(tmp_path / "f.xlsx", label="y", score="score")
    book.active["B3"] = "#N/A"
    book.active["B3"].data_type = "e"
    book.save(tmp_path / "e.xlsx")
    with pytest.warns(tm.GuardWarning, match="error cells as missing values"):
        assert tm.scan(tmp_path / "e.xlsx", label="y", score="score", drop_missing=True).n == 2


def test_a_cell_far_away_does_not_take_all_memory(tmp_path):
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = "y", 1
    book.save(tmp_path / "far.xlsx")
    with pytest.raises(tm.InputError, match="row 1048576, column 16384, far from the others"):
        tm.scan(tmp_path / "far.xlsx", label="y", score="score")


def test_years_are_names_of_columns(tmp_path):
    pd.DataFrame({"y": [1, 0, 1], 2023: [0.5, 0.2, 0.4]}).to_excel(tmp_path / "years.xlsx", index=False)
    assert tm.scan(tmp_path / "years.xlsx", label="y", score="2023").n == 3


def test_what_spss_declares_missing_is_said(tmp_path):
    frame = FRAME.assign(y=np.where(np.arange(N) < 20, 9, FRAME["y"]))
    pyreadstat.write_sav(frame, str(tmp_path / "m.sav"), missing_ranges={"y": [9]})
    with pytest.warns(tm.GuardWarning, match="values declared missing of y as missing"):
        assert tm.scan(tmp_path / "m.sav", label="y", score="score", drop_missing=True).n == N - 20


def test_a_value_label_none_is_a_label(tmp_path):
    pyreadstat.write_sav(FRAME, str(tmp_path / "n.sav"), variable_value_labels={"y": {0: "None", 1: "Fraud"}})
    with pytest.warns(tm.GuardWarning, match="value labels of y"):
        assert tm.scan(tmp_path / "n.sav", label="y", score="score", pos_label="Fraud").n == N


def test_portable_files_of_spss_are_read(tmp_path):
    upper = FRAME[["y", "score"]].rename(columns=str.upper)
    pyreadstat.write_por(upper, tmp_path / "a.por")
    found = tm.scan(tmp_path / "a.por", label="Y", score="SCORE")
    assert tm.metrics.auroc(found) == pytest.approx(tm.metrics.auroc(tm.tally(Y, FRAME["score"])))
    with pytest.raises(tm.InputError, match="states its own"):
        tm.scan(tm.data_file(tmp_path / "a.por", encoding="cp1252"), label="Y", score="SCORE")


def test_other_alphabets_are_not_read_as_accents(tmp_path):
    for encoding, word in (("cp1251", "нет"), ("cp1253", "όχι"), ("koi8-r", "нет")):
        path = tmp_path / f"{encoding}.csv"
        FRAME.assign(naam=word).to_csv(path, index=False, encoding=encoding)
        with pytest.raises(tm.InputError, match="encoding="):
            tm.scan(path, label="y", score="score")
    western = tmp_path / "western.csv"
    FRAME.assign(naam="créée à l'été, œuvre, ÜBER, Ångström, jäädä, maïs").to_csv(
        western, index=False, encoding="cp1252"
    )
    assert tm.scan(western, label="y", score="score").n == N


@pytest.mark.parametrize("name", ["score_pct", "probabilité (pour cent)", "Porciento score por ciento"])
def test_names_of_per_cent_in_other_languages(tmp_path, name):
    FRAME.assign(**{name: 100 * FRAME["score"]}).to_csv(tmp_path / "a.csv", index=False)
    FRAME.assign(**{name: FRAME["score"]}).to_csv(tmp_path / "b.csv", index=False)
    with pytest.warns(tm.GuardWarning, match="divided by 100"):
        divided = tm.scan(tmp_path / "a.csv", label="y", score=name)
    with pytest.warns(tm.GuardWarning, match="as it is"):
        kept = tm.scan(tmp_path / "b.csv", label="y", score=name)
    assert tm.metrics.brier(divided) == pytest.approx(tm.metrics.brier(kept))
