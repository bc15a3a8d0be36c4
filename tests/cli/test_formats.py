"""``--format``: tables for another program, and nothing else on standard output."""

import csv
import io
import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    rng = np.random.default_rng(0)
    y = rng.random(600) < 0.3
    frame = pd.DataFrame({"y": y.astype(int), "p": rng.normal(y * 1.5), "q": rng.normal(y * 1.0), "r": rng.normal(y)})
    frame["hat"] = (frame.p > 0.7).astype(int)
    frame["code"] = np.array(["007", "=1+1", "b|c"])[rng.integers(3, size=600)]
    frame["class"], frame["call"] = rng.choice(list("abc"), 600), rng.choice(list("abc"), 600)
    path = tmp_path_factory.mktemp("formats") / "d.csv"
    frame.to_csv(path, index=False)
    return path


def run(*arguments, status=0):
    done = subprocess.run([sys.executable, "-m", "tallymark", *map(str, arguments)], capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == status, done.stderr
    return done


GROUPS = ("--label", "y", "--score", "p", "--by", "code")


def test_csv_has_numbers_and_names_as_text(file):
    done = run("evaluate", file, *GROUPS, "--format", "csv")
    lines = list(csv.DictReader(io.StringIO(done.stdout)))
    said = json.loads(run("evaluate", file, *GROUPS, "--json").stdout)
    assert {line["code"] for line in lines} == {"007", "'=1+1", "b|c"}
    for group in said["groups"]:
        (line,) = [line for line in lines if line["code"].lstrip("'") == group["group"]["code"]]
        auroc = group["models"]["p"]["metrics"]["auroc"]
        for column, name in (("auroc", "value"), ("auroc low", "low"), ("auroc high", "high")):
            assert float(line[column]) == pytest.approx(auroc[name], abs=0.006)
    assert "In brackets" in done.stderr


def test_markdown_and_latex_escape_names(file):
    text = run("evaluate", file, *GROUPS, "--format", "md").stdout
    assert "b\\|c" in text
    assert "|---:|" in text
    text = run("compare", file, "--label", "y", "--score", "p,q,r", "--format", "latex").stdout
    assert text.count("\\toprule") == text.count("\\bottomrule") == 2
    assert "average_" not in text
    assert re.search(r"letter", text)


def test_json_both_ways_is_the_same(file):
    one, other = (run("evaluate", file, *GROUPS, *way).stdout for way in (["--json"], ["--format", "json"]))
    assert one == other
    found = json.loads(one)["heterogeneity"][0]
    assert found["freedom"] == 2
    assert 0 <= found["p_value"] <= 1


def test_what_is_no_format_is_refused(file):
    assert "Choose one of: table, json, csv, md, latex" in run("evaluate", file, *GROUPS, "--format", "xml", status=2).stderr  # fmt: skip
    assert "not both" in run("evaluate", file, *GROUPS, "--format", "csv", "--json", status=2).stderr


def test_classes_show_their_matrix_and_intervals(file):
    text = run("evaluate", file, "--label", "class", "--predicted", "call").stdout
    assert "Confusion matrix" in text
    assert re.search(r"\ba +\d+ +\d\.\d\d \(\d", text[text.index("By class") :])


def test_models_that_cannot_be_told_apart_share_a_letter(file):
    text = run("compare", file, "--label", "y", "--score", "p,q,r").stdout
    assert "Models that share a letter cannot be told apart." in text
    assert "letters" in json.loads(run("compare", file, "--label", "y", "--score", "p,q,r", "--json").stdout)


def test_groups_are_told_whether_they_differ(file):
    assert "Cochran's Q over 3 groups" in run("evaluate", file, *GROUPS).stdout


@pytest.mark.parametrize("form", ["csv", "md", "latex"])
@pytest.mark.parametrize(
    "command", [("sample-size", "--auroc", "0.8", "--difference", "0.1"), ("metrics", "mcc"), ("metrics", "f1_macro")]
)
def test_facts_are_a_table_too(command, form):
    assert "value" in run(*command, "--format", form).stdout
