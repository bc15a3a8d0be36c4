"""Inference methods of each metric, declared once: influence function, limits, resampling and comparison.

Metrics of a confusion matrix need no entry: their formula of the four cells, and the proportion they declare, suffice.
A user-defined metric has no entry and is resampled; a built-in one declares that with `RESAMPLED`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from tallymark._check import Floats
from tallymark.inference.interval import Seed
from tallymark.inference.limits import class_auroc, maximised
from tallymark.inference.limits.calibration_errors import (
    calibration_limits,
    classwise_limits,
    index_limits,
    top_label_limits,
)
from tallymark.inference.limits.cell_metrics import Limits
from tallymark.inference.limits.class_auroc import ClassEffect, class_auroc_effect
from tallymark.inference.limits.effect import Effect
from tallymark.inference.limits.maximised import Maximum
from tallymark.inference.limits.mover import Mover
from tallymark.inference.limits.rank_effects import (
    auroc_effect,
    average_precision_effect,
    partial_auc_effect,
    partial_average_precision_effect,
    pr_auc_effect,
    rank_correlation_effect,
)
from tallymark.inference.limits.score_effects import (
    calibration_intercept_effect,
    calibration_slope_effect,
    log_loss_effect,
    moments_effect,
    skill_effect,
)
from tallymark.inference.resampling.blockwise import (
    block_aucc,
    block_auroc,
    block_average_precision,
    block_d_b,
    block_gini,
    block_h_measure,
    block_hull_auc,
    block_integrated_calibration_index,
    block_ks,
    block_log_loss,
    block_partial_average_precision,
    block_positive_sd,
    block_precision_at_k,
    block_recall_at_k,
)
from tallymark.inference.resampling.resamples import Resamples
from tallymark.metrics.at_k import TOP
from tallymark.metrics.correlation import kendall_slope, spearman_slope
from tallymark.registry import METRICS
from tallymark.summaries.class_panel import ClassPanel
from tallymark.summaries.class_scores import ClassScores
from tallymark.summaries.tally import Tally


@dataclass(frozen=True)
class Increasing:
    """A metric as an increasing function of another one, with the inverse function."""

    base: str
    of_base: Callable[[float], float]
    to_base: Callable[[float], float]


@dataclass(frozen=True, kw_only=True)
class Inference:
    """How limits and tests of a metric are computed; by resampling where nothing is declared."""

    #: Its influence function in closed form.
    influence: Callable[[Tally], Effect] | None = None
    #: How limits of a metric maximised over thresholds are corrected.
    maximum: Maximum | None = None
    #: A special method, from a tally, a level and a seed.
    limits: Callable[[Tally, float, Seed], Limits] | None = None
    #: The same for a metric of K scores a row.
    class_limits: Callable[[ClassScores, float, Seed], Limits] | None = None
    #: Its influence function over the rows of K classes.
    class_effect: Callable[[ClassPanel], ClassEffect] | None = None
    #: It is an increasing function of another metric, whose limits it shares.
    increasing_in: Increasing | None = None
    #: The number of rows that it is a share of: its limits where it does not vary in resamples.
    share_of: Callable[[Tally], float] | None = None
    #: Its value in a whole block of resamples at once.
    blockwise: Callable[[Resamples], Floats] | None = None
    #: Whether it is a linear function of AUROC, so that DeLong's covariance applies.
    linear_in_auroc: bool = False
    #: How MOVER compares two models.
    mover: Mover | None = None


#: Limits and tests by resampling alone.
RESAMPLED = Inference()

_brier = moments_effect("brier")

#: Chosen by simulation (docs), with scores of equal and of different shapes.
OF_AREAS, _OF_PRECISIONS = Mover(0.25), Mover(0.15, each=True, student=True)

_TABLE: Mapping[str, Inference] = {
    "auroc": Inference(influence=auroc_effect, blockwise=block_auroc, linear_in_auroc=True, mover=OF_AREAS),
    "gini": Inference(
        influence=lambda tally: auroc_effect(tally, -1.0, 1.0),
        blockwise=block_gini,
        linear_in_auroc=True,
        mover=OF_AREAS,
    ),
    "spearman": Inference(influence=rank_correlation_effect(spearman_slope)),
    "kendall": Inference(influence=rank_correlation_effect(kendall_slope)),
    "average_precision": Inference(
        influence=average_precision_effect, blockwise=block_average_precision, mover=_OF_PRECISIONS
    ),
    "pr_auc": Inference(influence=pr_auc_effect, mover=_OF_PRECISIONS),
    "partial_auc": Inference(influence=partial_auc_effect),
    "partial_average_precision": Inference(
        influence=partial_average_precision_effect, blockwise=block_partial_average_precision
    ),
    "precision_at_k": Inference(
        blockwise=block_precision_at_k,
        share_of=lambda tally: TOP * sum(run.effective_size for run in tally.runs),
    ),
    "recall_at_k": Inference(blockwise=block_recall_at_k, share_of=lambda tally: tally.positive.effective_size),
    "lift_at_k": Inference(
        increasing_in=Increasing("recall_at_k", lambda recall: recall / TOP, lambda lift: lift * TOP)
    ),
    # It is flat where the count is right, so a standard error of its own would be too small.
    "nss": Inference(
        increasing_in=Increasing("nas", lambda nas: nas * (2.0 - nas), lambda nss: 1.0 - math.sqrt(1.0 - nss))
    ),
    "ks": Inference(maximum=maximised.KS, blockwise=block_ks),
    "d_b": Inference(maximum=maximised.D_B, blockwise=block_d_b),
    "aucc": Inference(maximum=maximised.AUCC, blockwise=block_aucc),
    "h_measure": Inference(maximum=maximised.H_MEASURE, blockwise=block_h_measure),
    "hull_auc": Inference(maximum=maximised.HULL_AUC, blockwise=block_hull_auc),
    "spcc": Inference(influence=moments_effect("spcc")),
    "d_a": Inference(influence=moments_effect("d_a")),
    "d_e": Inference(influence=moments_effect("d_e")),
    "d_b_normal": Inference(influence=moments_effect("d_b_normal")),
    "brier": Inference(influence=_brier),
    "brier_skill": Inference(influence=skill_effect("brier_skill", "brier", _brier)),
    "log_loss": Inference(influence=log_loss_effect, blockwise=block_log_loss),
    "log_loss_skill": Inference(influence=skill_effect("log_loss_skill", "log_loss", log_loss_effect)),
    "ece": Inference(limits=partial(calibration_limits, "ece", "width")),
    "ace": Inference(limits=partial(calibration_limits, "ace", "mass")),
    "calibration_slope": Inference(influence=calibration_slope_effect),
    "calibration_intercept": Inference(influence=calibration_intercept_effect),
    "integrated_calibration_index": Inference(limits=index_limits, blockwise=block_integrated_calibration_index),
    "bias": Inference(influence=moments_effect("bias", bounded=False)),
    "positive_estimate": Inference(influence=moments_effect("positive_estimate", bounded=False)),
    "positive_sd": Inference(blockwise=block_positive_sd),
    **dict.fromkeys(
        (
            "spcc_ovo_min",
            "spcc_ovo_geometric",
            "spcc_ovo_fisher",
            "spcc_ovr_min",
            "spcc_ovr_geometric",
            "spcc_ovr_fisher",
        ),
        RESAMPLED,
    ),
    "auroc_ovr": Inference(class_effect=class_auroc_effect(class_auroc.macro)),
    "auroc_ovr_weighted": Inference(class_effect=class_auroc_effect(class_auroc.by_size)),
    "auroc_ovo": Inference(class_effect=class_auroc_effect(class_auroc.one_vs_one)),
    "brier_multiclass": RESAMPLED,
    "log_loss_multiclass": RESAMPLED,
    "ece_classwise": Inference(class_limits=classwise_limits),
    "ece_top_label": Inference(class_limits=top_label_limits),
}


def inference_of(name: str) -> Inference:
    """The inference methods of a metric, by its name or an alias."""
    return _TABLE.get(METRICS[name].name, RESAMPLED)
