"""Committees of logistic machines: trained on drawn rows, asked together in blocks."""

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

#: Machines asked together: their weights stay in the processor's cache.
_TOGETHER = 200

Progress = Callable[[float], None]

#: Rows that a machine is trained on, and how often each counts.
Draw = tuple[Ints, Floats]


@dataclass(frozen=True)
class Machines:
    """Weights (words down, machines across) and intercepts of trained machines."""

    weights: NDArray[np.float32]
    intercepts: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.intercepts)


class Committee(ABC):
    """Machines that answer together: the mean of their probabilities, and of their votes (a probability of ½ or more)."""

    @abstractmethod
    def asked(self, counts: csr_matrix) -> tuple[Floats, Floats]:
        """Mean probability and mean vote for each text."""


@dataclass(frozen=True)
class Peers(Committee):
    """Machines with one TF-IDF and equal say."""

    machines: Machines
    idf: Floats

    def asked(self, counts: csr_matrix) -> tuple[Floats, Floats]:
        """Plain means."""
        probability, vote = self.sums(tf_idf(counts, self.idf))
        return probability / len(self.machines), vote / len(self.machines)

    def sums(self, X: csr_matrix) -> tuple[Floats, Floats]:
        """Sums of all machines' probabilities and votes; nothing of the size of texts times machines is kept."""
        probability, vote = np.zeros(X.shape[0]), np.zeros(X.shape[0])
        for start in range(0, len(self.machines), _TOGETHER):
            part = slice(start, start + _TOGETHER)
            margins = X @ self.machines.weights[:, part]
            margins += self.machines.intercepts[part]
            vote += np.count_nonzero(margins >= 0.0, axis=1)
            probability += _logistic(margins).sum(axis=1, dtype=np.float64)
        return probability, vote

    def out_of_bag(self, training: Training, draws: Sequence[Draw]) -> tuple[Floats, Floats]:
        """Means over the machines that were not trained on a text, as a new text would look to them; nan where all were."""
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
class Experts(Committee):
    """Machines with a TF-IDF each, heard by how accurate they are and by how many of a text's words they know."""

    machines: Machines
    idfs: Floats
    accuracy: Floats

    def asked(self, counts: csr_matrix) -> tuple[Floats, Floats]:
        """Means weighed by accuracy times the share of the text's words that a machine has seen."""
        products = counts @ (self.idfs * self.machines.weights).astype(np.float32)
        squares = counts.power(2) @ (self.idfs**2).astype(np.float32)
        present = counts.copy()
        present.data = np.ones_like(counts.data)
        known = present @ (self.idfs > 0.0).astype(np.float32)
        words = np.maximum(np.diff(counts.indptr), 1)[:, None]
        margins = products / np.sqrt(np.where(squares > 0.0, squares, 1.0)) + self.machines.intercepts
        say = self.accuracy * known / words
        # Whoever knows none of the words is as good as any other.
        say = np.where(say.sum(axis=1, keepdims=True) > 0.0, say, 1.0)
        say /= say.sum(axis=1, keepdims=True)
        return (say * _logistic(margins)).sum(axis=1), (say * (margins >= 0.0)).sum(axis=1)


def _logistic(margins: Any) -> Any:
    return 0.5 + 0.5 * np.tanh(0.5 * margins)


@dataclass(frozen=True)
class Training:
    """Labelled texts to train on, and how: the counts of their words, which are positive, and the machines' settings."""

    counts: csr_matrix
    positive: Bools
    C: float
    jobs: int | None
    min_df: int = 1
    progress: Progress | None = None

    def rows(self, kept: Any) -> Training:
        """Some of the texts; words that too few of them have are unknown."""
        counts = self.counts[kept]
        counts.data = counts.data * (document_frequencies(counts) >= self.min_df)[counts.indices]
        counts.eliminate_zeros()
        return Training(counts, self.positive[kept], self.C, self.jobs, self.min_df)

    @property
    def idf(self) -> Floats:
        """How rare each word is among the texts."""
        return inverse_frequencies(document_frequencies(self.counts), self.counts.shape[0])

    def trained(self, X: csr_matrix, draws: Sequence[Draw], done: tuple[float, float] = (0.0, 100.0)) -> Machines:
        """One machine for each draw; `done` is where the progress of this work begins and ends."""

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


#: The share of positives that machines are trained at, and the share of a training set that a machine learns from.
POSITIVE_SHARE, LEARNT_SHARE = 0.3, 0.8


def negatives_for(positives: int, available: int) -> int:
    """Negatives beside so many positives: 70 to 30, as far as there are."""
    return max(min(round(positives * (1.0 - POSITIVE_SHARE) / POSITIVE_SHARE), available), 1)


def bootstrap_draws(positive: Bools, negatives: int, seeds: Sequence[Any]) -> list[Draw]:
    """For each seed all positives drawn with replacement and `negatives` without."""
    up, down = np.flatnonzero(positive), np.flatnonzero(~positive)
    draws = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        hits, times = np.unique(rng.choice(up, len(up)), return_counts=True)
        rows = np.concatenate((hits, np.sort(rng.choice(down, negatives, replace=False))))
        draws.append((rows, np.concatenate((times, np.ones(negatives))).astype(np.float64)))
    return draws


def training_sets(positive: Bools, seeds: Sequence[Any]) -> list[tuple[Ints, Ints]]:
    """For each seed a training set of its own, 30 to 70, in two parts by class: what a machine learns from, and the rest."""
    up, down = np.flatnonzero(positive), np.flatnonzero(~positive)
    sets = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        parts = [rng.permutation(up), rng.choice(down, negatives_for(len(up), len(down)), replace=False)]
        learnt = [max(int(len(part) * LEARNT_SHARE), 1) for part in parts]
        sets.append((
            np.sort(np.concatenate([part[:cut] for part, cut in zip(parts, learnt, strict=True)])),
            np.sort(np.concatenate([part[cut:] for part, cut in zip(parts, learnt, strict=True)])),
        ))  # fmt: skip
    return sets


def weighted_draws(positive: Bools, weight: float, seeds: Sequence[Any]) -> list[Draw]:
    """For each seed a training set whose positives count `weight`."""
    return [(rows, np.where(positive[rows], weight, 1.0)) for rows, _ in training_sets(positive, seeds)]


def experts(training: Training, seeds: Sequence[Any]) -> Experts:
    """Machines on overlapping training sets, each with a TF-IDF of its own and its accuracy on what it did not learn from."""
    weights, intercepts, idfs, accuracies = [], [], [], []
    for rows, rest in training_sets(training.positive, seeds):
        part = training.counts[rows]
        idf = inverse_frequencies(document_frequencies(part), len(rows))
        w, b = fit_logistic(
            tf_idf(part, idf), training.positive[rows].astype(np.float64), np.ones(len(rows)), training.C
        )
        told = tf_idf(training.counts[rest], idf) @ w + b >= 0.0
        accuracies.append(float(np.mean(told == training.positive[rest])) if len(rest) else 1.0)
        weights.append(w.astype(np.float32))
        intercepts.append(b)
        idfs.append(idf)
    machines = Machines(np.column_stack(weights), np.array(intercepts, dtype=np.float32))
    return Experts(machines, np.column_stack(idfs), np.array(accuracies))


@dataclass(frozen=True)
class InTurns(Committee):
    """Committees that texts are asked of in turns: the next text, the next committee."""

    committees: Sequence[Committee]

    def asked(self, counts: csr_matrix) -> tuple[Floats, Floats]:
        """What the committee whose turn it is says of each text."""
        probability, vote = np.empty(counts.shape[0]), np.empty(counts.shape[0])
        for turn, committee in enumerate(self.committees):
            own = slice(turn, None, len(self.committees))
            probability[own], vote[own] = committee.asked(counts[own])
        return probability, vote


def cross_fitted(training: Training, folds: Ints, make: Callable[[Training], Committee]) -> tuple[Floats, InTurns]:
    """Probabilities of the training texts by committees that have not seen their fold, and these committees.

    Asked in turns, the committees give new texts scores of just the same distribution; one trained on all folds would be a
    little surer of itself, and the labelled scores no longer a measure for it.
    """
    probability, committees = np.empty(len(folds)), []
    for fold in range(int(folds.max()) + 1):
        own = folds == fold
        committees.append(make(training.rows(~own)))
        probability[own], _ = committees[-1].asked(training.counts[own])
    return probability, InTurns(committees)
