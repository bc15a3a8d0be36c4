import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

import tallymark as tm
from tallymark.registry import QUANTIFIERS

pytestmark = pytest.mark.slow

CENTRES = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])


def count(name, validation, target, *, classes=None, **options):
    """An estimate from rows as arrays: labels, scores by class, and weights."""
    y, P, *w = validation
    known = tm.class_panel(y, P, classes=classes, weights=w[0] if w else None)
    return tm.quantify.estimate(name, known, tm.class_panel(scores=target, classes=known.labels), **options)


def draw(n, shares, seed):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(3), np.round(np.array(shares) * n).astype(int))
    x = rng.normal(CENTRES[y])
    p = np.exp(-((x[:, None] - CENTRES) ** 2).sum(axis=2) / 2)
    return y, p / p.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def data():
    y, P = draw(300, [1 / 3] * 3, 0)
    _, Q = draw(400, [0.6, 0.3, 0.1], 1)
    return y, P, Q


def shares(name, y, P, Q, **options):
    return count(name, (y, P), Q, level=None, **options).shares


def least_squares(A, b):
    k = len(b)
    found = minimize(
        lambda x: np.sum((A @ x - b) ** 2), np.full(k, 1 / k), method="SLSQP", bounds=[(0, 1)] * k,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1}, options={"ftol": 1e-14},
    )  # fmt: skip
    return found.x


def test_adjusted_counts_solve_least_squares_on_the_simplex(data):
    y, P, Q = data
    called, seen = P.argmax(axis=1), Q.argmax(axis=1)
    A = np.array([[np.mean(called[y == j] == i) for j in range(3)] for i in range(3)])
    b = np.array([np.mean(seen == i) for i in range(3)])
    assert shares("ac", y, P, Q) == pytest.approx(least_squares(A, b), abs=1e-5)
    A = np.array([P[y == j].mean(axis=0) for j in range(3)]).T
    assert shares("pacc", y, P, Q) == pytest.approx(least_squares(A, Q.mean(axis=0)), abs=1e-5)
    assert shares("cc", y, P, Q) == pytest.approx(b)
    assert shares("pcc", y, P, Q) == pytest.approx(Q.mean(axis=0))


def test_em_is_saerens_iteration(data):
    y, P, Q = data
    training = np.bincount(y) / len(y)
    pi = training.copy()
    for _ in range(20_000):
        joint = Q * pi / training
        pi = (joint / joint.sum(axis=1, keepdims=True)).mean(axis=0)
    assert shares("em", y, P, Q) == pytest.approx(pi, abs=1e-6)


def test_kde_and_energy_reach_their_optimum(data):
    y, P, Q = data
    densities = np.stack([np.exp(-cdist(Q, P[y == c], "sqeuclidean") / 0.02).mean(axis=1) for c in range(3)], axis=1)

    def best(loss):
        return minimize(
            loss, np.full(3, 1 / 3), method="SLSQP", bounds=[(1e-9, 1)] * 3, options={"ftol": 1e-13},
            constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
        ).x  # fmt: skip

    assert shares("kde", y, P, Q) == pytest.approx(best(lambda x: -np.mean(np.log(densities @ x + 1e-12))), abs=1e-3)
    between = np.array([[cdist(P[y == a], P[y == b], "cityblock").mean() for b in range(3)] for a in range(3)])
    there = np.array([cdist(P[y == a], Q, "cityblock").mean() for a in range(3)])
    assert shares("energy", y, P, Q) == pytest.approx(best(lambda x: 2 * x @ there - x @ between @ x), abs=1e-4)


ONE_AGAINST_THE_REST = ("x", "max", "t50", "ms", "sweep", "cs", "sord")


@pytest.mark.parametrize("name", ONE_AGAINST_THE_REST)
def test_methods_that_count_one_class_against_the_rest_are_refused(data, name):
    y, P, Q = data
    with pytest.raises(tm.InputError, match="wrong when the rest shifts too; .* use ac, pacc, em"):
        count(name, (y, P), Q)


_MEANS = np.array([0.0, 1.5, 3.0])


def _line(rng, y):
    """Three normal classes on a line, and their exact posteriors at equal shares."""
    densities = np.exp(-((rng.normal(_MEANS[y])[:, None] - _MEANS) ** 2) / 2)
    return densities / densities.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("name", ["ac", "pacc", "em", "bayes", "hdy", "dys"])
def test_every_method_is_right_under_exact_prior_shift(name):
    """One class against the rest gave 0.69, 0.24, 0.07 (ms) and 0.64, 0.18, 0.18 (bayes), with tight intervals."""
    rng = np.random.default_rng(0)
    truth = [0.75, 0.05, 0.20]
    y, t = rng.integers(3, size=20_000), rng.choice(3, 20_000, p=truth)
    found = shares(name, y, _line(rng, y), _line(rng, t), training_prevalence=None)
    assert found == pytest.approx(truth, abs=0.015)


@pytest.mark.parametrize("name", ["ac", "pacc", "bayes"])
def test_limits_and_joint_regions_hold_the_truth(name):
    truth, held, inside = np.array([0.75, 0.05, 0.20]), [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y, t = np.arange(300) % 3, rng.choice(3, 500, p=truth)
        found = count(name, (y, _line(rng, y)), _line(rng, t))
        held.append([e.low <= p <= e.high for e, p in zip(found.values(), truth, strict=True)])
        inside.append(found.region_holds(truth))
        assert not found.region_holds([0.05, 0.9, 0.05])
    # 93 % less three standard errors of 60 simulations, though there are 40.
    assert (np.mean(held, axis=0) > 0.83).all()
    assert np.mean(inside) > 0.83


def test_one_row_is_not_certain():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    known = _line(rng, y)
    for name in ("ac", "pacc", "em", "bayes", "hdy", "dys"):
        found = count(name, (y, known), known[:1], replicates=100)
        assert all(entry.high - entry.low > 0.5 for entry in found.values()), name


def test_a_class_that_is_not_there_has_limits_that_are_not_zero():
    rng = np.random.default_rng(0)
    y, t = np.arange(300) % 3, np.zeros(200, dtype=int)
    for name in ("ac", "pacc", "bayes", "em", "hdy"):
        found = count(name, (y, _line(rng, y)), _line(rng, t), replicates=100)
        assert all(entry.high > entry.low for entry in found.values()), name


@pytest.mark.parametrize("name", [name for name in QUANTIFIERS if name not in ONE_AGAINST_THE_REST])
def test_shares_add_up_and_have_limits(data, name):
    y, P, Q = data
    found = count(name, (y, P), Q, replicates=100)
    assert found.shares.sum() == pytest.approx(1.0)
    if name != "bl":
        for entry in found.values():
            assert 0 <= entry.low <= entry.prevalence <= entry.high <= 1
        assert found.region_holds(found.shares)
    assert found.to_dict()["classes"].keys() == {"0", "1", "2"}


@pytest.mark.parametrize("name", ["ac", "pacc", "em", "kde", "energy"])
def test_two_columns_give_the_binary_answer(name):
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    p, q = (1 / (1 + np.exp(-rng.normal(2 * v - 1))) for v in (y, np.arange(300) < 60))
    binary = tm.quantify.estimate(name, tm.tally(y, p), tm.tally(scores=q), level=None).prevalence
    two = shares(name, y, np.column_stack((1 - p, p)), np.column_stack((1 - q, q)))
    assert two[1] == pytest.approx(binary, abs=2e-4)


def test_text_labels_and_an_order_of_classes(data):
    y, P, Q = data
    words = np.array(["cat", "dog", "owl"])[y]
    found = count("ac", (words, P), Q, classes=["cat", "dog", "owl"], level=None)
    assert found["dog"].prevalence == shares("ac", y, P, Q)[1]
    turned = count("ac", (words, P[:, ::-1]), Q[:, ::-1], classes=["owl", "dog", "cat"], level=None)
    assert turned["owl"].prevalence == pytest.approx(found["owl"].prevalence, abs=1e-9)


@pytest.mark.parametrize("kind", ["bcts", "vs", "ts"])
def test_calibration_mends_overconfident_probabilities(kind):
    y, P = draw(3_000, [1 / 3] * 3, 2)
    truth, Q = draw(3_000, [0.6, 0.3, 0.1], 3)
    known = np.bincount(truth) / len(truth)
    loud = [p**3 / (p**3).sum(axis=1, keepdims=True) for p in (P, Q)]
    worse = np.abs(shares("em", y, *loud) - known).max()
    assert np.abs(shares("em", y, *loud, calibration=kind) - known).max() < worse / 2


def test_large_targets_are_worked_on_in_parts():
    y, P = draw(300, [1 / 3] * 3, 0)
    Q = np.tile(draw(300, [0.6, 0.3, 0.1], 1)[1], (200, 1))
    for name in ("kde", "energy"):
        assert shares(name, y, P, Q) == pytest.approx(shares(name, y, P, Q[:300]), abs=1e-4), name


def test_joint_regions_cover():
    held = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        y, P = draw(300, [1 / 3] * 3, 2 * seed)
        truth = rng.choice(3, 500, p=[0.5, 0.3, 0.2])
        x = rng.normal(CENTRES[truth])
        Q = np.exp(-((x[:, None] - CENTRES) ** 2).sum(axis=2) / 2)
        Q /= Q.sum(axis=1, keepdims=True)
        held += count("pacc", (y, P), Q, replicates=150, seed=seed).region_holds([0.5, 0.3, 0.2])
    assert 0.9 <= held / 200 <= 0.99


def test_bad_input(data):
    y, P, Q = data
    for validation, target, options, message in [
        ((y, P[:, :2]), Q, {}, "2 columns for 3 classes"),
        ((y, P), Q[:, :2], {}, "2 columns for 3 classes"),
        ((np.zeros(300, int), P), Q, {}, "one class only"),
        ((y, P), Q, {"classes": [0, 1, 5]}, "not among the classes"),
        ((y, P * 2), Q, {}, "add up to 1"),
        ((y, P), Q[:0], {}, "no rows"),
        ((y, P), Q, {"training_prevalence": [0.5, 0.5, 0.5]}, "adding up to 1"),
    ]:
        with pytest.raises(tm.InputError, match=message):
            count("em", validation, target, **options)
    with pytest.raises(tm.InputError, match="no row of class 3"):
        count("ac", (y, np.column_stack((P, P[:, :1]))), np.column_stack((Q, Q[:, :1])), classes=[0, 1, 2, 3])


@pytest.mark.parametrize("options", [{"threshold": 0.9}, {"population": 5_000}, {"interval": "profile"}, {"bogus": 1}])
def test_options_that_do_nothing_are_refused(data, options):
    y, P, Q = data
    with pytest.raises(tm.InputError):
        count("ac", (y, P), Q, **options)


@pytest.mark.parametrize(
    ("name", "options"), [("em", {"calibration": "bcts"}), ("kde", {}), ("ac", {}), ("energy", {})]
)
def test_weights_are_repeated_rows(data, name, options):
    y, P, Q = data
    w = np.random.default_rng(0).integers(0, 4, len(y))
    by_weight = count(name, (y, P, w.astype(float)), Q, level=None, **options).shares
    assert by_weight == pytest.approx(shares(name, np.repeat(y, w), np.repeat(P, w, axis=0), Q, **options), abs=1e-4)


def test_a_calibrations_own_error_is_in_the_interval():
    held = 0
    for seed in range(24):
        y, P = draw(150, [1 / 3] * 3, 2 * seed)
        _, Q = draw(1_000, [0.6, 0.3, 0.1], 2 * seed + 1)
        loud = [p**2 / (p**2).sum(axis=1, keepdims=True) for p in (P, Q)]
        found = count("em", (y, loud[0]), loud[1], calibration="bcts", replicates=100, seed=seed)
        held += found[0].low <= 0.6 <= found[0].high
    assert held / 24 >= 0.83
