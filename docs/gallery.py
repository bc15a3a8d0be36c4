"""Every picture on generated data, with the call that draws it: for the gallery page of the documentation and for the tests.

To add one: write its function in ``tallymark.charts`` and a function with ``@picture`` here. The page shows the source of that function and of
the data it names, so that what is shown is what was run.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import tallymark as tm

c = tm.charts

#: What every piece of code on the page begins with.
IMPORTS = """\
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import tallymark as tm"""

#: Data by name, and pictures by the name of their file: (theme of the page, title, function).
DATA: dict[str, Callable[..., Any]] = {}
PICTURES: dict[str, tuple[str, str, Callable[..., Any]]] = {}


def data(function: Callable[..., Any]) -> Callable[..., Any]:
    """Data that pictures name; made once."""
    DATA[function.__name__] = function
    return cache(function)


def picture(theme: str, title: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A picture of the gallery, under a `theme` of the page and with a title in words."""

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        PICTURES[function.__name__.replace("_", "-")] = (theme, title, function)
        return function

    return declare


@data
def two_models():
    rng = np.random.default_rng(3)
    y = (rng.random(3_000) < 0.15).astype(int)
    forest = 1 / (1 + np.exp(-rng.normal(2.4 * y - 1.6)))
    logistic = 1 / (1 + np.exp(-2.0 * rng.normal(1.6 * y - 1.0)))
    return tm.panel(y, {"forest": forest, "logistic": logistic})


@data
def one_model():
    return two_models().tally("forest")


@data
def two_rankings():
    # The example of Rahardja and Fränti.
    return tm.panel([0, 0, 0, 1, 1], {"first": [1, 2, 110, 6, 120], "second": [100, 150, 2, 130, 3]})


@data
def points_of_two_classes():
    rng = np.random.default_rng(15)
    truth = np.where(rng.random(120) < 0.3, 1, -1)
    places = rng.normal(size=(120, 2)) + [3.0, 2.5] + 0.8 * truth[:, None]
    line = (0.63534, 0.78007, -4.55005)
    predicted = np.where(places @ line[:2] + line[2] >= 0, 1, -1)
    return {"data": places, "truth": truth, "predicted": predicted, "line": line}


@data
def metrics_of_errors():
    q = {f"Q{beta:g}": ("q_measure", {"beta": beta}) for beta in (0.5, 1, 2)}
    return {"recall": ("recall", {}), **q, "NAS": ("nas", {}), "KLD": ("kld", {})}


@data
def unlabelled():
    rng = np.random.default_rng(13)
    hidden = rng.random(2_000) < 0.05
    return tm.tally(scores=1 / (1 + np.exp(-rng.normal(2.4 * hidden - 1.6))))


@data
def three_classes():
    rng = np.random.default_rng(14)
    classes = np.array(["bread", "milk", "tea"])
    truth = rng.integers(3, size=600)
    scores = rng.dirichlet(np.ones(3), 600) + 1.4 * np.eye(3)[truth] * rng.random((600, 1))
    return tm.class_scores(classes[truth], scores, classes=list(classes))


@data
def audited_map():
    checked = [[66, 0, 5, 4], [0, 55, 8, 12], [1, 0, 153, 11], [2, 1, 9, 313]]
    names = ["deforestation", "forest gain", "stable forest", "other"]
    pixels = [200_000, 150_000, 3_200_000, 6_450_000]
    return tm.audits.from_matrix(checked, pixels, classes=names, unit=0.09)


@data
def judged_answers():
    rng = np.random.default_rng(8)
    topic = rng.choice(["law", "maths", "writing"], 3_000)
    truth = rng.random(3_000) < np.where(topic == "maths", 0.55, 0.8)
    verdict = np.where(truth, rng.random(3_000) < 0.95, rng.random(3_000) < np.where(topic == "maths", 0.6, 0.25))
    human = np.where(np.arange(3_000) < 600, truth, np.nan)
    items = {"topic": topic, "judge": verdict.astype(int), "human": human}
    return tm.raters.judge(items, judge="judge", human="human", by="topic")


@data
def some_cuts():
    coin = tm.Confusion(np.array([[1275, 1275], [240, 210]]), (0, 1), positive=1)
    return {f"at {cut:g}": one_model().at(cut) for cut in (0.2, 0.35, 0.5, 0.7)} | {"coin": coin}


@data
def five_classifiers():
    # The five of the Office for National Statistics' picture; its coordinates are lost, these keep its story.
    rates = {"A": (0.4, 0.05), "B": (0.75, 0.2), "C": (0.85, 0.35), "D": (0.95, 0.6), "E": (0.5, 0.4)}
    return {
        name: tm.Confusion.of_cells(tp=1_000 * t, fp=1_000 * f, fn=1_000 - 1_000 * t, tn=1_000 - 1_000 * f)
        for name, (t, f) in rates.items()
    }


@data
def subsamples():
    return tm.by_sample_size(one_model(), replicates=60)


@data
def counts():
    methods = ("cc", "ac", "ms", "bayes")
    return {name: tm.quantify.estimate(name, one_model(), unlabelled(), replicates=200) for name in methods}


@data
def rare_texts():
    rng = np.random.default_rng(4)
    words = np.array([f"word{i}" for i in range(200)] + [f"topic{i}" for i in range(20)])

    def text(hit):
        topical = hit & (rng.random(20) < 0.25)
        return " ".join(words[np.where(topical, rng.integers(200, 220, 20), rng.integers(200, size=20))])

    known, hidden = np.arange(400) < 120, np.arange(2_000) % 50 == 0
    return [text(hit) for hit in known], known, [text(hit) for hit in hidden], hidden


@data
def rare_count():
    labelled, known, target, hidden = rare_texts()
    return tm.rare.bootstrap(labelled, known, target, target_labels=hidden, machines=50)


@data
def rare_methods_compared():
    labelled, known, target, hidden = rare_texts()
    few = {"balanced": {}, "bootstrap": {"machines": 50}, "ensemble": {"machines": 4, "ensembles": 2}}
    return tm.rare.compare(labelled, known, target, methods=few, target_labels=hidden)


@data
def weight_sweep():
    labelled, known, target, hidden = rare_texts()
    return tm.rare.class_weight_sweep(labelled, known, target, target_labels=hidden, machines=3)


@data
def study_results():
    rng = np.random.default_rng(5)
    sets = []
    for number, distance in enumerate((0.6, 0.9, 1.2, 1.6)):
        y = (np.arange(200) < 70).astype(int)
        sets.append((f"set {number + 1}", rng.normal(size=(200, 3)) + distance * y[:, None], y))
    methods = {"CC": "cc", "AC": "ac", "MS": "ms", "PACC": "pacc", "EM": "em", "Bayes": "bayes"}
    with TemporaryDirectory() as folder:
        store = Path(folder) / "gallery.sqlite"
        classifier = LinearDiscriminantAnalysis()
        study = tm.study.Study("gallery", sets, methods, classifier, protocol={"folds": 4}, store=store)
        study.run()
        return study.results()


@data
def sales():
    rng = np.random.default_rng(8)
    product, month = np.tile(np.arange(60), 12), np.repeat(np.arange(1, 13), 60)
    own = product < 30
    price = np.exp(rng.normal(0, 0.3, 60)[product] + np.where(own, 0.004, 0.012) * month + rng.normal(0, 0.04, 720))
    return pd.DataFrame({"month": month, "id": product, "own": own, "price": price, "q": rng.poisson(20, 720) + 1.0})


@data
def index_by_formula():
    columns = {"period": "month", "product": "id", "price": "price", "quantity": "q"}
    return {name: tm.prices.index(sales(), formula=name, **columns) for name in ("fisher", "jevons", "geks_fisher")}


@data
def index_fan():
    return tm.prices.index_under_error(sales(), label="own", period="month", product="id", price="price", quantity="q")


@data
def called_prices():
    rng = np.random.default_rng(6)
    own = rng.random(6_000) < 0.5
    price = np.exp(rng.normal(np.where(own, 0.0, 0.4), 0.3))
    wrong = rng.random(6_000) < np.where(own, 0.04 + 0.12 * (price > 1.2), 0.1)
    lines = pd.DataFrame({"month": rng.integers(1, 7, 6_000), "own": own, "price": price, "called": own ^ wrong})
    return tm.prices.impact(lines, label="own", predicted="called", value="price", period="month")


@data
def audit():
    rng = np.random.default_rng(9)
    p = rng.beta(0.3, 6, 8_000)
    firms = pd.DataFrame({"p": p, "region": rng.choice(["east", "north", "south"], len(p))})
    plan = tm.audits.plan(firms, score="p", size=500)
    checked = np.full(len(p), np.nan)
    checked[plan.drawn] = rng.random(plan.size) < p[plan.drawn]
    firms = firms.assign(checked=checked, inclusion=plan.inclusion)
    found = tm.audits.estimate(firms, label="checked", score="p", threshold=0.2, by="region", inclusion="inclusion")
    return plan, found


@data
def watched():
    rng = np.random.default_rng(11)
    month = np.repeat(np.arange(1, 25), 400)
    y = rng.random(len(month)) < np.where(month > 16, 0.42, 0.3)
    rows = pd.DataFrame({"month": month, "p": 1 / (1 + np.exp(-rng.normal(2 * y - 1)))})
    rows["y"] = np.where(month <= 10, y, np.nan)
    rows["price"] = np.exp(rng.normal(0.1 * (month > 20), 0.4))
    return tm.monitor.watch(rows, period="month", score="p", label="y", value="price")


@data
def claim_costs():
    rng = np.random.default_rng(12)
    y = rng.random(5_000) < 0.1
    claims = pd.DataFrame({"fraud": y, "amount": rng.lognormal(3, 1, 5_000)})
    for name, distance in (("forest", 2.5), ("logistic", 1.8)):
        claims[name] = 1 / (1 + np.exp(-rng.normal(distance * y - 2)))
    return tm.decisions.costs(claims, label="fraud", score=["forest", "logistic"], cost_fn="amount", cost_fp=5.0)


@picture("Ranking", "ROC curves of two models, with Youden's threshold")
def roc(theme):
    return c.roc(two_models(), thresholds=["youden"], theme=theme)


@picture("Ranking", "A ROC curve with its area and the thresholds that policies choose")
def roc_thresholds(theme):
    return c.roc(one_model(), thresholds=["youden", "topleft", "f1", "kappa", 0.5], theme=theme)


@picture("Ranking", "A ROC curve with its band, convex hull and a partial area")
def roc_band(theme):
    return c.roc(one_model(), band=True, hull=True, partial=(0.0, 0.1), theme=theme)


@picture("Ranking", "Precision and recall of two models, with the threshold of the best F1")
def pr(theme):
    return c.pr(two_models(), thresholds=["f1"], theme=theme)


@picture("Ranking", "Precision and recall where one in a hundred is positive, with bands")
def pr_at_prevalence(theme):
    return c.pr(two_models(), prevalence=0.01, band=True, theme=theme)


@picture("Ranking", "Predictive ROC: how often predicted positives are right, against how often negatives are wrong")
def predictive_roc(theme):
    return c.predictive_roc(two_models(), thresholds=["f1"], theme=theme)


@picture("Ranking", "Positive trade-off: recall against the share of wrong alarms")
def positive_tradeoff(theme):
    return c.positive_tradeoff(two_models(), thresholds=["f1"], theme=theme)


@picture("Ranking", "Detection error trade-off: misses against false alarms on normal deviates")
def det(theme):
    return c.det(two_models(), theme=theme)


@picture("Ranking", "Gain: how many of the positives are in the top of the list")
def gain(theme):
    return c.gain(two_models(), theme=theme)


@picture("Ranking", "Lift: how many times more positives than in a random list")
def lift(theme):
    return c.gain(two_models(), lift=True, theme=theme)


@picture("Ranking", "AUROC with and without the objects every model gets right")
def no_simple(theme):
    return c.without_simple(tm.without_simple(two_models()), theme=theme)


@picture("Ranking", "AUROC rises with every simple negative, for every model")
def simple_objects(theme):
    return c.simple_objects(tm.without_simple(two_rankings()), theme=theme)


@picture("Thresholds, prevalence and costs", "Metrics against the threshold")
def thresholds(theme):
    return c.over_thresholds(one_model(), theme=theme)


@picture("Thresholds, prevalence and costs", "Error rates, and the thresholds that policies of counting choose")
def threshold_policies(theme):
    return c.over_thresholds(
        one_model(), metrics=["fpr", "fnr"], threshold={"AC": 0.5, "X": "x", "Max": "youden", "T50": "t50"}, theme=theme
    )


@picture("Thresholds, prevalence and costs", "Metrics over every number of errors of both kinds")
def surfaces(theme):
    return c.metric_surfaces(metrics_of_errors(), positives=100, negatives=1000, theme=theme)


@picture("Thresholds, prevalence and costs", "Metrics of the same calls at other prevalences")
def prevalence(theme):
    return c.over_prevalence(one_model(), threshold="f1", theme=theme)


@picture("Thresholds, prevalence and costs", "Cost curve: the lowest cost for every mix of prevalence and costs")
def cost(theme):
    return c.cost_curve(two_models(), theme=theme)


@picture("Thresholds, prevalence and costs", "Brier curve: the loss when the share of the costs is the threshold")
def brier(theme):
    return c.brier_curve(two_models(), theme=theme)


@picture(
    "Thresholds, prevalence and costs", "Decision curve: net benefit against the probability from which one would act"
)
def decision(theme):
    return c.decision_curve(two_models(), theme=theme)


@picture("Thresholds, prevalence and costs", "Payoff when every item has its own costs")
def costs(theme):
    return c.costs(claim_costs(), theme=theme)


@picture("Which classifier", "Cuts of one model in ROC space")
def roc_space(theme):
    return c.roc_space(some_cuts(), theme=theme)


@picture("Which classifier", "The same with lines of equal balanced accuracy")
def roc_space_cost(theme):
    return c.roc_space(some_cuts(), metric="balanced_accuracy", theme=theme)


@picture("Which classifier", "Cuts of one model in precision–recall space")
def pr_space(theme):
    return c.pr_space(some_cuts(), theme=theme)


@picture("Which classifier", "Five classifiers where one in ten is positive")
def roc_space_rare(theme):
    return c.roc_space(five_classifiers(), prevalence=0.1, theme=theme)


@picture("Which classifier", "Five classifiers where nine in ten are positive")
def roc_space_common(theme):
    return c.roc_space(five_classifiers(), prevalence=0.9, theme=theme)


@picture("Confusion", "Points of a plane by true (symbol) and predicted class (colour)")
def points(theme):
    return c.class_points(**points_of_two_classes(), theme=theme)


@picture("Confusion", "A confusion matrix at the threshold of the best F1")
def confusion(theme):
    return c.confusion(one_model().at("f1"), theme=theme)


@picture("Confusion", "A confusion matrix of three classes, as rates")
def confusion_rates(theme):
    return c.confusion(three_classes().confusion, rates=True, theme=theme)


@picture("Confusion", "How well each class's score tells it from each other class (sPCC)")
def class_correlations(theme):
    return c.class_correlations(tm.evaluate(three_classes(), level=None), theme=theme)


@picture("Scores and calibration", "Scores of both classes")
def scores(theme):
    return c.score_histogram(one_model(), theme=theme)


@picture("Scores and calibration", "Scores of both classes, counts on a log scale")
def scores_log(theme):
    return c.score_histogram(one_model(), log=True, theme=theme)


@picture("Scores and calibration", "Scores before and after calibration")
def scores_calibrated(theme):
    return c.score_histogram(one_model(), calibrated=tm.calibration.platt(one_model()).apply(one_model()), theme=theme)


@picture("Scores and calibration", "Reliability: what happened against what was stated")
def reliability(theme):
    return c.calibration_curve(two_models(), theme=theme)


@picture("How sure", "Metrics of two models with their intervals")
def forest(theme):
    return c.forest(
        tm.evaluate(two_models(), threshold="f1", metrics=["auroc", "average_precision", "spcc", "f1", "mcc"]),
        theme=theme,
    )


@picture("How sure", "The difference of two models on the same rows")
def comparison(theme):
    return c.comparison(tm.compare(two_models()), theme=theme)


@picture("How sure", "Metrics and their spread by the amount of data")
def by_size(theme):
    return c.by_sample_size(subsamples(), theme=theme)


@picture("How sure", "Two metrics of the same subsamples")
def size_scatter(theme):
    return c.size_scatter(subsamples(), theme=theme)


@picture("Counting", "How many there are, by four methods")
def counts_by_method(theme):
    return c.prevalences(counts(), theme=theme)


@picture("Counting", "Can the target's scores be a mixture of the two classes?")
def mixture(theme):
    return c.mixture_fit(tm.quantify.mixture_fit(one_model(), unlabelled()), theme=theme)


@picture("Counting", "A count of rare texts")
def rare_counted(theme):
    return c.rare_count(rare_count(), theme=theme)


@picture("Counting", "Rare texts counted by every method")
def rare_methods(theme):
    return c.rare_counts(rare_methods_compared(), theme=theme)


@picture("Counting", "Rare texts: the weight of the positives in training")
def class_weights(theme):
    return c.class_weight_sweep(weight_sweep(), theme=theme)


@picture("Counting", "The same: how well labels and probabilities go along with the truth")
def class_weights_spcc(theme):
    return c.class_weight_sweep(weight_sweep(), measure="spcc", theme=theme)


@picture("Audits", "Which rows to check by hand")
def audit_plan(theme):
    return c.audit_plan(audit()[0], theme=theme)


@picture("Audits", "What the checked rows say")
def audit_estimate(theme):
    return c.audit_estimate(audit()[1], theme=theme)


@picture("Audits", "Areas of a map from an error matrix")
def audit_counts(theme):
    return c.audit_counts(audited_map(), theme=theme)


@picture("Judges", "Pass rates as judged and as people correct them")
def judgement(theme):
    return c.judgement(judged_answers(), theme=theme)


@picture("Prices", "A price index by three formulas")
def price_index(theme):
    return c.price_index(index_by_formula(), theme=theme)


@picture("Prices", "The index over classifiers that are as good")
def index_under_error(theme):
    return c.index_under_error(index_fan(), theme=theme)


@picture("Prices", "Prices of errors beside those of what is classified right")
def impact(theme):
    return c.impact(called_prices(), theme=theme)


@picture("Prices", "What the errors do to the level of the price, by month")
def impact_by_period(theme):
    return c.impact_by_period(called_prices(), theme=theme)


@picture("Watching", "Share and expected metrics, period by period")
def watch(theme):
    return c.watch(watched(), theme=theme)


@picture("Watching", "The control charts and their limits")
def watch_signals(theme):
    return c.watch_signals(watched(), theme=theme)


@picture("Studies", "Mean ranks, and which differences are large enough")
def critical_difference(theme):
    return c.critical_difference(study_results().test("ae"), theme=theme)


@picture("Studies", "Errors of every method")
def study_errors(theme):
    return c.study_errors(study_results(), theme=theme)


@picture("Studies", "Errors by prevalence")
def errors_by_prevalence(theme):
    return c.errors_by_prevalence(study_results(), theme=theme)


@picture("Studies", "Errors by data set and prevalence")
def errors_by_dataset(theme):
    return c.errors_by_dataset(study_results(), methods=["CC", "MS", "EM", "Bayes"], theme=theme)


@picture("Studies", "Estimates against the truth")
def diagonal(theme):
    return c.diagonal(study_results(), theme=theme)


@picture("Studies", "A method beside each other one on the same samples")
def pairwise(theme):
    return c.pairwise(study_results(), "Bayes", theme=theme)


@picture("Studies", "The same, prevalence by prevalence")
def pairwise_by_prevalence(theme):
    return c.pairwise(study_results(), "Bayes", ["CC", "AC", "MS"], by_prevalence=True, theme=theme)


@data
def regional_rows():
    rng = np.random.default_rng(9)
    y, region = (rng.random(3_000) < 0.15).astype(int), rng.integers(8, size=3_000)
    scores = rng.normal(np.where(region == 3, 0.8, 2.0) * y)
    return pd.DataFrame({"y": y, "p": scores, "region": np.array(list("ABCDEFGH"))[region]})


@data
def by_region():
    return tm.evaluate(tm.tally(regional_rows(), label="y", score="p", by="region"), metrics=["auroc"])


@data
def all_regions():
    return tm.evaluate(tm.tally(regional_rows(), label="y", score="p"), metrics=["auroc"])


@data
def by_year():
    rng = np.random.default_rng(10)
    known, year = rng.random(2_000) < 0.3, np.repeat([2021, 2022, 2023, 2024], 1_000)
    hidden = rng.random(4_000) < 0.1 + 0.04 * (year - 2021)
    target = tm.tally(pd.DataFrame({"p": rng.normal(2.0 * hidden), "year": year}), score="p", by="year")
    return tm.quantify.estimate("pacc", tm.tally(known, rng.normal(2.0 * known)), target)


@data
def share_of_years():
    return {year: 0.1 + 0.8 * (year - 2010) / 14 for year in range(2010, 2025)}


@data
def moving_share():
    rng = np.random.default_rng(20)
    known, year = rng.random(1_000) < 0.5, np.repeat(np.arange(2010, 2025), 800)
    hidden = rng.random(len(year)) < np.array([share_of_years()[y] for y in year])
    target = tm.tally(pd.DataFrame({"p": rng.normal(1.5 * hidden), "year": year}), score="p", by="year")
    labelled = tm.tally(known, rng.normal(1.5 * known))
    return {way: tm.quantify.estimate(way, labelled, target, threshold=0.75) for way in ("cc", "ac")}


@data
def class_counts():
    rng = np.random.default_rng(11)
    classes = ["bread", "milk", "tea"]

    def rows(shares):
        truth = rng.choice(3, 600, p=shares)
        scores = rng.dirichlet(np.ones(3), 600) + 1.2 * np.eye(3)[truth] * rng.random((600, 1))
        return np.array(classes)[truth], scores / scores.sum(axis=1, keepdims=True)

    truth, scores = rows([0.4, 0.3, 0.3])
    _, unseen = rows([0.2, 0.2, 0.6])
    known, target = tm.class_panel(truth, scores, classes=classes), tm.class_panel(scores=unseen, classes=classes)
    return tm.quantify.estimate("em", known, target, replicates=200)


@picture("How sure", "AUROC by group, with the total and the band expected by chance")
def groups(theme):
    return c.groups(by_region(), metric="auroc", total=all_regions(), theme=theme)


@picture("Counting", "Counts over time")
def counts_over_time(theme):
    return c.counts_over_time(by_year(), along="year", theme=theme)


@picture("Counting", "Counted by a classifier alone and corrected, beside the truth")
def counts_beside_truth(theme):
    return c.counts_over_time(moving_share(), along="year", counts=False, truth=share_of_years(), theme=theme)


@picture("Counting", "Growth from year to year")
def growth(theme):
    return c.growth({"pacc": by_year().growths("year")}, theme=theme)


@picture("Counting", "Shares of three classes")
def class_counts_by_method(theme):
    return c.class_prevalences({"em": class_counts()}, theme=theme)


@picture("Counting", "How far the positives could have moved unseen")
def sensitivity(theme):
    return c.sensitivity(tm.quantify.sensitivity(one_model(), unlabelled(), ["pacc"]), theme=theme)


def pictures() -> dict[str, Callable[..., Any]]:
    """Each picture by name, as a function of the theme."""
    return {name: function for name, (_, _, function) in PICTURES.items()}


def _named(source: str) -> list[str]:
    """The data that a piece of code names, what they need first."""
    used = {node.id for node in ast.walk(ast.parse(textwrap.dedent(source))) if isinstance(node, ast.Name)}
    found: list[str] = []
    for name, function in DATA.items():
        if name in used:
            found += [one for one in [*_named(_body(function)), name] if one not in found]
    return found


def _body(function: Callable[..., Any]) -> str:
    """What a function does, without its head."""
    lines = inspect.getsource(function).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("def ")) + 1
    return "\n".join(lines[start:])


def call(name: str) -> str:
    """The call that draws a picture: the source of its function, in the light theme, which is the default."""
    text = textwrap.dedent(_body(PICTURES[name][2])).strip().removeprefix("return ")
    text = re.sub(r",\s*theme=theme,?\s*\)$", ")", text)
    return re.sub(r"\bc\.", "tm.charts.", text)


def sources(names: list[str]) -> str:
    """The functions that make data, as they stand in this file."""
    return "\n\n\n".join(inspect.getsource(DATA[name]).removeprefix("@data\n").strip() for name in names)


def data_of(name: str) -> list[str]:
    """The data that a picture needs, in the order in which they must be made."""
    return _named(_body(PICTURES[name][2]))


def page() -> str:
    lines = [
        "# Gallery",
        "",
        "Every picture on generated data, with the call that draws it. Each takes a result and gives an Altair chart: show it in a notebook, or "
        '`.save("picture.svg")` (also PNG and PDF). `theme="dark"` is for dark pages.',
        "",
        "The code is read from the file that drew the pictures. Names such as `two_models()` are made under *The data* of each part; "
        "all of it begins with",
        "",
        "```python",
        IMPORTS,
        "```",
        "",
    ]
    for theme in dict.fromkeys(theme for theme, _, _ in PICTURES.values()):
        members = [name for name, (of, _, _) in PICTURES.items() if of == theme]
        lines += [f"## {theme}", ""]
        for name in members:
            title = PICTURES[name][1]
            lines += [f"### {title}", "", "::::{container} beside", ""]
            for kind, only in (("", "only-light"), ("-dark", "only-dark")):
                lines += [f":::{{image}} {name}{kind}.svg", f":alt: {title}", f":class: {only} dark-light", ":::", ""]
            lines += ["```python", call(name), "```", "", "::::", ""]
        named = list(dict.fromkeys(one for name in members for one in data_of(name)))
        lines += [
            '<details class="data"><summary>The data</summary>',
            "",
            "```python",
            sources(named),
            "```",
            "",
            "</details>",
            "",
        ]
    return "\n".join(lines)


def write(app):
    """Every picture, and the page that shows them."""
    folder = Path(app.srcdir) / "generated"
    folder.mkdir(exist_ok=True)
    for name, draw in pictures().items():
        draw("light").save(str(folder / f"{name}.svg"))
        draw("dark").save(str(folder / f"{name}-dark.svg"))
    (folder / "gallery.md").write_text(page(), encoding="utf-8")


def setup(app):
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
