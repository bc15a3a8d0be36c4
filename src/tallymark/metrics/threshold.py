"""Metrics at one threshold: formulas of the four cells tp, fp, fn, tn of a confusion matrix."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from tallymark._check import Floats
from tallymark.errors import Undefined
from tallymark.metrics.declare import GUBBELS, cell_metric, metric
from tallymark.metrics.margins import Margins
from tallymark.metrics.parameters import COSTS
from tallymark.summaries.confusion import Confusion

_NO_POSITIVES = {"P": "there are no positives"}
_NO_NEGATIVES = {"N": "there are no negatives"}
_NONE_PREDICTED = {"PP": "nothing was classified positive"}
_ALL_PREDICTED = {"PN": "nothing was classified negative"}
_BOTH = _NO_POSITIVES | _NO_NEGATIVES
_NO_ROWS = {"n": "there are no rows"}

_POWERS = "Powers (2011), J. Mach. Learn. Technol. 2(1)."
_FAWCETT = "Fawcett (2006), Pattern Recognit. Lett. 27(8)."
_BARRANQUERO = "Barranquero, Díez & del Coz (2015), Pattern Recognit. 48(2)."
_RIJSBERGEN = "van Rijsbergen (1979), Information Retrieval, 2nd ed."


def _accuracy(margins: Margins) -> Floats:
    values: Floats = margins.hits.sum(axis=1) / margins.total
    return values


def _by_chance(margins: Margins) -> Floats:
    values: Floats = np.einsum("dk,dk->d", margins.truth, margins.predicted) / margins.total**2
    return values


def _kappa(margins: Margins) -> Floats:
    by_chance = _by_chance(margins)
    # Counted, because rounding of sums of weights would hide 0 / 0.
    one_class = np.count_nonzero(margins.truth + margins.predicted, axis=1) < 2
    return np.where(one_class, np.nan, (_accuracy(margins) - by_chance) / (1.0 - by_chance))


def _mcc(margins: Margins) -> Floats:
    """R_K, Gorodkin (2004), Comput. Biol. Chem. 28(5-6)."""
    n = margins.total[:, None]
    spread = [1.0 - ((side / n) ** 2).sum(axis=1) for side in (margins.truth, margins.predicted)]
    fewest = np.minimum(*(np.count_nonzero(side, axis=1) for side in (margins.truth, margins.predicted)))
    return np.where(fewest < 2, np.nan, (_accuracy(margins) - _by_chance(margins)) / np.sqrt(spread[0] * spread[1]))


def _mean_recall(margins: Margins) -> Floats:
    values: Floats = (margins.hits / margins.truth).mean(axis=1)
    return values


accuracy = cell_metric(
    "accuracy",
    "(tp + tn) / n",
    title="Accuracy",
    brief="rows called right",
    undefined=_NO_ROWS,
    of_classes=_accuracy,
    meaning="Share of rows classified correctly; at low prevalence even predicting everything negative scores high.",
    reference=_FAWCETT,
    proportion=(("tp", "tn"), ("fp", "fn")),
    example=0.8285,
)
error = cell_metric(
    "error",
    "(fp + fn) / n",
    title="Error rate",
    better="lower",
    undefined=_NO_ROWS,
    of_classes=lambda margins: 1.0 - _accuracy(margins),
    meaning="Share of rows classified wrongly.",
    reference=_FAWCETT,
    proportion=(("fp", "fn"), ("tp", "tn")),
    example=0.1715,
)
recall = cell_metric(
    "recall",
    "tp / P",
    title="Recall (sensitivity, true positive rate)",
    brief="positives found",
    prevalence_free=True,
    aliases=("tpr", "sensitivity"),
    undefined=_NO_POSITIVES,
    meaning="Share of the positives that were predicted positive.",
    reference=_FAWCETT,
    proportion=(("tp",), ("fn",)),
    example=0.8953,
)
specificity = cell_metric(
    "specificity",
    "tn / N",
    title="Specificity (true negative rate)",
    brief="negatives left alone",
    prevalence_free=True,
    aliases=("tnr",),
    undefined=_NO_NEGATIVES,
    meaning="Share of the negatives that were predicted negative.",
    reference=_FAWCETT,
    proportion=(("tn",), ("fp",)),
    example=0.6279,
)
fpr = cell_metric(
    "fpr", "fp / N", title="False positive rate", better="lower", prevalence_free=True, undefined=_NO_NEGATIVES,
    meaning="Share of the negatives that were predicted positive.", reference=_FAWCETT,
    proportion=(("fp",), ("tn",)), example=0.3721,
)  # fmt: skip
fnr = cell_metric(
    "fnr", "fn / P", title="False negative rate (miss rate)", better="lower", prevalence_free=True,
    undefined=_NO_POSITIVES, meaning="Share of the positives that were predicted negative.", reference=_FAWCETT,
    proportion=(("fn",), ("tp",)), example=0.1047,
)  # fmt: skip
precision = cell_metric(
    "precision",
    "tp / PP",
    title="Precision (positive predictive value)",
    brief="alarms that are right",
    aliases=("ppv",),
    undefined=_NONE_PREDICTED,
    meaning="Share of the rows predicted positive that are positive; lower where positives are rarer.",
    reference=_FAWCETT,
    proportion=(("tp",), ("fp",)),
    example=0.8783,
)
npv = cell_metric(
    "npv",
    "tn / PN",
    title="Negative predictive value",
    undefined=_ALL_PREDICTED,
    meaning="Share of the rows predicted negative that are negative.",
    reference="Altman & Bland (1994), BMJ 309:102.",
    proportion=(("tn",), ("fn",)),
    example=0.6667,
)
fdr = cell_metric(
    "fdr",
    "fp / PP",
    title="False discovery rate",
    better="lower",
    undefined=_NONE_PREDICTED,
    meaning="Share of the rows predicted positive that are not.",
    reference="Benjamini & Hochberg (1995), J. R. Stat. Soc. B 57(1).",
    proportion=(("fp",), ("tp",)),
    example=0.1217,
)
false_omission_rate = cell_metric(
    "false_omission_rate",
    "fn / PN",
    title="False omission rate",
    better="lower",
    undefined=_ALL_PREDICTED,
    meaning="Share of the rows predicted negative that are positive.",
    reference=_POWERS,
    proportion=(("fn",), ("tn",)),
    example=0.3333,
)
prevalence = cell_metric(
    "prevalence", "P / n", title="Prevalence p", better="neither", undefined=_NO_ROWS,
    meaning="Share of positives.", reference=_POWERS,
    proportion=(("tp", "fn"), ("fp", "tn")), model_free=True, example=0.75,
)  # fmt: skip
predicted_prevalence = cell_metric(
    "predicted_prevalence",
    "PP / n",
    title="Predicted prevalence p′",
    better="neither",
    undefined=_NO_ROWS,
    meaning="Share predicted positive: what classify-and-count would publish.",
    reference="Forman (2008), Data Min. Knowl. Discov. 17(2).",
    proportion=(("tp", "fp"), ("fn", "tn")),
    example=0.7645,
)
label_bias = cell_metric(
    "label_bias",
    "(fp - fn) / n",
    title="Bias of the labels",
    low=-1.0,
    better="zero",
    undefined=_NO_ROWS,
    meaning="Predicted minus true share of positives.",
    reference=GUBBELS,
    example=0.0145,
)
f1 = cell_metric(
    "f1",
    "2 * tp / (2 * tp + fp + fn)",
    title="F1",
    brief="recall and precision together",
    f_of_means=True,
    undefined={"tp + fp + fn": "there are no positives and nothing was classified positive"},
    meaning="Harmonic mean of precision and recall; ignores true negatives.",
    reference=_RIJSBERGEN,
    example=0.8868,
)
fbeta = cell_metric(
    "fbeta",
    "(1 + beta * beta) * tp / ((1 + beta * beta) * tp + beta * beta * fn + fp)",
    title="F-beta",
    f_of_means=True,
    parameters={"beta": 2.0},
    undefined={"tp + fp + fn": "there are no positives and nothing was classified positive"},
    meaning="Harmonic mean of precision and recall in which recall counts beta times as much.",
    reference=_RIJSBERGEN,
    example=0.8919,
)
g_measure = cell_metric(
    "g_measure",
    "sqrt(tp / PP * (tp / P))",
    title="G-measure (Fowlkes–Mallows)",
    undefined=_NONE_PREDICTED | _NO_POSITIVES,
    meaning="Geometric mean of precision and recall.",
    reference="Fowlkes & Mallows (1983), J. Am. Stat. Assoc. 78(383).",
    example=0.8868,
)
balanced_accuracy = cell_metric(
    "balanced_accuracy",
    "(tp / P + tn / N) / 2",
    title="Balanced accuracy",
    brief="classes weighed alike",
    prevalence_free=True,
    aliases=("ba",),
    undefined=_BOTH,
    of_classes=_mean_recall,
    meaning="Mean of the two classes' recalls; 0.5 for any constant prediction.",
    reference="Brodersen et al. (2010), ICPR.",
    example=0.7616,
)
geometric_mean = cell_metric(
    "geometric_mean",
    "sqrt(tp / P * (tn / N))",
    title="Geometric mean of recall and specificity",
    prevalence_free=True,
    aliases=("gm",),
    undefined=_BOTH,
    meaning="Like balanced accuracy, but 0 as soon as no row of one class is predicted correctly.",
    reference="Kubat & Matwin (1997), ICML.",
    example=0.7498,
)
mcc = cell_metric(
    "mcc",
    "(tp * tn - fp * fn) / (sqrt(PP * P) * sqrt(N * PN))",
    title="Matthews correlation coefficient",
    brief="correlation of truth and call",
    short="MCC",
    low=-1.0,
    undefined=_BOTH | _NONE_PREDICTED | _ALL_PREDICTED,
    of_classes=_mcc,
    meaning="Correlation of truth and prediction; high only if all four cells are good.",
    reference="Matthews (1975), Biochim. Biophys. Acta 405(2); Gorodkin (2004) for K classes.",
    example=0.534,
)
kappa = cell_metric(
    "kappa",
    "2 * (tp * tn - fp * fn) / (PP * N + P * PN)",
    title="Cohen's kappa",
    low=-1.0,
    undefined={"PP * N + P * PN": "truth and prediction are one and the same class throughout"},
    of_classes=_kappa,
    meaning="Agreement beyond what the same shares would agree by chance.",
    reference="Cohen (1960), Educ. Psychol. Meas. 20(1).",
    example=0.5336,
)
informedness = cell_metric(
    "informedness",
    "tp / P + tn / N - 1",
    title="Youden's J (informedness)",
    low=-1.0,
    prevalence_free=True,
    aliases=("youden", "j"),
    undefined=_BOTH,
    meaning="Recall plus specificity minus 1: how much better than guessing, whatever the prevalence.",
    reference="Youden (1950), Cancer 3(1).",
    example=0.5233,
)
markedness = cell_metric(
    "markedness",
    "tp / PP + tn / PN - 1",
    title="Markedness",
    low=-1.0,
    undefined=_NONE_PREDICTED | _ALL_PREDICTED,
    meaning="Precision plus negative predictive value minus 1: how far a prediction can be trusted.",
    reference=_POWERS,
    example=0.545,
)
jaccard = cell_metric(
    "jaccard",
    "tp / (tp + fp + fn)",
    title="Jaccard index (critical success index)",
    aliases=("csi",),
    undefined={"tp + fp + fn": "there are no positives and nothing was classified positive"},
    meaning="True positives as a share of the rows that are positive or predicted positive.",
    reference="Jaccard (1901); Gilbert (1884).",
    example=0.7966,
)
lr_plus = cell_metric(
    "lr_plus",
    "tp / P / (fp / N)",
    title="Positive likelihood ratio",
    high=math.inf,
    prevalence_free=True,
    undefined=_BOTH | {"tp + fp": "nothing was classified positive"},
    meaning="How much a positive prediction multiplies the odds of being positive.",
    reference="Deeks & Altman (2004), BMJ 329:168.",
    example=2.4062,
)
lr_minus = cell_metric(
    "lr_minus",
    "fn / P / (tn / N)",
    title="Negative likelihood ratio",
    high=math.inf,
    better="lower",
    prevalence_free=True,
    undefined=_BOTH | {"fn + tn": "nothing was classified negative"},
    meaning="How much a negative prediction multiplies the odds of being positive.",
    reference="Deeks & Altman (2004), BMJ 329:168.",
    example=0.1667,
)
diagnostic_odds_ratio = cell_metric(
    "diagnostic_odds_ratio",
    "tp * tn / (fp * fn)",
    title="Diagnostic odds ratio",
    high=math.inf,
    prevalence_free=True,
    aliases=("dor",),
    undefined={"tp * tn": "both products of the cells are 0"},
    meaning="Odds of a positive prediction among positives over those among negatives.",
    reference="Glas et al. (2003), J. Clin. Epidemiol. 56(11).",
    example=14.4375,
)
prevalence_threshold = cell_metric(
    "prevalence_threshold",
    "sqrt(fp / N) / (sqrt(tp / P) + sqrt(fp / N))",
    title="Prevalence threshold",
    better="lower",
    prevalence_free=True,
    undefined=_BOTH | {"tp + fp": "nothing was classified positive"},
    meaning="Prevalence below which precision falls off most sharply.",
    reference="Balayla (2020), PLoS ONE 15(10).",
    example=0.392,
)
nas = cell_metric(
    "nas",
    "1 - abs(fp - fn) / max(P, N)",
    errors_cancel=True,
    title="Normalised absolute score of the count",
    short="NAS",
    undefined=_NO_ROWS,
    meaning="One minus the error of the number classified positive, as a share of the largest possible error. "
    "Errors of the two kinds cancel.",
    reference=_BARRANQUERO,
    example=0.9806,
)
nss = cell_metric(
    "nss",
    "1 - abs(fp - fn) * abs(fp - fn) / (max(P, N) * max(P, N))",
    errors_cancel=True,
    title="Normalised squared score of the count",
    short="NSS",
    undefined=_NO_ROWS,
    meaning="One minus the squared error of the number classified positive, as a share of the largest possible one.",
    reference=_BARRANQUERO,
    example=0.9996,
)
q_measure = cell_metric(
    "q_measure",
    # The harmonic mean in the form that is 0 where recall or NAS is.
    "(1 + beta * beta) / (beta * beta / (1 - abs(fp - fn) / max(P, N)) + P / tp)",
    errors_cancel=True,
    title="Q-measure",
    brief="rows and count right",
    parameters={"beta": 2.0},
    undefined=_NO_POSITIVES | {"max(P, N) - abs(fp - fn)": "the count is as wrong as it can be, and beta is 0"},
    meaning="Harmonic mean of recall and of the normalised absolute score of the count, in which the count weighs beta "
    "times as much.",
    reference=_BARRANQUERO,
    example=0.9623,
)
expected_cost = cell_metric(
    "expected_cost",
    "(cost_fp * fp + cost_fn * fn) / n",
    title="Expected cost per row",
    short="Expected cost",
    brief="at the given costs",
    high=math.inf,
    better="lower",
    undefined=_NO_ROWS,
    parameters=COSTS,
    meaning="Mean cost of the errors at the given costs of a false positive and a false negative.",
    reference="Elkan (2001), IJCAI.",
    example=0.1715,
)
net_benefit = cell_metric(
    "net_benefit",
    "tp / n - fp / n * (odds_at / (1 - odds_at))",
    title="Net benefit",
    low=-math.inf,
    undefined=_NO_ROWS,
    parameters={"odds_at": 0.5},
    threshold_parameter="odds_at",
    meaning="True positives per row minus false positives weighted by the odds of the probability t at which one would "
    "act: the threshold, unless costs or odds_at are given.",
    reference="Vickers & Elkin (2006), Med. Decis. Making 26(6).",
    example=0.5785,
)


def _d_prime_of_cells(tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike) -> Floats:
    """Z(tpr) - Z(fpr) of numbers or arrays; nan where both are infinite or a class is missing."""
    from scipy.special import ndtri

    tp, fp, fn, tn = (np.asarray(cell, dtype=np.float64) for cell in (tp, fp, fn, tn))
    with np.errstate(divide="ignore", invalid="ignore"):
        values: Floats = ndtri(tp / (tp + fn)) - ndtri(fp / (fp + tn))
    return values


@metric(
    title="Sensitivity index d′ at a threshold", family="threshold", needs="confusion", low=-math.inf,
    high=math.inf, better="higher", chance=0.0, prevalence_free=True, rank_only=True, one_class=True,
    cells=_d_prime_of_cells, formula=r"Z(\mathrm{tpr}) - Z(\mathrm{fpr})",
    meaning="Distance of the two classes in standard deviations, if both were normal with equal spread.",
    reference="Green & Swets (1966), Signal Detection Theory and Psychophysics.",
)  # fmt: skip
def d_prime(confusion: Confusion) -> float:
    r"""Sensitivity index :math:`Z(\mathrm{tpr}) - Z(\mathrm{fpr})`, with Z the normal quantile function.

    Infinite when one rate is 0 or 1; undefined when both are, in opposite senses.

    >>> import tallymark as tm
    >>> round(tm.metrics.d_prime(tm.Confusion.of_cells(tp=8, fp=2, fn=2, tn=8)), 4)
    1.6832
    """
    tp, fp, fn, tn = confusion.cells
    if tp + fn == 0 or fp + tn == 0:
        raise Undefined("d_prime: both classes are needed")
    value = float(_d_prime_of_cells(tp, fp, fn, tn))
    if math.isnan(value):
        raise Undefined("d_prime: everything was classified alike, so both rates are 0 or both are 1")
    return value
