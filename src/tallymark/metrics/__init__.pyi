# Metrics and their aliases. Made by tests/stubs.py, held true by tests/test_public.py.

from tallymark.metrics.at_k import lift_at_k as lift_at_k
from tallymark.metrics.at_k import precision_at_k as precision_at_k
from tallymark.metrics.at_k import recall_at_k as recall_at_k
from tallymark.metrics.class_averages import f1_macro as f1_macro
from tallymark.metrics.class_averages import f1_micro as f1_micro
from tallymark.metrics.class_averages import f1_of_macro_means as f1_of_macro_means
from tallymark.metrics.class_averages import f1_of_weighted_means as f1_of_weighted_means
from tallymark.metrics.class_averages import f1_weighted as f1_weighted
from tallymark.metrics.class_averages import precision_macro as precision_macro
from tallymark.metrics.class_averages import precision_weighted as precision_weighted
from tallymark.metrics.class_averages import recall_macro as recall_macro
from tallymark.metrics.class_averages import recall_weighted as recall_weighted
from tallymark.metrics.correlation import d_a as d_a
from tallymark.metrics.correlation import d_b as d_b
from tallymark.metrics.correlation import d_b_normal as d_b_normal
from tallymark.metrics.correlation import d_e as d_e
from tallymark.metrics.correlation import kendall as kendall
from tallymark.metrics.correlation import spcc as spcc
from tallymark.metrics.correlation import spearman as spearman
from tallymark.metrics.cost import aucc as aucc
from tallymark.metrics.cost import h_measure as h_measure
from tallymark.metrics.count_errors import bias as bias
from tallymark.metrics.count_errors import positive_estimate as positive_estimate
from tallymark.metrics.count_errors import positive_sd as positive_sd
from tallymark.metrics.multiclass import auroc_ovo as auroc_ovo
from tallymark.metrics.multiclass import auroc_ovr as auroc_ovr
from tallymark.metrics.multiclass import auroc_ovr_weighted as auroc_ovr_weighted
from tallymark.metrics.multiclass import brier_multiclass as brier_multiclass
from tallymark.metrics.multiclass import ece_classwise as ece_classwise
from tallymark.metrics.multiclass import ece_top_label as ece_top_label
from tallymark.metrics.multiclass import log_loss_multiclass as log_loss_multiclass
from tallymark.metrics.multiclass import spcc_one_vs_one as spcc_one_vs_one
from tallymark.metrics.multiclass import spcc_one_vs_rest as spcc_one_vs_rest
from tallymark.metrics.multiclass import spcc_ovo_fisher as spcc_ovo_fisher
from tallymark.metrics.multiclass import spcc_ovo_geometric as spcc_ovo_geometric
from tallymark.metrics.multiclass import spcc_ovo_min as spcc_ovo_min
from tallymark.metrics.multiclass import spcc_ovr_fisher as spcc_ovr_fisher
from tallymark.metrics.multiclass import spcc_ovr_geometric as spcc_ovr_geometric
from tallymark.metrics.multiclass import spcc_ovr_min as spcc_ovr_min
from tallymark.metrics.partial import partial_auc as partial_auc
from tallymark.metrics.precision_recall import average_precision as average_precision
from tallymark.metrics.precision_recall import partial_average_precision as partial_average_precision
from tallymark.metrics.precision_recall import pr_auc as pr_auc
from tallymark.metrics.probability import ace as ace
from tallymark.metrics.probability import brier as brier
from tallymark.metrics.probability import brier_skill as brier_skill
from tallymark.metrics.probability import ece as ece
from tallymark.metrics.probability import log_loss as log_loss
from tallymark.metrics.probability import log_loss_skill as log_loss_skill
from tallymark.metrics.ranking import auroc as auroc
from tallymark.metrics.ranking import gini as gini
from tallymark.metrics.ranking import hull_auc as hull_auc
from tallymark.metrics.ranking import ks as ks
from tallymark.metrics.recalibration import calibration_intercept as calibration_intercept
from tallymark.metrics.recalibration import calibration_slope as calibration_slope
from tallymark.metrics.recalibration import integrated_calibration_index as integrated_calibration_index
from tallymark.metrics.threshold import accuracy as accuracy
from tallymark.metrics.threshold import balanced_accuracy as balanced_accuracy
from tallymark.metrics.threshold import d_prime as d_prime
from tallymark.metrics.threshold import diagnostic_odds_ratio as diagnostic_odds_ratio
from tallymark.metrics.threshold import error as error
from tallymark.metrics.threshold import expected_cost as expected_cost
from tallymark.metrics.threshold import f1 as f1
from tallymark.metrics.threshold import false_omission_rate as false_omission_rate
from tallymark.metrics.threshold import fbeta as fbeta
from tallymark.metrics.threshold import fdr as fdr
from tallymark.metrics.threshold import fnr as fnr
from tallymark.metrics.threshold import fpr as fpr
from tallymark.metrics.threshold import g_measure as g_measure
from tallymark.metrics.threshold import geometric_mean as geometric_mean
from tallymark.metrics.threshold import informedness as informedness
from tallymark.metrics.threshold import jaccard as jaccard
from tallymark.metrics.threshold import kappa as kappa
from tallymark.metrics.threshold import label_bias as label_bias
from tallymark.metrics.threshold import lr_minus as lr_minus
from tallymark.metrics.threshold import lr_plus as lr_plus
from tallymark.metrics.threshold import markedness as markedness
from tallymark.metrics.threshold import mcc as mcc
from tallymark.metrics.threshold import nas as nas
from tallymark.metrics.threshold import net_benefit as net_benefit
from tallymark.metrics.threshold import npv as npv
from tallymark.metrics.threshold import nss as nss
from tallymark.metrics.threshold import precision as precision
from tallymark.metrics.threshold import predicted_prevalence as predicted_prevalence
from tallymark.metrics.threshold import prevalence as prevalence
from tallymark.metrics.threshold import prevalence_threshold as prevalence_threshold
from tallymark.metrics.threshold import q_measure as q_measure
from tallymark.metrics.threshold import recall as recall
from tallymark.metrics.threshold import specificity as specificity

auc = auroc
auch = hull_auc
bss = brier_skill
csi = jaccard
dor = diagnostic_odds_ratio
ici = integrated_calibration_index
kendall_tau_b = kendall
mcfadden_r2 = log_loss_skill
pap = partial_average_precision
pauc = partial_auc
ppv = precision
roc_auc = auroc
sensitivity = recall
spearman_rho = spearman
tnr = specificity
tpr = recall
youden = informedness
