"""scikit-learn's own checks of an estimator, and which of them cannot hold for what counts."""

from sklearn.utils.estimator_checks import check_estimator

#: A quantifier gives one answer for the whole set.
PER_ROW = {
    "check_methods_sample_order_invariance": "one answer for the whole set, not one per row",
    "check_methods_subset_invariance": "a part of the set has another answer",
    "check_estimator_sparse_array": "asserts one prediction per row",
    "check_estimator_sparse_matrix": "asserts one prediction per row",
}


def broken_rules(estimator, but=None):
    """Checks that fail, by name; `but` says which may."""
    checks = check_estimator(estimator, expected_failed_checks=but or {}, on_fail=None, on_skip=None)
    return {check["check_name"]: repr(check["exception"]) for check in checks if check["status"] == "failed"}
