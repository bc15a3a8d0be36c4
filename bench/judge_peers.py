"""Widths and coverage of ``tm.raters.judge`` beside truescore, ppi_python and judgy, on the same simulated draws.

Worlds are those of ``bench.judge_coverage`` with 1 000 items: pass rates of .5 to .98, judges from useless to excellent,
40, 150 or 500 items labelled at random. Each interval is held against the suite's own rate (or difference) and against
the rate that generated it. Peers aim at the latter and have one interval for both; ours has one for each
(``population="suite"`` and ``"items"``).

Methods: truescore's PPI++ (its audit), Rogan-Gladen and labels alone; ppi_py's mean with tuned power; judgy's bootstrap
(1 000 draws instead of 20 000). Differences: truescore's paired PPI++ (its compare) and ppi_py's mean of the
differences; judgy has none. Limits are cut at the ends of the range before their width is taken, for not all peers do
so. A sample without limits is one that does not cover. A cell's best peer is the narrowest of those that cover in 93 %
of samples; its width and ours are means over the samples in which both have limits.

Needs ``pip install truescore==0.7.4 ppi_python==0.2.3 judgy==0.1.0``; takes about 10 minutes on one core.

    python -m bench.judge_peers --repeats 100
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
import truescore
from judgy import estimate_success_rate
from ppi_py import ppi_mean_ci

import tallymark as tm
from bench.judge_coverage import JUDGES, RATES, World, systems

#: Coverage from which a peer is compared by width, and the ratio of widths from which a cell is listed.
_COVERS, _WIDER = 0.93, 1.05

#: Limits at the truth hold it, whatever the last bit.
_SLACK = 1e-9

#: Draws of judgy's bootstrap.
_DRAWS = 1_000

POPULATIONS = ("suite", "items")
Limits = tuple[float, float]
NONE: Limits = (float("nan"), float("nan"))


class Draw(NamedTuple):
    """Verdicts of a judge on all items, those of people on the labelled ones, and the places of these."""

    judge: Any
    human: Any
    seen: Any

    @property
    def unseen(self) -> Any:
        """The judge's verdicts on items that people did not label."""
        return np.delete(self.judge, self.seen)


def _truescore(estimate: Callable[..., Any]) -> Callable[[Draw], Limits]:
    def limits(draw: Draw) -> Limits:
        found = estimate(draw.judge, draw.human, draw.seen, alpha=0.05)
        return found.low, found.high

    return limits


def _labels_alone(draw: Draw) -> Limits:
    found = truescore.gold_only_estimate(draw.human, alpha=0.05)
    return found.low, found.high


def _ppi_py(draw: Draw) -> Limits:
    low, high = ppi_mean_ci(draw.human, draw.judge[draw.seen], draw.unseen, alpha=0.05, lam=None)
    return float(low[0]), float(high[0])


def _judgy(draw: Draw) -> Limits:
    _, low, high = estimate_success_rate(draw.human, draw.judge[draw.seen], draw.unseen, _DRAWS, 0.95)
    return low, high


RATE_PEERS: Mapping[str, Callable[[Draw], Limits]] = {
    "truescore PPI++": _truescore(truescore.ppi_estimate),
    "truescore RG": _truescore(truescore.rogan_gladen_estimate),
    "truescore labels": _labels_alone,
    "ppi_py": _ppi_py,
    "judgy": _judgy,
}


def _truescore_gap(one: Draw, other: Draw) -> Limits:
    found = truescore.ppi_compare(one.judge, other.judge, one.human, other.human, one.seen, alpha=0.05)
    return found.low, found.high


def _ppi_py_gap(one: Draw, other: Draw) -> Limits:
    return _ppi_py(Draw(one.judge - other.judge, one.human - other.human, one.seen))


GAP_PEERS: Mapping[str, Callable[[Draw, Draw], Limits]] = {"truescore PPI++": _truescore_gap, "ppi_py": _ppi_py_gap}


def or_none(method: Callable[..., Limits], *draws: Draw) -> Limits:
    """A peer's limits; none where it refuses the data."""
    try:
        return method(*draws)
    except (ValueError, RuntimeError):
        return NONE


def ours(measure: Any) -> Limits:
    """Limits of a measure of ours; none where it has none."""
    return NONE if measure is None or measure.interval is None else (measure.low, measure.high)


class Cell:
    """Limits and truths of all samples of a world."""

    def __init__(self, world: World, seed: list[int], repeats: int) -> None:
        self.world = world
        self.limits: dict[tuple[str, str], list[Limits]] = {}
        self.truths: dict[tuple[str, str], list[float]] = {}
        rng = np.random.default_rng(seed)
        # judgy draws from numpy's global generator.
        np.random.seed(seed)  # noqa: NPY002
        for _ in range(repeats):
            self._add(rng)

    def _add(self, rng: np.random.Generator) -> None:
        truths, columns = systems(rng, self.world)
        seen = np.flatnonzero(np.isfinite(columns["ha"]))
        draws = [
            Draw(columns[f"j{name}"], truth[seen].astype(int), seen) for name, truth in zip("ab", truths, strict=True)
        ]
        for population in POPULATIONS:
            both = tm.raters.judge(columns, judge=["ja", "jb"], human=["ha", "hb"], pos_label=1, population=population)
            self._put("rate", population, ours(both.systems["ja"].corrected))
            self._put("difference", population, ours(both.difference))
        for name, method in RATE_PEERS.items():
            self._put("rate", name, or_none(method, draws[0]))
        for name, gap in GAP_PEERS.items():
            self._put("difference", name, or_none(gap, *draws))
        first, second = self.world.rates
        means = [float(truth.mean()) for truth in truths]
        for key, truth in zip(
            itertools.product(("rate", "difference"), POPULATIONS),
            (means[0], first, means[0] - means[1], first - second),
            strict=True,
        ):
            self.truths.setdefault(key, []).append(truth)

    def _put(self, what: str, name: str, limits: Limits) -> None:
        self.limits.setdefault((what, name), []).append(limits)

    @property
    def name(self) -> str:
        """The world, in few words."""
        return f"{self.world.labelled:3} {self.world.rates} {self.world.sensitivity, self.world.specificity}"

    def coverage(self, what: str, name: str, population: str, *, answered: bool = False) -> float:
        """Share of all samples, or of those with limits, in which these hold the truth."""
        low, high = np.array(self.limits[what, name]).T
        truth = np.array(self.truths[what, population])
        held = (low - _SLACK <= truth) & (truth <= high + _SLACK)
        return float(held[np.isfinite(low)].mean()) if answered and np.isfinite(low).any() else float(held.mean())

    def answers(self, what: str, name: str) -> float:
        """Share of samples with limits."""
        return float(np.isfinite(np.array(self.limits[what, name])).all(axis=1).mean())

    def widths(self, what: str, name: str) -> Any:
        """Widths within the range."""
        ends = (0.0, 1.0) if what == "rate" else (-1.0, 1.0)
        return np.diff(np.clip(np.array(self.limits[what, name]), *ends), axis=1).ravel()

    def best(self, what: str, population: str) -> tuple[str, float] | None:
        """The narrowest peer that covers, and the ratio of our width to its width."""
        mine, found = self.widths(what, population), []
        for name in RATE_PEERS if what == "rate" else GAP_PEERS:
            theirs = self.widths(what, name)
            both = np.isfinite(mine) & np.isfinite(theirs)
            if self.coverage(what, name, population) >= _COVERS and theirs[both].mean() > 0.0:
                found.append((float(theirs[both].mean()), name, float(mine[both].mean() / theirs[both].mean())))
        return min(found)[1:] if found else None

    def line(self) -> str:
        """Coverage (of the suite's, of the generating one) and mean width of each method."""
        parts = [self.name]
        for what, peers in (("rate", RATE_PEERS), ("difference", GAP_PEERS)):
            for name in (*POPULATIONS, *peers):
                cover = "/".join(
                    f"{100 * self.coverage(what, name, of):3.0f}"
                    for of in ([name] if name in POPULATIONS else POPULATIONS)
                )
                widths = self.widths(what, name)
                width = f"{np.nanmean(widths):.3f}" if np.isfinite(widths).any() else "  -  "
                parts.append(f"{cover} {width}")
        return " | ".join(parts)


def header() -> str:
    """What the columns are."""
    rates = ["ours suite", "ours items", *RATE_PEERS]
    gaps = ["ours suite", "ours items", *GAP_PEERS]
    return f"labelled, rates, judge | rate: {', '.join(rates)} | difference: {', '.join(gaps)}  (coverage of suite/generating, width)"


def summary(cells: list[Cell]) -> None:
    """Ratios of widths, and the least coverage of each method."""
    for what, population in itertools.product(("rate", "difference"), POPULATIONS):
        found = {cell: cell.best(what, population) for cell in cells}
        ratios = {cell: best for cell, best in found.items() if best is not None}
        values = [ratio for _, ratio in ratios.values()] or [float("nan")]
        short = [cell.name for cell in cells if cell.coverage(what, population, population) < _COVERS]
        print(
            f"\n{what}, {population}: our width to that of the best peer, in {len(ratios)} of {len(cells)} cells with one: "
            f"median {np.median(values):.3f}, {min(values):.3f} to {max(values):.3f}; "
            f"ours below {100 * _COVERS:.0f} % in {len(short)}{': ' if short else ''}{'; '.join(short)}"
        )
        for cell, (peer, ratio) in ratios.items():
            if ratio > _WIDER:
                covers = [100 * cell.coverage(what, name, population) for name in (population, peer)]
                print(f"    {cell.name}: {ratio:.3f} times {peer} (ours covers {covers[0]:.0f}, it {covers[1]:.0f})")
        none = [cell.name for cell in cells if cell not in ratios]
        if none:
            print(f"    no peer covers: {'; '.join(none)}")
    print(
        "\nleast coverage over cells, of all samples (and of those with limits, in cells that have any), and the least share with limits"
    )
    for what, peers in (("rate", RATE_PEERS), ("difference", GAP_PEERS)):
        for name in (*POPULATIONS, *peers):
            for population in [name] if name in POPULATIONS else POPULATIONS:
                least = min(cell.coverage(what, name, population) for cell in cells)
                some = [cell for cell in cells if cell.answers(what, name) > 0.0]
                of_those = min(
                    (cell.coverage(what, name, population, answered=True) for cell in some), default=float("nan")
                )
                share = min(cell.answers(what, name) for cell in cells)
                label = "tallymark" if name in POPULATIONS else name
                print(
                    f"    {what:10} {population:6} {label:17} {100 * least:5.1f} ({100 * of_those:5.1f})  {100 * share:5.1f}"
                )


def main() -> None:
    """Print a line per cell, then the summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--seed", type=int, default=20261118)
    parser.add_argument("--save", default=None, help="file (.npz) to write all limits and truths to")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    peers = ("truescore", "ppi_python", "judgy", "numpy", "scipy")
    print(
        f"tallymark {tm.__version__}, {', '.join(f'{peer} {version(peer)}' for peer in peers)}; {given.repeats} samples per cell"
    )
    print(header())
    worlds = [
        World(1_000, labelled, rates, *judge)
        for labelled in (40, 150, 500)
        for rates in RATES.values()
        for judge in JUDGES.values()
    ]
    cells = []
    with np.errstate(all="ignore"):
        for place, world in enumerate(worlds):
            cells.append(Cell(world, [given.seed, place], given.repeats))
            print(cells[-1].line(), flush=True)
        summary(cells)
    if given.save:
        np.savez(
            given.save,
            **{
                f"{place}|limits|{'|'.join(key)}": np.array(v)
                for place, cell in enumerate(cells)
                for key, v in cell.limits.items()
            },
            **{
                f"{place}|truths|{'|'.join(key)}": np.array(v)
                for place, cell in enumerate(cells)
                for key, v in cell.truths.items()
            },
        )


if __name__ == "__main__":
    main()
