"""``tm.raters.judge_drift``: the same items judged again, and what it does to the judge's error rates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Bools
from tallymark._display import Row, Shown
from tallymark._numbers import counted, per_cent
from tallymark.errors import InputError
from tallymark.inference.hypothesis_tests.mcnemar import mcnemar
from tallymark.inference.interval import checked_level
from tallymark.inference.limits.proportions import limits
from tallymark.measures import Measure
from tallymark.raters.verdicts import Meaning
from tallymark.sources.any_columns import any_columns
from tallymark.sources.formats import Wanted
from tallymark.sources.frames import named_columns


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class JudgeDrift(Shown):
    """Two runs of a judge, or two judges, on the same items.

    Attributes
    ----------
    flip_rate : Measure
        Share of the items whose verdict changed.
    to_pass, to_fail : int
        Items that changed to pass, and to fail.
    pass_rate, sensitivity, specificity : Measure
        Change (second less first) of the pass rate, and of the error rates against people, with limits and McNemar's
        p-value in ``parameters``; error rates are None without people's verdicts.
    """

    n: int
    flip_rate: Measure
    to_pass: int
    to_fail: int
    pass_rate: Measure
    sensitivity: Measure | None = None
    specificity: Measure | None = None

    def heading(self) -> str:
        """How many verdicts changed."""
        rate = per_cent(self.flip_rate.value, self.flip_rate.low, self.flip_rate.high)
        return (
            f"{rate} of {counted(self.n, 'item')} changed their verdict: {self.to_pass} to pass, {self.to_fail} to fail"
        )

    def changes(self) -> list[Measure]:
        """The changes that were estimated."""
        return [one for one in (self.pass_rate, self.sensitivity, self.specificity) if one is not None]

    def rows(self) -> list[Row]:
        """A line for the flip rate and for each change."""
        names = ("value", "low", "high", "reason")
        return [
            {"of": one.name, **{name: getattr(one, name) for name in names}, "p_value": one.parameters.get("p_value")}
            for one in (self.flip_rate, *self.changes())
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        changes = {name: getattr(self, name) for name in ("flip_rate", "pass_rate", "sensitivity", "specificity")}
        return {
            "n": self.n,
            "to_pass": self.to_pass,
            "to_fail": self.to_fail,
            **{name: None if one is None else one.to_dict() for name, one in changes.items()},
        }


@named_columns
def judge_drift(
    data: Any,
    *,
    judge: Sequence[str],
    human: str | None = None,
    pos_label: Any = None,
    level: float = 0.95,
    where: str | None = None,
) -> JudgeDrift:
    """Compare two runs of a judge on the same items: changed verdicts, pass rate, and error rates against people.

    Parameters
    ----------
    data
        A dataframe, the path of a file, or arrays by name, one row per item.
    judge
        The columns of the first and the second run.
    human
        Column with people's verdicts, null where there is none.
    pos_label
        The verdict that is a pass, where it is not obvious.
    level
        Confidence level.
    where
        Of a file: only rows that satisfy this SQL condition.

    Returns
    -------
    JudgeDrift

    Examples
    --------
    >>> import tallymark as tm
    >>> runs = {"may": [1] * 80 + [0] * 20, "june": [1] * 70 + [0] * 30}
    >>> drift = tm.raters.judge_drift(runs, judge=["may", "june"])
    >>> drift.flip_rate.value, drift.pass_rate.parameters["p_value"] < 0.01
    (0.1, True)
    """
    confidence, judges = checked_level(level), _check.listed(judge)
    if len(judges) != 2 or judges[0] == judges[1]:
        raise InputError("judge_drift compares two columns of verdicts on the same items: judge=['before', 'after'].")
    if human in judges:
        raise InputError(f"{human!r} cannot be the judge's verdicts and people's; name another column as human=.")
    humans = [] if human is None else [human]
    names = [*((name, "judge=") for name in judges), *((name, "human=") for name in humans)]
    columns = any_columns(data, [Wanted(name, option, "class") for name, option in names], where=where)
    meaning = Meaning.of(columns, judges, humans, "pass", pos_label)
    before, after = (
        np.asarray(meaning.verdicts(columns[name], columns[human or name], name, human or name).judged == 1.0)
        for name in judges
    )
    flips = before != after
    low, high = limits(float(flips.sum()), float(len(flips)), confidence, "mid_p")
    rates: dict[str, Measure] = {}
    if human is not None:
        one = meaning.verdicts(columns[judges[0]], columns[human], judges[0], human)
        for name, side in (("sensitivity", True), ("specificity", False)):
            rows = one.labelled & ((one.human == 1.0) == side)
            rates[name] = _change(name, (before == side)[rows], (after == side)[rows], confidence)
    return JudgeDrift(
        n=len(flips),
        flip_rate=Measure(
            name="flip_rate",
            value=float(flips.mean()),
            low=float(low),
            high=float(high),
            interval_method="mid_p",
            level=confidence,
        ),
        to_pass=int((after & ~before).sum()),
        to_fail=int((before & ~after).sum()),
        pass_rate=_change("pass_rate", before, after, confidence),
        **rates,
    )


def _change(name: str, before: Bools, after: Bools, level: float) -> Measure:
    """Second less first, by McNemar's test."""
    if not len(before):
        return Measure(name=name, value=math.nan, reason="people gave this verdict to no item")
    pair = mcnemar(after, before, np.ones(len(before), np.int64))
    low, high = pair.limits(level)
    return Measure(
        name=name, value=pair.difference, low=low, high=high, interval_method=pair.method, level=level,
        parameters={"p_value": pair.p_value},
    )  # fmt: skip
