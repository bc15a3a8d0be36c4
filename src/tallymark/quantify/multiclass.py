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
from tallymark.intervals.base import Seed, checked_level, checked_number, seeds
from tallymark.quantify.asking import options_of
from tallymark.quantify.classes import ClassPrevalences
from tallymark.quantify.densities import FAINT
from tallymark.quantify.prevalence import Prevalence
from tallymark.quantify.samples import Samples, Validation
from tallymark.registry import QUANTIFIERS

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

    ``ac`` and ``pacc`` solve least squares on the simplex, ``em``, ``kde`` and ``energy`` have their own K-class forms,
    every other method works one against the rest and is brought to the sum of one. Intervals resample the rows of both
    sides; those of ``kde`` and ``energy``, whose work grows with the product of the two, use at most 3 000 rows of each and
    are then wider than they need be.
    """
    _refuse_unknown(name, options)
    both = _Rows.of(validation, target, classes, training_prevalence)
    work = _solver(name, both, options)
    shares = work(both.weight[None, :], np.ones((1, both.m)))[0]
    if level is None:
        return ClassPrevalences(_entries(name, both, shares, None, None))
    if name == "bl":
        return ClassPrevalences(_entries(name, both, shares, None, None))
    share = checked_level(level)
    times = _REPLICATES if replicates is None else checked_number(replicates, "replicates", 100)
    few = both.thinned(seed) if name in _PAIRWISE else both
    if few is not both:
        work = _solver(name, few, options)
        # The few rows scatter around their own estimate; what counts is how far.
        shift = shares - work(few.weight[None, :], np.ones((1, few.m)))[0]
    drawn = _resampled(few, work, times, seed)
    if few is not both:
        drawn = np.clip(drawn + shift, 0.0, 1.0)
    return ClassPrevalences(_entries(name, both, shares, drawn, share), np.cov(drawn.T))


def _refuse_unknown(name: str, options: Mapping[str, Any]) -> None:
    known = {"em": {"calibration"}, "kde": {"bandwidth"}}.get(name)
    if known is None:
        known = set() if name in _SOLVERS or name == "bl" else options_of(QUANTIFIERS[name])
    if unknown := set(options) - known:
        raise InputError(
            f"{name} of more than two classes has no option {min(unknown)!r}; its options are {', '.join(sorted(known)) or 'none'}."
        )


def _entries(
    name: str, both: _Rows, shares: Floats, drawn: Floats | None, level: float | None
) -> dict[Label, Prevalence]:
    found: dict[Label, Prevalence] = {}
    for k, label in enumerate(both.labels):
        value = float(shares[k])
        if math.isnan(value):
            found[label] = Prevalence(
                method=name, prevalence=value, n=both.m, reason="the classes cannot be told apart"
            )
            continue
        if drawn is None or level is None:
            found[label] = Prevalence(method=name, prevalence=value, n=both.m)
            continue
        tail = (1.0 - level) / 2.0
        low, high = np.nanquantile(drawn[:, k], [tail, 1.0 - tail])
        found[label] = Prevalence(
            method=name, prevalence=value, n=both.m, low=min(float(low), value), high=max(float(high), value),
            level=level, interval="bootstrap",
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
    from scipy.optimize import minimize

    k = len(to_target)
    found = minimize(
        lambda x: 2.0 * x @ to_target - x @ between @ x, np.full(k, 1.0 / k), method="SLSQP", bounds=[(0.0, 1.0)] * k,
        jac=lambda x: 2.0 * (to_target - between @ x), options={"ftol": 1e-12, "maxiter": 500},
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1.0, "jac": lambda x: np.ones(k)},  # noqa: ARG005
    )  # fmt: skip
    shares = np.clip(found.x, 0.0, 1.0)
    return np.asarray(shares / shares.sum())


def _one_vs_rest(name: str, both: _Rows, options: Mapping[str, Any]) -> Solver:
    method = QUANTIFIERS[name]
    if method.probabilities:
        both.require_probabilities(name)
    ends = (
        (0.0, 1.0)
        if min(both.known.min(), both.asked.min()) >= 0.0 and max(both.known.max(), both.asked.max()) <= 1.0
        else None
    )

    def work(weights: Floats, mass: Floats) -> Floats:
        lines = max(len(weights), len(mass))
        shares = np.empty((lines, both.k))
        for c in range(both.k):
            order = np.argsort(both.asked[:, c], kind="stable")
            target = Samples(both.asked[order, c], mass=mass[:, order])
            sides = []
            for rows in (np.flatnonzero(both.codes != c), both.members[c]):
                own = rows[np.argsort(both.known[rows, c], kind="stable")]
                sides.append(Samples(both.known[own, c], mass=weights[:, own]))
            low = min(both.known[:, c].min(), both.asked[:, c].min())
            high = max(both.known[:, c].max(), both.asked[:, c].max())
            validation = Validation(sides[0], sides[1], both.training[c : c + 1], ends or (float(low), float(high)))
            shares[:, c] = method.kernel(validation, target, **options)
        total = shares.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(shares, total, out=np.full_like(shares, np.nan), where=total > 0.0))

    return work


_SOLVERS: dict[str, Callable[[str, _Rows, Mapping[str, Any]], Solver]] = {
    "ac": _adjusting(_called),
    "pacc": _adjusting(_as_they_are),
    "cc": _counting(_called),
    "pcc": _counting(_as_they_are),
    "em": _em,
    "kde": _kde,
    "energy": _energy,
}

#: Methods whose work grows with the product of the two samples' rows.
_PAIRWISE = frozenset({"kde", "energy"})


def _solver(name: str, both: _Rows, options: Mapping[str, Any]) -> Solver:
    if name == "bl":
        return lambda weights, mass: np.broadcast_to(both.training, (max(len(weights), len(mass)), both.k))
    return _SOLVERS.get(name, _one_vs_rest)(name, both, options)
