"""Rank tests of several methods on several data sets: Friedman, Nemenyi, Wilcoxon and corrections of their p-values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
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
    """Result of a test of methods over data sets.

    `statistic` and `p_value` are those of the one test; tests of pairs have `pairs` with a line each, and `p_values` in
    their order. `conventions` say how ties, zeros and missing cells were treated.
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
    def control(self) -> str | None:
        """The method that all others are compared with; None where all are compared with all."""
        controls = {pair["second"] for pair in self.pairs if "second" in pair}
        return controls.pop() if len(controls) == 1 and len(self.methods) > 2 else None

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """Largest sets of methods, best first, of which no two differ by more than the critical difference.

        There are none where methods are compared with a control only.
        """
        if self.critical_difference is None or self.control is not None:
            return []
        order = sorted(self.methods, key=lambda name: self.mean_ranks[name])
        sets: list[tuple[str, ...]] = []
        for start, first in enumerate(order):
            together = tuple(
                n for n in order[start:] if self.mean_ranks[n] - self.mean_ranks[first] < self.critical_difference
            )
            if len(together) > 1 and not any(set(together) <= set(one) for one in sets):
                sets.append(together)
        return sets

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
        return {one.name: plain(getattr(self, one.name)) for one in fields(self)}


@dataclass(frozen=True)
class RankedTable:
    """A complete table with its ranks."""

    table: MethodTable
    ranks: Floats
    conventions: tuple[str, ...]

    @property
    def n(self) -> int:
        """Number of data sets."""
        return len(self.ranks)

    @property
    def k(self) -> int:
        """Number of methods."""
        return int(self.ranks.shape[1])

    @property
    def by_method(self) -> dict[str, float]:
        """Mean rank of each method."""
        return dict(zip(self.table.methods, map(float, self.ranks.mean(axis=0)), strict=True))

    def result(self, test: str, *conventions: str, **values: Any) -> TestResult:
        """The result of a test of these ranks."""
        return TestResult(
            test=test,
            n=self.n,
            methods=self.table.methods,
            mean_ranks=self.by_method,
            conventions=(*self.conventions, *conventions),
            **values,
        )

    def pairs(self, control: str | None = None) -> list[tuple[str, str]]:
        """All pairs of methods, or every method with a control."""
        names = self.table.methods
        if control is None:
            return list(itertools.combinations(names, 2))
        if not isinstance(control, str) or control not in names:
            raise InputError(f"No method {control!r} to be the control; the table has {', '.join(names)}.")
        return [(name, control) for name in names if name != control]

    def differences(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """Differences of the mean ranks of pairs."""
        means = self.by_method
        return np.array([means[a] - means[b] for a, b in pairs])


def _require_flag(value: object, name: str) -> None:
    if value is not None and not isinstance(value, bool):
        raise InputError(f"{name} is {value!r}, expected True, False or None.")


def ranked_table(data: Any, better: Better, *, fewest: int = 2) -> RankedTable:
    """The complete lines of a table of results, ranked."""
    table = table_of(data, better)
    whole = table.complete
    if len(whole.methods) < fewest:
        raise InputError(f"The table has {len(whole.methods)} methods, expected {fewest} or more.")
    if len(whole.datasets) < 2:
        raise InputError(
            f"{len(whole.datasets)} of {len(table.datasets)} data sets have a number for every method; ranks need two "
            "or more."
        )
    conventions = [*table.conventions, "ranks: 1 is best, ties share the mean of their ranks"]
    if table.left_out:
        used = f"{len(whole.datasets)} of {len(table.datasets)} used"
        conventions.append(f"left out for missing cells: {', '.join(table.left_out)} ({used})")
    return RankedTable(whole, ranks.ranked(whole.values, higher_is_better=whole.better == "higher"), tuple(conventions))


def friedman(data: Any, *, better: Better = "lower", ties: bool = True, exact: bool | None = None) -> TestResult:
    """Friedman's test that all methods have the same mean rank.

    Parameters
    ----------
    data
        A table of results: a dataframe or file (a line per data set, or tidy), a mapping from method to values, or an
        array.
    better
        Whether ``lower`` or ``higher`` values are better.
    ties
        Correct the statistic for ties, as SciPy does and Demšar's formula does not; ``details`` has both.
    exact
        Enumerate the permutations of ranks (by default for small tables); else the p-value is that of chi-square.

    Returns
    -------
    TestResult
        Statistic and p-value; n is the number of data sets.

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.study.friedman({"a": [1, 2, 1, 1], "b": [2, 1, 2, 2], "c": [3, 3, 3, 3]}).p_value.__round__(4)
    0.0417
    """
    from scipy.special import chdtrc

    _require_flag(exact, "exact")
    ranked = ranked_table(data, better, fewest=3)
    statistic = ranks.friedman_statistic(ranked.ranks)
    chosen = statistic.corrected if ties else statistic.plain
    by_chi_square = float(chdtrc(statistic.freedom, chosen))
    small = ranked.k <= 4 and ranked.n <= 10
    enumerated = ranks.exact_friedman(ranked.ranks) if exact or (exact is None and small) else None
    if exact and enumerated is None:
        raise InputError(f"{ranked.n} data sets and {ranked.k} methods are too many for exact=True; leave it out.")
    how = "exact" if enumerated is not None else "chi-square"
    return ranked.result(
        "Friedman",
        f"p-value: {how}; statistic {'with' if ties else 'without'} correction for ties",
        statistic=chosen,
        p_value=by_chi_square if enumerated is None else enumerated,
        details={
            "plain": statistic.plain,
            "corrected": statistic.corrected,
            "freedom": statistic.freedom,
            "p_chi_square": by_chi_square,
        },
    )


def iman_davenport(data: Any, *, better: Better = "lower", ties: bool = True) -> TestResult:
    """Iman and Davenport's F test, less conservative than Friedman's chi-square.

    Parameters
    ----------
    data
        A table of results: a dataframe or file (a line per data set, or tidy), a mapping from method to values, or an
        array.
    better
        Whether ``lower`` or ``higher`` values are better.
    ties
        Correct the statistic for ties.

    Returns
    -------
    TestResult
        Statistic and p-value; n is the number of data sets.

    Examples
    --------
    >>> import tallymark as tm
    >>> table = {"a": [1, 2, 1, 1, 1], "b": [2, 1, 2, 2, 3], "c": [3, 3, 3, 3, 2]}
    >>> round(tm.study.iman_davenport(table).statistic, 4)
    7.1111
    """
    from scipy.special import fdtrc

    ranked = ranked_table(data, better, fewest=3)
    statistic = ranks.friedman_statistic(ranked.ranks)
    chi = statistic.corrected if ties else statistic.plain
    value = ranks.iman_davenport_statistic(chi, ranked.n, ranked.k)
    freedom = (ranked.k - 1, (ranked.k - 1) * (ranked.n - 1))
    degrees = f"F with {freedom[0]} and {freedom[1]} degrees of freedom"
    return ranked.result(
        "Iman–Davenport",
        f"{degrees}; chi-square {'with' if ties else 'without'} correction for ties",
        statistic=value,
        p_value=0.0 if math.isinf(value) else float(fdtrc(*freedom, value)),
        details={"chi_square": chi, "freedom": freedom},
    )


def critical_difference(k: int, n: int, *, level: float = 0.95, control: bool = False) -> float:
    r"""Critical difference of mean ranks, :math:`q_\alpha\sqrt{k(k+1)/6N}`, for `k` methods on `n` data sets.

    q is the studentised range over √2 (Nemenyi, all pairs) or, with `control`, the normal quantile for k − 1
    comparisons (Bonferroni–Dunn), computed for any k. Demšar (2006), J. Mach. Learn. Res. 7.

    Parameters
    ----------
    k
        Number of methods.
    n
        Number of data sets.
    level
        Confidence level, 1 − :math:`\alpha`.
    control
        Whether methods are compared with a control only.

    Returns
    -------
    float
        Mean ranks that differ by this or more differ significantly.

    Examples
    --------
    >>> import tallymark as tm
    >>> round(tm.study.critical_difference(10, 24), 3), round(tm.study.critical_difference(10, 22), 3)
    (2.765, 2.888)
    """
    methods, datasets = checked_number(k, "k", 2), checked_number(n, "n", 2)
    share = 1.0 - checked_level(level)
    return ranks.critical_value(methods, share, control=control) * ranks.rank_error(datasets, methods)


def nemenyi(data: Any, *, better: Better = "lower", level: float = 0.95) -> TestResult:
    """Nemenyi's test of all pairs of methods by mean ranks; p-values hold simultaneously.

    Parameters
    ----------
    data
        A table of results: a dataframe or file (a line per data set, or tidy), a mapping from method to values, or an
        array.
    better
        Whether ``lower`` or ``higher`` values are better.
    level
        Confidence level: methods differ where p ≤ 1 − `level`.

    Returns
    -------
    TestResult
        A line for each pair, and the critical difference.

    Examples
    --------
    >>> import tallymark as tm
    >>> table = {"a": [1, 2, 1, 1, 1, 1], "b": [2, 1, 2, 2, 3, 2], "c": [3, 3, 3, 3, 2, 3]}
    >>> [round(p, 3) for p in tm.study.nemenyi(table).p_values.tolist()]
    [0.319, 0.011, 0.319]
    """
    level = checked_level(level)
    ranked = ranked_table(data, better)
    pairs = ranked.pairs()
    values = ranks.nemenyi_p_values(ranked.differences(pairs), ranked.n, ranked.k)
    width = critical_difference(ranked.k, ranked.n, level=level)
    lines = pair_lines(ranked, pairs, values, level)
    return ranked.result("Nemenyi", pairs=lines, level=level, critical_difference=width)


def bonferroni_dunn(data: Any, control: str, *, better: Better = "lower", level: float = 0.95) -> TestResult:
    """Bonferroni–Dunn test of every method against a control by mean ranks.

    Parameters
    ----------
    data
        A table of results: a dataframe or file (a line per data set, or tidy), a mapping from method to values, or an
        array.
    control
        The method with which the others are compared.
    better
        Whether ``lower`` or ``higher`` values are better.
    level
        Confidence level: methods differ where p ≤ 1 − `level`.

    Returns
    -------
    TestResult
        A line for each pair, and the critical difference.

    Examples
    --------
    >>> import tallymark as tm
    >>> table = {"a": [1, 2, 1, 1, 1, 1], "b": [2, 1, 2, 2, 3, 2], "c": [3, 3, 3, 3, 2, 3]}
    >>> tm.study.bonferroni_dunn(table, "c").p_values.round(3).tolist()
    [0.008, 0.298]
    """
    level = checked_level(level)
    ranked = ranked_table(data, better)
    pairs = ranked.pairs(control)
    values = corrections.bonferroni(ranks.normal_p_values(ranked.differences(pairs), ranked.n, ranked.k))
    width = critical_difference(ranked.k, ranked.n, level=level, control=True)
    lines = pair_lines(ranked, pairs, values, level)
    return ranked.result("Bonferroni–Dunn", pairs=lines, level=level, critical_difference=width)


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
    ranked = ranked_table(data, better)
    pairs = ranked.pairs(control)
    values = ranks.normal_p_values(ranked.differences(pairs), ranked.n, ranked.k)
    lines = pair_lines(ranked, pairs, adjust(values, ranked.k), level, values)
    return ranked.result(name, pairs=lines, level=level)


def _is_list_of_p_values(data: Any) -> bool:
    """Whether data are a list of numbers; a list of lists is a table."""
    if isinstance(data, np.ndarray):
        return data.ndim == 1
    return isinstance(data, Sequence) and not isinstance(data, str) and all(np.isscalar(one) for one in data)


def holm(data: Any, control: str | None = None, *, better: Better = "lower", level: float = 0.95) -> TestResult:
    """Holm's step-down correction of p-values, or of the pairs of a table by mean ranks.

    Parameters
    ----------
    data
        A table of results, as for :func:`friedman`, whose pairs are compared by mean ranks; or a list of p-values.
    control
        The method with which the others are compared; all pairs by default.
    better
        Whether ``lower`` or ``higher`` values are better.
    level
        Confidence level: methods differ where p ≤ 1 − `level`.

    Returns
    -------
    TestResult
        A line for each pair or p-value.

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.study.holm([0.01, 0.04, 0.03]).p_values.round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    return _corrected("Holm", lambda p, k: holm_adjusted(p), data, control, better, level)  # noqa: ARG005


def hochberg(data: Any, control: str | None = None, *, better: Better = "lower", level: float = 0.95) -> TestResult:
    """Hochberg's step-up correction of p-values, or of the pairs of a table by mean ranks.

    Parameters
    ----------
    data
        A table of results, as for :func:`friedman`, whose pairs are compared by mean ranks; or a list of p-values.
    control
        The method with which the others are compared; all pairs by default.
    better
        Whether ``lower`` or ``higher`` values are better.
    level
        Confidence level: methods differ where p ≤ 1 − `level`.

    Returns
    -------
    TestResult
        A line for each pair or p-value.

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.study.hochberg([0.01, 0.04, 0.03]).p_values.round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    return _corrected("Hochberg", lambda p, k: corrections.hochberg(p), data, control, better, level)  # noqa: ARG005


def hommel(data: Any, control: str | None = None, *, better: Better = "lower", level: float = 0.95) -> TestResult:
    """Hommel's correction of p-values or of a table's pairs; never less powerful than Hochberg's.

    Parameters
    ----------
    data
        A table of results, as for :func:`friedman`, whose pairs are compared by mean ranks; or a list of p-values.
    control
        The method with which the others are compared; all pairs by default.
    better
        Whether ``lower`` or ``higher`` values are better.
    level
        Confidence level: methods differ where p ≤ 1 − `level`.

    Returns
    -------
    TestResult
        A line for each pair or p-value.

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.study.hommel([0.01, 0.04, 0.03]).p_values.round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    return _corrected("Hommel", lambda p, k: corrections.hommel(p), data, control, better, level)  # noqa: ARG005


def shaffer(data: Any, *, better: Better = "lower", level: float = 0.95) -> TestResult:
    """Shaffer's static correction of all pairs of methods, by the numbers of pairs that can be equal at once.

    Parameters
    ----------
    data
        A table of results, as for :func:`friedman`, whose pairs are compared by mean ranks; or a list of p-values.
    better
        Whether ``lower`` or ``higher`` values are better.
    level
        Confidence level: methods differ where p ≤ 1 − `level`.

    Returns
    -------
    TestResult
        A line for each pair or p-value.

    Examples
    --------
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
    """Wilcoxon's signed-rank test of every pair of methods; several pairs are corrected by Holm.

    Parameters
    ----------
    data
        A table of results: a dataframe or file (a line per data set, or tidy), a mapping from method to values, or an
        array.
    better
        Whether ``lower`` or ``higher`` values are better.
    zeros
        How data sets with equal values are treated: ``split`` (as Demšar), ``pratt`` or ``wilcox`` (left out).
    exact
        Enumerate the signs of the differences that are not 0 (by default up to 50); else the p-value is normal.
    level
        Confidence level: methods differ where p ≤ 1 − `level`.

    Returns
    -------
    TestResult
        A line for each pair; statistic and p-value of the one pair where there are two methods.

    Examples
    --------
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
        signed = signed_ranks.signed_ranks(differences, zeros)
        if not len(signed.ranks) + len(signed.shared):
            raise InputError(f"{first} and {second} are equal on every data set; there is nothing to rank.")
        enumerable = len(signed.ranks) <= signed_ranks.EXACT
        enumerated = enumerable if exact is None else exact
        if enumerated and not enumerable:
            raise InputError(
                f"exact=True enumerates up to {signed_ranks.EXACT} differences, there are {len(signed.ranks)}; leave "
                "it out."
            )
        value = signed_ranks.exact_p_value(signed) if enumerated else float(2.0 * ndtr(signed_ranks.normal_z(signed)))
        used.add("exact" if enumerated else "normal")
        raw.append(min(value, 1.0))
        statistics.append(min(signed.plus, signed.minus))
        line = {"first": first, "second": second, "n": len(differences), "zeros": signed.zeros}
        lines.append({**line, "statistic": statistics[-1]})
    adjusted = holm_adjusted(np.array(raw)) if len(raw) > 1 else np.array(raw)
    pairs = tuple(
        {**line, "p": p, "p_value": float(q), "differ": bool(q <= 1.0 - level)}
        for line, p, q in zip(lines, raw, adjusted, strict=True)
    )
    one = len(pairs) == 1
    corrected = "" if one else "; pairs corrected by Holm"
    return TestResult(
        test="Wilcoxon",
        n=len(table.datasets),
        methods=table.methods,
        pairs=pairs,
        level=level,
        statistic=statistics[0] if one else math.nan,
        p_value=float(adjusted[0]) if one else math.nan,
        conventions=(*table.conventions, f"zeros: {zeros}; p-value: {' and '.join(sorted(used))}{corrected}"),
    )


def pair_lines(
    ranked: RankedTable, pairs: Sequence[tuple[str, str]], values: Floats, level: float, raw: Floats | None = None
) -> tuple[dict[str, Any], ...]:
    """A line for each pair: difference of mean ranks, p-value (`raw` before correction), whether methods differ."""
    lines = []
    for place, ((first, second), difference) in enumerate(zip(pairs, ranked.differences(pairs), strict=True)):
        line: dict[str, Any] = {"first": first, "second": second, "rank_difference": float(difference)}
        if raw is not None:
            line["p"] = float(raw[place])
        value = float(values[place])
        lines.append({**line, "p_value": value, "differ": bool(value <= 1.0 - level)})
    return tuple(lines)
