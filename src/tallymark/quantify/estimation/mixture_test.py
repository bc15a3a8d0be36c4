"""Goodness-of-fit test of prior shift: whether a target's scores are a mixture of the two classes' scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, overload

import numpy as np

from tallymark._check import Floats, Scores
from tallymark._display import Row, Shown, plain
from tallymark._mappings import FrozenDict, Keyed
from tallymark.errors import shown
from tallymark.notes import Note, emit
from tallymark.quantify.estimation.problem import checked_pair, targets_of
from tallymark.quantify.kernels.densities import adaptive_edges
from tallymark.quantify.kernels.samples import Samples, Validation
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally


@dataclass(frozen=True, eq=False, repr=False)
class MixtureFit(Shown):
    """Whether a target's scores are a mixture of the two classes' scores, bin by bin.

    `observed` and `expected` are shares of the target's rows in bins between `edges`; `negative` and `positive` the
    classes' own. `statistic` has `freedom` degrees of freedom under prior shift.
    """

    prevalence: float
    edges: Scores
    observed: Floats
    expected: Floats
    negative: Floats
    positive: Floats
    statistic: float
    freedom: int
    p_value: float
    n: float | int

    @property
    def distance(self) -> float:
        """Share of the target's rows that no mixture of the classes explains."""
        return float(np.abs(self.observed - self.expected).sum() / 2.0)

    @property
    def contradicted(self) -> bool:
        """Whether the scores contradict prior shift by more than chance and by enough to matter."""
        return self.p_value < SURE and self.distance >= _SMALL and self.n >= _ROWS_TO_TELL and self.freedom >= 1

    @property
    def verdict(self) -> str:
        """In plain words: what was, and what was not contradicted."""
        if self.freedom < 1 or self.n < _ROWS_TO_TELL:
            return "there are too few rows to say whether the target's scores fit a mixture of the two classes"
        if self.p_value >= SURE:
            return f"the target's scores do not contradict prior shift {_AT}, which does not show that it holds"
        if self.distance < _SMALL:
            return (
                "the target's scores differ from every mixture of the two classes, but by little "
                f"({100 * self.distance:.1f} % of the rows): estimates may be off by about as much"
            )
        return (
            f"the target's scores contradict prior shift {_AT}: they are no mixture of the two classes "
            f"({100 * self.distance:.1f} % of the rows do not fit), so label some target rows before you publish a "
            "count"
        )

    @property
    def warnings(self) -> tuple[Note, ...]:
        """A note where prior shift is contradicted."""
        return (Note("TM109", self.verdict),) if self.contradicted else ()

    def heading(self) -> str:
        """The verdict."""
        return f"Mixture at prevalence {self.prevalence:.4f}, p = {self.p_value:.4g}: {self.verdict}"

    def rows(self) -> list[Row]:
        """One line per bin."""
        return [
            {
                "from": float(low),
                "to": float(high),
                "observed": float(o),
                "expected": float(e),
                "negative": float(n),
                "positive": float(p),
            }
            for low, high, o, e, n, p in zip(
                self.edges[:-1], self.edges[1:], self.observed, self.expected, self.negative, self.positive, strict=True
            )
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {name: plain(value) for name, value in asdict(self).items()} | {
            "verdict": self.verdict,
            "distance": self.distance,
        }


#: Below this p-value the mixture is doubted.
SURE = 0.01

#: That level in words.
_AT = f"at the {100 * SURE:g} % level"

#: Fewer rows than this cannot tell.
_ROWS_TO_TELL = 30

#: A misfit of less than this share of the rows is small.
_SMALL = 0.02

#: Shares of positives tried before the search becomes fine.
_GRID = np.linspace(0.0, 1.0, 101)


@dataclass(frozen=True, eq=False, repr=False)
class MixtureFits(Shown, Keyed[MixtureFit]):
    """The fit of every group."""

    what: ClassVar[str] = "fit"

    names: tuple[str, ...]
    entries: Mapping[tuple[Any, ...], MixtureFit]

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", FrozenDict(self.entries))

    @property
    def contradicted(self) -> list[str]:
        """Names of the groups whose scores contradict prior shift."""
        return [", ".join(map(str, key)) for key, fit in self.entries.items() if fit.contradicted]

    @property
    def verdict(self) -> str:
        """In plain words."""
        bad = self.contradicted
        if not bad:
            verdict = f"none of the {len(self)} groups' scores contradict prior shift {_AT}"
            return f"{verdict}, which does not show that it holds"
        groups = f"{len(bad)} of {len(self)} groups ({shown(bad)})"
        return f"the scores contradict prior shift {_AT} in {groups}: label some of their rows first"

    @property
    def warnings(self) -> tuple[Note, ...]:
        """A note for each group whose scores contradict prior shift."""
        return tuple(
            Note(note.code, f"group {', '.join(map(str, key))}: {note.message}")
            for key, fit in self.entries.items()
            for note in fit.warnings
        )

    def heading(self) -> str:
        """The verdict."""
        return f"{self.verdict[0].upper()}{self.verdict[1:]}"

    def rows(self) -> list[Row]:
        """One line per group."""
        return [
            dict(zip(self.names, map(str, key), strict=True))
            | {
                "prevalence": fit.prevalence,
                "misfit": fit.distance,
                "p_value": fit.p_value,
                "contradicted": fit.contradicted,
            }
            for key, fit in self.entries.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Every group's fit, without its bins."""
        listed = [
            {
                "group": dict(zip(self.names, plain(key), strict=True)),
                "prevalence": fit.prevalence,
                "distance": fit.distance,
                "p_value": plain(fit.p_value),
                "verdict": fit.verdict,
            }
            for key, fit in self.entries.items()
        ]
        return {"verdict": self.verdict, "groups": listed}


@overload
def mixture_fit(validation: Tally, target: Tallies, *, bins: int | None = ..., strict: bool = ...) -> MixtureFits: ...
@overload
def mixture_fit(validation: Tally, target: Tally, *, bins: int | None = ..., strict: bool = ...) -> MixtureFit: ...
def mixture_fit(
    validation: Tally, target: Tally | Tallies, *, bins: int | None = None, strict: bool = False
) -> MixtureFit | MixtureFits:
    r"""Test prior shift: whether the target's scores are a mixture of the validation classes' scores.

    Over bins that follow the validation sample, the statistic is the least of
    :math:`\delta(\pi)^\top \Sigma(\pi)^{-1} \delta(\pi)` over :math:`\pi`, with :math:`\delta` the target's shares less
    the mixture's and :math:`\Sigma` the covariance of all three samples' shares; under prior shift it is :math:`\chi^2`
    with two degrees of freedom less than bins (minimum chi-square, Neyman 1949). A misfit that matters warns with
    TM109. A fit shows little: :func:`sensitivity` gives the shifts that the test would have missed.

    Parameters
    ----------
    validation
        Labelled tally.
    target
        Unlabelled tally of the same model's scores, or tallies by group.
    bins
        Number of bins; left out, by the sample sizes.
    strict
        Raise guards as errors.

    Returns
    -------
    MixtureFit or MixtureFits
        The fitted prevalence, the bins and the p-value; one for each group.

    Examples
    --------
    >>> import numpy as np, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(1000) % 2
    >>> t = tm.tally(y, rng.normal(2 * y))
    >>> tm.quantify.mixture_fit(t, tm.tally(scores=rng.normal(2.0 * (np.arange(2000) < 200)))).p_value > 0.01
    True

    """
    entries = {key: fit_of(validation, one, bins) for key, one in targets_of(target).items()}
    fits = MixtureFits(target.names, entries) if isinstance(target, Tallies) else entries[()]
    emit(fits.warnings, strict=strict)
    return fits


def fit_of(validation: Tally, one: Tally, bins: int | None = None) -> MixtureFit:
    """The test of one unlabelled tally; a guard is in the result's `warnings`, none is emitted."""
    from scipy.special import chdtrc

    clean = Validation.of(checked_pair(validation, [one]), one, None)
    edges = adaptive_edges(clean, bins)
    down, up, observed = (
        side.within(edges)[0] for side in (clean.negative, clean.positive, Samples.of_run(one.runs[0]))
    )
    # Bins without a row of any sample say nothing; the first bin follows from the others.
    kept = (down + up + observed) > 0.0
    sizes = [run.effective_size for run in (validation.negative, validation.positive, one.runs[0])]
    share = most_fitting(down, up, observed, sizes)
    statistic, freedom = _misfit(share, down[kept], up[kept], observed[kept], sizes), max(int(kept.sum()) - 2, 0)
    p = float(chdtrc(freedom, statistic)) if freedom else math.nan
    return MixtureFit(
        prevalence=share,
        edges=edges,
        observed=observed,
        expected=share * up + (1.0 - share) * down,
        negative=down,
        positive=up,
        statistic=statistic,
        freedom=freedom,
        p_value=p,
        n=one.n,
    )


def most_fitting(down: Floats, up: Floats, observed: Floats, sizes: Sequence[float]) -> float:
    """The share of positives at which the mixture of two classes' bins is least at odds with the target's."""
    kept = (down + up + observed) > 0.0
    return _least(lambda share: _misfit(share, down[kept], up[kept], observed[kept], sizes))


def _least(misfit: Callable[[float], float]) -> float:
    """Where a misfit is least: the best of a grid, then a search between its neighbours."""
    from scipy.optimize import minimize_scalar

    best = int(np.argmin([misfit(share) for share in _GRID]))
    ends = _GRID[max(best - 1, 0)], _GRID[min(best + 1, len(_GRID) - 1)]
    solution = minimize_scalar(misfit, bounds=ends, method="bounded", options={"xatol": 1e-10})
    return min((float(_GRID[best]), float(solution.x)), key=misfit)


def _misfit(share: float, down: Floats, up: Floats, observed: Floats, sizes: Sequence[float]) -> float:
    """The distance of the target's bins from a mixture's, by their covariance."""
    gap = (observed - share * up - (1.0 - share) * down)[1:]
    return float(gap @ np.linalg.solve(mixture_covariance(share, down, up, sizes), gap))


def mixture_covariance(share: float, down: Floats, up: Floats, sizes: Sequence[float]) -> Floats:
    """Covariance of the target's shares of the bins but the first, less a mixture's."""
    mixed = share * up + (1.0 - share) * down
    values = np.zeros((len(down) - 1, len(down) - 1))
    # Half a row in each bin, so that bins a sample never reached are not certain.
    for part, factor, n in ((down, 1.0 - share, sizes[0]), (up, share, sizes[1]), (mixed, 1.0, sizes[2])):
        p = ((part * n + 0.5) / (n + 0.5 * len(part)))[1:]
        values += factor**2 * (np.diag(p) - np.outer(p, p)) / n
    return values
