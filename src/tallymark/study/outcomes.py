"""Results of studies: losses by data set, prevalence and method; mean ranks; tests; pairwise comparisons."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tallymark._check import Floats
from tallymark._display import Row, Shown, plain
from tallymark.errors import InputError, shown
from tallymark.inference.hypothesis_tests.ranks import ranked
from tallymark.registry import LOSSES
from tallymark.study import rank_tests
from tallymark.study.method_table import MethodTable
from tallymark.study.rank_tests import TestResult
from tallymark.study.stores import Cell, loss_of

#: Columns of a loss over data sets and prevalences, and the share of the values that lies below each.
_QUARTILES = {"least": 0.0, "lower_quartile": 0.25, "median": 0.5, "upper_quartile": 0.75, "largest": 1.0}

#: Decimals to which prevalences are equal.
_DECIMALS = 6


@dataclass(frozen=True, eq=False, repr=False)
class Ranks(Shown):
    """Mean ranks of methods, after Barranquero (2014).

    Methods are ranked at every prevalence of a data set; the mean ranks are ranked again and averaged over data sets.
    `table` has the final ranks, a line per data set.
    """

    loss: str
    table: MethodTable
    means: Mapping[str, float]

    def heading(self) -> str:
        """What was ranked."""
        size = f"{len(self.table.methods)} methods, {len(self.table.datasets)} data sets"
        return f"Mean ranks by {self.loss}: {size}, 1 is best"

    def rows(self) -> Sequence[Row]:
        """Methods, best first."""
        return [
            {"method": name, "mean_rank": rank} for name, rank in sorted(self.means.items(), key=lambda one: one[1])
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"loss": self.loss, "n": len(self.table.datasets), "mean_ranks": plain(dict(self.means))}


@dataclass(frozen=True, eq=False, repr=False)
class StudyTest(Shown):
    """Tests of a study's ranks: Friedman, Iman–Davenport, and Nemenyi of all pairs."""

    loss: str
    friedman: TestResult
    iman_davenport: TestResult
    nemenyi: TestResult

    @property
    def statistic(self) -> float:
        """Friedman's."""
        return self.friedman.statistic

    @property
    def p_value(self) -> float:
        """Friedman's."""
        return self.friedman.p_value

    @property
    def critical_difference(self) -> float:
        """Nemenyi's, of mean ranks."""
        return self.nemenyi.critical_difference or math.nan

    def beaten(self) -> dict[str, tuple[str, ...]]:
        """For each method the methods that it is significantly better than, by Nemenyi's test."""
        means = self.nemenyi.mean_ranks
        wins: dict[str, list[str]] = {name: [] for name in means}
        for pair in self.nemenyi.pairs:
            if pair["differ"]:
                better, worse = sorted((pair["first"], pair["second"]), key=lambda name: means[name])
                wins[better].append(worse)
        return {name: tuple(listed) for name, listed in wins.items()}

    def heading(self) -> str:
        """The tests in two lines."""
        first, second = self.friedman, self.iman_davenport
        alpha = 100 * (1 - self.nemenyi.level)
        return (
            f"By {self.loss}, {first.n} data sets: Friedman {first.statistic:.3f} (p = {first.p_value:.3g}), "
            f"Iman–Davenport {second.statistic:.3f} (p = {second.p_value:.3g})\n"
            f"Nemenyi: mean ranks that differ by {self.critical_difference:.3f} or more differ at {alpha:g} %"
        )

    def rows(self) -> Sequence[Row]:
        """Methods, best first, and those that each is better than."""
        wins = self.beaten()
        return [
            {"method": name, "mean_rank": rank, "better_than": ", ".join(wins[name])}
            for name, rank in sorted(self.nemenyi.mean_ranks.items(), key=lambda one: one[1])
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        parts = {name: getattr(self, name).to_dict() for name in ("friedman", "iman_davenport", "nemenyi")}
        return {"loss": self.loss, **parts, "better_than": plain(self.beaten())}


@dataclass(frozen=True, eq=False, repr=False)
class Pairwise(Shown):
    """A method compared with each other one over data sets and prevalences: wins, losses, ties and mean difference.

    `difference` is the other method's mean loss minus the pivot's, in points (MDAE of Barranquero 2014 for ``ae``).
    """

    loss: str
    pivot: str
    lines: tuple[Mapping[str, Any], ...]

    def heading(self) -> str:
        """What is compared."""
        return f"{self.pivot} beside the others by {self.loss}: wins, losses and ties over data sets and prevalences"

    def rows(self) -> Sequence[Row]:
        """A line per method, or per method and prevalence."""
        return [dict(line) for line in self.lines]


@dataclass(frozen=True, eq=False, repr=False)
class StudyResults(Shown):
    """Every finished cell of a study, in the order of its plan."""

    name: str
    losses: tuple[str, ...]
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    cells: tuple[Cell, ...]
    failed: tuple[Cell, ...] = ()
    unfinished: int = 0
    skipped: Mapping[str, str] | None = None

    def lines(self) -> Iterator[Row]:
        """A line per data set, fold, sample and method: nominal and drawn prevalence, estimate, and losses."""
        facts = {name: LOSSES[name] for name in self.losses}
        for cell in self.cells:
            values = {name: loss_of(cell, loss) for name, loss in facts.items()}
            for place in range(len(cell.sizes)):
                yield {
                    "dataset": cell.dataset,
                    "fold": cell.fold,
                    "sample": place,
                    "nominal": _share(cell.nominal[place]),
                    "prevalence": _share(cell.drawn[place]),
                    "size": int(cell.sizes[place]),
                    "method": cell.method,
                    "estimate": _share(cell.estimates[place]) if cell.estimates is not None else None,
                    **{name: float(line[place]) for name, line in values.items()},
                }

    def heading(self) -> str:
        """Numbers of methods, data sets and cells."""
        rest = f", {len(self.failed)} failed" if self.failed else ""
        rest += f", {self.unfinished} not run" if self.unfinished else ""
        rest += f"; skipped: {', '.join(self.skipped)}" if self.skipped else ""
        size = f"{len(self.methods)} methods, {len(self.datasets)} data sets"
        return f"Study {self.name}: {size}, {len(self.cells)} cells finished{rest}"

    def rows(self) -> Sequence[Row]:
        """Mean rank by each loss, best first, and the quartiles of the loss over data sets and prevalences.

        Losses are not averaged over prevalences, where they are not of one size.
        """
        return [row for loss in self.losses for row in self._by_rank(loss)]

    def _by_rank(self, loss: str) -> list[Row]:
        try:
            means: Mapping[str, float] = self.ranks(loss).means
        except InputError:
            # Not every method has a cell yet, or the loss has no best end.
            means = dict.fromkeys(self.methods, math.nan)
        errors, lines = self.errors(loss), []
        for place, name in enumerate(self.methods):
            finite = errors[:, :, place][np.isfinite(errors[:, :, place])]
            ends = np.quantile(finite, list(_QUARTILES.values())) if len(finite) else [math.nan] * len(_QUARTILES)
            quartiles = dict(zip(_QUARTILES, map(float, ends), strict=True))
            lines.append({"loss": loss, "method": name, "mean_rank": means[name], **quartiles})
        return sorted(lines, key=lambda row: row["mean_rank"])

    def to_frame(self) -> Any:
        """All lines as a dataframe."""
        from tallymark._display import columns_of, frame

        return frame(columns_of(list(self.lines())))

    @cached_property
    def prevalences(self) -> tuple[float, ...]:
        """Nominal prevalences, ascending; for more than two classes the indices of the samples."""
        if any(cell.nominal.ndim > 1 for cell in self.cells):
            return tuple(float(place) for place in range(max(len(cell.sizes) for cell in self.cells)))
        return tuple(sorted({round(float(v), _DECIMALS) for cell in self.cells for v in cell.nominal}))

    def errors(self, loss: str) -> Floats:
        """Losses averaged over folds: data set × prevalence × method, nan where a cell is missing."""
        facts = LOSSES[loss]
        places = {value: place for place, value in enumerate(self.prevalences)}
        total = np.zeros((len(self.datasets), len(places), len(self.methods)))
        times = np.zeros_like(total)
        for cell in self.cells:
            values = loss_of(cell, facts)
            at = [
                places[float(p) if cell.nominal.ndim > 1 else round(float(v), _DECIMALS)]
                for p, v in enumerate(cell.nominal)
            ]
            where = (self.datasets.index(cell.dataset), at, self.methods.index(cell.method))
            np.add.at(total, where, values)
            np.add.at(times, where, 1.0)
        return np.asarray(np.divide(total, times, out=np.full(total.shape, math.nan), where=times > 0.0))

    def table(self, loss: str) -> MethodTable:
        """Mean losses over folds and prevalences; tests use :meth:`ranks`."""
        means = np.array([[_mean_of(line) for line in per.T] for per in self.errors(loss)])
        return MethodTable(self.datasets, self.methods, means, _better(loss))

    def ranks(self, loss: str) -> Ranks:
        """Mean ranks: methods ranked at every prevalence, averaged, ranked again per data set."""
        errors = self.errors(loss)
        higher = _better(loss) == "higher"
        final = np.full((len(self.datasets), len(self.methods)), math.nan)
        for line, per in enumerate(errors):
            kept = per[~np.isnan(per).any(axis=1)]
            if len(kept):
                # Rounded, because sums over folds differ in their last bits.
                means = ranked(np.round(kept, 12), higher_is_better=higher).mean(axis=0)
                final[line] = ranked(np.round(means, 12)[None], higher_is_better=False)[0]
        table = MethodTable(self.datasets, self.methods, final)
        whole = table.complete
        if len(whole.datasets) < 1:
            raise InputError("No data set has a finished cell of every method; run the study to its end.")
        return Ranks(loss, table, dict(zip(self.methods, map(float, whole.values.mean(axis=0)), strict=True)))

    def test(self, loss: str, *, level: float = 0.95) -> StudyTest:
        """Friedman, Iman–Davenport and Nemenyi on the final ranks; N is the number of data sets."""
        table = self.ranks(loss).table
        return StudyTest(
            loss, rank_tests.friedman(table), rank_tests.iman_davenport(table), rank_tests.nemenyi(table, level=level)
        )

    def pairwise(self, pivot: str, loss: str = "ae", *, by_prevalence: bool = False) -> Pairwise:
        """A method compared with every other one; losses within 1e-12 are ties."""
        if pivot not in self.methods:
            raise InputError(f"No method {pivot!r}; the study has {shown(self.methods)}.")
        errors = self.errors(loss)
        of_pivot = errors[:, :, self.methods.index(pivot)]
        sign = 1.0 if _better(loss) == "lower" else -1.0
        lines: list[Row] = []
        for place, name in enumerate(self.methods):
            if name == pivot:
                continue
            gap = sign * (errors[:, :, place] - of_pivot)
            if by_prevalence:
                lines += [
                    {"method": name, "prevalence": float(f"{share:g}"), **_wins(gap[:, column])}
                    for column, share in enumerate(self.prevalences)
                ]
            else:
                lines.append({"method": name, **_wins(gap)})
        return Pairwise(loss, pivot, tuple(lines))

    def to_dict(self) -> dict[str, Any]:
        """Plain values: how much there is, ranks and quartiles of the losses, failures."""
        failed = [{"dataset": c.dataset, "fold": c.fold, "method": c.method, "error": c.error} for c in self.failed]
        return {
            "name": self.name,
            "datasets": list(self.datasets),
            "methods": list(self.methods),
            "cells": len(self.cells),
            "unfinished": self.unfinished,
            "skipped": dict(self.skipped or {}),
            "losses": plain(list(self.rows())),
            "failed": failed,
        }


def _wins(gap: Floats) -> dict[str, Any]:
    """Wins, losses and ties of a method whose losses are smaller by `gap`, and the mean gap in points."""
    finite = gap[np.isfinite(gap)]
    wins, losses = int((finite > 1e-12).sum()), int((finite < -1e-12).sum())
    return {
        "wins": wins,
        "losses": losses,
        "ties": len(finite) - wins - losses,
        "dwl": wins - losses,
        "difference": 100.0 * _mean_of(finite),
    }


def _better(loss: str) -> str:
    better = LOSSES[loss].better
    if better not in {"lower", "higher"}:
        raise InputError(f"{loss} has no best end to rank by; take one such as ae.")
    return better


def _mean_of(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else math.nan


def _share(value: Any) -> Any:
    """The share of the last of two classes, or those of all classes as text."""
    array = np.atleast_1d(value)
    if len(array) <= 2:
        return float(array[-1])
    return " ".join(repr(float(one)) for one in array)
