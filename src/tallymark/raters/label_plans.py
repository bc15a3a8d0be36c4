r"""``tm.raters.plan``: how many items people must label for a corrected rate, or to show a difference of two systems.

Labels are split between the items judged pass and those judged fail in proportion to :math:`W_j\sqrt{v_j (1 - v_j)}`,
with :math:`W_j` their share and :math:`v_j` the share of them that people pass, from the items labelled so far
(:math:`(x + 1) / (m + 2)`). The closed form of the width is too hopeful where few items fail, so that the number of
labels is the least for which the limits of simulated labels are no wider in 80 % of the samples; in each sample
:math:`v_j` is drawn from what the labels so far leave possible.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Ints
from tallymark._display import Row, Shown, plain
from tallymark._numbers import counted, number
from tallymark.audits.checked_rows import without_verdict
from tallymark.audits.draws import drawn, quantiles
from tallymark.audits.strata import Stratum
from tallymark.errors import InputError, Undefined
from tallymark.inference.interval import checked_level
from tallymark.inference.resampling.parallel import seeds
from tallymark.inference.scales import critical_value, normal_quantile
from tallymark.raters.system_differences import difference as difference_of_pair
from tallymark.raters.verdicts import Meaning, Verdicts
from tallymark.sources.any_columns import any_columns
from tallymark.sources.formats import Wanted
from tallymark.sources.frames import named_columns

#: Share of simulated samples whose limits must be as narrow as asked, and the number of samples.
_MET, _SAMPLES = 0.8, 100

#: Labelled items of each verdict, at least.
_LEAST = 5


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LabelPlan(Shown):
    """How many more items people should label, and which.

    Attributes
    ----------
    size : int
        Number of further items.
    labelled : int
        Items labelled so far.
    drawn : array
        Places of the items to label, drawn at random within each verdict.
    split : mapping
        Further items by the judge's verdict; empty where they are drawn from all items.
    goal : str
        What the labels are for.
    basis : str
        What the plan rests on.
    """

    size: int
    labelled: int
    drawn: Ints
    split: dict[str, int]
    goal: str
    basis: str

    def heading(self) -> str:
        """The number of labels in one sentence."""
        split = ", ".join(f"{more} judged {name}" for name, more in self.split.items())
        of = f" ({split})" if split else ""
        return f"Label {counted(self.size, 'more item')}{of} for {self.goal}; planned by {self.basis}"

    def rows(self) -> list[Row]:
        """A line per verdict."""
        return [{"verdict": name, "more": more} for name, more in (self.split or {"(all)": self.size}).items()]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        names = ("size", "labelled", "split", "goal", "basis", "drawn")
        return {name: plain(getattr(self, name)) for name in names}


@named_columns
def plan(
    data: Any,
    *,
    judge: str | Sequence[str],
    human: str | Sequence[str] | None = None,
    width: float | None = None,
    difference: float | None = None,
    power: float = 0.8,
    pos_label: Any = None,
    level: float = 0.95,
    where: str | None = None,
    seed: int = 0,
) -> LabelPlan:
    """How many more items people should label for a width of the corrected pass rate, or to show a difference.

    Parameters
    ----------
    data
        A dataframe, the path of a file, or arrays by name, one row per item.
    judge
        Column with the judge's verdict; for a difference one of each of two systems.
    human
        Column with people's verdicts so far; left out, the plan is for the worst case. A difference needs them.
    width
        How wide the interval of the corrected pass rate may be. It is met in four of five samples.
    difference
        Or: the difference of two corrected pass rates that is to be shown, with chance `power`.
    power
        Chance of showing the difference.
    pos_label
        The verdict that is a pass, where it is not obvious.
    level
        Confidence level.
    where
        Of a file: only rows that satisfy this SQL condition.
    seed
        Seed of the items that are drawn.

    Returns
    -------
    LabelPlan

    Examples
    --------
    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(2_000) < 0.8
    >>> verdict = np.where(truth, rng.random(2_000) < 0.95, rng.random(2_000) < 0.4)
    >>> human = np.where(np.arange(2_000) < 50, truth, np.nan)
    >>> items = pd.DataFrame({"j": verdict.astype(int), "h": human})
    >>> needed = tm.raters.plan(items, judge="j", human="h", width=0.08)
    >>> 150 < needed.size < 450, sorted(needed.split)
    (True, ['fail', 'pass'])
    """
    confidence, judges = checked_level(level), _check.listed(judge)
    humans = [] if human is None else _check.listed(human)
    if (width is None) == (difference is None):
        raise InputError("Say how wide the interval may be (width=), or which difference is to be shown (difference=).")
    if len(judges) != (1 if difference is None else 2) or len(humans) not in {0, len(judges)}:
        raise InputError("width= is for one column of judge= (and human=), difference= for two of each.")
    names = [*((name, "judge=") for name in judges), *((name, "human=") for name in humans)]
    columns = any_columns(data, [Wanted(name, option, "class") for name, option in names], where=where)
    meaning = Meaning.of(columns, judges, humans, "pass", pos_label)
    rng = np.random.default_rng(seeds(seed, 1)[0])
    if difference is not None:
        if not humans:
            raise InputError("A plan for a difference needs a pilot: name people's verdicts so far with human=.")
        pairs = zip(judges, humans, strict=True)
        first, second = (meaning.verdicts(columns[one], columns[other], one, other) for one, other in pairs)
        return _for_difference(first, second, difference, power, confidence, rng)
    judged = np.asarray(np.ma.getdata(columns[judges[0]]) == meaning.passing[judges[0]])
    if without_verdict(columns[judges[0]]).any():
        raise InputError(f"{judges[0]} has rows without a verdict; a judge must have judged every item.")
    labelled = np.zeros(len(judged), np.bool_)
    passed = np.zeros(len(judged), np.bool_)
    if humans:
        labelled = ~without_verdict(columns[humans[0]])
        passed[labelled] = np.ma.getdata(columns[humans[0]])[labelled] == meaning.passing.get(humans[0])
    return _for_width(judged, labelled, passed, _check.real(width or 0.0, "width"), confidence, rng)


def _for_width(judged: Any, labelled: Any, passed: Any, width: float, level: float, rng: Any) -> LabelPlan:
    if not 0.0 < width < 1.0:
        raise InputError(f"width is {width!r}, expected a number between 0 and 1.")
    sides = (judged, ~judged)
    sizes = np.array([int(side.sum()) for side in sides])
    seen = np.array([int((side & labelled).sum()) for side in sides])
    passes = np.array([int((side & labelled & passed).sum()) for side in sides])
    share = (passes + 1.0) / (seen + 2.0)
    spread = sizes * np.sqrt(share * (1.0 - share))

    def split(total: int) -> Ints:
        wanted = np.rint(total * spread / max(spread.sum(), 1e-300)).astype(np.int64)
        # What one side has no items for goes to the other.
        wanted = np.maximum(wanted, total - sizes[::-1])
        return np.asarray(np.minimum(np.maximum.reduce([wanted, seen, np.full(2, _LEAST)]), sizes))

    @cache
    def met(total: int) -> bool:
        numbers, narrow = split(total), 0
        for repeat in range(_SAMPLES):
            narrow += _simulated_width(sizes, numbers, seen, passes, level, repeat) <= width
            if repeat - narrow >= (1.0 - _MET) * _SAMPLES:
                return False
        return True

    # Where to begin: the closed form, which is seldom far off.
    closed_form = (2.0 * critical_value(level) * float(spread.sum()) / float(sizes.sum()) / width) ** 2
    total = _least(met, int(sizes.sum()), int(closed_form))
    more = split(total) - seen
    names = dict(zip(("pass", "fail"), more.tolist(), strict=True))
    chosen = [
        rng.permutation(np.flatnonzero(side & ~labelled))[:number] for side, number in zip(sides, more, strict=True)
    ]
    basis = (
        f"the {counted(int(seen.sum()), 'item')} labelled so far"
        if seen.any()
        else "the worst case, as no item is labelled"
    )
    return LabelPlan(
        size=int(more.sum()),
        labelled=int(seen.sum()),
        drawn=np.sort(np.concatenate(chosen)),
        split={name: number for name, number in names.items() if number},
        goal=f"a {100 * level:g} % interval no wider than {width:g} in {100 * _MET:g} % of samples",
        basis=basis,
    )


def _least(met: Callable[[int], bool], most: int, guess: int) -> int:
    """The least number up to `most` from which on a condition holds, looked for around a guess."""
    low, high = 0, most
    near = min(max(guess, 1), most)
    if met(near):
        high = near
    else:
        low = near
        while 2 * low < most and not met(2 * low):
            low *= 2
        high = min(2 * low, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if met(middle) else (middle, high)
    return high


def _simulated_width(sizes: Ints, numbers: Ints, seen: Ints, passes: Ints, level: float, repeat: int) -> float:
    """Width of the limits of the share of passes from labels that are drawn as the labels so far suggest."""
    rng = np.random.default_rng([repeat, 20_261_118])
    share = np.where(seen > 0, rng.beta(passes + 1.0, seen - passes + 1.0), 0.5)
    hits = np.minimum(passes + rng.binomial(numbers - seen, share), numbers)
    parts = []
    for size, n, hit in zip(sizes.tolist(), numbers.tolist(), hits.tolist(), strict=True):
        if size:
            truth = (np.arange(n) < hit).astype(np.float64)
            parts.append([Stratum(float(size), 0.0, truth, np.zeros(n), np.ones(n), np.full(n, n / size))])
    of_parts = drawn(parts, 0.0)
    lower, upper = (np.sum([getattr(one, end) for one in of_parts], axis=0) for end in ("lower", "upper"))
    low, high = quantiles(lower, upper, level)
    return (high - low) / float(sizes.sum())


def _for_difference(
    first: Verdicts, second: Verdicts, difference: float, power: float, level: float, rng: Any
) -> LabelPlan:
    if not _check.real(difference, "difference") or not 0.0 < _check.real(power, "power") < 1.0:
        raise InputError("A plan needs a difference other than 0 and a power between 0 and 1.")
    both = first.labelled & second.labelled
    try:
        pilot = difference_of_pair(first, second, (0.0, 1.0), "suite")
    except Undefined as undefined:
        raise InputError(f"The pilot is too small for a plan: {undefined.reason}.") from None
    n, rows = int(both.sum()), len(both)
    if n < 3:
        raise InputError("A plan for a difference needs a pilot of items that people labelled for both systems.")
    # Variance of one label, without the finite population correction of the pilot.
    variance = pilot.error**2 * n / max(1.0 - n / rows, 1.0 / rows)
    error = abs(difference) / (critical_value(level) + float(normal_quantile(power)))
    needed = math.ceil(variance / (error**2 + variance / rows))
    more = max(0, min(needed, rows) - n)
    unlabelled = np.flatnonzero(~both)
    return LabelPlan(
        size=more,
        labelled=n,
        drawn=np.sort(rng.permutation(unlabelled)[:more]),
        split={},
        goal=f"showing a difference of {number(abs(difference))} with a chance of {100 * power:g} %",
        basis=f"the {counted(n, 'item')} labelled for both systems so far",
    )
