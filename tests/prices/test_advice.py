"""Every cell of the two tables, their contradictions, and stability read off data."""

import itertools

import numpy as np
import pandas as pd
import pytest

import tallymark as tm
from tallymark.prices import advice

#: Table 1: (prevalence stable, prices stable, share, emphasis) to (metric, space, weighting, beta).
BINARY = [
    ((True, True, "low", None), ("fbeta", "pr", True, 1.0)),
    ((True, True, "low", "fp"), ("fbeta", "pr", True, 0.5)),
    ((True, True, "low", "fn"), ("fbeta", "pr", True, 2.0)),
    ((True, True, "balanced", None), ("balanced_accuracy", "roc", False, None)),
    ((True, True, "high", None), ("balanced_accuracy", "roc", False, None)),
    ((True, True, "balanced", "fp"), ("fbeta", "pr", True, 0.5)),
    ((True, True, "high", "fn"), ("fbeta", "pr", True, 2.0)),
    ((True, False, "low", None), ("fbeta", "pr", False, 1.0)),
    ((True, False, "low", "fp"), ("fbeta", "pr", False, 1.0)),
    ((True, False, "balanced", None), ("balanced_accuracy", "roc", False, None)),
    ((True, False, "high", "fn"), ("balanced_accuracy", "roc", False, None)),
    ((False, True, "low", None), ("fbeta", "pr", False, 1.0)),
    ((False, True, "low", "fn"), ("fbeta", "pr", False, 2.0)),
    ((False, True, "balanced", "fp"), ("fbeta", "pr", False, 0.5)),
    ((False, True, "balanced", None), ("balanced_accuracy", "roc", False, None)),
    ((False, True, "high", None), ("balanced_accuracy", "roc", False, None)),
    *[((False, False, share, error), ("balanced_accuracy", "roc", False, None)) for share, error in itertools.product(("low", "balanced", "high"), (None, "fp", "fn"))],
]  # fmt: skip


@pytest.mark.parametrize(("asked", "wanted"), BINARY)
def test_table_one(asked, wanted):
    stable, values, share, error = asked
    found = tm.advise(prevalence_stable=stable, values_stable=values, prevalence=share, emphasise=error)
    assert (found.metric, found.space, found.weighting, found.beta) == wanted
    assert found.averaging == ("macro" if wanted[2] else None)
    assert all(why for _, why in found.reasons)
    assert not found.doubts


#: Table 2: (prevalence stable, prices stable, true negatives matter, emphasis) to (metric, space, weighting, averaging, beta).
MANY = [
    ((True, True, False, None), ("fbeta", "pr", True, "macro", 1.0)),
    ((True, True, True, None), ("balanced_accuracy", "roc", True, "macro", None)),
    ((True, True, True, "fp"), ("fbeta", "pr", True, "macro", 0.5)),
    ((True, False, False, None), ("fbeta", "pr", True, "macro", 1.0)),
    ((True, False, True, "fn"), ("balanced_accuracy", "roc", True, "macro", None)),
    ((False, True, False, "fn"), ("fbeta", "pr", False, "micro", 2.0)),
    ((False, True, False, None), ("fbeta", "pr", False, "micro", 1.0)),
    ((False, False, False, None), ("fbeta", "pr", False, "micro", 1.0)),
    ((False, False, True, None), ("balanced_accuracy", "roc", False, "macro", None)),
]


@pytest.mark.parametrize(("asked", "wanted"), MANY)
def test_table_two(asked, wanted):
    stable, values, negatives, error = asked
    found = tm.advise(
        classes=5, prevalence_stable=stable, values_stable=values, true_negatives_matter=negatives, emphasise=error
    )
    assert (found.metric, found.space, found.weighting, found.averaging, found.beta) == wanted


def test_contradictions_come_with_a_doubt():
    assert any(
        "micro" in doubt and "macro" in doubt
        for doubt in tm.advise(classes=3, prevalence_stable=True, values_stable=False).doubts
    )
    assert any(
        "not" in doubt and "micro" in doubt
        for doubt in tm.advise(classes=3, prevalence_stable=False, values_stable=True).doubts
    )
    assert any(
        "true negatives" in doubt
        for doubt in tm.advise(
            prevalence_stable=True, values_stable=True, prevalence="low", true_negatives_matter=True
        ).doubts
    )

    # What the doubt says is so: micro-averaged F of all classes moves with prevalence.
    def matrix(share):
        return tm.Confusion(np.array([[90 * share, 10 * share], [40 * (1 - share), 60 * (1 - share)]]), (0, 1))

    one, other = (tm.metrics.f1(matrix(share), average="micro") for share in (0.5, 0.9))
    assert one != pytest.approx(other, abs=0.05)


def test_costs_give_beta():
    found = tm.advise(prevalence_stable=True, values_stable=True, prevalence="low", cost_fp=1.0, cost_fn=9.0)
    assert found.beta == pytest.approx(3.0)


def frame(shares, shifts, seed=0, n=600):
    rng = np.random.default_rng(seed)
    parts = []
    for month, (share, shift) in enumerate(zip(shares, shifts, strict=True)):
        y = np.arange(n) < share * n
        parts.append(pd.DataFrame({"m": month, "y": y, "p": rng.normal(shift, 1, n)}))
    return pd.concat(parts)


@pytest.mark.parametrize(
    ("shares", "shifts", "metric", "stable"),
    [
        ((0.1, 0.1, 0.1), (0, 0, 0), "fbeta", (True, True)),
        ((0.1, 0.3, 0.5), (0, 0, 0), "balanced_accuracy", (False, True)),
        ((0.4, 0.4, 0.4), (0, 1, 2), "balanced_accuracy", (True, False)),
        ((0.1, 0.4, 0.1), (0, 1, 2), "balanced_accuracy", (False, False)),
    ],
)
def test_stability_is_read_off_data(shares, shifts, metric, stable):
    found = tm.advise(frame(shares, shifts), period="m", label="y", value="p")
    assert found.metric == metric
    p = {row["about"].split(",")[0]: row["p_value"] for row in sorted(found.evidence, key=lambda row: -row["p_value"])}
    assert (p["prevalence"] > 0.05, p["values"] > 0.05) == stable
    said = tm.advise(
        frame(shares, shifts), period="m", label="y", value="p", prevalence_stable=False, values_stable=False
    )
    assert said.metric == "balanced_accuracy"


def test_reading_errs_as_often_as_it_says():
    wrong = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        data = pd.DataFrame({"m": np.repeat(np.arange(6), 80), "y": rng.random(480) < 0.3, "p": rng.normal(size=480)})
        found = tm.advise(data, period="m", label="y", value="p")
        wrong += min(row["p_value"] for row in found.evidence[1:]) <= 0.05
    assert wrong / 150 <= 0.1


def test_wrong_things_are_named():
    for options, told in (
        ({}, "prevalence_stable"),
        ({"prevalence_stable": True}, "values_stable"),
        ({"prevalence_stable": True, "values_stable": True, "prevalence": "tiny"}, "prevalence='tiny'"),
        ({"prevalence_stable": True, "values_stable": True, "emphasise": "both"}, "emphasise='both'"),
        ({"prevalence_stable": True, "values_stable": True, "cost_fp": 1.0}, "both costs"),
        ({"classes": 1, "prevalence_stable": True, "values_stable": True}, "classes is 1"),
        ({"data": pd.DataFrame({"m": [1, 2]})}, "period= and label="),
        ({"data": 7, "period": "m", "label": "y"}, "expected a dataframe"),
    ):
        with pytest.raises(tm.InputError, match=told):
            tm.advise(**options)


def test_beta_from_what_errors_do():
    rng = np.random.default_rng(0)
    y = rng.random(20_000) < 0.5
    # What is taken in by mistake is far dearer; what is missed is like the rest.
    price = np.exp(rng.normal(np.where(y, 0.0, 1.0), 0.2))
    frame = pd.DataFrame({"y": y, "price": price, "c": y ^ (rng.random(20_000) < 0.1)})
    impact = tm.prices.impact(frame, label="y", predicted="c", value="price")
    advice = tm.advise(prevalence_stable=True, values_stable=True, prevalence="low", impact=impact)
    assert advice.beta < 0.6
    with pytest.raises(tm.InputError, match="leave emphasise"):
        tm.advise(prevalence_stable=True, values_stable=True, impact=impact, emphasise="fp")


def test_a_report_puts_what_is_advised_first(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random(500) < 0.3
    advice = tm.advise(prevalence_stable=False, values_stable=False)
    path = tm.report(tm.tally(y, rng.normal(y)), tmp_path / "r.html", advice=advice)
    page = path.read_text(encoding="utf-8")
    assert "Watch Balanced accuracy" in page
    table = page[page.index('<table class="sortable">') :]
    assert table.index("balanced_accuracy") < table.index("auroc")
    assert tm.report(advice, tmp_path / "a.html").exists()


def test_stability_is_read_off_files(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "m": np.repeat([1, 2], 400),
            "y": rng.random(800) < np.repeat([0.1, 0.4], 400),
            "v": rng.normal(np.repeat([0.0, 1.0], 400)),
        }
    )
    frame.to_csv(tmp_path / "f.csv", index=False)
    found = tm.advise(str(tmp_path / "f.csv"), period="m", label="y", value="v")
    assert found.to_dict() == tm.advise(frame, period="m", label="y", value="v").to_dict()
    assert found.evidence[1]["psi"] > 0.25


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": "x"}, "level"), ({"level": 5}, "level"), ({"value": "text"}, "no numbers"), ({"period": "gap"}, "missing"),
        ({"impact": 5}, "expected what tm.prices.impact gives"), ({"prevalence_stable": "no"}, "expected True or False"),
        ({"value": "nothing"}, "values stable"),
    ],
)  # fmt: skip
def test_odd_input_is_named(options, message):
    frame = pd.DataFrame(
        {"m": [1, 2] * 20, "y": [0, 1, 1, 0] * 10, "v": 1.0, "text": "a", "nothing": np.nan, "gap": [1.0, np.nan] * 20}
    )
    with pytest.raises(tm.InputError, match=message):
        tm.advise(frame, **({"period": "m", "label": "y", "value": "v"} | options))


def test_months_are_compared_in_their_order():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"m": np.repeat(["9", "10", "11"], 100), "y": 1, "v": rng.normal(size=300)})
    frame.loc[::3, "y"] = 0
    assert [row["about"] for row in tm.advise(frame, period="m", label="y", value="v").evidence[1:]] == [
        "values, 9 to 10",
        "values, 10 to 11",
    ]


def test_the_tables_have_a_rule_for_every_case():
    names = ("prevalence_stable", "values_stable", "rare", "tuned", "negatives_matter")
    for values in itertools.product((True, False), repeat=len(names)):
        facts = dict(zip(names, values, strict=True))
        for table in (advice._TWO_CLASSES, advice._MORE_CLASSES):
            assert any(rule.when.items() <= facts.items() for rule in table)
