"""What is in a file, the part of each column, and commands that run as they are printed."""

import contextlib
import io
import json
import shlex
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from typer.testing import CliRunner

import tallymark as tm
from tallymark.cli.app import app

N = 160
RNG = np.random.default_rng(5)
Y = RNG.random(N) < 0.35
P = np.clip(RNG.beta(2, 5, N) + 0.3 * Y, 0.0, 1.0)
Q = np.clip(RNG.beta(2, 4, N) + 0.2 * Y, 0.0, 1.0)
THIRD = np.arange(N) % 3 == 0
SPECIES = np.array(["cat", "dog", "eel"])[RNG.integers(0, 3, N)]
OF_SPECIES = RNG.dirichlet([1, 1, 1], N)
WORDS = np.where(Y, "yes", "no")

#: Files as people have them, and the questions that each answers.
FILES = {
    "two models.csv": ({"platform": Y * 1, "model_a": P, "model_b": Q, "region": THIRD}, "good better"),
    "words.parquet": ({"is fraud?": np.where(Y, "J", "N"), "Score (%)": 100 * P, "w's": Q, "weight": P + 1}, "good"),
    "-dash.csv": ({"-y": Y * 1, "--score": P}, "good"),
    "partly.csv": ({"id": np.arange(N), "checked": np.where(THIRD, WORDS, None), "p": P}, "good many more"),
    "gaps.csv": ({"y": Y * 1, "score": np.where(THIRD, np.nan, P), "model_b": Q}, "good better"),
    "gaps.parquet": ({"y": Y * 1, "score": np.where(THIRD, np.nan, P), "model_b": Q}, "good better"),
    "unknown.csv": ({"label": np.where(THIRD, "unknown", WORDS), "score": P, "score2": Q}, "good better"),
    "months.csv": (
        {"month": [f"2024-{1 + i % 8:02}" for i in range(N)], "y": np.where(np.arange(N) % 8 < 5, Y * 1.0, np.nan), "score": np.where(Q > 0.9, np.nan, P)},
        "good many changed",
    ),
    "classes.csv": (
        {"animal_true": SPECIES, **{f"p_{name}": OF_SPECIES[:, i] for i, name in enumerate(("cat", "dog", "eel"))}}, "good",
    ),
    "predicted.csv": ({"label": WORDS, "pred_a": np.where(P > 0.4, "yes", "no"), "pred_b": np.where(Q > 0.4, "yes", "no")}, "good better"),
    "judge.jsonl": (
        {"human": np.where(THIRD, WORDS, None), "llm_judge": np.where(P > 0.4, "yes", "no"), "topic": np.where(Q > 0.3, "a", "b")},
        "good more judges",
    ),
    "raters.csv": ({"rater_1": WORDS, "rater_2": np.where(P > 0.4, "yes", "no")}, "judges"),
    "unlabelled.csv": ({"p": P, "region": SPECIES}, "more"),
    'quote"\'$(x).csv': ({'y"t': Y * 1, "p'; DROP": P, "score `ls`": Q}, "good better"),
    "few.csv": ({"y": np.arange(N) < 3, "score": P}, "good"),
}  # fmt: skip
QUESTIONS = ("good", "better", "many", "more", "changed", "judges")


def written(frame, path):
    frame = frame.dropna(axis=1, how="all")
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, index=False)
    return path


def cautions(data):
    return " ".join(caution.message for caution in tm.look(data).cautions)


def run(lines, **names):
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        exec("\n".join(lines), names)


@pytest.mark.parametrize("name", FILES)
def test_every_command_and_every_line_runs(name, tmp_path, monkeypatch):
    columns, answered = FILES[name]
    monkeypatch.chdir(tmp_path)
    written(pd.DataFrame(columns), tmp_path / name)
    found = tm.look(name)
    assert [word for word, one in zip(QUESTIONS, found.questions, strict=True) if one.command] == answered.split()
    for question in found.questions:
        if question.command:
            assert tuple(shlex.split(question.shell)) == question.command
            result = CliRunner().invoke(app, question.command[1:])
            assert result.exit_code == 0, (question.shell, result.output, result.exception)
        run(question.python)


def in_polars(columns):
    return pl.DataFrame(columns, strict=False, nan_to_null=True)


@pytest.mark.parametrize("library", [pd.DataFrame, in_polars])
@pytest.mark.parametrize("name", ["two models.csv", "partly.csv", "gaps.csv", "unknown.csv", "months.csv", "classes.csv", "judge.jsonl"])  # fmt: skip
def test_the_lines_for_a_dataframe_run(name, library):
    frame = library({column: np.asarray(values) for column, values in FILES[name][0].items()})
    found = tm.look(frame)
    answered = set(FILES[name][1].split())
    for word, question in zip(QUESTIONS, found.questions, strict=True):
        assert question.answered == (word in answered), word
        assert not question.command
        run(question.python, data=frame)


@pytest.mark.parametrize("seed", range(3))
def test_a_file_and_a_dataframe_say_the_same(seed, tmp_path):
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(2, 40))
    numbers = rng.choice([None, -5, 0, 3, 1.25, 0.001, 1e9], rows)
    words = rng.choice([None, "a", "B", "b c", "ü", "yes"], rows)
    frame = pd.DataFrame({
        "x": pd.array(numbers, dtype="Float64"), "t": pd.array(words, dtype="string"), "k": range(rows)
    })  # fmt: skip
    looks = [
        tm.look(frame),
        *(tm.look(str(written_whole(frame, tmp_path / f"f{end}"))) for end in (".csv", ".parquet")),
    ]
    for name in frame:
        present = frame[name].dropna()
        for found in looks:
            column = found[name]
            assert column.missing == rows - len(present)
            assert column.distinct == present.nunique()
            assert dict(column.counted or {}) == present.value_counts().to_dict()
            if name == "x" and len(present):
                assert (column.low, column.high) == (present.min(), present.max())
    assert len({repr([(one.message, one.column) for one in found.cautions]) for found in looks}) == 1


def written_whole(frame, path):
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index=False)
    return path


def test_the_parts_of_columns_and_why(tmp_path):
    path = written(pd.DataFrame(FILES["two models.csv"][0]), tmp_path / "f.csv")
    found = tm.look(path)
    assert {column.name: column.role for column in found.columns} == {
        "platform": "truth", "model_a": "score", "model_b": "score", "region": "group",
    }  # fmt: skip
    assert found["model_a"].roles[0].reason.startswith("the name has 'model', and it holds numbers from 0.")
    assert found.parts.truth == "platform"
    assert found.parts.positive == 1
    assert found.n == N


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"label": np.where(Y, "yes", np.where(THIRD, " no", "No")), "score": P}, "differ only in how they are written"),
        ({"y": Y * 1, "score": 100 * P}, "may be in per cent"),
        ({"y": Y * 1, "score": 10 * P - 5}, "is outside 0 to 1 in"),
        ({"y": Y * 1, "score": (P > 0.5) * 1.0}, "two values only"),
        ({"y": Y * 1, "score": P, "after": Y * 10 + P}, "after separates the classes of y"),
        ({"y": np.ones(N), "score": P}, "one class only"),
        ({"y": np.arange(N) < 8, "score": P}, "only 8 positives"),
        ({"y": Y * 1, "score": P, "source": ["new"] * N}, "source has the same value in every row"),
        ({"label": np.where(THIRD, "n/a", WORDS), "score": P}, "look like a missing value: 'n/a' (54)"),
        ({"id": np.minimum(np.arange(N), N - 5), "p": P}, "5 rows share theirs"),
        ({"y": Y * 1, "x": [f"{value:.2f}" if i != 7 else "2,777" for i, value in enumerate(P)]}, "such as '2,777'"),
        ({"y": Y * 1, "score,a": P}, "has a comma"),
        ({"y": Y * 1, "size": P * 0 + np.arange(N)}, "No column looks like the scores"),
        ({"a": WORDS, "p_yes": P}, "'yes' is taken for the positive label"),
    ],
)  # fmt: skip
def test_what_to_beware_of(columns, said):
    assert said in cautions(pd.DataFrame(columns))


def test_clean_data_has_no_caution():
    assert tm.look(pd.DataFrame({"y": Y * 1, "score": P})).cautions == ()


def test_labels_in_two_spellings_have_no_command_but_the_cure(tmp_path):
    path = tmp_path / "f.csv"
    pd.DataFrame({"label": ["yes", "Yes", " yes", "no"] * 9, "score": P[:36]}).to_csv(path, index=False)
    first = tm.look(path).questions[0]
    assert not first.command
    assert not first.answered
    assert first.reason == "First write the labels in label in one way: ' yes', 'Yes', 'yes'."


def test_text_far_below_numbers_is_no_end(tmp_path):
    path = tmp_path / "f.csv"
    path.write_text("y,p\n" + "1,0.5\n0,0.2\n" * 20_000 + "1,much\n", encoding="utf-8")
    found = tm.look(path)
    assert (found.n, found["p"].type, found["y"].distinct) == (40_001, "text", 2)


def test_nothing_in_a_file_is_run_or_drawn(tmp_path):
    bad = '<img src=x onerror="alert(1)">\x1b[31m'
    frame = pd.DataFrame({bad: [bad, "=1+1"] * 20, "y": [0, 1] * 20, "p": P[:40]})
    found = tm.look(frame)
    assert "<img" not in found._repr_html_()
    assert "\x1b" not in found._repr_html_() + repr(found)
    assert "\n'=1+1" not in found.to_csv()
    path = tmp_path / "f.csv"
    frame.to_csv(path, index=False)
    shown = CliRunner().invoke(app, ["look", str(path)])
    assert shown.exit_code == 0
    assert "\x1b[31m" not in shown.output


def test_what_is_empty_or_no_data_is_refused(tmp_path):
    (tmp_path / "f.csv").write_text("y,p\n", encoding="utf-8")
    for data, said in (
        (str(tmp_path / "f.csv"), "has no rows"),
        (3, "expected a dataframe"),
        (pd.DataFrame(), "no columns"),
    ):
        with pytest.raises(tm.InputError, match=said):
            tm.look(data)


def test_the_command_prints_what_the_function_finds(tmp_path):
    path = str(written(pd.DataFrame(FILES["partly.csv"][0]), tmp_path / "f.csv"))
    printed = json.loads(CliRunner().invoke(app, ["look", path, "--json"]).output)
    assert {name: printed[name] for name in ("columns", "questions", "parts", "n")} == {
        name: json.loads(json.dumps(value)) for name, value in tm.look(path).to_dict().items() if name in printed and name not in ("file", "cautions")
    }  # fmt: skip
    shown = CliRunner().invoke(app, ["look", path], env={"COLUMNS": "70"}).output
    assert f"$ tallymark quantify {shlex.quote(path)} --label checked --score p --pos-label yes\n" in shown


@pytest.mark.parametrize(
    "arguments",
    [["evaluate"], ["quantify"], ["compare"], ["thresholds"], ["audit", "plan"], ["evaluate", "--label", "q", "--score", "p"], ["watch"]],
)  # fmt: skip
def test_errors_about_columns_say_where_to_look(arguments, tmp_path):
    path = written(pd.DataFrame({"y": Y * 1, "p": P}), tmp_path / "a file.csv")
    words = [*arguments, str(path), *(["--width", "0.1"] if "plan" in arguments else [])]
    result = CliRunner().invoke(app, words)
    assert result.exit_code
    said = f"{result.output} {result.exception}".replace("\n", "")
    assert f"`tallymark look {shlex.quote(str(path))}` shows what each column could be." in said


def test_codes_with_labels_are_seen_by_their_labels(tmp_path, monkeypatch):
    pyreadstat = pytest.importorskip("pyreadstat")
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = (rng.random(300) < 0.3).astype(float)
    frame = pd.DataFrame({"wahr": y, "score": np.clip(rng.normal(0.3 + 0.3 * y, 0.2), 0.01, 0.99)})
    labels = {"wahr": {0.0: "kein Betrug", 1.0: "Betrug"}}
    pyreadstat.write_dta(frame, "a.dta", variable_value_labels=labels)
    pyreadstat.write_sav(frame, "a.sav", variable_value_labels=labels)
    for name in ("a.dta", "a.sav"):
        with pytest.warns(tm.GuardWarning, match="value labels of wahr"):
            looked = tm.look(name)
        (commands,) = [one.command for one in looked.questions if "evaluate" in one.command][:1]
        assert "Betrug" in commands
        assert CliRunner().invoke(app, list(commands[1:])).exit_code == 0
