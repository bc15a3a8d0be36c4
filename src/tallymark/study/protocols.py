"""Sampling protocols of quantification studies: stratified folds, and test samples of many prevalences from each fold.

A sample depends on the seed, the fold and its position only, never on the order in which work is done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from tallymark import _check
from tallymark._check import Floats, Ints
from tallymark._display import Row, Shown
from tallymark.errors import InputError, shown
from tallymark.inference.interval import checked_number
from tallymark.learners.out_of_fold import stratified_folds
from tallymark.quantify.protocols import draw_samples
from tallymark.registry import choose

Kind = Literal["folds", "app", "npp", "simplex", "given"]

#: Folds unless stated.
FOLDS = 10


@dataclass(frozen=True)
class Split:
    """A fold: rows to train on, rows to test on, and samples of the test rows.

    `index` has the positions of each sample's rows among the test rows, `nominal` the stated prevalence of each sample
    (of the last class, or of every class), `drawn` the class shares that the sample has.
    """

    fold: int
    train: Ints
    test: Ints
    index: tuple[Ints, ...]
    nominal: Floats
    drawn: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Protocol(Shown):
    """How a data set is split and sampled; ``split(fold)`` gives one fold, iterating gives all of them."""

    labels: Any
    kind: Kind
    folds: int
    seed: int
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        classes, codes = np.unique(self.labels, return_inverse=True)
        object.__setattr__(self, "classes", classes)
        object.__setattr__(self, "_codes", codes)

    classes: Any = field(init=False)
    _codes: Ints = field(init=False)

    def __len__(self) -> int:
        return self.folds

    def __iter__(self) -> Iterator[Split]:
        return (self.split(fold) for fold in range(self.folds))

    def split(self, fold: int) -> Split:
        """One fold and its samples."""
        test = np.flatnonzero(self._fold_of == fold)
        train = np.flatnonzero(self._fold_of != fold)
        codes = self._codes[test]
        members = [np.flatnonzero(codes == code) for code in range(len(self.classes))]
        index, nominal = _SAMPLERS[self.kind](members, [self.seed, 1, fold], **self.options)
        drawn = np.stack([np.bincount(codes[rows], minlength=len(self.classes)) / len(rows) for rows in index])
        return Split(fold, train, test, tuple(index), nominal, drawn)

    @property
    def _fold_of(self) -> Ints:
        """The fold of every row, each class spread evenly."""
        return stratified_folds(self._codes, self.folds, np.random.default_rng([self.seed, 0]))

    def heading(self) -> str:
        """Kind and size."""
        return f"Protocol {self.kind}: {self.folds} folds of {len(self._codes)} rows, seed {self.seed}"

    def rows(self) -> list[Row]:
        """A line per fold."""
        return [
            {
                "fold": s.fold,
                "train": len(s.train),
                "test": len(s.test),
                "samples": len(s.index),
                "rows": sum(map(len, s.index)),
            }
            for s in self
        ]


def protocol(
    labels: Any,
    kind: Kind = "folds",
    *,
    folds: int = FOLDS,
    prevalences: int | Sequence[float] | None = None,
    samples: int | None = None,
    size: int | None = None,
    seed: int = 0,
) -> Protocol:
    """Folds of labelled rows, and samples of many prevalences from each test fold.

    Parameters
    ----------
    labels
        The class of each row.
    kind
        ``folds`` draws one sample for each prevalence, as large as the rows allow, without replacement, with at least
        one row of each class between 0 and 1 (Barranquero 2014). The others draw samples of one size with replacement:
        ``app`` at evenly spaced prevalences, ``npp`` at the rows' own prevalence, ``simplex`` uniformly over all
        distributions of K classes, ``given`` at listed prevalences.
    folds
        Number of stratified folds.
    prevalences
        Number of evenly spaced prevalences from 0 to 1, or a list of them; by default 11 for ``folds``, 21 for ``app``.
    samples
        Number of samples of each fold (100); not for ``folds``.
    size
        Rows of each sample (100); not for ``folds``.
    seed
        Seed of the folds and of all samples.

    Returns
    -------
    Protocol
        Its ``split(fold)`` has the rows to train on, the rows to test on, and the samples.

    Examples
    --------
    >>> import tallymark as tm
    >>> split = tm.study.protocol([0] * 60 + [1] * 40).split(0)
    >>> len(split.test), [len(rows) for rows in split.index][:4], split.drawn[3].round(2).tolist()
    (10, [6, 7, 8, 9], [0.67, 0.33])
    """
    y = _check.labels(labels, "labels")
    counts = np.unique(y, return_counts=True)[1]
    if len(counts) < 2:
        raise InputError("labels has one class only; a protocol needs rows of two or more.")
    number = checked_number(folds, "folds", 2)
    if counts.min() < number:
        raise InputError(
            f"The smallest class has {counts.min()} rows, fewer than the {number} folds; take fewer folds."
        )
    choose("kind", kind, _SAMPLERS)
    options = _options(kind, len(counts), prevalences, samples, size)
    return Protocol(y, kind, number, _check.whole(seed, "seed", 0, 2**63 - 1), options)


def _options(kind: str, classes: int, prevalences: Any, samples: int | None, size: int | None) -> dict[str, Any]:
    """The checked options of a kind; options that it does not use are refused."""
    drawn = {
        "samples": 100 if samples is None else checked_number(samples, "samples", 1),
        "size": 100 if size is None else checked_number(size, "size", 2),
    }
    if kind in {"folds", "app"} and classes != 2:
        raise InputError(
            f"The protocol {kind!r} steps through prevalences of two classes, labels has {classes}; "
            "use 'simplex' or 'npp'."
        )
    if kind == "folds":
        for name, value in (("samples", samples), ("size", size)):
            if value is not None:
                raise InputError(
                    f"{name} goes with app, npp, simplex and given; "
                    "the samples of 'folds' are as large as the rows allow."
                )
        return {"shares": _shares(11 if prevalences is None else prevalences)}
    if kind == "app":
        return drawn | {"shares": _shares(21 if prevalences is None else prevalences)}
    if kind == "given":
        if prevalences is None or isinstance(prevalences, int):
            raise InputError(
                "The protocol 'given' needs prevalences=, a list of shares (of the last class, or of every class)."
            )
        return drawn | {"shares": _distributions(prevalences, classes)}
    if prevalences is not None:
        raise InputError(f"The protocol {kind!r} draws its own prevalences; leave prevalences= out.")
    return drawn


def _shares(prevalences: Any) -> Floats:
    if isinstance(prevalences, int | np.integer) and not isinstance(prevalences, bool):
        return np.linspace(0.0, 1.0, checked_number(prevalences, "prevalences", 2))
    return _distributions(prevalences, 2)[:, 1]


def _distributions(prevalences: Any, classes: int) -> Floats:
    try:
        listed = np.asarray(prevalences, dtype=np.float64)
    except (TypeError, ValueError):
        listed = np.array(np.nan)
    if listed.ndim == 1 and classes == 2:
        listed = np.column_stack((1.0 - listed, listed))
    shaped = listed.ndim == 2 and len(listed) and listed.shape[1] == classes
    if not shaped or not (listed >= 0.0).all() or not np.allclose(listed.sum(axis=1), 1.0):
        given = shown(prevalences) if np.iterable(prevalences) else repr(prevalences)
        raise InputError(f"prevalences are {given}, expected shares of {classes} classes that add up to 1.")
    return np.asarray(listed)


def largest_sample(share: float, positives: int, negatives: int) -> tuple[int, int]:
    """Positives and negatives of the largest sample with this prevalence; at least one of each between 0 and 1."""
    if share == 0.0:
        return 0, negatives
    if share == 1.0:
        return positives, 0
    size = min(positives / share, negatives / (1.0 - share))
    hits, others = round(size * share), round(size * (1.0 - share))
    return min(max(hits, 1), positives), min(max(others, 1), negatives)


def _undersampled(members: Sequence[Ints], seed: list[int], shares: Floats) -> tuple[list[Ints], Floats]:
    """Samples of Barranquero (2014): stratified, without replacement, as large as the rows allow."""
    negatives, positives = members
    index = []
    for place, share in enumerate(shares.tolist()):
        rng = np.random.default_rng([*seed, place])
        hits, others = largest_sample(share, len(positives), len(negatives))
        rows = rng.choice(positives, hits, replace=False), rng.choice(negatives, others, replace=False)
        index.append(np.sort(np.concatenate(rows)))
    return index, shares


def _drawn(members: Sequence[Ints], seed: list[int], shares: Floats, size: int) -> list[Ints]:
    """Samples of one size at given class shares; each is drawn from its own seed."""
    return draw_samples(members, shares, size, _generators(seed, len(shares)))


def _generators(seed: list[int], samples: int) -> Iterator[np.random.Generator]:
    return (np.random.default_rng([*seed, place]) for place in range(samples))


def _stepped(
    members: Sequence[Ints], seed: list[int], shares: Floats, samples: int, size: int
) -> tuple[list[Ints], Floats]:
    """Artificial-prevalence protocol of two classes: `shares` of the last class, in turn."""
    nominal = np.resize(shares, samples)
    return _drawn(members, seed, np.column_stack((1.0 - nominal, nominal)), size), nominal


def _natural(members: Sequence[Ints], seed: list[int], samples: int, size: int) -> tuple[list[Ints], Floats]:
    """Natural-prevalence protocol: rows drawn whatever their class."""
    pool = np.sort(np.concatenate(members))
    index = [rng.choice(pool, size) for rng in _generators(seed, samples)]
    shares = np.array([len(rows) for rows in members]) / len(pool)
    return index, _nominal(np.tile(shares, (samples, 1)))


def _uniform(members: Sequence[Ints], seed: list[int], samples: int, size: int) -> tuple[list[Ints], Floats]:
    """Class shares drawn uniformly from the simplex."""
    shares = np.random.default_rng([*seed, 2**31]).dirichlet(np.ones(len(members)), samples)
    return _drawn(members, seed, shares, size), _nominal(shares)


def _listed(
    members: Sequence[Ints], seed: list[int], shares: Floats, samples: int, size: int
) -> tuple[list[Ints], Floats]:
    """Stated class shares, in turn."""
    stated = shares[np.arange(samples) % len(shares)]
    return _drawn(members, seed, stated, size), _nominal(stated)


def _nominal(shares: Floats) -> Floats:
    """The share of the last of two classes, or the shares of all classes."""
    return shares[:, 1] if shares.shape[1] == 2 else shares


#: Each kind and how it draws.
_SAMPLERS: Mapping[str, Any] = {
    "folds": _undersampled,
    "app": _stepped,
    "npp": _natural,
    "simplex": _uniform,
    "given": _listed,
}
