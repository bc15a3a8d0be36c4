"""Guards on samples: whatever evaluate takes is held to the same rules."""

import numpy as np
import pandas as pd
import pytest

import tallymark as tm
from tallymark.evaluation.evaluate import _evaluate
from tallymark.summaries.confusion import BinaryConfusion

#: A class of 3 rows beside others of 40.
Y2 = np.repeat([0, 1], [40, 3])
Y3 = np.repeat([0, 1, 2], [40, 3, 40])
SCORES = np.random.default_rng(0).random((83, 3))
P = np.random.default_rng(1).random(43)

SMALL = {
    "Tally": lambda **m: tm.tally(Y2, P, **m),
    "Tallies": lambda: tm.tally(pd.DataFrame({"y": Y2, "p": P, "g": "one"}), label="y", score="p", by="g"),
    "Panel": lambda: tm.panel(Y2, {"a": P, "b": P**2}),
    "BinaryConfusion": lambda **m: tm.confusion(Y2, P > 0.5, pos_label=1, **m),
    "Confusion": lambda **m: tm.confusion(Y3, SCORES.argmax(axis=1), **m),
    "Moments": lambda **m: tm.moments(Y3, SCORES, classes=[0, 1, 2], **m),
    "ClassScores": lambda **m: tm.class_scores(Y3, SCORES, classes=[0, 1, 2], **m),
    "ClassPanel": lambda **m: tm.class_panel(Y3, SCORES, classes=[0, 1, 2], **m),
}


def codes(data):
    return [note.code for note in tm.evaluate(data).warnings]


@pytest.mark.parametrize("kind", SMALL)
def test_few_rows_of_a_class_are_said_of_whatever_is_evaluated(kind):
    note = next(note for note in tm.evaluate(SMALL[kind]()).warnings if note.code == "TM107")
    assert "only 3 rows of one class;" in note.message or "only 3 rows of class 1;" in note.message
    assert "collect 7 more" in note.message


def test_every_kind_that_is_evaluated_is_held_to_it():
    """A table of files is evaluated as tallies are; outcomes have no classes."""
    kinds = {kind.__name__ for kind in _evaluate.registry} - {"object", "FilePanel", "Outcomes"}
    assert kinds <= set(SMALL)
    assert isinstance(SMALL["BinaryConfusion"](), BinaryConfusion)


@pytest.mark.parametrize("kind", ["Tally", "BinaryConfusion", "Confusion", "Moments", "ClassScores", "ClassPanel"])
def test_counts_and_weights_count_as_rows_do(kind):
    n = len(Y2) if kind in {"Tally", "BinaryConfusion"} else len(Y3)
    assert "TM107" not in codes(SMALL[kind](counts=np.full(n, 4)))
    heavy = np.where(np.arange(n) == 0, 1e3, 1.0)
    said = [note.message for note in tm.evaluate(SMALL[kind](weights=heavy)).warnings if note.code == "TM107"]
    assert "count like 1.1" in said[0]


def test_classes_of_enough_rows_and_empty_ones_are_not_named():
    assert codes(tm.confusion(np.repeat([0, 1, 2], 20), np.repeat([0, 1, 2], 20))) == []
    assert codes(tm.Confusion(np.array([[20, 5], [0, 0]]), ("a", "b"))) == []
    several = tm.evaluate(tm.confusion(np.repeat([0, 1, 2], [20, 4, 6]), np.repeat([0, 1, 2], [20, 4, 6])))
    assert "only 4 rows of class 1 (and 1 other class below 10)" in several.warnings[0].message


def test_weights_that_leave_few_effective_rows_are_said_of_even_where_those_of_the_small_class_look_even():
    """Rows of the small class that weigh much are rare, so that most samples hold none of them."""
    y = np.repeat([0, 1], [900, 60])
    uneven = np.where(np.arange(960) % 5 == 0, 10.0, 1.0)
    for weights, said in (
        (np.where(y == 1, 1.0, uneven), ["TM113"]),
        (uneven, ["TM113"]),
        (np.where(np.arange(960) % 2, 2.0, 1.0), []),
    ):
        found = tm.evaluate(tm.tally(y, np.linspace(0, 1, 960), weights=weights), metrics=["auroc"])
        assert [note.code for note in found.warnings] == said
    many = tm.tally(np.repeat(y, 40), np.linspace(0, 1, 38_400), weights=np.tile(uneven, 40))
    assert tm.evaluate(many, metrics=["auroc"]).warnings == ()


@pytest.mark.parametrize("name", ["specificity", "precision", "f1", "mcc", "accuracy_of_three"])
def test_a_variance_that_a_few_heavy_rows_decide_is_widened(name, monkeypatch):
    """With lognormal weights of 150 to 1 000 rows specificity and NPV were covered by 86 to 89 %."""
    rng = np.random.default_rng(3)
    y, s, w = rng.integers(0, 2, 300), rng.random(300), rng.lognormal(0.0, 1.0, 300)

    def width(weights):
        if name == "accuracy_of_three":
            found = tm.evaluate(tm.confusion(y + (s > 0.9), rng_classes, weights=weights), metrics=["accuracy"])[
                "accuracy"
            ]
        else:
            found = tm.evaluate(tm.tally(y, s, weights=weights), metrics=[name], threshold=0.5)[name]
        return found.high - found.low

    rng_classes = np.random.default_rng(4).integers(0, 3, 300)
    uneven, even = width(w), width(np.ones(300))
    for module in ("cell_metrics", "class_metrics"):
        monkeypatch.setattr(f"tallymark.inference.limits.{module}.unsure_by", lambda rows, _: np.ones_like(rows))
    assert uneven > 1.05 * width(w)
    assert even == width(np.ones(300))


def test_weights_of_which_one_is_nearly_all_do_not_stop_an_interval():
    """A row more of a class raised the estimate above 1, and a division by 0 ended the evaluation."""
    found = tm.evaluate(tm.tally(Y2, P, weights=np.where(np.arange(43) == 0, 1e3, 1.0)))
    assert found["brier"].low < found["brier"].value < found["brier"].high


@pytest.mark.parametrize("policy", ["youden", "f1"])
def test_the_choice_of_a_threshold_on_clustered_rows_is_included(policy):
    """The interval held the threshold fixed, and no note said so."""
    rng = np.random.default_rng(2)
    c = np.repeat(np.arange(25), 8)
    y = rng.random(200) < rng.beta(1.5, 4.5, 25)[c]
    tally = tm.tally(y, rng.normal(0.6 * y) + rng.normal(0, 0.5, 25)[c], clusters=c)
    chosen = tm.evaluate(tally, threshold=policy, metrics=["f1", "auroc"])
    fixed = tm.evaluate(tally, threshold=chosen.threshold, metrics=["f1", "auroc"])
    assert chosen["f1"].interval_method == "cluster jackknife, choice included"
    assert chosen["f1"].optimism > 0.01
    assert chosen["f1"].low < fixed["f1"].low
    assert chosen["auroc"].interval == fixed["auroc"].interval
    assert chosen["f1"].interval == tm.evaluate(tally, threshold=policy, metrics=["f1"], jobs=1)["f1"].interval
