"""Interval methods and K-class forms of the quantifiers, declared once.

A quantifier without an entry, such as a user's own, is resampled and counts two classes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tallymark.quantify.estimation import intervals
from tallymark.quantify.estimation.adjusted_count_limits import count_profile
from tallymark.quantify.estimation.class_intervals import (
    ClassLimits,
    likelihood_limits,
    predicted_limits,
    score_limits,
)
from tallymark.quantify.estimation.intervals import Analytic, Limits
from tallymark.quantify.estimation.joint_profile import joint_profile
from tallymark.quantify.estimation.problem import Problem
from tallymark.quantify.kernels import class_solvers
from tallymark.quantify.kernels.class_rows import ClassRows
from tallymark.quantify.kernels.class_solvers import Prepare
from tallymark.registry import QUANTIFIERS, Method
from tallymark.summaries.tally import Tally


@dataclass(frozen=True, kw_only=True)
class ClassMethod:
    """A quantifier's form for more than two classes."""

    solver: Prepare
    #: Its options there.
    options: tuple[str, ...] = ()
    #: Limits that need no resampling.
    limits: Callable[[ClassRows, float, Mapping[str, Any]], ClassLimits] | None = None
    #: Its work grows with the product of the two samples' rows.
    pairwise: bool = False


@dataclass(frozen=True, kw_only=True)
class Estimation:
    """What the limits of a quantifier are made from; where nothing is declared rows are resampled."""

    #: Limits in closed form.
    analytic: Analytic | None = None
    #: The closed form knows about finite populations already.
    knows_population: bool = False
    #: Limits from a likelihood of its own, where its options allow for one.
    profile: Callable[[Problem, Tally, float], Limits | None] | None = None
    #: Its form for more than two classes.
    classes: ClassMethod | None = None


#: Limits by resampling alone, and two classes only.
RESAMPLED = Estimation()

_TABLE: Mapping[str, Estimation] = {
    "bl": Estimation(
        analytic=intervals.baseline, knows_population=True, classes=ClassMethod(solver=class_solvers.baseline)
    ),
    "cc": Estimation(
        analytic=intervals.classify_and_count,
        knows_population=True,
        classes=ClassMethod(solver=class_solvers.counting(class_solvers.predicted)),
    ),
    "ac": Estimation(
        analytic=intervals.of_adjusted_count,
        profile=count_profile,
        classes=ClassMethod(solver=class_solvers.adjusting(class_solvers.predicted), limits=predicted_limits),
    ),
    "x": RESAMPLED,
    "max": RESAMPLED,
    "t50": RESAMPLED,
    "ms": RESAMPLED,
    "sweep": RESAMPLED,
    "cs": Estimation(analytic=intervals.continuous_sweep),
    "pcc": Estimation(
        analytic=intervals.mean_probability,
        knows_population=True,
        classes=ClassMethod(solver=class_solvers.counting(class_solvers.as_they_are)),
    ),
    "pacc": Estimation(
        analytic=intervals.of_adjusted_mean,
        classes=ClassMethod(solver=class_solvers.adjusting(class_solvers.as_they_are), limits=score_limits),
    ),
    "hdy": Estimation(classes=ClassMethod(solver=class_solvers.matching("hellinger"), options=("bins",))),
    "dys": Estimation(classes=ClassMethod(solver=class_solvers.matching("topsoe"), options=("bins", "distance"))),
    "sord": RESAMPLED,
    "energy": Estimation(classes=ClassMethod(solver=class_solvers.energy, pairwise=True)),
    "em": Estimation(classes=ClassMethod(solver=class_solvers.em, options=("calibration",))),
    "kde": Estimation(classes=ClassMethod(solver=class_solvers.kde, options=("bandwidth",), pairwise=True)),
    "bayes": Estimation(
        profile=joint_profile,
        classes=ClassMethod(
            solver=class_solvers.bayes, options=("density", "bins", "bandwidth"), limits=likelihood_limits
        ),
    ),
}


def estimation_of(name: str) -> Estimation:
    """How a quantifier's count gets its limits, by its name or another spelling."""
    return _TABLE.get(QUANTIFIERS[name].name, RESAMPLED)


def has_profile(method: Method) -> bool:
    """Whether a quantifier has limits from a likelihood."""
    return method.densities is not None or estimation_of(method.name).profile is not None


def class_methods() -> list[str]:
    """Quantifiers that count more than two classes and are right under prior shift."""
    return [name for name in QUANTIFIERS if estimation_of(name).classes and QUANTIFIERS[name].shift_proof]
