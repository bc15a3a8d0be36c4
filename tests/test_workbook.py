"""Results as workbooks: every table, every digit, text as text, opened by other programs."""

import re
import shutil
import subprocess
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pytest
import python_calamine
from typer.testing import CliRunner

import tallymark as tm
from samples import probability_sample
from tallymark._workbook import Sheet, write_workbook
from tallymark.cli.app import app

Y, P = probability_sample(200)
PANEL = tm.panel(Y, {"a": P, "b": P[::-1]})


def sheets_of(path):
    book = python_calamine.CalamineWorkbook.from_path(str(path))
    return {name: book.get_sheet_by_name(name).to_python(skip_empty_area=False) for name in book.sheet_names}


@pytest.mark.parametrize("ending", ["xlsx", "ods"])
def test_a_result_has_its_rows_and_remarks(tmp_path, ending):
    found = tm.evaluate(PANEL, metrics=["auroc", "f1"])
    found.to_xlsx(tmp_path / f"r.{ending}")
    sheets = sheets_of(tmp_path / f"r.{ending}")
    _, heads, *lines = sheets["Evaluations"]
    rows = found.rows()
    assert len(lines) == len(rows)
    for line, row in zip(lines, rows, strict=True):
        cells = dict(zip(heads, line, strict=True))
        for name, value in row.items():
            if isinstance(value, float) and np.isfinite(value):
                assert cells[name] == pytest.approx(value, rel=1e-15)
            elif isinstance(value, str):
                assert cells[name] == value
    about = {tuple(line) for line in sheets["About"][2:]}
    assert ("auroc", tm.registry.METRICS["auroc"].meaning) in about


def test_results_inside_of_a_result_have_sheets(tmp_path):
    frame = pd.DataFrame({"j": (P > 0.5).astype(int), "h": np.where(np.arange(200) < 80, Y, np.nan)})
    tm.raters.judge(frame, judge="j", human="h").to_xlsx(tmp_path / "j.xlsx")
    assert {"Judgement", "agreement", "About"} <= set(sheets_of(tmp_path / "j.xlsx"))


HOSTILE = ["=1+1", "@x", "+1", "http://a.b", "007", "1e5", "<b>&\"'", "a\x07b", "x" * 40_000, "[:*?/\\]"]


@pytest.mark.parametrize("ending", ["xlsx", "ods", "html"])
def test_text_stays_text_whatever_it_says(tmp_path, ending):
    path = tmp_path / f"h.{ending}"
    sheets = [Sheet(name, {"text": HOSTILE, name: list(range(len(HOSTILE)))}) for name in ("[:*?/\\]", "A", "a", "")]
    write_workbook(path, sheets, [("note", "=cmd()")])
    if ending == "html":
        cells = re.findall(r"<t[dh]([^>]*)>([^<]*)", path.read_text(encoding="utf-8"))
        assert "&lt;b&gt;&amp;&quot;&#x27;" in dict(map(reversed, cells))
        assert all("\\@" in options for options, text in cells if text[:1] in {*"=+-@"} - {""})
        return
    found = sheets_of(path)
    assert len(found) == 5
    cells = [line[0] for line in next(iter(found.values()))[2:]]
    assert cells[:6] == HOSTILE[:6]
    if ending == "xlsx":
        book = openpyxl.load_workbook(path)
        assert all(cell.data_type == "s" for sheet in book for row in sheet.iter_rows(max_col=1) for cell in row)


def test_the_same_result_is_the_same_file(tmp_path):
    found = tm.evaluate(PANEL, metrics=["auroc"])
    for ending in ("xlsx", "ods", "html"):
        one, other = (tmp_path / f"{name}.{ending}" for name in "ab")
        found.to_xlsx(one)
        found.to_xlsx(other)
        assert one.read_bytes() == other.read_bytes()


def test_other_endings_and_inputs_are_refused(tmp_path):
    found = tm.evaluate(PANEL, metrics=["auroc"])
    with pytest.raises(tm.InputError, match="ends in .xlsx, .ods, .html"):
        found.to_xlsx(tmp_path / "r.pdf")
    file = tmp_path / "d.xlsx"
    pd.DataFrame({"y": Y.astype(int), "p": P}).to_excel(file, index=False)
    before = file.read_bytes()
    done = CliRunner().invoke(app, ["evaluate", str(file), "--label", "y", "--score", "p", "--out", str(file)])
    assert isinstance(done.exception, tm.InputError)
    assert file.read_bytes() == before


def test_a_file_that_somebody_else_wrote_is_kept(tmp_path):
    found = tm.evaluate(PANEL, metrics=["auroc"])
    for ending in ("xlsx", "ods", "html"):
        file = tmp_path / f"mine.{ending}"
        if ending == "html":
            file.write_text("<!doctype html>mine", encoding="utf-8")
        else:
            pd.DataFrame({"y": Y.astype(int), "p": P}).to_excel(tmp_path / "x.xlsx", index=False)
            (tmp_path / "x.xlsx").rename(file)
        before = file.read_bytes()
        with pytest.raises(tm.InputError, match="holds something else"):
            found.to_xlsx(file)
        assert file.read_bytes() == before


def test_numbers_have_formats_of_their_own(tmp_path):
    values = [0.25, 3e-7, 1234.5, 12.0, None]
    write_workbook(tmp_path / "n.xlsx", [Sheet("n", {"value": values, "n": [1, 2, 30000, 4, 5]})])
    sheet = openpyxl.load_workbook(tmp_path / "n.xlsx")["n"]
    assert [row[0].number_format for row in sheet.iter_rows(min_row=3, max_row=6)] == [
        "#,##0.0000", "0.00E+00", "#,##0.00", "#,##0.00",
    ]  # fmt: skip
    assert {row[1].number_format for row in sheet.iter_rows(min_row=3)} == {"#,##0"}


def test_a_report_and_tables_go_to_two_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"y": Y.astype(int), "p": P}).to_csv("d.csv", index=False)
    words = ["evaluate", "d.csv", "--label", "y", "--score", "p", "--out", "t.html", "--report", "./t.html"]
    done = CliRunner().invoke(app, words)
    assert isinstance(done.exception, tm.InputError)
    assert not (tmp_path / "t.html").exists()


def test_a_requirement_that_fails_leaves_its_tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"y": Y.astype(int), "p": P}).to_csv("d.csv", index=False)
    words = ["evaluate", "d.csv", "--label", "y", "--score", "p", "--out", "t.xlsx", "--require", "auroc>=1.5"]
    assert CliRunner().invoke(app, words).exit_code == 1
    assert "About" in sheets_of("t.xlsx")


@pytest.mark.parametrize("ending", ["xlsx", "ods"])
def test_rows_to_check_as_a_spreadsheet_keep_their_codes(tmp_path, monkeypatch, ending):
    monkeypatch.chdir(tmp_path)
    codes = [f"{place % 9:03d}" for place in range(200)]
    pd.DataFrame({"code": codes, "p": P}).to_csv("d.csv", index=False)
    words = ["audit", "plan", "d.csv", "--score", "p", "--width", "0.2", "--out", f"l.{ending}"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    ((_, (heads, *lines)),) = sheets_of(f"l.{ending}").items()
    assert heads[:2] == ["code", "p"]
    assert {line[0] for line in lines} <= set(codes)


COMMANDS = [
    ["evaluate", "d.csv", "--label", "y", "--score", "p,q", "--metric", "auroc,f1"],
    ["compare", "d.csv", "--label", "y", "--score", "p,q"],
    ["quantify", "d.csv", "d.csv", "--label", "y", "--score", "p", "--method", "cc,ac"],
    ["thresholds", "d.csv", "--label", "y", "--score", "p"],
    ["agree", "d.csv", "--rater", "y,z"],
    ["look", "d.csv"],
    ["metrics"],
    ["sample-size", "--auroc", "0.8", "--difference", "0.05"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_commands_write_the_tables_that_they_print(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"y": Y.astype(int), "p": P, "q": P[::-1], "z": (P > 0.4).astype(int)}).to_csv("d.csv", index=False)
    done = CliRunner().invoke(app, [*command, "--out", "t.xlsx"])
    assert done.exit_code == 0, done.output
    sheets = sheets_of("t.xlsx")
    assert len(sheets) >= 2
    assert any(line[0] == "command" for line in sheets["About"])
    asked = CliRunner().invoke(app, [*command, "--out", "t.xlsx", "--json"])
    assert isinstance(asked.exception, tm.InputError)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["xlsx", "ods"])
def test_libreoffice_opens_it(tmp_path, ending):
    soffice = shutil.which("soffice")
    if soffice is None:
        pytest.skip("LibreOffice is not here; .ci/run installs it.")
    found = tm.evaluate(PANEL, metrics=["auroc", "f1"])
    found.to_xlsx(tmp_path / f"r.{ending}")
    home = f"-env:UserInstallation=file://{tmp_path}/home"
    subprocess.run(
        [soffice, home, "--headless", "--convert-to", "csv", "--outdir", str(tmp_path), str(tmp_path / f"r.{ending}")],
        check=True, capture_output=True, timeout=180,
    )  # fmt: skip
    text = (tmp_path / "r.csv").read_text(encoding="utf-8")
    assert text.splitlines()[1].startswith("model,metric,value,low,high")
    assert len(text.splitlines()) == 2 + len(found.rows())


def test_a_workbook_is_a_valid_archive(tmp_path):
    tm.evaluate(PANEL, metrics=["auroc"]).to_xlsx(tmp_path / "r.ods")
    with zipfile.ZipFile(tmp_path / "r.ods") as archive:
        assert archive.testzip() is None
        assert archive.namelist()[0] == "mimetype"
