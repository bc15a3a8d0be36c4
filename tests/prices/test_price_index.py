"""Price indices: published values, the axioms, and what must be refused."""

import math
import os
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from tallymark.prices.formulas import BILATERAL, MULTILATERAL
from tallymark.prices.price_index import FORMULAS

MILK = Path(os.environ.get("TALLYMARK_DATA", Path(__file__).parents[3] / "shared" / "data")) / "prices" / "milk.csv.gz"
SALES = {"period": "t", "product": "id", "price": "p", "quantity": "q"}
#: R's PriceIndices on the milk data by product, 2018-12 to 2019-12.
PUBLISHED = {
    "jevons": 1.024937304, "dutot": 0.9514374071, "carli": 1.041709005, "laspeyres": 1.001399953, "paasche": 0.9724827103,
    "fisher": 0.986835417, "tornqvist": 0.9867571714, "walsh": 0.9853055919, "geks_fisher": 0.9876663921, "geks_jevons": 1.016763488,
    "geks_tornqvist": 0.9876167114, "geary_khamis": 0.989529461, "time_product_dummy": 0.9896739012,
}  # fmt: skip

milk = pytest.mark.skipif(not MILK.is_file(), reason="the reference data are not here")


def sales(seed=0, products=6, periods=5, *, gaps=False):
    rng = np.random.default_rng(seed)
    t, i = np.repeat(np.arange(periods), products), np.tile(np.arange(products), periods)
    frame = pd.DataFrame(
        {"t": t, "id": i, "p": np.exp(rng.normal(0, 0.3, len(t))), "q": rng.integers(1, 30, len(t)).astype(float)}
    )
    return frame[(frame.id == 0) | (rng.random(len(t)) < 0.7)] if gaps else frame


def index(frame, formula, **options):
    return tm.prices.index(frame, formula=formula, **(SALES | options)).values


@milk
@pytest.mark.parametrize("formula", FORMULAS)
def test_published_values_of_real_scanner_data(formula):
    found = tm.prices.index(
        str(MILK),
        period="time",
        product="product_id",
        price="price",
        quantity="quantity",
        formula=formula,
        where="time <= '2019-12-01'",
    )
    # PriceIndices stops Geary and Khamis's equations a little early.
    assert found.values[-1] == pytest.approx(PUBLISHED[formula], abs=3e-8 if formula == "geary_khamis" else 1e-9)


@milk
def test_chains_splices_and_what_a_product_is():
    frame = pd.read_csv(MILK)
    columns = {"period": "time", "price": "price", "quantity": "quantity"}
    year = frame[frame.time <= "2019-12-01"]
    for formula, value in (("fisher", 0.9874251147), ("jevons", 0.9872694106)):
        assert tm.prices.index(year, product="product_id", formula=formula, chained=True, **columns).values[
            -1
        ] == pytest.approx(value, abs=1e-9)
    longer = frame[frame.time <= "2020-04-01"]
    for splice, value in (("movement", 0.9630065317), ("window", 0.9627291447), ("half", 0.9637312213)):
        found = tm.prices.index(
            longer, product="product_id", formula="geks_fisher", window=13, splice=splice, **columns
        )
        assert found.values[-1] == pytest.approx(value, abs=1e-9)
    # By article or by article and outlet moves Jevons from above 1 to below.
    for formula, value in (
        ("jevons", 0.99917206),
        ("fisher", 0.98702629),
        ("geks_fisher", 0.98773029),
        ("geks_jevons", 0.99315844),
    ):
        found = tm.prices.index(year, product=["product_id", "outlet_id"], formula=formula, **columns)
        assert found.values[-1] == pytest.approx(value, abs=1e-8)
        assert "product_id × outlet_id" in found.heading()


def test_two_products_by_hand():
    frame = pd.DataFrame(
        {"t": [1, 1, 2, 2], "id": list("abab"), "p": [1.0, 2.0, 1.5, 2.0], "q": [10.0, 5.0, 4.0, 10.0]}
    )
    wanted = {
        "jevons": math.sqrt(1.5), "dutot": 3.5 / 3.0, "carli": 1.25, "laspeyres": 25 / 20, "paasche": 26 / 24,
        "fisher": math.sqrt(25 / 20 * 26 / 24), "tornqvist": math.exp(0.5 * (10 / 20 + 6 / 26) * math.log(1.5)),
        "walsh": (1.5 * math.sqrt(40) + 2 * math.sqrt(50)) / (math.sqrt(40) + 2 * math.sqrt(50)),
    }  # fmt: skip
    for formula, value in wanted.items():
        assert index(frame, formula)[1] == pytest.approx(value)


@pytest.mark.parametrize("formula", FORMULAS)
@given(seed=st.integers(0, 50), factor=st.floats(0.2, 5.0))
def test_the_axioms(formula, seed, factor):
    frame = sales(seed)
    values = index(frame, formula)
    assert values[0] == 1.0
    # Identity: prices of the base return, quantities differ.
    back = pd.concat([frame[frame.t < 2], frame[frame.t == 0].assign(t=2, q=frame[frame.t == 1].q.to_numpy())])
    if formula not in {"geary_khamis", "time_product_dummy"} and not formula.startswith("geks"):
        assert index(back, formula)[2] == pytest.approx(1.0)
    # Proportionality: all prices of the last period times a factor.
    scaled = frame.assign(p=np.where(frame.t == 1, frame.p * factor, frame.p))
    two = index(frame[frame.t < 2], formula)[1]
    assert index(scaled[scaled.t < 2], formula)[1] == pytest.approx(two * factor, rel=1e-7)
    # Commensurability: other units of a product change nothing (but for Dutot, which has this fault).
    if formula != "dutot":
        units = frame.assign(
            p=np.where(frame.id == 1, frame.p * 10, frame.p), q=np.where(frame.id == 1, frame.q / 10, frame.q)
        )
        assert index(units, formula) == pytest.approx(values, rel=1e-7)


@pytest.mark.parametrize("formula", ["jevons", "dutot", "fisher", "tornqvist", "walsh", *MULTILATERAL])
def test_time_reversal(formula):
    frame = sales(3, periods=2)
    backwards = frame.assign(t=1 - frame.t)
    assert index(frame, formula)[1] * index(backwards, formula)[1] == pytest.approx(1.0, rel=1e-7)


@pytest.mark.parametrize("formula", MULTILATERAL)
def test_multilateral_indices_are_transitive(formula):
    frame = sales(4, periods=6, gaps=True)
    values = index(frame, formula)
    # Beginning with another period divides all levels by that period's.
    turned = frame.assign(t=(frame.t - 2) % 6)
    again = index(turned, formula)
    assert again[(np.arange(6) - 2) % 6] == pytest.approx(values / values[2], rel=1e-6)


@pytest.mark.parametrize("formula", FORMULAS)
def test_lines_are_put_together_to_unit_values(formula):
    frame = sales(5)
    halves = pd.concat([frame.assign(q=frame.q / 2, p=frame.p * 1.1), frame.assign(q=frame.q / 2, p=frame.p * 0.9)])
    assert index(halves, formula) == pytest.approx(index(frame, formula), rel=1e-9)


@pytest.mark.parametrize("formula", ["fisher", "geks_jevons"])
def test_any_frame_and_file_gives_the_same(formula, tmp_path):
    frame = sales(6, gaps=True)
    frame.to_csv(tmp_path / "s.csv", index=False)
    frame.to_parquet(tmp_path / "s.parquet")
    wanted = index(frame, formula)
    for data in (pl.from_pandas(frame), str(tmp_path / "s.csv"), str(tmp_path / "s.parquet")):
        assert index(data, formula) == pytest.approx(wanted, rel=1e-12)


def test_without_quantities_prices_are_averaged_plainly():
    frame = sales(7)
    assert index(frame, "jevons", quantity=None) == pytest.approx(index(frame.assign(q=1.0), "jevons"))
    assert index(frame, "time_product_dummy", quantity=None) == pytest.approx(
        index(frame.assign(q=1 / frame.p), "time_product_dummy")
    )


def test_matched_share_and_turnover():
    frame = pd.DataFrame(
        {"t": [1, 1, 2, 2, 3, 3], "id": list("abbcca"), "p": [1.0] * 6, "q": [1.0, 3.0, 1.0, 3.0, 2.0, 2.0]}
    )
    found = tm.prices.index(frame, formula="fisher", **SALES)
    assert found.matched.tolist() == [1.0, 0.25, 0.5]
    assert (found.products, found.entering, found.leaving) == ((2, 2, 2), (0, 1, 1), (0, 1, 1))
    assert tm.prices.index(frame, formula="fisher", chained=True, **SALES).matched.tolist() == [1.0, 0.25, 0.5]


def test_unsold_lines_have_no_part():
    frame = sales(8)
    odd = pd.concat([frame, pd.DataFrame({"t": [0], "id": [99], "p": [5.0], "q": [0.0]})])
    assert index(odd, "fisher") == pytest.approx(index(frame, "fisher"))


@pytest.mark.parametrize(
    ("change", "options", "told"),
    [
        ({"p": 0.0}, {}, "0 or below.*rows 3"),
        ({"p": -1.0}, {}, "0 or below"),
        ({"p": math.nan}, {}, "missing"),
        ({"q": -1.0}, {}, "below 0"),
        ({"q": math.nan}, {}, "missing"),
        ({}, {"formula": "fischer"}, "Did you mean 'fisher'"),
        ({}, {"quantity": None}, "weighs products"),
        ({}, {"price": "pp"}, "Did you mean 'p'"),
        ({}, {"chained": True, "formula": "geks_fisher"}, "chained=True goes with bilateral"),
        ({}, {"window": 3}, "window= goes with multilateral"),
        ({}, {"formula": "geks_fisher", "window": 3, "splice": "wide"}, "splice='wide'"),
        ({}, {"product": []}, "names no column"),
    ],
)
def test_wrong_things_are_named(change, options, told, tmp_path):
    frame = sales()
    for column, value in change.items():
        frame.loc[3, column] = value
    with pytest.raises(tm.InputError, match=told):
        tm.prices.index(frame, **(SALES | options))
    if change:
        frame.to_csv(tmp_path / "s.csv", index=False)
        with pytest.raises(tm.InputError, match="1 lines have a price"):
            tm.prices.index(str(tmp_path / "s.csv"), **SALES)


def test_periods_without_a_common_product_are_refused():
    # Where two packages return plausible numbers.
    frame = pd.DataFrame({"t": [1, 2, 3], "id": ["a", "b", "b"], "p": [4.0, 5.0, 6.0], "q": [1.0, 1.0, 1.0]})
    with pytest.raises(tm.InputError, match="1 and 2 have no product in common"):
        tm.prices.index(frame, formula="fisher", **SALES)
    with pytest.raises(tm.InputError, match="No chain of common products joins 2, 3 with 1"):
        tm.prices.index(frame, formula="geks_tornqvist", **SALES)
    # A bridge over a third period is enough for a multilateral index.
    bridged = pd.concat([frame, pd.DataFrame({"t": [3], "id": ["a"], "p": [5.0], "q": [1.0]})])
    assert np.isfinite(tm.prices.index(bridged, formula="geks_fisher", **SALES).values).all()
    with pytest.raises(tm.InputError, match="one period only"):
        tm.prices.index(frame[frame.t == 1], formula="fisher", **SALES)
    assert set(BILATERAL) | set(MULTILATERAL) == set(FORMULAS)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_months_by_name_are_in_the_order_of_time(tmp_path, ending):
    months = ["Jan", "Feb", "Mar", "Apr"]
    frame = pd.DataFrame({"m": months * 2, "id": [1] * 4 + [2] * 4, "p": [1.0, 2.0, 3.0, 4.0] * 2})
    path = tmp_path / f"d.{ending}"
    frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    for data in (path, frame):
        made = tm.prices.index(data, period="m", product="id", price="p", formula="jevons")
        assert made.periods == tuple(months)
        assert made.values.tolist() == pytest.approx([1.0, 2.0, 3.0, 4.0])


def test_periods_without_a_known_order_are_refused_unless_it_is_stated():
    frame = pd.DataFrame({"m": ["late", "early"] * 2, "id": [1, 1, 2, 2], "p": [2.0, 1.0] * 2})
    with pytest.raises(tm.InputError, match="Cannot tell the order of the periods 'late', 'early' in m"):
        tm.prices.index(frame, period="m", product="id", price="p", formula="jevons")
    made = tm.prices.index(frame, period="m", product="id", price="p", formula="jevons", order=["early", "late"])
    assert made.values.tolist() == [1.0, 2.0]
