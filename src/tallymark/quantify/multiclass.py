"""More than two classes: labels and a column of scores per class on one side, such columns alone on the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Floats, Ints, Label
from tallymark.calibration.scaling import fit_scaling
from tallymark.errors import InputError, shown
from tallymark.intervals.base import Seed, checked_level, checked_number, normal_quantile, seeds
from tallymark.intervals.proportions import limits
from tallymark.quantify.class_cells import ScoreCells
from tallymark.quantify.classes import ClassPrevalences
from tallymark.quantify.densities import FAINT
from tallymark.quantify.joint import fit_jointly, profile_limits, region_holds, smoothed
from tallymark.quantify.prevalence import Prevalence
from tallymark.registry import QUANTIFIERS, choose

_REPLICATES = 300

#: Numbers held at once: rows of a target times resamples, or times rows of a validation sample.
_HELD = 4_000_000

#: Intervals of methods that compare every two rows are computed on at most so many rows of each side.
_MOST_ROWS = 3_000


def estimate_classes(
    name: str,
    validation: tuple[Any, ...],
    target: object,
    *,
    classes: object = None,
    training_prevalence: object = None,
    level: float | None = 0.95,
    replicates: int | None = None,
    seed: Seed = 0,
    **options: Any,
) -> ClassPrevalences:
    """Shares of K classes; `validation` is (labels, scores by class) or that with weights, `target` scores by class.

    ``ac`` and ``pacc`` solve least squares on the simplex; ``bayes`` fits prevalences and class shares of cells together;
    ``hdy`` and ``dys`` match the K histograms of the scores for each class at once; ``em``, ``kde`` and ``energy`` have
    their own K-class forms. Methods that count one class against the rest are refused: the rest is itself a mixture that
    shifts. Limits of ``ac`` and ``pacc`` come in closed form, those of ``bayes`` from its likelihood, with a joint region
    each; the others resample the rows of both sides (``kde`` and ``energy``, whose work grows with the product of the two,
    at most 3 000 rows of each).
    """
    method = QUANTIFIERS[name]
    if name not in _SOLVERS and name != "bl":
        raise InputError(
            f"{name} counts one class against the rest, which is wrong when the rest shifts too; for more than two classes "
            f"use {', '.join(other for other in _SOLVERS if QUANTIFIERS[other].shift_proof)}."
        )
    _refuse_unknown(name, options)
    both = _Rows.of(validation, target, classes, training_prevalence)
    work = _solver(name, both, options)
    shares = work(both.weight[None, :], np.ones((1, both.m)))[0]
    if level is None or name == "bl":
        return ClassPrevalences(_entries(method.name, both, shares, None, None, ""))
    share = checked_level(level)
    if name in _CLOSED and not np.isnan(shares).any():
        return _CLOSED[name](name, both, shares, share, options)
    times = _REPLICATES if replicates is None else checked_number(replicates, "replicates", 100)
    few = both.thinned(seed) if name in _PAIRWISE else both
    shift: Any = 0.0
    if few is not both:
        work = _solver(name, few, options)
        # The few rows scatter around their own estimate; what counts is how far.
        shift = shares - work(few.weight[None, :], np.ones((1, few.m)))[0]
    drawn = np.clip(_resampled(few, work, times, seed) + shift, 0.0, 1.0)
    tail = (1.0 - share) / 2.0
    low, high = np.nanquantile(drawn, [tail, 1.0 - tail], axis=0)
    return ClassPrevalences(_entries(name, both, shares, (low, high), share, "bootstrap"), np.cov(drawn.T))


def _refuse_unknown(name: str, options: Mapping[str, Any]) -> None:
    known = _OPTIONS.get(name, set())
    if unknown := set(options) - known:
        raise InputError(
            f"{name} of more than two classes has no option {min(unknown)!r}; its options are {', '.join(sorted(known)) or 'none'}."
        )


def _entries(
    name: str, both: _Rows, shares: Floats, ends: tuple[Floats, Floats] | None, level: float | None, interval: str
) -> dict[Label, Prevalence]:
    found: dict[Label, Prevalence] = {}
    for k, label in enumerate(both.labels):
        value = float(shares[k])
        if math.isnan(value):
            found[label] = Prevalence(
                method=name, prevalence=value, n=both.m, reason="the classes cannot be told apart"
            )
        elif ends is None or level is None:
            found[label] = Prevalence(method=name, prevalence=value, n=both.m)
        else:
            low, high = float(ends[0][k]), float(ends[1][k])
            if QUANTIFIERS[name].shift_proof or value in {0.0, 1.0}:
                # Never surer than a classifier without errors would be on as many rows.
                least = limits(np.array(value * both.m), np.array(float(both.m)), level)
                low, high = min(low, float(least[0])), max(high, float(least[1]))
            found[label] = Prevalence(
                method=name, prevalence=value, n=both.m, low=min(low, value), high=max(high, value), level=level,
                interval=interval,
            )  # fmt: skip
    return found


@dataclass(frozen=True, eq=False)
class _Rows:
    """Codes and scores of the validation rows, scores of the target rows, and the share of each class in training."""

    labels: tuple[Label, ...]
    codes: Ints
    known: Floats
    asked: Floats
    training: Floats
    weight: Floats

    @classmethod
    def of(cls, validation: tuple[Any, ...], target: object, classes: object, training: object) -> _Rows:
        if len(validation) not in {2, 3}:
            raise InputError("validation must be (labels, scores by class), or (labels, scores by class, weights).")
        truth = _check.labels(validation[0], "validation labels")
        names = tuple(_check.distinct(truth) if classes is None else map(_check.plain_label, classes))  # type: ignore[call-overload]
        if len(names) < 2:
            raise InputError(f"validation has one class only, {names[0]!r}; error rates need rows of every class.")
        known = _check.matrix(validation[1], "validation scores", columns=len(names))
        asked = _check.matrix(target, "target scores", columns=len(names))
        codes = _check.encode(truth, names, "validation labels")
        _check.same_length({"validation labels": codes, "validation scores": known})
        given = validation[2] if len(validation) == 3 else None
        weight = np.ones(len(codes)) if given is None else _check.weights(given, "validation weights")
        _check.same_length({"validation labels": codes, "validation weights": weight})
        counts = np.bincount(codes, weight, minlength=len(names)).astype(np.float64)
        if not counts.all():
            missing = [names[i] for i in np.flatnonzero(counts == 0)]
            raise InputError(f"validation has no row of class {shown(missing)}; error rates need rows of every class.")
        if not len(asked):
            raise InputError("The target has no rows.")
        share = counts / counts.sum() if training is None else np.asarray(training, dtype=np.float64)
        if share.shape != counts.shape or (share <= 0).any() or abs(share.sum() - 1.0) > 1e-6:
            raise InputError(
                f"training_prevalence is {training!r}, expected a share above 0 for each of {shown(names)}, adding up to 1."
            )
        there = weight > 0.0
        return cls(names, codes[there], known[there], asked, share, weight[there])

    @property
    def n(self) -> int:
        return len(self.codes)

    @property
    def m(self) -> int:
        return len(self.asked)

    @property
    def k(self) -> int:
        return len(self.labels)

    @cached_property
    def members(self) -> list[Ints]:
        return [np.flatnonzero(self.codes == c) for c in range(self.k)]

    def thinned(self, seed: Seed) -> _Rows:
        """At most some thousand rows of each side, the rarest class first kept."""
        if max(self.n, self.m) <= _MOST_ROWS:
            return self
        rng = np.random.default_rng(seeds(seed, 1)[0])
        share = min(1.0, _MOST_ROWS / self.n)
        kept = np.sort(np.concatenate([
            rng.choice(rows, max(2, math.ceil(share * len(rows))) if len(rows) > 2 else len(rows), replace=False)
            for rows in self.members
        ]))  # fmt: skip
        asked = rng.choice(self.m, min(self.m, _MOST_ROWS), replace=False)
        return replace(
            self, codes=self.codes[kept], known=self.known[kept], asked=self.asked[asked], weight=self.weight[kept]
        )

    def require_probabilities(self, name: str) -> None:
        for side in (self.known, self.asked):
            if side.min() < 0.0 or np.abs(side.sum(axis=1) - 1.0).max() > 1e-4:
                raise InputError(f"{name} needs probabilities: scores of each row between 0 and 1 that add up to 1.")


#: From weights of the validation rows and of the target rows, one line per resample, to shares of the classes.
Solver = Callable[[Floats, Floats], Floats]


def _resampled(both: _Rows, work: Solver, times: int, seed: Seed) -> Floats:
    step = max(1, min(50, _HELD // max(both.m, both.n)))
    blocks = -(-times // step)
    found = []
    for part in seeds(seed, blocks):
        rng = np.random.default_rng(part)
        known = np.zeros((step, both.n))
        for rows in both.members:
            known[:, rows] = rng.multinomial(len(rows), np.full(len(rows), 1.0 / len(rows)), step)
        known *= both.weight
        asked = rng.multinomial(both.m, np.full(both.m, 1.0 / both.m), step).astype(np.float64)
        found.append(work(known, asked))
    return np.concatenate(found)[:times]


def _shares_by_class(both: _Rows, features: Floats, weights: Floats) -> Floats:
    """Weighted mean of each feature in each class: (resamples, features, classes)."""
    columns = []
    for rows in both.members:
        own = weights[:, rows]
        columns.append(np.einsum("bn,nf->bf", own, features[rows]) / own.sum(axis=1, keepdims=True))
    return np.stack(columns, axis=2)


def on_simplex(matrix: Floats, wanted: Floats) -> Floats:
    """The x >= 0 with sum one that minimises |matrix x - wanted|."""
    from scipy.optimize import nnls

    # The sum as one more equation that outweighs the others; what is left of it is divided away.
    heavy = 1e5 * max(1.0, float(np.abs(matrix).max()))
    found, _ = nnls(np.vstack((matrix, np.full((1, matrix.shape[1]), heavy))), np.append(wanted, heavy))
    total = found.sum()
    shares: Floats = found / total if total > 0 else np.full(len(found), np.nan)
    return shares


def _adjusting(features: Callable[[Floats], Floats]) -> Callable[[str, _Rows, Mapping[str, Any]], Solver]:
    def prepare(name: str, both: _Rows, options: Mapping[str, Any]) -> Solver:  # noqa: ARG001
        known, asked = features(both.known), features(both.asked)

        def work(weights: Floats, mass: Floats) -> Floats:
            rates = _shares_by_class(both, known, weights)
            seen = np.einsum("bm,mf->bf", mass, asked) / mass.sum(axis=1, keepdims=True)
            return np.stack([on_simplex(a, b) for a, b in zip(rates, seen, strict=True)])

        return work

    return prepare


def _counting(features: Callable[[Floats], Floats]) -> Callable[[str, _Rows, Mapping[str, Any]], Solver]:
    def prepare(name: str, both: _Rows, options: Mapping[str, Any]) -> Solver:  # noqa: ARG001
        asked = features(both.asked)
        return lambda weights, mass: np.einsum("bm,mf->bf", mass, asked) / mass.sum(axis=1, keepdims=True)  # noqa: ARG005

    return prepare


def _called(scores: Floats) -> Floats:
    """One for the class with the highest score, zero for the others."""
    found = np.zeros_like(scores)
    found[np.arange(len(scores)), scores.argmax(axis=1)] = 1.0
    return found


def _as_they_are(scores: Floats) -> Floats:
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


def _em(name: str, both: _Rows, options: Mapping[str, Any]) -> Solver:
    both.require_probabilities(name)
    kind = options.get("calibration")
    if kind is None:
        return lambda weights, mass: _each(lambda _: both.asked / both.training, weights, mass)

    def densities(own: Floats) -> Floats:
        # Fitted anew on each resample: the calibration's own error belongs to the estimate's.
        scaling = fit_scaling(both.codes, both.known, kind, own)
        return scaling(both.asked) / np.average(scaling(both.known), axis=0, weights=own)

    return lambda weights, mass: _each(densities, weights, mass)


def _kde(name: str, both: _Rows, options: Mapping[str, Any]) -> Solver:
    from scipy.spatial.distance import cdist

    both.require_probabilities(name)
    width = float(options.get("bandwidth", 0.1))
    if not width > 0.0:
        raise InputError(f"bandwidth is {width!r}, expected a number above 0.")

    def near(asked: Floats, rows: Ints) -> Floats:
        found: Floats = np.exp(-cdist(asked, both.known[rows], "sqeuclidean") / (2.0 * width**2))
        return found

    step = max(1, _HELD // both.n)
    held = [near(both.asked, rows) for rows in both.members] if both.m <= 4 * step else None

    def densities(own: Floats) -> Floats:
        columns = []
        for c, rows in enumerate(both.members):
            share = own[rows] / own[rows].sum()
            if held is not None:
                columns.append(held[c] @ share)
            else:
                parts = [near(both.asked[i : i + step], rows) @ share for i in range(0, both.m, step)]
                columns.append(np.concatenate(parts))
        return np.stack(columns, axis=1) + FAINT

    return lambda weights, mass: _each(densities, weights, mass)


def _each(densities: Callable[[Floats], Floats], weights: Floats, mass: Floats) -> Floats:
    """Most likely shares of each resample."""
    close = _CLOSE if len(mass) == 1 else _CLOSE_ENOUGH
    return np.stack([mixture_shares(densities(own), line, close) for own, line in zip(weights, mass, strict=True)])


def _energy(name: str, both: _Rows, options: Mapping[str, Any]) -> Solver:  # noqa: ARG001
    def work(weights: Floats, mass: Floats) -> Floats:
        there = mass / mass.sum(axis=1, keepdims=True)
        parts = [weights[:, rows] / weights[:, rows].sum(axis=1, keepdims=True) for rows in both.members]
        to_target = np.stack([
            _mean_distances(both.known[rows], both.asked, part, there) for rows, part in zip(both.members, parts, strict=True)
        ], axis=1)  # fmt: skip
        between = np.empty((len(weights), both.k, both.k))
        for a in range(both.k):
            for b in range(a, both.k):
                found = _mean_distances(both.known[both.members[a]], both.known[both.members[b]], parts[a], parts[b])
                between[:, a, b] = between[:, b, a] = found
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


def _matching(distance: str) -> Callable[[str, _Rows, Mapping[str, Any]], Solver]:
    """The mixture whose histograms of the score for each class are nearest to the target's, all of them together."""

    def prepare(name: str, both: _Rows, options: Mapping[str, Any]) -> Solver:  # noqa: ARG001
        asked = options.get("bins", _BINS)
        # Two classes take the median over several numbers of bins; more classes gain nothing by it.
        number = checked_number(asked if isinstance(asked, int) else _BINS, "bins", 2)
        kind = choose("distance", options.get("distance", distance), _DISTANCES)
        known, seen_in = _in_bins(both.known, both, number), _in_bins(both.asked, both, number)

        def work(weights: Floats, mass: Floats) -> Floats:
            rates = _shares_by_class(both, known, weights)
            seen = np.einsum("bm,mf->bf", mass, seen_in) / mass.sum(axis=1, keepdims=True)
            return np.stack([_nearest_mixture(a, b, kind) for a, b in zip(rates, seen, strict=True)])

        return work

    return prepare


def _in_bins(scores: Floats, both: _Rows, number: int) -> Floats:
    """Which bin of each class's score a row falls in, as columns of zeros and ones."""
    found = np.zeros((len(scores), both.k * number))
    rows = np.arange(len(scores))
    for k in range(both.k):
        column = np.concatenate((both.known[:, k], both.asked[:, k]))
        low, high = float(column.min()), float(column.max())
        low, high = (0.0, 1.0) if low >= 0.0 and high <= 1.0 else (low, high)
        place = np.clip(((scores[:, k] - low) / max(high - low, 1e-300) * number).astype(np.int64), 0, number - 1)
        found[rows, k * number + place] = 1.0
    return found


def _hellinger(mixed: Floats, seen: Floats) -> tuple[float, Floats]:
    """Minus the affinity of two sets of shares, and its slope in the first."""
    root = np.sqrt(np.divide(seen, mixed, out=np.zeros_like(seen), where=mixed > 0.0))
    return -float(np.sum(np.sqrt(mixed * seen))), -root / 2.0


def _topsoe(mixed: Floats, seen: Floats) -> tuple[float, Floats]:
    """Topsøe's distance and its slope in the first set."""
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.where(mixed > 0.0, np.log(2.0 * mixed / (mixed + seen)), 0.0)
        other = np.where(seen > 0.0, np.log(2.0 * seen / (mixed + seen)), 0.0)
    return float(np.sum(mixed * own + seen * other)), own


_DISTANCES = {"hellinger": _hellinger, "topsoe": _topsoe}


def _nearest_mixture(rates: Floats, seen: Floats, distance: Callable[[Floats, Floats], tuple[float, Floats]]) -> Floats:
    def at(x: Floats) -> tuple[float, Floats]:
        value, slope = distance(rates @ x, seen)
        return value, rates.T @ slope

    return _least_on_simplex(at, rates.shape[1])


def _least_on_simplex(function: Callable[[Floats], tuple[float, Floats]], k: int) -> Floats:
    """Where a function, given with its slope, is least among distributions over k classes."""
    from scipy.optimize import minimize

    found = minimize(
        function, np.full(k, 1.0 / k), method="SLSQP", bounds=[(0.0, 1.0)] * k, jac=True,
        options={"ftol": 1e-12, "maxiter": 500},
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1.0, "jac": lambda x: np.ones(k)},  # noqa: ARG005
    )  # fmt: skip
    shares = np.clip(found.x, 0.0, 1.0)
    return np.asarray(shares / shares.sum())


def _counts_in_cells(both: _Rows, weights: Floats, mass: Floats, options: Mapping[str, Any]) -> tuple[Floats, Floats]:
    """Rows of each class and of the target by cell; effective ones where there are weights."""
    if options.get("density", "bins") != "bins":
        raise InputError("bayes of more than two classes counts rows in cells; leave density= out.")
    number = options.get("bins")
    cells = ScoreCells(
        both.known, both.codes, both.weight, both.k, None if number is None else checked_number(number, "bins", both.k)
    )
    where, asked = cells.of(both.known), cells.of(both.asked)
    known = np.stack([
        [np.bincount(where[rows], line[rows], len(cells)) * _worth(line[rows]) for rows in both.members] for line in weights
    ])  # fmt: skip
    seen = np.stack([np.bincount(asked, line, len(cells)).astype(np.float64) for line in mass])
    return smoothed(known), seen


def _worth(weights: Floats) -> float:
    """Effective rows for each unit of weight."""
    squares = float((weights**2).sum())
    return float(weights.sum()) / squares if squares > 0.0 else 1.0


def _bayes(name: str, both: _Rows, options: Mapping[str, Any]) -> Solver:  # noqa: ARG001
    return lambda weights, mass: fit_jointly(*_counts_in_cells(both, weights, mass, options)).prevalences


def _by_likelihood(
    name: str, both: _Rows, shares: Floats, level: float, options: Mapping[str, Any]
) -> ClassPrevalences:
    """Profile limits of every class and the joint likelihood region."""
    known, seen = _counts_in_cells(both, both.weight[None, :], np.ones((1, both.m)), options)
    best = fit_jointly(known, seen)
    ends = profile_limits(known, seen, best, level)
    entries = _entries(name, both, shares, ends, level, "profile")
    return ClassPrevalences(entries, region=lambda p, at: region_holds(known, seen, best, p, at))


def _in_closed_form(
    name: str,
    both: _Rows,
    shares: Floats,
    level: float,
    options: Mapping[str, Any],  # noqa: ARG001
) -> ClassPrevalences:
    r"""Limits of least squares by the delta method, around the solution that may lie outside the simplex.

    With M the classes' mean features, h the target's and B the pseudo-inverse of M's columns less the first,
    :math:`S = \mathrm{Cov}(h) + \sum_k x_k^2 \mathrm{Cov}(M_k)` gives the covariance of x. Half a row in every cell keeps
    rates of 0 and 1 from being certain.
    """
    hard = name == "ac"
    known, asked = (_called(part) if hard else part for part in (both.known, both.asked))
    means, spreads = [], []
    for rows in both.members:
        own, w = known[rows], both.weight[rows]
        n = float(w.sum() ** 2 / (w**2).sum())
        mean = np.average(own, axis=0, weights=w)
        if hard:
            mean = (mean * n + 0.5) / (n + both.k / 2.0)
            spread = np.diag(mean) - np.outer(mean, mean)
        else:
            gap = own - mean
            spread = np.einsum("n,ni,nj->ij", w / w.sum(), gap, gap) * n / max(n - 1.0, 1.0)
        means.append(mean)
        spreads.append(spread / n)
    h = asked.mean(axis=0)
    gap = asked - h
    noise = np.einsum("ni,nj->ij", gap, gap) / both.m / max(both.m - 1.0, 1.0)
    matrix = np.stack(means, axis=1)
    inverse = np.linalg.pinv(matrix[:, 1:] - matrix[:, :1])
    rest = inverse @ (h - matrix[:, 0])
    x = np.concatenate(([1.0 - rest.sum()], rest))
    noise += sum(x[k] ** 2 * spreads[k] for k in range(both.k))
    slope = np.vstack((-inverse.sum(axis=0), inverse))
    covariance = slope @ noise @ slope.T
    reach = normal_quantile(0.5 + level / 2.0) * np.sqrt(np.diag(covariance))
    ends = np.clip(x - reach, 0.0, 1.0), np.clip(x + reach, 0.0, 1.0)
    return ClassPrevalences(_entries(name, both, shares, ends, level, "analytic"), covariance, centre=x)


_SOLVERS: dict[str, Callable[[str, _Rows, Mapping[str, Any]], Solver]] = {
    "ac": _adjusting(_called),
    "pacc": _adjusting(_as_they_are),
    "cc": _counting(_called),
    "pcc": _counting(_as_they_are),
    "em": _em,
    "kde": _kde,
    "energy": _energy,
    "bayes": _bayes,
    "hdy": _matching("hellinger"),
    "dys": _matching("topsoe"),
}

#: Options of K-class methods.
_OPTIONS = {
    "em": {"calibration"},
    "kde": {"bandwidth"},
    "bayes": {"density", "bins", "bandwidth"},
    "hdy": {"bins"},
    "dys": {"bins", "distance"},
}

#: Limits that need no resampling.
_CLOSED: dict[str, Callable[[str, _Rows, Floats, float, Mapping[str, Any]], ClassPrevalences]] = {
    "ac": _in_closed_form, "pacc": _in_closed_form, "bayes": _by_likelihood,
}  # fmt: skip

#: Methods whose work grows with the product of the two samples' rows.
_PAIRWISE = frozenset({"kde", "energy"})


def _solver(name: str, both: _Rows, options: Mapping[str, Any]) -> Solver:
    if name == "bl":
        return lambda weights, mass: np.broadcast_to(both.training, (max(len(weights), len(mass)), both.k))
    return _SOLVERS[name](name, both, options)
