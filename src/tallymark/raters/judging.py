r"""``tm.raters.judge``: a judge's verdicts on all items corrected by people's verdicts on some.

The corrected pass rate is the design-based estimate of an audit: within the items judged pass and those judged fail,
the share that people pass (:mod:`tallymark.audits`). Nothing is assumed of the judge. Beside it stands the estimate
from the judge's error rates (Rogan & Gladen 1978), which needs them to be the same in all items.

The difference of two systems uses :math:`d = y_A - y_B` of the labelled items and :math:`c = j_A - j_B` of all,
:math:`\lambda\bar c + \overline{d - \lambda c}` with :math:`\lambda` the regression of d on c within [0, 1]
(power-tuned prediction-powered inference; Angelopoulos, Duchi & Zrnic 2023), and half a pseudo-item of +1 and one of
-1, without which limits hold far too seldom where both systems nearly always pass.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from tallymark import _check
from tallymark._check import Bools, Floats, Ints, Label
from tallymark.audits.checked_rows import without_verdict
from tallymark.audits.class_estimates import AuditMeasure
from tallymark.audits.count_table import from_counts
from tallymark.audits.estimates import estimate
from tallymark.errors import InputError, shown
from tallymark.inference.interval import checked_level
from tallymark.inference.limits.proportions import limits
from tallymark.measures import Measure
from tallymark.notes import Note, emit
from tallymark.quantify.estimation.prevalence import Prevalence
from tallymark.raters.agreement import agreement
from tallymark.raters.judgements import Judgement
from tallymark.sources.any_columns import any_columns
from tallymark.sources.columns import rows_by_group
from tallymark.sources.formats import Wanted, column_names
from tallymark.sources.frames import named_columns
from tallymark.summaries.confusion import Confusion

#: Words for failing and passing that need no ``pos_label``.
_PASSING: tuple[tuple[Label, Label], ...] = (
    ("fail", "pass"),
    ("FAIL", "PASS"),
    ("no", "yes"),
    ("incorrect", "correct"),
    ("bad", "good"),
)

#: Weight of each of the two pseudo-items of a difference.
_PSEUDO = 0.5

#: Items with human verdicts on both systems from which a difference is estimated.
_FEWEST = 3


@dataclass(frozen=True)
class _Verdicts:
    """Verdicts of a judge on all items, and of people on some: 1 for pass."""

    judged: Bools
    human: Bools
    labelled: Bools

    def part(self, rows: Ints) -> _Verdicts:
        return _Verdicts(self.judged[rows], self.human[rows], self.labelled[rows])


@named_columns
def judge(
    data: Any,
    *,
    judge: str | Sequence[str],
    human: str | Sequence[str],
    system: str | None = None,
    item: str | None = None,
    by: str | Sequence[str] | None = None,
    cluster: str | None = None,
    pos_label: Any = None,
    level: float = 0.95,
) -> Judgement:
    """Correct the pass rate of a judge by people's verdicts on some of the items.

    The items with a human verdict must be a random sample of all. Of one system: the pass rate as judged and as
    corrected, the judge's sensitivity and specificity against people, and their agreement. Of two systems judged on the
    same items, also the corrected difference of their pass rates.

    Parameters
    ----------
    data
        A dataframe, the path of a file, or arrays by name, one row per item.
    judge
        Column with the judge's verdict on every item; one for each system.
    human
        Column with people's verdicts, null where there is none; one for each system.
    system, item
        Instead of a column for each system: the column that names the system and the one that names the item, where
        each row is the answer of one system to one item.
    by
        Columns of segments, estimated one by one.
    cluster
        Column of clusters (conversations) that people judged whole.
    pos_label
        The verdict that is a pass, where it is not obvious.
    level
        Confidence level.

    Returns
    -------
    Judgement
        ``judged``, ``corrected``, ``sensitivity``, ``specificity``, ``agreement``; of two systems ``difference``.

    Examples
    --------
    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(2_000) < 0.8
    >>> verdict = np.where(truth, rng.random(2_000) < 0.95, rng.random(2_000) < 0.4)
    >>> human = np.where(np.arange(2_000) < 200, truth, np.nan)
    >>> result = tm.raters.judge(pd.DataFrame({"j": verdict.astype(int), "h": human}), judge="j", human="h")
    >>> round(result.judged.value, 3), result.corrected.written
    (0.834, '0.73 (0.68–0.78)')

    """
    confidence = checked_level(level)
    judges, humans = _check.listed(judge), _check.listed(human)
    segments = column_names(by, "by=")
    if len(judges) != len(humans) or len(set(judges)) < len(judges):
        raise InputError(
            f"judge= names {shown(judges)} and human= {shown(humans)}; expected one of each for every system."
        )
    if (system is None) != (item is None) or (system is not None and len(judges) > 1):
        raise InputError("In long form name the columns system= and item=, and one column each of judge= and human=.")
    wanted = [
        Wanted(name, option, "class") for names, option in ((judges, "judge="), (humans, "human=")) for name in names
    ]
    others = ((system, "system="), (item, "item="), (cluster, "cluster="), *((name, "by=") for name in segments))
    wanted += [Wanted(name, option) for name, option in others if name is not None]
    columns = any_columns(data, wanted)
    passing = _passing(columns, judges, humans, pos_label)
    systems = {
        name: _verdicts(columns[name], columns[other], passing, name)
        for name, other in zip(judges, humans, strict=True)
    }
    if system is not None and item is not None:
        systems = _by_system(next(iter(systems.values())), columns, system, item)
    of_cluster = None if cluster is None else _check.groups(columns[cluster], cluster)
    parts = {name: _judged(one, confidence, of_cluster) for name, one in systems.items()}
    result = next(iter(parts.values())) if len(parts) == 1 else Judgement.of_systems(parts)
    if len(parts) == 2:
        first, second = systems.values()
        result = replace(result, difference=_difference(first, second, confidence))
    if segments:
        if len(parts) > 1:
            raise InputError("by= is for one system; leave it out, or call judge once for each.")
        (whole,) = systems.values()
        groups = rows_by_group([_check.groups(columns[name], name) for name in segments])
        within = {key: _judged(whole.part(rows), confidence, None) for key, rows in groups}
        result = replace(result, by=tuple(segments), segments=within)
    emit(result.warnings)
    return result


def _passing(columns: Mapping[str, Any], judges: Sequence[str], humans: Sequence[str], pos_label: Any) -> Label:
    """The verdict that is a pass."""
    values: set[Label] = set()
    for name in (*judges, *humans):
        present = np.ma.getdata(columns[name])[~without_verdict(columns[name])]
        if len(present):
            values |= set(_check.distinct(_check.labels(present, name), name))
    if pos_label is not None:
        named = _check.named_label(pos_label, sorted(values, key=str))
        if named not in values:
            raise _check.does_not_occur(pos_label, "the verdicts", sorted(values, key=str))
        return named
    for negative, positive in (*_PASSING, (0, 1), (-1, 1)):
        if values <= {negative, positive}:
            return positive
    raise InputError(f"The verdicts are {shown(sorted(values, key=str))}; which one is a pass? Say so with pos_label=.")


def _verdicts(judge: NDArray[Any], human: NDArray[Any], passing: Label, name: str) -> _Verdicts:
    if (missing := int(without_verdict(judge).sum())) > 0:
        raise InputError(f"{name} has no verdict in {missing} rows; a judge must have judged every item.")
    labelled = ~without_verdict(human)
    if not labelled.any():
        raise InputError("No item has a human verdict; the judge cannot be checked without any.")
    truth = np.zeros(len(labelled), np.bool_)
    truth[labelled] = np.ma.getdata(human)[labelled] == passing
    return _Verdicts(np.asarray(np.ma.getdata(judge) == passing), truth, labelled)


def _by_system(one: _Verdicts, columns: Mapping[str, Any], system: str, item: str) -> dict[str, _Verdicts]:
    """The verdicts of each system, in the same order of items."""
    items = _check.groups(columns[item], item)
    systems: dict[str, _Verdicts] = {}
    order: NDArray[Any] | None = None
    for (name,), rows in rows_by_group([_check.groups(columns[system], system)]):
        sorted_rows = np.asarray(rows)[np.argsort(items[rows], kind="stable")]
        names = items[sorted_rows]
        if len(np.unique(names)) < len(names):
            raise InputError(f"{system} {name} has an item more than once; each system has one answer to an item.")
        if order is not None and not np.array_equal(names, order):
            raise InputError(f"The systems were not judged on the same items ({item}); keep those that all have.")
        order = names
        systems[str(name)] = one.part(sorted_rows)
    return systems


def _judged(one: _Verdicts, level: float, cluster: NDArray[Any] | None) -> Judgement:
    """One system: as judged and as corrected."""
    n, labelled = len(one.judged), one.labelled
    both = one.judged[labelled].astype(np.int64), one.human[labelled].astype(np.int64)
    frame = {"judge": one.judged.astype(np.int64), "human": np.where(labelled, one.human, np.nan)}
    if cluster is None:
        audit = estimate(frame, label="human", predicted="judge", pos_label=1, level=level)
    else:
        audit = estimate(frame | {"cluster": cluster}, label="human", predicted="judge", cluster="cluster", level=level)
    corrected = audit.prevalences.get(1)
    if corrected is None or corrected.reason is not None:
        reason = "no item that people passed was labelled" if corrected is None else corrected.reason
        corrected = AuditMeasure(name="corrected", value=math.nan, reason=reason)
    rates = {
        name: _rate(name, both[0][both[1] == side] == side, level)
        for name, side in (("sensitivity", 1), ("specificity", 0))
    }
    by_rates = _by_error_rates(both, int(one.judged.sum()), n, level)
    agree = agreement({"judge": both[0], "human": both[1]}, rater=["judge", "human"], level=level)
    return Judgement(
        n=n,
        labelled=int(labelled.sum()),
        judged=Measure(name="judged", value=float(one.judged.mean()), no_interval="every item was judged"),
        corrected=replace(corrected, name="corrected"),
        by_error_rates=by_rates,
        sensitivity=rates["sensitivity"],
        specificity=rates["specificity"],
        agreement=agree,
        warnings=_notes(corrected, by_rates),
    )


def _rate(name: str, right: Bools, level: float) -> Measure:
    if not len(right):
        what = "passed" if name == "sensitivity" else "failed"
        return Measure(name=name, value=math.nan, reason=f"no labelled item was {what} by people")
    low, high = limits(float(right.sum()), float(len(right)), level, "mid_p")
    return Measure(
        name=name, value=float(right.mean()), low=float(low), high=float(high), interval_method="mid_p", level=level
    )


def _by_error_rates(both: tuple[Ints, Ints], passed: int, n: int, level: float) -> Prevalence | None:
    """The pass rate from the judge's error rates; None where people passed all, or none."""
    judged, human = both
    if not 0 < human.sum() < len(human):
        return None
    matrix = np.zeros((2, 2), np.int64)
    np.add.at(matrix, (human, judged), 1)
    answer = from_counts(Confusion(matrix, (0, 1), positive=1), predicted_positive=passed, n=n, level=level)
    return answer if isinstance(answer, Prevalence) else None


def _notes(corrected: AuditMeasure, by_rates: Prevalence | None) -> tuple[Note, ...]:
    """A note where the two corrections contradict each other."""
    ours, theirs = corrected.interval, None if by_rates is None else by_rates.interval
    if ours is None or theirs is None or (ours[0] <= theirs[1] and theirs[0] <= ours[1]):
        return ()
    text = (
        f"corrected by the labelled items the pass rate is {ours[0]:.3g} to {ours[1]:.3g}, by the judge's error rates "
        f"{theirs[0]:.3g} to {theirs[1]:.3g}: the labelled items are no random sample, or the error rates differ "
        "between kinds of items"
    )
    return (Note("TM118", text),)


def _difference(first: _Verdicts, second: _Verdicts, level: float) -> AuditMeasure:
    """Corrected difference of the pass rates, first less second."""
    both = first.labelled & second.labelled
    n, rows = int(both.sum()), len(both)
    if n < _FEWEST:
        reason = f"{n} items have human verdicts on both systems, fewer than {_FEWEST}"
        return AuditMeasure(name="difference", value=math.nan, reason=reason)
    change: Floats = first.judged.astype(np.float64) - second.judged
    d = np.r_[first.human[both].astype(np.float64) - second.human[both], 1.0, -1.0]
    c = np.r_[change[both], 0.0, 0.0]
    w = np.r_[np.ones(n), _PSEUDO, _PSEUDO]
    size = float(w.sum())
    mean_d, mean_c = float(w @ d) / size, float(w @ c) / size
    spread = float(w @ (c - mean_c) ** 2)
    slope = min(max(float(w @ ((d - mean_d) * (c - mean_c))) / spread, 0.0), 1.0) if spread > 0.0 else 0.0
    rest = d - slope * c
    value = slope * float(change.mean()) + float(w @ rest) / size
    variance = float(w @ (rest - float(w @ rest) / size) ** 2) / (size - 2.0)
    error = math.sqrt(variance * (1.0 - n / rows) / size)
    reach = float(stdtrit(n - 1, 0.5 + level / 2.0)) * error
    p_value = 1.0 if error == 0.0 and value == 0.0 else 2.0 * float(stdtr(n - 1, -abs(value) / max(error, 1e-300)))
    return AuditMeasure(
        name="difference",
        value=value,
        low=max(value - reach, -1.0),
        high=min(value + reach, 1.0),
        standard_error=error,
        interval_method="prediction-powered, two half pseudo-items",
        level=level,
        parameters={"p_value": p_value, "labelled": float(n)},
    )
