"""Audits: sampling plans and design-based estimates from rows checked by hand.

``plan`` draws the rows to check; ``estimate`` estimates counts, precision and recall of every class over all rows from
them, ``from_matrix`` the same from an error matrix and the sizes of the strata, ``from_audit`` the share and the count
of positives, and ``from_counts`` these from a table of counts or from the sensitivity and specificity of a test.
``corrected`` allows for checkers who err; ``two_tests`` estimates the rates of two tests where the truth is not known.
``change`` compares two audits and ``paired_change`` the same rows checked twice, ``from_replicates`` takes replicate
weights of a survey, ``pooled`` lets small groups borrow from the others, ``publication`` applies a publication rule,
and ``stopping`` says when screening may stop. But for ``pooled`` and imperfect tests nothing is assumed about the
scores or about a shift between samples.
"""

from tallymark.audits.changes import AuditChange, change, paired_change
from tallymark.audits.class_estimates import AuditEstimate
from tallymark.audits.corrections import corrected
from tallymark.audits.count_table import from_counts
from tallymark.audits.error_matrix import from_matrix
from tallymark.audits.estimates import BinaryAuditEstimate, estimate
from tallymark.audits.latent_class import TwoTests, two_tests
from tallymark.audits.plan_results import AuditPlan
from tallymark.audits.plans import plan
from tallymark.audits.prevalences import from_audit
from tallymark.audits.publishing import Publication, publication
from tallymark.audits.replicate_weights import from_replicates
from tallymark.audits.sample_sizes import accuracy_size, elusion_size
from tallymark.audits.small_areas import PooledShares, pooled
from tallymark.audits.stopping_rule import Stopping, stopping

__all__ = [
    "AuditChange",
    "AuditEstimate",
    "AuditPlan",
    "BinaryAuditEstimate",
    "PooledShares",
    "Publication",
    "Stopping",
    "TwoTests",
    "accuracy_size",
    "change",
    "corrected",
    "elusion_size",
    "estimate",
    "from_audit",
    "from_counts",
    "from_matrix",
    "from_replicates",
    "paired_change",
    "plan",
    "pooled",
    "publication",
    "stopping",
    "two_tests",
]


def __dir__() -> list[str]:
    return sorted(__all__)
