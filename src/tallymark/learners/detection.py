"""Outlier detectors by name, with their scores as a panel for every metric."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_array

from tallymark import _check
from tallymark._check import Floats, Label
from tallymark.errors import InputError
from tallymark.learners.mean_shift import MOD
from tallymark.registry import choose
from tallymark.sources.constructors import panel as panel_of
from tallymark.summaries.panel import Panel


@dataclass(frozen=True)
class Detector:
    """An outlier detector: higher scores are more outlying."""

    title: str
    reference: str
    #: Scores of the rows, from the rows, neighbours, a seed and a number of jobs.
    score: Callable[[Floats, int, int, int | None], Floats]
    #: Default number of neighbours, 0 where it uses none.
    neighbors: int = 0


def _mod(X: Floats, k: int, seed: int, n_jobs: int | None) -> Floats:  # noqa: ARG001
    scores: Floats = MOD(k, n_jobs=n_jobs).fit(X).decision_scores_
    return scores


def _lof(X: Floats, k: int, seed: int, n_jobs: int | None) -> Floats:  # noqa: ARG001
    from sklearn.neighbors import LocalOutlierFactor

    return np.asarray(-LocalOutlierFactor(k, n_jobs=n_jobs).fit(X).negative_outlier_factor_)


def _isolation_forest(X: Floats, k: int, seed: int, n_jobs: int | None) -> Floats:  # noqa: ARG001
    from sklearn.ensemble import IsolationForest

    return np.asarray(-IsolationForest(random_state=seed, n_jobs=n_jobs).fit(X).score_samples(X))


def _copod(X: Floats, k: int, seed: int, n_jobs: int | None) -> Floats:  # noqa: ARG001
    try:
        from pyod.models.copod import COPOD
    except ImportError:
        raise InputError("copod needs PyOD; install it with: pip install 'tallymark[detectors]'.") from None
    return np.asarray(COPOD().fit(X).decision_scores_)


#: Every detector by its name.
DETECTORS: Mapping[str, Detector] = {
    "mod": Detector(
        "Mean-shift outlier detection", "Yang, Rahardja & Fränti (2021), Pattern Recognit. 115.", _mod, 150
    ),
    "lof": Detector("Local outlier factor", "Breunig et al. (2000), SIGMOD.", _lof, 50),
    "iforest": Detector("Isolation forest", "Liu, Ting & Zhou (2008), ICDM.", _isolation_forest),
    "copod": Detector("Copula-based outlier detection", "Li et al. (2020), ICDM.", _copod),
}


@dataclass(frozen=True)
class Detectors:
    """Chosen detectors and their settings; ``scores`` and ``panel`` run them."""

    names: tuple[str, ...]
    n_neighbors: int | None = None
    standardise: bool = True
    seed: int = 0
    jobs: int | None = None

    def neighbors(self, rows: int) -> dict[str, int]:
        """Number of neighbours of each detector that uses any: as given, or its default, at most half of the rows."""
        defaults = {name: DETECTORS[name].neighbors for name in self.names if DETECTORS[name].neighbors}
        if self.n_neighbors is not None:
            return dict.fromkeys(defaults, self.n_neighbors)
        return {name: max(min(default, rows // 2), 1) for name, default in defaults.items()}

    def scores(self, X: Any, progress: Callable[[float], None] | None = None) -> dict[str, Floats]:
        """Scores of the rows by detector.

        Parameters
        ----------
        X : array-like
            Rows of attributes.
        progress : callable, optional
            Called with the percentage done.

        Returns
        -------
        dict of ndarray
        """
        try:
            rows = check_array(X, dtype=np.float64, ensure_min_samples=2)
        except ValueError as error:
            raise InputError(f"X: {error}") from None
        neighbors = self.neighbors(len(rows))
        for name, k in neighbors.items():
            if k >= len(rows):
                raise InputError(f"{name} needs {k} neighbours, but there are {len(rows)} rows; take fewer.")
        _check.callback(progress)
        if np.abs(rows).max() > _LARGEST:
            raise InputError(
                f"X holds numbers beyond {_LARGEST:g}, whose squares are infinite; "
                "divide the columns by a constant first."
            )
        if self.standardise:
            rows = StandardScaler().fit_transform(rows)
        values = {}
        for done, name in enumerate(self.names):
            values[name] = DETECTORS[name].score(rows, neighbors.get(name, 0), self.seed, self.jobs)
            if progress is not None:
                progress(100.0 * (done + 1) / len(self.names))
        return values

    def panel(
        self, X: Any, y: Any, *, pos_label: Label | None = None, progress: Callable[[float], None] | None = None
    ) -> Panel:
        """The scores and labels as a panel, for ``tm.evaluate``, ``tm.compare`` and ``tm.without_simple``.

        Parameters
        ----------
        X : array-like
            Rows of attributes.
        y : array-like
            Labels of the rows.
        pos_label : label, optional
            The positive class, where it is not obvious.
        progress : callable, optional
            Called with the percentage done.

        Returns
        -------
        Panel
        """
        return panel_of(y, self.scores(X, progress), pos_label=pos_label)


#: Beyond this the square of a distance overflows.
_LARGEST = 1e150


def detectors(
    names: str | Iterable[str] = tuple(DETECTORS),
    *,
    n_neighbors: int | None = None,
    standardise: bool = True,
    seed: int = 0,
    jobs: int | None = None,
) -> Detectors:
    """Outlier detectors by name, to score rows for a Panel.

    COPOD is PyOD's (``pip install 'tallymark[detectors]'``), LOF and the isolation forest are scikit-learn's.

    Parameters
    ----------
    names : str or iterable of str
        Any of ``mod``, ``lof``, ``iforest``, ``copod``; all by default.
    n_neighbors : int, optional
        For detectors that use neighbours; 150 for MOD and 50 for LOF by default, at most half of the rows.
    standardise : bool
        Whether to bring every attribute to mean 0 and standard deviation 1 first.
    seed : int
        Seed of the isolation forest.
    jobs : int, optional
        Number of parallel jobs.

    Returns
    -------
    Detectors

    Examples
    --------
    >>> import numpy as np, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> X, y = np.vstack((rng.normal(size=(95, 2)), rng.normal(3, 1, (5, 2)))), np.arange(100) >= 95
    >>> tm.without_simple(tm.learners.detectors(["mod", "lof"]).panel(X, y)).verdict
    'decisive'
    """
    listed = [names] if isinstance(names, str) else _check.several(names, "names")
    if not listed:
        raise InputError(f"No detector is named; choose among {', '.join(DETECTORS)}.")
    for name in listed:
        choose("detector", name, DETECTORS)
    if n_neighbors is not None and (
        isinstance(n_neighbors, bool) or not isinstance(n_neighbors, int) or n_neighbors < 1
    ):
        raise InputError(f"n_neighbors is {n_neighbors!r}, expected a whole number of 1 or more.")
    if n_neighbors is not None and not any(DETECTORS[name].neighbors for name in listed):
        raise InputError(f"n_neighbors is given, but {' and '.join(listed)} look at no neighbours; leave it out.")
    return Detectors(tuple(dict.fromkeys(listed)), n_neighbors, standardise, seed, jobs)
