"""Studies of quantifiers on many data sets, and tests of methods over data sets.

``protocol`` splits and samples a data set; ``Study`` runs methods over many and stores every cell; ``friedman``,
``nemenyi`` and the others test any table of results.
"""

from tallymark.study.bayesian import BayesianTest, bayesian_signed_rank, correlated_t
from tallymark.study.datasets import Dataset, dataset
from tallymark.study.method_table import MethodTable
from tallymark.study.outcomes import Pairwise, Ranks, StudyResults, StudyTest
from tallymark.study.plans import Classifier, Method
from tallymark.study.protocols import Protocol, Split, protocol
from tallymark.study.rank_tests import (
    TestResult,
    bonferroni_dunn,
    critical_difference,
    friedman,
    hochberg,
    holm,
    hommel,
    iman_davenport,
    nemenyi,
    shaffer,
    wilcoxon,
)
from tallymark.study.step_down import westfall_young
from tallymark.study.studies import Run, Study

__all__ = [
    "BayesianTest",
    "Classifier",
    "Dataset",
    "Method",
    "MethodTable",
    "Pairwise",
    "Protocol",
    "Ranks",
    "Run",
    "Split",
    "Study",
    "StudyResults",
    "StudyTest",
    "TestResult",
    "bayesian_signed_rank",
    "bonferroni_dunn",
    "correlated_t",
    "critical_difference",
    "dataset",
    "friedman",
    "hochberg",
    "holm",
    "hommel",
    "iman_davenport",
    "nemenyi",
    "protocol",
    "shaffer",
    "westfall_young",
    "wilcoxon",
]


def __dir__() -> list[str]:
    return sorted(__all__)
