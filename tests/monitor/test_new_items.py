"""New items beside known ones: counts by a naive loop, the rule's errors, how often to check, and the command line."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import fisher_exact, mannwhitneyu
from typer.testing import CliRunner

import tallymark as tm
from tallymark.cli.app import app


def sales(rng, worse=0.0, periods=10, n=300):
    """Products of which a few are new in each period; the classifier errs `worse` more often on these."""
    rows = []
    for period in range(periods):
        item = rng.integers(20 * period, 20 * period + 120, n)
        new = item >= 20 * (period - 1) + 120 if period else np.zeros(n, bool)
        y = rng.random(n) < 0.3
        right = rng.random(n) < np.where(new, 0.9 - worse, 0.9)
        score = np.where(y == right, rng.uniform(0.5, 1, n), rng.uniform(0, 0.5, n))
        rows.append(
            pd.DataFrame(
                {"t": period, "item": [f"i{i}" for i in item], "y": y.astype(int), "p": score, "price": 1.0 + new}
            )
        )
    return pd.concat(rows, ignore_index=True)


FRAME = sales(np.random.default_rng(0), worse=0.4)
COLUMNS = {"period": "t", "score": "p", "label": "y", "item": "item"}


@pytest.mark.filterwarnings("ignore")
def test_every_number_is_that_of_a_naive_loop():
    found = tm.monitor.watch(FRAME, **COLUMNS, value="price").new_items
    seen, last, p_values = set(), None, []
    for row, (period, part) in zip(found.periods, FRAME.groupby("t"), strict=True):
        items = set(part["item"])
        new = ~part["item"].isin(seen)
        assert row["period"] == period
        assert (row["rows"], row["items"], row["new_items"]) == (len(part), len(items), len(items - seen))
        if last is None:
            assert row["share_new"] is row["churn"] is None
        else:
            assert row["share_new"] == new.mean()
            assert row["churn"] == pytest.approx(len(last - items) / len(last))
            assert row["mean_score_new"] == pytest.approx(part["p"][new].mean())
            assert row["mean_value_known"] == pytest.approx(part["price"][~new].mean())
            assert row["p_scores"] == mannwhitneyu(part["p"][new], part["p"][~new]).pvalue
            wrong = (part["p"] >= 0.5) != part["y"]
            table = [[wrong[w].sum(), (~wrong)[w].sum()] for w in (new, ~new)]
            assert row["errors_new"] == wrong[new].mean()
            assert row["p_errors"] == pytest.approx(fisher_exact(table)[1])
            assert row["low"] <= row["more_errors"] <= row["high"]
            p_values.append(row["p_errors"])
        seen, last = seen | items, items
    assert [row["p_holm"] for row in found.periods[1:]] == pytest.approx(tm.study.holm(p_values).p_values)
    assert found.retrain


@pytest.mark.filterwarnings("ignore")
def test_the_order_of_rows_does_not_matter():
    mixed = FRAME.sample(frac=1, random_state=0)
    one, other = (tm.monitor.watch(frame, **COLUMNS).new_items.to_dict() for frame in (FRAME, mixed))
    for row, same in zip(one["periods"], other["periods"], strict=True):
        assert {k: v for k, v in row.items() if v is not None} == pytest.approx(
            {k: v for k, v in same.items() if v is not None}
        )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_rule_rarely_errs_and_finds_what_is_worse():
    rng = np.random.default_rng(1)
    alarms = {worse: sum(tm.monitor.watch(sales(rng, worse), **COLUMNS).new_items.retrain for _ in range(60)) / 60 for worse in (0.0, 0.3)}  # fmt: skip
    assert alarms[0.0] <= 0.1
    assert alarms[0.3] >= 0.9


@pytest.mark.filterwarnings("ignore")
def test_how_often_to_check_balances_both_costs():
    found = tm.monitor.watch(FRAME, **COLUMNS, check_cost=500.0, error_cost=2.0).new_items
    share = np.mean([row["share_new"] for row in found.periods[1:]])
    more = np.mean([row["more_errors"] for row in found.periods[1:]])
    assert found.check_every == pytest.approx(math.sqrt(2 * 500 / (share * more * 300 * 2)))

    def cost(every):
        return 500 / every + share * more * 300 * 2 * every / 2

    assert cost(found.check_every) <= min(cost(found.check_every * 1.1), cost(found.check_every / 1.1))
    dearer = tm.monitor.watch(FRAME, **COLUMNS, check_cost=2_000.0, error_cost=2.0).new_items
    assert dearer.check_every == pytest.approx(2 * found.check_every)


@pytest.mark.filterwarnings("ignore")
def test_without_labels_there_are_scores_and_churn_only():
    found = tm.monitor.watch(FRAME.drop(columns="y"), period="t", score="p", item="item").new_items
    assert not found.retrain
    assert all(row["p_errors"] is None for row in found.periods)
    assert all(row["p_scores"] is not None for row in found.periods[1:])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"check_cost": 1.0}, "belong together"),
        ({"check_cost": 1.0, "error_cost": 0.0, "item": "item"}, "above 0"),
        ({"check_cost": 1.0, "error_cost": 1.0}, "name the column"),
        ({"item": "nothing"}, "nothing"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(tm.InputError, match=message):
        tm.monitor.watch(FRAME, period="t", score="p", label="y", **options)


def test_command_and_report(tmp_path):
    path = tmp_path / "sales.csv"
    FRAME.to_csv(path, index=False)
    command = ["watch", str(path), "--period", "t", "--score", "p", "--label", "y", "--item", "item"]
    answer = json.loads(CliRunner().invoke(app, [*command, "--json"], catch_exceptions=False).stdout)
    assert answer["new_items"]["retrain"] is True
    done = CliRunner().invoke(app, [*command, "--check-cost", "500", "--error-cost", "2"], catch_exceptions=False)
    assert "New items" in done.stdout
    assert "check every" in done.stdout
