"""``tm.advise``: which metric to watch a classifier of prices by, as the Office for National Statistics advises, with its reasons.

The two tables of Rowland (2019), *Guidelines for selecting metrics to evaluate classification in price statistics*, as data: one for
two classes, one for more. Where a table contradicts itself or arithmetic, the advice says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tallymark import _check
from tallymark._check import Floats
from tallymark._display import Row, Shown, plain
from tallymark._periods import in_order
from tallymark.errors import InputError
from tallymark.inference.hypothesis_tests.corrections import holm
from tallymark.inference.interval import checked_level
from tallymark.prices.error_impact import ERRORS, Impact
from tallymark.registry import METRICS, require_one_of
from tallymark.sources.any_columns import any_columns, numbers
from tallymark.sources.columns import group_values
from tallymark.sources.formats import Wanted
from tallymark.sources.frames import named_columns, order_of

Level = Literal["low", "balanced", "high"]
Error = Literal["fp", "fn"]

_WEIGHTS_CHANGE = "unstable prevalence means that weights by prevalence will change"
_TUNED = "prices of the classes are stable, so the metric can be tuned to the errors that matter"
_COMPROMISE = "prices of the classes are not stable, so no kind of error can be preferred"
_MICRO = (
    "the table calls micro averaging free of prevalence, which it is not: micro-averaged F of all classes is accuracy, and moves with "
    "the classes' shares"
)
_TWICE = "the table says micro in its row on metrics and macro in its row on averaging; macro is taken, since prevalence is stable"


@dataclass(frozen=True, eq=False, repr=False)
class Advice(Shown):
    """A metric and how to use it: the space to look at, weighting, averaging, beta; each with its reason, and what is doubtful."""

    metrics: tuple[str, ...]
    space: Literal["pr", "roc"]
    weighting: bool
    averaging: str | None
    beta: float | None
    reasons: tuple[tuple[str, str], ...]
    doubts: tuple[str, ...] = ()
    #: What was read off the data, where data were given.
    evidence: tuple[Row, ...] = ()

    @property
    def metric(self) -> str:
        """The one to watch first."""
        return self.metrics[0]

    def heading(self) -> str:
        """The advice in one line."""
        parts = [f"Watch {METRICS[self.metric].title} in {self.space.upper()} space"]
        if self.beta is not None:
            parts.append(f"beta {self.beta:g}")
        if self.averaging is not None:
            parts.append(f"{self.averaging} average")
        parts.append("weighted by prevalence" if self.weighting else "not weighted by prevalence")
        doubts = "".join(f"\nDoubtful: {doubt}." for doubt in self.doubts)
        return ", ".join(parts) + "." + doubts

    def rows(self) -> Sequence[Row]:
        """What to do, and why."""
        return [{"about": about, "because": why} for about, why in self.reasons]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        names = ("metrics", "space", "weighting", "averaging", "beta", "doubts")
        return {name: plain(getattr(self, name)) for name in names} | {
            "reasons": [{"about": about, "because": why} for about, why in self.reasons], "evidence": plain([dict(e) for e in self.evidence]),
        }  # fmt: skip


@named_columns
def advise(
    data: Any = None, *, classes: int = 2, prevalence_stable: bool | None = None, values_stable: bool | None = None,
    prevalence: Level | None = None, true_negatives_matter: bool = False, emphasise: Error | None = None,
    cost_fp: float | None = None, cost_fn: float | None = None, period: str | None = None, label: str | None = None,
    value: str | None = None, pos_label: Any = None, level: float = 0.95, impact: Impact | None = None,
    order: Sequence[Any] | None = None,
) -> Advice:  # fmt: skip
    """Which metric to use, from what is known of the data.

    `prevalence_stable` and `values_stable` say whether the class's share and the distribution of its prices (or of any value) stay
    from period to period; `prevalence` is ``low``, ``balanced`` or ``high``; `emphasise` the kind of error that hurts more, or both
    costs, whose ratio gives beta (√(cost_fn / cost_fp), as F weighs them), or an `impact` (:func:`tallymark.prices.impact`), by which one
    false negative and one false positive move the level of the value. Given `data`, a dataframe or file with `period`, `label` and
    `value` columns, what is not said is read off them, and the evidence is listed: "stable" there means that a test at `level` did not
    contradict it, which is not that it is so. `order` lists the periods where their order in time cannot be read.

    >>> import tallymark as tm
    >>> found = tm.advise(classes=2, prevalence_stable=False, values_stable=True, prevalence="low", emphasise="fp")
    >>> found.metric, found.space, found.beta
    ('fbeta', 'pr', 0.5)
    """
    number = _check.whole(classes, "classes", 2)
    if impact is not None and not isinstance(impact, Impact):
        raise InputError(f"impact is a {type(impact).__name__}, expected what tm.prices.impact gives.")
    for option, told in (("prevalence_stable", prevalence_stable), ("values_stable", values_stable)):
        if told is not None and not isinstance(told, bool | np.bool_):
            raise InputError(f"{option} is {told!r}, expected True or False.")
    evidence: list[Row] = []
    named = {"period": period, "label": label, "value": value, "pos_label": pos_label}
    if data is None and (unused := [name for name, given in named.items() if given is not None]):
        raise InputError(f"{unused[0]}= speaks of data, but there is none; give data= too, or leave it out.")
    if data is not None:
        read = _read(data, period, label, value, pos_label, level, order)
        evidence = read.evidence
        prevalence_stable = read.prevalence_stable if prevalence_stable is None else prevalence_stable
        values_stable = read.values_stable if values_stable is None else values_stable
        prevalence = read.prevalence if prevalence is None else prevalence
    for name, said in (("prevalence_stable", prevalence_stable), ("values_stable", values_stable)):
        if said is None:
            raise InputError(
                f"Is the data's {name.replace('_stable', '')} stable over time? Say {name}=True or False, or give data to read it off."
            )
    share: Level = require_one_of(
        "prevalence", "balanced" if prevalence is None else prevalence, ("low", "balanced", "high")
    )
    if emphasise is not None:
        require_one_of("emphasise", emphasise, ("fp", "fn"))
    tuned = _beta(emphasise, cost_fp, cost_fn) if impact is None else _beta_of(impact, emphasise, cost_fp, cost_fn)
    make = _binary if number == 2 else _multiclass
    advice = make(bool(prevalence_stable), bool(values_stable), share, true_negatives_matter, tuned)
    return Advice(**(advice | {"evidence": tuple(evidence)}))


def _beta(emphasise: Error | None, cost_fp: float | None, cost_fn: float | None) -> float:
    """Beta of F: below 1 for precision, above for recall; from costs where they are known."""
    if (cost_fp is None) != (cost_fn is None):
        raise InputError("Give both costs, cost_fp= and cost_fn=, or neither.")
    if cost_fp is not None and cost_fn is not None:
        fp, fn = _check.real(cost_fp, "cost_fp"), _check.real(cost_fn, "cost_fn")
        if fp <= 0.0 or fn <= 0.0:
            raise InputError("Costs must be above 0 to weigh one error against the other.")
        return float(np.sqrt(fn / fp))
    return {"fp": 0.5, "fn": 2.0, None: 1.0}[emphasise]


#: A beta beyond these says no more than that one kind of error hardly matters.
_LEAST_BETA, _MOST_BETA = 0.1, 10.0


def _beta_of(impact: Impact, emphasise: Error | None, cost_fp: float | None, cost_fn: float | None) -> float:
    """Beta from what one error of each kind does to the level, over all periods."""
    if emphasise is not None or cost_fp is not None or cost_fn is not None:
        raise InputError("impact= says which error hurts more; leave emphasise= and costs out.")
    each = {}
    for error, group in ERRORS.items():
        number = sum(part.sizes[group] for part in impact.parts)
        moved = sum(abs(part.shifts[error].value) for part in impact.parts if part.sizes[group])
        each[error] = moved / number if number else 0.0
    if not each["fp"] or not each["fn"]:
        raise InputError("impact= has no errors of one kind, so that they cannot be weighed against each other.")
    return float(min(max(np.sqrt(each["fn"] / each["fp"]), _LEAST_BETA), _MOST_BETA))


def _binary(stable: bool, values: bool, share: Level, negatives: bool, tuned: float) -> dict[str, Any]:
    """Table 1. Prevalence and prices stable or not, the share of the class, and which error hurts."""
    low = share == "low"
    if stable and values:
        f = low or tuned != 1.0
        why = "Fβ for low prevalence, or where one kind of error hurts more; otherwise balanced accuracy"
        beta, why_beta = tuned, _TUNED
        weighting, why_weight = (
            f,
            "prevalence is stable, so weights of an averaged F stay right"
            if f
            else "balanced accuracy does not depend on prevalence",
        )
    elif stable:
        f, why = low, "Fβ is better with low prevalence; otherwise balanced accuracy"
        beta, why_beta = 1.0, _COMPROMISE
        weighting, why_weight = False, "neither balanced accuracy nor a single F is averaged"
    elif values:
        f = low or tuned != 1.0
        why = "Fβ lets one choose which error to avoid; with β = 1 and enough positives it has no benefit over balanced accuracy"
        beta, why_beta = tuned, _TUNED
        weighting, why_weight = False, _WEIGHTS_CHANGE
    else:
        f, why = False, "balanced accuracy can be compared across periods of different prevalence"
        beta, why_beta = 1.0, "no beta: balanced accuracy"
        weighting, why_weight = False, _WEIGHTS_CHANGE
    return _advice(
        f, why, beta if f else None, why_beta, weighting, why_weight, "macro" if f and weighting else None,
        "classes are unbalanced and prevalence is stable" if f and weighting else "balanced accuracy is the macro average of recall; a single F is not averaged",
        _of_negatives(f, negatives),
    )  # fmt: skip


def _multiclass(stable: bool, values: bool, share: Level, negatives: bool, tuned: float) -> dict[str, Any]:  # noqa: ARG001
    """Table 2: more than two classes."""
    beta = tuned if values else 1.0
    average_recall = negatives and beta == 1.0
    f = not average_recall
    why = (
        "average recall, since true negatives matter and both errors count alike"
        if average_recall
        else "Fβ, to weigh false alarms against misses"
    )
    averaging = "macro" if stable else "micro"
    why_average = (
        "prevalence is stable, so weights can make up for unbalanced classes"
        if stable
        else "the table advises micro where prevalence moves"
    )
    doubts = list(_of_negatives(f, negatives))
    if stable and not values:
        doubts.append(_TWICE)
    if not stable:
        doubts.append(_MICRO)
    return _advice(
        f, why, beta if f else None, _TUNED if values else _COMPROMISE, stable,
        "prevalence is stable, so classes of different size can be accounted for" if stable else _WEIGHTS_CHANGE,
        averaging if f else "macro", why_average if f else "average recall is a macro average", tuple(doubts),
    )  # fmt: skip


def _of_negatives(f: bool, matter: bool) -> tuple[str, ...]:
    return (
        ("Fβ does not look at true negatives, which matter here; read balanced accuracy (or average recall) beside it",)
        if f and matter
        else ()
    )


def _advice(
    f: bool, why: str, beta: float | None, why_beta: str, weighting: bool, why_weight: str, averaging: str | None, why_average: str,
    doubts: tuple[str, ...],
) -> dict[str, Any]:  # fmt: skip
    order = ("fbeta", "balanced_accuracy") if f else ("balanced_accuracy", "fbeta")
    reasons = [("metric", why), ("weighting", why_weight), ("averaging", why_average)]
    if beta is not None:
        reasons.append(("beta", why_beta))
    return {
        "metrics": order, "space": "pr" if f else "roc", "weighting": weighting, "averaging": averaging, "beta": beta,
        "reasons": tuple(reasons), "doubts": doubts,
    }  # fmt: skip


@dataclass(frozen=True)
class _Reading:
    prevalence_stable: bool
    values_stable: bool | None
    prevalence: Level
    evidence: list[Row]


#: Prevalences below and above which a class is called rare and common.
_LOW, _HIGH = 0.2, 0.8


def _read(
    data: Any,
    period: str | None,
    label: str | None,
    value: str | None,
    pos_label: Any,
    level: float,
    order: Sequence[Any] | None,
) -> _Reading:
    """Whether prevalence, and the positives' values, stay from period to period."""
    if period is None or label is None:
        raise InputError(
            "To read stability off data, name the columns with period= and label= (and value=, such as the price)."
        )
    wanted = [
        Wanted(period, "period="),
        Wanted(label, "label="),
        *([] if value is None else [Wanted(value, "value=", "number")]),
    ]
    columns = any_columns(data, wanted)
    positive, _ = _check.binary_labels(_check.labels(columns[label], label), pos_label, label)
    when = group_values(_check.groups(columns[period], period))
    times = in_order(when, period, order_of(data, period, order))
    place = {value: number for number, value in enumerate(times)}
    t = np.fromiter((place[value] for value in when), np.int64, len(when))
    if len(times) < 2:
        raise InputError(f"{period} has one value only; stability is a matter of two or more periods.")
    alpha = 1.0 - checked_level(level)
    evidence = [_of_prevalence(positive, t)]
    prices = None
    if value is not None:
        rows = _of_values(numbers(columns[value], value), positive, t, times)
        evidence += rows
        # Where nothing could be compared, nothing is known.
        prices = min(row["p_value"] for row in rows) > alpha if rows else None
    share = float(positive.mean())
    named: Level = "low" if share < _LOW else "high" if share > _HIGH else "balanced"
    return _Reading(evidence[0]["p_value"] > alpha, prices, named, evidence)


def _of_prevalence(positive: Any, t: Any) -> Row:
    """Does the share of positives differ between periods?"""
    from scipy.stats import chi2_contingency

    table = np.array([np.bincount(t, positive), np.bincount(t, ~positive)])
    shares = table[0] / table.sum(axis=0)
    p = 1.0 if not table.sum(axis=1).all() else float(chi2_contingency(table, correction=False).pvalue)
    return {
        "about": "prevalence",
        "from": float(shares.min()),
        "to": float(shares.max()),
        "p_value": p,
        "test": "chi-square over periods",
    }


def _of_values(values: Floats, positive: Any, t: Any, times: Any) -> list[Row]:
    """Do the positives' values differ from the period before? Corrected for the number of periods."""
    from scipy.stats import ks_2samp, wasserstein_distance

    rows = []
    for place in range(1, len(times)):
        before, now = (values[(t == at) & positive & np.isfinite(values)] for at in (place - 1, place))
        if len(before) and len(now):
            found = ks_2samp(before, now)
            rows.append({"about": f"values, {times[place - 1]} to {times[place]}", "ks": float(found.statistic), "p": float(found.pvalue),
                         "wasserstein": float(wasserstein_distance(before, now)), "psi": _psi(before, now), "test": "Kolmogorov–Smirnov, Holm"})  # fmt: skip
    adjusted = holm(np.array([row["p"] for row in rows], dtype=np.float64))
    return [{**row, "p_value": float(p)} for row, p in zip(rows, adjusted, strict=True)]


#: Bins of the population stability index, and the share that an empty one is taken to have.
_TENTHS, _EMPTY = 10, 1e-4


def _psi(before: Floats, now: Floats) -> float:
    """The population stability index over tenths of the values before; above 0.25 is commonly called a shift."""
    edges = np.unique(np.quantile(before, np.linspace(0, 1, _TENTHS + 1)))[1:-1]
    shares = [
        np.maximum(np.bincount(np.searchsorted(edges, part, "right"), minlength=len(edges) + 1) / len(part), _EMPTY)
        for part in (before, now)
    ]
    return float(np.sum((shares[1] - shares[0]) * np.log(shares[1] / shares[0])))
