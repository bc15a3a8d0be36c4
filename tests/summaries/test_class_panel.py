"""Rows of K classes: what they keep, merge and store."""

import itertools

import numpy as np
import pytest

import tallymark as tm

Y = ["a", "b", "c", "a"]
P = np.array([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.5, 0.1, 0.4], [0.2, 0.5, 0.3]])


def panel(**more):
    return tm.class_panel(Y, P, classes=["a", "b", "c"], **more)


def test_it_summarises_to_what_the_rows_give():
    summary = tm.class_scores(Y, P, classes=["a", "b", "c"], weights=[1.0, 2.0, 1.0, 0.5])
    found = panel(weights=[1.0, 2.0, 1.0, 0.5]).class_scores
    assert found.moments.mean == pytest.approx(summary.moments.mean)
    assert (found.confusion.matrix == summary.confusion.matrix).all()


def test_merging_is_the_rows_of_both():
    whole, parts = panel(), panel().keep(np.arange(2)).merge(panel().keep(np.arange(2, 4)))
    assert (whole.scores == parts.scores).all()
    assert (whole.codes == parts.codes).all()
    with pytest.raises(tm.InputError, match="Cannot merge"):
        panel().merge(tm.class_panel(scores=P, classes=["a", "b", "c"]))


@pytest.mark.parametrize("masses", [{}, {"weights": [1.0, 2.0, 0.5, 1.0]}, {"counts": [1, 2, 3, 0]}])
def test_a_stored_panel_is_the_same(tmp_path, masses):
    panel(**masses).save(tmp_path / "p.tally")
    found = tm.load(tmp_path / "p.tally")
    assert isinstance(found, tm.ClassPanel)
    assert found.labels == ("a", "b", "c")
    assert (found.scores == P).all()
    assert (found.mass == panel(**masses).mass).all()


def test_rows_cannot_be_changed():
    scores = P.copy()
    made = tm.class_panel(Y, scores, classes=["a", "b", "c"])
    scores[:] = 0.0
    assert (made.scores == P).all()
    with pytest.raises(ValueError, match="read-only"):
        made.scores[0, 0] = 1.0


def test_a_dataframe_names_its_columns():
    import pandas as pd

    frame = pd.DataFrame({"y": Y, "pa": P[:, 0], "pb": P[:, 1], "pc": P[:, 2], "w": [1.0, 2.0, 1.0, 1.0]})
    columns = {"a": "pa", "b": "pb", "c": "pc"}
    found = tm.class_panel(frame, score=columns, label="y", weight="w")
    assert (found.codes == panel().codes).all()
    assert found.mass.tolist() == [1.0, 2.0, 1.0, 1.0]
    assert not tm.class_panel(frame, score=columns).labelled


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((Y,), "No scores"),
        ((None, P), "classes="),
        ((["a"] * 4, P), "one class only"),
        ((Y, P[:, :2]), "2 columns for 3 classes"),
        ((Y[:3], P), "4"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(tm.InputError, match=message):
        tm.class_panel(*arguments)


def test_rows_without_labels_have_no_summary():
    with pytest.raises(tm.InputError, match="no labels"):
        tm.class_panel(scores=P, classes=["a", "b", "c"]).class_scores


def test_means_are_by_mass():
    found = tm.class_panel([0, 1], [[0.9, 0.1], [0.1, 0.9]], classes=[0, 1], counts=[9, 1])
    assert [row["mean score"] for row in found.rows()] == pytest.approx([0.82, 0.18])
    assert [row["n"] for row in found.rows()] == [9, 1]


@pytest.mark.parametrize("masses", [{}, {"counts": np.arange(60) % 4}, {"weights": np.arange(60) % 5 / 3}])
def test_wins_of_classes_are_those_of_their_tallies(masses):
    rng = np.random.default_rng(2)
    panel = tm.class_panel(np.arange(60) % 3, rng.integers(0, 5, (60, 3)) / 4.0, classes=[0, 1, 2], **masses)
    scores = panel.class_scores
    won, lost = scores.wins
    for i, j in itertools.permutations(range(3), 2):
        assert won[i, j] == pytest.approx(scores.one_vs_one(i, j).views.wins, rel=1e-14)
        assert won[i, j] + lost[i, j] == pytest.approx(scores.moments.mass[i] * scores.moments.mass[j], rel=1e-14)
    for i in range(3):
        rest = tm.tally(panel.codes == i, panel.scores[:, i], **masses)
        assert scores.one_vs_rest(i).negative.scores.tolist() == rest.negative.scores.tolist()
        assert scores.one_vs_rest(i).negative.mass == pytest.approx(rest.negative.mass)
