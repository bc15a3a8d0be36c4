"""What prior shift implies: metrics in a target without labels, and whether this is prior shift at all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tallymark._check import Floats, Scores
from tallymark._show import Row, Shown, plain
from tallymark.errors import InputError, Undefined, guard
from tallymark.intervals.base import Seed, checked_level
from tallymark.intervals.draws import of_cells
from tallymark.quantify.densities import adaptive_edges
from tallymark.quantify.estimating import ask_of, targets_of
from tallymark.quantify.resampling import resampled
from tallymark.quantify.samples import Samples, Validation, worth_of
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
    [0.15, 0.08, 0.29]
    """
    share = checked_level(level)
    names = [METRICS[name].name for name in ([metrics] if isinstance(metrics, str) else metrics)]
    for name in names:
        if METRICS[name].needs != "confusion":
            raise InputError(f"{name} is not a metric at one threshold; prior shift predicts those only.")
    (key, one), *others = targets_of(target).items()
    if others or key:
        raise InputError("expected() takes one target; ask for each group on its own.")
    cut = validation.at(threshold).threshold
    ask = ask_of(QUANTIFIERS[method], validation, [one], cut if method in {"ac", "cc"} else None, None, {})
    at = np.array([cut], dtype=validation.runs[0].scores.dtype)
    clean = ask.clean(one)

    def rates_and_share(known: Validation, seen: Samples) -> Floats:
        tpr, fpr = known.rates(at)
        pi = ask.shares(known, seen)
        # One number carries all three: shares lie in [0, 1], so do the rates.
        return np.stack(np.broadcast_arrays(tpr[:, 0], fpr[:, 0], pi))

    parts = rates_and_share(clean, Samples.of_run(one.runs[0]))[:, 0]
    drawn = [
        resampled(lambda v, s, i=i: rates_and_share(v, s)[i], validation, [one], ask.training_prevalence, _REPLICATES, seed, edges=(float(at[0]),))[0]  # type: ignore[misc]
        for i in range(3)
    ]  # fmt: skip
    prevalence = float(parts[2])
    if math.isnan(prevalence):
        raise InputError(f"{method} has no estimate here: no threshold tells the classes apart.")
    measures = {}
    for name in names:
        allowed = {k: v for k, v in options.items() if k in METRICS[name].parameters}
        value, reason = _value(name, *(float(part) for part in parts), **allowed)
        values = _values(name, drawn, allowed)
        low, high = (
            np.nanquantile(values, [(1 - share) / 2, (1 + share) / 2])
            if not np.isnan(values).all()
            else (math.nan, math.nan)
        )
        ends = (
            {}
            if reason
            else {
                "low": min(float(low), value),
                "high": max(float(high), value),
                "method": "prior shift",
                "level": share,
            }
        )
        measures[name] = Measure(name=name, value=value, prevalence=prevalence, reason=reason, **ends)  # type: ignore[arg-type]
    return Evaluation(measures, n=one.n, n_rows=one.n_rows, prevalence=prevalence, threshold=float(at[0]))


def _values(name: str, drawn: Sequence[Floats], options: dict[str, float]) -> Floats:
    from tallymark.metrics import expressions
    from tallymark.metrics.threshold import d_prime_of_rates

    tpr, fpr, pi = drawn
    facts = METRICS[name]
    if facts.expression is None:
        of_rates: Floats = d_prime_of_rates(tpr, fpr)
        return of_rates
    if not options:
        return of_cells(name, pi * tpr, (1 - pi) * fpr, pi, 1 - pi)
    cells = (pi * tpr, (1 - pi) * fpr, pi * (1 - tpr), (1 - pi) * (1 - fpr))
    found: Floats = expressions.to_numpy(facts.expression)(*cells, **{**facts.parameters, **options})
    return found


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

#: A misfit of less than this share of the rows is small.
_SMALL = 0.02

#: Shares of positives tried.
_GRID = np.linspace(0.0, 1.0, 401)


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

    ((_, one),) = targets_of(target).items()
    ask = ask_of(QUANTIFIERS["bayes"], validation, [one], None, None, {})
    clean = ask.clean(one)
    seen = Samples.of_run(one.runs[0])
    edges = adaptive_edges(clean, bins)
    down, up, held = (side.within(edges)[0] for side in (clean.negative, clean.positive, seen))
    kept = (down + up + held) > 0.0
    # Bins without a row of any sample say nothing; the first bin follows from the others.
    sizes = [worth_of(run) for run in (validation.negative, validation.positive, one.runs[0])]
    found = [_misfit(share, down[kept], up[kept], held[kept], sizes) for share in _GRID]
    best = int(np.argmin(found))
    share, statistic, freedom = float(_GRID[best]), float(found[best]), max(int(kept.sum()) - 2, 1)
    fit = MixtureFit(
        share, edges, held, share * up + (1.0 - share) * down, down, up, statistic, freedom,
        float(chdtrc(freedom, statistic)), one.n,
    )  # fmt: skip
    if fit.p_value < _SURE and fit.distance >= _SMALL:
        guard("TM109", fit.verdict, strict=strict)
    return fit


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
