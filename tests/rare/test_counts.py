"""Counts of rare texts: right under prior shift, covered, seeded, and clear about what cannot be done."""

import numpy as np
import pytest

import tallymark as tm
from tallymark.reporting.of_rare import of_rare

pytestmark = pytest.mark.slow

TOPIC = [f"topic{i}" for i in range(30)]
COMMON = [f"word{i}" for i in range(300)]
WAYS = {
    "balanced": (tm.rare.balanced, {"machines": 2}),
    "bootstrap": (tm.rare.bootstrap, {"machines": 30}),
    "class_weight_sweep": (tm.rare.class_weight_sweep, {"weights": [1, 10, 100], "machines": 3}),
    "ensemble": (tm.rare.ensemble, {"machines": 4, "ensembles": 2}),
}
ways = pytest.mark.parametrize("way", WAYS)


def texts_of(positive, seed=0, topical=0.25, length=30):
    rng = np.random.default_rng(seed)
    return [
        " ".join(rng.choice(TOPIC) if hit and rng.random() < topical else rng.choice(COMMON) for _ in range(length))
        for hit in positive
    ]


@pytest.fixture(scope="module")
def data():
    known = np.arange(500) < 150
    target = np.arange(4_000) % 100 < 2
    return texts_of(known, 1), known, texts_of(target, 2), target


def counted(way, data, **options):
    texts, known, target, truth = data
    function, own = WAYS[way]
    return function(texts, known, target, **(own | {"target_labels": truth} | options))


@pytest.fixture(scope="module")
def results(data):
    return {way: counted(way, data) for way in WAYS}


@ways
def test_the_count_is_right_where_the_class_is_rare(way, results):
    result = results[way]
    assert result.count.count == pytest.approx(80, abs=30)
    assert result.count.count_low <= 80 <= result.count.count_high
    uncalibrated = next(row for row in result.table if row["calibrated"] == "no" and row["by"] == "probabilities")
    # Trained at 30 %, asked at 2 %: probabilities as they come count many times too many.
    assert uncalibrated["estimate"] > 3 * 80


@ways
def test_the_table_says_what_the_metrics_say(way, results, data):
    result, truth = results[way], data[3]
    assert [(row["calibrated"], row["by"]) for row in result.table] == [
        ("no", "labels"), ("no", "probabilities"), ("yes", "labels"), ("yes", "probabilities"),
    ]  # fmt: skip
    told = [result.votes >= 0.5, result.scores, result.calibration.labels(result.scores), result.posteriors]
    for row, values in zip(result.table, map(np.float64, told), strict=True):
        tally = tm.tally(truth, values)
        assert row["P"] == 80
        assert row["TP"] == int((truth & (values >= 0.5)).sum())
        assert row["estimate"] == pytest.approx(values.sum())
        assert row["bias"] == pytest.approx((values.sum() - 80) / 4_000)
        assert row["spcc"] == pytest.approx(tm.metrics.spcc(tally))
        assert row["auroc"] == pytest.approx(tm.metrics.auroc(tally))
        assert row["mcc"] == pytest.approx(tm.metrics.mcc(tally.at(0.5)), nan_ok=True)
        assert row["balanced_accuracy"] == pytest.approx(tm.metrics.balanced_accuracy(tally.at(0.5)))
    last = result.table[3]
    assert last["sd"] == pytest.approx(np.sqrt((result.posteriors * (1 - result.posteriors)).sum()))
    assert last["estimate"] == pytest.approx(result.count.count, rel=1e-6)
    assert result.table[2]["estimate"] == np.ceil(result.count.count - 1e-6)


@ways
def test_labelled_scores_are_a_measure_for_the_targets(way, results):
    # Scores of labelled texts come from machines that had not seen them: the target's fit their mixture.
    assert results[way].fit.p_value > 0.01


@ways
def test_the_truth_has_no_say(way, data, results):
    assert counted(way, data, target_labels=None).scores.tolist() == results[way].scores.tolist()
    assert "P" not in counted(way, data, target_labels=None).table[0]


@ways
def test_seeds_jobs_and_iterables(way, data, results):
    texts, known, target, _ = data
    assert counted(way, data, jobs=2).scores.tolist() == results[way].scores.tolist()
    assert counted(way, data, seed=1).scores.tolist() != results[way].scores.tolist()
    as_iterables = WAYS[way][0](iter(texts), known, iter(target), **WAYS[way][1])
    assert as_iterables.count == results[way].count


def test_one_machine_is_one_logistic_regression(data):
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    from tallymark.inference.resampling.parallel import seeds
    from tallymark.rare.ensembles import bootstrap_draws

    texts, known, target, _ = data
    result = tm.rare.bootstrap(texts, known, target, machines=1, negatives=200)
    ((rows, mass),) = bootstrap_draws(known, 200, seeds(0, 1))
    vectors = TfidfVectorizer(token_pattern=r"\w{3,}", min_df=2).fit(texts)
    model = LogisticRegression(solver="newton-cg", tol=1e-8).fit(vectors.transform(texts)[rows], known[rows], mass)
    assert result.scores == pytest.approx(model.predict_proba(vectors.transform(target))[:, 1], abs=1e-4)


def test_a_sweep_chooses_on_labelled_texts_alone(results):
    result = results["class_weight_sweep"]
    assert [row["weight"] for row in result.sweep] == [1, 10, 100]
    assert result.weight == max(result.sweep, key=lambda row: row["spcc_labelled"])["weight"]
    assert len(tm.rare.WEIGHTS) == 20
    assert (tm.rare.WEIGHTS[0], tm.rare.WEIGHTS[-1]) == pytest.approx((10**0.1, 100.0))


def test_variants_of_each_weight_are_those_of_a_sweep_of_it_alone(data, results):
    result = results["class_weight_sweep"]
    assert [row["weight"] for row in result.variants] == [w for w in (1, 10, 100) for _ in range(4)]
    chosen = [row for row in result.variants if row["weight"] == result.weight]
    for row, expected in zip(chosen, result.table, strict=True):
        assert {name: row[name] for name in expected if name not in {"low", "high"}} == pytest.approx(
            {name: value for name, value in expected.items() if name not in {"low", "high"}}, nan_ok=True
        )
    alone = counted("class_weight_sweep", data, weights=[100])
    other = [row for row in result.variants if row["weight"] == 100]
    assert [row["estimate"] for row in other[:2]] == pytest.approx([row["estimate"] for row in alone.table[:2]])
    with pytest.raises(tm.InputError, match="measure is 'fun'"):
        tm.charts.class_weight_sweep(result, measure="fun")


def test_balanced_draws_hold_as_many_of_each_class():
    from tallymark.rare.ensembles import balanced_draws

    for positive in (np.arange(100) < 30, np.arange(100) >= 30):
        (first, mass), (second, _) = balanced_draws(positive, [1, 2])
        assert (positive[first].sum(), (~positive[first]).sum(), mass.sum()) == (30, 30, 60)
        assert len(set(first.tolist())) == 60
        assert set(first.tolist()) != set(second.tolist())


def test_methods_side_by_side_are_the_methods(data, results):
    texts, known, target, truth = data
    own = {way: options for way, (_, options) in WAYS.items()}
    found = tm.rare.compare(iter(texts), known, iter(target), methods=own, target_labels=truth)
    assert list(found.counts) == list(WAYS)
    for row in found.rows():
        last = results[row["method"]].table[3]
        assert all(row[name] == last[name] for name in ("P", "estimate", "sd", "low", "high", "bias"))
    assert len(found.variants) == 4 * len(WAYS)
    assert "there are 80" in found.heading()
    with pytest.raises(tm.InputError, match="methods"):
        tm.rare.compare(texts, known, target, methods=["forest"])


@pytest.mark.parametrize("prevalence", [0.0, 0.01, 0.3, 0.9, 1.0])
def test_splits_have_the_prevalence_that_was_asked_for(prevalence):
    labels = np.arange(1_000) % 5 == 0
    train, target = tm.rare.split(labels, positives=60, negatives=140, prevalence=prevalence)
    assert (labels[train].sum(), (~labels[train]).sum()) == (60, 140)
    assert not set(train) & set(target)
    assert labels[target].mean() == pytest.approx(prevalence, abs=0.5 / len(target) + 1e-9)


@ways
def test_labelled_texts_are_not_their_own_witnesses(way):
    # Most words are rare, as in any language: a labelled text that helped to make the vocabulary keeps words that a new text
    # loses, which moves its score. Twice the same population then looks like two.
    rng = np.random.default_rng(0)
    names = np.array([f"rare{i}" for i in range(20_000)])

    def drawn(positive):
        return [" ".join([*rng.choice(names, 20), *rng.choice(TOPIC if hit else COMMON[:60], 3)]) for hit in positive]

    known, target = np.arange(600) < 180, np.arange(3_000) < 900
    function, options = WAYS[way]
    result = function(drawn(known), known, drawn(target), **options)
    assert result.fit.p_value > 0.01
    assert result.count.count == pytest.approx(900, abs=60)


def test_short_and_unknown_texts_are_told(data):
    texts, known, target, _ = data
    odd = ["", "a b", "unseen vocabulary", None, float("nan"), *target[:200]]
    with pytest.warns(tm.GuardWarning, match="TM116"):
        result = tm.rare.bootstrap(texts, known, odd, machines=5)
    assert np.isnan(result.scores[[0, 1, 3, 4]]).all()
    assert not np.isnan(result.scores[2])
    assert result.count.n == 201
    assert {note.code for note in result.warnings} == {"TM116"}
    assert result.to_dict()["left_out"] == 4
    ten = tm.rare.bootstrap(texts, known, target, machines=5, cleaning=tm.rare.Cleaning(min_words=10))
    assert ten.counted.all()


def test_wrong_things_are_named(data):
    texts, known, target, truth = data
    few = ["one two three"] * 3 + ["four five six"] * 30
    cases = [
        (lambda: tm.rare.bootstrap(texts, known[:-1], target), "500 texts and 499 labels"),
        (lambda: tm.rare.bootstrap([], [], target), "labels"),
        (lambda: tm.rare.bootstrap(texts, np.zeros(500), target), "labels"),
        (lambda: tm.rare.bootstrap(few, [1] * 3 + [0] * 30, target), "3 positive texts"),
        (lambda: tm.rare.bootstrap(texts, known, [], machines=2), "no target texts"),
        (lambda: tm.rare.bootstrap(texts, known, ["", "a"], machines=2), "no target text with a word"),
        (lambda: tm.rare.bootstrap(texts, known, ["unseen vocabulary"] * 3, machines=2), "same language"),
        (lambda: tm.rare.bootstrap("one text", [1], target), "texts is one text"),
        (lambda: tm.rare.bootstrap(texts, known, "one text", machines=2), "target_texts is one text"),
        (lambda: tm.rare.bootstrap(texts, known, target, machines=0), "machines is 0"),
        (lambda: tm.rare.bootstrap(texts, known, target, negatives=350), "at most 315 may be drawn"),
        (lambda: tm.rare.bootstrap(texts, known, target, C=0.0), "C is 0.0"),
        (
            lambda: tm.rare.bootstrap(texts, known, target, machines=2, target_labels=truth[:5]),
            "4000 target texts and 5",
        ),
        (
            lambda: tm.rare.bootstrap([f"only{i}" for i in range(40)], [1] * 20 + [0] * 20, target),
            "No word occurs in enough",
        ),
        (lambda: tm.rare.class_weight_sweep(texts, known, target, weights=[]), "weights are"),
        (lambda: tm.rare.class_weight_sweep(texts, known, target, weights=[-1]), "weights are"),
        (lambda: tm.rare.ensemble(texts, known, target, machines=1), "machines is 1"),
        (lambda: tm.rare.split(known, positives=150, negatives=10, prevalence=0.1), "positives is 150"),
    ]
    for call, told in cases:
        with pytest.raises(tm.InputError, match=told):
            call()


def test_labels_of_any_type_and_targets_of_one_class(data):
    texts, known, target, _ = data
    names = np.where(known, "platform", "other")
    with pytest.raises(tm.InputError, match="pos_label"):
        tm.rare.bootstrap(texts, names, target, machines=3)
    others = target[2:100]
    none = tm.rare.bootstrap(
        texts, names, others, machines=20, pos_label="platform", target_labels=["other"] * len(others)
    )
    assert none.table[0]["P"] == 0
    assert np.isnan(none.table[0]["auroc"])
    assert none.count.count_low < 1.0


def test_results_show_themselves(results):
    shown = repr(results["class_weight_sweep"])
    assert "positives weigh" in shown
    assert "probabilities" in shown
    assert set(results["bootstrap"].to_dict()) == {"method", "n", "left_out", "count", "variants", "details"}
    assert "<table>" in results["ensemble"]._repr_html_()


def test_a_known_truth_is_said(data):
    found = counted("ensemble", data)
    true = int(found.positive[found.counted].sum())
    inside = found.count.count_low <= true <= found.count.count_high
    said = f"by their labels there are {true}, {'inside' if inside else 'outside'} the interval"
    assert said in found.heading()
    assert said in " ".join(of_rare(found, title="").verdict)
    assert "labels" not in counted("ensemble", data, target_labels=None).heading()
