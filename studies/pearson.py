"""S-PCC, chapter 1: the sample Pearson correlation beside other metrics, on made data and on Fashion-MNIST."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import numpy as np
from bench.datasets import data_folder, fashion, have_data
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import tallymark as tm
from studies.exhibits import Answer, Effort, Fact, Figure, Table, exhibit, near
from studies.pictures import images
from tallymark.study.datasets import MissingData

METRICS = ("sPCC", "accuracy", "BA", "MCC", "AUROC", "bias")

#: Tables 1.1 to 1.4: of each machine the metrics, raw and calibrated.
PRINTED: Mapping[str, Mapping[str, tuple[tuple[float, ...], tuple[float, ...]]]] = {
    "1.1": {
        "SVM": ((1, 1, 1, 1, 1, 0.0001), (1, 1, 1, 1, 1, 0)),
        "LogReg": ((0.9999, 1, 1, 1, 1, 0), (1, 1, 1, 1, 1, 0)),
        "RFC": ((1, 1, 1, 1, 1, 0), (1, 1, 1, 1, 1, 0)),
        "NN": ((0.9909, 0.9946, 0.997, 0.9711, 1, 0.3755), (1, 1, 1, 1, 1, 0)),
    },
    "1.2": {
        "SVM": ((0.856, 0.9712, 0.8924, 0.8329, 0.9368, 0.0185), (0.8559, 0.97, 0.9122, 0.8319, 0.9545, -0.0021)),
        "LogReg": (
            (0.8343, 0.9662, 0.9208, 0.8181, 0.9792, -0.0141),
            (0.8498, 0.9702, 0.8919, 0.8275, 0.9662, -0.0116),
        ),
        "RFC": ((0.917, 0.987, 0.9457, 0.9261, 0.9652, -0.0516), (0.9267, 0.987, 0.9466, 0.9261, 0.965, -0.0081)),
        "NN": ((0.4529, 0.9, 0.5, 0, 0.9792, 2.8372), (0, 0.9068, 0.534, 0.2482, 0.5, -0.1)),
    },
    "1.3": {
        "SVM": ((0.9959, 0.998, 0.998, 0.996, 0.9999, 0.001), (0.996, 0.998, 0.998, 0.996, 0.9985, 0.001)),
        "LogReg": ((0.9955, 0.9975, 0.9975, 0.995, 0.9999, 0.0007), (0.9949, 0.9975, 0.9975, 0.995, 0.9984, 0.0013)),
        "RFC": ((0.9949, 0.9965, 0.9965, 0.993, 1, 0.0004), (0.993, 0.997, 0.997, 0.994, 0.9995, -0.0005)),
        "NN": ((0.9945, 0.9965, 0.9965, 0.993, 0.9995, 0.0005), (0.9938, 0.9965, 0.9965, 0.993, 0.9985, 0.0003)),
    },
    "1.4": {
        "SVM": ((0.7796, 0.862, 0.862, 0.7241, 0.9393, 0.0035), (0.7765, 0.859, 0.859, 0.7182, 0.9392, 0.0108)),
        "LogReg": ((0.7335, 0.8335, 0.8335, 0.6672, 0.9179, -0.0012), (0.7292, 0.831, 0.831, 0.6621, 0.918, 0.0085)),
        "RFC": ((0.778, 0.862, 0.862, 0.7246, 0.942, 0.0044), (0.7349, 0.862, 0.862, 0.7246, 0.9263, -0.024)),
        "NN": ((0.7206, 0.8305, 0.8305, 0.6612, 0.9107, 0.0418), (0.7209, 0.8305, 0.8305, 0.6622, 0.9107, 0.0302)),
    },
}

#: Why a machine differs by more than the tolerance.
_WHY_NETWORK = (
    "Another network: training, output and loss are not stated, and a bias above 1 cannot come from probabilities."
)
_WHY_CALIBRATED = "Densities of out-of-fold scores in bins; the thesis fits them to scores of the training rows."

#: Sums of printed and drawn noise: a printed number is one draw of the data.
_TOLERANCE = {"sPCC": 0.02, "accuracy": 0.01, "BA": 0.02, "MCC": 0.03, "AUROC": 0.02, "bias": 0.01}


def _network(seed: int) -> Any:
    """Three layers of five neurons each, as described."""
    return make_pipeline(
        StandardScaler(), MLPClassifier((5, 5, 5), random_state=seed, max_iter=300, early_stopping=True)
    )


MACHINES: Mapping[str, Callable[[int], Any]] = {
    "SVM": lambda seed: SVC(random_state=seed, cache_size=1000),
    "LogReg": lambda seed: LogisticRegression(max_iter=1000),  # noqa: ARG005 - it has no seed
    "RFC": lambda seed: RandomForestClassifier(random_state=seed, n_jobs=2),
    "NN": _network,
}

Sample = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _normal(seed: int) -> Sample:
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [4500, 500])
    parts = [rng.normal(4.0 * y, 0.5)[:, None] for _ in range(2)]
    return parts[0], y, parts[1], y


def _two_peaks(seed: int) -> Sample:
    """Class 0 around 0, one row in twenty around 3; class 1 around 4, one row in ten around 1."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [4500, 500])
    parts = []
    for _ in range(2):
        rare = rng.random(len(y)) < np.where(y == 1, 0.1, 0.05)
        centre = np.where(y == 1, np.where(rare, 1.0, 4.0), np.where(rare, 3.0, 0.0))
        parts.append(rng.normal(centre, 0.5)[:, None])
    return parts[0], y, parts[1], y


def _fashion(negative: int, positive: int, seed: int) -> Sample:  # noqa: ARG001 - its two parts are fixed
    if not have_data():
        raise MissingData("Fashion-MNIST is read from the folder that TALLYMARK_DATA names.")
    return fashion(negative, positive)


def _scores(machine: Any, sample: Sample) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Out-of-fold scores, scores of the test rows, and probabilities of the test rows."""
    X, y, X_test, _ = sample
    split = StratifiedKFold(5, shuffle=True, random_state=0)
    if hasattr(machine, "predict_proba"):
        known = cross_val_predict(machine, X, y, cv=split, method="predict_proba")[:, 1]
        scores = clone(machine).fit(X, y).predict_proba(X_test)[:, 1]
        return known, scores, scores
    known = cross_val_predict(machine, X, y, cv=split, method="decision_function", n_jobs=2)
    scores = clone(machine).fit(X, y).decision_function(X_test)
    # Platt's probabilities, as LIBSVM computes them.
    platt = tm.calibration.platt(tm.tally(y, known))
    return known, scores, platt(scores)


def _values(y: np.ndarray, probabilities: np.ndarray) -> list[float]:
    tally = tm.tally(y, probabilities)
    cut = tally.at(0.5)
    of = tm.metrics
    return [of.spcc(tally), of.accuracy(cut), of.balanced_accuracy(cut), of.mcc(cut), of.auroc(tally), of.bias(tally)]


def _table(effort: Effort, number: str, figure: str, draw: Callable[[int], Sample], draws: int) -> Answer:
    """A table of metrics and the histograms of probabilities of the first draw."""
    rows, facts, pictures = [], [], []
    for name, make in MACHINES.items():
        drawn: list[tuple[list[float], list[float]]] = []
        for seed in range(effort.of(draws, 1)):
            sample = _smaller(draw(seed)) if effort.quick else draw(seed)
            known, scores, raw = _scores(make(seed), sample)
            target = tm.tally(scores=scores)
            calibration = tm.quantify.bayesian_calibration(tm.tally(sample[1], known), target, level=None)
            calibrated = calibration.posterior(scores)
            drawn.append((_values(sample[3], raw), _values(sample[3], calibrated)))
            if seed == 0:
                for kind, values in (("", raw), (", calibrated", calibrated)):
                    chart = tm.charts.score_histogram(tm.tally(sample[3], values))
                    pictures.append(Figure(f"Figure {figure}: {name}{kind}", chart))
        for place, kind in enumerate(("raw", "calibrated")):
            values = np.array([pair[place] for pair in drawn])
            spread = values.std(axis=0, ddof=1) if len(values) > 1 else np.full(len(METRICS), np.nan)
            printed = PRINTED[number][name][place]
            cells = [
                f"{mean:.4f}" + ("" if np.isnan(sd) else f" ± {sd:.4f}") + f" ({said:g})"
                for mean, sd, said in zip(values.mean(axis=0), spread, printed, strict=True)
            ]
            rows.append([name, kind, *cells])
            why = _WHY_NETWORK if name == "NN" else _WHY_CALIBRATED if kind == "calibrated" else "Another draw."
            facts += [
                near(f"{name}, {kind}: {metric}", said, mean, _TOLERANCE[metric], why=why)
                for metric, said, mean in zip(METRICS, printed, values.mean(axis=0), strict=True)
            ]
    summary = [fact for fact in facts if not fact.agrees]
    agreeing = len(facts) - len(summary)
    first = Fact(
        what="numbers within the tolerance",
        printed=str(len(facts)),
        ours=str(agreeing),
        agrees=not summary,
        why="See below.",
    )
    said = (
        f"Mean ± standard deviation over {effort.of(draws, 1)} draws (printed: one)" if draws > 1 else "Ours (printed)"
    )
    return Answer(
        figures=pictures, tables=[Table(said, ("machine", "", *METRICS), rows)], facts=[first, *summary],
        remark="Tolerances: " + ", ".join(f"{name} {value:g}" for name, value in _TOLERANCE.items()) + ".",
    )  # fmt: skip


def _smaller(sample: Sample) -> Sample:
    """Every twentieth row."""
    return tuple(part[::20] for part in sample)


@exhibit("S-PCC", "Figures 1.1, 1.3 and 1.5", "The made classes; sPCC of two log-normal classes that do not overlap")
def made_classes(effort: Effort) -> Answer:
    figures = []
    for caption, draw in (("Figure 1.1: normal classes", _normal), ("Figure 1.3: classes with two peaks", _two_peaks)):
        X, y, _, _ = draw(0)
        figures.append(Figure(caption, tm.charts.score_histogram(tm.tally(y, X[:, 0]))))
    values = []
    for seed in range(effort.of(200, 20)):
        drawn = np.random.default_rng(seed).lognormal(size=10_000)
        tally = tm.tally(
            np.repeat([1, 0], 10_000),
            np.concatenate([drawn, -np.random.default_rng(seed + 10**6).lognormal(size=10_000)]),
        )
        values.append(tm.metrics.spcc(tally))
    figures.append(Figure("Figure 1.5: X and −X, X log-normal", tm.charts.score_histogram(tally)))
    return Answer(
        figures=figures,
        facts=[
            near("sPCC of 10 000 and 10 000 log-normal rows", 0.6111, float(np.mean(values)), 3 * float(np.std(values))),
            near("AUROC", 1, tm.metrics.auroc(tally), 0, exact=True),
        ],
        remark=f"Over draws sPCC is {np.mean(values):.4f} ± {np.std(values):.4f}.",
    )  # fmt: skip


@exhibit("S-PCC", "Table 1.1 and figure 1.2", "Normal classes")
def table_1_1(effort: Effort) -> Answer:
    return _table(effort, "1.1", "1.2", _normal, draws=5)


@exhibit("S-PCC", "Table 1.2 and figure 1.4", "Classes with two peaks")
def table_1_2(effort: Effort) -> Answer:
    return _table(effort, "1.2", "1.4", _two_peaks, draws=5)


@exhibit("S-PCC", "Table 1.3 and figure 1.7", "Fashion-MNIST, bags against ankle boots")
def table_1_3(effort: Effort) -> Answer:
    return _table(effort, "1.3", "1.7", partial(_fashion, 8, 9), draws=1)


@exhibit("S-PCC", "Table 1.4 and figure 1.8", "Fashion-MNIST, T-shirts against shirts")
def table_1_4(effort: Effort) -> Answer:
    return _table(effort, "1.4", "1.8", partial(_fashion, 0, 6), draws=1)


@exhibit("S-PCC", "Figure 1.6", "A picture of each class of Fashion-MNIST that is used")
def pictures_of_classes(_: Effort) -> Answer:
    if not have_data():
        raise MissingData("Fashion-MNIST is read from the folder that TALLYMARK_DATA names.")
    names = {0: "T-shirt", 6: "shirt", 8: "bag", 9: "ankle boot"}
    with np.load(data_folder() / "fashion_mnist" / "fashion_mnist_0689.npz") as file:
        first = np.stack([file["X_train"][np.flatnonzero(file["y_train"] == label)[0]] for label in names])
    chart = images(first, list(names.values()), "Fashion-MNIST")
    return Answer(figures=[Figure("One picture of each class", chart)], remark="The other six classes are in no table.")


@exhibit("S-PCC", "Table 1.5", "Which metric has which property")
def properties(_: Effort) -> Answer:
    from tallymark.registry import METRICS as DECLARED

    names = {"sPCC": "spcc", "Acc": "accuracy", "BA": "balanced_accuracy", "MCC": "mcc", "AUROC": "auroc"}
    rows = [
        [
            title,
            "yes" if DECLARED[name].needs != "confusion" else "no",
            "no" if DECLARED[name].prevalence_free else "yes",
        ]
        for title, name in names.items()
    ]
    return Answer(
        tables=[Table("What is declared of each", ("metric", "takes scores", "moves with prevalence"), rows)],
        remark="The thesis's table is a judgement. Two of its three properties are facts of the metrics, given here; how "
        "much a metric varies between samples depends on the data and is what its interval says.",
    )  # fmt: skip


@cache
def _three_classes() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [5000, 1000, 200])
    return y, *(rng.normal(4.0 * np.eye(3)[y], 0.5) for _ in range(2))


@exhibit(
    "S-PCC", "Tables 1.6 and 1.7, figure 1.9", "Three normal classes: sPCC of one class against the rest and another"
)
def three_classes(effort: Effort) -> Answer:
    y, X, X_test = _three_classes()
    figures = [
        Figure(f"Figure 1.9: dimension {place + 1}, class {place + 1} against the rest",
               tm.charts.score_histogram(tm.tally((y == place).astype(int), X[:, place])))
        for place in range(3)
    ]  # fmt: skip
    printed = {
        "LogReg": (0.9999, 0.9998, 1, 1), "RFC": (0.999, 0.9986, 1, 1), "NN": (0.7871, 0.8351, 0.8069, 0.3343),
    }  # fmt: skip
    rows, facts, matrix = [], [], []
    for name, said in printed.items():
        model = MACHINES[name](0).fit(X[:: effort.of(1, 10)], y[:: effort.of(1, 10)])
        evaluation = tm.evaluate(tm.class_scores(y, model.predict_proba(X_test), classes=[0, 1, 2]), level=None)
        rest, pairs = (_fisher(evaluation.tables[f"spcc_one_vs_{other}"]) for other in ("rest", "one"))
        labels = tm.confusion(y, model.predict(X_test))
        ours = (rest, pairs, tm.metrics.accuracy(labels), tm.metrics.recall(labels, average="macro"))
        rows.append([name, *(f"{value:.4f} ({one:g})" for value, one in zip(ours, said, strict=True))])
        why = _WHY_NETWORK + " Ours separates the classes." if name == "NN" else ""
        heads = ("sPCC one vs rest", "sPCC one vs one", "accuracy", "BA")
        facts += [
            near(f"{name}: {head}", one, value, 2e-3, why=why)
            for head, one, value in zip(heads, said, ours, strict=True)
        ]
        if name == "NN":
            matrix = evaluation.tables["spcc_one_vs_one"]
            figures.append(Figure("Table 1.7 of our network", tm.charts.class_correlations(evaluation)))
    seventh = {
        "rest": [0.9237, 0.9145, 0.0231],
        "one": [[0, 0.9234, 0.5793], [0.9436, 0, 0.9486], [-0.1916, 0.8803, 0]],
    }
    facts += [
        near("table 1.7: mean of one vs rest by Fisher's z", 0.7871, _fisher(seventh["rest"]), 6e-5, exact=True),
        near("table 1.7: mean of one vs one by Fisher's z", 0.8351, _fisher(seventh["one"]), 6e-5,
             why="The mean of z of the six printed values is another number."),
    ]  # fmt: skip
    shown = [[f"class {i + 1}", *(f"{value:.4f}" for value in line)] for i, line in enumerate(matrix)]
    return Answer(
        figures=figures,
        tables=[
            Table(
                "Table 1.6: ours (printed)",
                ("machine", *("sPCC one vs rest", "sPCC one vs one", "accuracy", "BA")),
                rows,
            ),
            Table(
                "Table 1.7: our network, score of a class between two classes",
                ("", "class 1", "class 2", "class 3"),
                shown,
            ),
        ],
        facts=facts,
    )


def _fisher(values: Any) -> float:
    """The mean correlation by Fisher's z, of the values off the diagonal where there is one."""
    kept = np.asarray(values, dtype=float)
    if kept.ndim == 2:
        kept = kept[~np.eye(len(kept), dtype=bool)]
    return float(np.tanh(np.arctanh(np.minimum(kept, 1 - 1e-12)).mean()))


@exhibit("S-PCC", "Calibration of separated classes", "Why calibration lowers the sPCC here and raises it in table 1.1")
def separated(_: Effort) -> Answer:
    """What the thesis leaves open: which scores densities are of, and how they are estimated."""
    X, y, X_test, y_test = _normal(0)
    model = LogisticRegression()
    fitted = clone(model).fit(X, y)
    probability = {
        "of the training rows": fitted.predict_proba(X)[:, 1],
        "out of fold": cross_val_predict(model, X, y, cv=5, method="predict_proba")[:, 1],
    }
    scores = fitted.predict_proba(X_test)[:, 1]
    raw = tm.metrics.spcc(tm.tally(y_test, scores))
    rows = [["raw", "", f"{raw:.5f}"]]
    best = -1.0
    for kind, known in probability.items():
        for density in ("bins", "kde"):
            for bins in (10, 20, 50, 100) if density == "bins" else (None,):
                fit = tm.quantify.bayesian_calibration(
                    tm.tally(y, known), tm.tally(scores=scores), density=density, bins=bins, level=None
                )
                value = tm.metrics.spcc(tm.tally(y_test, fit.posterior(scores)))
                best = max(best, value)
                rows.append([kind, density + (f", {bins}" if bins else ""), f"{value:.5f}"])
    return Answer(
        tables=[Table("sPCC after calibration", ("scores", "density", "sPCC"), rows)],
        facts=[near("sPCC after calibration, best setting", 1, best, 5e-5)],
        remark="A probability between the classes belongs to a cell with few rows of either class, so its posterior is "
        "uncertain and is not rounded to 0 or 1; the thesis does not state bins or bandwidth.",
    )
