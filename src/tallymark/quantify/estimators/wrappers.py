"""The quantifiers by name, each around any classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tallymark.quantify.estimators.base import Quantifier, RandomState


class _Cutting(Quantifier):
    """Quantifiers that cut the scores at a threshold: a number or a policy; left out, where the classifier does."""

    _options: ClassVar[tuple[str, ...]] = ("threshold",)

    def __init__(
        self,
        classifier: Any = None,
        *,
        threshold: float | str | None = None,
        cv: Any = 10,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(classifier, cv=cv, random_state=random_state, n_jobs=n_jobs)
        self.threshold = threshold


class BL(Quantifier):
    """Baseline: the training prevalence, whatever comes."""

    _method = "bl"


class CC(_Cutting):
    """Classify and count; see ``tallymark quantifiers cc``."""

    _method = "cc"


class AC(_Cutting):
    """Adjusted count (Rogan-Gladen): classify and count corrected for both error rates.

    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> import tallymark as tm
    >>> X, y = make_classification(1000, random_state=0)
    >>> tm.quantify.AC(LogisticRegression()).fit(X[:600], y[:600]).predict(X[600:]).round(2).tolist()
    [0.51, 0.49]
    """

    _method = "ac"


class XMethod(Quantifier):
    """Adjusted count where fpr = 1 - tpr (Forman's X)."""

    _method = "x"


class Max(Quantifier):
    """Adjusted count where tpr - fpr is largest."""

    _method = "max"


class T50(Quantifier):
    """Adjusted count where half of the positives are found."""

    _method = "t50"


class MS(Quantifier):
    """Median sweep over the thresholds with tpr - fpr of at least a quarter."""

    _method = "ms"


class Sweep(Quantifier):
    """Median sweep over all thresholds."""

    _method = "sweep"


class ContinuousSweep(Quantifier):
    """Mean adjusted count under normal curves of the two classes, where they are `far_enough` apart."""

    _method = "cs"
    _options: ClassVar[tuple[str, ...]] = ("far_enough", "normal")

    def __init__(
        self,
        classifier: Any = None,
        *,
        far_enough: float = 0.25,
        normal: bool = False,
        cv: Any = 10,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(classifier, cv=cv, random_state=random_state, n_jobs=n_jobs)
        self.far_enough = far_enough
        self.normal = normal


class PCC(Quantifier):
    """Mean probability."""

    _method = "pcc"


class PACC(Quantifier):
    """Mean score placed between the classes' means."""

    _method = "pacc"


class EM(Quantifier):
    """Expectation maximisation (Saerens et al. 2002); `calibration` is None, ``"bcts"`` or ``"vs"``."""

    _method = "em"
    _options: ClassVar[tuple[str, ...]] = ("calibration",)

    def __init__(
        self,
        classifier: Any = None,
        *,
        calibration: str | None = None,
        cv: Any = 10,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(classifier, cv=cv, random_state=random_state, n_jobs=n_jobs)
        self.calibration = calibration


class HDy(Quantifier):
    """Nearest mixture of histograms by Hellinger distance among `points` shares, median over `bins` (10 to 110)."""

    _method = "hdy"
    _options: ClassVar[tuple[str, ...]] = ("bins", "points")

    def __init__(
        self,
        classifier: Any = None,
        *,
        bins: Sequence[int] | None = None,
        points: int | None = None,
        cv: Any = 10,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(classifier, cv=cv, random_state=random_state, n_jobs=n_jobs)
        self.bins = bins
        self.points = points


class DyS(Quantifier):
    """Nearest mixture of histograms by Topsøe's or Hellinger's `distance`, median over `bins` (2 to 30)."""

    _method = "dys"
    _options: ClassVar[tuple[str, ...]] = ("bins", "distance")

    def __init__(
        self,
        classifier: Any = None,
        *,
        bins: Sequence[int] | None = None,
        distance: str = "topsoe",
        cv: Any = 10,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(classifier, cv=cv, random_state=random_state, n_jobs=n_jobs)
        self.bins = bins
        self.distance = distance


class SORD(Quantifier):
    """Nearest mixture by the area between cumulative curves."""

    _method = "sord"


class Energy(Quantifier):
    """Nearest mixture by energy distance."""

    _method = "energy"


class KDE(Quantifier):
    """Most likely mixture of kernel densities of probabilities."""

    _method = "kde"
    _options: ClassVar[tuple[str, ...]] = ("bandwidth",)

    def __init__(
        self,
        classifier: Any = None,
        *,
        bandwidth: float = 0.1,
        cv: Any = 10,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(classifier, cv=cv, random_state=random_state, n_jobs=n_jobs)
        self.bandwidth = bandwidth


class Bayes(Quantifier):
    """Bayesian Calibration's prevalence, from densities by ``"bins"`` or ``"kde"``."""

    _method = "bayes"
    _options: ClassVar[tuple[str, ...]] = ("density", "bins", "bandwidth")

    def __init__(
        self,
        classifier: Any = None,
        *,
        density: str = "bins",
        bins: int | None = None,
        bandwidth: float | None = None,
        cv: Any = 10,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(classifier, cv=cv, random_state=random_state, n_jobs=n_jobs)
        self.density = density
        self.bins = bins
        self.bandwidth = bandwidth


#: Each quantifier's estimator, by the quantifier's name.
WRAPPERS: Mapping[str, type[Quantifier]] = {
    one._method: one  # noqa: SLF001 - of our own classes
    for one in (
        BL, CC, AC, XMethod, Max, T50, MS, Sweep, ContinuousSweep, PCC, PACC, EM, HDy, DyS, SORD, Energy, KDE, Bayes,
    )
}  # fmt: skip
