"""``tm.compare``: which model is better on the same rows, and is it sure."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from tallymark import _check
from tallymark._frozen import FrozenDict
from tallymark._show import Row, Shown, number, plain
from tallymark.errors import InputError, UnknownNameError, guard, shown
from tallymark.intervals.base import Seed, checked_level, normal_quantile
from tallymark.intervals.in_files import delong_in_files
from tallymark.intervals.influence import EFFECTS
from tallymark.intervals.paired import (
    Difference,
    PairedMethod,
    Resampler,
    bootstrap_difference,
    cell_values,
    holm,
    mcnemar,
    metric_named,
    permutation_p,
    row_influence,
    student_difference,
    value_of,
)
from tallymark.intervals.roc_areas import covariance, delong, error_of_difference
from tallymark.registry import Metric, require_one_of
from tallymark.sources.filepanel import FilePanel
from tallymark.summaries.panel import Panel

#: Fewer rows of a class than this make a comparison shaky.
_FEW = 10

#: What each method can compare.
_SHARES_RIGHT = frozenset({"accuracy", "error"})
_OF_AUROC: Mapping[str, float] = {"auroc": 1.0, "gini": 2.0}


@dataclass(frozen=True)
class Pair:
    """Two models: first less second."""

    first: str
    second: str
    difference: float
    error: float
    low: float
    high: float
    p_value: float
    #: p-value corrected for the number of pairs (Holm).
    p_holm: float
    verdict: str
    method: str


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Shown):
    """Every pair of models of a panel compared by one metric; p-values of several pairs are corrected by Holm.

    `values` are the models' own values. With two models `difference`, `low`, `high` and `p_value` are theirs.
    """

    metric: str
    values: Mapping[str, float]
    pairs: tuple[Pair, ...]
    level: float
    n: int
    positives: int
    equivalence: float | None = None
    #: What each model was cut at, for a metric at one threshold.
    thresholds: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", FrozenDict(self.values))

    def __getitem__(self, models: tuple[str, str]) -> Pair:
        for pair in self.pairs:
            if (pair.first, pair.second) == models:
                return pair
            if (pair.second, pair.first) == models:
                raise UnknownNameError(f"{models!r} was compared the other way round: {models[::-1]!r}.")
        raise UnknownNameError(f"No pair {models!r}; there are {shown([(p.first, p.second) for p in self.pairs])}.")

    @property
    def difference(self) -> float:
        """First model less second."""
        return self._only.difference

    @property
    def low(self) -> float:
        """Lower limit of the difference."""
        return self._only.low

    @property
    def high(self) -> float:
        """Upper limit of the difference."""
        return self._only.high

    @property
    def p_value(self) -> float:
        """Two-sided p-value of no difference."""
        return self._only.p_value

    @property
    def verdict(self) -> str:
        """What can be said."""
        return self._only.verdict

    @property
    def table(self) -> list[Row]:
        """One line per pair."""
        return self.rows()

    def power(self, difference: float, *, pair: tuple[str, str] | None = None) -> float:
        """Chance that data like this shows a true difference of this size, at the comparison's level."""
        from scipy.special import ndtr

        ratio = abs(_check.real(difference, "difference")) / self._error(pair)
        z = normal_quantile(0.5 + self.level / 2)
        return float(ndtr(ratio - z) + ndtr(-ratio - z))

    def sample_size(
        self, difference: float, *, power: float = 0.8, pair: tuple[str, str] | None = None
    ) -> dict[str, int]:
        """Rows and positives like these that show a true difference of this size with the given power.

        With more than two models say which `pair`.
        """
        gap = abs(_check.real(difference, "difference"))
        if not gap or not 0.0 < _check.real(power, "power") < 1.0:
            raise InputError("sample_size needs a difference other than 0 and a power between 0 and 1.")
        z = normal_quantile(0.5 + self.level / 2) + normal_quantile(power)
        factor = (z * self._error(pair) / gap) ** 2
        return {"n": math.ceil(self.n * factor), "positives": math.ceil(self.positives * factor)}

    def _error(self, models: tuple[str, str] | None) -> float:
        pair = self._only if models is None else self[models]
        if not pair.error > 0.0:
            raise InputError("The two models do not differ on any row, so nothing can be planned from them.")
        return pair.error

    @property
    def _only(self) -> Pair:
        if len(self.pairs) != 1:
            raise InputError(
                f"{len(self.pairs)} pairs were compared; take one: comparison['a', 'b'] (or pair=('a', 'b')), or .table for all."
            )
        return self.pairs[0]

    def heading(self) -> str:
        """The models' values."""
        values = ", ".join(f"{model} {number(float(value))}" for model, value in self.values.items())
        return f"{self.metric} on the same {self.n} rows ({self.positives} positive): {values}"

    def rows(self) -> list[Row]:
        """One line per pair; the corrected p-value where there are several."""
        left_out = {"error"} if len(self.pairs) > 1 else {"error", "p_holm"}
        return [{name: value for name, value in vars(pair).items() if name not in left_out} for pair in self.pairs]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``tallymark compare --json`` prints them."""
        return {
            "metric": self.metric,
            "level": self.level,
            "n": self.n,
            "positives": self.positives,
            "equivalence": self.equivalence,
            "thresholds": None if self.thresholds is None else plain(dict(self.thresholds)),
            "values": plain(dict(self.values)),
            "pairs": plain([vars(pair) for pair in self.pairs]),
        }


def compare(
    panel: Panel | FilePanel, *, metric: str = "auroc", method: PairedMethod | None = None, threshold: float | str | None = None,
    level: float = 0.95, equivalence: float | None = None, mcnemar_kind: Literal["exact", "mid_p"] = "mid_p",
    replicates: int = 2_000, seed: Seed = 0, jobs: int | None = None,
) -> Comparison:  # fmt: skip
    """Compare models on the same rows by one metric: difference, interval, p-value and a verdict for every pair.

    Left out, `method` is DeLong's test for auroc and gini; the same with the metric's own ``"influence"`` function where
    it has one (average precision, sPCC, Brier score, log loss, …); McNemar's for accuracy and error of unweighted rows;
    and the paired stratified bootstrap for everything else. ``"permutation"`` exchanges the two models' scores row by
    row (its interval is the bootstrap's). A metric at one threshold needs `threshold`, a number or a policy that each model
    then chooses by. Files beyond two million rows (:func:`tallymark.scan_panel`) are compared by AUROC. With `equivalence` δ a pair is called equivalent when its interval at level 1 − 2α lies within ±δ
    (two one-sided tests). Several pairs: Holm's correction.

    >>> import numpy as np, tallymark as tm
    >>> rng = np.random.default_rng(1)
    >>> y = rng.random(500) < 0.3
    >>> panel = tm.panel(y, {"a": rng.normal(y * 1.5), "b": rng.normal(y * 1.0)})
    >>> found = tm.compare(panel)
    >>> found.verdict
    'a is better'
    >>> found.sample_size(0.02)["positives"] > 143
    True
    """
    if not isinstance(panel, Panel | FilePanel):
        raise InputError(
            f'compare takes a Panel, got {type(panel).__name__}. Write tm.panel(y, {{"a": score_a, "b": score_b}}).'
        )
    if len(panel.models) < 2:
        raise InputError("compare needs two models or more on the same rows.")
    facts, share = metric_named(metric), checked_level(level)
    if isinstance(panel, FilePanel):
        if not panel.small:
            return _compare_files(panel, facts, method, share, equivalence)
        panel = panel.read()
    if facts.name == "prevalence" or (threshold is not None and facts.needs != "confusion"):
        raise InputError(
            f"{facts.name} does not depend on a threshold; leave it out." if threshold is not None
            else "The prevalence is that of the data, whatever the model."
        )  # fmt: skip
    panel = panel.keep(panel.mass > 0)
    margin = None if equivalence is None else _margin(equivalence)
    ask = _Ask(panel, facts, threshold, share, replicates, seed, jobs, mcnemar_kind)
    way = require_one_of("method", method, _WAYS) if method is not None else ask.usual
    differences = _WAYS[way](ask)
    few = int(ask.freedom) + 1
    if few < _FEW:
        guard("TM107", f"only {few} row{'s' if few > 1 else ''} of one class; a comparison is shaky below {_FEW}, gather "
              f"{_FEW - few} more")  # fmt: skip
    cuts = {model: cut for model, cut in ask.thresholds.items() if cut is not None}
    return _comparison(
        facts, ask.values, differences, share, margin, thresholds=cuts or None,
        n=int(panel.mass.sum()) if panel.weights is None else panel.n,
        positives=int((panel.mass * panel.is_positive).sum()) if panel.weights is None else int(panel.is_positive.sum()),
    )  # fmt: skip


def _compare_files(
    panel: FilePanel, facts: Metric, method: str | None, level: float, equivalence: float | None
) -> Comparison:
    """DeLong's comparison from cells: tallies in a first pass, products of looked-up placements in a second."""
    if facts.name not in _OF_AUROC or method not in {None, "delong"}:
        raise InputError(
            f"{panel.n} rows are compared by auroc with DeLong's test; for {facts.name} read fewer rows with where=."
        )
    found, slack, tallies = delong_in_files(panel)
    factor = _OF_AUROC[facts.name]
    differences = {
        (a, b): _known_up_to(found.difference(a, b), slack[a] + slack[b], factor, level)
        for a, b in itertools.combinations(found.models, 2)
    }
    values = {model: facts.compute(tally) for (model,), tally in tallies.entries.items()}
    first = next(iter(tallies.values()))
    return _comparison(
        facts, values, differences, level, None if equivalence is None else _margin(equivalence),
        n=first.n_rows, positives=first.positive.n_rows,
    )  # fmt: skip


def _known_up_to(found: tuple[float, float], slack: float, factor: float, level: float) -> Difference:
    """A comparison whose difference is only known up to the cells: limits wider by that much, p at the nearer end."""
    difference, error = found
    nearer = math.copysign(max(0.0, abs(difference) - slack), difference)
    cautious = student_difference(factor * nearer, factor * error, level, "DeLong")
    asked = student_difference(factor * difference, factor * error, level, "DeLong")
    off = factor * slack
    return replace(
        asked, low=asked.low - off, high=asked.high + off, p_value=cautious.p_value,
        inner=(asked.inner[0] - off, asked.inner[1] + off),
    )  # fmt: skip


def _margin(equivalence: float) -> float:
    if not _check.real(equivalence, "equivalence") > 0.0:
        raise InputError(f"equivalence is {equivalence!r}, expected a difference above 0 that would not matter.")
    return equivalence


def _comparison(
    facts: Metric, values: Mapping[str, float], differences: Mapping[tuple[str, str], Difference], level: float,
    margin: float | None, *, n: int, positives: int, thresholds: Mapping[str, float] | None = None,
) -> Comparison:  # fmt: skip
    adjusted = holm(np.array([found.p_value for found in differences.values()]))
    most = facts.high - facts.low
    pairs = tuple(
        Pair(first, second, d.difference, d.error, max(d.low, -most), min(d.high, most), d.p_value, float(p),
             _verdict(facts, first, second, d, float(p), level, margin), d.method)
        for ((first, second), d), p in zip(differences.items(), adjusted, strict=True)
    )  # fmt: skip
    return Comparison(facts.name, values, pairs, level, n, positives, margin, thresholds)


def _verdict(
    facts: Metric, first: str, second: str, found: Difference, p: float, level: float, margin: float | None
) -> str:
    same = margin is not None and -margin <= found.inner[0] and found.inner[1] <= margin
    if p >= 1.0 - level:
        return f"equivalent within {margin:g}" if same else "no difference shown"
    higher, lower = (first, second) if found.difference > 0 else (second, first)
    said = {"higher": f"{higher} is better", "lower": f"{lower} is better"}.get(facts.better, f"{higher} is higher")
    return f"{said}, but equivalent within {margin:g}" if same else said


@dataclass(frozen=True)
class _Ask:
    """What to compare, and how."""

    panel: Panel
    facts: Metric
    threshold: float | str | None
    level: float
    replicates: int
    seed: Seed
    jobs: int | None
    mcnemar_kind: Literal["exact", "mid_p"]

    @property
    def usual(self) -> str:
        """The method for this metric when none is named."""
        if self.facts.name in _OF_AUROC:
            return "delong"
        if self.facts.name in EFFECTS:
            return "influence"
        return "mcnemar" if self.facts.name in _SHARES_RIGHT and self.panel.weights is None else "bootstrap"

    @property
    def freedom(self) -> float:
        """Degrees of freedom: rows of the smaller class, less one."""
        there = self.panel.mass > 0 if self.panel.counts is None else self.panel.mass
        positives = float(np.sum(there * self.panel.is_positive))
        return max(1.0, min(positives, float(np.sum(there)) - positives) - 1.0)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Every pair once."""
        return list(itertools.combinations(self.panel.models, 2))

    @cached_property
    def thresholds(self) -> dict[str, float | None]:
        """What each model is cut at."""
        if self.facts.needs != "confusion":
            return dict.fromkeys(self.panel.models)
        if self.threshold is None:
            raise InputError(
                f"{self.facts.name} needs a threshold: a number, or a policy such as 'youden' that each model chooses by."
            )
        return {model: self.panel.tally(model).at(self.threshold).threshold for model in self.panel.models}

    @cached_property
    def values(self) -> dict[str, float]:
        """Each model's own value."""
        cuts = self.thresholds
        return {model: value_of(self.facts, self.panel.tally(model), cuts[model]) for model in self.panel.models}


def _by_delong(ask: _Ask) -> dict[tuple[str, str], Difference]:
    if ask.facts.name not in _OF_AUROC:
        raise InputError(f"DeLong's test compares auroc or gini; for {ask.facts.name} use method='bootstrap'.")
    found, factor = delong(ask.panel), _OF_AUROC[ask.facts.name]
    return {
        pair: student_difference(factor * difference, factor * error, ask.level, "DeLong")
        for pair in ask.pairs
        for difference, error in [found.difference(*pair)]
    }


def _by_influence(ask: _Ask) -> dict[tuple[str, str], Difference]:
    if ask.facts.name not in EFFECTS:
        raise InputError(f"{ask.facts.name} has no influence function in closed form; use method='bootstrap'.")
    panel, values = ask.panel, ask.values
    found = covariance(
        row_influence(panel, ask.facts.name), panel.is_positive, panel.mass.astype(np.float64),
        weighted=panel.weights is not None,
    )  # fmt: skip
    place = {model: i for i, model in enumerate(panel.models)}
    return {
        (a, b): student_difference(values[a] - values[b], error_of_difference(found, place[a], place[b]), ask.level, "influence", ask.freedom)
        for a, b in ask.pairs
    }  # fmt: skip


def _by_mcnemar(ask: _Ask) -> dict[tuple[str, str], Difference]:
    if ask.facts.name not in _SHARES_RIGHT or ask.panel.weights is not None:
        raise InputError("McNemar's test compares accuracy or error of unweighted rows; use method='bootstrap' here.")
    cuts, counts = ask.thresholds, ask.panel.mass
    right = {m: (ask.panel.scores[m] >= cuts[m]) == ask.panel.is_positive for m in ask.panel.models}
    if ask.facts.name == "error":
        right = {model: ~hit for model, hit in right.items()}
    kind = require_one_of("mcnemar_kind", ask.mcnemar_kind, ("exact", "mid_p"))
    return {(a, b): mcnemar(right[a], right[b], counts, ask.level, kind) for a, b in ask.pairs}


def _by_bootstrap(ask: _Ask) -> dict[tuple[str, str], Difference]:
    if ask.facts.needs == "confusion" and ask.panel.weights is None:
        drawn = cell_values(ask.panel, ask.facts.name, ask.thresholds, ask.replicates, ask.seed)
    else:
        drawn = Resampler(ask.panel, ask.panel.models).values(
            ask.facts.name, ask.thresholds, ask.replicates, ask.seed, ask.jobs
        )
    values = ask.values
    return {
        (a, b): bootstrap_difference(values[a] - values[b], drawn[a] - drawn[b], ask.level, ask.freedom)
        for a, b in ask.pairs
    }


def _by_permutation(ask: _Ask) -> dict[tuple[str, str], Difference]:
    found = {}
    for (a, b), d in _by_bootstrap(ask).items():
        p = permutation_p(ask.panel, a, b, ask.facts, ask.thresholds, d.difference, ask.replicates, ask.seed)
        found[a, b] = replace(d, p_value=p, method="permutation")
    return found


_WAYS: Mapping[str, Callable[[_Ask], dict[tuple[str, str], Difference]]] = {
    "delong": _by_delong, "influence": _by_influence, "mcnemar": _by_mcnemar, "bootstrap": _by_bootstrap, "permutation": _by_permutation,
}  # fmt: skip
