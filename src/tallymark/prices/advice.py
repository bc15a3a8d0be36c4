"""Choice of a metric for a classifier of prices, by the ONS guidelines (``tm.advise``).

The two tables of Rowland (2019), *Guidelines for selecting metrics to evaluate classification in price statistics*, as
data: one for two classes, one for more. Where a table contradicts itself or arithmetic, the advice says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


@dataclass(frozen=True, eq=False, repr=False)
class Advice(Shown):
    """A metric and how to use it: space, weighting, averaging, beta, each with its reason, and doubts
    about the advice.
    """

    metrics: tuple[str, ...]
    space: Literal["pr", "roc"]
    weighting: bool
    averaging: str | None
    beta: float | None
    reasons: tuple[tuple[str, str], ...]
    doubts: tuple[str, ...] = ()
    #: Tests of the data, where data were given.
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
        return ", ".join(parts) + f".\nComputed by {self.call}." + doubts

    @property
    def call(self) -> str:
        """The call that computes the metric of a confusion matrix.

        An averaged F is the guidelines' F of averaged precision and averaged recall, weighted by class size where the
        advice is to weight by prevalence. Balanced accuracy is the average of recall already.
        """
        averages = {"macro": "f_of_weighted_means" if self.weighting else "f_of_means", "micro": "micro"}
        average = averages.get(self.averaging or "") if self.metric == "fbeta" else None
        options = [] if average is None else [f"average={average!r}"]
        options += [] if self.beta is None else [f"beta={self.beta:g}"]
        return f"tm.metrics.{self.metric}({', '.join(['confusion', *options])})"

    def rows(self) -> Sequence[Row]:
        """What to do, and why."""
        return [{"about": about, "because": why} for about, why in self.reasons]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        names = ("metrics", "space", "weighting", "averaging", "beta", "doubts")
        return {name: plain(getattr(self, name)) for name in names} | {
            "reasons": [{"about": about, "because": why} for about, why in self.reasons],
            "evidence": plain([dict(e) for e in self.evidence]),
        }


@named_columns
def advise(
    data: Any = None,
    *,
    classes: int = 2,
    prevalence_stable: bool | None = None,
    values_stable: bool | None = None,
    prevalence: Level | None = None,
    true_negatives_matter: bool = False,
    emphasise: Error | None = None,
    cost_fp: float | None = None,
    cost_fn: float | None = None,
    period: str | None = None,
    label: str | None = None,
    value: str | None = None,
    pos_label: Any = None,
    level: float = 0.95,
    impact: Impact | None = None,
    order: Sequence[Any] | None = None,
) -> Advice:
    """Choose a metric from what is known of the data, or from tests of the data.

    Parameters
    ----------
    data
        A dataframe or file; what is not stated is tested on it. "Stable" then means that a test at `level` did not
        contradict it, which does not show that it holds.
    classes
        Number of classes.
    prevalence_stable, values_stable
        Whether the prevalence, and the distribution of the class's prices (or another value), are the same in all
        periods.
    prevalence
        ``low``, ``balanced`` or ``high``.
    true_negatives_matter
        Whether true negatives count.
    emphasise
        The kind of error that hurts more, ``fp`` or ``fn``.
    cost_fp, cost_fn
        Instead: both costs; beta is √(cost_fn / cost_fp), as F weighs them.
    impact
        Instead: a result of :func:`tallymark.prices.impact`; beta from the effects of one false negative and one false
        positive on the mean.
    period, label, value, pos_label
        Columns of `data`, and the positive label.
    level
        Confidence level of the tests.
    order
        The periods in order of time, where it cannot be read from them.

    Returns
    -------
    Advice
        Metric, space, weighting, averaging and beta, with reasons, doubts and the evidence of the data.

    Examples
    --------
    >>> import tallymark as tm
    >>> advice = tm.advise(classes=2, prevalence_stable=False, values_stable=True, prevalence="low", emphasise="fp")
    >>> advice.metric, advice.space, advice.beta
    ('fbeta', 'pr', 0.5)

    """
    number = _check.whole(classes, "classes", 2)
    if impact is not None and not isinstance(impact, Impact):
        raise InputError(f"impact is a {type(impact).__name__}, expected what tm.prices.impact gives.")
    for option, stable in (("prevalence_stable", prevalence_stable), ("values_stable", values_stable)):
        if stable is not None and not isinstance(stable, bool | np.bool_):
            raise InputError(f"{option} is {stable!r}, expected True or False.")
    evidence: list[Row] = []
    named = {"period": period, "label": label, "value": value, "pos_label": pos_label}
    if data is None and (unused := [name for name, given in named.items() if given is not None]):
        raise InputError(f"{unused[0]}= names a column, but there is no data; give data= too, or leave it out.")
    if data is not None:
        read = _read(data, period, label, value, pos_label, level, order)
        evidence = read.evidence
        prevalence_stable = read.prevalence_stable if prevalence_stable is None else prevalence_stable
        values_stable = read.values_stable if values_stable is None else values_stable
        prevalence = read.prevalence if prevalence is None else prevalence
    for name, stable in (("prevalence_stable", prevalence_stable), ("values_stable", values_stable)):
        if stable is None:
            raise InputError(
                f"Is the data's {name.replace('_stable', '')} stable over time? Say {name}=True or False, or give data "
                "to test it."
            )
    share: Level = require_one_of(
        "prevalence", "balanced" if prevalence is None else prevalence, ("low", "balanced", "high")
    )
    if emphasise is not None:
        require_one_of("emphasise", emphasise, ("fp", "fn"))
    tuned = _beta(emphasise, cost_fp, cost_fn) if impact is None else _beta_of(impact, emphasise, cost_fp, cost_fn)
    # Where the values move, no kind of error can be preferred.
    beta = tuned if values_stable else 1.0
    facts = {
        "prevalence_stable": bool(prevalence_stable),
        "values_stable": bool(values_stable),
        "rare": share == "low",
        "tuned": beta != 1.0,
        "negatives_matter": bool(true_negatives_matter),
    }
    return _looked_up(_TWO_CLASSES if number == 2 else _MORE_CLASSES, facts, beta, evidence)


def _beta(emphasise: Error | None, cost_fp: float | None, cost_fn: float | None) -> float:
    """Beta of F: below 1 for precision, above for recall; from costs where they are given."""
    if (cost_fp is None) != (cost_fn is None):
        raise InputError("Give both costs, cost_fp= and cost_fn=, or neither.")
    if cost_fp is not None and cost_fn is not None:
        fp, fn = _check.real(cost_fp, "cost_fp"), _check.real(cost_fn, "cost_fn")
        if fp <= 0.0 or fn <= 0.0:
            raise InputError("Costs must be above 0 to weigh one error against the other.")
        return float(np.sqrt(fn / fp))
    return {"fp": 0.5, "fn": 2.0, None: 1.0}[emphasise]


#: Limits of beta; beyond them one kind of error hardly matters.
_LEAST_BETA, _MOST_BETA = 0.1, 10.0


def _beta_of(impact: Impact, emphasise: Error | None, cost_fp: float | None, cost_fn: float | None) -> float:
    """Beta from the effect of one error of each kind on the mean, over all periods."""
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


@dataclass(frozen=True)
class _Rule:
    """A row of a table: where its conditions hold, F (or balanced accuracy), weighting and averaging,
    with the reasons.
    """

    when: Mapping[str, bool]
    fbeta: bool
    metric: str
    weighting: tuple[bool, str]
    averaging: tuple[str | None, str]
    doubts: tuple[str, ...] = ()


#: Conditions of the rules.
_BOTH_STABLE = {"prevalence_stable": True, "values_stable": True}
_ONLY_PREVALENCE = {"prevalence_stable": True, "values_stable": False}
_ONLY_VALUES = {"prevalence_stable": False, "values_stable": True}
_NEITHER = {"prevalence_stable": False, "values_stable": False}
_RARE, _TUNED_BETA, _NEGATIVES = {"rare": True}, {"tuned": True}, {"negatives_matter": True, "tuned": False}

#: Advice with its reason, as the rules share it.
_WEIGH = (True, "prevalence is stable, so weights of an averaged F stay right")
_NO_PREVALENCE = (False, "balanced accuracy does not depend on prevalence")
_NOT_AVERAGED = (False, "neither balanced accuracy nor a single F is averaged")
_CHANGE = (False, "unstable prevalence means that weights by prevalence will change")
_SIZES = (True, "prevalence is stable, so classes of different size can be accounted for")
_MACRO = ("macro", "classes are unbalanced and prevalence is stable")
_NONE = (None, "balanced accuracy is the macro average of recall; a single F is not averaged")
_MACRO_OF_STABLE = ("macro", "prevalence is stable, so weights can make up for unbalanced classes")
_MICRO_OF_MOVING = ("micro", "the table advises micro where prevalence moves")
_MACRO_RECALL = ("macro", "average recall is a macro average")
_F_IF_RARE_OR_TUNED = "Fβ for low prevalence, or where one kind of error hurts more; otherwise balanced accuracy"
_F_IF_RARE = "Fβ is better with low prevalence; otherwise balanced accuracy"
_F_TO_CHOOSE = (
    "Fβ lets one choose which error to avoid; with β = 1 and enough positives it has no benefit over balanced accuracy"
)
_COMPARABLE = "balanced accuracy can be compared across periods of different prevalence"
_F_TO_WEIGH = "Fβ, to weigh false alarms against misses"
_AVERAGE_RECALL = "average recall, since true negatives matter and both errors count alike"
_MICRO = (
    "the table calls micro averaging free of prevalence, which it is not: micro-averaged F of all classes is accuracy, "
    "and moves with the classes' shares"
)
_TWICE = (
    "the table says micro in its row on metrics and macro in its row on averaging; macro is taken, since prevalence is "
    "stable"
)

#: Table 1, two classes; the first rule whose conditions hold.
_TWO_CLASSES = (
    _Rule(_BOTH_STABLE | _RARE, True, _F_IF_RARE_OR_TUNED, _WEIGH, _MACRO),
    _Rule(_BOTH_STABLE | _TUNED_BETA, True, _F_IF_RARE_OR_TUNED, _WEIGH, _MACRO),
    _Rule(_BOTH_STABLE, False, _F_IF_RARE_OR_TUNED, _NO_PREVALENCE, _NONE),
    _Rule(_ONLY_PREVALENCE | _RARE, True, _F_IF_RARE, _NOT_AVERAGED, _NONE),
    _Rule(_ONLY_PREVALENCE, False, _F_IF_RARE, _NOT_AVERAGED, _NONE),
    _Rule(_ONLY_VALUES | _RARE, True, _F_TO_CHOOSE, _CHANGE, _NONE),
    _Rule(_ONLY_VALUES | _TUNED_BETA, True, _F_TO_CHOOSE, _CHANGE, _NONE),
    _Rule(_ONLY_VALUES, False, _F_TO_CHOOSE, _CHANGE, _NONE),
    _Rule(_NEITHER, False, _COMPARABLE, _CHANGE, _NONE),
)

#: Table 2, more classes; the first rule whose conditions hold.
_MORE_CLASSES = (
    _Rule(_BOTH_STABLE | _NEGATIVES, False, _AVERAGE_RECALL, _SIZES, _MACRO_RECALL),
    _Rule(_BOTH_STABLE, True, _F_TO_WEIGH, _SIZES, _MACRO_OF_STABLE),
    _Rule(_ONLY_PREVALENCE | _NEGATIVES, False, _AVERAGE_RECALL, _SIZES, _MACRO_RECALL, (_TWICE,)),
    _Rule(_ONLY_PREVALENCE, True, _F_TO_WEIGH, _SIZES, _MACRO_OF_STABLE, (_TWICE,)),
    _Rule(_ONLY_VALUES | _NEGATIVES, False, _AVERAGE_RECALL, _CHANGE, _MACRO_RECALL, (_MICRO,)),
    _Rule(_ONLY_VALUES, True, _F_TO_WEIGH, _CHANGE, _MICRO_OF_MOVING, (_MICRO,)),
    _Rule(_NEITHER | _NEGATIVES, False, _AVERAGE_RECALL, _CHANGE, _MACRO_RECALL, (_MICRO,)),
    _Rule(_NEITHER, True, _F_TO_WEIGH, _CHANGE, _MICRO_OF_MOVING, (_MICRO,)),
)

_TUNED = "prices of the classes are stable, so the metric can be tuned to the errors that matter"
_COMPROMISE = "prices of the classes are not stable, so no kind of error can be preferred"
_NO_NEGATIVES = (
    "Fβ does not look at true negatives, which matter here; read balanced accuracy (or average recall) beside it"
)


def _looked_up(table: Sequence[_Rule], facts: Mapping[str, bool], beta: float, evidence: Sequence[Row]) -> Advice:
    """The advice of the first rule of a table whose conditions hold."""
    rule = next(rule for rule in table if rule.when.items() <= facts.items())
    reasons = [("metric", rule.metric), ("weighting", rule.weighting[1]), ("averaging", rule.averaging[1])]
    if rule.fbeta:
        reasons.append(("beta", _TUNED if facts["values_stable"] else _COMPROMISE))
    doubts = (_NO_NEGATIVES, *rule.doubts) if rule.fbeta and facts["negatives_matter"] else rule.doubts
    return Advice(
        metrics=("fbeta", "balanced_accuracy") if rule.fbeta else ("balanced_accuracy", "fbeta"),
        space="pr" if rule.fbeta else "roc",
        weighting=rule.weighting[0],
        averaging=rule.averaging[0],
        beta=beta if rule.fbeta else None,
        reasons=tuple(reasons),
        doubts=doubts,
        evidence=tuple(evidence),
    )


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
    """Test whether prevalence, and the positives' values, are the same in all periods."""
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
        # None where nothing could be compared.
        prices = min(row["p_value"] for row in rows) > alpha if rows else None
    share = float(positive.mean())
    named: Level = "balanced"
    if share < _LOW:
        named = "low"
    elif share > _HIGH:
        named = "high"
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
            test = ks_2samp(before, now)
            rows.append(
                {
                    "about": f"values, {times[place - 1]} to {times[place]}",
                    "ks": float(test.statistic),
                    "p": float(test.pvalue),
                    "wasserstein": float(wasserstein_distance(before, now)),
                    "psi": _psi(before, now),
                    "test": "Kolmogorov–Smirnov, Holm",
                }
            )
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
