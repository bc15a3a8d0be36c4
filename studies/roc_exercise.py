"""S-ROC: ROC and PR curves, thresholds, U test and AUROC by sample size of 350 points, 50 of them positive.

The exercise prints 17 of its points. The other 333 are drawn here from normals fitted to those 17, so that figures are
of the same kind and numbers of all 350 points are not the same.
"""

from __future__ import annotations

from functools import cache

import numpy as np

import tallymark as tm
from studies.exhibits import Answer, Effort, Figure, Table, exhibit, near

#: x₁, x₂ and score of the negatives and of the positives that are printed.
NEGATIVES = np.array([
    (1.5998, 0.76857, -2.9341), (0.95352, -1.0024, -4.7261), (1.7588, 0.86545, -2.7575), (2.679, 1.9814, -1.3024),
    (1.6792, 0.59262, -3.0209), (1.3089, 0.15303, -3.5991), (2.4106, 1.5793, -1.7866), (2.4737, 1.1979, -2.044),
    (2.0354, 1.0006, -2.4764), (2.8452, 1.5663, -1.5206), (2.8618, 1.4816, -1.5761), (2.6181, 1.21, -1.9428),
    (1.4692, 0.18198, -3.4747), (1.8713, -0.03735, -3.3903),
])  # fmt: skip
POSITIVES = np.array([(3.8393, 1.9242, -0.60974), (4.2738, 3.5801, 0.95799), (1.3966, 2.629, -1.6119)])

#: Classes as they are written.
_NAMES = np.array(["negative", "positive"])

#: U of the exercise's 50 positives and 300 negatives.
PRINTED_U = 94


@cache
def classifier() -> tuple[float, float, float]:
    """The linear classifier that the printed scores are of: two weights and an offset."""
    printed = np.concatenate([NEGATIVES, POSITIVES])
    design = np.column_stack([printed[:, :2], np.ones(len(printed))])
    return tuple(np.linalg.lstsq(design, printed[:, 2], rcond=None)[0].tolist())


@cache
def points() -> tuple[np.ndarray, np.ndarray]:
    """Labels and points: the printed ones first, the rest drawn."""
    rng = np.random.default_rng(0)
    drawn = [
        rng.multivariate_normal(part[:, :2].mean(axis=0), np.cov(part[:, :2].T), count - len(part))
        for part, count in ((NEGATIVES, 300), (POSITIVES, 50))
    ]
    y = np.repeat([0, 1, 0, 1], [len(NEGATIVES), len(POSITIVES), len(drawn[0]), len(drawn[1])])
    return y, np.concatenate([NEGATIVES[:, :2], POSITIVES[:, :2], *drawn])


@cache
def scored() -> tm.Tally:
    """Scores of the classifier by class."""
    y, x = points()
    first, second, offset = classifier()
    return tm.tally(y, x @ np.array([first, second]) + offset)


@exhibit("S-ROC", "Printed rows", "The linear classifier and its scores")
def rows(_: Effort) -> Answer:
    first, second, offset = classifier()
    printed = np.concatenate([NEGATIVES, POSITIVES])
    again = printed[:, :2] @ np.array([first, second]) + offset
    return Answer(
        facts=[near("largest difference of a score", 0, float(np.abs(again - printed[:, 2]).max()), 2e-4, exact=True)],
        remark=f"score = {first:.5f} x₁ + {second:.5f} x₂ − {-offset:.5f}, by least squares from the 17 printed rows.",
    )


@exhibit("S-ROC", "Figures 1 and 2", "The points by true class, and by predicted class")
def plane_of_points(_: Effort) -> Answer:
    y, x = points()
    line = classifier()
    predicted = x @ np.array(line[:2]) + line[2] >= 0
    return Answer(
        figures=[
            Figure("Figure 1: true classes", tm.charts.class_points(x, _NAMES[y])),
            Figure(
                "Figure 2: predicted classes, and the line where the score is 0",
                tm.charts.class_points(x, _NAMES[y], _NAMES[predicted.astype(int)], line=line),
            ),
        ],
        remark="17 points are the printed ones, 333 are drawn from two normals fitted to them.",
    )


@exhibit("S-ROC", "Figures 3 and 4", "ROC and PR curves with AUC and optimal thresholds")
def curves(_: Effort) -> Answer:
    chosen = ("youden", "f1", "kappa")
    y, x = points()
    both = {
        "all 350": scored(),
        "17 printed": tm.tally(y[:17], (x @ np.array(classifier()[:2]) + classifier()[2])[:17]),
    }
    table = [
        [name, policy, f"{tally.at(policy).threshold:.4f}", f"{tm.metrics.informedness(tally.at(policy)):.4f}"]
        for name, tally in both.items()
        for policy in chosen
    ]
    return Answer(
        figures=[
            Figure("Figure 3: ROC curve", tm.charts.roc(scored(), thresholds=chosen)),
            Figure("Figure 4: PR curve", tm.charts.pr(scored(), thresholds=chosen)),
        ],
        tables=[Table("Optimal thresholds", ("rows", "policy", "threshold", "Youden's index there"), table)],
        remark=f"AUROC {tm.metrics.auroc(scored()):.4f}; the exercise's U means {1 - PRINTED_U / 15_000:.4f}.",
    )


@exhibit("S-ROC", "Figure 5", "Sums of ranks of six rows, and the U test of all")
def u_test(_: Effort) -> Answer:
    chosen = np.array([0, 1, 14, 15, 2, 16])
    printed = np.concatenate([NEGATIVES, POSITIVES])[chosen]
    six = tm.mann_whitney(tm.tally((chosen >= 14).astype(int), printed[:, 2]))
    whole = tm.mann_whitney(scored())
    return Answer(
        facts=[
            near("sum of ranks of the negatives", 6, six.rank_sum_negative, 0, exact=True),
            near("sum of ranks of the positives", 15, six.rank_sum_positive, 0, exact=True),
            near(
                "U of all rows", PRINTED_U, whole.u, 0,
                why="333 of the 350 points are drawn: the normals fitted to 14 and 3 rows overlap more than the "
                "exercise's points.",
            ),
        ],
        remark=f"All 350: U {whole.u:g}, p {whole.p_value:.3g}; rejected at every usual level, as in the exercise "
        "(printed p 2.52e-12; its words exchange the null hypothesis and the alternative).",
    )  # fmt: skip


@exhibit("S-ROC", "Figures 6 to 8", "AUC against the number of rows, and the two AUCs against each other")
def by_size(effort: Effort) -> Answer:
    sizes = [35, 70, 105, 140, 210, 280, 350]
    table = tm.by_sample_size(scored(), ("auroc", "pr_auc"), sizes=sizes, replicates=effort.of(200, 20))
    larger = [float(np.corrcoef(values[:, 0], values[:, 1])[0, 1]) for values in table.values[1:-1]]
    return Answer(
        figures=[
            Figure("Figures 6 and 7: AUC of ROC and PR curve by number of rows", tm.charts.by_sample_size(table)),
            Figure("Figure 8: AUC of PR against AUC of ROC", tm.charts.size_scatter(table)),
        ],
        tables=[
            Table(
                "Correlation of the two AUCs over subsamples",
                ("rows", "r"),
                [[str(n), f"{r:.2f}"] for n, r in zip(sizes[1:-1], larger, strict=True)],
            )
        ],
        facts=[
            near("r of 70 rows or more, middle of the printed range .60 to .95", 0.775, float(np.mean(larger)), 0.175)
        ],
        remark="Subsamples keep the share of positives. The exercise draws its own and prints a range.",
    )
