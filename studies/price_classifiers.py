"""S-ONS: advice for classifiers of prices, confusion matrices, ROC and PR space, and what errors do to an index."""

from __future__ import annotations

import itertools

import numpy as np

import tallymark as tm
from studies.exhibits import Answer, Effort, Fact, Figure, Table, exhibit, near

_STABLE = {
    "both": (True, True),
    "only prevalence": (True, False),
    "only prices": (False, True),
    "neither": (False, False),
}

#: What tables 1 and 2 advise first, by what is stable: of two classes with low and with high prevalence, and of more.
_TABLE_1 = {
    "both": ("fbeta", "balanced_accuracy"),
    "only prevalence": ("fbeta", "balanced_accuracy"),
    "only prices": ("fbeta", "balanced_accuracy"),
    "neither": ("balanced_accuracy", "balanced_accuracy"),
}
_WEIGHTED = {"both": True, "only prevalence": True, "only prices": False, "neither": False}
_AVERAGED = {"both": "macro", "only prevalence": "macro", "only prices": "micro", "neither": "micro"}

#: False positive rate and recall of five classifiers that are as the annex says of its A to E, which it does not print.
_RATES = {"A": (0.05, 0.70), "B": (0.12, 0.90), "C": (0.30, 0.92), "D": (0.50, 0.94), "E": (0.35, 0.60)}


@exhibit("S-ONS", "Tables 1 and 2", "Which metric, by what is stable")
def advice(_: Effort) -> Answer:
    rows, facts = [], []
    for stable, (prevalence, prices) in _STABLE.items():
        for classes, share in itertools.product((2, 5), ("low", "high")):
            said = tm.advise(classes=classes, prevalence_stable=prevalence, values_stable=prices, prevalence=share)
            beta = "–" if said.beta is None else f"{said.beta:g}"
            rows.append(
                ["two" if classes == 2 else "more", stable, share, said.metric, said.space, "yes" if said.weighting else "no",
                 said.averaging or "–", beta, "; ".join(said.doubts) or "–"]
            )  # fmt: skip
            if classes == 2:
                printed = _TABLE_1[stable][share == "high"]
                facts.append(_same(f"two classes, stable: {stable}, prevalence {share}", printed, said.metric))
            elif share == "low":
                printed = f"{'weighted ' if _WEIGHTED[stable] else ''}{_AVERAGED[stable]}"
                ours = f"{'weighted ' if said.weighting else ''}{said.averaging}"
                facts.append(_same(f"more classes, stable: {stable}", printed, ours))
    heads = ("classes", "stable", "prevalence", "metric", "space", "weighted", "average", "β", "doubts")
    return Answer(
        tables=[Table("Advice", heads, rows)],
        facts=facts,
        remark="With only prevalence stable, table 2 says micro in its row on metrics and macro in its row on averaging.",
    )


def _same(what: str, printed: str, ours: str) -> Fact:
    return Fact(what=what, printed=printed, ours=ours, agrees=printed == ours, exact=True)


@exhibit("S-ONS", "Annex A", "Confusion matrices of two classes, of more, one against the rest, and overall")
def matrices(_: Effort) -> Answer:
    correct = {"A": 4, "B": 7, "C": 2, "D": 5}
    truth = [label for label, count in correct.items() for _ in range(count)]
    wrong = [("A", "B"), ("B", "C"), ("C", "D"), ("D", "A"), ("D", "B")]
    matrix = tm.confusion([*truth, *(a for a, _ in wrong)], [*truth, *(b for _, b in wrong)])
    overall = matrix.overall()
    naive = tm.confusion([1] * 90 + [0] * 10, [1] * 100)
    return Answer(
        figures=[
            Figure("Table 2: four classes", tm.charts.confusion(matrix)),
            Figure("Table 3: class A against the rest", tm.charts.confusion(matrix.one_vs_rest("A"))),
            Figure("Table 4: overall", tm.charts.confusion(overall)),
        ],
        facts=[
            near("true positives overall", 18, overall.tp, 0, exact=True),
            near("accuracy of calling all positive at prevalence .9", 0.9, tm.metrics.accuracy(naive), 0, exact=True),
            near("its balanced accuracy", 0.5, tm.metrics.balanced_accuracy(naive), 0, exact=True),
        ],
        remark="The five errors are made up; the annex gives the numbers of correct rows.",
    )


@exhibit("S-ONS", "Annex C", "Averages over classes, and the F of weighted means")
def averages(_: Effort) -> Answer:
    rng = np.random.default_rng(0)
    truth = rng.choice(list("ABC"), 600, p=[0.6, 0.3, 0.1])
    predicted = np.where(rng.random(600) < 0.8, truth, rng.choice(list("ABC"), 600))
    matrix = tm.confusion(truth, predicted)
    means = [float(of(matrix, average="weighted")) for of in (tm.metrics.precision, tm.metrics.recall)]
    direct = 2 * means[0] * means[1] / sum(means)
    names = ("f1_macro", "f1_of_macro_means", "f1_weighted", "f1_of_weighted_means", "f1_micro")
    rows = [[name, f"{getattr(tm.metrics, name)(matrix):.4f}"] for name in names]
    recalls, sizes = np.array([0.9, 0.7, 0.5]), ((1, 1, 1), (8, 1, 1), (1, 1, 8))
    weighted = [float(np.average(recalls, weights=size)) for size in sizes]
    return Answer(
        tables=[Table("Averages of one matrix", ("metric", "value"), rows)],
        facts=[
            near(
                "F of weighted means, by its formula",
                direct,
                tm.metrics.f1_of_weighted_means(matrix),
                1e-12,
                exact=True,
            ),
            near("micro F is accuracy", tm.metrics.accuracy(matrix), tm.metrics.f1_micro(matrix), 1e-12, exact=True),
            Fact(
                what="micro and weighted averages do not move with prevalence",
                printed="yes",
                ours=", ".join(f"{value:.2f}" for value in weighted),
                agrees=False,
                why="Recalls .9, .7, .5 with class sizes 1:1:1, 8:1:1 and 1:1:8: the weighted mean moves, as micro F does.",
            ),
        ],
    )


@exhibit("S-ONS", "Annex D", "Five classifiers in ROC space and in PR space")
def spaces(_: Effort) -> Answer:
    figures, facts = [], []
    for share in (0.5, 0.1, 0.9):
        rows = 100_000
        points = {}
        for name, (fpr, tpr) in _RATES.items():
            tp, fp = round(rows * share * tpr), round(rows * (1 - share) * fpr)
            fn, tn = round(rows * share) - tp, round(rows * (1 - share)) - fp
            points[name] = tm.confusion([1, 0, 1, 0], [1, 1, 0, 0], counts=[tp, fp, fn, tn])
        figures.append(Figure(f"Figure 1, prevalence {share:g}: ROC space", tm.charts.roc_space(points)))
        figures.append(Figure(f"Figure 2, prevalence {share:g}: PR space", tm.charts.pr_space(points)))
        best = max(points, key=lambda name: tm.metrics.balanced_accuracy(points[name]))
        facts.append(_same(f"best balanced accuracy, prevalence {share:g}", "B", best))
        if share == 0.9:
            naive = tm.confusion([1, 0], [1, 1], counts=[90_000, 10_000])
            accuracies = sum(tm.metrics.accuracy(point) <= tm.metrics.accuracy(naive) for point in points.values())
            facts.append(near("classifiers at most as accurate as calling all positive", 5, accuracies, 0, exact=True))
    dominated = [
        name for name, (fpr, tpr) in _RATES.items()
        if any(f <= fpr and t >= tpr and (f, t) != (fpr, tpr) for f, t in _RATES.values())
    ]  # fmt: skip
    facts.append(_same("dominated", "E", ", ".join(dominated)))
    return Answer(
        figures=figures, facts=facts, remark="The annex prints no coordinates: these points are as it describes."
    )


@exhibit("S-ONS", "Annex E", "What errors do to the mean of prices")
def errors(_: Effort) -> Answer:
    figures, rows = [], []
    cases = {
        "Figure 1: false positives of the same prices": (0.0, 0.0),
        "Figure 2: dearer false positives": (6.0, 0.0),
        "Figure 3: false negatives at random": (0.0, 0.0),
        "Figure 4: dear false negatives": (0.0, 4.0),
    }
    for place, (title, (moved, chosen)) in enumerate(cases.items()):
        rng = np.random.default_rng(place)
        y = (rng.random(4000) < 0.4).astype(int)
        price = rng.normal(10.0, 2.0, 4000)
        missed = rng.random(4000) < (0.15 if not chosen else 1 / (1 + np.exp(-(price - 10 - chosen + 2))))
        false = rng.random(4000) < (0.15 if place < 2 else 0.0)
        if place < 2:
            missed = np.zeros(4000, dtype=bool)
        predicted = np.where(y == 1, ~missed, false).astype(int)
        price = np.where((y == 0) & false, price + moved, price)
        impact = tm.prices.impact({"y": y, "p": predicted, "price": price}, label="y", predicted="p", value="price")
        figures.append(Figure(title, tm.charts.impact(impact)))
        part = impact.parts[-1]
        rows.append([title, *(f"{part.shifts[kind].value:+.3f}" for kind in ("fp", "fn"))])
    values = [abs(float(row[1])) + abs(float(row[2])) for row in rows]
    return Answer(
        figures=figures,
        tables=[Table("Shift of the mean price by errors", ("case", "false positives", "false negatives"), rows)],
        facts=[
            Fact(
                what="errors of other prices move the mean, errors of the same prices hardly do",
                printed="yes", ours=", ".join(f"{value:.2f}" for value in values),
                agrees=max(values[0], values[2]) < 0.2 < min(values[1], values[3]), exact=True,
            )
        ],
        remark="Prices are made up, as in the annex.",
    )  # fmt: skip
