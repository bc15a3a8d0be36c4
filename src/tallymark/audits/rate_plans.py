"""Audit plans by strata with an expected share each: from rows checked before, or the worst case of one half."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Bools, Floats, Ints
from tallymark.audits.checked_rows import without_verdict
from tallymark.audits.designs import Layers, allocated, drawn_within
from tallymark.audits.plan_parts import Options, Part, called_rows, search, simple
from tallymark.audits.plan_results import RATES, WORST, AuditPlan
from tallymark.errors import InputError
from tallymark.inference.interval import Seed
from tallymark.inference.resampling.parallel import seeds
from tallymark.sources.columns import rows_by_group


@dataclass(frozen=True)
class RatedRows:
    """The columns that make strata, and those with the verdicts on rows checked before."""

    score: str | None
    threshold: float | None
    predicted: str | None
    value: str | None
    stratum: tuple[str, ...]
    checked: str | None
    pos_label: Any
    #: Number of strata along the score.
    strata: int


@dataclass(frozen=True, eq=False)
class Rated:
    """Rows in strata with an expected share each: from rows checked before, or one half."""

    measure: str
    #: Places of the rows that belong to the plan; the columns below are of these.
    members: Ints
    codes: Ints
    names: tuple[str, ...]
    checked: Bools
    weight: Floats
    #: Expected share of each stratum.
    rates: Floats
    #: The scores of all rows.
    scores: Floats

    @classmethod
    def of(cls, columns: Mapping[str, Any], sought: RatedRows, measure: str) -> Rated:
        """Rows in strata by column, by predicted class, or along the score."""
        if measure == "recall":
            raise InputError(
                "A recall is planned by probabilities alone; calibrate the scores first (tm.calibration.calibrate)."
            )
        rows = len(next(iter(columns.values())))
        scores = np.zeros(rows)
        if sought.score is not None:
            scores = np.asarray(_check.scores(columns[sought.score], sought.score), np.float64)
        kept = called_rows(scores, measure, sought.threshold) if measure == "precision" else np.ones(rows, np.bool_)
        members = np.flatnonzero(kept)
        codes, names = _strata(columns, sought, scores, members)
        seen, positive = (column[members] for column in _verdicts(columns, sought, rows))
        weight = np.ones(rows) if sought.value is None else _check.weights(columns[sought.value], sought.value)
        positives, checks = (np.bincount(codes, column, len(names)) for column in (positive, seen))
        return cls(
            measure=measure,
            members=members,
            codes=codes,
            names=names,
            checked=seen,
            weight=weight[members] / weight[members].mean(),
            # One positive and one negative more (Laplace), so that a pilot of few rows is not taken for certain.
            rates=(positives + 1.0) / (checks + 2.0),
            scores=scores,
        )

    def plan(self, size: int | None, width: float | None, options: Options, seed: Seed) -> AuditPlan:
        """Rows to check besides those that were."""
        already = int(self.checked.sum())
        free = len(self.members) - already
        needed = int(np.minimum(np.bincount(self.codes), options.least).sum()) - already
        if width is None and size is not None and size < needed:
            raise InputError(
                f"size is {size}, and {options.least} rows of each of {len(self.names)} strata (least=) are {needed} "
                "more; raise size=, or lower least=."
            )
        if width is None:
            more = _check.whole(size, "size", 1)
            if more > free:
                raise InputError(f"size is {more}, but there are only {free} rows that were not checked.")
        else:
            wide = _check.probability(width, "width")
            few, more = 0, free
            while few < more:
                middle = (few + more) // 2
                _, low, high = self._part(already + middle, options).expected(options.level)
                few, more = (few, middle) if high - low <= wide else (middle + 1, more)
        part = self._part(already + more, options)
        before = np.bincount(self.codes, self.checked, len(part.taken)).astype(np.int64)
        open_rows = np.flatnonzero(~self.checked)
        rng = np.random.default_rng(seeds(seed, 1)[0])
        drawn = open_rows[drawn_within(self.codes[open_rows], part.taken - before, rng)]
        inclusion, stratum = np.zeros(len(self.scores)), np.full(len(self.scores), -1, dtype=np.int64)
        inclusion[self.members], stratum[self.members] = part.inclusion, self.codes
        expected = part.expected(options.level)
        at_random = replace(options, draw=simple, strata=1)
        mean = np.full(len(self.members), float(self.rates[self.codes].mean()))
        return AuditPlan(
            measure=self.measure,
            design="stratified",
            drawn=np.sort(self.members[drawn]),
            inclusion=inclusion,
            stratum=stratum,
            scores=self.scores,
            strata=tuple(
                {
                    "stratum": name,
                    "rows": int((self.codes == code).sum()),
                    "checked": int(before[code]),
                    "expected_share": float(self.rates[code]),
                    "check": int(part.taken[code] - before[code]),
                }
                for code, name in enumerate(self.names)
            ),
            expected={(): expected},
            simple=search(mean, self.weight, max(expected[2] - expected[1], 1e-9), at_random),
            level=options.level,
            checked=already,
            basis=RATES if already else WORST,
        )

    def _part(self, total: int, options: Options) -> Part:
        rates = self.rates[self.codes]
        layers = Layers.of(self.codes, rates, self.weight)
        least = np.maximum(np.bincount(self.codes, self.checked), options.least).astype(np.int64)
        taken = allocated(layers, total, least, options.allocation)
        return Part(rates, self.weight, self.codes, layers, taken, (taken / layers.sizes)[self.codes])


def _strata(
    columns: Mapping[str, Any], sought: RatedRows, scores: Floats, members: Ints
) -> tuple[Ints, tuple[str, ...]]:
    """The stratum of each member of the plan, and the names of the strata."""
    named = sought.stratum or ((sought.predicted,) if sought.predicted is not None else ())
    if not named:
        codes = _along(scores[members], sought.strata)
        parts = [scores[members][codes == code] for code in range(int(codes.max()) + 1)]
        return codes, tuple(f"{part.min():g} to {part.max():g}" for part in parts)
    codes, names = np.zeros(len(members), np.int64), []
    for code, (key, rows) in enumerate(rows_by_group([_check.groups(columns[name], name)[members] for name in named])):
        codes[rows] = code
        names.append(", ".join(map(str, key)))
    return codes, tuple(names)


def _verdicts(columns: Mapping[str, Any], sought: RatedRows, rows: int) -> tuple[Bools, Bools]:
    """Which rows were checked before, and which of them are positive (or rightly predicted)."""
    positive = np.zeros(rows, np.bool_)
    if sought.checked is None:
        return np.zeros(rows, np.bool_), positive
    seen = ~without_verdict(columns[sought.checked])
    if not seen.any():
        raise InputError(f"No row has a value of {sought.checked}; leave checked= out where nothing was checked yet.")
    present = np.ma.getdata(columns[sought.checked])[seen]
    if sought.predicted is None:
        positive[seen], _ = _check.binary_labels(present, sought.pos_label, sought.checked, one_class=True)
    else:
        predicted = _check.labels(columns[sought.predicted], sought.predicted)
        positive[seen] = _check.labels(present, sought.checked) == predicted[seen]
    return seen, positive


def _along(scores: Floats, number: int) -> Ints:
    """Strata of about equal numbers of rows along the score; equal scores are in one."""
    values, counts = np.unique(scores, return_counts=True)
    # A value that many rows share is a stratum; the others are divided by their number.
    many = counts > len(scores) / number
    rest = counts * ~many
    place = np.floor((np.cumsum(rest) - rest / 2.0) / max(rest.sum(), 1) * number).clip(max=number - 1)
    codes = np.cumsum(np.r_[False, (place[1:] != place[:-1]) | many[1:] | many[:-1]])
    return np.asarray(codes[np.searchsorted(values, scores)])
