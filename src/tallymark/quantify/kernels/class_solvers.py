"""Solvers of multiclass quantification: class prevalences from weights of the rows, one solver for each method."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tallymark._check import Floats, Ints
from tallymark.calibration.scaling import fit_scaling
from tallymark.errors import InputError
from tallymark.inference.interval import checked_number
from tallymark.quantify.kernels.class_cells import ScoreCells
from tallymark.quantify.kernels.class_rows import ClassRows, shares_by_class
from tallymark.quantify.kernels.densities import FAINT
from tallymark.quantify.kernels.joint import fit_jointly, smoothed, without_residue
from tallymark.registry import choose

#: Numbers held at once: rows of a target times resamples, or times rows of a validation sample.
_HELD = 4_000_000


#: From weights of the validation rows and of the target rows, one line per resample, to shares of the classes.
Solver = Callable[[Floats, Floats], Floats]

#: From a problem and the method's options to its solver.
Prepare = Callable[[ClassRows, Mapping[str, Any]], Solver]


def on_simplex(matrix: Floats, wanted: Floats) -> Floats:
    """The x >= 0 with sum one that minimises |matrix x - wanted|."""
    from scipy.optimize import nnls

    # The sum as one more equation that outweighs the others; what is left of it is divided away.
    heavy = 1e5 * max(1.0, float(np.abs(matrix).max()))
    solution, _ = nnls(np.vstack((matrix, np.full((1, matrix.shape[1]), heavy))), np.append(wanted, heavy))
    total = solution.sum()
    shares: Floats = solution / total if total > 0 else np.full(len(solution), np.nan)
    return shares


def adjusting(features: Callable[[Floats], Floats]) -> Prepare:
    """Least squares on the simplex: the classes' mean features against the target's."""

    def prepare(both: ClassRows, options: Mapping[str, Any]) -> Solver:  # noqa: ARG001
        of_validation, of_target = features(both.validation_scores), features(both.target_scores)

        def work(weights: Floats, mass: Floats) -> Floats:
            rates = shares_by_class(both, of_validation, weights)
            means = np.einsum("bm,mf->bf", mass, of_target) / mass.sum(axis=1, keepdims=True)
            return np.stack([on_simplex(a, b) for a, b in zip(rates, means, strict=True)])

        return work

    return prepare


def counting(features: Callable[[Floats], Floats]) -> Prepare:
    """The target's mean features as they are."""

    def prepare(both: ClassRows, options: Mapping[str, Any]) -> Solver:  # noqa: ARG001
        target = features(both.target_scores)

        def work(weights: Floats, mass: Floats) -> Floats:  # noqa: ARG001
            return np.asarray(np.einsum("bm,mf->bf", mass, target) / mass.sum(axis=1, keepdims=True))

        return work

    return prepare


def predicted(scores: Floats) -> Floats:
    """One for the class with the highest score, zero for the others."""
    values = np.zeros_like(scores)
    values[np.arange(len(scores)), scores.argmax(axis=1)] = 1.0
    return values


def as_they_are(scores: Floats) -> Floats:
    """The scores themselves."""
    return scores


#: Steps of expectation maximisation, and the change that ends it: for an estimate and for one of many resamples.
_STEPS, _CLOSE, _CLOSE_ENOUGH = 5_000, 1e-9, 1e-5


def mixture_shares(densities: Floats, mass: Floats, close: float = _CLOSE) -> Floats:
    """The shares that make rows with these densities by class most likely, by expectation maximisation."""
    shares = np.full(densities.shape[1], 1.0 / densities.shape[1])
    weight = mass / mass.sum()
    for _ in range(_STEPS):
        joint = densities * shares
        total = joint.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            moved = np.einsum("m,mk->k", weight, np.where(total > 0.0, joint / total, 0.0))
        moved /= moved.sum()
        if np.abs(moved - shares).max() < close:
            return np.asarray(moved)
        shares = moved
    return shares


def em(both: ClassRows, options: Mapping[str, Any]) -> Solver:
    """Expectation maximisation over probabilities, calibrated first where that is asked for."""
    both.require_probabilities("em")
    kind = options.get("calibration")
    if kind is None:
        return lambda weights, mass: _each(lambda _: both.target_scores / both.training, weights, mass)

    def densities(weight: Floats) -> Floats:
        # Fitted anew on each resample: the calibration's own error belongs to the estimate's.
        scaling = fit_scaling(both.codes, both.validation_scores, kind, weight)
        return scaling(both.target_scores) / np.average(scaling(both.validation_scores), axis=0, weights=weight)

    return lambda weights, mass: _each(densities, weights, mass)


def kde(both: ClassRows, options: Mapping[str, Any]) -> Solver:
    """The most likely mixture of Gaussian kernel densities on the simplex."""
    from scipy.spatial.distance import cdist

    both.require_probabilities("kde")
    width = float(options.get("bandwidth", 0.1))
    if not width > 0.0:
        raise InputError(f"bandwidth is {width!r}, expected a number above 0.")

    def near(scores: Floats, rows: Ints) -> Floats:
        values: Floats = np.exp(-cdist(scores, both.validation_scores[rows], "sqeuclidean") / (2.0 * width**2))
        return values

    step = max(1, _HELD // both.n)
    kernels = [near(both.target_scores, rows) for rows in both.members] if both.m <= 4 * step else None

    def densities(weight: Floats) -> Floats:
        columns = []
        for c, rows in enumerate(both.members):
            share = weight[rows] / weight[rows].sum()
            if kernels is not None:
                columns.append(kernels[c] @ share)
            else:
                parts = [near(both.target_scores[i : i + step], rows) @ share for i in range(0, both.m, step)]
                columns.append(np.concatenate(parts))
        return np.stack(columns, axis=1) + FAINT

    return lambda weights, mass: _each(densities, weights, mass)


def _each(densities: Callable[[Floats], Floats], weights: Floats, mass: Floats) -> Floats:
    """Most likely shares of each resample."""
    close = _CLOSE if len(mass) == 1 else _CLOSE_ENOUGH
    return np.stack(
        [mixture_shares(densities(weight), line, close) for weight, line in zip(weights, mass, strict=True)]
    )


def energy(both: ClassRows, options: Mapping[str, Any]) -> Solver:  # noqa: ARG001
    """The mixture nearest by energy distance."""

    def work(weights: Floats, mass: Floats) -> Floats:
        target_weight = mass / mass.sum(axis=1, keepdims=True)
        parts = [weights[:, rows] / weights[:, rows].sum(axis=1, keepdims=True) for rows in both.members]
        to_target = np.stack(
            [
                _mean_distances(both.validation_scores[rows], both.target_scores, part, target_weight)
                for rows, part in zip(both.members, parts, strict=True)
            ],
            axis=1,
        )
        between = np.empty((len(weights), both.k, both.k))
        for a in range(both.k):
            for b in range(a, both.k):
                values = _mean_distances(
                    both.validation_scores[both.members[a]], both.validation_scores[both.members[b]], parts[a], parts[b]
                )
                between[:, a, b] = between[:, b, a] = values
        return np.stack([_least_energy(*pair) for pair in zip(between, to_target, strict=True)])

    return work


def _mean_distances(a: Floats, b: Floats, p: Floats, q: Floats) -> Floats:
    """Weighted mean Manhattan distance between two sets of rows, for each line of weights; a block at a time."""
    from scipy.spatial.distance import cdist

    step = max(1, _HELD // max(len(b), 1))
    total = np.zeros(len(p))
    for i in range(0, len(a), step):
        total += np.einsum("rm,rm->r", p[:, i : i + step] @ cdist(a[i : i + step], b, "cityblock"), q)
    return total


def _least_energy(between: Floats, to_target: Floats) -> Floats:
    """The shares x on the simplex that minimise 2 x·to_target - x·between·x."""

    def at(x: Floats) -> tuple[float, Floats]:
        return float(2.0 * x @ to_target - x @ between @ x), 2.0 * (to_target - between @ x)

    return _least_on_simplex(at, len(to_target))


#: Bins of each class's score that K-class histograms have unless told.
_BINS = 8


def matching(distance: str) -> Prepare:
    """The mixture whose histograms of the score for each class are nearest to the target's, all of them together."""

    def prepare(both: ClassRows, options: Mapping[str, Any]) -> Solver:
        bins = options.get("bins", _BINS)
        # Two classes take the median over several numbers of bins; more classes gain nothing by it.
        number = checked_number(bins if isinstance(bins, int) else _BINS, "bins", 2)
        kind = choose("distance", options.get("distance", distance), _DISTANCES)
        of_validation, of_target = (
            _in_bins(both.validation_scores, both, number),
            _in_bins(both.target_scores, both, number),
        )

        def work(weights: Floats, mass: Floats) -> Floats:
            rates = shares_by_class(both, of_validation, weights)
            observed = np.einsum("bm,mf->bf", mass, of_target) / mass.sum(axis=1, keepdims=True)
            return np.stack([_nearest_mixture(a, b, kind) for a, b in zip(rates, observed, strict=True)])

        return work

    return prepare


def _in_bins(scores: Floats, both: ClassRows, number: int) -> Floats:
    """Which bin of each class's score a row falls in, as columns of zeros and ones."""
    values = np.zeros((len(scores), both.k * number))
    rows = np.arange(len(scores))
    for k in range(both.k):
        column = np.concatenate((both.validation_scores[:, k], both.target_scores[:, k]))
        low, high = float(column.min()), float(column.max())
        low, high = (0.0, 1.0) if low >= 0.0 and high <= 1.0 else (low, high)
        place = np.clip(((scores[:, k] - low) / max(high - low, 1e-300) * number).astype(np.int64), 0, number - 1)
        values[rows, k * number + place] = 1.0
    return values


def _hellinger(mixed: Floats, observed: Floats) -> tuple[float, Floats]:
    """Minus the affinity of two sets of shares, and its slope in the first."""
    root = np.sqrt(np.divide(observed, mixed, out=np.zeros_like(observed), where=mixed > 0.0))
    return -float(np.sum(np.sqrt(mixed * observed))), -root / 2.0


def _topsoe(mixed: Floats, observed: Floats) -> tuple[float, Floats]:
    """Topsøe's distance and its slope in the first set."""
    with np.errstate(divide="ignore", invalid="ignore"):
        of_mixture = np.where(mixed > 0.0, np.log(2.0 * mixed / (mixed + observed)), 0.0)
        other = np.where(observed > 0.0, np.log(2.0 * observed / (mixed + observed)), 0.0)
    return float(np.sum(mixed * of_mixture + observed * other)), of_mixture


_DISTANCES = {"hellinger": _hellinger, "topsoe": _topsoe}


def _nearest_mixture(
    rates: Floats, observed: Floats, distance: Callable[[Floats, Floats], tuple[float, Floats]]
) -> Floats:
    def at(x: Floats) -> tuple[float, Floats]:
        value, slope = distance(rates @ x, observed)
        return value, rates.T @ slope

    return _least_on_simplex(at, rates.shape[1])


def _least_on_simplex(function: Callable[[Floats], tuple[float, Floats]], k: int) -> Floats:
    """Where a function, given with its slope, is least among distributions over k classes."""
    from scipy.optimize import minimize

    solution = minimize(
        function,
        np.full(k, 1.0 / k),
        method="SLSQP",
        bounds=[(0.0, 1.0)] * k,
        jac=True,
        options={"ftol": 1e-12, "maxiter": 500},
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1.0, "jac": lambda x: np.ones(k)},  # noqa: ARG005
    )
    shares = np.clip(solution.x, 0.0, 1.0)
    return np.asarray(shares / shares.sum())


def counts_in_cells(
    both: ClassRows, weights: Floats, mass: Floats, options: Mapping[str, Any]
) -> tuple[Floats, Floats]:
    """Rows of each class and of the target by cell; effective ones where there are weights."""
    if options.get("density", "bins") != "bins":
        raise InputError("bayes of more than two classes counts rows in cells; leave density= out.")
    if options.get("bandwidth") is not None:
        raise InputError(
            "bayes of more than two classes counts rows in cells, which have no width; leave bandwidth= out."
        )
    number = options.get("bins")
    cells = ScoreCells(
        both.validation_scores,
        both.codes,
        both.weight,
        both.k,
        None if number is None else checked_number(number, "bins", both.k),
    )
    where, target_cells = cells.of(both.validation_scores), cells.of(both.target_scores)
    labelled = np.stack(
        [
            [
                np.bincount(where[rows], line[rows], len(cells)) * _effective_per_weight(line[rows])
                for rows in both.members
            ]
            for line in weights
        ]
    )
    target = np.stack([np.bincount(target_cells, line, len(cells)).astype(np.float64) for line in mass])
    return smoothed(labelled), target


def _effective_per_weight(weights: Floats) -> float:
    """Effective rows for each unit of weight."""
    squares = float((weights**2).sum())
    return float(weights.sum()) / squares if squares > 0.0 else 1.0


def bayes(both: ClassRows, options: Mapping[str, Any]) -> Solver:
    """Prevalences and class shares of cells, fitted together."""

    def work(weights: Floats, mass: Floats) -> Floats:
        fitted = fit_jointly(*counts_in_cells(both, weights, mass, options))
        return without_residue(fitted.prevalences, mass.sum(axis=1, keepdims=True))

    return work


def baseline(both: ClassRows, options: Mapping[str, Any]) -> Solver:  # noqa: ARG001
    """The training prevalences, whatever the target."""
    return lambda weights, mass: np.broadcast_to(both.training, (max(len(weights), len(mass)), both.k))
