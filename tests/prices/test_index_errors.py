"""An index under classification error, against what theory says exactly."""

import numpy as np
import pandas as pd
import pytest

import tallymark as tm
from tallymark.prices.index_errors import ErrorModel
from tallymark.prices.price_tables import price_table
from tallymark.prices.product_errors import isoline

SALES = {"period": "t", "product": "id", "price": "p", "quantity": "q", "label": "own"}


def sales(own=30, others=30, periods=6, drift=0.02, seed=0):
    rng = np.random.default_rng(seed)
    n = own + others
    t, i = np.repeat(np.arange(periods), n), np.tile(np.arange(n), periods)
    price = np.exp(
        rng.normal(0, 0.2, n)[i] + np.where(i < own, 0.005, 0.005 + drift) * t + rng.normal(0, 0.03, n * periods)
    )
    return pd.DataFrame({"t": t, "id": i, "p": price, "q": rng.integers(1, 20, n * periods) * 1.0, "own": i < own})


def test_a_perfect_classifier_gives_the_true_index():
    frame = sales()
    for formula in ("jevons", "fisher", "geks_fisher"):
        found = tm.prices.index_under_error(frame, formula=formula, metric_value=1.0, draws=50, **SALES)
        wanted = tm.prices.index(
            frame[frame.own], period="t", product="id", price="p", quantity="q", formula=formula
        ).values
        assert found.truth == pytest.approx(wanted)
        assert found.bias == pytest.approx(np.zeros(6), abs=1e-12)
        assert found.standard_error == pytest.approx(np.zeros(6), abs=1e-12)


def test_false_positives_pull_log_jevons_between_the_classes():
    # Given TP and FP the mean of log Jevons is (TP mu1 + FP mu0) / (TP + FP); with many products its mean is near that of the means.
    frame = sales(400, 400)
    wide = frame.pivot(index="id", columns="t", values="p")
    change = np.log(wide[5] / wide[0]).to_numpy()
    own = np.arange(800) < 400
    found = tm.prices.index_under_error(frame.assign(c=True), formula="jevons", predicted="c", draws=20, **SALES)
    mixed = np.exp((400 * change[own].mean() + 400 * change[~own].mean()) / 800)
    assert np.nanmean(found.draws[:, -1]) == pytest.approx(mixed, abs=2e-3)
    # A recall of 1 says nothing of specificity, which is then anything from 0 to 1: between the truth and that.
    free = tm.prices.index_under_error(frame, formula="jevons", metric="recall", metric_value=1.0, draws=400, **SALES)
    assert free.truth[-1] + 0.01 < np.nanmean(free.draws[:, -1]) < mixed - 0.01
    assert free.draws[:, -1].min() < free.truth[-1] + 0.01
    assert isoline("recall", 0.933, 400, 400)[0] == pytest.approx(np.full(201, 0.933), abs=1e-9)


def test_false_negatives_alone_leave_jevons_unbiased():
    frame = sales(drift=0.0)
    found = tm.prices.index_under_error(
        frame, formula="jevons", metric="accuracy", metric_value=0.8, draws=4_000, **SALES
    )
    spread = found.standard_error[-1] / np.sqrt(4_000)
    # Without a difference between the classes' prices errors cost precision, not truth (both kinds of errors here).
    assert abs(np.log(found.draws[:, -1]).mean() - np.log(found.truth[-1])) < 0.02
    assert spread < 0.01


def test_errors_stay_with_their_products():
    # Drawn anew in every period the error of a chained index would be far larger than that of the ends alone.
    frame = sales(drift=0.0, periods=12)
    found = tm.prices.index_under_error(frame, formula="jevons", metric_value=0.9, draws=300, **SALES)
    moved = found.draws - found.truth
    # The same products are wrong in neighbouring periods, so errors go together.
    assert np.corrcoef(moved[:, 5], moved[:, 6])[0, 1] > 0.2


@pytest.mark.parametrize("metric", ["balanced_accuracy", "f1", "accuracy", "mcc", "kappa"])
@pytest.mark.parametrize("level", [0.6, 0.9])
def test_rates_on_the_isoline_have_the_level(metric, level):
    tprs, tnrs = isoline(metric, level, 40, 60)
    assert len(tprs) > 5
    for tpr, tnr in zip(tprs[::7], tnrs[::7], strict=True):
        matrix = tm.Confusion(np.array([[60 * tnr, 60 * (1 - tnr)], [40 * (1 - tpr), 40 * tpr]]), (0, 1), positive=1)
        assert getattr(tm.metrics, metric)(matrix) == pytest.approx(level, abs=2e-3)


def test_better_classifiers_err_less_and_the_needed_level_is_between():
    frame = sales()
    errors = [
        tm.prices.index_under_error(frame, metric_value=level, draws=300, **SALES).root_mean_square[-1]
        for level in (0.7, 0.9, 0.99)
    ]
    assert errors[0] > errors[1] > errors[2]
    found = tm.prices.index_under_error(frame, draws=300, **SALES)
    needed = [found.required_value(tolerance) for tolerance in (0.01, 0.03, 0.1)]
    assert needed[0] > needed[1] > needed[2] >= 0.5
    at = tm.prices.index_under_error(frame, metric_value=needed[1], draws=300, **SALES)
    assert np.quantile(np.abs(at.draws - at.truth), 0.95, axis=0).max() == pytest.approx(0.03, abs=0.01)


def test_seeds_and_quantiles():
    frame = sales()
    one, again, other = (tm.prices.index_under_error(frame, draws=1_500, seed=s, **SALES) for s in (0, 0, 1))
    assert (one.draws == again.draws).all()
    assert (one.draws != other.draws).any()
    low, middle, high = one.quantiles((0.1, 0.5, 0.9))
    assert (low <= middle).all()
    assert (middle <= high).all()
    assert [row["period"] for row in one.rows()] == list(range(6))


def test_wrong_things_are_named():
    frame = sales()
    mixed = frame.assign(own=frame.own ^ ((frame.id == 3) & (frame.t == 2)))
    for call, told in (
        (lambda: tm.prices.index_under_error(frame, metric="auroc", **SALES), "no metric at one threshold"),
        (lambda: tm.prices.index_under_error(frame, metric="fpr", **SALES), "better when higher"),
        (lambda: tm.prices.index_under_error(frame, metric_value=1.5, **SALES), "runs from 0 to 1"),
        (lambda: tm.prices.index_under_error(mixed, **SALES), "product 3 is in the class in some lines"),
        (lambda: tm.prices.index_under_error(frame, draws=1, **SALES), "draws is 1"),
        (
            lambda: tm.prices.index_under_error(frame[(frame.t != 2) | ~frame.own], **SALES),
            "no product of the class was sold",
        ),
        (lambda: tm.prices.index_under_error(frame, draws=20, **SALES).required_value(0.0), "tolerance is 0.0"),
    ):
        with pytest.raises(tm.InputError, match=told):
            call()


def test_errors_by_price_fall_on_dear_products():
    frame = sales(200, 200)
    table = price_table(frame, "t", "id", "p", "q")
    wrong = ErrorModel(label="own", errors="price", tilt=2.0).of_products(frame, table)
    drawn = wrong.at_rates(np.full(4_000, 0.8), np.full(4_000, 0.9), np.random.default_rng(0))
    # The rates hold, and dear products are missed more often.
    assert drawn[:, wrong.positive].mean() == pytest.approx(0.8, abs=0.01)
    assert drawn[:, ~wrong.positive].mean() == pytest.approx(0.1, abs=0.01)
    dear = np.log(np.nanmean(table.prices, axis=0))
    missed = 1.0 - drawn.mean(axis=0)
    assert np.corrcoef(dear[wrong.positive], missed[wrong.positive])[0, 1] > 0.6


def test_errors_follow_scores_and_fall_together():
    frame = sales(40, 40).assign(s=lambda f: np.where(f.own, 0.9, 0.1), text=lambda f: f.id // 4)
    frame.loc[frame.id < 4, "s"] = 0.2
    table = price_table(frame, "t", "id", "p", "q")
    wrong = ErrorModel(label="own", errors="scores", score="s", together="text").of_products(frame, table)
    drawn = wrong.at_rates(np.full(2_000, 0.8), np.full(2_000, 0.9), np.random.default_rng(0))
    assert drawn[:, :4].mean() < 0.3 < drawn[:, 4:40].mean()
    # Products of one text share their fate.
    assert all((drawn[:, i] == drawn[:, i + 1]).all() for i in range(0, 80, 4))


def test_a_real_classifiers_calls_are_kept():
    frame = sales()
    perfect = tm.prices.index_under_error(frame, **SALES, predicted="own", draws=20)
    assert perfect.bias == pytest.approx(np.zeros(6), abs=1e-12)
    assert perfect.fixed
    assert "nothing was drawn" in perfect.heading()
    assert {"low", "high", "standard_error"}.isdisjoint(perfect.rows()[0])
    wrong = tm.prices.index_under_error(frame.assign(c=True), **SALES, predicted="c")
    assert [row["error"] for row in wrong.rows()] == pytest.approx((wrong.draws[0] - wrong.truth).tolist())
    assert "of the draws" not in str(tm.charts.index_under_error(wrong).to_dict())
    half = frame.assign(c=np.where(frame.id < 15, frame.t % 2 == 0, frame.own))
    found = tm.prices.index_under_error(half, **SALES, predicted="c", draws=400)
    assert found.standard_error[-1] > 0
    assert "real classifier" in found.heading()
    with pytest.raises(tm.InputError, match="no metric value to search for"):
        found.required_value(0.01)
    tm.charts.index_under_error(found)


def test_the_metric_that_predicts_the_error_is_found():
    # All products of the class move alike, the others differently: only false positives move the index.
    rng = np.random.default_rng(1)
    t, i = np.repeat(np.arange(4), 80), np.tile(np.arange(80), 4)
    frame = pd.DataFrame({"t": t, "id": i, "own": i < 40, "q": 1.0})
    frame["p"] = np.exp(rng.normal(0, 0.001, 320) + np.where(frame.own, 0.01, 0.05) * t)
    found = tm.prices.metrics_by_index_error(frame, **SALES, formula="jevons", draws=600)
    assert found.best == "precision"
    assert found.correlations["precision"].low > 0.9 > found.correlations["recall"].high
    assert found.rows()[0]["metric"] == "precision"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"errors": "scores"}, "go together"),
        ({"score": "p"}, "go together"),
        ({"errors": "scores", "score": "q"}, "probabilities from 0 to 1"),
        ({"errors": "luck"}, "errors"),
    ],
)
def test_errors_that_cannot_be_are_refused(options, message):
    with pytest.raises(tm.InputError, match=message):
        tm.prices.index_under_error(sales(), **SALES, **options)


def test_products_of_one_text_are_classified_alike_whatever_they_are():
    frame = sales(40, 40).assign(text=lambda f: f.id % 20, s=lambda f: np.where(f.own, 0.8, 0.3))
    for options in (("random", None), ("price", None), ("scores", "s")):
        model = ErrorModel(label="own", errors=options[0], score=options[1], together="text")
        wrong = model.of_products(frame, price_table(frame, "t", "id", "p", "q"))
        drawn = wrong.at_rates(np.full(300, 0.8), np.full(300, 0.9), np.random.default_rng(0))
        assert all((drawn[:, i] == drawn[:, i + 20]).all() for i in range(60))


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda f: f.assign(c="yes"), {"predicted": "c"}, "same labels"),
        (lambda f: f, {"errors": "price", "tilt": 1000.0}, "tilt is"),
    ],
)
def test_calls_and_tilts_that_cannot_be(change, options, message):
    with pytest.raises(tm.InputError, match=message):
        tm.prices.index_under_error(change(sales()), **SALES, **options)


def test_an_index_that_no_error_moves_is_said():
    with pytest.raises(tm.InputError, match="No error moves this index"):
        tm.prices.metrics_by_index_error(sales().assign(p=2.0), **SALES, draws=100)
    with pytest.raises(tm.InputError, match="names none"):
        tm.prices.metrics_by_index_error(sales(), **SALES, metrics=[])
