import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from samples import labelled_scores, normal_sample, with_counts
from tallymark.summaries.tally import matrix_at


def naive_counts(y, s, threshold):
    called = s >= threshold
    return tuple(int(np.sum(a)) for a in (called & (y == 1), called & (y == 0), ~called & (y == 1), ~called & (y == 0)))


@given(labelled_scores(), st.floats(-5, 5))
def test_at_counts_rows_at_or_above_the_threshold(sample, threshold):
    y, s = sample
    for cut in (threshold, float(s[0]), np.inf, -np.inf):
        c = tm.tally(y, s).at(cut)
        assert (c.tp, c.fp, c.fn, c.tn) == naive_counts(y, s, cut)


@given(labelled_scores())
def test_cutoffs_are_the_counts_at_every_distinct_score(sample):
    y, s = sample
    cut = tm.tally(y, s).cutoffs
    assert cut.thresholds.tolist() == [np.inf, *sorted(set(s.tolist()), reverse=True)]
    for threshold, tp, fp in zip(*cut, strict=True):
        assert (tp, fp) == naive_counts(y, s, threshold)[:2]


@given(labelled_scores())
def test_steps_are_the_counts_at_every_distinct_positive_score(sample):
    y, s = sample
    steps = tm.tally(y, s).views.steps()
    assert steps.thresholds.tolist() == sorted(set(s[y == 1].tolist()), reverse=True)
    for threshold, tp, before, fp, above in zip(*steps, strict=True):
        assert (tp, fp) == naive_counts(y, s, threshold)[:2]
        assert before == np.sum(s[y == 1] > threshold)
        assert above == np.sum(s[y == 0] > threshold)


def test_step_blocks_are_the_steps_in_pieces():
    for decimals in (None, 3):
        t = tm.tally(*normal_sample(400_000, 0.5, decimals=decimals))
        whole = t.views.steps()
        pieces = list(t.views.step_blocks())
        assert decimals is not None or len(pieces) > 1
        for column, joined in zip(whole, map(np.concatenate, zip(*pieces, strict=True)), strict=True):
            np.testing.assert_array_equal(column, joined)


def test_large_samples_take_the_threaded_path_to_the_same_answer():
    y, s = normal_sample(2_500_000, 0.5, decimals=5)
    t = tm.tally(y, s)
    positive, negative = np.sort(s[y == 1]), np.sort(s[y == 0])
    np.testing.assert_array_equal(t.positive.scores, positive)
    below, at_or_below = t.views.placements
    np.testing.assert_array_equal(below, np.searchsorted(negative, positive, "left"))
    np.testing.assert_array_equal(at_or_below, np.searchsorted(negative, positive, "right"))


@given(with_counts(labelled_scores()))
def test_counts_are_repeated_rows(sample):
    y, s, c = sample
    counted, repeated = tm.tally(y, s, counts=c), tm.tally(np.repeat(y, c), np.repeat(s, c))
    assert counted.n == repeated.n == c.sum()
    assert isinstance(counted.n, int)
    for a, b in zip(counted.cutoffs, repeated.cutoffs, strict=True):
        np.testing.assert_array_equal(a, b)
    assert counted.n_rows == repeated.n_rows


@given(labelled_scores(), st.integers(0, 59), st.sampled_from(["unit", "counts", "weights"]))
def test_merging_equals_one_pass(sample, cut, kind):
    y, s = sample
    cut %= len(y)
    mass = {"unit": {}, "counts": {"counts": np.arange(len(y)) + 1}, "weights": {"weights": np.arange(len(y)) / 4 + 1}}

    def part(rows):
        from tallymark.sources.constructors import tally_of_arrays

        return tally_of_arrays(y[rows], s[rows], one_class=True, **{k: v[rows] for k, v in mass[kind].items()})

    if cut == 0:
        return
    merged, whole = part(slice(cut)).merge(part(slice(cut, None))), part(slice(None))
    for a, b in zip(merged.runs, whole.runs, strict=True):
        assert a.columns().keys() == b.columns().keys()
        for name, column in a.columns().items():
            np.testing.assert_allclose(column, b.columns()[name], rtol=1e-12)
        assert a.n_rows == b.n_rows


def test_chunks_that_lack_a_third_class_still_merge():
    a = tm.tally(["a", "b", "c"], [1, 2, 3.0], pos_label="a")
    b = tm.tally(["a", "b"], [4, 5.0], pos_label="a")
    assert a.merge(b).labels == ("not a", "a")
    assert a.merge(b).n == 5


def test_merging_refuses_what_does_not_belong_together():
    t = tm.tally([0, 1], [0.1, 0.2])
    with pytest.raises(tm.InputError, match="weighted and unweighted"):
        t.merge(tm.tally([0, 1], [0.1, 0.2], weights=[1, 2]))
    with pytest.raises(tm.InputError, match="labels"):
        t.merge(tm.tally(["a", "b"], [0.1, 0.2], pos_label="b"))
    with pytest.raises(tm.InputError, match="labels"):
        t.merge(tm.tally(scores=[0.1, 0.2]))
    with pytest.raises(tm.InputError, match="different prevalences"):
        t.merge(t.at_prevalence(0.1))


def test_weights_keep_squares_and_rows():
    t = tm.tally([1, 1, 0, 0], [0.5, 0.5, 0.2, 0.9], weights=[2, 3, 0.5, 0])
    assert t.positive.weights.tolist() == [5.0]
    assert t.positive.squares.tolist() == [13.0]
    assert t.positive.rows.tolist() == [2]
    assert t.negative.scores.tolist() == [0.2]  # a row that weighs nothing is not there
    c = t.at(0.5)
    assert (c.tp, c.squares[1, 1], c.rows_per_cell[1, 1]) == (5.0, 13.0, 2)


def test_a_threshold_is_rounded_to_the_scores_dtype():
    s = np.array([0.7, 0.2], dtype=np.float32)
    t = tm.tally([1, 0], s)
    assert float(s[0]) < 0.7  # float32's 0.7 lies below the double
    assert t.at(0.7).tp == 1
    assert tm.tally([1, 0], s.astype(float)).at(0.7).tp == 0


def test_minus_zero_is_zero():
    t = tm.tally([1, 0], [-0.0, 0.0])
    assert not np.signbit(t.positive.scores[0])
    assert tm.metrics.auroc(t) == 0.5


def test_a_tally_cannot_be_changed():
    t = tm.tally([0, 1, 0], [0.1, 0.2, 0.3])
    with pytest.raises(AttributeError):
        t.prior = 0.5
    for array in (t.positive.scores, t.cutoffs.tp, t.cutoffs.thresholds):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_prevalence_is_a_lens():
    t = tm.tally([0, 0, 0, 1], [0.1, 0.4, 0.2, 0.3])
    seen = t.at_prevalence(0.5)
    assert (seen.positives, seen.n, seen.prevalence) == (1, 4, 0.5)
    c = seen.at(0.3)
    assert (c.tp, c.fp) == (1, 1)
    assert c.cells.tp + c.cells.fn == pytest.approx(2.0)
    assert seen.at_prevalence(None).prevalence == 0.25
    for bad in (0, 1, -0.1, "0.5", np.nan):
        with pytest.raises(tm.InputError, match="prevalence is"):
            t.at_prevalence(bad)


def test_unlabelled_tallies_say_what_they_lack():
    u = tm.tally(scores=[0.1, 0.5])
    assert (u.n, u.labelled) == (2, False)
    with pytest.raises(tm.InputError, match="no labels"):
        u.at(0.5)
    with pytest.raises(tm.InputError, match="no labels"):
        tm.metrics.auroc(u)
    with pytest.raises(tm.InputError, match="evaluate needs labels"):
        tm.evaluate(u)


@pytest.mark.parametrize("bad", [np.nan, True, None, [0.5], "nan", 10**400])
def test_bad_thresholds(bad):
    with pytest.raises(tm.InputError, match="threshold is"):
        tm.tally([0, 1], [0.1, 0.2]).at(bad)


def test_repr_and_frame():
    t = tm.tally(["<b>", "x", "x"], [0.1, 0.2, 0.4], pos_label="<b>")
    assert repr(t).splitlines()[0] == "Tally of 3 rows"
    assert "&lt;b&gt;" in t._repr_html_()
    assert "<b>" not in t._repr_html_()
    assert t.to_frame()["n"].tolist() == [2, 1]


def test_a_percentage_as_threshold_of_probabilities_is_noticed():
    tally = tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35])
    for threshold in (50, "50", 1.5):
        with pytest.warns(tm.GuardWarning, match="TM122.*0.5 for 50 %"):
            tally.at(threshold)
    assert [note.code for note in tm.evaluate(tally, threshold=50).warnings if note.code == "TM122"]
    for fine in (0.5, 1.0, np.inf, "youden"):
        assert matrix_at(tally, fine)[1] == ()
    assert matrix_at(tm.tally([0, 1, 0, 1], [1.0, 8.0, 4.0, 3.5]), 50)[1] == ()
