"""What prior shift implies: metrics in a target without labels, and whether this is prior shift at all."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from tallymark._check import Floats, Scores
from tallymark._show import Row, Shown, plain
from tallymark.errors import InputError, Undefined, guard
from tallymark.intervals.base import Seed, checked_level
from tallymark.intervals.draws import at_rates
from tallymark.quantify.asking import ask_of, one_target, options_of
from tallymark.quantify.densities import adaptive_edges
from tallymark.quantify.prevalence import quantiles
from tallymark.quantify.resampling import resampled
from tallymark.quantify.samples import Samples, Validation
from tallymark.registry import METRICS, QUANTIFIERS
from tallymark.results import Evaluation, Measure
from tallymark.summaries.tally import Tally

#: What people ask of a classifier at work.
_USUAL = ("precision", "npv", "recall", "f1", "accuracy", "predicted_prevalence")

_REPLICATES = 1_000


def expected(
    validation: Tally,
    target: Tally,
    *,
    threshold: float | str = 0.5,
    metrics: Sequence[str] = _USUAL,
    method: str = "bayes",
    level: float = 0.95,
    seed: Seed = 0,
    **options: Any,
) -> Evaluation:
    r"""Metrics at a threshold in an unlabelled target, expected under prior shift.

    The rates tpr and fpr are those of the validation sample, the prevalence is estimated from the target's scores by
    `method`; intervals resample both. `options` are parameters of the metrics such as ``beta`` or ``cost_fn``.

    >>> import numpy as np, tallymark as tm
    >>> rng = np.random.default_rng(2)
    >>> y = np.arange(1000) % 2
    >>> t = tm.tally(y, rng.normal(2 * y))
    >>> new = tm.tally(scores=rng.normal(2.0 * (np.arange(4000) < 200)))
    >>> ev = tm.quantify.expected(t, new, threshold=1.0, metrics=["precision"])
    >>> [round(v, 2) for v in (ev["precision"].value, ev["precision"].low, ev["precision"].high)]
    [0.15, 0.07, 0.29]
    """
    share = checked_level(level)
    names = [METRICS[name].name for name in ([metrics] if isinstance(metrics, str) else metrics)]
    for name in names:
        if METRICS[name].needs != "confusion":
            raise InputError(f"{name} is not a metric at one threshold; prior shift predicts those only.")
    unknown = set(options) - {option for name in names for option in METRICS[name].parameters}
    if unknown:
        raise InputError(f"{min(unknown)!r} is no parameter of {', '.join(names)}.")
    one = one_target(target, "expected()")
    cut = validation.at(threshold).threshold
    quantifier = QUANTIFIERS[method]
    ask = ask_of(quantifier, validation, [one], cut if "threshold" in options_of(quantifier) else None, None, {})
    at = np.array([cut], dtype=validation.runs[0].scores.dtype)

    def rates_and_share(known: Validation, seen: Samples) -> Floats:
        tpr, fpr = known.rates(at)
        return np.stack(np.broadcast_arrays(tpr[:, 0], fpr[:, 0], ask.shares(known, seen)))

    parts = rates_and_share(ask.clean(one), Samples.of_run(one.runs[0]))[:, 0]
    (drawn,) = resampled(
        rates_and_share, validation, [one], ask.training_prevalence, _REPLICATES, seed, edges=(float(at[0]),)
    )
    prevalence = float(parts[2])
    if math.isnan(prevalence):
        raise InputError(f"{method} has no estimate here: no threshold tells the classes apart.")
    measures = {}
    for name in names:
        allowed = {k: v for k, v in options.items() if k in METRICS[name].parameters}
        value, reason = _value(name, *(float(part) for part in parts), **allowed)
        measures[name] = Measure(name=name, value=value, prevalence=prevalence, reason=reason)
        if reason is None:
            low, high = quantiles(_values(name, drawn, allowed), share)
            measures[name] = replace(
                measures[name], low=min(low, value), high=max(high, value), method="prior shift", level=share
            )
    return Evaluation(measures, n=one.n, n_rows=one.n_rows, prevalence=prevalence, threshold=float(at[0]))


def _values(name: str, drawn: Sequence[Floats], options: dict[str, float]) -> Floats:
    tpr, fpr, pi = drawn
    facts = METRICS[name]
    return at_rates(facts, pi * tpr, (1 - pi) * fpr, pi, 1 - pi, {**facts.parameters, **options})


def _value(name: str, tpr: float, fpr: float, pi: float, **options: float) -> tuple[float, str | None]:
    try:
        found = float(_values(name, [np.array([tpr]), np.array([fpr]), np.array([pi])], options)[0])
    except Undefined as error:
        return math.nan, error.reason
    return found, "it has no value at these rates" if math.isnan(found) else None


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
    def verdict(self) -> str:
        """In plain words."""
        if self.freedom < 1 or self.n < _FEW:
            return "there are too few rows to say whether the target's scores fit a mixture of the two classes"
        if self.p_value >= _SURE:
            return "the target's scores fit a mixture of the two classes: prior shift can be believed"
        if self.distance < _SMALL:
            return (
                f"the target's scores differ from every mixture of the two classes, but by little ({100 * self.distance:.1f} % "
                "of the rows): estimates may be off by about as much"
            )
        return (
            f"the target's scores are no mixture of the two classes ({100 * self.distance:.1f} % of the rows do not fit): "
            "the classes themselves look different there, so label some target rows before you publish a count"
        )

    def heading(self) -> str:
        """The verdict."""
        return f"Mixture at prevalence {self.prevalence:.4f}, p = {self.p_value:.4g}: {self.verdict}"

    def rows(self) -> list[Row]:
        """One line per bin."""
        return [
            {
                "from": float(low), "to": float(high), "observed": float(o), "expected": float(e),
                "negative": float(n), "positive": float(p),
            }
            for low, high, o, e, n, p in zip(
                self.edges[:-1], self.edges[1:], self.observed, self.expected, self.negative, self.positive, strict=True
            )
        ]  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {name: plain(value) for name, value in asdict(self).items()} | {
            "verdict": self.verdict,
            "distance": self.distance,
        }


#: Below this p-value the mixture is doubted.
_SURE = 0.01

#: Fewer rows than this cannot tell.
_FEW = 30

#: A misfit of less than this share of the rows is small.
_SMALL = 0.02

#: Shares of positives tried before the search becomes fine.
_GRID = np.linspace(0.0, 1.0, 101)


def mixture_fit(validation: Tally, target: Tally, *, bins: int | None = None, strict: bool = False) -> MixtureFit:
    r"""Test whether the target's scores can be a mixture of the validation classes' scores.

    Over bins that follow the validation sample, the statistic is the least of
    :math:`\delta(\pi)^\top \Sigma(\pi)^{-1} \delta(\pi)` over :math:`\pi`, with :math:`\delta` the target's shares less
    the mixture's and :math:`\Sigma` the covariance of all three samples' shares; under prior shift it is :math:`\chi^2`
    with two degrees of freedom less than bins (minimum chi-square, Neyman 1949). A misfit that matters warns with TM109.

    >>> import numpy as np, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(1000) % 2
    >>> t = tm.tally(y, rng.normal(2 * y))
    >>> tm.quantify.mixture_fit(t, tm.tally(scores=rng.normal(2.0 * (np.arange(2000) < 200)))).p_value > 0.01
    True
    """
    from scipy.special import chdtrc

    one = one_target(target, "mixture_fit()")
    clean = ask_of(QUANTIFIERS["bayes"], validation, [one], None, None, {}).clean(one)
    edges = adaptive_edges(clean, bins)
    down, up, held = (side.within(edges)[0] for side in (clean.negative, clean.positive, Samples.of_run(one.runs[0])))
    # Bins without a row of any sample say nothing; the first bin follows from the others.
    kept = (down + up + held) > 0.0
    sizes = [run.worth for run in (validation.negative, validation.positive, one.runs[0])]

    def misfit(share: float) -> float:
        return _misfit(share, down[kept], up[kept], held[kept], sizes)

    share = _least(misfit)
    statistic, freedom = misfit(share), max(int(kept.sum()) - 2, 0)
    p = float(chdtrc(freedom, statistic)) if freedom else math.nan
    fit = MixtureFit(share, edges, held, share * up + (1.0 - share) * down, down, up, statistic, freedom, p, one.n)
    if fit.p_value < _SURE and fit.distance >= _SMALL:
        guard("TM109", fit.verdict, strict=strict)
    return fit


def _least(misfit: Callable[[float], float]) -> float:
    """Where a misfit is least: the best of a grid, then a search between its neighbours."""
    from scipy.optimize import minimize_scalar

    best = int(np.argmin([misfit(share) for share in _GRID]))
    ends = _GRID[max(best - 1, 0)], _GRID[min(best + 1, len(_GRID) - 1)]
    found = minimize_scalar(misfit, bounds=ends, method="bounded", options={"xatol": 1e-10})
    return min((float(_GRID[best]), float(found.x)), key=misfit)


def _misfit(share: float, down: Floats, up: Floats, held: Floats, sizes: Sequence[float]) -> float:
    """The distance of the target's bins from a mixture's, by their covariance."""
    mixed = share * up + (1.0 - share) * down
    gap = (held - mixed)[1:]
    covariance = np.zeros((len(gap), len(gap)))
    # Half a row in each bin, so that bins a sample never reached are not certain.
    for part, factor, n in ((down, 1.0 - share, sizes[0]), (up, share, sizes[1]), (mixed, 1.0, sizes[2])):
        p = ((part * n + 0.5) / (n + 0.5 * len(part)))[1:]
        covariance += factor**2 * (np.diag(p) - np.outer(p, p)) / n
    return float(gap @ np.linalg.solve(covariance, gap))
