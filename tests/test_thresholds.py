import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as peer

import tallymark as tm
from samples import labelled_scores, normal_sample
from tallymark.errors import Undefined
from tallymark.metrics.parameters import stated_parameters
from tallymark.registry import METRICS, POLICIES

MAXIMISED = {
    "youden": tm.metrics.informedness,
    "f1": tm.metrics.f1,
    "fbeta:0.5": lambda c: tm.metrics.fbeta(c, beta=0.5),
    "kappa": tm.metrics.kappa,
    "mcc": tm.metrics.mcc,
    "ba": tm.metrics.balanced_accuracy,
    "gm": tm.metrics.geometric_mean,
    "accuracy": tm.metrics.accuracy,
    "cost:1,50": lambda c: -tm.metrics.expected_cost(c, cost_fp=1, cost_fn=50),
    "topleft": lambda c: -(tm.metrics.fnr(c) ** 2 + tm.metrics.fpr(c) ** 2),
    "x": lambda c: -abs(tm.metrics.fpr(c) - tm.metrics.fnr(c)),
    "rate:0.3": lambda c: -abs(c.predicted_prevalence - 0.3),
    "breakeven": lambda c: -abs(c.cells.fp - c.cells.fn),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("policy", MAXIMISED)
@pytest.mark.parametrize("prevalence", [None, 0.2])
@given(sample=labelled_scores(st.integers(-8, 8).map(float), most=15))
def test_no_threshold_does_better_and_of_equals_the_lowest_is_taken(policy, prevalence, sample):
    y, s = sample
    t = tm.tally(y, s).at_prevalence(prevalence)
    merit = {float(cut): MAXIMISED[policy](t.at(cut)) for cut in (np.inf, *np.unique(s))}
    defined = [value for value in merit.values() if not math.isnan(value)]
    if not defined:
        with pytest.raises(tm.Undefined, match="undefined at every threshold"):
            t.at(policy)
        return
    best = max(defined)
    chosen = t.at(policy)
    assert MAXIMISED[policy](chosen) == pytest.approx(best, abs=1e-9)
    ties = [cut for cut, value in merit.items() if value > best - 1e-12 * max(1, abs(best))]
    if policy == "topleft" or prevalence:
        return  # rounding decides between equals
    assert chosen.threshold == min(ties)


@given(labelled_scores(), st.integers(0, 60))
def test_given_rates(sample, sixtieths):
    (y, s), rate = sample, sixtieths / 60
    t = tm.tally(y, s)
    cuts = [np.inf, *sorted(set(s), reverse=True)]
    tpr, fpr = {c: np.mean(s[y == 1] >= c) for c in cuts}, {c: np.mean(s[y == 0] >= c) for c in cuts}
    assert t.at(f"tpr:{rate!r}").threshold == max(c for c in cuts if tpr[c] >= rate)
    assert t.at(f"fpr:{rate!r}").threshold == min(c for c in cuts if fpr[c] <= rate)
    half = t.at("t50").threshold
    # In whole numbers, so that equally near is exactly equal: |2 tp - P|, the lowest positive's score of those.
    near = {c: abs(2 * np.sum(s[y == 1] >= c) - np.sum(y == 1)) for c in np.unique(s[y == 1])}
    assert half == min(c for c, gap in near.items() if gap == min(near.values()))


@given(labelled_scores(), st.integers(0, 60))
def test_given_precision(sample, sixtieths):
    (y, s), wanted = sample, sixtieths / 60
    t = tm.tally(y, s)
    good = [c for c in np.unique(s[y == 1]) if np.mean(y[s >= c]) >= wanted]
    everything = y.mean() >= wanted
    if everything:
        assert t.at(f"precision:{wanted!r}").threshold == s.min()
    elif good:
        assert t.at(f"precision:{wanted!r}").threshold == min(good)
    else:
        with pytest.raises(tm.Undefined, match="no threshold reaches a precision"):
            t.at(f"precision:{wanted!r}")


@pytest.mark.parametrize("weight", [0.1, 0.7, 3.3])
def test_a_constant_weight_moves_no_policy(weight):
    y, s = normal_sample(60, 0.5, decimals=1)
    plain, weighted = tm.tally(y, s), tm.tally(y, s, weights=np.full(60, weight))
    for k in range(31):
        for policy in (f"tpr:{k / 30!r}", f"fpr:{k / 30!r}"):
            assert plain.at(policy).threshold == weighted.at(policy).threshold
    for policy in ("youden", "f1", "x", "t50", "gm", "breakeven"):
        assert plain.at(policy).threshold == weighted.at(policy).threshold


def test_youden_against_scikit_learn():
    y, s = normal_sample(2_000)
    fpr, tpr, cuts = peer.roc_curve(y, s, drop_intermediate=False)
    assert tm.tally(y, s).at("youden").threshold == cuts[np.argmax(tpr - fpr)]


def test_intersection_of_two_normals():
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], 200_000)
    t = tm.tally(y, np.r_[rng.normal(2, 1, 200_000), rng.normal(0, 1, 200_000)])
    assert t.at("intersection").threshold == pytest.approx(1.0, abs=0.03)
    # With prevalence p the densities cross at 1 + ln((1 - p) / p) / 2.
    seen = t.at_prevalence(0.2)
    assert seen.at("intersection").threshold == pytest.approx(1.0, abs=0.03)
    assert seen.at("intersection:1").threshold == pytest.approx(1 + math.log(4) / 2, abs=0.05)
    # Rare positives lead only beyond their own mean, where a kernel density knows little.
    assert t.at_prevalence(0.01).at("intersection:1").threshold == pytest.approx(1 + math.log(99) / 2, abs=0.3)
    upside_down = tm.tally(1 - y, np.r_[rng.normal(0, 0.1, 200_000), rng.normal(0, 0.1, 200_000)])
    with pytest.raises(tm.Undefined, match="do not cross"):
        upside_down.at_prevalence(1e-9).at("intersection:1")


def test_the_lens_moves_prior_dependent_policies_only():
    t = tm.tally(*normal_sample(2_000, 0.3))
    seen = t.at_prevalence(0.01)
    assert seen.at("youden").threshold == t.at("youden").threshold
    assert seen.at("f1").threshold > t.at("f1").threshold
    assert seen.at("cost:1,50").threshold > t.at("cost:1,50").threshold


def test_calling_nothing_positive_can_be_cheapest():
    t = tm.tally([0, 0, 0, 1], [1, 2, 3, 0])
    assert t.at("cost:1,0.1").threshold == np.inf
    assert t.at("accuracy").threshold == np.inf


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("yuoden", "No threshold policy is called 'yuoden'. Did you mean 'youden'"),
        ("tpr", "'tpr' has no number behind it; write tpr:0.9"),
        ("cost:1", "'cost:1' has 1 number behind it; write cost:1,50 .cost_fp, cost_fn."),
        ("tpr:high", "'high' is not a list of numbers"),
        ("tpr:1.5", "tpr:1.5 is outside"),
        ("rate:-0.1", "rate:-0.1 is outside"),
        ("cost:-1,2", "costs must be 0 or more"),
        ("youden:3", "'youden:3' has 1 number behind it; write youden"),
    ],
)
def test_bad_policies(text, message):
    with pytest.raises(tm.InputError, match=message):
        tm.tally([0, 1], [0.1, 0.2]).at(text)


def test_numbers_and_text_spell_the_same_threshold():
    t = tm.tally([0, 1], [0.1, 0.2])
    assert t.at("0.15").threshold == t.at(0.15).threshold == 0.15
    assert t.at("max").threshold == t.at("youden").threshold


def test_the_table_lists_every_plain_policy_and_why_one_fails():
    table = tm.compare_thresholds(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    assert table["youden"].tp == 2
    assert {row["policy"] for row in table.rows()} >= {"youden", "f1", "x", "t50", "breakeven"}
    with pytest.raises(tm.InputError):
        tm.compare_thresholds(tm.tally([0, 1], [1, 2]), "tpr:7")


def test_every_policy_is_documented():
    for name in POLICIES:
        assert POLICIES[name].meaning.endswith(".")
        assert POLICIES[name].reference
    assert METRICS["youden"].name == "informedness"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_maximises_the_metrics_it_declares_and_no_others(policy):
    """Comparisons ask this fact; metrics of one parameter setting only (costs of 1 and 1) do not count."""
    text = {"cost": "cost:1,3", "fpr": "fpr:0.2", "rate": "rate:0.3"}.get(policy) or POLICIES[policy].example or policy
    given = stated_parameters(text, {}) or {"cost_fp": 1.0, "cost_fn": 7.0, "beta": 0.4, "odds_at": 0.125}
    rng = np.random.default_rng(0)
    missed = set()
    at_threshold = [
        f for f in METRICS.values() if f.needs == "confusion" and f.better in {"higher", "lower"} and not f.model_free
    ]
    for ties in (False, True) * 6:
        y = np.arange(50) % 3 == 0
        s = rng.normal(1.0 * y)
        t = tm.tally(y, np.round(s) if ties else s)
        try:
            chosen = t.at(text).cells
        except Undefined:
            continue
        cut = t.cutoffs
        candidates = [np.append(c, own).astype(float) for c, own in zip(t.cells(cut.tp, cut.fp), chosen, strict=True)]
        for facts in at_threshold:
            settings = {k: given.get(k, v) for k, v in facts.parameters.items()}
            with np.errstate(all="ignore"):
                values = facts.cells(*candidates, **settings) * (1.0 if facts.better == "higher" else -1.0)
            if not values[-1] >= np.nanmax(values) - 1e-12:
                missed.add(facts.name)
    assert {facts.name for facts in at_threshold} - missed == set(POLICIES[policy].maximises)
