"""Named quantifiers (AC, EM, …): :class:`Quantifier` with the method chosen and its declared options as parameters."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from tallymark.quantify.estimators.base import Quantifier, RandomState
from tallymark.registry import QUANTIFIERS

__all__ = [
    "AC", "BL", "CC", "EM", "KDE", "MS", "PACC", "PCC", "SORD", "T50", "Bayes", "ContinuousSweep", "DyS", "Energy",
    "HDy", "Max", "Sweep", "XMethod",
]  # fmt: skip

#: Each quantifier's estimator, by the quantifier's name.
WRAPPERS: dict[str, type[_Named]] = {}


class _Named(Quantifier):
    """A quantifier with a class of its own; a subclass names its method, and defaults that differ from the declared
    ones.
    """

    def __init__(
        self,
        classifier: Any = None,
        *,
        cv: Any = 10,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(self.method, classifier, cv=cv, random_state=random_state, n_jobs=n_jobs, **options)

    def __init_subclass__(cls, *, method: str | None = None, **defaults: Any) -> None:
        super().__init_subclass__()
        if method is None:
            return
        cls.method = method
        signature = _signature(QUANTIFIERS[method].options, defaults)

        def initialise(self: Any, *arguments: Any, **keywords: Any) -> None:
            bound = signature.bind(self, *arguments, **keywords)
            bound.apply_defaults()
            for name in [*signature.parameters][1:]:
                setattr(self, name, bound.arguments[name])

        initialise.__signature__ = signature  # type: ignore[attr-defined]
        cls.__init__ = initialise  # type: ignore[method-assign]
        WRAPPERS[method] = cls


def _signature(options: Mapping[str, Any], defaults: Mapping[str, Any]) -> inspect.Signature:
    """``(self, classifier=None, *, the options, cv=10, random_state=0, n_jobs=None)``, as scikit-learn reads it."""
    first, classifier, *shared, _ = inspect.signature(_Named.__init__).parameters.values()
    given = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults.get(name, default))
        for name, default in options.items()
    ]
    return inspect.Signature([first, classifier, *given, *shared])


class BL(_Named, method="bl"):
    """Baseline: the prevalence of the training sample."""


class CC(_Named, method="cc", threshold=None):
    """Classify and count; `threshold` is a number or a policy, left out the classifier's own."""


class AC(_Named, method="ac", threshold=None):
    """Adjusted count (Rogan-Gladen): classify and count corrected for both error rates; `threshold` as of :class:`CC`.

    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> import tallymark as tm
    >>> X, y = make_classification(1000, random_state=0)
    >>> tm.quantify.AC(LogisticRegression()).fit(X[:600], y[:600]).predict(X[600:]).round(2).tolist()
    [0.51, 0.49]
    """


class XMethod(_Named, method="x"):
    """Adjusted count at the threshold where fpr = 1 - tpr (Forman's X)."""


class Max(_Named, method="max"):
    """Adjusted count at the threshold where tpr - fpr is largest."""


class T50(_Named, method="t50"):
    """Adjusted count at the threshold where the recall is one half."""


class MS(_Named, method="ms"):
    """Median sweep: median of the adjusted counts at all thresholds with tpr - fpr of at least a quarter."""


class Sweep(_Named, method="sweep"):
    """Median of the adjusted counts at all thresholds."""


class ContinuousSweep(_Named, method="cs"):
    """Continuous sweep: mean adjusted count under normal curves of both classes, where tpr - fpr is `far_enough` or
    more.
    """


class PCC(_Named, method="pcc"):
    """Probabilistic classify and count: the mean probability."""


class PACC(_Named, method="pacc"):
    """Probabilistic adjusted count: the mean score relative to the means of the two classes."""


class EM(_Named, method="em"):
    """Expectation maximisation (Saerens et al. 2002); `calibration` is None, ``"bcts"`` or ``"vs"``."""


class HDy(_Named, method="hdy", bins=None, points=None):
    """Nearest mixture of histograms by Hellinger distance among `points` shares, median over `bins` (10 to 110)."""


class DyS(_Named, method="dys", bins=None):
    """Nearest mixture of histograms by Topsøe's or Hellinger's `distance`, median over `bins` (2 to 30)."""


class SORD(_Named, method="sord"):
    """Nearest mixture by the area between cumulative distributions."""


class Energy(_Named, method="energy"):
    """Nearest mixture by energy distance."""


class KDE(_Named, method="kde"):
    """Most likely mixture of kernel densities of the probabilities, of standard deviation `bandwidth`."""


class Bayes(_Named, method="bayes"):
    """Bayesian Calibration's prevalence, from densities by ``"bins"`` or ``"kde"`` (`density`)."""
