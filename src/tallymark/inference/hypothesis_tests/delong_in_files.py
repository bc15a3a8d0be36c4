"""DeLong's covariance of models in files, by queries over cells of scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tallymark._check import Floats
from tallymark.errors import InputError
from tallymark.inference.hypothesis_tests.delong import DeLong
from tallymark.inference.limits.rank_effects import auroc_effect
from tallymark.metrics.bounds import bound
from tallymark.metrics.ranking import auroc_of
from tallymark.sources.cell_queries import key_of
from tallymark.sources.open_rows import Table
from tallymark.summaries.run import grouped_at
from tallymark.summaries.score_grid import cell_key
from tallymark.summaries.sorting import starts_of_groups
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally


def delong_in_files(table: Table) -> tuple[DeLong, dict[str, float], Tallies]:
    """AUROCs and their covariance, the bound of the error of each AUROC, and the tallies.

    Tallies in a first pass; in a second, sums of products of each row's placements, looked up by the cells of its
    scores.
    """
    tallies = table.tallies(exact=False)
    lookups, slack, aurocs = {}, {}, {}
    for (model,), tally in tallies.entries.items():
        low, high = bound(tally, "auroc")
        if high - low > _SURE:
            raise InputError(
                f"{model}: too many scores share a cell to compare ranks (AUROC is only known to lie in {low:.4f} to "
                f"{high:.4f}); spread the scores out, e.g. by a logit, or read fewer rows with where=."
            )
        coarse = _by_key(tally)
        lookups[model], aurocs[model] = _placements_by_key(coarse), auroc_of(tally)
        # Products are looked up by key, which may join cells that are separate in the tally.
        slack[model] = (high - low) / 2 + abs(aurocs[model] - auroc_of(coarse))
    covariances = np.zeros((len(lookups), len(lookups)))
    for sums in _products(table, lookups):
        mass, rows = sums[-1, :2]
        rows = rows if table.roles.weight is not None else mass
        if rows < 2:
            raise InputError("Two rows or more of each class are needed.")
        covariances += sums[:-1] / mass**2 * (rows / (rows - 1.0))
    return DeLong(tuple(aurocs), np.array(list(aurocs.values())), covariances), slack, tallies


#: Largest width of the bounds of AUROC from cells for a comparison.
_SURE = 1e-3


def _by_key(tally: Tally) -> Tally:
    """The tally with cells of one key joined."""
    joined = []
    for run in tally.runs:
        keys = cell_key(run.scores.astype(np.float64))
        starts = starts_of_groups(keys)
        joined.append(replace(grouped_at(run, starts), scores=keys[starts], lo=None, hi=None))
    return replace(tally, runs=tuple(joined), grid=None)


def _placements_by_key(coarse: Tally) -> tuple[Floats, Floats, Floats]:
    """The keys of all cells, and DeLong's influence of a negative and of a positive row in each."""
    effect = auroc_effect(coarse)
    keys = np.union1d(*(run.scores for run in coarse.runs))
    return keys, effect.of_rows(keys, positive=False), effect.of_rows(keys, positive=True)


def _products(table: Table, values: Mapping[str, tuple[Floats, Floats, Floats]]) -> tuple[Floats, Floats]:
    """Sums over the rows of each class of the products of looked-up values, weighted as a covariance needs.

    For each model `values` has the keys of its cells and the value of a negative and of a positive row there. Returns,
    for negatives and positives, the matrix of sums and below it (mass, rows).
    """
    models = list(values)
    chosen = [f"CASE WHEN positive THEN l{i}.up ELSE l{i}.down END AS v{i}" for i in range(len(models))]
    joins = " ".join(f"JOIN lookup{i} l{i} ON l{i}.key = r.k{i}" for i in range(len(models)))
    square = "m * m" if table.roles.weight is not None else "m"
    sums = ", ".join(f"sum({square} * v{i} * v{j}) AS p{i}_{j}" for i in range(len(models)) for j in range(i + 1))
    keys = ", ".join(f"{key_of(f's{i}')} AS k{i}" for i in range(len(models)))
    for i, model in enumerate(models):
        key, down, up = values[model]
        table.source.register(f"lookup{i}", {"key": key, "down": down, "up": up})
    columns = table.source.query(
        f"""SELECT positive, sum(m)::DOUBLE AS mass, count(*) FILTER (m > 0) AS n, {sums}
            FROM (SELECT positive, m::DOUBLE AS m, {", ".join(chosen)}
                  FROM (SELECT *, {keys} FROM ({table.rows})) r {joins})
            GROUP BY positive"""
    )
    sides = []
    for wanted in (False, True):
        at = int(np.flatnonzero(np.asarray(columns["positive"]) == wanted)[0])
        matrix = np.zeros((len(models) + 1, len(models)))
        for i in range(len(models)):
            for j in range(i + 1):
                matrix[i, j] = matrix[j, i] = columns[f"p{i}_{j}"][at]
        matrix[-1, :2] = columns["mass"][at], columns["n"][at]
        sides.append(matrix)
    return sides[0], sides[1]
