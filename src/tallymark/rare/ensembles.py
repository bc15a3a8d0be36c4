"""Ensembles of logistic regressions on resampled texts: bagging, cross-fitting, and weighted votes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from tallymark._check import Bools, Floats, Ints
from tallymark.inference.resampling.parallel import in_threads
from tallymark.rare.logistic import fit_logistic
from tallymark.rare.words import document_frequencies, inverse_frequencies, tf_idf, tf_idf_left_out

#: Members that predict together: their weights fit into the processor's cache.
_TOGETHER = 200

Progress = Callable[[float], None]

#: Training rows of a member, and the weight of each.
Draw = tuple[Ints, Floats]


@dataclass(frozen=True)
class Machines:
    """Coefficients (a row per word, a column per regression) and intercepts of fitted logistic regressions."""

    weights: NDArray[np.float32]
    intercepts: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.intercepts)


class Ensemble(ABC):
    """Logistic regressions whose probabilities, and votes (a probability of ½ or more), are averaged."""

    @abstractmethod
    def predict(self, counts: csr_matrix) -> tuple[Floats, Floats]:
        """Mean probability and mean vote for each text."""


@dataclass(frozen=True)
class UniformEnsemble(Ensemble):
    """Regressions on one TF-IDF, averaged with equal weights."""

    machines: Machines
    idf: Floats

    def predict(self, counts: csr_matrix) -> tuple[Floats, Floats]:
        """Unweighted means."""
        probability, vote = self.sums(tf_idf(counts, self.idf))
        return probability / len(self.machines), vote / len(self.machines)

    def sums(self, X: csr_matrix) -> tuple[Floats, Floats]:
        """Sums of all probabilities and votes, without a matrix of all texts by all regressions."""
        probability, vote = np.zeros(X.shape[0]), np.zeros(X.shape[0])
        for start in range(0, len(self.machines), _TOGETHER):
            part = slice(start, start + _TOGETHER)
            margins = X @ self.machines.weights[:, part]
            margins += self.machines.intercepts[part]
            vote += np.count_nonzero(margins >= 0.0, axis=1)
            probability += _logistic(margins).sum(axis=1, dtype=np.float64)
        return probability, vote

    def out_of_bag(self, training: Training, draws: Sequence[Draw]) -> tuple[Floats, Floats]:
        """Means over the regressions that were not trained on a text (out-of-bag); nan where all were."""
        X = tf_idf_left_out(training.counts, training.min_df)
        probability, vote = self.sums(X)
        machines = np.full(X.shape[0], float(len(draws)))
        for place, (rows, _) in enumerate(draws):
            margins = X[rows] @ self.machines.weights[:, place] + self.machines.intercepts[place]
            probability[rows] -= _logistic(margins)
            vote[rows] -= margins >= 0.0
            machines[rows] -= 1.0
        with np.errstate(invalid="ignore", divide="ignore"):
            means = (np.where(machines > 0.0, total / machines, np.nan) for total in (probability, vote))
            return next(means), next(means)


@dataclass(frozen=True)
class WeightedEnsemble(Ensemble):
    """Regressions with a TF-IDF each, weighted by accuracy and by the share of a text's words in their vocabulary."""

    machines: Machines
    idfs: Floats
    accuracy: Floats

    def predict(self, counts: csr_matrix) -> tuple[Floats, Floats]:
        """Means weighted by accuracy times the share of the text's words that a regression was trained on."""
        products = counts @ (self.idfs * self.machines.weights).astype(np.float32)
        squares = counts.power(2) @ (self.idfs**2).astype(np.float32)
        present = counts.copy()
        present.data = np.ones_like(counts.data)
        in_vocabulary = present @ (self.idfs > 0.0).astype(np.float32)
        words = np.maximum(np.diff(counts.indptr), 1)[:, None]
        margins = products / np.sqrt(np.where(squares > 0.0, squares, 1.0)) + self.machines.intercepts
        weight = self.accuracy * in_vocabulary / words
        # Equal weights where no regression has any of the words.
        weight = np.where(weight.sum(axis=1, keepdims=True) > 0.0, weight, 1.0)
        weight /= weight.sum(axis=1, keepdims=True)
        return (weight * _logistic(margins)).sum(axis=1), (weight * (margins >= 0.0)).sum(axis=1)


def _logistic(margins: Any) -> Any:
    return 0.5 + 0.5 * np.tanh(0.5 * margins)


@dataclass(frozen=True)
class Training:
    """Training data and settings: word counts of labelled texts, which are positive, and options of the regressions."""

    counts: csr_matrix
    positive: Bools
    C: float
    jobs: int | None
    min_df: int = 1
    progress: Progress | None = None

    def rows(self, kept: Any) -> Training:
        """A subset of the texts; words in fewer than `min_df` of them are dropped."""
        counts = self.counts[kept]
        counts.data = counts.data * (document_frequencies(counts) >= self.min_df)[counts.indices]
        counts.eliminate_zeros()
        return Training(counts, self.positive[kept], self.C, self.jobs, self.min_df)

    @property
    def idf(self) -> Floats:
        """Inverse document frequencies of the words."""
        return inverse_frequencies(document_frequencies(self.counts), self.counts.shape[0])

    def trained(self, X: csr_matrix, draws: Sequence[Draw], done: tuple[float, float] = (0.0, 100.0)) -> Machines:
        """One regression for each draw; `done` is the progress in per cent before and after this work."""

        def one(draw: Draw) -> tuple[Floats, float]:
            rows, mass = draw
            return fit_logistic(X[rows], self.positive[rows].astype(np.float64), mass, self.C)

        weights = np.empty((X.shape[1], len(draws)), dtype=np.float32)
        intercepts = np.empty(len(draws), dtype=np.float32)
        for start in range(0, len(draws), _TOGETHER):
            part = draws[start : start + _TOGETHER]
            for place, (w, b) in enumerate(in_threads(one, part, self.jobs), start):
                weights[:, place], intercepts[place] = w, b
            if self.progress is not None:
                self.progress(done[0] + (done[1] - done[0]) * min((start + len(part)) / len(draws), 1.0))
        return Machines(weights, intercepts)


#: Share of positives in a training set, and share of a training set that is used for fitting.
POSITIVE_SHARE, LEARNT_SHARE = 0.3, 0.8


def negatives_for(positives: int, available: int) -> int:
    """Number of negatives for a training set with 30 % positives, as far as they are available."""
    return max(min(round(positives * (1.0 - POSITIVE_SHARE) / POSITIVE_SHARE), available), 1)


def bootstrap_draws(positive: Bools, negatives: int, seeds: Sequence[Any]) -> list[Draw]:
    """For each seed, as many positives as there are drawn with replacement, and `negatives` drawn without."""
    up, down = np.flatnonzero(positive), np.flatnonzero(~positive)
    draws = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        hits, times = np.unique(rng.choice(up, len(up)), return_counts=True)
        rows = np.concatenate((hits, np.sort(rng.choice(down, negatives, replace=False))))
        draws.append((rows, np.concatenate((times, np.ones(negatives))).astype(np.float64)))
    return draws


def balanced_draws(positive: Bools, seeds: Sequence[Any]) -> list[Draw]:
    """For each seed as many positives as negatives, drawn without replacement: all of the smaller class."""
    sides = np.flatnonzero(positive), np.flatnonzero(~positive)
    size = min(map(len, sides))
    draws = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        rows = np.sort(np.concatenate([rng.choice(side, size, replace=False) for side in sides]))
        draws.append((rows, np.ones(len(rows))))
    return draws


def training_sets(positive: Bools, seeds: Sequence[Any]) -> list[tuple[Ints, Ints]]:
    """For each seed a training set with 30 % positives, split by class into rows to fit on and the rest."""
    up, down = np.flatnonzero(positive), np.flatnonzero(~positive)
    sets = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        parts = [rng.permutation(up), rng.choice(down, negatives_for(len(up), len(down)), replace=False)]
        learnt = [max(int(len(part) * LEARNT_SHARE), 1) for part in parts]
        fitted = np.concatenate([part[:cut] for part, cut in zip(parts, learnt, strict=True)])
        rest = np.concatenate([part[cut:] for part, cut in zip(parts, learnt, strict=True)])
        sets.append((np.sort(fitted), np.sort(rest)))
    return sets


def weighted_draws(positive: Bools, weight: float, seeds: Sequence[Any]) -> list[Draw]:
    """For each seed a training set whose positives have the weight `weight`."""
    return [(rows, np.where(positive[rows], weight, 1.0)) for rows, _ in training_sets(positive, seeds)]


def weighted_ensemble(training: Training, seeds: Sequence[Any]) -> WeightedEnsemble:
    """Regressions on overlapping training sets, each with a TF-IDF of its own and its accuracy on held-out rows."""
    weights, intercepts, idfs, accuracies = [], [], [], []
    for rows, rest in training_sets(training.positive, seeds):
        part = training.counts[rows]
        idf = inverse_frequencies(document_frequencies(part), len(rows))
        w, b = fit_logistic(
            tf_idf(part, idf), training.positive[rows].astype(np.float64), np.ones(len(rows)), training.C
        )
        predicted = tf_idf(training.counts[rest], idf) @ w + b >= 0.0
        accuracies.append(float(np.mean(predicted == training.positive[rest])) if len(rest) else 1.0)
        weights.append(w.astype(np.float32))
        intercepts.append(b)
        idfs.append(idf)
    machines = Machines(np.column_stack(weights), np.array(intercepts, dtype=np.float32))
    return WeightedEnsemble(machines, np.column_stack(idfs), np.array(accuracies))


@dataclass(frozen=True)
class AlternatingEnsemble(Ensemble):
    """Ensembles that score texts in turn: each text is scored by one of them."""

    ensembles: Sequence[Ensemble]

    def predict(self, counts: csr_matrix) -> tuple[Floats, Floats]:
        """Probability and vote of the ensemble whose turn it is."""
        probability, vote = np.empty(counts.shape[0]), np.empty(counts.shape[0])
        for turn, ensemble in enumerate(self.ensembles):
            part = slice(turn, None, len(self.ensembles))
            probability[part], vote[part] = ensemble.predict(counts[part])
        return probability, vote


@dataclass(frozen=True)
class MeanEnsemble(Ensemble):
    """The mean of several ensembles, with equal weights."""

    ensembles: Sequence[Ensemble]

    def predict(self, counts: csr_matrix) -> tuple[Floats, Floats]:
        """Mean probability and mean vote of the ensembles."""
        probability, vote = np.stack([ensemble.predict(counts) for ensemble in self.ensembles]).mean(axis=0)
        return probability, vote


def cross_fitted(
    training: Training, folds: Ints, make: Callable[[Training], Ensemble]
) -> tuple[Floats, AlternatingEnsemble]:
    """Cross-fitted probabilities of the training texts, and the ensembles of the folds.

    Used in turn, the ensembles give new texts scores of the same distribution; one trained on all folds would be more
    confident, and the labelled texts' scores would no longer describe it.
    """
    probability, ensembles = np.empty(len(folds)), []
    for fold in range(int(folds.max()) + 1):
        held_out = folds == fold
        ensembles.append(make(training.rows(~held_out)))
        probability[held_out], _ = ensembles[-1].predict(training.counts[held_out])
    return probability, AlternatingEnsemble(ensembles)
