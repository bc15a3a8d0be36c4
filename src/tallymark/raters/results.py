"""Agreement of raters as a result: coefficients, classes, pairs of raters and disagreements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from tallymark._check import Label
from tallymark._display import Limited, Row, Shown, plain
from tallymark._mappings import FrozenDict
from tallymark._numbers import counted, number
from tallymark.errors import UnknownNameError, nearest
from tallymark.notes import Note
from tallymark.raters.ratings import Ratings


@dataclass(frozen=True, kw_only=True, repr=False)
class Coefficient(Shown, Limited):
    """A coefficient of agreement with its confidence interval.

    Attributes
    ----------
    name : str
        The coefficient, or the class of a specific agreement.
    value : float
        Its value, nan where it is undefined.
    low, high, level, interval_method : float, float, float, str
        The confidence interval; None where the coefficient is undefined.
    standard_error : float
        Linearised standard error, of which the interval makes no use; 0 where all items were rated alike.
    reason : str
        Why there is no value.
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    standard_error: float | None = None
    interval_method: str | None = None
    level: float | None = None
    reason: str | None = None

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.name} = {number(self.value)}{f', {self.reason}' if self.reason else ''}"
        level = "" if self.level is None else f"{100 * self.level:g} % interval "
        return f"{self.name} = {number(self.value)}, {level}{number(self.low)} to {number(self.high)}"

    def heading(self) -> str:
        """The coefficient."""
        return self.name

    def rows(self) -> list[Row]:
        """One line."""
        return [asdict(self)]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {name: plain(value) for name, value in asdict(self).items() if name != "name"}


@dataclass(frozen=True)
class RaterPair:
    """Two raters on the items that both rated: observed agreement and Cohen's κ."""

    first: str
    second: str
    n: int
    observed: float
    cohen_kappa: float


@dataclass(frozen=True)
class Rater(Limited):
    """One rater against the others.

    `agreement` is that of the rater with the others, `among_others` that of the others with one another; `low` and
    `high` are limits of their difference, corrected for the number of raters (Bonferroni). The rater `differs` where
    both are below 0.
    """

    rater: str
    n: int
    agreement: float
    among_others: float
    low: float
    high: float
    level: float

    @property
    def value(self) -> float:
        """The rater's agreement with the others less that among the others."""
        return self.agreement - self.among_others

    @property
    def differs(self) -> bool:
        """Whether the rater agrees less with the others than they with one another, beyond chance."""
        return self.high < 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Shown, Mapping[str, Coefficient]):
    """Agreement of raters: a mapping from the name of a coefficient to :class:`Coefficient`.

    Attributes
    ----------
    n : int
        Number of items with a rating.
    n_paired : int
        Number of items with two ratings or more, on which agreement is observed.
    classes : tuple
        The classes in order.
    specific : mapping
        Specific agreement of each class: of the ratings that name it, the share of the item's other ratings that name
        it too. Of two classes, the negative and the positive agreement.
    pairs : tuple of RaterPair
        Every pair of raters; empty where raters are not known.
    raters : tuple of Rater
        Every rater against the others, the one who agrees least first; empty with fewer than three.
    prevalences : mapping
        Mean share of each class among the ratings of an item.
    weights : str
        Name of the weights of partial agreement, or "matrix".
    level : float
        Confidence level.
    clusters : int
        Number of clusters that were taken as drawn at random; None where it was the items.
    """

    coefficients: Mapping[str, Coefficient]
    n: int
    n_paired: int
    classes: tuple[Label, ...]
    specific: Mapping[Label, Coefficient]
    pairs: tuple[RaterPair, ...]
    raters: tuple[Rater, ...]
    prevalences: Mapping[Label, float]
    weights: str
    level: float
    ratings: Ratings = field(repr=False)
    clusters: int | None = None
    warnings: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        for name in ("coefficients", "specific", "prevalences"):
            object.__setattr__(self, name, FrozenDict(getattr(self, name)))

    def __getitem__(self, name: str) -> Coefficient:
        if name not in self.coefficients:
            raise UnknownNameError(f"No coefficient {name!r}.{nearest(name, self)} There are: {', '.join(self)}.")
        return self.coefficients[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.coefficients)

    def __len__(self) -> int:
        return len(self.coefficients)

    @property
    def n_raters(self) -> int | None:
        """Number of raters, None where only counts of ratings are known."""
        return len(self.ratings.raters) or None

    def matrix(self, name: str = "cohen_kappa") -> Any:
        """Rater by rater, Cohen's κ (or ``"observed"`` agreement), 1 on the diagonal, in the order of the raters."""
        if name not in {"cohen_kappa", "observed"}:
            raise UnknownNameError(f"No matrix of {name!r}; there are cohen_kappa and observed.")
        place = {rater: index for index, rater in enumerate(self.ratings.raters)}
        matrix = np.eye(len(place))
        for pair in self.pairs:
            first, second = place[pair.first], place[pair.second]
            matrix[first, second] = matrix[second, first] = getattr(pair, name)
        return matrix

    @property
    def disagreements(self) -> list[Row]:
        """The items on which raters differ, with every rating; those with the largest share of unlike pairs first.

        Items are named by the column that was passed as item, else by the number of their row, from 1. Where raters are
        not known the columns are the classes and hold numbers of ratings.
        """
        ratings = self.ratings
        patterns = ratings.patterns
        pairs = np.maximum(patterns.ratings * patterns.pairs_of_an_item, 1.0)
        unlike = 1.0 - (patterns.counts * (patterns.counts - 1.0)).sum(axis=1) / pairs
        unlike = np.where(patterns.paired > 0.0, unlike, 0.0)
        if ratings.pattern_of is None or ratings.items is None:
            order = [place for place in np.argsort(-unlike, kind="stable") if unlike[place] > 0.0]
            return [{**self._cells(place), "items": int(patterns.mass[place])} for place in order]
        by_item = unlike[ratings.pattern_of]
        order = [int(place) for place in np.argsort(-by_item, kind="stable")[: int((by_item > 0.0).sum())]]
        items = ratings.items[order].tolist()
        cells = {int(place): self._cells(int(place)) for place in np.flatnonzero(unlike > 0.0)}
        return [
            {"item": name, **cells[int(ratings.pattern_of[place])]} for name, place in zip(items, order, strict=True)
        ]

    def _cells(self, pattern: int) -> dict[str, Any]:
        """The ratings of a pattern, by rater or, where raters are not known, by class."""
        patterns = self.ratings.patterns
        if patterns.codes is None:
            counts = patterns.counts[pattern].astype(int).tolist()
            return {str(label): count for label, count in zip(self.classes, counts, strict=True)}
        codes = patterns.codes[pattern]
        return {
            rater: None if code < 0 else self.classes[code]
            for rater, code in zip(self.ratings.raters, codes, strict=True)
        }

    def heading(self) -> str:
        """Sizes and conditions."""
        raters = "" if self.n_raters is None else f" by {counted(self.n_raters, 'rater')}"
        paired = "" if self.n_paired == self.n else f", {self.n_paired} of them with two ratings or more"
        drawn = "items" if self.clusters is None else counted(self.clusters, "cluster")
        return (
            f"Agreement on {counted(self.n, 'item')}{raters}{paired}, {len(self.classes)} classes, {self.weights} "
            f"weights, {100 * self.level:g} % intervals, {drawn} drawn at random"
        )

    def rows(self) -> Sequence[Row]:
        """One line per coefficient; the reason where one is undefined."""
        undefined = any(one.reason for one in self.coefficients.values())
        names = ("value", "low", "high", "standard_error", *(("reason",) if undefined else ()))
        return [
            {"coefficient": name} | {part: getattr(one, part) for part in names}
            for name, one in self.coefficients.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``tallymark agree --json`` prints them."""
        return {
            "n": self.n,
            "n_paired": self.n_paired,
            "n_raters": self.n_raters,
            "classes": plain(list(self.classes)),
            "weights": self.weights,
            "level": self.level,
            "clusters": self.clusters,
            "coefficients": {name: one.to_dict() for name, one in self.coefficients.items()},
            "prevalences": plain({str(label): share for label, share in self.prevalences.items()}),
            "specific": {str(label): one.to_dict() for label, one in self.specific.items()},
            "pairs": plain([asdict(pair) for pair in self.pairs]),
            "raters": plain([asdict(rater) | {"differs": rater.differs} for rater in self.raters]),
            "disagreements": sum(1 for _ in self.disagreements),
        }
