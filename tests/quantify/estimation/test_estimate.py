import json
import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import tallymark as tm
from tallymark.quantify.estimation.guards import uncalibrated
from tallymark.registry import QUANTIFIERS

estimate = tm.quantify.estimate


def draw(n, share, seed, distance=3.0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    return y, 1 / (1 + np.exp(-distance * rng.normal(distance * y - distance / 2)))


@pytest.fixture(scope="module")
def validation():
    return tm.tally(*draw(200, 0.5, 0))


@pytest.fixture(scope="module")
def target():
    return tm.tally(scores=draw(500, 0.2, 1)[1])


@pytest.mark.parametrize("name", list(QUANTIFIERS))
def test_every_estimate_has_an_interval_around_it(name, validation, target):
    found = estimate(name, validation, target, replicates=100)
    assert 0 <= found.low <= found.prevalence <= found.high <= 1
    assert found.low < found.high
    assert found.count == pytest.approx(500 * found.prevalence)
    assert found.level == 0.95
    assert found.interval_method == QUANTIFIERS[name].interval
    assert json.loads(json.dumps(found.to_dict()))["count_high"] == pytest.approx(500 * found.high)


def test_the_same_seed_gives_the_same_interval(validation, target):
    first, second, other = (estimate("ms", validation, target, seed=seed) for seed in (3, 3, 4))
    assert (first.low, first.high) == (second.low, second.high) != (other.low, other.high)


def test_a_higher_level_is_wider(validation, target):
    for name in ("ac", "pacc", "em", "ms", "bayes"):
        narrow, wide = (estimate(name, validation, target, level=level) for level in (0.8, 0.99))
        assert wide.low <= narrow.low <= narrow.high <= wide.high, name


@pytest.mark.parametrize("name", ["em", "kde", "bayes"])
def test_profile_limits_are_where_the_likelihood_has_fallen(name, validation, target):
    trained_at = {"training_prevalence": 0.5} if name == "em" else {}
    found = estimate(name, validation, target, interval="profile", **trained_at)
    assert found.interval_method == "profile"
    assert found.low < found.prevalence < found.high


def test_em_profile_is_wilks_interval_widened_by_the_validation_sample(target):
    u = target.runs[0].scores
    found, rough = (
        estimate("em", tm.tally(*draw(rows, 0.5, 0)), target, training_prevalence=0.5) for rows in (20_000, 200)
    )

    def fallen(p):
        likelihood = [np.sum(np.log(q * u / 0.5 + (1 - q) * (1 - u) / 0.5)) for q in (found.prevalence, p)]
        return 2 * (likelihood[0] - likelihood[1])

    # The likelihood falls alike to both sides; with endless validation rows by 3.8415.
    assert fallen(found.low) == pytest.approx(fallen(found.high), abs=1e-3)
    assert 3.8415 < fallen(found.low) < 0.5 * fallen(rough.low)


def test_classify_and_count_says_where_it_would_be_right(validation, target):
    found = estimate("cc", validation, target)
    tpr, fpr, right = (found.details[name] for name in ("tpr", "fpr", "right_at"))
    assert right * tpr + (1 - right) * fpr == pytest.approx(right)


def test_a_finite_population_narrows_the_interval(validation):
    target = tm.tally(scores=draw(200, 0.3, 5)[1])
    for name in ("ac", "ms", "bayes"):
        sample, census, vast = (estimate(name, validation, target, population=n) for n in (None, 200, 10**9))
        assert census.high - census.low < sample.high - sample.low
        assert vast.high - vast.low == pytest.approx(sample.high - sample.low, rel=1e-4)
        assert vast.n == 10**9
    with pytest.raises(tm.InputError, match="at least the target's 200"):
        estimate("ac", validation, target, population=100)


def test_groups_add_up_and_grow():
    y, s = draw(1_000, 0.5, 2)
    parts = {"a": draw(2_000, 0.1, 3)[1], "b": draw(1_000, 0.3, 4)[1]}

    frame = pd.concat([pd.DataFrame({"g": g, "p": p}) for g, p in parts.items()])
    target = tm.tally(frame, score="p", by="g")
    for name in ("ac", "ms"):
        found = estimate(name, tm.tally(y, s), target)
        assert set(found) == {"a", "b"}
        assert found.total.count == pytest.approx(found["a"].count + found["b"].count)
        assert found.total.low <= found.total.prevalence <= found.total.high
        alone = estimate(name, tm.tally(y, s), tm.tally(scores=parts["a"]))
        assert found["a"].prevalence == alone.prevalence
        growth = found.growth("a", "b")
        assert growth.value == pytest.approx(found["b"].count / found["a"].count - 1)
        assert growth.low < growth.value < growth.high
        # Errors of the validation sample go together, so the ratio is known better than its parts.
        apart = math.hypot(*((e.high - e.low) / e.prevalence for e in found.values())) * (1 + growth.value)
        assert growth.high - growth.low < apart
        assert [row["g"] for row in found.rows()] == ["a", "b", "all"]


def test_groups_by_two_keys_can_be_added_up_over_one(validation):

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"p": rng.random(600), "region": np.arange(600) % 2, "month": np.arange(600) % 3})
    found = estimate("ac", validation, tm.tally(frame, score="p", by=["region", "month"]))
    by_month = found.over("month")
    assert len(by_month) == 3
    assert by_month.total.count == pytest.approx(found.total.count)
    with pytest.raises(tm.InputError, match="No key 'year'"):
        found.over("year")


def test_growth_from_nothing_is_undefined(validation):

    frame = pd.DataFrame({"p": [0.001] * 50 + [0.9] * 50, "g": [1] * 50 + [2] * 50})
    found = estimate("ac", validation, tm.tally(frame, score="p", by="g"))
    with pytest.raises(tm.Undefined, match="no positives to grow from"):
        found.growth(1, 2)


def test_equal_rates_are_undefined_with_a_reason():
    flat = tm.tally([0, 1, 0, 1], [0.2, 0.2, 0.8, 0.8])
    for name in ("ac", "max", "ms", "pacc"):
        found = estimate(name, flat, tm.tally(scores=[0.1, 0.9]))
        assert math.isnan(found.prevalence)
        assert "apart" in found.reason
    assert np.isnan(tm.quantify.estimate_many("ac", flat, [0.1, 0.9], [[0, 1]])).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ac", "t", tm.tally(scores=[0.1, 0.2])), "expected a labelled Tally"),
        (("nope", tm.tally([0, 1], [0.1, 0.2]), tm.tally(scores=[0.1])), "No quantifier is called 'nope'"),
        (("ac", tm.tally([0, 1], [0.1, 0.2]), "t"), "target is a str, expected a Tally"),
        (("ac", ([0, 1], [[0.1, 0.9]]), [[0.2, 0.8]]), "class panel"),
        (("ac", tm.class_panel([0, 1], [[0.9, 0.1], [0.2, 0.8]]), tm.tally(scores=[0.1])), "expected a class panel"),
    ],
)
def test_wrong_arguments_say_what_to_do(arguments, message):
    with pytest.raises(tm.InputError, match=message):
        estimate(*arguments)


def test_bad_input_has_clear_errors(validation, target):
    with pytest.raises(tm.InputError, match="expected a labelled Tally"):
        estimate("ac", target, target)
    with pytest.raises(tm.InputError, match="write target=tm.tally"):
        estimate("ac", validation, [0.1, 0.2])
    decisions = tm.tally([0, 1, 0, 1], [-3.0, 2.0, 0.5, 0.1])
    with pytest.raises(tm.InputError, match="em needs probabilities, but the scores run from -3 to 2"):
        estimate("em", decisions, tm.tally(scores=[-1.0, 1.0]))
    with pytest.raises(tm.InputError, match="say where with a threshold"):
        estimate("ac", decisions, tm.tally(scores=[-1.0, 1.0]))
    with pytest.raises(tm.InputError, match="has no option 'bandwith'"):
        estimate("kde", validation, target, bandwith=0.1)
    with pytest.raises(tm.InputError, match="no interval in closed form"):
        estimate("ms", validation, target, interval="analytic")
    with pytest.raises(tm.InputError, match="maximises no likelihood"):
        estimate("ms", validation, target, interval="profile")
    with pytest.raises(tm.InputError, match="different types"):
        estimate("ac", validation, tm.tally(scores=np.array([0.1, 0.9], dtype=np.float32)))
    with pytest.raises(tm.InputError, match="strictly between 0 and 1"):
        estimate("em", validation, target, training_prevalence=1.0)


def test_one_class_in_the_validation_sample():

    one = tm.tally(pd.DataFrame({"y": [1, 1, 0], "p": [0.5, 0.6, 0.7], "g": [1, 1, 2]}), label="y", score="p", by="g")[
        1
    ]
    with pytest.raises(tm.InputError, match="positives only"):
        estimate("ac", one, tm.tally(scores=[0.1, 0.2]))


def test_scores_outside_the_validation_range_are_reported(validation):
    far = tm.tally(scores=validation.runs[0].scores * 0.5 - 0.5)
    with pytest.warns(tm.GuardWarning, match="TM108.*outside the validation sample's range"):
        found = estimate("bayes", validation, far)
    assert [note.code for note in found.warnings] == ["TM108"]
    with pytest.raises(tm.GuardError, match="TM108"):
        estimate("bayes", validation, far, strict=True)


def test_uncalibrated_probabilities_are_reported_where_they_are_believed(target):
    y, s = draw(2_000, 0.5, 0)
    overconfident = 1 / (1 + np.exp(-3 * np.log(s / (1 - s))))
    with pytest.warns(tm.GuardWarning, match="TM110"):
        estimate("em", tm.tally(y, overconfident.clip(0, 1)), target)


def test_index_must_name_rows(validation):
    for index, message in (
        ([0, 1], "one line of row numbers"),
        ([[0, 9]], "rows 0 to 1"),
        ([[0.5]], "one line of row"),
    ):
        with pytest.raises(tm.InputError, match=message):
            tm.quantify.estimate_many("ac", validation, [0.1, 0.9], index)


def test_quantised_tallies_can_be_counted():
    y, s = draw(50_000, 0.5, 3)
    u = draw(50_000, 0.1, 4)[1]
    t, v = tm.tally(y, s), tm.tally(scores=u)
    for name in ("ac", "pacc", "em", "bayes", "ms"):
        exact = estimate(name, t, v, level=None).prevalence
        cells = estimate(name, t.quantise([0.5]), v.quantise([0.5]), level=None).prevalence
        # Bins of bayes follow the scores, and so move with the cells.
        assert cells == pytest.approx(exact, abs=3e-3 if name == "bayes" else 2e-3), name


def test_a_labelled_target_is_counted_without_its_labels(validation):
    y, s = draw(300, 0.3, 9)
    for name in ("ac", "em"):
        assert (
            estimate(name, validation, tm.tally(y, s)).prevalence
            == estimate(name, validation, tm.tally(scores=s)).prevalence
        )


def test_it_shows_itself(validation, target):
    found = estimate("ac", validation, target)
    assert "ac: " in repr(found)
    assert "analytic" in repr(found)
    assert "<table>" in found._repr_html_()
    assert float(found) == found.prevalence
    assert f"{found:.3f}" == f"{found.prevalence:.3f}"


def test_reversed_scores_are_reported(validation, target):
    y, s = draw(200, 0.5, 0)
    with pytest.warns(tm.GuardWarning, match="TM103.*higher scores seem to mean negative"):
        estimate("ms", tm.tally(y, 1 - s), target)


def test_scores_that_say_nothing_give_no_estimate():
    flat, same = tm.tally([0, 1] * 20, [0.5] * 40), tm.tally(scores=[0.5] * 10)
    for name in QUANTIFIERS:
        found = estimate(name, flat, same, replicates=100)
        if name not in {"bl", "cc", "pcc"}:
            assert math.isnan(found.prevalence), name
            assert "apart" in found.reason, name


def test_a_stated_baseline_has_no_interval(validation, target):
    assert estimate("bl", validation, target, training_prevalence=0.3).low is None
    weights = np.random.default_rng(0).lognormal(sigma=1.5, size=200)
    y, s = draw(200, 0.5, 0)
    wide = estimate("bl", tm.tally(y, s, weights=weights), target)
    narrow = estimate("bl", tm.tally(y, s), target)
    assert wide.high - wide.low > 1.2 * (narrow.high - narrow.low)


def test_a_census_of_probabilities_covers_its_own_count(validation):
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(300):
        p = rng.beta(1, 3, 400)
        truth = (rng.random(400) < p).mean()
        found = estimate("pcc", validation, tm.tally(scores=p), population=400)
        held += found.low <= truth <= found.high
    assert 0.92 <= held / 300 <= 0.98


@pytest.mark.parametrize("name", ["bayes", "ms", "ac"])
def test_small_targets_are_covered(name):
    held = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        t = tm.tally(*draw(400, 0.5, 1_000 + seed))
        y = (rng.random(20) < 0.1).astype(int)
        u = tm.tally(scores=1 / (1 + np.exp(-3 * rng.normal(3 * y - 1.5))))
        found = estimate(name, t, u, replicates=200, seed=seed)
        held += found.low <= 0.1 <= found.high
        assert found.high > found.low
    assert 0.9 <= held / 200 <= 1.0


def test_groups_have_no_common_population(validation):

    target = tm.tally(pd.DataFrame({"p": [0.1, 0.9], "g": [1, 2]}), score="p", by="g")
    with pytest.raises(tm.InputError, match="population= is the size behind one target"):
        estimate("ac", validation, target, population=100)
    assert set(tm.quantify.mixture_fit(validation, target)) == {1, 2}
    with pytest.raises(tm.InputError, match="takes one target"):
        tm.quantify.sensitivity(validation, target)


def test_float32_can_be_quantised():
    y, s = draw(2_000, 0.5, 1)
    t, u = tm.tally(y, s.astype(np.float32)), tm.tally(scores=s.astype(np.float32))
    assert estimate("ac", t, u.quantise([0.5])).prevalence == pytest.approx(0.5, abs=0.1)


def test_distances_reach_their_ends(validation):
    low = tm.tally(scores=np.sort(validation.negative.scores)[:30])
    assert estimate("dys", validation, low, level=None).prevalence == 0.0


@pytest.mark.parametrize("method", ["ac", "pacc", "cs", "ms", "sweep", "x", "energy", "dys"])
def test_no_interval_is_a_single_0_or_1_however_far_the_target_lies(method):
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.3
    validation = tm.tally(y, rng.normal(2.0 * y))
    options = {"threshold": 1.0} if method == "ac" else {}
    for middle, end in ((-4.0, 0.0), (6.0, 1.0)):
        target = tm.tally(scores=rng.normal(middle, 0.3, 2_000))
        found = tm.quantify.estimate(method, validation=validation, target=target, **options)
        assert found.prevalence == pytest.approx(end, abs=0.02)
        assert found.low <= found.prevalence <= found.high
        assert found.high > found.low


def test_sums_of_empty_groups_keep_their_limits_and_nothing_grows_from_them():
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.3
    validation = tm.tally(y, rng.normal(2.0 * y))
    scores = np.r_[rng.normal(-4, 0.3, 900), rng.normal(1, 1, 300)]
    rows = pd.DataFrame({"p": scores, "region": ["west"] * 900 + ["south"] * 300, "year": [1, 2] * 600})
    for method in ("ms", "bayes"):
        estimates = tm.quantify.estimate(
            method, validation=validation, target=tm.tally(rows, score="p", by=["region", "year"])
        )
        total = estimates.over("region")["west"]
        parts = [estimates["west", year] for year in (1, 2)]
        assert 0.0 < total.high <= max(part.high for part in parts)
        west = next(line for line in estimates.growths("year") if line["group"] == {"region": "west"})
        assert (west["growth"], west["reason"]) == (None, "1 has no positives to grow from")


def test_em_warns_where_fitted_probabilities_count_another_number():
    # Trained at 30 %, validated at 25 %, and counted at 2 %: the offset is small, what it does to the count is not.
    rng = np.random.default_rng(4)

    def scores(y):
        return 1 / (1 + np.exp(-(1.5 * (rng.normal(size=len(y)) + 1.5 * y) - 1.125 + np.log(3 / 7))))

    known, target = np.arange(2_000) % 4 == 0, np.arange(5_000) % 50 == 0
    validation, unknown = tm.tally(known, scores(known)), tm.tally(scores=scores(target))
    with pytest.warns(tm.GuardWarning, match=r"TM110.*calibrated on the validation sample \(calibration='bcts'\)"):
        wrong = tm.quantify.estimate("em", validation, unknown)
    assert not wrong.low <= 0.02 <= wrong.high
    right = tm.quantify.estimate("em", validation, unknown, training_prevalence=0.3)
    assert not right.warnings
    assert right.low <= 0.02 <= right.high
    fitted = tm.quantify.estimate("em", validation, unknown, calibration="bcts", replicates=100)
    # The interval includes the error of the validation sample's calibration, whoever says the training prevalence.
    assert right.high - right.low > 0.5 * (fitted.high - fitted.low)


def test_em_by_group_includes_the_error_of_the_validation_sample():
    rng = np.random.default_rng(5)

    def scores(y):
        return 1 / (1 + np.exp(-(1.5 * (rng.normal(size=len(y)) + 1.5 * y) - 1.125)))

    known, target = np.arange(100) % 2 == 0, np.arange(20_000) % 2 == 0
    frame = pd.DataFrame({"p": scores(target), "g": np.arange(20_000) % 3})
    groups = tm.tally(frame, score="p", by="g")
    found = tm.quantify.estimate("em", tm.tally(known, scores(known)), groups, replicates=200)
    # With densities taken as known the total of 20 000 rows was as narrow as if 100 labels said all of calibration.
    assert found.total.high - found.total.low > 0.05


@pytest.mark.parametrize(
    ("fitted", "deviation", "warned"),
    [(0.05, 0.02, False), (0.05, 0.005, True), (0.07, 0.005, False), (0.03, 0.05, True)],
)
def test_a_fitted_count_is_judged_by_its_own_error_too(fitted, deviation, warned):
    # An estimate of 0.08 (0.04 to 0.12); a fitted share of 0.05 lies inside, but a fit with an error of 0.005 would not be so far off.
    problem = SimpleNamespace(method=QUANTIFIERS["em"], fitted=SimpleNamespace(share_of=lambda _: fitted))
    notes = uncalibrated(problem, tm.tally(scores=np.arange(100.0)), 0.08, (0.04, 0.12), deviation)
    assert [note.code for note in notes] == ["TM110"] * warned
