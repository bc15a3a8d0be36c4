"""Test of prior shift on labelled rows: Kruskal-Wallis by class (``tm.quantify.class_drift``).

Where labelled rows exist in several periods or groups, prior shift says that the scores of each class have one
distribution in all of them, whatever their prevalence. That can be tested directly, class by class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallymark._check import Floats, Ints
from tallymark._display import Row, Shown, plain
from tallymark.errors import InputError
from tallymark.inference.hypothesis_tests.corrections import holm
from tallymark.inference.interval import Seed, checked_level, checked_number
from tallymark.inference.resampling.parallel import seeds
from tallymark.summaries.run import Run
from tallymark.summaries.tallies import Tallies

#: Rows of a class in a group below which the chi-square is not trusted and groups are permuted instead.
_FEW = 5


@dataclass(frozen=True, eq=False, repr=False)
class ClassDrift(Shown):
    """Whether the scores of each class differ between groups.

    `p_value` is that of both classes together, `by_class` that of each (times two), `by_group` that of each group
    against the others (Holm); `contradicted` says whether the first falls below 1 - `level`.
    """

    p_value: float
    by_class: Mapping[str, float]
    by_group: Mapping[tuple[Any, ...], float]
    names: tuple[str, ...]
    rows_of: Mapping[tuple[Any, ...], tuple[int, int]]
    method: str
    level: float

    @property
    def contradicted(self) -> bool:
        """Whether the labels contradict prior shift."""
        return self.p_value < 1.0 - self.level

    @property
    def verdict(self) -> str:
        """The result of the test in words; not to contradict prior shift does not show that it holds."""
        found = f"(p = {self.p_value:.3g}, at the {100.0 * (1.0 - self.level):g} % level)"
        if not self.contradicted:
            verdict = f"prior shift is not contradicted by the labels {found}"
            return f"{verdict}, which does not show that it holds"
        moved = [name for name, p in self.by_class.items() if p < 1.0 - self.level]
        where = sorted((key for key, p in self.by_group.items() if p < 1.0 - self.level), key=self.by_group.__getitem__)
        classes = f": scores of {' and '.join(moved)} rows differ between groups" if moved else ""
        groups = f", most clearly in {', '.join('/'.join(map(str, key)) for key in where[:3])}" if where else ""
        return f"prior shift is contradicted by the labels {found}{classes}{groups}"

    def heading(self) -> str:
        """The verdict."""
        return f"By the labels, {self.verdict}."

    def rows(self) -> Sequence[Row]:
        """A line per group."""
        return [
            {
                **dict(zip(self.names, map(str, key), strict=True)),
                "negatives": self.rows_of[key][0],
                "positives": self.rows_of[key][1],
                "p_value": p,
            }
            for key, p in self.by_group.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "p_value": plain(self.p_value),
            "contradicted": self.contradicted,
            "by_class": plain(dict(self.by_class)),
            "method": self.method,
            "level": self.level,
            "groups": plain([dict(row) for row in self.rows()]),
        }


def class_drift(tallies: Tallies, *, level: float = 0.95, permutations: int = 1_999, seed: Seed = 0) -> ClassDrift:
    r"""Test on labelled rows of several groups or periods whether each class's scores have one distribution in all of
    them.

    In each class scores are ranked and compared between groups by Kruskal & Wallis's H; the sum of both classes' H is
    chi-square with :math:`\sum(\text{groups} - 1)` degrees of freedom, or, where a group has fewer than five rows of a
    class, compared with permutations of the groups within the classes. Prevalence may differ freely. The test detects
    that scores lie higher or lower, not that they spread more; about thirty positives a group are needed to detect a
    shift by one standard deviation.

    Parameters
    ----------
    tallies
        Labelled tallies of two groups or more.
    level
        Confidence level of the verdict.
    permutations
        Number of permutations where a group has few rows of a class.
    seed
        Seed of the permutations.

    Returns
    -------
    ClassDrift
        p-values of all rows, by class and by group.

    Examples
    --------
    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"y": rng.random(2_000) < 0.3, "month": rng.integers(1, 5, 2_000)})
    >>> frame["p"] = rng.normal(1.5 * frame.y + 0.8 * (frame.y & (frame.month == 4)))
    >>> drift = tm.quantify.class_drift(tm.tally(frame, label="y", score="p", by="month"))
    >>> print(drift.verdict.partition(": ")[2])
    scores of True rows differ between groups, most clearly in 4

    """
    confidence = checked_level(level)
    if not isinstance(tallies, Tallies) or len(tallies) < 2 or not all(t.labelled for t in tallies.values()):
        raise InputError(
            "class_drift takes labelled tallies of two groups or more: tm.tally(frame, label='y', score='p', "
            "by='month')."
        )
    if tallies.by_model:
        if len({key[0] for key in tallies.entries}) > 1:
            raise InputError("class_drift compares groups of one model; pass the tallies of one score column.")
        tallies = Tallies(tallies.names[1:], {key[1:]: t for key, t in tallies.entries.items()}, by_model=False)
    times = checked_number(permutations, "permutations", 99)
    if any(t.weighted or t.grid is not None for t in tallies.values()):
        raise InputError(
            "class_drift ranks rows, so it takes neither weights nor cells; pass exact tallies without weights."
        )
    keys = list(tallies.entries)
    first = tallies.entries[keys[0]]
    sides = [_ranked([tallies.entries[key].runs[side] for key in keys]) for side in (0, 1)]
    h = np.array([_kruskal(ranks, codes, len(keys)) for ranks, codes in sides])
    freedom = np.array([len(np.unique(codes)) - 1 for _, codes in sides])
    thin = any(count < _FEW for _, codes in sides for count in np.bincount(codes, minlength=len(keys)))
    if thin:
        drawn = _permuted(sides, len(keys), times, seed)
        both, negative, positive = (
            (1 + int(np.count_nonzero(d >= statistic - 1e-9))) / (1 + len(d))
            for d, statistic in ((drawn.sum(axis=1), h.sum()), (drawn[:, 0], h[0]), (drawn[:, 1], h[1]))
        )
    else:
        both, negative, positive = (
            _chi_square(float(value), int(free))
            for value, free in ((h.sum(), freedom.sum()), *zip(h, freedom, strict=True))
        )
    apart = [sum(_from_the_others(ranks, codes, place) for ranks, codes in sides) for place in range(len(keys))]
    adjusted = holm(np.array([_chi_square(value, 2) for value in apart]))
    names = [str(label) for label in first.labels or ()]
    return ClassDrift(
        p_value=both,
        by_class=dict(zip(names, (min(1.0, 2.0 * p) for p in (negative, positive)), strict=True)),
        by_group=dict(zip(keys, map(float, adjusted), strict=True)),
        names=tallies.names,
        rows_of={key: (t.negative.n_rows, t.positive.n_rows) for key, t in tallies.entries.items()},
        method="permutation" if thin else "Kruskal–Wallis",
        level=confidence,
    )


def _ranked(runs: Sequence[Run]) -> tuple[Floats, Ints]:
    """Mean ranks of all rows of a class, and the group of each."""
    scores = np.concatenate([np.repeat(run.scores, run.mass) for run in runs]).astype(np.float64)
    codes = np.repeat(np.arange(len(runs)), [run.n_rows for run in runs])
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2.0)[place], codes


def _kruskal(ranks: Floats, codes: Ints, groups: int) -> float:
    """H, corrected for ties; 0 where all scores are equal or one group has all rows."""
    n = len(ranks)
    spread = float(np.var(ranks)) if n else 0.0
    if n < 2 or spread == 0.0:
        return 0.0
    sizes, sums = np.bincount(codes, minlength=groups), np.bincount(codes, ranks, groups)
    occupied = sizes > 0
    between = float(np.sum(sums[occupied] ** 2 / sizes[occupied])) - n * (n + 1) ** 2 / 4.0
    return between / spread * (n - 1) / n


def _from_the_others(ranks: Floats, codes: Ints, place: int) -> float:
    """The squared distance of one group's mean rank from the others', in standard errors; 0 where there is nothing to
    compare.
    """
    inside = codes == place
    return _kruskal(ranks, inside.astype(np.int64), 2) if inside.any() and not inside.all() else 0.0


def _permuted(sides: Sequence[tuple[Floats, Ints]], groups: int, times: int, seed: Seed) -> Floats:
    rng = np.random.default_rng(seeds(seed, 1)[0])
    return np.array([[_kruskal(ranks, rng.permutation(codes), groups) for ranks, codes in sides] for _ in range(times)])


def _chi_square(value: float, freedom: int) -> float:
    from scipy.special import chdtrc

    return 1.0 if freedom < 1 else float(chdtrc(freedom, max(value, 0.0)))
