"""JSON with nested fields and whole documents, and rows joined by an id: shapes of evaluation logs, made up."""

import json

import numpy as np
import pandas as pd
import pytest

import tallymark as tm

N = 80


def verdicts(seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.random(N) < 0.7
    judged = np.where(rng.random(N) < 0.9, truth, ~truth)
    return judged, [bool(t) if i % 2 else None for i, t in enumerate(truth)]


@pytest.fixture
def wanted():
    judged, human = verdicts()
    return tm.raters.judge({"j": judged, "h": human}, judge="j", human="h").to_dict()


def inspect_log(judged, human):
    """An object with a list of samples, each with scores by scorer."""
    samples = [
        {
            "id": i,
            "scores": {"judge": {"value": "C" if j else "I"}},
            "metadata": {"human": None if h is None else "CI"[not h]},
        }
        for i, (j, h) in enumerate(zip(judged.tolist(), human, strict=True))
    ]
    return {"version": 2, "eval": {"task": "qa"}, "plan": {"steps": [{"solver": "generate"}]}, "samples": samples}


def promptfoo(judged, human):
    """A list of results inside of an object inside of the file."""
    rows = [
        {"success": j, "gradingResult": {"pass": j, "score": float(j)}, "vars": {"human": h}}
        for j, h in zip(judged.tolist(), human, strict=True)
    ]
    return {"evalId": "x", "results": {"version": 3, "results": rows, "stats": {"successes": 1}}}


def deepeval(judged, human):
    """A list of test results, each with a list of metrics."""
    rows = [
        {
            "name": f"case {i}",
            "metricsData": [{"name": "Correctness", "success": j}],
            "additionalMetadata": {"human": h},
        }
        for i, (j, h) in enumerate(zip(judged.tolist(), human, strict=True))
    ]
    return {"testCases": rows}


def test_inspect_logs(tmp_path, wanted):
    path = tmp_path / "log.json"
    path.write_text(json.dumps(inspect_log(*verdicts())))
    options = {"judge": "scores.judge.value", "human": "metadata.human", "pos_label": "C"}
    assert tm.raters.judge(f"{path}#samples", **options).to_dict() == wanted
    with pytest.raises(tm.InputError, match=r"log.json#samples"):
        tm.raters.judge(path, **options)
    with pytest.raises(tm.InputError, match="no list of objects at 'rows'"):
        tm.raters.judge(f"{path}#rows", **options)


def test_promptfoo_and_deepeval_results(tmp_path, wanted):
    path = tmp_path / "results.json"
    path.write_text(json.dumps(promptfoo(*verdicts())))
    result = tm.raters.judge(f"{path}#results.results", judge="gradingResult.pass", human="vars.human")
    assert result.to_dict() == wanted
    path.write_text(json.dumps(deepeval(*verdicts())))
    options = {"judge": "metricsData.0.success", "human": "additionalMetadata.human"}
    assert tm.raters.judge(f"{path}#testCases", **options).to_dict() == wanted


def test_lines_of_nested_objects(tmp_path, wanted):
    judged, human = verdicts()
    path = tmp_path / "samples_task.jsonl"
    lines = [
        {
            "doc_id": i,
            "doc": {"question": "?"},
            "exact_match": int(j),
            "review": {"human": None if h is None else int(h)},
        }
        for i, (j, h) in enumerate(zip(judged.tolist(), human, strict=True))
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    assert tm.raters.judge(path, judge="exact_match", human="review.human").to_dict() == wanted
    with pytest.raises(tm.InputError, match="no field 'review.person'"):
        tm.raters.judge(path, judge="exact_match", human="review.person")


@pytest.mark.parametrize("order", [1, -1])
def test_labels_of_another_file_are_joined_by_their_id(tmp_path, wanted, order):
    judged, human = verdicts()
    items = pd.DataFrame({"key": [f"q{i}" for i in range(N)], "j": judged.astype(int)})
    people = pd.DataFrame({"key": items.key, "h": human}).dropna().iloc[::order]
    people["h"] = people.h.astype(int)
    for one, other in ((items, people), (tmp_path / "items.csv", tmp_path / "people.csv")):
        if one is not items:
            items.to_csv(one, index=False)
            people.to_csv(other, index=False)
        assert tm.raters.judge(one, judge="j", human="h", labels=other, id="key").to_dict() == wanted
    with pytest.raises(tm.InputError, match="more than once"):
        tm.raters.judge(items, judge="j", human="h", labels=pd.concat((people, people[:2])), id="key")
    with pytest.raises(tm.InputError, match="which no item has"):
        tm.raters.judge(items, judge="j", human="h", labels=people.assign(key="new" + people.key), id="key")
    with pytest.raises(tm.InputError, match="name it with id="):
        tm.raters.judge(items, judge="j", human="h", labels=people)


def test_a_column_with_a_dot_in_its_name_is_itself(tmp_path):
    path = tmp_path / "f.jsonl"
    rows = [{"a.b": i % 2, "a": {"b": 1 - i % 2}, "y": i % 2} for i in range(40)]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert (
        tm.evaluate(tm.tally(pd.DataFrame({"y": [0, 1], "a.b": [0, 1]}), label="y", score="a.b"))["auroc"].value == 1.0
    )
    assert tm.evaluate(tm.scan(path, label="y", score="a.b"))["auroc"].value == 1.0


def test_an_id_may_be_a_number_in_one_file_and_text_in_the_other(tmp_path):
    items, people = tmp_path / "items.jsonl", tmp_path / "people.csv"
    items.write_text("".join(json.dumps({"id": str(i), "j": i % 2}) + "\n" for i in range(60)), encoding="utf-8")
    people.write_text("id,h\n" + "".join(f"{i},{i % 3 % 2}\n" for i in range(30)), encoding="utf-8")
    result = tm.raters.judge(str(items), judge="j", human="h", labels=str(people), id="id")
    assert (result.n, result.labelled) == (60, 30)
    numbered = pd.DataFrame({"id": np.arange(60), "j": np.arange(60) % 2})
    again = tm.raters.judge(numbered, judge="j", human="h", labels=pd.read_csv(people).astype({"id": float}), id="id")
    assert again.to_dict() == result.to_dict()
    with pytest.raises(tm.InputError, match="no item has .items have 0"):
        tm.raters.judge(numbered.head(9), judge="j", human="h", labels=str(people), id="id")


def test_a_field_with_a_dot_in_its_name_is_in_quotes(tmp_path, wanted):
    judged, human = verdicts()
    path = tmp_path / "items.jsonl"
    rows = [
        {"scores": {"v1.5": [{'a "b': int(j)}]}, "h": None if h is None else int(h)}
        for j, h in zip(judged.tolist(), human, strict=True)
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert tm.raters.judge(path, judge='scores."v1.5".0.a "b', human="h").to_dict() == wanted
    with pytest.raises(tm.InputError, match="no field"):
        tm.raters.judge(path, judge="scores.v1.5.0", human="h")
