"""What pages hold, without a browser."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tallymark as tm
from tallymark.cli.app import app
from tallymark.inference.limits.cell_metrics import rate_limits
from tallymark.registry import METRICS
from tallymark.reporting.builders import ReportRequest, content_of
from tallymark.reporting.explorer import explored, formulas, glossary
from tallymark.reporting.mathml import formula

pytestmark = pytest.mark.slow


def panel(n=1_500, names=("a", "b"), weights=None):
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.1).astype(int)
    scores = [1 / (1 + np.exp(-rng.normal(gap * y - 1))) for gap in (2.2, 1.4)]
    return tm.panel(y, dict(zip(names, scores, strict=True)), weights=weights)


def written(tmp_path, frame, *arguments):
    frame.to_csv(tmp_path / "d.csv", index=False)
    out = tmp_path / "r.html"
    out.unlink(missing_ok=True)
    command, *options = arguments
    result = CliRunner().invoke(app, [command, str(tmp_path / "d.csv"), *options, "--report", str(out)], catch_exceptions=False)  # fmt: skip
    assert result.exit_code == 0, result.output
    return out.read_text(encoding="utf-8"), result


def data_of(text):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL).group(1))


def frame_of(p, **more):
    return pd.DataFrame({"y": p.is_positive.astype(int), **p.scores, **more})


def test_formulas_come_from_the_registry():
    text = formulas()
    for name, metric in METRICS.items():
        assert (f'"{name}":' in text) == (metric.expression is not None)


def test_every_formula_is_mathml():
    for name, facts in glossary().items():
        assert facts["formula"].startswith("<math"), name
        assert "\\" not in facts["formula"], name


def test_a_formula_cannot_be_markup():
    for text in (r"\text{<img src=x onerror=alert(1)>}", "<script>alert(1)</script>", r"\frac{", r"a^", "&lt;b&gt;"):
        made = formula(text)
        assert "<img" not in made
        assert "<script" not in made
        assert "<b>" not in made


def test_the_command_line_writes_reports(tmp_path):
    p = panel()
    frame = frame_of(p, hat=(p.scores["a"] > 0.5).astype(int))
    both = ("--label", "y", "--score", "a", "--score", "b")
    for arguments in (
        ("evaluate", *both),
        ("compare", *both),
        ("evaluate", "--label", "y", "--predicted", "hat"),
    ):
        text, result = written(tmp_path, frame, *arguments)
        assert "open it in a browser" in result.stdout
        assert text.startswith("<!doctype html>")
        assert "<h1>d.csv</h1>" in text
        assert str(tmp_path) not in text
    text, _ = written(tmp_path, frame, "quantify", str(tmp_path / "d.csv"), "--label", "y", "--score", "a")
    assert "There are about" in text


def test_pages_name_their_day_and_their_seed(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    text, _ = written(tmp_path, frame_of(panel()), "evaluate", "--label", "y", "--score", "a", "--seed", "7")
    assert "2 January 1970" in text
    assert "seed 7" in text
    assert f"Tallymark {tm.__version__}" in text


def test_same_seed_same_page(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    t = panel(400).tally("a")
    pages = [tm.report(t, tmp_path / f"{i}.html", threshold="f1").read_bytes() for i in range(2)]
    assert pages[0] == pages[1]


def test_what_cannot_be_written_or_drawn_says_so(tmp_path):
    with pytest.raises(tm.InputError, match="Cannot write"):
        tm.report(panel(), tmp_path / "no" / "r.html")
    with pytest.raises(tm.InputError, match="expected a labelled tally"):
        tm.report(tm.tally(scores=[0.1, 0.2]), tmp_path / "r.html")


def test_the_sliders_start_at_the_threshold_of_the_verdict():
    for y, p in (([0, 0, 1, 1, 0, 1] * 10, [0.2, 0.4, 0.45, 0.8, 0.6, 0.9] * 10), ([0, 1] * 20, [0.1, 0.9] * 20)):
        t = tm.tally(y, p)
        found = explored({"a": t}, {"a": tm.evaluate(t, threshold=0.5)}, ["a"])["models"][0]
        assert (found["tp"][found["start"]], found["fp"][found["start"]]) == (t.at(0.5).tp, t.at(0.5).fp)
        assert found["thresholds"][:-1] == sorted(found["thresholds"][:-1])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("prevalence", [None, 0.02])
def test_limits_at_every_step_are_the_librarys(weighted, prevalence):
    rng = np.random.default_rng(0)
    t = panel(weights=rng.choice([0.5, 1, 3], 1_500) if weighted else None).tally("a")
    found = explored({"a": t}, {"a": tm.evaluate(t, threshold=0.3, prevalence=prevalence)}, ["a"])["models"][0]
    seen = t.at_prevalence(prevalence)
    for place in (0, 40, len(found["thresholds"]) // 2, len(found["thresholds"]) - 2):
        cut = seen.at(found["thresholds"][place])
        for name, (low, high, _) in rate_limits(["recall", "precision", "f1", "mcc"], cut, 0.95, "plain").items():
            shown = [found["limits"][name][side][place] for side in (0, 1)]
            assert shown == pytest.approx([low, high], rel=1e-5), name


def test_rows_in_clusters_get_limits_at_the_evaluated_threshold_only():
    p = panel()
    frame = frame_of(p, who=np.arange(1_500) // 5)
    t = tm.tally(frame, label="y", score="a", cluster="who")
    found = explored({"a": t}, {"a": tm.evaluate(t, threshold=0.5)}, ["a"])["models"][0]
    assert found["limits"] == {}
    assert found["bands"] is None
    assert found["chosen"]["recall"][0] < found["chosen"]["recall"][1]


def test_rare_positives_get_logarithmic_axes():
    rng = np.random.default_rng(0)
    y = rng.random(5_000) < 0.01
    t = tm.tally(y, 1 / (1 + np.exp(-rng.normal(3 * y - 3))))
    found = explored({"a": t}, {"a": tm.evaluate(t)}, ["a"])
    assert found["least"] == pytest.approx(0.5 / float(t.negatives))
    assert found["models"][0]["histogram"]["logit"]
    common = explored({"a": panel().tally("a")}, {"a": tm.evaluate(panel().tally("a"))}, ["a"])
    assert common["least"] is None


def test_weighted_models_of_the_same_rows_are_models(tmp_path):
    rng = np.random.default_rng(1)
    frame = frame_of(panel(), w=rng.random(1_500) + 0.1)
    text, _ = written(tmp_path, frame, "evaluate", "--label", "y", "--score", "a", "--score", "b", "--weight", "w")
    assert "Compare by AUROC" in text
    assert "1500 rows" in text
    assert "groups of" not in text


def test_groups_of_equal_size_are_groups(tmp_path):
    rng = np.random.default_rng(1)
    y = np.tile([1] * 30 + [0] * 70, 2)
    frame = pd.DataFrame({"y": y, "s": rng.normal(y * 1.0), "region": ["north"] * 100 + ["south"] * 100})
    text, _ = written(tmp_path, frame, "evaluate", "--label", "y", "--score", "s", "--by", "region")
    assert "200 rows in 2 groups of region" in text
    assert "better of the two" not in text


def test_groups_are_not_ranked_against_each_other(tmp_path):
    groups = ["a"] * 80 + ["b"] * 119 + ["alone"]
    frame = pd.DataFrame({"y": [0, 1] * 100, "p": np.random.default_rng(0).random(200), "g": groups})
    text, _ = written(tmp_path, frame, "evaluate", "--label", "y", "--score", "p", "--by", "g")
    assert "200 rows in 3 groups of g" in text
    assert "Rows of one class only: alone" in text


def test_saved_tallies_do_not_say_that_their_rows_are_the_same(tmp_path):
    frame_of(panel()).to_csv(tmp_path / "d.csv", index=False)
    tm.scan(str(tmp_path / "d.csv"), label="y", score=["a", "b"]).save(tmp_path / "t.tally")
    out = tmp_path / "r.html"
    CliRunner().invoke(app, ["evaluate", str(tmp_path / "t.tally"), "--report", str(out)], catch_exceptions=False)
    assert "2 evaluations that were not compared." in out.read_text(encoding="utf-8")


def test_a_stated_prevalence_and_costs_reach_the_sliders(tmp_path):
    text, _ = written(
        tmp_path, frame_of(panel()), "evaluate", "--label", "y", "--score", "a", "--prevalence", "0.2", "--threshold", "cost:1,20",
    )  # fmt: skip
    assert data_of(text)["explorer"]["prevalence"] == 0.2
    assert re.search(r'id="cost_fn"[^>]*value="20', text)
    assert "At a prevalence of 20 %" in text


def test_warnings_are_words_with_an_explanation(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random(3_000) < 0.01
    text = tm.report(tm.tally(y, rng.normal(y * 2.0)), tmp_path / "r.html", threshold="f1").read_text(encoding="utf-8")
    links = set(re.findall(r'href="#(why-[\w-]+)"', text))
    assert "why-rare" in links
    assert "why-chosen" in links
    assert links <= set(re.findall(r'id="(why-[\w-]+)"', text))
    assert not re.search(r"<li>TM\d+", text)
    assert re.search(r"flatters F1 by about \d\.\d{3} \(measured by resampling\)", text)


def test_twelve_groups_and_six_models_stay_small(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random(3_000) < 0.2
    frame = pd.DataFrame(
        {
            "y": y.astype(int),
            "g": rng.integers(12, size=3_000),
            **{f"m{i}": rng.normal(y * (1 + i / 5)) for i in range(6)},
        }
    )
    scores = [word for i in range(6) for word in ("--score", f"m{i}")]
    text, _ = written(tmp_path, frame, "evaluate", "--label", "y", *scores)
    assert len(text) < 3_000_000
    assert "Models that share a letter cannot be told apart." in text
    text, _ = written(tmp_path, frame, "evaluate", "--label", "y", "--score", "m5", "--by", "g")
    assert len(text) < 1_500_000


def test_counts_by_year_have_their_growth(tmp_path):
    rng = np.random.default_rng(0)
    known = rng.random(800) < 0.3
    year = np.repeat([2021, 2022, 2023], 400)
    new = rng.random(1_200) < 0.1 + 0.1 * (year - 2021)
    target = pd.DataFrame({"p": rng.normal(2.0 * new), "year": year})
    target.to_csv(tmp_path / "new.csv", index=False)
    frame = pd.DataFrame({"y": known.astype(int), "p": rng.normal(2.0 * known)})
    text, _ = written(tmp_path, frame, "quantify", str(tmp_path / "new.csv"), "--label", "y", "--score", "p", "--method", "pacc,bayes", "--by", "year", "--growth", "year")  # fmt: skip
    assert "Estimated count by year" in text
    assert "Growth of the count" in text
    assert "Methods that correct for the classifier" in text


def test_classes_have_a_verdict_and_their_confusions(tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.integers(50, size=3_000)
    call = np.where(rng.random(3_000) < 0.7, truth, (truth + 1) % 50)
    text = tm.report(tm.confusion(truth, call), tmp_path / "r.html").read_text(encoding="utf-8")
    assert "rows are classified as they are" in text
    assert "Most frequent confusions: " in text
    matrix = tm.confusion(truth, call).matrix.copy()
    np.fill_diagonal(matrix, 0)
    assert f"{matrix.max()} rows (" in text
    assert "All 50 classes" in text


def test_any_number_of_classes(tmp_path):
    assert tm.report(tm.confusion(["a", "b", "c"], ["a", "b", "a"]), tmp_path / "r.html").exists()
    with pytest.raises(tm.InputError, match="no model to draw"):
        tm.report({}, tmp_path / "e.html")


def test_what_no_report_is_about_is_named(tmp_path):
    t = tm.tally([0, 1] * 10, [i / 20 for i in range(20)])
    compared = tm.compare(tm.panel([0, 1] * 10, {"a": range(20), "b": range(20)}))
    with pytest.raises(tm.InputError, match="one comparison"):
        tm.report({"x": compared, "y": compared}, tmp_path / "r.html")
    with pytest.raises(tm.InputError, match="no report about int"):
        tm.report(3, tmp_path / "r.html")
    with pytest.raises(tm.InputError, match="no report about Tally and BinaryConfusion"):
        tm.report({"a": t, "b": t.at(0.5)}, tmp_path / "r.html")


def test_any_result_has_a_report(tmp_path):
    p = panel(400)
    t = p.tally("a")
    auroc = tm.evaluate(t)["auroc"].value
    for data, title, pictures in (
        (tm.evaluate(t), "Evaluation of a classifier", 1),
        (tm.evaluate(p), "Evaluation of a classifier", 1),
        ({"x": tm.evaluate(t), "y": tm.evaluate(t, threshold="f1")}, "Evaluation of a classifier", 0),
        (tm.evaluate(t.at(0.5)), "Evaluation of a classifier", 2),
        (tm.evaluate(t, metrics=["auroc"]), "Evaluation of a classifier", 1),
        (tm.mann_whitney(t), "Mann Whitney", 0),
        (tm.without_simple(p), "No Simple", 1),
        (tm.quantify.mixture_fit(t, tm.tally(scores=p.scores["b"])), "Mixture Fit", 1),
        (tm.study.nemenyi({"a": [1, 2, 1], "b": [2, 1, 2], "c": [3, 3, 3]}), "Test Result", 1),
    ):
        text = tm.report(data, tmp_path / "r.html").read_text(encoding="utf-8")
        assert f"<h1>{title}</h1>" in text
        assert text.count("<svg") >= pictures
        assert "<table" in text
    text = tm.report(tm.evaluate(t, threshold=0.5), tmp_path / "r.html").read_text(encoding="utf-8")
    assert f"{auroc:.3f}"[:4] in text
    assert "finds" in text
    assert (
        tm.report(tm.evaluate(t), tmp_path / "r.html", title="Mine").read_text(encoding="utf-8").count("<h1>Mine</h1>")
        == 1
    )


@pytest.mark.parametrize(
    ("code", "most"),
    [
        ("import tallymark.charts", 10),
        ("import tallymark as tm; tm.report(tm.tally([0, 1] * 30, range(60)), 'r.html')", 180),
        ("import tallymark as tm; tm.evaluate(tm.tally([0, 1] * 30, range(60)))._repr_html_()", 180),
    ],
)
def test_what_is_not_used_is_not_loaded(code, most, tmp_path):
    script = (
        f"import sys; {code}\n"
        "names = [name for name in sys.modules if name.startswith('tallymark')]\n"
        "print(len(names), [n for n in names if n.split('.')[1:2] and n.split('.')[1] in {'prices', 'rare', 'study', 'learners'}])"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)  # fmt: skip
    number, _, others = done.stdout.partition(" ")
    assert int(number) <= most
    assert others.strip() == "[]"


def test_paths_do_not_travel_with_the_page(tmp_path, monkeypatch):
    from tallymark.cli.output import shown_command

    monkeypatch.setattr("sys.argv", ["x", "evaluate", str(tmp_path / "d.csv"), "--where", "a/b > 3", "--report", os.fspath(tmp_path / "r.html")])  # fmt: skip
    assert shown_command() == "tallymark evaluate d.csv --where 'a/b > 3' --report r.html"


def test_too_few_rows_to_compare_cost_the_comparison_not_the_page(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"y": [1] + [0] * 40, "a": rng.random(41), "b": rng.random(41)})
    text, _ = written(tmp_path, frame, "evaluate", "--label", "y", "--score", "a,b", "--threshold", "0.5")
    assert "not tested against each other" in text


def test_models_without_a_resampled_choice_are_not_ranked(tmp_path):
    """With two positives one resample in seven has none, so the policy's choice cannot be resampled."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"y": [1, 1] + [0] * 40, "a": rng.uniform(0, 0.9, 42), "b": rng.uniform(0, 0.9, 42)})
    frame.loc[0, ["a", "b"]] = 0.95
    text, _ = written(tmp_path, frame, "evaluate", "--label", "y", "--score", "a,b", "--threshold", "cost:1,5")
    assert "not tested against each other" in text


def test_a_page_says_that_the_choice_was_resampled(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random(120) < 0.4
    frame = pd.DataFrame({"y": y.astype(int), "a": rng.normal(y), "b": rng.normal(y)})
    text, _ = written(
        tmp_path, frame, "compare", "--label", "y", "--score", "a,b", "--metric", "f1", "--threshold", "youden"
    )
    assert "thresholds chosen by youden anew in every resample" in text
    assert "held fixed" not in text


def test_counts_without_a_value_have_a_page(tmp_path):
    frame = pd.DataFrame({"y": [0, 1] * 40, "p": [0.5] * 80})
    frame.to_csv(tmp_path / "new.csv", index=False)
    text, _ = written(
        tmp_path, frame, "quantify", str(tmp_path / "new.csv"), "--label", "y", "--score", "p", "--method", "ac"
    )
    assert "No method gives a corrected count" in text


def test_scores_at_the_ends_of_the_floats_have_a_page(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random(60) < 0.4
    scores = np.where(y, 1.7e308, -1.7e308) * rng.random(60)
    assert tm.report(tm.tally(y, scores), tmp_path / "r.html").exists()


def test_names_cannot_turn_a_sentence_around(tmp_path):
    text = tm.report(panel(300, names=("turn\u202eed", "b")), tmp_path / "r.html").read_text(encoding="utf-8")
    assert "\u202e" not in text
    assert "turn\\u202eed" in text


def test_group_pages_say_what_was_asked(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.4
    frame = pd.DataFrame({"y": y.astype(int), "p": rng.normal(y * 2.0), "g": np.arange(400) % 2})
    text, _ = written(tmp_path, frame, "evaluate", "--label", "y", "--score", "p", "--by", "g", "--threshold", "f1", "--prevalence", "0.01", "--cost-fn", "50", "--cost-fp", "1")  # fmt: skip
    for part in ("seen at a prevalence of 1 %", "thresholds chosen by f1", "cost fn 50"):
        assert part in text


@pytest.mark.parametrize("threshold", [np.inf, -np.inf])
def test_a_threshold_beyond_all_scores_has_a_page(threshold):
    y = np.arange(60) % 2
    request = ReportRequest(threshold=threshold)
    made = content_of(tm.tally(y, np.linspace(0.01, 0.99, 60)), request)
    assert made.evaluations["model"]["recall"].value == float(threshold < 0)
    drawn = [picture.to_dict(validate=False) for section in made.sections for picture in section.all_pictures]
    assert "Scores by class" in {chart["title"]["text"] for chart in drawn if isinstance(chart["title"], dict)}
