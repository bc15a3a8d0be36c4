"""Every picture on generated data, for the gallery page of the documentation and for the tests.

To add one: write its function in ``tallymark.charts`` and a line here.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

import tallymark as tm


def _data() -> dict[str, Any]:
    rng = np.random.default_rng(3)
    y = (rng.random(3_000) < 0.15).astype(int)
    a = 1 / (1 + np.exp(-rng.normal(2.4 * y - 1.6)))
    b = 1 / (1 + np.exp(-2.0 * rng.normal(1.6 * y - 1.0)))
    panel = tm.panel(y, {"forest": a, "logistic": b})
    t = panel.tally("forest")
    new = (rng.random(2_000) < 0.05).astype(int)
    unseen = tm.tally(scores=1 / (1 + np.exp(-rng.normal(2.4 * new - 1.6))))
    classes = np.array(["bread", "milk", "tea"])
    truth = rng.integers(3, size=600)
    scores = rng.dirichlet(np.ones(3), 600) + 1.4 * np.eye(3)[truth] * rng.random((600, 1))
    return {
        "panel": panel, "t": t, "unseen": unseen, "prob": tm.class_scores(classes[truth], scores, classes=list(classes)),
    }  # fmt: skip


@cache
def _rare(way: str) -> Any:
    rng = np.random.default_rng(4)
    words = np.array([f"word{i}" for i in range(200)] + [f"topic{i}" for i in range(20)])

    def texts(hits: Any) -> list[str]:
        drawn = [
            np.where(hit & (rng.random(20) < 0.25), rng.integers(200, 220, 20), rng.integers(200, size=20))
            for hit in hits
        ]
        return [" ".join(words[places]) for places in drawn]

    known, rare = np.arange(400) < 120, np.arange(2_000) % 50 == 0
    options = {"machines": 50} if way == "bootstrap" else {"repeats": 3}
    return getattr(tm.rare, way)(texts(known), known, texts(rare), target_labels=rare, **options)


@cache
def _by_region() -> Any:
    rng = np.random.default_rng(9)
    y, region = (rng.random(3_000) < 0.15).astype(int), rng.integers(8, size=3_000)
    scores = rng.normal(np.where(region == 3, 0.8, 2.0) * y)
    frame = pd.DataFrame({"y": y, "p": scores, "region": np.array(list("ABCDEFGH"))[region]})
    return tm.evaluate(tm.tally(frame, label="y", score="p", by="region"), metrics=["auroc"])


@cache
def _by_year() -> Any:
    rng = np.random.default_rng(10)
    known, year = rng.random(2_000) < 0.3, np.repeat([2021, 2022, 2023, 2024], 1_000)
    new = rng.random(4_000) < 0.1 + 0.04 * (year - 2021)
    frame = pd.DataFrame({"p": rng.normal(2.0 * new), "year": year})
    return tm.quantify.estimate("pacc", tm.tally(known, rng.normal(2.0 * known)), tm.tally(frame, score="p", by="year"))


@cache
def _classes() -> Any:
    rng = np.random.default_rng(11)
    classes = ["bread", "milk", "tea"]

    def rows(shares: Any) -> tuple[Any, Any]:
        truth = rng.choice(3, 600, p=shares)
        scores = rng.dirichlet(np.ones(3), 600) + 1.2 * np.eye(3)[truth] * rng.random((600, 1))
        return np.array(classes)[truth], scores / scores.sum(axis=1, keepdims=True)

    truth, scores = rows([0.4, 0.3, 0.3])
    _, new = rows([0.2, 0.2, 0.6])
    known, target = tm.class_panel(truth, scores, classes=classes), tm.class_panel(scores=new, classes=classes)
    return tm.quantify.estimate("em", known, target, replicates=200)


_SALES = {"period": "month", "product": "id", "price": "price", "quantity": "q"}


@cache
def _sales() -> Any:
    rng = np.random.default_rng(8)
    product, month = np.tile(np.arange(60), 12), np.repeat(np.arange(1, 13), 60)
    own = product < 30
    price = np.exp(rng.normal(0, 0.3, 60)[product] + np.where(own, 0.004, 0.012) * month + rng.normal(0, 0.04, 720))
    return pd.DataFrame({"month": month, "id": product, "own": own, "price": price, "q": rng.poisson(20, 720) + 1.0})


@cache
def _impact() -> Any:
    rng = np.random.default_rng(6)
    n = 6_000
    own = rng.random(n) < 0.5
    price = np.exp(rng.normal(np.where(own, 0.0, 0.4), 0.3))
    wrong = rng.random(n) < np.where(own, 0.04 + 0.12 * (price > 1.2), 0.1)
    frame = pd.DataFrame({"month": rng.integers(1, 7, n), "own": own, "price": price, "called": own ^ wrong})
    return tm.decide.impact(frame, label="own", predicted="called", value="price", period="month")


def _five() -> dict[str, Any]:
    """The five classifiers of the price statisticians' picture; its coordinates are lost, these keep its story."""
    rates = {"A": (0.4, 0.05), "B": (0.75, 0.2), "C": (0.85, 0.35), "D": (0.95, 0.6), "E": (0.5, 0.4)}
    return {
        name: tm.Confusion.of_cells(tp=1_000 * t, fp=1_000 * f, fn=1_000 - 1_000 * t, tn=1_000 - 1_000 * f)
        for name, (t, f) in rates.items()
    }


@cache
def _watched() -> Any:
    rng = np.random.default_rng(11)
    month = np.repeat(np.arange(1, 25), 400)
    y = rng.random(len(month)) < np.where(month > 16, 0.42, 0.3)
    frame = pd.DataFrame(
        {"month": month, "p": 1 / (1 + np.exp(-rng.normal(2 * y - 1))), "y": np.where(month <= 10, y, np.nan)}
    )
    frame["price"] = np.exp(rng.normal(0.1 * (month > 20), 0.4))
    return tm.decide.watch(frame, period="month", score="p", label="y", value="price")


@cache
def _costs() -> Any:
    rng = np.random.default_rng(12)
    y = rng.random(5_000) < 0.1
    frame = pd.DataFrame({"fraud": y, "amount": rng.lognormal(3, 1, 5_000)})
    for name, distance in (("forest", 2.5), ("logistic", 1.8)):
        frame[name] = 1 / (1 + np.exp(-rng.normal(distance * y - 2)))
    return tm.decide.costs(frame, label="fraud", score=["forest", "logistic"], cost_fn="amount", cost_fp=5.0)


@cache
def _audited() -> Any:
    rng = np.random.default_rng(9)
    p = rng.beta(0.3, 6, 8_000)
    frame = pd.DataFrame({"p": p, "region": rng.choice(["east", "north", "south"], len(p))})
    plan = tm.decide.audit_plan(frame, score="p", n=500)
    checked = np.full(len(p), np.nan)
    checked[plan.drawn] = rng.random(plan.n) < p[plan.drawn]
    found = tm.decide.audit_estimate(
        frame.assign(checked=checked, inclusion=plan.inclusion),
        label="checked",
        score="p",
        threshold=0.2,
        by="region",
        inclusion="inclusion",
    )
    return plan, found


@cache
def _study() -> Any:
    from tempfile import TemporaryDirectory

    rng = np.random.default_rng(5)
    data = []
    for number, distance in enumerate((0.6, 0.9, 1.2, 1.6)):
        y = (np.arange(200) < 70).astype(int)
        data.append((f"set {number + 1}", rng.normal(size=(200, 3)) + distance * y[:, None], y))
    methods = {"CC": "cc", "AC": "ac", "MS": "ms", "PACC": "pacc", "EM": "em", "Bayes": "bayes"}
    made = tm.study.Study("gallery", data, methods, LogisticRegression(), protocol={"folds": 4})
    with TemporaryDirectory() as folder:
        made.run(store=Path(folder) / "gallery.sqlite")
        return made.results()


def pictures() -> dict[str, Callable[..., Any]]:
    """Each picture by name, as a function of the theme."""
    d = _data()
    panel, t, unseen = d["panel"], d["t"], d["unseen"]
    c = tm.charts
    estimates = {name: tm.quantify.estimate(name, t, unseen, replicates=200) for name in ("cc", "ac", "ms", "bayes")}
    sizes = tm.by_sample_size(t, replicates=60)
    calibrated = tm.calibration.platt(t).apply(t)
    spots = {f"at {cut:g}": t.at(cut) for cut in (0.2, 0.35, 0.5, 0.7)} | {
        "coin": tm.Confusion(np.array([[1275, 1275], [240, 210]]), (0, 1), positive=1)
    }
    return {
        "roc": lambda theme: c.roc(panel, thresholds=["youden"], theme=theme),
        "roc-band": lambda theme: c.roc(t, band=True, hull=True, partial=(0.0, 0.1), theme=theme),
        "pr": lambda theme: c.pr(panel, thresholds=["f1"], theme=theme),
        "pr-at-prevalence": lambda theme: c.pr(panel, prevalence=0.01, band=True, theme=theme),
        "roc-space": lambda theme: c.roc_space(spots, theme=theme),
        "roc-space-cost": lambda theme: c.roc_space(spots, metric="balanced_accuracy", theme=theme),
        "pr-space": lambda theme: c.pr_space(spots, theme=theme),
        "scores": lambda theme: c.score_histogram(t, theme=theme),
        "scores-log": lambda theme: c.score_histogram(t, log=True, theme=theme),
        "scores-calibrated": lambda theme: c.score_histogram(t, calibrated=calibrated, theme=theme),
        "thresholds": lambda theme: c.over_thresholds(t, theme=theme),
        "prevalence": lambda theme: c.over_prevalence(t, threshold="f1", theme=theme),
        "confusion": lambda theme: c.confusion(t.at("f1"), theme=theme),
        "confusion-rates": lambda theme: c.confusion(d["prob"].confusion, rates=True, theme=theme),
        "class-correlations": lambda theme: c.class_correlations(tm.evaluate(d["prob"], level=None), theme=theme),
        "reliability": lambda theme: c.calibration_curve(panel, theme=theme),
        "decision": lambda theme: c.decision_curve(panel, theme=theme),
        "cost": lambda theme: c.cost_curve(panel, theme=theme),
        "brier": lambda theme: c.brier_curve(panel, theme=theme),
        "det": lambda theme: c.det(panel, theme=theme),
        "gain": lambda theme: c.gain(panel, theme=theme),
        "lift": lambda theme: c.gain(panel, lift=True, theme=theme),
        "forest": lambda theme: c.forest(tm.evaluate(panel, threshold="f1", metrics=["auroc", "average_precision", "spcc", "f1", "mcc"]), theme=theme),
        "comparison": lambda theme: c.comparison(tm.compare(panel), theme=theme),
        "no-simple": lambda theme: c.without_simple(tm.without_simple(panel), theme=theme),
        "by-size": lambda theme: c.by_sample_size(sizes, theme=theme),
        "size-scatter": lambda theme: c.size_scatter(sizes, theme=theme),
        "counts": lambda theme: c.prevalences(estimates, theme=theme),
        "groups": lambda theme: c.groups(_by_region(), metric="auroc", total=tm.evaluate(t, metrics=["auroc"]), theme=theme),
        "counts-over-time": lambda theme: c.counts_over_time(_by_year(), along="year", theme=theme),
        "growth": lambda theme: c.growth({"pacc": _by_year().growths("year")}, theme=theme),
        "class-counts": lambda theme: c.class_prevalences({"em": _classes()}, theme=theme),
        "sensitivity": lambda theme: c.sensitivity(tm.quantify.sensitivity(t, unseen, ["pacc"]), theme=theme),
        "rare-count": lambda theme: c.rare_count(_rare("bootstrap"), theme=theme),
        "class-weights": lambda theme: c.class_weight_sweep(_rare("class_weight_sweep"), theme=theme),
        "critical-difference": lambda theme: c.critical_difference(_study().test("ae"), theme=theme),
        "study-errors": lambda theme: c.study_errors(_study(), theme=theme),
        "errors-by-prevalence": lambda theme: c.errors_by_prevalence(_study(), theme=theme),
        "errors-by-dataset": lambda theme: c.errors_by_dataset(_study(), theme=theme),
        "diagonal": lambda theme: c.diagonal(_study(), theme=theme),
        "pairwise": lambda theme: c.pairwise(_study(), "Bayes", "CC", theme=theme),
        "price-index": lambda theme: c.price_index({f: tm.decide.index(_sales(), formula=f, **_SALES) for f in ("fisher", "jevons", "geks_fisher")}, theme=theme),
        "index-under-error": lambda theme: c.index_under_error(tm.decide.index_under_error(_sales(), label="own", **_SALES), theme=theme),
        "audit-plan": lambda theme: c.audit_plan(_audited()[0], theme=theme),
        "audit": lambda theme: c.audit_estimate(_audited()[1], theme=theme),
        "impact": lambda theme: c.impact(_impact(), theme=theme),
        "impact-by-period": lambda theme: c.impact_by_period(_impact(), theme=theme),
        "roc-space-rare": lambda theme: c.roc_space(_five(), prevalence=0.1, theme=theme),
        "roc-space-common": lambda theme: c.roc_space(_five(), prevalence=0.9, theme=theme),
        "watch": lambda theme: c.watch(_watched(), theme=theme),
        "watch-signals": lambda theme: c.watch_signals(_watched(), theme=theme),
        "costs": lambda theme: c.costs(_costs(), theme=theme),
        "mixture": lambda theme: c.mixture_fit(tm.quantify.mixture_fit(t, unseen), theme=theme),
    }  # fmt: skip


def write(app):
    """Every picture, and the page that shows them."""
    folder = Path(app.srcdir) / "generated"
    folder.mkdir(exist_ok=True)
    lines = ["# Gallery", "", "Every picture, on generated data; `docs/gallery.py` has the calls.", ""]
    for name, draw in pictures().items():
        draw("light").save(str(folder / f"{name}.svg"))
        lines += [f"## {name}", "", f"![{name}]({name}.svg)", ""]
    (folder / "gallery.md").write_text("\n".join(lines), encoding="utf-8")


def setup(app):
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
