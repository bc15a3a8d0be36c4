"""Tests of several methods on several data sets: taken together, pair by pair, or against one of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Floats
from tallymark._display import Row, Shown, plain
from tallymark.errors import InputError
from tallymark.inference.hypothesis_tests import corrections, ranks, signed_ranks
from tallymark.inference.hypothesis_tests.corrections import holm as holm_adjusted
from tallymark.inference.interval import checked_level, checked_number
from tallymark.registry import require_one_of
from tallymark.study.method_table import Better, MethodTable, table_of


@dataclass(frozen=True, eq=False, repr=False)
class TestResult(Shown):
    """A test of methods over data sets: what was asked, how ties, zeros and missing cells were treated, and how many data sets count.

    `statistic` and `p_value` are those of the one test; tests of pairs have `pairs` with a line each, `p_values` in their order.
    """

    #: pytest would collect a class of this name.
    __test__ = False

    test: str
    n: int
    methods: tuple[str, ...]
    statistic: float = math.nan
    p_value: float = math.nan
    level: float = 0.95
    mean_ranks: Mapping[str, float] = field(default_factory=dict)
    pairs: tuple[Mapping[str, Any], ...] = ()
    critical_difference: float | None = None
    conventions: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def p_values(self) -> Floats:
        """p-values of the pairs, corrected where the test corrects."""
        return np.array([pair["p_value"] for pair in self.pairs])

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """Largest sets of methods, best first, of which no two differ by more than the critical difference."""
        if self.critical_difference is None:
            return []
        order = sorted(self.methods, key=lambda name: self.mean_ranks[name])
        found: list[tuple[str, ...]] = []
        for start, first in enumerate(order):
            together = tuple(
                n for n in order[start:] if self.mean_ranks[n] - self.mean_ranks[first] < self.critical_difference
            )
            if len(together) > 1 and not any(set(together) <= set(one) for one in found):
                found.append(together)
        return found

    def heading(self) -> str:
        """The test in one line."""
        parts = [f"{self.test}: {len(self.methods)} methods, {self.n} data sets"]
        if not math.isnan(self.statistic):
            parts.append(f"statistic {self.statistic:.4f}")
        if not math.isnan(self.p_value):
            parts.append(f"p = {self.p_value:.4g}")
        if self.critical_difference is not None:
            parts.append(f"critical difference {self.critical_difference:.4f} at {100 * (1 - self.level):g} %")
        return ", ".join(parts) + "".join(f"\n{line}" for line in self.conventions)

    def rows(self) -> Sequence[Row]:
        """Pairs, or mean ranks where there are none."""
        if self.pairs:
            return [dict(pair) for pair in self.pairs]
        return [
            {"method": name, "mean_rank": rank}
            for name, rank in sorted(self.mean_ranks.items(), key=lambda one: one[1])
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        names = (
            "test",
            "n",
            "methods",
            "statistic",
            "p_value",
            "level",
            "mean_ranks",
            "pairs",
            "critical_difference",
            "conventions",
            "details",
        )
        return {name: plain(getattr(self, name)) for name in names}


@dataclass(frozen=True)
class _Ranked:
    """A complete table with its ranks."""

    table: MethodTable
    ranks: Floats
    conventions: tuple[str, ...]

    @property
    def n(self) -> int:
        return len(self.ranks)

    @property
    def k(self) -> int:
        return int(self.ranks.shape[1])

    @property
    def means(self) -> Floats:
        return np.asarray(self.ranks.mean(axis=0))

    @property
    def by_method(self) -> dict[str, float]:
        return dict(zip(self.table.methods, map(float, self.means), strict=True))


def _require_flag(value: object, name: str) -> None:
    if value is not None and not isinstance(value, bool):
        raise InputError(f"{name} is {value!r}, expected True, False or None.")


def _ranked(data: Any, better: Better, *, fewest: int = 2) -> _Ranked:
    table = table_of(data, better)
    whole = table.complete
    if len(whole.methods) < fewest:
        raise InputError(f"The table has {len(whole.methods)} methods, expected {fewest} or more.")
    if len(whole.datasets) < 2:
        raise InputError(
            f"{len(whole.datasets)} of {len(table.datasets)} data sets have a number for every method; ranks need two or more."
        )
    conventions = [*table.conventions, "ranks: 1 is best, ties share the mean of their ranks"]
    if table.left_out:
        conventions.append(
            f"left out for missing cells: {', '.join(table.left_out)} ({len(whole.datasets)} of {len(table.datasets)} used)"
        )
    return _Ranked(whole, ranks.ranked(whole.values, higher_is_better=whole.better == "higher"), tuple(conventions))


def friedman(data: Any, *, better: Better = "lower", ties: bool = True, exact: bool | None = None) -> TestResult:
    """Friedman's test that all methods rank alike; N is the number of data sets.

    `ties` corrects the statistic for ties (as SciPy does; Demšar's formula does not), and both are in ``details``. `exact` deals
    out the ranks of every data set in all ways (default for small tables), else the p-value is that of chi-square.

    >>> import tallymark as tm
    >>> tm.study.friedman({"a": [1, 2, 1, 1], "b": [2, 1, 2, 2], "c": [3, 3, 3, 3]}).p_value.__round__(4)
    0.0417
    """
    from scipy.special import chdtrc

    _require_flag(exact, "exact")
    found = _ranked(data, better, fewest=3)
    statistic = ranks.friedman_statistic(found.ranks)
    chosen = statistic.corrected if ties else statistic.plain
    by_chi_square = float(chdtrc(statistic.freedom, chosen))
    small = found.k <= 4 and found.n <= 10
    enumerated = ranks.exact_friedman(found.ranks) if exact or (exact is None and small) else None
    if exact and enumerated is None:
        raise InputError(f"{found.n} data sets and {found.k} methods are too many for exact=True; leave it out.")
    how = "exact" if enumerated is not None else "chi-square"
    return TestResult(
        test="Friedman", n=found.n, methods=found.table.methods, statistic=chosen,
        p_value=by_chi_square if enumerated is None else enumerated, mean_ranks=found.by_method,
        conventions=(*found.conventions, f"p-value: {how}; statistic {'with' if ties else 'without'} correction for ties"),
        details={"plain": statistic.plain, "corrected": statistic.corrected, "freedom": statistic.freedom, "p_chi_square": by_chi_square},
    )  # fmt: skip


def iman_davenport(data: Any, *, better: Better = "lower", ties: bool = True) -> TestResult:
    """Iman and Davenport's F, which is less conservative than Friedman's chi-square.

    >>> import tallymark as tm
    >>> table = {"a": [1, 2, 1, 1, 1], "b": [2, 1, 2, 2, 3], "c": [3, 3, 3, 3, 2]}
    >>> round(tm.study.iman_davenport(table).statistic, 4)
    7.1111
    """
    from scipy.special import fdtrc

    found = _ranked(data, better, fewest=3)
    statistic = ranks.friedman_statistic(found.ranks)
    chi = statistic.corrected if ties else statistic.plain
    value = ranks.iman_davenport_statistic(chi, found.n, found.k)
    freedom = (found.k - 1, (found.k - 1) * (found.n - 1))
    return TestResult(
        test="Iman–Davenport", n=found.n, methods=found.table.methods, statistic=value,
        p_value=0.0 if math.isinf(value) else float(fdtrc(*freedom, value)), mean_ranks=found.by_method,
        conventions=(*found.conventions, f"F with {freedom[0]} and {freedom[1]} degrees of freedom; chi-square {'with' if ties else 'without'} correction for ties"),
        details={"chi_square": chi, "freedom": freedom},
    )  # fmt: skip


def critical_difference(k: int, n: int, *, level: float = 0.95, control: bool = False) -> float:
    r"""Least difference of mean ranks that shows: :math:`q_\alpha\sqrt{k(k+1)/6N}` for `k` methods on `n` data sets.

    q is computed for any k and :math:`\alpha` = 1 − `level`: the studentised range over √2 (Nemenyi, all pairs) or, with `control`, the normal value for
    k − 1 comparisons (Bonferroni–Dunn). Demšar (2006), J. Mach. Learn. Res. 7.

    >>> import tallymark as tm
    >>> round(tm.study.critical_difference(10, 24), 3), round(tm.study.critical_difference(10, 22), 3)
    (2.765, 2.888)
    """
    methods, datasets = checked_number(k, "k", 2), checked_number(n, "n", 2)
    share = 1.0 - checked_level(level)
    return ranks.critical_value(methods, share, control=control) * ranks.rank_error(datasets, methods)


def nemenyi(data: Any, *, better: Better = "lower", level: float = 0.95) -> TestResult:
    """All pairs of methods by their mean ranks; p-values hold for all pairs together.

    >>> import tallymark as tm
    >>> table = {"a": [1, 2, 1, 1, 1, 1], "b": [2, 1, 2, 2, 3, 2], "c": [3, 3, 3, 3, 2, 3]}
    >>> [round(p, 3) for p in tm.study.nemenyi(table).p_values.tolist()]
    [0.319, 0.011, 0.319]
    """
    level = checked_level(level)
    found = _ranked(data, better)
    pairs, differences = _pairs(found)
    values = ranks.nemenyi_p_values(differences, found.n, found.k)
    return _of_pairs(
        "Nemenyi", found, pairs, differences, values, level, critical_difference(found.k, found.n, level=level)
    )


def bonferroni_dunn(data: Any, control: str, *, better: Better = "lower", level: float = 0.95) -> TestResult:
    """Every method against a `control` by their mean ranks, corrected by Bonferroni.

    >>> import tallymark as tm
    >>> table = {"a": [1, 2, 1, 1, 1, 1], "b": [2, 1, 2, 2, 3, 2], "c": [3, 3, 3, 3, 2, 3]}
    >>> tm.study.bonferroni_dunn(table, "c").p_values.round(3).tolist()
    [0.008, 0.298]
    """
    level = checked_level(level)
    found = _ranked(data, better)
    pairs, differences = _pairs(found, control)
    values = corrections.bonferroni(ranks.normal_p_values(differences, found.n, found.k))
    width = critical_difference(found.k, found.n, level=level, control=True)
    return _of_pairs("Bonferroni–Dunn", found, pairs, differences, values, level, width)


def _corrected(
    name: str, adjust: Callable[[Floats, int], Floats], data: Any, control: str | None, better: Better, level: float
) -> TestResult:
    """A correction of plain p-values, or of the pairs of a table by their mean ranks."""
    level = checked_level(level)
    if _is_list_of_p_values(data):
        values = _check.scores(data, "p-values")
        if not ((values >= 0.0) & (values <= 1.0)).all():
            raise InputError("p-values must lie between 0 and 1.")
        methods = (1.0 + math.sqrt(1.0 + 8.0 * len(values))) / 2.0
        adjusted = adjust(values, round(methods) if methods.is_integer() else 0)
        lines = tuple(
            {"p": float(p), "p_value": float(q), "differ": bool(q <= 1.0 - level)}
            for p, q in zip(values, adjusted, strict=True)
        )
        return TestResult(test=name, n=0, methods=(), pairs=lines, level=level, conventions=("of p-values as given",))
    found = _ranked(data, better)
    pairs, differences = _pairs(found, control)
    values = ranks.normal_p_values(differences, found.n, found.k)
    return _of_pairs(name, found, pairs, differences, adjust(values, found.k), level, None, values)


def _is_list_of_p_values(data: Any) -> bool:
    """A list of single values; a list of lists is a table, and one of unequal ones is refused as such."""
    if isinstance(data, np.ndarray):
        return data.ndim == 1
    return isinstance(data, Sequence) and not isinstance(data, str) and all(np.isscalar(one) for one in data)


def holm(data: Any, control: str | None = None, *, better: Better = "lower", level: float = 0.95) -> TestResult:
    """Holm's step-down correction: of a table's pairs (all, or against a `control`) by mean ranks, or of a list of p-values.

    >>> import tallymark as tm
    >>> tm.study.holm([0.01, 0.04, 0.03]).p_values.round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    return _corrected("Holm", lambda p, k: holm_adjusted(p), data, control, better, level)  # noqa: ARG005


def hochberg(data: Any, control: str | None = None, *, better: Better = "lower", level: float = 0.95) -> TestResult:
    """Hochberg's step-up correction, as :func:`holm` otherwise.

    >>> import tallymark as tm
    >>> tm.study.hochberg([0.01, 0.04, 0.03]).p_values.round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    return _corrected("Hochberg", lambda p, k: corrections.hochberg(p), data, control, better, level)  # noqa: ARG005


def hommel(data: Any, control: str | None = None, *, better: Better = "lower", level: float = 0.95) -> TestResult:
    """Hommel's correction, as :func:`holm` otherwise; never less powerful than Hochberg's.

    >>> import tallymark as tm
    >>> tm.study.hommel([0.01, 0.04, 0.03]).p_values.round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    return _corrected("Hommel", lambda p, k: corrections.hommel(p), data, control, better, level)  # noqa: ARG005


def shaffer(data: Any, *, better: Better = "lower", level: float = 0.95) -> TestResult:
    """Shaffer's static correction of all pairs of methods: not every number of them can be equal at once.

    >>> import tallymark as tm
    >>> tm.study.shaffer([0.01, 0.04, 0.03]).p_values.round(3).tolist()
    [0.03, 0.04, 0.03]
    """
    if _is_list_of_p_values(data) and len(data) not in {k * (k - 1) // 2 for k in range(2, 1_000)}:
        raise InputError(
            f"Shaffer's correction is of all pairs of k methods, k(k-1)/2 p-values; {len(data)} is no such number."
        )
    return _corrected("Shaffer", corrections.shaffer, data, None, better, level)


def wilcoxon(
    data: Any,
    *,
    better: Better = "lower",
    zeros: signed_ranks.Zeros = "split",
    exact: bool | None = None,
    level: float = 0.95,
) -> TestResult:
    """Wilcoxon's signed ranks of every pair of methods; several pairs are corrected by Holm.

    `zeros` is what becomes of data sets where two methods are equal: ``split`` (as Demšar), ``pratt`` or ``wilcox`` (left out).
    `exact` enumerates the signs of the differences that are not 0 (default up to 50 data sets), else the p-value is normal.

    >>> import tallymark as tm
    >>> tm.study.wilcoxon({"a": [1, 2, 3, 4, 5, 6], "b": [2, 4, 6, 8, 10, 12]}).p_value
    0.03125
    """
    from scipy.special import ndtr

    level = checked_level(level)
    require_one_of("zeros", zeros, ("split", "pratt", "wilcox"))
    table = table_of(data, better)
    _require_flag(exact, "exact")
    lines, raw, statistics = [], [], []
    used: set[str] = set()
    for first, second in itertools.combinations(table.methods, 2):
        differences = table.column(first) - table.column(second)
        differences = differences[~np.isnan(differences)]
        found = signed_ranks.signed_ranks(differences, zeros)
        if not len(found.ranks) + len(found.shared):
            raise InputError(f"{first} and {second} are equal on every data set; there is nothing to rank.")
        enumerable = len(found.ranks) <= signed_ranks.EXACT
        enumerated = enumerable if exact is None else exact
        if enumerated and not enumerable:
            raise InputError(
                f"exact=True enumerates up to {signed_ranks.EXACT} differences, there are {len(found.ranks)}; leave it out."
            )
        value = signed_ranks.exact_p_value(found) if enumerated else float(2.0 * ndtr(signed_ranks.normal_z(found)))
        used.add("exact" if enumerated else "normal")
        raw.append(min(value, 1.0))
        statistics.append(min(found.plus, found.minus))
        lines.append(
            {"first": first, "second": second, "n": len(differences), "zeros": found.zeros, "statistic": statistics[-1]}
        )
    adjusted = holm_adjusted(np.array(raw)) if len(raw) > 1 else np.array(raw)
    pairs = tuple(
        {**line, "p": p, "p_value": float(q), "differ": bool(q <= 1.0 - level)}
        for line, p, q in zip(lines, raw, adjusted, strict=True)
    )
    one = len(pairs) == 1
    corrected = "" if one else "; pairs corrected by Holm"
    return TestResult(
        test="Wilcoxon", n=len(table.datasets), methods=table.methods, pairs=pairs, level=level,
        statistic=statistics[0] if one else math.nan, p_value=float(adjusted[0]) if one else math.nan,
        conventions=(*table.conventions, f"zeros: {zeros}; p-value: {' and '.join(sorted(used))}{corrected}"),
    )  # fmt: skip


def _pairs(found: _Ranked, control: str | None = None) -> tuple[list[tuple[str, str]], Floats]:
    """Pairs of methods and their differences of mean ranks."""
    names = found.table.methods
    if control is not None and not (isinstance(control, str) and control in names):
        raise InputError(f"No method {control!r} to be the control; the table has {', '.join(names)}.")
    pairs = (
        list(itertools.combinations(names, 2))
        if control is None
        else [(name, control) for name in names if name != control]
    )
    means = found.by_method
    return pairs, np.array([means[a] - means[b] for a, b in pairs])


def _of_pairs(
    test: str, found: _Ranked, pairs: Sequence[tuple[str, str]], differences: Floats, values: Floats, level: float, width: float | None,
    raw: Floats | None = None,
) -> TestResult:  # fmt: skip
    lines = []
    for place, ((first, second), difference, value) in enumerate(zip(pairs, differences, values, strict=True)):
        line: dict[str, Any] = {"first": first, "second": second, "rank_difference": float(difference)}
        if raw is not None:
            line["p"] = float(raw[place])
        lines.append({**line, "p_value": float(value), "differ": bool(value <= 1.0 - level)})
    return TestResult(
        test=test, n=found.n, methods=found.table.methods, level=level, mean_ranks=found.by_method, pairs=tuple(lines),
        critical_difference=width, conventions=found.conventions,
    )  # fmt: skip
