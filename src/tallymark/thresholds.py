"""Threshold policies: rules that choose a threshold from labelled scores.

``tally.at("youden")``, ``tally.at("tpr:0.9")`` and the command line's ``--threshold`` take their names. Every metric of
the four cells with a direction is also a policy, which optimises it: ``tally.at("jaccard")``. Of several equally good
thresholds the lowest, which has the highest recall, is chosen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallymark._check import Bools, Floats
from tallymark._display import Row, Shown
from tallymark._rounding import equal, rounding
from tallymark.errors import InputError, Undefined, UnknownNameError, shown
from tallymark.metrics.parameters import check_parameter
from tallymark.registry import METRICS, POLICIES, CellMetric, Policy, cell_metric_named
from tallymark.summaries.confusion import Cells, Confusion
from tallymark.summaries.run import Run
from tallymark.summaries.sorting import blocks
from tallymark.summaries.tally import Tally

_BARRANQUERO = "Barranquero (2014), PhD thesis, University of Oviedo, ch. 3; Forman (2008)."
_RIJSBERGEN = "van Rijsbergen (1979)."


def _needing_both_classes(name: str, choose: Callable[..., float]) -> Callable[..., float]:
    def checked(tally: Tally, *numbers: float) -> float:
        if not tally.positives or not tally.negatives:
            raise InputError(f"The policy {name!r} needs rows of both classes.")
        return choose(tally, *numbers)

    return checked


def _policy(
    name: str, meaning: str, reference: str, *arguments: str, **facts: Any
) -> Callable[[Callable[..., float]], Callable[..., float]]:
    """Declare a policy; `facts` are further fields of Policy."""

    def declare(choose: Callable[..., float]) -> Callable[..., float]:
        checked = _needing_both_classes(name, choose)
        POLICIES.add(
            Policy(name=name, meaning=meaning, reference=reference, arguments=arguments, choose=checked, **facts)
        )
        return choose

    return declare


def _at_positives(tally: Tally) -> Iterator[tuple[Floats, Cells]]:
    """Cut-offs where recall changes, +inf and the lowest score, in descending order.

    At equal recall a lower cut-off only adds false positives, so no other cut-off can be best for a metric that falls
    with them.
    """
    yield np.array([np.inf]), tally.cells(np.zeros(1), np.zeros(1))
    for steps in tally.views.step_blocks():
        yield steps.thresholds.astype(np.float64), tally.cells(steps.tp, steps.fp)
    yield np.array([min(tally.range)]), tally.cells(np.array([tally.positives]), np.array([tally.negatives]))


def _at_all(tally: Tally) -> Iterator[tuple[Floats, Cells]]:
    """``+inf`` and every distinct score, in descending order."""
    cut = tally.cutoffs
    for block in blocks(len(cut.thresholds)):
        yield cut.thresholds[block].astype(np.float64), tally.cells(cut.tp[block], cut.fp[block])


def _as_counted(tally: Tally) -> Tally:
    """The tally without a stated prevalence: whole counts tie exactly, rescaled ones differ in the last digit."""
    return tally.at_prevalence(None)


def _fpr(cells: Cells) -> Floats:
    rate: Floats = cells.fp / (cells.fp + cells.tn)
    return rate


def _fnr(cells: Cells) -> Floats:
    rate: Floats = cells.fn / (cells.tp + cells.fn)
    return rate


def _best(candidates: Iterable[tuple[Floats, Cells]], merit: Callable[[Cells], Floats], tolerance: float) -> float:
    """The lowest of the thresholds with the highest merit up to rounding; undefined (nan) merits are passed over.

    The rounding of a merit that cancels to nearly 0 is relative to 1, the size of its terms.
    """
    best, chosen = -math.inf, math.nan
    for thresholds, cells in candidates:
        values = merit(cells)
        values = np.where(np.isnan(values), -np.inf, values)
        best = max(best, float(values.max()))
        if best > -math.inf:
            slack = tolerance * max(1.0, abs(best)) if math.isfinite(best) else 0.0
            ties = np.flatnonzero(values >= best - slack)
            chosen = float(thresholds[ties[-1]]) if len(ties) else chosen
    if math.isnan(chosen):
        raise Undefined("the metric is undefined at every threshold")
    return chosen


def _last(candidates: Iterable[tuple[Floats, Cells]], accepts: Callable[[Cells], Bools]) -> float:
    """The lowest threshold that is acceptable; nan if none is."""
    chosen = math.nan
    for thresholds, cells in candidates:
        good = np.flatnonzero(accepts(cells))
        chosen = float(thresholds[good[-1]]) if len(good) else chosen
    return chosen


def _optimise(facts: CellMetric, candidates: Callable[[Tally], Iterable[tuple[Floats, Cells]]]) -> Callable[..., float]:
    """A policy that maximises or minimises a metric of the four cells."""
    sign = -1.0 if facts.better == "lower" else 1.0

    def choose(tally: Tally, *numbers: float) -> float:
        tally = _as_counted(tally) if facts.prevalence_free else tally
        settings = dict(zip(facts.parameters, numbers, strict=True))
        for name, value in settings.items():
            check_parameter(name, value)
        return _best(candidates(tally), lambda cells: sign * facts.cells(*cells, **settings), tally.rounding)

    return choose


for _name, _metric, _meaning, _reference, _maximises, _aliases in (
    ("youden", "informedness", "Largest tpr − fpr (Youden's J).", "Youden (1950), Cancer 3(1).",
     ("informedness", "balanced_accuracy"), ("max",)),
    ("f1", "f1", "Largest F1.", _RIJSBERGEN, ("f1", "jaccard"), ()),
    ("fbeta", "fbeta", "Largest F-beta.", _RIJSBERGEN, ("fbeta",), ()),
    ("kappa", "kappa", "Largest Cohen's kappa.", "Cohen (1960).", ("kappa",), ()),
    ("mcc", "mcc", "Largest Matthews correlation.", "Matthews (1975).", ("mcc",), ()),
    ("ba", "balanced_accuracy", "Largest balanced accuracy.", "Brodersen et al. (2010).",
     ("balanced_accuracy", "informedness"), ("balanced_accuracy",)),
    ("gm", "geometric_mean", "Largest geometric mean of tpr and tnr.", "Kubat & Matwin (1997).",
     ("geometric_mean",), ("geometric_mean",)),
    ("accuracy", "accuracy", "Largest accuracy.", "Fawcett (2006).", ("accuracy", "error"), ()),
):  # fmt: skip
    _facts = cell_metric_named(_metric)
    _policy(
        _name,
        _meaning,
        _reference,
        *_facts.parameters,
        example="".join(f"{_name}:{default:g}" for default in _facts.parameters.values()),
        aliases=_aliases,
        judged_by=_metric,
        maximises=_maximises,
        # Below chance everywhere, the best MCC can lie at a negative's score.
    )(_optimise(_facts, _at_all if _metric == "mcc" else _at_positives))


def policy_of_metric(name: str) -> Policy | None:
    """The policy that optimises a metric of the four cells with a direction; None where no such metric exists."""
    if name not in METRICS:
        return None
    facts = METRICS[name]
    if not isinstance(facts, CellMetric) or facts.better not in {"higher", "lower"}:
        return None
    numbers = ",".join(f"{default:g}" for default in facts.parameters.values())
    return Policy(
        name=facts.name,
        meaning=f"{'Largest' if facts.better == 'higher' else 'Smallest'} {facts.label}.",
        reference=facts.reference,
        arguments=tuple(facts.parameters),
        defaults=tuple(facts.parameters.values()),
        example=f"{facts.name}:{numbers}" if numbers else "",
        choose=_needing_both_classes(facts.name, _optimise(facts, _at_all)),
        judged_by=facts.name,
        maximises=(facts.name,),
    )


POLICIES.derive = policy_of_metric


@_policy("cost", "Least cost for given costs of a false positive and a false negative.",
         "Elkan (2001), IJCAI.", "cost_fp", "cost_fn", example="cost:1,50", judged_by="expected_cost",
         maximises=("expected_cost", "net_benefit"))  # fmt: skip
def _cost(tally: Tally, cost_fp: float, cost_fn: float) -> float:
    if not (0 <= cost_fp < math.inf and 0 <= cost_fn < math.inf):
        raise InputError(f"cost:{cost_fp:g},{cost_fn:g}: costs must be 0 or more.")
    # As a share of the cost of classifying every row wrongly at the higher cost.
    unit = (max(cost_fp, cost_fn) or 1.0) * float(tally.n)
    merit = lambda c: -(cost_fp / unit * c.fp + cost_fn / unit * c.fn)
    return _best(_at_positives(tally), merit, tally.rounding)


@_policy("topleft", "ROC point closest to (0, 1).", "Perkins & Schisterman (2006), Am. J. Epidemiol. 163(7).")
def _topleft(tally: Tally) -> float:
    return _best(_at_positives(_as_counted(tally)), lambda c: -(_fnr(c) ** 2) - _fpr(c) ** 2, tally.rounding)


@_policy("x", "Where fpr = 1 − tpr (the method X of quantification).", _BARRANQUERO)
def _x(tally: Tally) -> float:
    return _best(_at_all(_as_counted(tally)), lambda c: -np.abs(_fpr(c) - _fnr(c)), tally.rounding)


@_policy("t50", "Score of a positive with recall nearest to 0.5.", _BARRANQUERO)
def _t50(tally: Tally) -> float:
    counted = _as_counted(tally)
    scores = (
        (steps.thresholds.astype(np.float64), counted.cells(steps.tp, steps.fp))
        for steps in counted.views.step_blocks()
    )
    return _best(scores, lambda c: -np.abs(c.tp - c.fn) / (c.tp + c.fn), tally.rounding)


@_policy("tpr", "Highest threshold with at least the given recall.", "Fawcett (2006).", "recall",
         example="tpr:0.9", aliases=("recall", "sensitivity"), judged_by="recall")  # fmt: skip
def _at_tpr(tally: Tally, wanted: float) -> float:
    _within_unit("tpr", wanted)
    for thresholds, c in _at_positives(_as_counted(tally)):
        reached = np.flatnonzero(c.tp / (c.tp + c.fn) >= wanted * (1.0 - tally.rounding))
        if len(reached):
            return float(thresholds[reached[0]])
    raise InputError(f"No threshold reaches a recall of {wanted:g}.")


@_policy(
    "fpr",
    "Lowest threshold with at most the given false positive rate.",
    "Fawcett (2006).",
    "fpr",
    example="fpr:0.01",
    judged_by="fpr",
)
def _at_fpr(tally: Tally, wanted: float) -> float:
    _within_unit("fpr", wanted)
    return _last(_at_all(_as_counted(tally)), lambda c: _fpr(c) <= wanted * (1.0 + tally.rounding))


@_policy("precision", "Lowest score of a positive with at least the given precision.", "Fawcett (2006).",
         "precision", example="precision:0.8", aliases=("ppv",), judged_by="precision")  # fmt: skip
def _at_precision(tally: Tally, wanted: float) -> float:
    _within_unit("precision", wanted)
    # Where nothing is predicted positive the quotient is nan, which reaches nothing.
    with np.errstate(invalid="ignore"):
        chosen = _last(_at_positives(tally), lambda c: c.tp / (c.tp + c.fp) >= wanted * (1.0 - tally.rounding))
    if math.isnan(chosen):
        raise Undefined(f"no threshold reaches a precision of {wanted:g}; ask for less")
    return chosen


@_policy(
    "breakeven",
    "PR break-even point: as many predicted positive as there are, so precision = recall.",
    "van Rijsbergen (1979).",
    judged_by="f1",
    maximises=("nas", "nss"),
)
def _breakeven(tally: Tally) -> float:
    return _best(_at_all(tally), lambda c: -np.abs(c.fp - c.fn) / float(tally.n), tally.rounding)


@_policy("rate", "Predicted share closest to the given share.", "Gubbels (2023), ch. 0.", "share", example="rate:0.002")
def _rate(tally: Tally, share: float) -> float:
    _within_unit("rate", share)
    return _best(_at_all(tally), lambda c: -np.abs((c.tp + c.fp) / float(tally.n) - share), tally.rounding)


@_policy(
    "intersection",
    "Where the two class densities cross; intersection:1 weights them by prevalence.",
    "Gubbels (2023), ch. 0.",
    "by_prevalence",
    example="intersection:1",
    defaults=(0.0,),
)
def _intersection(tally: Tally, by_prevalence: float = 0.0) -> float:
    low, high = tally.range
    if not math.isfinite(high - low):
        raise Undefined("the scores are too far apart for a density")
    grid = np.linspace(*_bulk(tally), _GRID)
    p = tally.prevalence if by_prevalence else 0.5
    up, down = p * _density(tally.positive, grid), (1.0 - p) * _density(tally.negative, grid)
    lead = np.where(equal(up, down, tally.rounding), 0.0, up - down)
    crossings = np.flatnonzero((lead[:-1] < 0) & (lead[1:] >= 0))
    low, high = sorted((tally.negative.moments.mean, tally.positive.moments.mean))
    between = [i for i in crossings if low <= grid[i + 1] and grid[i] <= high]
    # Rare positives are denser only beyond their mean; of several crossings the most accurate one is taken.
    places = between or list(crossings)
    if not places:
        raise Undefined(f"the class densities do not cross{' at this prevalence' if by_prevalence else ''}")
    cuts = [float(grid[i] + (grid[i + 1] - grid[i]) * lead[i] / (lead[i] - lead[i + 1])) for i in places]
    return cuts[0] if between else max(cuts, key=lambda cut: _accuracy_at(tally, cut, p))


def _bulk(tally: Tally) -> tuple[float, float]:
    """The range of nearly all scores of both classes: an outlier must not make the grid too coarse for the others."""
    ends = []
    for run in tally.runs:
        upto = np.cumsum(run.mass) / float(run.total)
        first, last = np.searchsorted(upto, np.array([_TAIL, 1.0 - _TAIL]) - rounding(run.terms))
        margin = math.sqrt(run.moments.variance) if _TAIL * run.n_rows < 1.0 else 0.0
        ends.append((float(run.scores[first]) - margin, float(run.scores[min(last, len(run) - 1)]) + margin))
    low, high = tally.range
    return max(low, min(end[0] for end in ends)), min(high, max(end[1] for end in ends))


#: Share of a class beyond that range on either side.
_TAIL = 1e-3


def _accuracy_at(tally: Tally, cut: float, prevalence: float) -> float:
    """Accuracy at a threshold and a prevalence."""
    tpr, fpr = (
        float(run.mass_from(np.array(np.searchsorted(run.scores, cut)))) / float(run.total)
        for run in (tally.positive, tally.negative)
    )
    return prevalence * tpr + (1.0 - prevalence) * (1.0 - fpr)


#: Points at which class densities are compared.
_GRID = 2_001


def _density(run: Run, grid: Floats) -> Floats:
    """Gaussian kernel density on an even grid, Silverman's bandwidth (Silverman 1986, eq. 3.31)."""
    step = grid[1] - grid[0]
    if step == 0.0:
        raise Undefined("all scores are equal, so no threshold separates them")
    near = np.clip(np.rint((run.scores - grid[0]) / step).astype(np.int64), 0, len(grid) - 1)
    heights = np.bincount(near, run.mass, len(grid)) / float(run.total)
    sums = np.cumsum(heights)
    quartiles = grid[np.searchsorted(sums, np.array([0.25, 0.75]) - rounding(run.terms))]
    sd = math.sqrt(run.moments.variance)
    spread = min(sd, (quartiles[1] - quartiles[0]) / 1.349) or sd or step
    width = max(0.9 * spread * run.n_rows ** (-0.2), step)
    reach = min(math.ceil(4 * width / step), (len(grid) - 1) // 2)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) * step / width) ** 2)
    smooth: Floats = np.convolve(heights, kernel / kernel.sum(), mode="same") / step
    return smooth


def _within_unit(name: str, value: float) -> None:
    if not 0.0 <= value <= 1.0:
        raise InputError(f"{name}:{value:g} is outside [0, 1].")


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdTable(Shown):
    """The threshold that each policy chooses, with its confusion matrix; `reasons` of those that choose none."""

    chosen: Mapping[str, Confusion]
    reasons: dict[str, str]

    def __getitem__(self, policy: str) -> Confusion:
        if policy not in self.chosen:
            raise UnknownNameError(f"{policy!r} is not in this table; there are {shown(self.chosen)}.")
        return self.chosen[policy]

    def heading(self) -> str:
        """The number of policies."""
        return f"Thresholds by {len(self.chosen)} policies"

    def rows(self) -> list[Row]:
        """One line per policy."""
        chosen: list[Row] = [
            {"policy": name, "threshold": c.threshold, "tp": c.tp, "fp": c.fp, "fn": c.fn, "tn": c.tn}
            for name, c in self.chosen.items()
        ]
        return [*chosen, *({"policy": name, "reason": reason} for name, reason in self.reasons.items())]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {name: c.to_dict() for name, c in self.chosen.items()} | {
            name: {"reason": reason} for name, reason in self.reasons.items()
        }


#: The usual policies that need no number and differ from each other.
_PLAIN = ("youden", "topleft", "f1", "kappa", "mcc", "gm", "x", "t50", "breakeven", "intersection")


def compare_thresholds(tally: Tally, *policies: str | Sequence[str]) -> ThresholdTable:
    """Thresholds and confusion matrices that several policies choose on one tally.

    Parameters
    ----------
    tally : Tally
        Labelled scores.
    *policies : str or sequence of str
        Policies, such as ``"youden"`` or ``"tpr:0.9"``; without any, the usual ones that need no number.

    Returns
    -------
    ThresholdTable

    Examples
    --------
    >>> import tallymark as tm
    >>> t = tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> tm.compare_thresholds(t, "youden", "t50", "tpr:1")
    Thresholds by 3 policies
    policy  threshold  tp  fp  fn  tn
    youden     0.3500   2   1   0   1
    t50        0.8000   1   0   1   2
    tpr:1      0.3500   2   1   0   1
    """
    if not isinstance(tally, Tally):
        raise InputError(f"compare_thresholds takes a labelled tally, got {type(tally).__name__}.")
    chosen, reasons = {}, {}
    named = [name for given in policies or (_PLAIN,) for name in ([given] if isinstance(given, str) else given)]
    for policy in named:
        try:
            chosen[policy] = tally.at(policy)
        except Undefined as error:
            if policies:
                raise
            reasons[policy] = error.reason
    return ThresholdTable(chosen, reasons)
