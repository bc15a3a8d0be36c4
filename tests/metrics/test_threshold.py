import ast
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as peer

import tallymark as tm
from tallymark.errors import Undefined
from tallymark.metrics import expressions
from tallymark.quantify import losses
from tallymark.registry import METRICS

m = tm.metrics
AT_A_THRESHOLD = sorted(
    name for name in METRICS if METRICS[name].needs == "confusion" and METRICS[name].cells is not None
)
TRUE = [1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4]
PREDICTED = [1, 1, 1, 0, 0, 2, 2, 3, 3, 3, 4, 3, 4, 3]

tables = st.tuples(*[st.integers(1, 1_000)] * 4)
labels = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=8, max_size=80)


def rows(tp, fp, fn, tn):
    return np.repeat([1, 0, 1, 0], (tp, fp, fn, tn)), np.repeat([1, 1, 0, 0], (tp, fp, fn, tn))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (m.accuracy, peer.accuracy_score),
        (m.recall, peer.recall_score),
        (m.precision, peer.precision_score),
        (m.f1, peer.f1_score),
        (lambda c: m.fbeta(c, beta=0.5), lambda y, p: peer.fbeta_score(y, p, beta=0.5)),
        (m.balanced_accuracy, peer.balanced_accuracy_score),
        (m.mcc, peer.matthews_corrcoef),
        (m.kappa, peer.cohen_kappa_score),
        (m.jaccard, peer.jaccard_score),
        (m.specificity, lambda y, p: peer.recall_score(y, p, pos_label=0)),
        (m.npv, lambda y, p: peer.precision_score(y, p, pos_label=0)),
        (m.lr_plus, lambda y, p: peer.class_likelihood_ratios(y, p)[0]),
        (m.lr_minus, lambda y, p: peer.class_likelihood_ratios(y, p)[1]),
    ],
)
@given(table=tables)
def test_agrees_with_scikit_learn(ours, theirs, table):
    assert ours(tm.confusion(*rows(*table))) == pytest.approx(theirs(*rows(*table)), rel=1e-9)


@given(tables)
def test_identities(table):
    c = tm.Confusion.of_cells(**dict(zip(("tp", "fp", "fn", "tn"), table, strict=True)))
    assert m.informedness(c) == pytest.approx(2 * m.balanced_accuracy(c) - 1)
    assert m.mcc(c) ** 2 == pytest.approx(m.informedness(c) * m.markedness(c), abs=1e-12)
    assert m.diagnostic_odds_ratio(c) == pytest.approx(m.lr_plus(c) / m.lr_minus(c))
    assert m.f1(c) == pytest.approx(m.fbeta(c, beta=1))
    assert m.f1(c) == pytest.approx(2 / (1 / m.precision(c) + 1 / m.recall(c)))
    assert m.jaccard(c) == pytest.approx(m.f1(c) / (2 - m.f1(c)))
    assert m.g_measure(c) == pytest.approx(math.sqrt(m.precision(c) * m.recall(c)))
    assert m.geometric_mean(c) == pytest.approx(math.sqrt(m.recall(c) * m.specificity(c)))
    assert m.error(c) == pytest.approx(1 - m.accuracy(c))
    assert m.label_bias(c) == pytest.approx(m.predicted_prevalence(c) - m.prevalence(c))
    assert (m.fdr(c), m.false_omission_rate(c)) == (pytest.approx(1 - m.precision(c)), pytest.approx(1 - m.npv(c)))
    assert (m.fpr(c), m.fnr(c)) == (pytest.approx(1 - m.specificity(c)), pytest.approx(1 - m.recall(c)))
    assert m.expected_cost(c, cost_fp=2, cost_fn=7) == pytest.approx((2 * table[1] + 7 * table[2]) / sum(table))
    assert m.net_benefit(c, odds_at=0.2) == pytest.approx((table[0] - table[1] * 0.25) / sum(table))
    ratio = math.sqrt(m.fpr(c))
    assert m.prevalence_threshold(c) == pytest.approx(ratio / (math.sqrt(m.recall(c)) + ratio))


def test_known_answers():
    everything = tm.Confusion.of_cells(tp=90, fp=10, fn=0, tn=0)
    assert (m.accuracy(everything), m.balanced_accuracy(everything)) == (0.9, 0.5)
    assert m.d_prime(tm.Confusion.of_cells(tp=80, fp=20, fn=20, tn=80)) == pytest.approx(1.6832, abs=5e-5)
    assert m.d_prime(tm.Confusion.of_cells(tp=8, fp=0, fn=2, tn=9)) == math.inf


@pytest.mark.filterwarnings("ignore")
@given(labels)
def test_averages_agree_with_scikit_learn(pairs):
    y, p = map(list, zip(*pairs, strict=True))
    c = tm.confusion(y, p)
    assert m.accuracy(c) == pytest.approx(peer.accuracy_score(y, p))
    for ours, theirs in ((m.f1, peer.f1_score), (m.precision, peer.precision_score), (m.recall, peer.recall_score)):
        for average in ("micro", "macro", "weighted"):
            expected = theirs(y, p, average=average, zero_division=np.nan)
            found = ours(c, average=average)
            if not math.isnan(found):
                assert found == pytest.approx(expected)
    spread = len(set(y)) > 1 and len(set(p)) > 1
    if spread:
        assert m.mcc(c) == pytest.approx(peer.matthews_corrcoef(y, p), abs=1e-9)
        assert m.kappa(c) == pytest.approx(peer.cohen_kappa_score(y, p), abs=1e-9)
    if set(p) <= set(y):
        assert m.balanced_accuracy(c) == pytest.approx(peer.balanced_accuracy_score(y, p))


def test_both_macro_f_definitions():
    c = tm.confusion(TRUE, PREDICTED)
    labels = (1, 2, 3, 4)
    parts = [c.one_vs_rest(label) for label in labels]
    assert np.mean([m.f1(part) for part in parts]) == pytest.approx(0.6042, abs=5e-5)
    precision, recall = (np.mean([f(part) for part in parts]) for f in (m.precision, m.recall))
    assert 2 * precision * recall / (precision + recall) == pytest.approx(0.6361, abs=5e-5)
    # The same through the library; class 0 is never true, so it is given no weight, or left out.
    share = {0: 0.0, 1: 1, 2: 1, 3: 1, 4: 1}
    assert m.f1(c, average="weighted", weights=share) == pytest.approx(0.6042, abs=5e-5)
    assert m.f1(c, average="macro", classes=labels) == pytest.approx(0.6042, abs=5e-5)
    assert m.f1(c, average="f_of_means", classes=labels) == pytest.approx(0.6361, abs=5e-5)
    with pytest.warns(
        tm.UndefinedWarning,
        match=r"undefined for class 0 .it has no rows.; classes= averages over the others",
    ):
        m.recall(c, average="macro")
    with pytest.raises(tm.InputError, match="No class 9"):
        m.f1(c, average="macro", classes=[1, 9])
    with pytest.raises(tm.InputError, match="give average= too"):
        m.f1(c, classes=labels)
    kept = tm.confusion(["a", "a", "b", "b", "b", "c"], ["a", "b", "b", "b", "c", "c"])
    assert m.f1(kept, average="mean_of_f") == m.f1(kept, average="macro")
    p, r = m.precision(kept, average="macro"), m.recall(kept, average="macro")
    assert m.f1(kept, average="f_of_means") == pytest.approx(2 * p * r / (p + r))
    assert m.fbeta(kept, average="f_of_means", beta=3) == pytest.approx(10 * p * r / (9 * p + r))
    assert m.f1(kept, average="f_of_means") != pytest.approx(m.f1(kept, average="macro"), abs=1e-4)


def test_micro_and_weighted_recall_are_accuracy_and_move_with_class_sizes():
    for sizes, expected in (((1, 1, 1), 0.70), ((8, 1, 1), 0.84), ((1, 1, 8), 0.56)):
        recalls = np.array([0.9, 0.7, 0.5])
        matrix = np.zeros((3, 3))
        for i, (size, recall) in enumerate(zip(sizes, recalls, strict=True)):
            matrix[i, i] = size * recall
            matrix[i, (i + 1) % 3] = size * (1 - recall)
        c = tm.Confusion(matrix, ("a", "b", "c"))
        assert m.accuracy(c) == pytest.approx(expected, abs=5e-3)
        assert m.recall(c, average="micro") == pytest.approx(m.accuracy(c))
        assert m.f1(c, average="micro") == pytest.approx(m.accuracy(c))
        assert m.recall(c, average="weighted") == pytest.approx(m.accuracy(c))
        assert m.recall(c, average="macro") == pytest.approx(0.70)


def test_averaging_asks_when_it_must():
    c = tm.confusion(TRUE, PREDICTED)
    with pytest.raises(tm.InputError, match="need two classes.*average='macro'"):
        m.f1(c)
    with pytest.raises(tm.InputError, match="average='mean' is not known.*macro"):
        m.f1(c, average="mean")
    with pytest.raises(tm.InputError, match="average='f_of_means' is not known"):
        m.recall(c, average="f_of_means")
    with pytest.raises(tm.InputError, match="weights= goes with"):
        m.recall(c, average="macro", weights={})
    with pytest.raises(tm.InputError, match="lacks the classes"):
        m.recall(c, average="weighted", weights={1: 1.0})
    with pytest.raises(tm.InputError, match="no parameter 'beta'; it has: none"):
        m.f1(c.one_vs_rest(1), beta=2)
    with pytest.warns(tm.UndefinedWarning, match="recall: undefined for class 0"):
        assert math.isnan(m.recall(c, average="macro"))


def test_one_class_throughout_is_undefined_with_weights_too():
    for seed in range(100):
        w = np.random.default_rng(seed).random(40)
        c = tm.confusion(np.arange(40) % 4, np.zeros(40, int), classes=range(4), weights=w)
        with pytest.raises(tm.Undefined, match="one class"):
            METRICS["mcc"].compute(c)


def test_parameters_have_ranges():
    c = tm.Confusion.of_cells(tp=1, fp=1, fn=1, tn=1)
    for call in (lambda: m.fbeta(c, beta="x"), lambda: m.fbeta(c, beta=-1), lambda: m.net_benefit(c, odds_at=1)):
        with pytest.raises(tm.InputError, match="expected a number"):
            call()


def test_a_hundred_classes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 100, 20_000)
    p = np.where(rng.random(20_000) < 0.8, y, rng.integers(0, 100, 20_000))
    c = tm.confusion(y, p)
    assert m.mcc(c) == pytest.approx(peer.matthews_corrcoef(y, p))
    assert m.f1(c, average="macro") == pytest.approx(peer.f1_score(y, p, average="macro"))


@pytest.mark.parametrize("name", [n for n in METRICS if METRICS[n].expression])
def test_python_and_javascript_compute_the_same_bits(name):
    metric = METRICS[name]
    script = expressions.to_javascript(metric.expression)
    # The JavaScript is arithmetic with brackets and three functions of Math, which IEEE 754 defines exactly.
    code = compile(script.replace("Math.", ""), name, "eval")
    rng = np.random.default_rng(0)
    evaluate = expressions.to_numpy(metric.expression)
    for cells in rng.integers(1, 10**6, (200, 4)).astype(float):
        names = dict(zip(expressions.CELLS, map(float, cells), strict=True)) | dict(metric.parameters)
        assert eval(code, {"sqrt": math.sqrt, "abs": abs, "max": max}, names) == evaluate(*cells, **metric.parameters)
    names = {node.id for node in ast.walk(ast.parse(metric.expression)) if isinstance(node, ast.Name)}
    assert names <= {*expressions.CELLS, *expressions.SUMS, *metric.parameters, "sqrt", "abs", "max"}


def test_the_formula_language_is_closed():
    for bad in ("tp ** 2", "__import__('os')", "tp if fp else fn", "tp.real", "min(tp, fp)", "abs.real(tp)"):
        with pytest.raises(ValueError, match="not part of the formula language"):
            expressions.to_numpy(bad)


@given(st.tuples(*[st.integers(0, 50)] * 4).filter(lambda cells: min(cells[0] + cells[2], cells[1] + cells[3]) > 0))
def test_scores_of_the_count_are_the_losses_of_the_shares(cells):
    tp, fp, fn, tn = cells
    n = sum(cells)
    truth, estimate, matrix = (tp + fn) / n, (tp + fp) / n, tm.confusion(*rows(tp, fp, fn, tn), pos_label=1)
    score = losses.nas(truth, estimate)
    assert m.nas(matrix) == pytest.approx(score, abs=1e-12)
    assert m.nss(matrix) == pytest.approx(losses.nss(truth, estimate), abs=1e-12)
    for beta in (0.5, 2.0):
        expected = losses.q_measure(tp / (tp + fn), max(score, 0.0), beta=beta)
        assert m.q_measure(matrix, beta=beta) == pytest.approx(expected, abs=1e-9)


def test_large_counts_do_not_overflow():
    c = tm.Confusion.of_cells(tp=10**12, fp=10**12, fn=10**12, tn=3 * 10**12)
    small = tm.Confusion.of_cells(tp=1, fp=1, fn=1, tn=3)
    for f in (m.mcc, m.kappa, m.diagnostic_odds_ratio):
        assert f(c) == pytest.approx(f(small))


@given(table=tables, prevalence=st.sampled_from([None, 0.01, 0.6]), name=st.sampled_from(AT_A_THRESHOLD))
def test_chance_is_the_value_of_the_matrix_expected_without_knowledge(table, prevalence, name):
    matrix = tm.confusion(*rows(*table)).at_prevalence(prevalence)
    facts = METRICS[name]
    try:
        expected = facts.compute(matrix.independent())
    except Undefined:
        with pytest.raises(Undefined):
            facts.chance(matrix)
        return
    assert facts.chance(matrix) == pytest.approx(expected, rel=1e-12, abs=1e-12)
