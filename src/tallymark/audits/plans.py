"""Sampling plan of an audit (``tm.audits.plan``): which rows, and how many, to check by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from tallymark import _check
from tallymark._check import Floats, Ints
from tallymark.audits.designs import ALLOCATIONS, Layers, allocated
from tallymark.audits.plan_parts import DESIGNS, Options, called_rows, needed, planned, search
from tallymark.audits.plan_results import AuditPlan
from tallymark.audits.rate_plans import Rated, RatedRows
from tallymark.errors import InputError, UnnamedColumnError
from tallymark.inference.interval import Seed, checked_level
from tallymark.inference.resampling.parallel import seeds
from tallymark.registry import choose, require_one_of
from tallymark.sources.any_columns import any_columns
from tallymark.sources.columns import rows_by_group
from tallymark.sources.formats import Wanted, column_names
from tallymark.sources.frames import named_columns

Design = Literal["stratified", "simple", "uncertainty"]
Estimand = Literal["prevalence", "precision", "recall", "accuracy"]


@dataclass(frozen=True)
class Scored:
    """Rows to plan for: their scores, the weight of each in the estimate, and the rows of each group."""

    score: Floats
    weight: Floats
    groups: tuple[tuple[tuple[Any, ...], Ints], ...]
    #: The value to expect where it is a ratio (a recall), whose rows are the positives.
    ratio: float | None = None


@named_columns
def plan(
    data: Any,
    *,
    score: str | None = None,
    size: int | None = None,
    width: float | None = None,
    measure: Estimand = "prevalence",
    threshold: float | None = None,
    predicted: str | None = None,
    by: str | Sequence[str] | None = None,
    value: str | None = None,
    stratum: str | Sequence[str] | None = None,
    checked: str | None = None,
    pos_label: Any = None,
    design: Design = "stratified",
    allocation: str = "neyman",
    strata: int = 5,
    least: int = 2,
    level: float = 0.95,
    seed: Seed = 0,
) -> AuditPlan:
    r"""Draw the rows to check by hand: `size` of them, or as many as the interval needs to be no wider than `width`.

    Three tenths of a sample are spread evenly whatever the scores are, so that overconfident scores do less harm. The
    plan reads scores as probabilities unless something better is known; the estimate afterwards
    (``tm.audits.estimate``, with ``inclusion=``) never does. With `checked` the plan rests on the share of positives
    among the rows checked before, in strata along the score or of `stratum`, and says how many *more* rows to check.
    Without such rows, `stratum` alone, and scores that are no probabilities (outside 0 to 1, or nothing but 0 and 1),
    are planned for the worst case, a share of one half in every stratum.

    Parameters
    ----------
    data
        A dataframe or files with every row of the target.
    score
        Column of the scores.
    size, width
        Number of (further) rows to check, or the width of the interval; one of the two.
    measure
        What is estimated: the ``prevalence`` (with `value`, the share of that column's sum), at a `threshold` the
        ``precision`` (only rows predicted positive are drawn) or the ``recall``, or the ``accuracy`` of `predicted`.
    threshold
        Where the score is cut.
    predicted
        Column of predicted classes, of any number, for the ``accuracy``; its classes are the strata unless `stratum`
        says otherwise.
    by
        Columns of groups, each planned on its own: `width` holds in each, `size` is shared out between them.
    value
        Column whose sum is estimated instead of the rows.
    stratum
        Columns that make the strata.
    checked
        Column with the verdicts on rows checked before, null in all others; they count as drawn at random within
        their strata.
    pos_label
        The positive label of `checked`.
    design
        ``stratified``: strata of equal :math:`\sum\sqrt{p(1-p)}` along the score (Dalenius & Hodges 1959);
        ``uncertainty``: each row with a probability in proportion to :math:`\sqrt{p(1-p)}`; ``simple``: all alike.
    allocation
        Rows of the strata: ``neyman`` (size × deviation), ``power`` (small strata get more; Bankier 1988) or
        ``proportional``.
    strata, least
        Number of strata along the score, and the least number of checked rows of each.
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
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(0.3, 8, 20_000)
    >>> firms = pd.DataFrame({"p": p})
    >>> plan = tm.audits.plan(firms, score="p", width=0.03)
    >>> plan.size, plan.simple, len(plan.list_to_check())
    (369, 585, 369)
    >>> firms["seen"] = np.where(np.arange(20_000) % 100 == 0, rng.random(20_000) < p, np.nan)
    >>> more = tm.audits.plan(firms, score="p", width=0.03, checked="seen")
    >>> more.checked, more.size, more.basis
    (200, 641, 'the rates of the rows checked before')

    """
    require_one_of("measure", measure, ("prevalence", "precision", "recall", "accuracy"))
    draw = choose("design", design, DESIGNS)
    choose("allocation", allocation, ALLOCATIONS)
    if (size is None) == (width is None):
        raise InputError(
            "Say how many rows can be checked with size=, or how wide the interval may be with width=; one of the two."
        )
    if (measure == "accuracy") != (predicted is not None):
        raise InputError("The accuracy is that of a column of predicted classes: measure='accuracy' and predicted=.")
    if pos_label is not None and checked is None:
        raise InputError("pos_label= is the positive label of checked=; name that column, or leave pos_label= out.")
    groups, layers = column_names(by, "by="), column_names(stratum, "stratum=")
    columns = _read(data, score, predicted, checked, value, [*groups, *layers])
    least, strata = _check.whole(least, "least", 2), _check.whole(strata, "strata", 1, 1_000)
    options = Options(strata, least, allocation, checked_level(level), draw)
    if score is not None and checked is None and not layers and measure != "accuracy":
        rows = _scored(columns, score, measure, threshold, groups, value)
        if rows is not None:
            return _by_scores(rows, size, width, replace(options, ratio=rows.ratio), seed, measure, design, groups)
    if design != "stratified":
        raise InputError(
            f"A {design} design needs probabilities as scores; leave design= out, or calibrate the scores."
        )
    if groups:
        raise InputError("by= plans groups by probabilities; where there are none, name the groups with stratum=.")
    sought = RatedRows(score, threshold, predicted, value, tuple(layers), checked, pos_label, strata)
    return Rated.of(columns, sought, measure).plan(size, width, options, seed)


def _read(
    data: Any, score: str | None, predicted: str | None, checked: str | None, value: str | None, texts: Sequence[str]
) -> dict[str, Any]:
    """The columns that a plan names."""
    wanted = [Wanted(name, "by= or stratum=") for name in texts]
    wanted += [
        Wanted(name, option, "number") for name, option in ((score, "score="), (value, "value=")) if name is not None
    ]
    wanted += [
        Wanted(name, option, "class")
        for name, option in ((predicted, "predicted="), (checked, "checked="))
        if name is not None
    ]
    if not wanted:
        raise UnnamedColumnError(
            "Name the scores with score=, strata with stratum=, or predicted classes with predicted=."
        )
    return any_columns(data, wanted)


def _by_scores(
    rows: Scored,
    size: int | None,
    width: float | None,
    options: Options,
    seed: Seed,
    measure: str,
    design: str,
    groups: Sequence[str],
) -> AuditPlan:
    """A plan that reads scores as probabilities."""
    if groups and measure == "recall":
        raise InputError("A recall is planned for all rows together; leave by= out, or plan for each group on its own.")
    sizes = _sizes(rows, size, width, options)
    inclusion, stratum = np.zeros(len(rows.score)), np.full(len(rows.score), -1, dtype=np.int64)
    drawn, table, expected, simple = [], [], {}, 0
    for (key, members), rows_of_group, group_seed in zip(
        rows.groups, sizes, seeds(seed, len(rows.groups)), strict=True
    ):
        part = planned(rows.score[members], rows.weight[members], rows_of_group, options)
        inclusion[members], stratum[members] = part.inclusion, part.codes + stratum.max() + 1
        drawn.append(members[part.draw(np.random.default_rng(group_seed))])
        expected[key] = part.expected(options.level)
        named = dict(zip(groups, key, strict=True))
        table += [{**named, **line} for line in part.table(int(stratum[members].min()))]
        simple += needed(
            rows.score[members], rows.weight[members], expected[key][2] - expected[key][1], options.level, rows.ratio
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
        level=options.level,
        by=tuple(groups),
    )


def _scored(
    columns: Mapping[str, Any], score: str, measure: str, threshold: float | None, by: Sequence[str], value: str | None
) -> Scored | None:
    """Scores that can be read as probabilities; None for others, which are planned for the worst case."""
    p = np.asarray(_check.scores(columns[score], score), dtype=np.float64)
    if p.min() < 0.0 or p.max() > 1.0 or only_verdicts(p):
        return None
    kept, weight, recall = np.ones(len(p), dtype=np.bool_), np.ones(len(p)), None
    if value is not None:
        weight = _check.weights(columns[value], value)
        weight = weight / weight.mean()
    if measure != "prevalence":
        called = called_rows(p, measure, threshold)
        if measure == "precision":
            kept = called
        else:
            # A positive row moves the recall R by 1 - R where it is predicted positive, and by -R where it is not.
            recall = float(p[called].sum() / p.sum())
            weight = np.asarray((called - recall) * len(p) / float(p.sum()))
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


def _sizes(rows: Scored, size: int | None, width: float | None, options: Options) -> list[int]:
    """How many rows of each group are checked."""
    groups = [members for _, members in rows.groups]
    if not groups:
        raise InputError("No row is left to plan for; check the threshold and the condition.")
    if width is not None:
        wide = _check.probability(width, "width")
        return [search(rows.score[g], rows.weight[g], wide, options) for g in groups]
    total = _check.whole(size, "size", options.least)
    if total < options.least * len(groups):
        raise InputError(
            f"size = {total} is too few for {len(groups)} groups of at least {options.least} checked rows each; raise "
            "it, or leave by= out."
        )
    available = sum(map(len, groups))
    if total > available:
        raise InputError(f"size is {total}, but there are only {available} rows to check.")
    # Between groups by the square root of their size, so that small ones are not left with nothing.
    codes = np.concatenate([np.full(len(g), place) for place, g in enumerate(groups)])
    order = np.concatenate(groups)
    return [
        int(k)
        for k in allocated(Layers.of(codes, rows.score[order], rows.weight[order]), total, options.least, "power")
    ]
