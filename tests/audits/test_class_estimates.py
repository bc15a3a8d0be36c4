"""Audits of K classes against R's survey package, published tables, enumeration and invariances."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

import tallymark as tm
from tallymark.audits.class_sample import ClassSample

OLOFSSON = [[66, 0, 5, 4], [0, 55, 8, 12], [1, 0, 153, 11], [2, 1, 9, 313]]
PIXELS = [200_000, 150_000, 3_200_000, 6_450_000]


def checked_rows():
    """600 made-up rows in three strata, a third of them checked."""
    i = np.arange(600)
    stratum = np.where(i < 300, 0, np.where(i < 500, 1, 2))
    truth = (i * 7 + i // 11) % 3
    predicted = np.where((i * 13) % 10 < 7, truth, (truth + 1 + i % 2) % 3)
    kept = (i % 4 == 1) | ((stratum == 2) & (i % 2 == 0))
    return pd.DataFrame({"i": i, "h": stratum, "y": truth, "c": predicted})[kept]


# survey 4.1: svydesign(strata, fpc), svytotal and svyratio.
SURVEY = {
    0: (1609.333333, 180.2895392, 0.6203301477, 0.06979103725, 0.5915492958, 0.06970188358, 0.6055979644, 0.0580460838),
    1: (1584.0, 179.4234561, 0.679638009, 0.06861731275, 0.6321548822, 0.06843205669, 0.6550370693, 0.0562157277),
    2: (
        1206.666667,
        166.1450008,
        0.5316091954,
        0.07587541435,
        0.6132596685,
        0.07898690855,
        0.5695228322,
        0.06535892375,
    ),
}


def test_strata_that_are_not_the_predicted_classes_are_those_of_survey():
    audit = tm.audits.estimate(
        checked_rows(), label="y", predicted="c", stratum="h", size={0: 3_000, 1: 1_000, 2: 400}, id="i"
    )
    for label, (count, count_se, *rates) in SURVEY.items():
        assert audit.counts[label].value == pytest.approx(count, abs=1e-6)
        assert audit.counts[label].standard_error == pytest.approx(count_se, abs=1e-6)
        assert audit.prevalences[label].standard_error == pytest.approx(count_se / 4_400, abs=1e-9)
        for metric, (value, error) in zip(
            ("precision", "recall", "f1"), zip(rates[::2], rates[1::2], strict=True), strict=True
        ):
            assert getattr(audit, metric)[label].value == pytest.approx(value, abs=1e-9)
            assert getattr(audit, metric)[label].standard_error == pytest.approx(error, abs=1e-9)
    assert audit.accuracy.value == pytest.approx(0.6121212121, abs=1e-9)
    assert audit.accuracy.standard_error == pytest.approx(0.04157045214, abs=1e-9)
    assert audit.matrix.values.sum() == pytest.approx(4_400)


def test_predictions_of_all_rows_post_stratify_as_in_survey():
    # survey 4.1: postStratify(simple random sample, ~pred, c(2000, 1500, 900)).
    rows = checked_rows()
    others = np.repeat([0, 1, 2], [2_000, 1_500, 900] - np.bincount(rows.c))
    frame = pd.concat([rows[["y", "c"]].astype(float), pd.DataFrame({"y": np.nan, "c": others.astype(float)})])
    audit = tm.audits.estimate(frame, label="y", predicted="c")
    wanted = {
        0: (1719.697958, 129.7154773, 0.7591772435, 0.03408539748),
        1: (1707.612212, 136.568698, 0.6162047791, 0.04348570731),
        2: (972.6898295, 105.1931118, 0.5460605476, 0.05645746424),
    }
    for label, (count, count_se, recall, recall_se) in wanted.items():
        assert audit.counts[label].value == pytest.approx(count, abs=1e-6)
        assert audit.counts[label].standard_error == pytest.approx(count_se, abs=1e-6)
        assert audit.recall[label].value == pytest.approx(recall, abs=1e-9)
        assert audit.recall[label].standard_error == pytest.approx(recall_se, abs=1e-9)


def test_clusters_have_the_standard_errors_of_survey():
    # survey 4.1: svymean over svydesign(ids = ~cluster) without a finite population.
    rows = checked_rows()
    n = len(rows)
    sample = ClassSample(
        classes=(0, 1, 2),
        truth=rows.y.to_numpy(),
        predicted=None,
        cell=np.zeros(n, np.int64),
        sizes=np.array([float(n)]),
        names=("",),
        stratum=np.zeros(n, np.int64),
        unit=rows.i.to_numpy() // 10,
        worth=np.ones(n),
        mass=np.ones(n),
        unchecked=np.ones(n),
    )
    for code, error in enumerate((0.02189744006, 0.02377008517, 0.02428969754)):
        assert sample.standard_error(sample.truth == code) / n == pytest.approx(error, abs=1e-9)


def test_a_published_map():
    """Olofsson et al. (2014), table 8; half-widths as the paper has them, 1.96 standard errors."""
    audit = tm.audits.from_matrix(OLOFSSON, PIXELS, unit=0.09)
    z = 1.959963985
    assert audit.accuracy.value == pytest.approx(0.946512, abs=5e-7)
    assert z * audit.accuracy.standard_error == pytest.approx(0.018483, abs=5e-7)
    expected = {
        "counts": ((21_157.76, 6_157.52), (11_686.15, 3_755.76), (285_769.93, 15_509.55), (581_386.15, 16_281.36)),
        "precision": ((0.88, 0.07404), (0.733333, 0.100755), (0.927273, 0.039745), (0.963077, 0.020533)),
        "recall": ((0.748661, 0.213306), (0.847156, 0.254404), (0.934509, 0.034324), (0.961609, 0.018361)),
    }
    for name, values in expected.items():
        for label, (value, half) in zip(audit.classes, values, strict=True):
            one = getattr(audit, name)[label]
            digits = 5e-3 if name == "counts" else 5e-7
            assert one.value == pytest.approx(value, abs=digits), (name, label)
            assert z * one.standard_error == pytest.approx(half, abs=3 * digits), (name, label)
            assert one.low < one.value < one.high
    assert audit.n == pytest.approx(900_000)


def test_everything_found_was_checked_and_a_sample_of_the_rest():
    """Count, recall and elusion agree: each limit of one is that of the others."""
    audit = tm.audits.from_matrix(
        {"relevant": {"relevant": 8_000}, "other": {"relevant": 5, "other": 1_529}}, [8_000, 92_000]
    )
    count, recall = audit.counts["relevant"], audit.recall["relevant"]
    assert recall.value == pytest.approx(0.9639, abs=5e-5)
    assert recall.low == pytest.approx(8_000 / count.high, abs=1e-9)
    assert recall.high == pytest.approx(8_000 / count.low, abs=1e-9)
    # Inside the exact limits (Clopper-Pearson of the elusion rate).
    assert 0.9197 <= recall.low <= recall.high <= 0.9880
    assert audit.precision["relevant"].low == 1.0


@pytest.mark.slow
def test_coverage_by_enumeration_where_all_found_were_checked():
    """0 to 600 missed of 92 000, 1534 of them checked: coverage of the count over all samples."""
    limits = {}
    for seen in range(35):
        audit = tm.audits.from_matrix(
            {"yes": {"yes": 8_000, "no": 0}, "no": {"yes": seen, "no": 1_534 - seen}}, [8_000, 92_000], finite=True
        )
        limits[seen] = audit.counts["yes"].low, audit.counts["yes"].high
    for missed in range(0, 601, 20):
        chances = hypergeom.pmf(np.arange(35), 92_000, missed, 1_534)
        covered = sum(
            p for p, (low, high) in zip(chances, limits.values(), strict=True) if low <= 8_000 + missed <= high
        )
        assert covered >= 0.93, missed


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False])
def test_limits_hold_where_a_class_is_rare_and_strata_are_no_predictions(known):
    rng = np.random.default_rng(3)
    size = np.array([6_000, 2_000])
    stratum = np.repeat([0, 1], size)
    truth = rng.choice(3, 8_000, p=[0.7, 0.27, 0.03])
    predicted = np.where(rng.random(8_000) < 0.85, truth, rng.integers(3, size=8_000))
    population = pd.DataFrame({"h": stratum, "y": truth, "c": predicted})
    true_count, hit = np.bincount(truth), np.bincount(truth[truth == predicted])
    held, repeats = np.zeros((3, 3)), 120
    for _ in range(repeats):
        kept = np.concatenate([rng.choice(np.flatnonzero(stratum == h), 60, replace=False) for h in (0, 1)])
        if known:
            label = np.full(8_000, np.nan)
            label[kept] = truth[kept]
            audit = tm.audits.estimate(population.assign(y=label), label="y", predicted="c", stratum="h")
        else:
            options = {"stratum": "h", "size": {0: 6_000, 1: 2_000}}
            audit = tm.audits.estimate(population.iloc[kept], label="y", predicted="c", **options)
        for k in range(3):
            values = (true_count[k], hit[k] / (predicted == k).sum(), hit[k] / true_count[k])
            for place, (one, value) in enumerate(
                zip((audit.counts[k], audit.precision[k], audit.recall[k]), values, strict=True)
            ):
                held[place, k] += one.reason is not None or one.low <= value <= one.high
    assert (held / repeats > 0.93 - 3 * math.sqrt(0.05 * 0.95 / repeats)).all(), held / repeats


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 5), st.permutations(range(5)))
def test_names_and_order_of_classes_do_not_matter(seed, classes, order):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, 9, (classes, classes)) + 6 * np.eye(classes, dtype=int)
    sizes = rng.integers(500, 50_000, classes)
    order = [place for place in order if place < classes]
    one = tm.audits.from_matrix(matrix, sizes, classes=list("abcde"[:classes]))
    other = tm.audits.from_matrix(
        matrix[np.ix_(order, order)], sizes[order], classes=["abcde"[place] for place in order]
    )
    assert one.accuracy.value == pytest.approx(other.accuracy.value)
    for label in one.classes:
        for name in ("counts", "precision", "recall", "f1"):
            first, second = getattr(one, name)[label], getattr(other, name)[label]
            assert first.value == pytest.approx(second.value, nan_ok=True)
            assert first.standard_error == pytest.approx(second.standard_error, nan_ok=True)
            if first.low is not None:
                width = max(first.high - first.low, 1e-9)
                # The order of the classes changes the order of the random numbers, and no more.
                assert abs(first.low - second.low) < 0.15 * width
                assert abs(first.high - second.high) < 0.15 * width
    assert sum(count.value for count in one.counts.values()) == pytest.approx(sizes.sum())
    assert sum(share.value for share in one.prevalences.values()) == pytest.approx(1.0)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(1e-3, 1e3))
def test_the_unit_scales_counts_and_nothing_else(seed, unit):
    rng = np.random.default_rng(seed)
    matrix, sizes = rng.integers(0, 30, (3, 3)) + 2, rng.integers(1_000, 9_000, 3)
    one, scaled = tm.audits.from_matrix(matrix, sizes), tm.audits.from_matrix(matrix, sizes, unit=unit)
    for label in one.classes:
        assert scaled.counts[label].high == pytest.approx(unit * one.counts[label].high)
        assert scaled.recall[label].low == pytest.approx(one.recall[label].low)
        assert scaled.precision[label].standard_error == pytest.approx(one.precision[label].standard_error)


def test_limits_stay_within_what_is_known():
    rng = np.random.default_rng(0)
    for _ in range(40):
        matrix = rng.integers(0, 6, (3, 3))
        matrix[np.arange(3), np.arange(3)] += 1
        sizes = matrix.sum(axis=1) + rng.integers(0, 9, 3)
        audit = tm.audits.from_matrix(matrix, sizes, finite=True)
        for k, label in enumerate(audit.classes):
            count = audit.counts[label]
            assert matrix[:, k].sum() - 1e-9 <= count.low <= count.value <= count.high
            assert count.high <= sizes.sum() - (matrix.sum() - matrix[:, k].sum()) + 1e-9
            for name in ("precision", "recall", "f1"):
                one = getattr(audit, name)[label]
                assert one.reason is not None or 0.0 <= one.low <= one.value <= one.high <= 1.0


def test_a_census_is_known():
    rows = checked_rows()
    audit = tm.audits.estimate(rows, label="y", predicted="c")
    matrix = tm.confusion(rows.y, rows.c)
    assert audit.accuracy.low == audit.accuracy.high == pytest.approx(tm.metrics.accuracy(matrix))
    for label in (0, 1, 2):
        assert audit.counts[label].low == audit.counts[label].high == (rows.y == label).sum()
        assert audit.recall[label].standard_error == 0.0


def test_two_classes_are_the_same_from_rows_and_from_a_matrix():
    predicted = np.repeat(["yes", "no"], [300, 5_000])
    label = np.full(5_300, None, dtype=object)
    label[:50] = ["yes"] * 40 + ["no"] * 10
    label[300:400] = ["yes"] * 3 + ["no"] * 97
    frame = pd.DataFrame({"y": label, "c": predicted})
    rows = tm.audits.estimate(frame, label="y", predicted="c", stratum="c", pos_label="yes")
    table = tm.audits.from_matrix(
        {"yes": {"yes": 40, "no": 10}, "no": {"yes": 3, "no": 97}}, {"yes": 300, "no": 5_000}, finite=True
    )
    assert rows["recall"].value == rows.recall["yes"].value
    for name in ("counts", "precision", "recall", "f1"):
        for label in ("yes", "no"):
            one, other = getattr(rows, name)[label], getattr(table, name)[label]
            assert one.value == pytest.approx(other.value)
            assert one.standard_error == pytest.approx(other.standard_error, rel=1e-4)
            assert one.low == pytest.approx(other.low, rel=0.03)
            assert one.high == pytest.approx(other.high, rel=0.03)


def test_two_classes_have_what_several_have():
    """Explanations, what to check next, average recall, groups and units: none of it was there with labels 0 and 1."""
    sizes, checked, found = [67_584, 2_000, 416], [200, 150, 150], [0, 30, 75]
    cells = zip(sizes, checked, found, strict=True)
    label = [np.r_[np.ones(k), np.zeros(n - k), np.full(rows - n, np.nan)] for rows, n, k in cells]
    frame = pd.DataFrame({"y": np.concatenate(label), "s": np.repeat(["low", "mid", "high"], sizes), "ha": 2.5})
    frame["c"] = np.where(frame.s == "high", 1, 0)
    frame["g"] = np.arange(len(frame)) % 2
    audit = tm.audits.estimate(frame, label="y", predicted="c", stratum="s", by="g", value="ha")
    assert "none of the 200 checked rows of s low is 1, and they stand for 168\u202f960" in audit.explanations[0]
    assert audit.explanations[0] in audit.heading()
    assert [line["of"] for line in audit.uncertainty] == ["s low", "s mid", "s high"]
    assert audit.average_recall.value == pytest.approx((audit.recall[0].value + audit.recall[1].value) / 2)
    assert audit.average_recall.low < audit.average_recall.value < audit.average_recall.high
    assert audit.matrix.unit == audit.unit == audit.groups[0,].matrix.unit == "ha"
    shares = {key: one.prevalences[1].value for key, one in audit.groups.items()}
    assert shares == {key: one.prevalence for key, one in audit.by_group.entries.items()}
    assert audit.to_dict()["classes"]["1"]["count"]["value"] == pytest.approx(audit.counts[1].value)
    none = tm.audits.estimate(frame.assign(y=frame.y.where(frame.y != 1)), label="y", predicted="c", stratum="c")
    assert none.average_recall.reason == "none of the 395 checked rows is positive"


def test_the_matrix_has_the_unit_of_the_value():
    rows = pd.DataFrame({"y": ["a", "b", "c", None] * 30, "c": ["a", "b", "b", "a"] * 30, "ha": 2.0})
    audit = tm.audits.estimate(rows, label="y", predicted="c", value="ha")
    assert audit.matrix.heading() == "Estimated ha by predicted and true class"


def test_count_and_recall_of_two_classes_agree():
    """The count is that of the rows called positive and of the others together, so that hits / count is the recall."""
    rng = np.random.default_rng(8)
    p = rng.beta(0.4, 4, 5_000)
    label = np.where(np.arange(5_000) < 300, rng.random(5_000) < p, np.nan)
    audit = tm.audits.estimate(pd.DataFrame({"p": p, "y": label}), label="y", score="p", threshold=0.3)
    hits = audit["precision"].value * (p >= 0.3).sum()
    assert hits / audit.counts[1].value == pytest.approx(audit["recall"].value)
    assert audit.matrix.values.sum() == pytest.approx(5_000)
    assert audit.counts[0].value + audit.counts[1].value == pytest.approx(5_000)


def test_a_class_that_was_never_found_has_an_upper_limit_and_a_reason():
    audit = tm.audits.from_matrix({"a": {"a": 100, "b": 0}, "b": {"a": 0, "b": 0, "c": 40}}, {"a": 5_000, "b": 800})
    assert audit.counts["b"].value == 0.0
    assert audit.counts["b"].high > 50
    assert audit.recall["b"].reason == "none of the 140 checked rows is b"
    assert audit.precision["c"].reason == "none of the 140 checked rows is predicted c"
    assert any(sentence.startswith("b: up to") and "5000" in sentence for sentence in audit.explanations)
    assert math.isnan(audit.average_recall.value)


def test_groups_and_values():
    rng = np.random.default_rng(2)
    truth = rng.choice(["x", "y", "z"], 3_000)
    checked = np.where(np.arange(3_000) % 5 == 0, truth, None)
    frame = pd.DataFrame({"y": checked, "c": truth, "g": rng.choice(["n", "s"], 3_000), "v": rng.lognormal(size=3_000)})
    audit = tm.audits.estimate(frame, label="y", predicted="c", by="g", value="v")
    assert audit.n == pytest.approx(frame.v.sum())
    assert {key for key, _ in audit.groups.items()} == {("n",), ("s",)}
    assert audit.groups["n",].n == pytest.approx(frame.v[frame.g == "n"].sum())
    assert {"g", "class", "measure"} <= set(audit.rows()[0])
    assert audit.unit == "v"
    assert audit.accuracy.value == pytest.approx(1.0)


def test_clusters_are_drawn_whole():
    rng = np.random.default_rng(4)
    cluster = np.repeat(np.arange(200), 10)
    truth = (rng.random(200) < 0.3)[cluster] ^ (rng.random(2_000) < 0.1)
    label = np.where(cluster < 30, truth, np.nan)
    frame = pd.DataFrame({"y": label, "h": cluster})
    plain = tm.audits.estimate(frame, label="y")
    clustered = tm.audits.estimate(frame, label="y", cluster="h")
    assert clustered.counts[1].value == pytest.approx(plain.counts[1].value)
    assert clustered.counts[1].standard_error > 2 * plain.counts[1].standard_error
    assert clustered.counts[1].high - clustered.counts[1].low > 2 * (plain.counts[1].high - plain.counts[1].low)


def test_clusters_that_were_checked_in_part_are_refused():
    frame = pd.DataFrame({"y": [1.0, 0.0, np.nan, np.nan, 1.0], "h": [0, 0, 1, 2, 2]})
    with pytest.raises(tm.InputError, match="of h 2 1 of 2 rows were checked"):
        tm.audits.estimate(frame, label="y", cluster="h")


@pytest.mark.parametrize(
    ("matrix", "sizes", "options", "message"),
    [
        ([[1, -1], [2, 3]], [5, 5], {}, "holds -1"),
        ([[1, 0.5], [2, 3]], [5, 5], {}, "holds 0.5"),
        ([[1, 2], [2, 3]], [5], {}, "sizes has 1 sizes"),
        ([[1, 2], [2, 3]], [5, 0], {}, "expected more than 0"),
        ([[1, 2], [0, 0]], [5, 5], {}, "No row of 2 was checked"),
        ([[1, 2], [2, 3]], {1: 5, 3: 5}, {}, "no size of '2'"),
        ([[1, 2], [2, 3]], [5, 5], {"classes": ["a"]}, "classes has 1 names"),
        ([[1, 2], [2, 3]], [2, 50], {"finite": True}, "a size of 2"),
        ([[1, 2], [2, 3]], [5, 5], {"unit": 0}, "unit is 0"),
        ([1, 2], [5, 5], {}, "shape"),
        ([["a", 2], [2, 3]], [5, 5], {}, "numbers of checked rows"),
        ({"a": {"a": 1}, "b": {"b": 1}}, {"a": 2, "b": 3, "c": 4}, {}, "which is no row of the matrix"),
    ],
)
def test_bad_matrices_are_refused(matrix, sizes, options, message):
    with pytest.raises(tm.InputError, match=message):
        tm.audits.from_matrix(matrix, sizes, **options)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda f: f, {"stratum": "h", "size": {0: 3_000, 1: 1_000}}, "no size of the stratum"),
        (lambda f: f, {"stratum": "h", "size": {0: 3_000, 1: 1_000, 2: 400, 3: 9}}, "has no checked row"),
        (lambda f: f, {"stratum": "h", "size": {0: 3, 1: 1_000, 2: 400}}, "a size of 3"),
        (lambda f: f, {"size": {0: 3_000}}, "stratum="),
        (lambda f: f, {"stratum": "h", "size": 4_400}, "size= is 4400, expected the number"),
        (lambda f: f, {"stratum": "h", "size": [3_000, 1_000, 400]}, "expected the number of rows of each"),
        (lambda f: f, {"stratum": "h", "size": {0: "many", 1: 1_000, 2: 400}}, "stratum 0 is 'many'"),
        (lambda f: f, {"stratum": "h", "size": {0: np.inf, 1: 1_000, 2: 400}}, "stratum 0 is inf"),
        (lambda f: f.assign(y=f.y.where(f.h == 0), g=f.h > 0), {"cluster": "g"}, "^A single cluster was checked"),
        (lambda f: f.assign(y=f.y.where(f.h > 0)), {"stratum": "h"}, "'h 0' has no checked row"),
        (lambda f: f.assign(i=1), {"id": "i"}, "more than once"),
        (lambda f: f, {"threshold": 0.5, "score": "i"}, "score= is for audits with a positive class"),
        (lambda f: f.assign(c="other"), {}, "has none of them"),
    ],
)
def test_bad_audits_of_classes_are_refused(change, options, message):
    options = {"predicted": "c"} | options if "threshold" not in options else options
    with pytest.raises(tm.InputError, match=message):
        tm.audits.estimate(change(checked_rows()), label="y", **options)


def test_strata_alone_have_counts_and_no_accuracy():
    audit = tm.audits.from_matrix([[10, 5, 1], [2, 20, 3]], [400, 900])
    assert audit.accuracy is None
    assert not audit.precision
    assert audit.counts[2].value == pytest.approx(400 * 5 / 16 + 900 * 20 / 25)


def test_one_sample_has_the_same_limits_every_time():
    first, second = (tm.audits.from_matrix(OLOFSSON, PIXELS) for _ in range(2))
    assert first.to_dict() == second.to_dict()


def test_plans_inclusion_probabilities_of_classes():
    """Rows of a plan have a few different probabilities and no column of strata."""
    frame = pd.DataFrame({"y": ["x", "y", "z", "x"] * 10, "p": [0.05] * 20 + [0.06] * 20})
    result = tm.audits.estimate(frame, label="y", inclusion="p")
    assert result.n == pytest.approx(20 / 0.05 + 20 / 0.06)
    assert result.counts["x"].value == pytest.approx(result.n / 2)


def test_a_class_that_is_predicted_but_not_among_the_checked_rows_is_not_known():
    rng = np.random.default_rng(0)
    predicted = np.where(np.arange(1_000) < 40, "y", "x")
    truth = np.where(rng.random(1_000) < np.where(predicted == "y", 0.9, 0.05), "y", "x")
    checked = np.where(np.isin(np.arange(1_000), rng.permutation(np.arange(40, 1_000))[:50]), truth, None)
    frame = pd.DataFrame({"y": checked, "map": predicted})
    result = tm.audits.estimate(frame, label="y", predicted="map")
    for name in ("recall", "f1"):
        assert "40 of all rows" in getattr(result, name)["y"].reason
    assert result.average_recall.reason
    recall = result.recall["x"]
    assert recall.low < recall.value == 1.0
    nobody = tm.audits.estimate(frame.assign(map="x"), label="y", predicted="map")
    assert nobody.recall["y"].interval == (0.0, 0.0)


@pytest.mark.parametrize("weighed", [False, True])
def test_counts_of_groups_of_a_list_alone_have_the_error_of_their_size(weighed):
    rng = np.random.default_rng(1)
    n = 400
    frame = pd.DataFrame({"y": rng.choice(["x", "y", "z"], n), "g": rng.choice(["a", "b"], n, p=[0.2, 0.8])})
    frame["h"] = np.where(np.arange(n) < 150, "s", "t")
    frame["v"] = rng.lognormal(size=n) if weighed else 1.0
    size = {"s": 3_000, "t": 10_000}
    result = tm.audits.estimate(frame, label="y", stratum="h", size=size, by="g", value="v")
    one = result.groups["a",].counts["y"]
    # survey's domain total: the variance of z = v of the rows that are in the domain and of the class.
    variance, total = 0.0, 0.0
    for name, rows in frame.groupby("h"):
        z = np.where((rows.g == "a") & (rows.y == "y"), rows.v, 0.0)
        m, big = len(rows), size[name]
        total += big * z.mean()
        variance += big**2 * (1 - m / big) * z.var(ddof=1) / m
    assert one.value == pytest.approx(total)
    assert one.standard_error == pytest.approx(np.sqrt(variance))
    assert one.low < one.value - 1.5 * one.standard_error


def test_few_clusters_give_weights_that_are_not_negative():
    rng = np.random.default_rng(2)
    cluster = np.repeat(np.arange(40), 10)
    truth = rng.choice(["x", "y", "z"], 400)
    frame = pd.DataFrame({"c": cluster, "y": np.where(cluster < 3, truth, None)})
    result = tm.audits.estimate(frame, label="y", cluster="c")
    for one in result.counts.values():
        assert 0.0 <= one.low < one.value < one.high <= 400.0
    with pytest.raises(tm.InputError, match="single cluster"):
        tm.audits.estimate(frame.assign(y=np.where(cluster < 1, truth, None)), label="y", cluster="c")
    layers = np.where(np.arange(400) % 10 < 5, "s", "t")
    with pytest.raises(tm.InputError, match="several strata"):
        tm.audits.estimate(frame.assign(h=layers), label="y", cluster="c", stratum="h")


@pytest.mark.slow
def test_two_clusters_of_each_stratum_cover():
    rng = np.random.default_rng(3)
    held = np.zeros(3)
    repeats = 200
    for _ in range(repeats):
        cluster = np.repeat(np.arange(300), 10)
        mood = rng.normal(size=300)[cluster] + rng.normal(size=3_000)
        truth = np.array(["x", "y", "z"])[np.digitize(mood, [-0.5, 1.0])]
        stratum = cluster // 30
        drawn = np.concatenate([rng.choice(np.arange(30 * h, 30 * h + 30), 3, replace=False) for h in range(10)])
        frame = pd.DataFrame({"c": cluster, "h": stratum, "y": np.where(np.isin(cluster, drawn), truth, None)})
        result = tm.audits.estimate(frame, label="y", cluster="c", stratum="h")
        held += [one.low <= (truth == label).sum() <= one.high for label, one in result.counts.items()]
    assert (held / repeats > 0.93 - 2.5 * np.sqrt(0.05 * 0.95 / repeats)).all(), held / repeats


def test_sizes_that_cannot_be_numbers_of_rows_are_refused():
    matrix = [[66, 0, 5], [0, 55, 8], [1, 0, 153]]
    with pytest.raises(tm.InputError, match="finite=False"):
        tm.audits.from_matrix(matrix, [70, 2, 3_000])
    areas = tm.audits.from_matrix(matrix, [71, 63, 154], finite=False)
    assert areas.precision[1].low < areas.precision[1].value < areas.precision[1].high
    known = tm.audits.from_matrix(matrix, [71, 63, 3_000])
    assert known.precision[1].low == known.precision[1].high
    assert known.explanations[0].startswith("1, 2: as many rows were checked as there are")
    with pytest.raises(tm.InputError, match="two classes"):
        tm.audits.from_matrix([[5]], [10])
    named = pd.DataFrame(matrix, index=["1", "2", "3"], columns=[1, 2, 3])
    assert tm.audits.from_matrix(named, [700, 630, 3_000]).precision[1].value == pytest.approx(66 / 71)


def test_publication_needs_a_standard_error_and_judges_groups():
    lone = tm.audits.from_matrix([[3, 0], [0, 1]], [100, 100])
    lines = tm.audits.publication(lone, "variation").rows()
    assert {line["decision"] for line in lines} == {"suppressed"}
    assert "no standard error" in lines[0]["reason"]
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"y": rng.integers(2, size=500).astype(float), "g": np.where(np.arange(500) < 480, "a", "b")})
    frame.loc[rng.random(500) < 0.5, "y"] = np.nan
    decided = tm.audits.publication(tm.audits.estimate(frame, label="y", by="g"), "minimum", rows=20).rows()
    by_group = {(line["g"], line["class"]): line["decision"] for line in decided}
    assert by_group["a", "1"] == by_group["(all)", "1"] == "publish"
    assert by_group["b", "1"] == "suppressed"
    with pytest.raises(tm.InputError, match="above 0"):
        tm.audits.publication(lone, "minimum", rows=-4)
    with pytest.raises(tm.InputError, match="expected a number"):
        tm.audits.publication(lone, "minimum", rows="ten")


def test_groups_with_too_few_rows_say_so():
    frame = pd.DataFrame({"y": ["x", "y", "z"] * 20 + ["x"] + [None] * 40, "g": ["a"] * 60 + ["b"] * 41})
    result = tm.audits.estimate(frame, label="y", by="g")
    assert "fewer than two" in result.groups["b",].counts["x"].reason
    assert any(row.get("reason") for row in result.rows() if row["g"] == "b")


def test_checked_rows_alone_are_no_sample_of_anything():
    frame = pd.DataFrame({"y": ["x", "y", "z"] * 20})
    with pytest.warns(tm.GuardWarning, match="TM129.*counted, not estimated"):
        tm.audits.estimate(frame, label="y")
    numbers = pd.DataFrame({"y": [0, 1] * 30, "g": ["a", "b", "b"] * 20, "i": [0.1] * 60})
    with pytest.warns(tm.GuardWarning, match="TM129.*size of each group"):
        tm.audits.estimate(numbers, label="y", inclusion="i", by="g")


def test_growth_from_a_single_row_found_is_not_bounded():
    before = tm.audits.from_matrix([[1, 74], [0, 325]], [2_000, 60_000])
    after = tm.audits.from_matrix([[50, 25], [2, 323]], [1_500, 60_500])
    assert tm.audits.change(before, after).of(1, "growth")["high"] is None


def test_scores_that_most_rows_share_are_a_stratum_of_their_own():
    rng = np.random.default_rng(5)
    score = np.where(rng.random(5_000) < 0.85, 0.0, rng.random(5_000))
    seen = np.where(rng.random(5_000) < 0.02, rng.random(5_000) < score, np.nan)
    plan = tm.audits.plan(pd.DataFrame({"p": score, "y": seen}), score="p", checked="y", width=0.03)
    names = [line["stratum"] for line in plan.strata]
    assert names[0] == "0 to 0"
    assert len(names) > 3
    with pytest.raises(tm.InputError, match="lower least="):
        tm.audits.plan(
            pd.DataFrame({"k": ["a", "b", "c"] * 400}), predicted="k", measure="accuracy", size=100, least=50
        )


def test_strata_are_listed_by_what_they_add_to_the_variance():
    audit = tm.audits.from_matrix([[60, 15], [3, 322]], [1_000, 60_000], classes=["forest", "other"])
    first, second = audit.uncertainty
    assert (first["of"], first["checked"], first["size"]) == ("other", 325, 60_000.0)
    assert first["share_of_variance"] > 0.9
    assert first["share_of_variance"] + second["share_of_variance"] == pytest.approx(1.0)
    variance = [
        size**2 * 2 * (found + 1) * (n - found + 1) / (n + 2) ** 2 / n
        for size, found, n in ((60_000, 3, 325), (1_000, 60, 75))
    ]
    assert first["share_of_variance"] == pytest.approx(variance[0] / sum(variance))
    known = tm.audits.from_matrix([[60, 15], [3, 322]], [75, 60_000], classes=["forest", "other"])
    assert known.uncertainty[1]["share_of_variance"] == 0.0


def _drawn_by_prediction(rng, per_class):
    """Rows of three classes, of which as many of each prediction were checked, without a word of the design."""
    truth = rng.choice(["a", "b", "c"], 20_000, p=[0.9, 0.08, 0.02])
    called = np.where(rng.random(20_000) < 0.9, truth, rng.choice(["a", "b", "c"], 20_000))
    seen = np.zeros(20_000, bool)
    for name, n in per_class.items():
        rows = np.flatnonzero(called == name)
        seen[rng.permutation(rows)[:n]] = True
    return truth, pd.DataFrame({"y": np.where(seen, truth, None), "m": called})


@pytest.mark.parametrize("few", [15, 19, 20, 40])
def test_rows_drawn_by_prediction_are_not_taken_for_a_simple_sample(few):
    rng = np.random.default_rng(0)
    truth, frame = _drawn_by_prediction(rng, {"a": 150, "b": 150, "c": few})
    with pytest.warns(tm.GuardWarning, match="TM128.*of those predicted a"):
        audit = tm.audits.estimate(frame, label="y", predicted="m")
    assert audit.counts["b"].low <= (truth == "b").sum() <= audit.counts["b"].high
    assert audit.counts["b"].high < 4_000
    stated = tm.audits.estimate(frame, label="y", predicted="m", stratum="m")
    assert audit.counts["b"] == stated.counts["b"]


def test_predictions_of_few_checked_rows_are_one_cell():
    rng = np.random.default_rng(0)
    truth = rng.choice(["a", "b", "c", "d"], 20_000, p=[0.6, 0.38, 0.01, 0.01])
    called = np.where(rng.random(20_000) < 0.9, truth, "a")
    frame = pd.DataFrame({"y": np.where(rng.random(20_000) < 0.07, truth, None), "m": called})
    assert frame[frame.y.notna()].m.value_counts()[["c", "d"]].between(5, 19).all()
    audit = tm.audits.estimate(frame, label="y", predicted="m")
    merged = frame.assign(m2=frame.m.replace({"c": "c or d", "d": "c or d"}))
    stratified = tm.audits.estimate(merged, label="y", stratum="m2")
    assert audit.counts["b"].value == pytest.approx(stratified.counts["b"].value)


def test_spellings_are_no_classes():
    frame = pd.DataFrame({"y": ["Pass", "pass", "x", None] * 30, "m": ["Pass", "Pass", "x", "x"] * 30})
    with pytest.raises(tm.InputError, match="'Pass' beside 'pass'"):
        tm.audits.estimate(frame, label="y", predicted="m")
