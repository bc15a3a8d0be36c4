"""Sampling plan of an audit (``tm.audits.plan``): which rows, and how many, to check by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from tallymark import _check
from tallymark._check import Bools, Floats, Ints
from tallymark._display import Row, Shown, frame, plain
from tallymark._numbers import amount, noun, number, share_of_rows
from tallymark.audits.designs import (
    ALLOCATIONS,
    Layers,
    allocated,
    chances,
    cut_strata,
    doubt,
    drawn_by,
    drawn_within,
)
from tallymark.audits.shares import effective_limits
from tallymark.errors import InputError
from tallymark.inference.interval import Seed, checked_level
from tallymark.inference.resampling.parallel import seeds
from tallymark.registry import choose, require_one_of
from tallymark.sources.any_columns import any_columns
from tallymark.sources.columns import rows_by_group
from tallymark.sources.formats import Wanted, column_names
from tallymark.sources.frames import named_columns

Design = Literal["stratified", "simple", "uncertainty"]
Estimand = Literal["prevalence", "precision", "recall"]


@dataclass(frozen=True)
class Scored:
    """Rows to plan for: their scores, the weight of each in the estimate, and the rows of each group."""

    score: Floats
    weight: Floats
    groups: tuple[tuple[tuple[Any, ...], Ints], ...]
    #: The value to expect where it is a ratio (a recall), whose rows are the positives.
    ratio: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class AuditPlan(Shown):
    """Rows to check by hand, their inclusion probabilities, and the interval to expect.

    `drawn` are the places of the rows to check, in order; `inclusion` and `stratum` belong to every row of the data (0
    and -1 for rows outside of the plan). `expected` has the estimate and limits to expect if the scores are right, by
    group where there are groups; `simple` is how many rows a simple random sample would need for the same width.
    """

    measure: str
    design: str
    drawn: Ints
    inclusion: Floats
    stratum: Ints
    scores: Floats
    strata: tuple[Row, ...]
    expected: Mapping[tuple[Any, ...], tuple[float, float, float]]
    simple: int
    level: float
    by: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """How many rows are to be checked."""
        return len(self.drawn)

    @property
    def saved(self) -> int:
        """Rows saved against a simple random sample of the same width."""
        return max(self.simple - self.n, 0)

    def list_to_check(self) -> Any:
        """The drawn rows as a dataframe: place in the data, score, stratum and inclusion probability."""
        return frame(self.columns())

    def columns(self) -> dict[str, Any]:
        """The same as arrays."""
        return {
            "row": self.drawn,
            "score": self.scores[self.drawn],
            "stratum": self.stratum[self.drawn],
            "inclusion": self.inclusion[self.drawn],
        }

    def _share(self, value: float) -> str:
        return number(share_of_rows(value, len(self.scores)))

    def heading(self) -> str:
        """How many, and what to expect of it."""
        parts = [
            f"{', '.join(f'{name} {value}' for name, value in zip(self.by, key, strict=True)) or self.measure} "
            f"{self._share(value)} ({self._share(low)} to {self._share(high)})"
            for key, (value, low, high) in self.expected.items()
        ]
        how = f"; a simple random sample would need {self.simple} for the same width" if self.saved else ""
        more = f" and {len(parts) - 4} more" if len(parts) > 4 else ""
        total = float(self.scores.sum())
        doubt = (
            " The scores leave hardly a row to be positive; if that is not so, calibrate them before you plan."
            if total < 1.0
            else ""
        )
        return (
            f"Check {self.n} {noun(self.n, 'row')} ({self.design} sample){how}. If the scores are right probabilities "
            f"(they add up to {amount(round(total, 2))} positives among {len(self.scores)} rows), expect "
            f"{'; '.join(parts[:4])}{more} at {100 * self.level:g} %.{doubt}"
        )

    def rows(self) -> Sequence[Row]:
        """A line per stratum."""
        return self.strata

    def to_dict(self) -> dict[str, Any]:
        """Plain values, with the list of rows."""
        return {
            "measure": self.measure,
            "design": self.design,
            "n": self.n,
            "simple": self.simple,
            "saved": self.saved,
            "level": self.level,
            "expected": [
                {"group": dict(zip(self.by, plain(key), strict=True)) or None, "value": v, "low": a, "high": b}
                for key, (v, a, b) in self.expected.items()
            ],
            "strata": plain([dict(row) for row in self.strata]),
            "sample": plain(
                [dict(zip(self.columns(), line, strict=True)) for line in zip(*self.columns().values(), strict=True)]
            ),
        }


@named_columns
def plan(
    data: Any,
    *,
    score: str,
    n: int | None = None,
    width: float | None = None,
    measure: Estimand = "prevalence",
    threshold: float | None = None,
    by: str | Sequence[str] | None = None,
    value: str | None = None,
    design: Design = "stratified",
    allocation: str = "neyman",
    strata: int = 5,
    least: int = 2,
    level: float = 0.95,
    seed: Seed = 0,
) -> AuditPlan:
    r"""Draw the rows to check by hand: `n` of them, or as many as the interval needs to be no wider than `width`.

    Three tenths of a sample are spread evenly whatever the scores are, so that overconfident scores do less harm. The
    plan reads scores as probabilities; the estimate afterwards (``tm.audits.from_audit`` and ``tm.audits.estimate``,
    with ``inclusion=``) does not.

    Parameters
    ----------
    data
        A dataframe or files with every row of the target.
    score
        Column of the probabilities.
    n, width
        Number of rows to check, or the width of the interval; one of the two.
    measure
        What is estimated: the ``prevalence`` (with `value`, the share of that column's sum), or at a `threshold` the
        ``precision`` (only rows predicted positive are drawn) or the ``recall``.
    threshold
        Where the score is cut.
    by
        Columns of groups, each planned on its own: `width` holds in each, `n` is shared out between them.
    value
        Column whose sum is estimated instead of the rows.
    design
        ``stratified``: strata of equal :math:`\sum\sqrt{p(1-p)}` along the score (Dalenius & Hodges 1959);
        ``uncertainty``: each row with a probability in proportion to :math:`\sqrt{p(1-p)}`; ``simple``: all alike.
    allocation
        Rows of the strata: ``neyman`` (size × deviation), ``power`` (small strata get more; Bankier 1988) or
        ``proportional``.
    strata, least
        Number of strata, and the least number of checked rows of each.
    level
        Confidence level of the interval.
    seed
        Seed of the draw.

    Returns
    -------
    AuditPlan
        The drawn rows, inclusion probabilities and strata of all rows, and the interval to expect.

    Examples
    --------
    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> p = np.random.default_rng(0).beta(0.3, 8, 20_000)
    >>> plan = tm.audits.plan(pd.DataFrame({"p": p}), score="p", width=0.03)
    >>> plan.n, plan.simple, len(plan.list_to_check())
    (369, 585, 369)

    """
    require_one_of("measure", measure, ("prevalence", "precision", "recall"))
    draw = choose("design", design, _DESIGNS)
    choose("allocation", allocation, ALLOCATIONS)
    if (n is None) == (width is None):
        raise InputError(
            "Say how many rows can be checked with n=, or how wide the interval may be with width=; one of the two."
        )
    confidence = checked_level(level)
    groups = column_names(by, "by=")
    if groups and measure == "recall":
        raise InputError("A recall is planned for all rows together; leave by= out, or plan for each group on its own.")
    wanted = [
        Wanted(score, "score=", "number"),
        *(Wanted(name, "by=") for name in groups),
        *([] if value is None else [Wanted(value, "value=", "number")]),
    ]
    columns = any_columns(data, wanted)
    rows = _scored(columns, score, measure, threshold, groups, value)
    options = _Options(
        _check.whole(strata, "strata", 1, 1_000),
        _check.whole(least, "least", 2),
        allocation,
        confidence,
        draw,
        rows.ratio,
    )
    sizes = _sizes(rows, n, width, options)
    inclusion, stratum = np.zeros(len(rows.score)), np.full(len(rows.score), -1, dtype=np.int64)
    drawn, table, expected, simple = [], [], {}, 0
    for (key, members), size, group_seed in zip(rows.groups, sizes, seeds(seed, len(rows.groups)), strict=True):
        part = _planned(rows.score[members], rows.weight[members], size, options)
        inclusion[members], stratum[members] = part.inclusion, part.codes + stratum.max() + 1
        drawn.append(members[part.draw(np.random.default_rng(group_seed))])
        expected[key] = part.expected(confidence)
        named = dict(zip(groups, key, strict=True))
        table += [{**named, **line} for line in part.table(int(stratum[members].min()))]
        simple += _needed(
            rows.score[members], rows.weight[members], expected[key][2] - expected[key][1], confidence, rows.ratio
        )
    return AuditPlan(
        measure=measure,
        design=design,
        drawn=np.sort(np.concatenate(drawn)),
        inclusion=inclusion,
        stratum=stratum,
        scores=rows.score,
        strata=tuple(table),
        expected=expected,
        simple=simple,
        level=confidence,
        by=tuple(groups),
    )


def _scored(
    columns: Mapping[str, Any], score: str, measure: str, threshold: float | None, by: Sequence[str], value: str | None
) -> Scored:
    p = np.asarray(_check.scores(columns[score], score), dtype=np.float64)
    if p.min() < 0.0 or p.max() > 1.0:
        raise InputError(
            f"{score} runs from {p.min():g} to {p.max():g}; a plan reads scores as probabilities, so calibrate them "
            "first (tallymark calibrate, tm.calibration.calibrate)."
        )
    kept, weight, recall = np.ones(len(p), dtype=np.bool_), np.ones(len(p)), None
    if value is not None:
        weight = _check.weights(columns[value], value)
        weight = weight / weight.mean()
    if measure != "prevalence":
        called = _called(p, measure, threshold)
        if measure == "precision":
            kept = called
        else:
            # A positive row moves the recall R by 1 - R where it is predicted positive, and by -R where it is not.
            recall = float(p[called].sum() / p.sum())
            weight = np.asarray((called - recall) * len(p) / float(p.sum()))
    if only_verdicts(p):
        raise InputError(
            f"{score} holds nothing but 0 and 1, like the verdicts of a judge; a plan would take them for certain and "
            "check next to nothing. Check a few hundred rows drawn at random, turn the verdicts into probabilities by "
            "them (tallymark calibrate, tm.calibration.calibrate), and plan with these; or plan with the score behind "
            "the verdicts."
        )
    keys = [_check.groups(columns[name], name) for name in by]
    grouped = []
    for key, rows in rows_by_group(keys) if keys else [((), np.arange(len(p)))]:
        members = np.asarray(rows)[kept[rows]]
        if len(members):
            grouped.append((key, members))
    if value is not None and any(not weight[members].any() for _, members in grouped):
        raise InputError(f"{value} is 0 in every row of a group; leave that group out.")
    return Scored(p, weight, tuple(grouped), recall)


def only_verdicts(scores: Floats) -> bool:
    """Whether all scores are 0 or 1, verdicts that claim to be certain."""
    return bool(np.isin(scores, (0.0, 1.0)).all())


def _called(p: Floats, measure: str, threshold: float | None) -> Bools:
    """The rows that are predicted positive; refused where there is nothing to plan for."""
    if threshold is None:
        raise InputError(f"The {measure} belongs to a threshold; say which with threshold=.")
    called = p >= _check.real(threshold, "threshold")
    if not called.any():
        raise InputError(f"No row has a score of {threshold!r} or more, so nothing is called positive.")
    if measure == "recall" and (called.all() or not p.any()):
        raise InputError(
            "Every row is called positive, or every score is 0: there is no recall to plan for at this threshold."
        )
    return np.asarray(called)


@dataclass(frozen=True)
class _Options:
    strata: int
    least: int
    allocation: str
    level: float
    draw: Callable[..., _Part]
    ratio: float | None = None


@dataclass(frozen=True)
class _Part:
    """One group's plan."""

    score: Floats
    weight: Floats
    codes: Ints
    layers: Layers
    taken: Ints
    inclusion: Floats
    by_chance: bool = False
    ratio: float | None = None

    def draw(self, rng: np.random.Generator) -> Ints:
        return drawn_by(self.inclusion, rng) if self.by_chance else drawn_within(self.codes, self.taken, rng)

    @property
    def variance(self) -> float:
        if not self.by_chance:
            return self.layers.variance(self.taken.astype(np.float64))
        p = np.clip(self.score, 0.001, 0.999)
        return float(((1.0 - self.inclusion) / self.inclusion * p * (1.0 - p) * self.weight**2).sum()) / len(p) ** 2

    def expected(self, level: float) -> tuple[float, float, float]:
        checked = int(self.taken.sum())
        positives = round(float(self.inclusion @ self.score))
        mean = float((self.score * self.weight).sum() / self.weight.sum()) if self.ratio is None else self.ratio
        if (self.inclusion >= 1.0).all():
            return mean, mean, mean
        if self.ratio is None:
            return mean, *effective_limits(mean, self.variance, checked, min(positives, checked), float(checked), level)
        # A share of the positives: these are the rows it rests on.
        rows = max(positives, 2)
        return mean, *effective_limits(mean, self.variance, rows, round(mean * rows), float(rows), level)

    def table(self, first: int) -> list[Row]:
        lines: list[Row] = []
        for code in range(len(self.taken)):
            scores = self.score[self.codes == code]
            lines.append(
                {
                    "stratum": first + code,
                    "score_from": float(scores.min()),
                    "score_to": float(scores.max()),
                    "rows": len(scores),
                    "expected_share": float(scores.mean()),
                    "check": int(self.taken[code]),
                }
            )
        return lines


def _planned(score: Floats, weight: Floats, n: int, options: _Options) -> _Part:
    return replace(options.draw(score, weight, n, options), ratio=options.ratio)


def _stratified(score: Floats, weight: Floats, n: int, options: _Options) -> _Part:
    # No more strata than `least` rows can be had of each.
    codes = cut_strata(score, max(1, min(options.strata, n // options.least)))
    layers = Layers.of(codes, score, weight)
    taken = allocated(layers, min(n, len(score)), options.least, options.allocation)
    return _Part(score, weight, codes, layers, taken, (taken / layers.sizes)[codes])


def _simple(score: Floats, weight: Floats, n: int, options: _Options) -> _Part:  # noqa: ARG001 - as the other designs
    codes = np.zeros(len(score), dtype=np.int64)
    taken = np.array([min(n, len(score))])
    return _Part(
        score, weight, codes, Layers.of(codes, score, weight), taken, np.full(len(score), taken[0] / len(score))
    )


def _uncertain(score: Floats, weight: Floats, n: int, options: _Options) -> _Part:  # noqa: ARG001
    codes = np.zeros(len(score), dtype=np.int64)
    taken = np.array([min(n, len(score))])
    chance = chances(doubt(score) * np.abs(weight), int(taken[0]))
    return _Part(score, weight, codes, Layers.of(codes, score, weight), taken, chance, by_chance=True)


_DESIGNS: Mapping[str, Callable[..., _Part]] = {"stratified": _stratified, "simple": _simple, "uncertainty": _uncertain}


def _sizes(rows: Scored, n: int | None, width: float | None, options: _Options) -> list[int]:
    """How many rows of each group are checked."""
    groups = [members for _, members in rows.groups]
    if not groups:
        raise InputError("No row is left to plan for; check the threshold and the condition.")
    if width is not None:
        wide = _check.probability(width, "width")
        return [_search(rows.score[g], rows.weight[g], wide, options) for g in groups]
    total = _check.whole(n, "n", options.least)
    if total < options.least * len(groups):
        raise InputError(
            f"n = {total} is too few for {len(groups)} groups of at least {options.least} checked rows each; raise it, "
            "or leave by= out."
        )
    available = sum(map(len, groups))
    if total > available:
        raise InputError(f"n is {total}, but there are only {available} rows to check.")
    # Between groups by the square root of their size, so that small ones are not left with nothing.
    codes = np.concatenate([np.full(len(g), place) for place, g in enumerate(groups)])
    order = np.concatenate(groups)
    return [
        int(k)
        for k in allocated(Layers.of(codes, rows.score[order], rows.weight[order]), total, options.least, "power")
    ]


def _search(score: Floats, weight: Floats, width: float, options: _Options) -> int:
    """The least number of rows whose expected interval is no wider than `width`."""
    few, many = min(options.least, len(score)), len(score)
    while few < many:
        middle = (few + many) // 2
        _, low, high = _planned(score, weight, middle, options).expected(options.level)
        few, many = (few, middle) if high - low <= width else (middle + 1, many)
    return many


def _needed(score: Floats, weight: Floats, width: float, level: float, ratio: float | None) -> int:
    """Rows that a simple random sample needs for an interval as wide."""
    return _search(score, weight, width, _Options(1, 2, "proportional", level, _simple, ratio))
