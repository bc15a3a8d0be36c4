"""Publication rules: whether an estimate is published, published with caution, or suppressed, and why."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tallymark import _check
from tallymark._display import Row, Shown, plain
from tallymark._numbers import number
from tallymark.audits.class_estimates import AuditEstimate, AuditMeasure, require_estimate
from tallymark.errors import InputError
from tallymark.registry import choose

PUBLISH, CAUTION, SUPPRESSED = "publish", "with caution", "suppressed"

#: A decision and its reason.
Decision = tuple[str, str]


@dataclass(frozen=True)
class Cell:
    """What a rule looks at: an estimated share, and the checked rows behind it."""

    share: AuditMeasure
    checked: int

    @property
    def effective_rows(self) -> float:
        """Rows of a simple random sample with this standard error; never more than were checked."""
        p, error = self.share.value, self.share.standard_error or 0.0
        return min(p * (1.0 - p) / error**2, float(self.checked)) if error > 0.0 else float(self.checked)

    @property
    def width(self) -> float:
        """Width of the interval."""
        return (self.share.high or 0.0) - (self.share.low or 0.0)

    @property
    def variation(self) -> float:
        """Coefficient of variation."""
        return (self.share.standard_error or 0.0) / self.share.value if self.share.value > 0.0 else math.inf


@dataclass(frozen=True)
class Rule:
    """A publication rule: its parameters with their defaults, what it says, and where it comes from."""

    decide: Callable[..., Decision]
    parameters: Mapping[str, float]
    meaning: str
    reference: str


def _nchs(cell: Cell, *, rows: float, narrow: float, wide: float, relative: float) -> Decision:
    if cell.effective_rows < rows:
        return SUPPRESSED, f"effective sample of {cell.effective_rows:.0f} rows, below {rows:g}"
    if cell.width >= wide:
        return SUPPRESSED, f"interval {number(cell.width)} wide, {wide:g} or more"
    if cell.width > narrow and cell.width > relative * cell.share.value:
        return SUPPRESSED, f"interval more than {100 * relative:g} % of the share"
    if not 0.0 < cell.share.value < 1.0:
        return CAUTION, "a share of 0 or 1 is to be reviewed"
    return PUBLISH, "sample size and width of the interval are within the standard"


def _variation(cell: Cell, *, caution: float, most: float) -> Decision:
    said = (
        "no coefficient of variation, since none was found"
        if math.isinf(cell.variation)
        else (f"coefficient of variation {100 * cell.variation:.1f} %")
    )
    if cell.variation > most:
        return SUPPRESSED, f"{said}, above {100 * most:g} %" if math.isfinite(cell.variation) else said
    return (CAUTION, f"{said}, above {100 * caution:g} %") if cell.variation > caution else (PUBLISH, said)


def _minimum(cell: Cell, *, rows: float) -> Decision:
    said = f"{cell.checked} checked rows"
    return (SUPPRESSED, f"{said}, below {rows:g}") if cell.checked < rows else (PUBLISH, said)


#: Publication rules by name.
RULES: Mapping[str, Rule] = {
    "nchs": Rule(
        _nchs,
        {"rows": 30.0, "narrow": 0.05, "wide": 0.30, "relative": 1.30},
        "Proportions: effective sample, absolute and relative width of the interval.",
        "Parker et al. (2017), NCHS Vital Health Stat. 2(175)",
    ),
    "variation": Rule(
        _variation,
        {"caution": 0.166, "most": 0.333},
        "Bands of the coefficient of variation.",
        "Statistics Canada (2016), quality guidelines: 16.6 and 33.3 %",
    ),
    "minimum": Rule(
        _minimum,
        {"rows": 10.0},
        "Primary suppression of cells with few checked rows.",
        "Hundepool et al. (2012), Statistical Disclosure Control",
    ),
}


@dataclass(frozen=True, eq=False, repr=False)
class Publication(Shown):
    """Decisions of a publication rule on every share of an audit."""

    rule: str
    parameters: Mapping[str, float]
    lines: tuple[Row, ...]

    def heading(self) -> str:
        """The rule, and how many estimates pass it."""
        kept = sum(line["decision"] != SUPPRESSED for line in self.lines)
        given = ", ".join(f"{name} {value:g}" for name, value in self.parameters.items())
        return f"Rule {self.rule} ({given}): {kept} of {len(self.lines)} shares may be published"

    def rows(self) -> list[Row]:
        """One line per class, by group where there are groups."""
        return list(self.lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"rule": self.rule, "parameters": dict(self.parameters), "shares": plain([dict(r) for r in self.lines])}


def publication(estimate: AuditEstimate, rule: str, **parameters: float) -> Publication:
    """Apply a publication rule to the estimated shares of an audit.

    The rules are ``nchs`` (parameters ``rows`` 30, ``narrow`` .05, ``wide`` .30, ``relative`` 1.3), ``variation``
    (``caution`` .166, ``most`` .333) and ``minimum`` (``rows`` 10). Nothing is decided unless a rule is named, and
    nothing is removed: each share gets a decision and the reason. ``nchs`` is applied to the intervals of this package,
    which are not the Korn-Graubard ones that it was written for.

    Parameters
    ----------
    estimate
        The result of :func:`tallymark.audits.estimate` or :func:`tallymark.audits.from_matrix`.
    rule
        Name of the rule.
    **parameters
        Other values of its parameters.

    Returns
    -------
    Publication
        ``publish``, ``with caution`` or ``suppressed`` for every class (and group), with the reason.

    Examples
    --------
    >>> import tallymark as tm
    >>> audit = tm.audits.from_matrix([[60, 15], [3, 322]], [1_000, 60_000], classes=["forest", "other"])
    >>> [line["decision"] for line in tm.audits.publication(audit, "variation").rows()]
    ['with caution', 'publish']

    """
    require_estimate(estimate, "estimate")
    chosen = choose("rule", rule, RULES)
    if unknown := [name for name in parameters if name not in chosen.parameters]:
        raise InputError(f"{rule} has no parameter {unknown[0]!r}; it has {', '.join(chosen.parameters)}.")
    if bad := [name for name, value in parameters.items() if not _check.real(value, name) > 0.0]:
        raise InputError(f"{bad[0]} is {parameters[bad[0]]!r}, expected a number above 0.")
    settings = {**chosen.parameters, **parameters}
    return Publication(rule, settings, tuple(_lines(estimate, chosen.decide, settings)))


def _decision(cell: Cell, decide: Callable[..., Decision], settings: Mapping[str, float]) -> Decision:
    if cell.share.reason:
        return SUPPRESSED, cell.share.reason
    if cell.share.standard_error is None or math.isnan(cell.share.standard_error):
        return SUPPRESSED, "no standard error: a stratum has a single checked row"
    return decide(cell, **settings)


def _lines(estimate: AuditEstimate, decide: Callable[..., Decision], settings: Mapping[str, float]) -> Iterator[Row]:
    for key, label, share, checked in estimate.shares():
        decision, reason = _decision(Cell(share, checked), decide, settings)
        yield {
            **dict(zip(estimate.names_of_groups, map(str, key), strict=True)),
            "class": str(label),
            "prevalence": share.value,
            "low": share.low,
            "high": share.high,
            "decision": decision,
            "reason": reason,
        }
