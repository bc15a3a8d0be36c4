"""S-PCC, chapter 2 and appendix B: four ways to count a rare class in texts.

The thesis counts companies in web pages that are not public. Here are short messages (spam, thinned to two in a
thousand) and tweets (hate), in the layout of its tables. Printed numbers are of other texts, so what is compared is
what the thesis says about its methods.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from bench.datasets import have_data
from bench.rare_texts import CORPORA, texts_of

import tallymark as tm
from studies.exhibits import Answer, Effort, Fact, Figure, Table, exhibit
from tallymark.rare.results import RareComparison, RareCount
from tallymark.study.datasets import MissingData

#: Names of the methods in the thesis, and in its table 2.4 the estimate, its deviation and the bias; 69 are true.
PRINTED = {
    "balanced": ("State of the art", 636.540, 19.449, 0.019101),
    "class_weight_sweep": ("Class weight (100)", 214.770, 11.665, 0.004905),
    "bootstrap": ("Bootstrap", 306.222, 13.389, 0.007984),
    "ensemble": ("Ensemble", 6.6905, float("nan"), -0.00210),
}
_TABLES = {"balanced": "2.1", "bootstrap": "2.2", "ensemble": "2.3"}
_COLUMNS = ("TP", "estimate", "bias", "spcc", "accuracy", "balanced_accuracy", "mcc", "auroc")


@cache
def _compared(corpus: str, quick: bool) -> RareComparison:
    if not have_data():
        raise MissingData("The texts are read from the folder that TALLYMARK_DATA names.")
    texts, y = texts_of(corpus)
    _, _, positives, negatives, prevalence = CORPORA[corpus]
    train, target = tm.rare.split(y, positives=positives, negatives=negatives, prevalence=prevalence)
    machines = 5 if quick else 200
    weights = np.geomspace(1.2589, 100, 3 if quick else 20).tolist()
    methods = {
        "balanced": {"machines": 2 if quick else 20},
        "class_weight_sweep": {"weights": weights, "machines": 1 if quick else 5},
        "bootstrap": {"machines": machines},
        "ensemble": {"machines": machines // 5 + 2},
    }
    return tm.rare.compare(texts[train], y[train], texts[target], target_labels=y[target], methods=methods, jobs=2)


def _cells(row: dict, names: tuple[str, ...]) -> list[str]:
    return ["–" if row.get(name) is None else f"{row[name]:.4g}" for name in names]


def _variants(caption: str, one: RareCount) -> Table:
    rows = [[row["calibrated"], row["by"], *_cells(row, _COLUMNS)] for row in one.table]
    return Table(caption, ("calibrated", "by", *_COLUMNS), rows)


@exhibit("S-PCC", "Tables 2.1 to 2.4", "Four ways to count, and four variants of each")
def tables(effort: Effort) -> Answer:
    made, facts = [], []
    for corpus in CORPORA:
        found = _compared(corpus, effort.quick)
        made += [
            _variants(f"Table {number}, {corpus}: {method}", found.counts[method]) for method, number in _TABLES.items()
        ]
        rows = [
            [row["method"], *_cells(row, ("P", "estimate", "sd", "low", "high", "bias", "spcc", "auroc"))]
            for row in found.rows()
        ]
        heads = ("method", "true", "estimate", "sd", "low", "high", "bias", "sPCC", "AUROC")
        made.append(Table(f"Table 2.4, {corpus}: calibrated, by probabilities", heads, rows))
        for method, one in found.counts.items():
            lines = {(row["calibrated"], row["by"]): row for row in one.table}
            before, after = (
                abs(lines[kind, "probabilities"]["bias"]) if (kind, "probabilities") in lines else np.nan
                for kind in ("no", "yes")
            )
            facts.append(
                Fact(
                    what=f"{corpus}, {PRINTED[method][0]}: calibration lowers the bias of the sum of probabilities",
                    printed="no" if method == "ensemble" else "yes",
                    ours=f"{'yes' if after < before else 'no'} ({before:.4f}, {after:.4f})",
                    agrees=bool((after < before) == (method != "ensemble")),
                    why="Weights by similarity work on these texts; in the thesis they did not."
                    if method == "ensemble" and after < before
                    else "",
                )
            )
    printed = [[name, f"{estimate:g}", f"{sd:g}", f"{bias:g}"] for name, estimate, sd, bias in PRINTED.values()]
    made.append(Table("Table 2.4 as printed: 69 are true", ("method", "estimate", "sd", "bias"), printed))
    return Answer(
        tables=made, facts=facts,
        remark="200 machines and weights averaged over 5 machines here; the thesis has 1 000 and 10. Its sd is √Σp(1−p), "
        "which leaves out the error of the model: the interval beside it does not.",
    )  # fmt: skip


@exhibit("S-PCC", "Figures 2.1, 2.2, 2.4 and 2.5", "Probabilities before and after calibration, rates by threshold")
def histograms(effort: Effort) -> Answer:
    found = _compared("sms", effort.quick).counts
    figures = []
    for number, method in (("2.1", "balanced"), ("2.4", "class_weight_sweep"), ("2.5", "bootstrap")):
        for log in (False, True):
            chart = tm.charts.score_histogram(found[method].target, calibrated=found[method].calibrated, log=log)
            figures.append(
                Figure(f"Figure {number}: {method}{', counts on a logarithmic scale' if log else ''}", chart)
            )
    rates = tm.charts.over_thresholds(found["balanced"].target, metrics=["recall", "specificity"], threshold="youden")
    figures.append(Figure("Figure 2.2a: true positive and true negative rate", rates))
    figures.append(Figure("Figure 2.2b: ROC curve", tm.charts.roc(found["balanced"].target)))
    return Answer(figures=figures, remark="Short messages.")


@exhibit("S-PCC", "Figure 2.3 and appendix B", "Bias and sPCC by the weight of the positive class")
def weights(effort: Effort) -> Answer:
    figures, made = [], []
    for corpus in CORPORA:
        sweep = _compared(corpus, effort.quick).counts["class_weight_sweep"]
        figures += [
            Figure(f"Figure 2.3, {corpus}: {measure}", tm.charts.class_weight_sweep(sweep, measure=measure))
            for measure in ("bias", "spcc")
        ]
        rows = [
            [f"{row['weight']:.4f}", row["calibrated"], row["by"], *_cells(row, _COLUMNS)] for row in sweep.variants
        ]
        made.append(Table(f"Tables B.1 and B.2, {corpus}", ("weight", "calibrated", "by", *_COLUMNS), rows))
    return Answer(figures=figures, tables=made)
