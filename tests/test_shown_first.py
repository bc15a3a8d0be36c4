"""What is shown of many metrics: models side by side, the rest folded, notes in a quiet box."""

import re
import sys
import types
import warnings

import numpy as np
import pytest

import tallymark as tm
from tallymark.metrics import headlines

RNG = np.random.default_rng(3)
Y = np.arange(240) % 30 < 2
SCORES = {f"model <{name}>": np.clip(RNG.beta(2, 5, 240) + 0.3 * Y, 0, 1) for name in "abc"}


@pytest.fixture(scope="module")
def result():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tm.evaluate(tm.panel(Y[:90], {name: scores[:90] for name, scores in SCORES.items()}), level=0.9)


def test_models_stand_side_by_side_with_the_leading_metrics_only(result):
    lines = repr(result).splitlines()
    assert re.split(r"  +", lines[1]) == ["metric", *SCORES]
    assert [line.split()[0] for line in lines[2:-1]] == [
        name for name in headlines.TABLE if name in result["model <a>"]
    ]
    hidden = len(result["model <a>"]) - len(headlines.TABLE)
    assert lines[-1] == f"… {hidden} more metrics: rows(), to_frame() and [name] have them all"
    assert f"of 90 rows, 6 positive (6.67 %), threshold {0.5:.4f}, 90 % intervals" in lines[0]
    for name in ("auroc", "mcc"):
        for model, one in result.items():
            shown = next(row for row in result.printed_rows() if row["metric"] == name)[model]
            assert shown.startswith(f"{one[name].value:.2f}"), (name, model)


def test_a_notebook_folds_the_rest_and_the_notes(result):
    page = result._repr_html_()
    shown, _, rest = page.partition("<details>")
    assert "auroc" in shown
    assert "yule_q" not in shown
    assert "informedness" not in shown
    assert rest.count("<tr>") == 1 + sum(map(len, result.values()))
    assert "TM107" in rest
    assert "TM107" not in shown
    assert "<a>" not in page
    assert "model &lt;a&gt;" in page


def test_metrics_that_were_named_are_all_shown():
    few = tm.evaluate(tm.tally(Y, SCORES["model <a>"]), metrics=["kappa", "auroc"])
    assert [row["metric"] for row in few.printed_rows()] == list(few) == ["kappa", "auroc"]
    assert "<details>" not in few._repr_html_()
    assert "more metrics" not in repr(few)


def test_groups_have_a_line_each():
    import pandas as pd

    frame = pd.DataFrame({"y": Y, "p": SCORES["model <a>"], "g": np.arange(240) // 120})
    result = tm.evaluate(tm.tally(frame, label="y", score="p", by="g"), level=None)
    assert [list(row) for row in result.printed_rows()] == [["g", "n", "positives", *headlines.BY_GROUP]] * 2
    assert len(result.rows()) == sum(map(len, result.values()))


def test_notes_are_quiet_in_a_notebook_and_warnings_elsewhere(monkeypatch):
    few = tm.tally(Y[:45], SCORES["model <b>"][:45])
    with pytest.warns(tm.GuardWarning, match="TM107"):
        tm.evaluate(few, level=None)
    boxes = []
    shell = types.SimpleNamespace(kernel=object())
    fake = types.SimpleNamespace(get_ipython=lambda: shell, display=types.SimpleNamespace(display=boxes.append))
    monkeypatch.setitem(sys.modules, "IPython", fake)
    with warnings.catch_warnings():
        # A filter that makes errors of warnings still does; pytest's own would.
        warnings.simplefilter("default")
        tm.evaluate(few, level=None)
        (box,) = boxes
        assert "TM107" in box._repr_html_()
        assert "TM107" in repr(box)
        warnings.simplefilter("ignore")
        tm.evaluate(few, level=None)
        assert len(boxes) == 1
        warnings.simplefilter("error")
        with pytest.raises(tm.GuardWarning):
            tm.evaluate(few, level=None)
