"""S-QUANT: critical values, weights of neighbours, the studies of chapters 5 and 6, and the surfaces of losses."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression

import tallymark as tm
from studies.exhibits import Answer, Effort, Fact, Figure, Table, exhibit, near
from studies.pictures import lines
from tallymark.learners.votes import class_weights
from tallymark.study.plans import plan_of

_HERE = Path(__file__).parent

#: Table 4.2: critical values by level and kind of test, for 2 to 10 methods.
CRITICAL = {
    (0.95, False): (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164),
    (0.90, False): (1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920),
    (0.95, True): (1.960, 2.241, 2.394, 2.498, 2.576, 2.638, 2.690, 2.724, 2.773),
    (0.90, True): (1.645, 1.960, 2.128, 2.241, 2.326, 2.394, 2.450, 2.498, 2.539),
}

#: Table 5.1: weights by alpha, where a class has 60, 70, 80, 90 and 99 % of the rows.
WEIGHTS = {
    1: (0.67, 0.43, 0.25, 0.11, 0.01), 2: (0.82, 0.65, 0.50, 0.33, 0.10), 3: (0.87, 0.75, 0.63, 0.48, 0.22),
    4: (0.90, 0.81, 0.71, 0.58, 0.32), 5: (0.92, 0.84, 0.76, 0.64, 0.40),
}  # fmt: skip

#: Table 5.2: rows, attributes, positives of each problem.
PROBLEMS = {
    "acute.a": (120, 6, 59), "acute.b": (120, 6, 50), "balance.1": (625, 4, 288), "balance.2": (625, 4, 49),
    "balance.3": (625, 4, 288), "cmc.1": (1473, 9, 629), "cmc.2": (1473, 9, 333), "cmc.3": (1473, 9, 511),
    "ctg.1": (2126, 22, 1655), "ctg.2": (2126, 22, 295), "ctg.3": (2126, 22, 176), "haberman": (306, 3, 81),
    "ionosphere": (351, 34, 126), "iris.1": (150, 4, 50), "iris.2": (150, 4, 50), "iris.3": (150, 4, 50),
    "sonar": (208, 60, 97), "spectf": (267, 44, 55), "tictactoe": (958, 9, 332), "transfusion": (748, 4, 178),
    "wdbc": (569, 30, 212), "wine.1": (178, 13, 59), "wine.2": (178, 13, 71), "wine.3": (178, 13, 48),
}  # fmt: skip

#: Figure 5.3: wins minus losses of PWKα and the other's mean loss minus its own, in points, as the text gives them.
PAIRS = {"PWK": (None, 0.26), "KNN": (78, 2.28), "Max": (29, 2.09), "BL": (200, 23.97)}


@exhibit("S-QUANT", "Figures 2.1 to 2.3", "Domains and kinds of shift")
def shifts(_: Effort) -> Answer:
    rng = np.random.default_rng(0)
    centres = {"negative": (0.0, 0.0), "positive": (2.0, 1.5)}

    def draw(negatives: int, positives: int, moved: float = 0.0) -> dict[str, np.ndarray]:
        sizes = {"negative": negatives, "positive": positives}
        return {
            name: rng.normal(0, 0.8, (sizes[name], 2)) + centre + (np.array([0, -moved]) if name == "positive" else 0)
            for name, centre in centres.items()
        }

    samples = {
        "Training: 50 and 50": draw(50, 50),
        "Prior shift: 80 and 20": draw(80, 20),
        "Another shift: positives moved": draw(50, 50, 1.6),
    }
    reference = tm.tally(np.repeat([0, 1], 50), np.concatenate(list(samples["Training: 50 and 50"].values())).sum(1))
    rows = []
    for name, parts in samples.items():
        scores = np.concatenate(list(parts.values())).sum(1)
        fit = tm.quantify.mixture_fit(reference, tm.tally(scores=scores))
        rows.append([name, f"{fit.p_value:.3f}"])
    x = np.sort(rng.uniform(0, 2, 60))
    y = np.sin(3 * x) + 0.5 * x + rng.normal(0, 0.15, 60)
    low = x < 0.9
    straight = LinearRegression().fit(x[low, None], y[low])
    fit_line = straight.predict(x[:, None])
    gap = float(np.abs(fit_line - y)[~low].mean() / np.abs(fit_line - y)[low].mean())
    covariate = tm.charts.class_points(
        np.column_stack([x, y]), np.where(low, "training", "target"), names=("x", "y"),
        line=(float(straight.coef_[0]), -1.0, float(straight.intercept_)),
    )  # fmt: skip
    return Answer(
        figures=[
            *(Figure(f"Figure 2.2, {name}", _by_class(parts)) for name, parts in samples.items()),
            Figure("Figure 2.3: a line fitted to the training points", covariate),
        ],
        tables=[Table("Test that the target is a mixture of the training classes", ("sample", "p"), rows)],
        remark="Figure 2.1 is a diagram of two arrows: in domains X → Y the labels follow from the attributes, in Y → X "
        "the attributes from the labels; prior shift keeps P(x | y), covariate shift keeps P(y | x). In figure 2.3 the "
        f"line errs {gap:.0f} times as much on the target as on the points it was fitted to.",
    )  # fmt: skip


def _by_class(parts: dict[str, np.ndarray]) -> Any:
    """Points of each class."""
    truth = np.repeat(list(parts), [len(part) for part in parts.values()])
    return tm.charts.class_points(np.concatenate(list(parts.values())), truth)


@cache
def _normal_scores(positives: int, negatives: int, seed: int) -> tm.Tally:
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [negatives, positives])
    return tm.tally(y, rng.normal(1.6 * y))


@exhibit("S-QUANT", "Figure 3.1", "A classifier and a quantifier on a trend of the prevalence")
def trend(effort: Effort) -> Answer:
    shares = np.concatenate([np.linspace(0.5, 0.05, 10), np.linspace(0.05, 0.95, 19)])
    figures, facts = [], []
    for size in (1000, 100):
        training = _normal_scores(size // 2, size // 2, 1)
        rng = np.random.default_rng(2)
        targets = [tm.tally(scores=rng.normal(1.6 * (rng.random(effort.of(2000, 400)) < share))) for share in shares]
        series = {
            title: [
                tm.quantify.estimate(name, training, target, level=None, threshold=0.8).prevalence for target in targets
            ]
            for title, name in (("classify and count", "cc"), ("adjusted count", "ac"))
        }
        days = np.arange(len(shares))
        chart = lines(
            {"truth": (days, shares), **{name: (days, values) for name, values in series.items()}},
            f"{size} training rows",
            ("day", "share of positives"),
        )
        figures.append(Figure(f"Figure 3.1, {size} training rows", chart))
        counted = np.array(series["classify and count"])
        over, under = (counted - shares)[shares < 0.2], (counted - shares)[shares > 0.8]
        facts.append(
            Fact(
                what=f"{size} rows: counting overestimates low shares and underestimates high ones",
                printed="yes",
                ours=f"{over.mean():+.3f}, {under.mean():+.3f}",
                agrees=bool(over.mean() > 0 > under.mean()),
            )
        )
    return Answer(figures=figures, facts=facts)


@exhibit("S-QUANT", "Figure 3.2", "Thresholds chosen by X, Max and T50")
def policies(_: Effort) -> Answer:
    tally = _normal_scores(100, 1000, 3)
    chosen = {"X": "x", "Max": "youden", "T50": "t50"}
    rows = []
    for name, policy in chosen.items():
        at = tally.at(policy)
        rows.append([name, f"{at.threshold:.3f}", f"{tm.metrics.fpr(at):.3f}", f"{tm.metrics.fnr(at):.3f}"])
    chart = tm.charts.over_thresholds(tally, metrics=["fpr", "fnr"], threshold=chosen)
    return Answer(
        figures=[Figure("Error rates by threshold", chart)],
        tables=[
            Table(
                "Chosen thresholds, 100 positives and 1 000 negatives", ("policy", "threshold", "fpr", "1 − tpr"), rows
            )
        ],
    )


@exhibit("S-QUANT", "Figure 3.3", "Scaled probability average")
def scaling(_: Effort) -> Answer:
    low, high = 0.3, 0.9

    def scaled(share: float) -> float:
        return (share - low) / (high - low)

    ends = np.linspace(low, high, 2)
    chart = lines({"scaled": (ends, [scaled(end) for end in ends])}, "Scaling of a mean probability", ("p′", "p″"))
    return Answer(
        figures=[Figure("Means from .3 to .9 are stretched to 0 and 1", chart)],
        facts=[
            near(".54 becomes", 0.4, scaled(0.54), 5e-3, exact=True),
            near(".8 becomes", 0.83, scaled(0.8), 5e-3, exact=True),
            near(".4 becomes", 0.23, scaled(0.4), 5e-3, why="(.4 − .3)/(.9 − .3) is 1/6: the printed value is wrong."),
        ],
    )


@exhibit("S-QUANT", "Table 4.2", "Critical values of Nemenyi and Bonferroni–Dunn, and critical differences")
def critical_values(_: Effort) -> Answer:
    facts, rows = [], []
    for (level, control), printed in CRITICAL.items():
        name = "Bonferroni–Dunn" if control else "Nemenyi"
        for k, value in enumerate(printed, 2):
            ours = tm.study.critical_difference(k, 6, level=level, control=control) / np.sqrt(k * (k + 1) / 36)
            rows.append([name, f"{level:g}", str(k), f"{value:.3f}", f"{ours:.4f}"])
            misprint = value == 2.724
            facts.append(
                near(
                    f"{name}, k = {k}, level {level:g}", value, ours, 1.05e-3, exact=not misprint,
                    why="Demšar's 2.724 is a misprint of 2.734." if misprint else "",
                )
            )  # fmt: skip
    for k, n, printed in ((10, 24, 2.7654), (10, 22, 2.8883)):
        ours = tm.study.critical_difference(k, n)
        facts.append(near(f"critical difference, {k} methods, {n} data sets", printed, ours, 6e-4, exact=True))
    return Answer(
        facts=[fact for fact in facts if not fact.agrees or "difference" in fact.what],
        tables=[Table("Printed and computed", ("test", "level", "k", "printed", "ours"), rows)],
        remark="Printed values are rounded or cut to three decimals: all but one agree to one unit of the last.",
    )


@exhibit("S-QUANT", "Table 5.1", "Weights of a class by its share of the training rows")
def neighbour_weights(_: Effort) -> Answer:
    shares = (60, 70, 80, 90, 99)
    facts, rows = [], []
    for alpha, printed in WEIGHTS.items():
        ours = [float(class_weights([share, 100 - share], alpha)[0]) for share in shares]
        rows.append([str(alpha), *(f"{value:.4f}" for value in ours)])
        worst = max(abs(a - b) for a, b in zip(printed, ours, strict=True))
        facts.append(near(f"α = {alpha}: largest difference", 0, worst, 5.01e-3, exact=True))
    return Answer(facts=facts, tables=[Table("Weights", ("α", *(f"{share} %" for share in shares)), rows)])


@exhibit("S-QUANT", "Theorem 5.1", "Both kinds of weights predict alike with α = 1")
def theorem(effort: Effort) -> Answer:
    rng = np.random.default_rng(0)
    different, compared = 0, 0
    for seed in range(effort.of(50, 5)):
        y = (rng.random(80) < rng.uniform(0.1, 0.9)).astype(int)
        y[:2] = 0, 1
        X, new = rng.normal(y[:, None], 1.0, (80, 2)), rng.normal(0.5, 1.2, (200, 2))
        both = [
            tm.learners.PWKClassifier(n_neighbors=3 + seed % 9, alpha=alpha).fit(X, y).predict(new)
            for alpha in (1.0, None)
        ]
        different += int((both[0] != both[1]).sum())
        compared += len(new)
    return Answer(facts=[near(f"different predictions of {compared}", 0, different, 0, exact=True)])


@exhibit("S-QUANT", "Table 5.2", "The 24 problems")
def problems(_: Effort) -> Answer:
    facts, rows = [], []
    for name, (size, _, positives) in PROBLEMS.items():
        data = tm.study.dataset(name)
        ours = (len(data.y), data.X.shape[1], int(np.sum(data.y == 1)))
        rows.append([name, *map(str, ours), f"{100 * ours[2] / ours[0]:.0f} %"])
        same = (ours[0], ours[2]) == (size, positives)
        printed, found = (f"{a} rows, {b} positive" for a, b in ((size, positives), (ours[0], ours[2])))
        facts.append(Fact(what=name, printed=printed, ours=found, agrees=same, exact=True))
    return Answer(
        facts=[fact for fact in facts if not fact.agrees],
        tables=[Table("As read", ("problem", "rows", "columns", "positives", "share"), rows)],
        remark="Rows and positives of all 24 agree with the printed table. Attributes with words become several columns.",
    )


def _results(effort: Effort, name: str, few: tuple[str, ...]) -> tm.study.StudyResults:
    """The results of a study, run to its end, or of few data sets and folds."""
    store = effort.folder / f"{name}.sqlite"
    effort.folder.mkdir(parents=True, exist_ok=True)
    study = tm.study.Study.from_toml(_HERE / f"{name}.toml")
    if effort.quick:
        plan = plan_of(_HERE / f"{name}.toml")
        study = tm.study.Study(
            plan.name,
            [one for one in plan.datasets if one.name in few],
            {method.name: method for method in plan.methods},
            plan.classifiers,
            protocol={**plan.protocol, "folds": 2},
            losses=plan.losses,
            seed=plan.seed,
        )
    study.run(jobs=2, store=store)
    return study.results(store)


def _ranks(results: tm.study.StudyResults, loss: str) -> Table:
    test = results.test(loss)
    beaten = test.beaten()
    ranks = sorted(test.nemenyi.mean_ranks.items(), key=lambda item: item[1])
    rows = [[name, f"{rank:.2f}", ", ".join(beaten.get(name, ())) or "–"] for name, rank in ranks]
    return Table(f"Mean ranks by {loss.upper()}", ("method", "mean rank", "better than"), rows)


def _beats(results: tm.study.StudyResults, loss: str, who: str, whom: str) -> Fact:
    """Whether a method beats another one, as the thesis says."""
    shown = whom in results.test(loss).beaten().get(who, ())
    ranks = results.test(loss).nemenyi.mean_ranks
    return Fact(
        what=f"{loss.upper()}: {who} is better than {whom}",
        printed="yes",
        ours=("yes" if shown else "not shown") + f" (ranks {ranks[who]:.2f}, {ranks[whom]:.2f})",
        agrees=shown,
        why="" if shown else "Other folds and LIBLINEAR's squared hinge instead of LIBSVM: the difference of ranks is "
        "smaller than the critical one.",
    )  # fmt: skip


def _study_figures(results: tm.study.StudyResults, number: str, loss: str) -> list[Figure]:
    return [
        Figure(
            f"Figure {number}a: {loss.upper()} over data sets and prevalences",
            tm.charts.study_errors(results, loss=loss),
        ),
        Figure(f"Figure {number}b: mean ranks", tm.charts.critical_difference(results.test(loss))),
    ]


@exhibit("S-QUANT", "Figures 5.1 to 5.5", "Nearest neighbours beside Forman's methods")
def chapter_5(effort: Effort) -> Answer:
    results = _results(effort, "nearest_neighbours", ("iris.1", "wine.1", "balance.1"))
    figures = [*_study_figures(results, "5.1", "ae"), *_study_figures(results, "5.2", "kld")]
    figures += [
        Figure("Figure 5.3: each method against PWKα", tm.charts.pairwise(results, "PWKα")),
        Figure("Figure 5.4: split by prevalence", tm.charts.pairwise(results, "PWKα", by_prevalence=True)),
        Figure(
            "Figure 5.5: losses by data set and prevalence",
            tm.charts.errors_by_dataset(results, methods=["AC", "Max", "KNN", "PWKα"]),
        ),
    ]
    pairs = {line["method"]: line for line in results.pairwise("PWKα").rows()}
    facts = []
    if not effort.quick:
        for loss, whom in (("ae", ("CC", "AC", "MS", "T50", "BL")), ("kld", ("CC", "AC", "MS", "T50", "BL"))):
            facts += [_beats(results, loss, who, other) for who in ("PWKα", "PWK") for other in whom]
        for name, (won, points) in PAIRS.items():
            why = "Other folds, and another SVM."
            if won is not None:
                ours = pairs[name]["dwl"]
                facts.append(near(f"PWKα beside {name}: wins minus losses", won, ours, 20, why=why))
            facts.append(near(f"{name}'s mean AE less PWKα's, points", points, pairs[name]["difference"], 1, why=why))
    by_share = results.pairwise("PWKα", by_prevalence=True).rows()
    return Answer(
        figures=figures,
        facts=facts,
        tables=[
            _ranks(results, "ae"),
            _ranks(results, "kld"),
            Table(
                "Figure 5.4 as numbers: PWKα beside each method at each prevalence",
                ("method", "prevalence", "wins − losses", "difference of AE, points"),
                [
                    [row["method"], f"{row['prevalence']:g}", str(row["dwl"]), f"{row['difference']:.2f}"]
                    for row in by_share
                ],
            ),
        ],
        remark="24 problems, 10 folds, 11 prevalences. N of the tests is the number of data sets.",
    )


@exhibit("S-QUANT", "Table 6.1 and figure 6.1", "A perfect quantifier with the worst recall")
def perfect_quantifier(_: Effort) -> Answer:
    iris = load_iris()
    X, y = iris.data[:, [0, 2]], iris.target
    third = (y == 2).astype(int)
    opposite = 1 - (X[:, 1] >= np.sort(X[:, 1])[50]).astype(int)
    good = (X[:, 1] >= np.sort(X[:, 1])[100]).astype(int)
    rows = []
    for name, predicted in (("w₁", opposite), ("w₂", good)):
        matrix = tm.confusion(third, predicted)
        values = [tm.metrics.recall(matrix), tm.metrics.nas(matrix), tm.metrics.q_measure(matrix)]
        rows.append([name, *(f"{cell:g}" for cell in matrix.cells), *(f"{value:.3f}" for value in values)])
    worst = tm.confusion(third, opposite)
    return Answer(
        figures=[
            Figure("Class 3 of iris against the rest", _by_class({"classes 1 and 2": X[third == 0], "class 3": X[third == 1]}))
        ],
        tables=[Table("Two quantifiers", ("hypothesis", "TP", "FP", "FN", "TN", "recall", "NAS", "Q₂"), rows)],
        facts=[
            near("recall of w₁", 0, tm.metrics.recall(worst), 0, exact=True),
            near("NAS of w₁", 1, tm.metrics.nas(worst), 0, exact=True),
            near("Q₂ of w₁", 0, tm.metrics.q_measure(worst), 0, exact=True),
        ],
    )  # fmt: skip


@exhibit("S-QUANT", "Figures 6.2 to 6.7", "Losses over all numbers of false positives and false negatives")
def loss_surfaces(_: Effort) -> Answer:
    shown = {
        "classification": ("recall", "f1", "accuracy", "geometric_mean"),
        "quantification": ("ae", "kld", "nas", "nss"),
        "Q-measure": {f"Q, β = {beta:g}": ("q_measure", {"beta": beta}) for beta in (0.0, 0.5, 1.0, 2.0, 5.0)},
    }
    figures = []
    numbers = iter(("6.2", "6.3", "6.4", "6.5", "6.6", "6.7"))
    for kind, metrics in shown.items():
        for positives in (1000, 100):
            chart = tm.charts.metric_surfaces(metrics, positives=positives, negatives=1000)
            figures.append(Figure(f"Figure {next(numbers)}: {kind}", chart))
    return Answer(
        figures=figures,
        remark="The thesis adds a surface in three dimensions to each; the flat one has the same values.",
    )


@exhibit("S-QUANT", "Figures 6.8 and 6.9", "Structured support vector machines that learn to count")
def chapter_6(effort: Effort) -> Answer:
    results = _results(effort, "quantification_losses", ("iris.1", "wine.1", "haberman"))
    facts = []
    if not effort.quick:
        facts = [
            _beats(results, "kld", "Q2", "T50"),
            _beats(results, "kld", "Q1", "T50"),
            _beats(results, "kld", "Max", "T50"),
            _beats(results, "kld", "NAS", "T50"),
            _beats(results, "ae", "Max", "T50"),
        ]
    return Answer(
        figures=[*_study_figures(results, "6.8", "ae"), *_study_figures(results, "6.9", "kld")],
        tables=[_ranks(results, "ae"), _ranks(results, "kld")],
        facts=facts,
        remark="22 problems. All attributes have mean 0 and standard deviation 0.5 here; the thesis scales two sets.",
    )
