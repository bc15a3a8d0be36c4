"""Allow-list of the estimators, and of their parameters, that a study's TOML file may name.

A file from somebody else must not run code. Listed parameters take numbers, truth values, lists of these, and words
from a fixed set. Parameters that take a path, a cache, a function, a dictionary or another estimator are left out (a
``memory`` of scikit-learn is a folder of pickles), and so are `n_jobs` and `verbose`: the study sets the processes.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from tallymark.errors import InputError, nearest, shown

_TREE = (
    "criterion max_depth min_samples_split min_samples_leaf min_weight_fraction_leaf max_features max_leaf_nodes "
    "min_impurity_decrease class_weight ccp_alpha monotonic_cst random_state"
)
_FOREST = f"{_TREE} n_estimators bootstrap oob_score max_samples"
_SVM = (
    "kernel degree gamma coef0 shrinking probability tol cache_size class_weight max_iter decision_function_shape "
    "break_ties random_state"
)
_DESCENT = (
    "penalty alpha l1_ratio fit_intercept max_iter tol shuffle eta0 early_stopping validation_fraction "
    "n_iter_no_change class_weight random_state"
)
_NEIGHBOURS = "algorithm leaf_size metric p weights"

#: Each class and the parameters that a file may set.
ESTIMATORS: Mapping[str, frozenset[str]] = {
    path: frozenset(parameters.split())
    for path, parameters in {
        "sklearn.discriminant_analysis.LinearDiscriminantAnalysis": (
            "solver shrinkage priors n_components store_covariance tol"
        ),
        "sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis": "priors reg_param store_covariance tol",
        "sklearn.dummy.DummyClassifier": "strategy random_state",
        "sklearn.ensemble.AdaBoostClassifier": "n_estimators learning_rate random_state",
        "sklearn.ensemble.BaggingClassifier": (
            "n_estimators max_samples max_features bootstrap bootstrap_features oob_score random_state"
        ),
        "sklearn.ensemble.ExtraTreesClassifier": _FOREST,
        "sklearn.ensemble.GradientBoostingClassifier": (
            "loss learning_rate n_estimators subsample criterion min_samples_split min_samples_leaf "
            "min_weight_fraction_leaf max_depth min_impurity_decrease max_features max_leaf_nodes validation_fraction "
            "n_iter_no_change tol ccp_alpha random_state"
        ),
        "sklearn.ensemble.HistGradientBoostingClassifier": (
            "learning_rate max_iter max_leaf_nodes max_depth min_samples_leaf l2_regularization max_features max_bins "
            "early_stopping validation_fraction n_iter_no_change tol class_weight random_state"
        ),
        "sklearn.ensemble.RandomForestClassifier": _FOREST,
        "sklearn.linear_model.LogisticRegression": (
            "penalty C l1_ratio dual tol fit_intercept intercept_scaling class_weight solver max_iter random_state"
        ),
        "sklearn.linear_model.Perceptron": _DESCENT,
        "sklearn.linear_model.RidgeClassifier": (
            "alpha fit_intercept max_iter tol class_weight solver positive random_state"
        ),
        "sklearn.linear_model.SGDClassifier": f"{_DESCENT} loss epsilon learning_rate power_t average",
        "sklearn.naive_bayes.BernoulliNB": "alpha force_alpha binarize fit_prior class_prior",
        "sklearn.naive_bayes.ComplementNB": "alpha force_alpha fit_prior class_prior norm",
        "sklearn.naive_bayes.GaussianNB": "priors var_smoothing",
        "sklearn.naive_bayes.MultinomialNB": "alpha force_alpha fit_prior class_prior",
        "sklearn.neighbors.KNeighborsClassifier": f"n_neighbors {_NEIGHBOURS}",
        "sklearn.neighbors.NearestCentroid": "metric shrink_threshold priors",
        "sklearn.neural_network.MLPClassifier": (
            "hidden_layer_sizes activation solver alpha batch_size learning_rate learning_rate_init power_t max_iter "
            "shuffle tol momentum nesterovs_momentum early_stopping validation_fraction beta_1 beta_2 epsilon "
            "n_iter_no_change max_fun random_state"
        ),
        "sklearn.svm.LinearSVC": (
            "penalty loss dual tol C multi_class fit_intercept intercept_scaling class_weight max_iter random_state"
        ),
        "sklearn.svm.NuSVC": f"nu {_SVM}",
        "sklearn.svm.SVC": f"C {_SVM}",
        "sklearn.tree.DecisionTreeClassifier": f"splitter {_TREE}",
        "sklearn.tree.ExtraTreeClassifier": f"splitter {_TREE}",
        "tallymark.learners.PWKClassifier": "n_neighbors alpha metric",
        "tallymark.learners.StructuredSVM": "loss beta classification quantification C tol max_iter intercept_scaling",
        "tallymark.quantify.KNN": "n_neighbors metric cv random_state",
        "tallymark.quantify.PWK": "n_neighbors alpha metric cv random_state",
    }.items()
}  # fmt: skip


def estimator_of(path: Any, params: Mapping[str, Any], grid: Mapping[str, Any]) -> Any:
    """A listed estimator with these parameters; parameters of a grid must be listed too."""
    if not isinstance(path, str) or path not in ESTIMATORS:
        names = shown(ESTIMATORS, len(ESTIMATORS))
        raise InputError(
            f"estimator is {path!r}; a file may name only {names}.{nearest(path, ESTIMATORS)} "
            "Anything else needs Python: tm.study.Study."
        )
    for name, value in params.items():
        _require_parameter(path, name)
        _require_plain(path, name, value)
    for name, values in grid.items():
        _require_parameter(path, name)
        if not isinstance(values, list) or not values:
            raise InputError(f"The grid of {path!r} has {values!r} for {name!r}, expected a list of values to try.")
        for value in values:
            _require_plain(path, name, value)
    module, _, name = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)(**params)
    except (ImportError, AttributeError):
        raise InputError(f"There is no {path!r} in what is installed here.") from None
    except TypeError as error:
        raise InputError(f"{path!r} cannot be made with {dict(params)!r}: {error}.") from None


def _require_parameter(path: str, name: str) -> None:
    allowed = ESTIMATORS[path]
    if name not in allowed:
        names = ", ".join(sorted(allowed))
        raise InputError(
            f"A file may not set {name!r} of {path!r}.{nearest(name, allowed)} It may set {names}; "
            "anything else needs Python: tm.study.Study."
        )


def _require_plain(path: str, name: str, value: Any) -> None:
    """Allow numbers, words, truth values and lists of these; no tables, which would be arguments of a nested object."""
    for one in value if isinstance(value, list) else [value]:
        if not isinstance(one, bool | int | float | str):
            raise InputError(
                f"{name!r} of {path!r} is {value!r}, expected a number, a word, true or false, or a list of these."
            )
