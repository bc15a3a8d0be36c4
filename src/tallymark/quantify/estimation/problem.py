"""A validated quantification problem: the method, the labelled sample, the options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from tallymark import _check
from tallymark._check import Floats
from tallymark.errors import InputError
from tallymark.inference.interval import Seed
from tallymark.quantify.estimation.resampling import resampled
from tallymark.quantify.kernels.samples import Samples, Validation
from tallymark.registry import Method
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally


@dataclass(frozen=True)
class Problem:
    """A method, the validation sample it learns from, and its options, all of them checked."""

    method: Method
    validation: Tally
    training_prevalence: float
    options: Mapping[str, Any]
    #: The training prevalence was stated, not counted in the validation sample.
    stated: bool = False

    def shares(self, validation: Validation, target: Samples) -> Floats:
        """The kernel with its options."""
        values: Floats = self.method.kernel(validation, target, **self.options)
        return values

    @property
    def needs_bootstrap(self) -> bool:
        """Whether an option is set that the method's default interval does not cover, so that rows are resampled."""
        return any(self.options[name] != self.method.options[name] for name in self.method.resampled_with)

    @property
    def fitted(self) -> Problem | None:
        """The problem with densities fitted to the validation sample; None where they are already."""
        if self.needs_bootstrap or not self.method.fitted_with:
            return None
        return replace(self, options={**self.options, **self.method.fitted_with})

    @cached_property
    def edges(self) -> tuple[float, ...]:
        """Thresholds that no cell may straddle."""
        return (float(self.options["threshold"]),) if "threshold" in self.options else ()

    def clean(self, target: Tally) -> Validation:
        """The validation sample itself, for one target."""
        return Validation.of(self.validation, target, self.training_prevalence)

    def share_of(self, target: Tally) -> float:
        """The share of positives in one target."""
        return float(self.shares(self.clean(target), Samples.of_run(target.runs[0]))[0])

    def resampled(
        self, targets: list[Tally], replicates: int, seed: Seed, jobs: int | None = None, sides: str = "both"
    ) -> Floats:
        """Shares of each target in every resample."""
        return resampled(
            self.shares,
            self.validation,
            targets,
            self.training_prevalence,
            replicates,
            seed,
            edges=self.edges,
            sides=sides,
            jobs=jobs,
        )


def targets_of(target: object) -> dict[tuple[Any, ...], Tally]:
    """Unlabelled tallies by group; a labelled target is looked at without its labels."""
    if isinstance(target, Tally):
        return {(): _unlabelled(target)}
    if isinstance(target, Tallies):
        return {key: _unlabelled(tally) for key, tally in target.entries.items()}
    if getattr(target, "ndim", 1) == 2:
        raise InputError(
            "target is a matrix of scores, and validation a tally of two classes. Of more classes both are class "
            "panels: tm.class_panel(y, scores, classes=…) and tm.class_panel(scores=…, classes=…); of two pass the "
            "positive class's column."
        )
    raise InputError(
        f"target is a {type(target).__name__}, expected a Tally: write target=tm.tally(scores=new_scores)."
    )


def _unlabelled(tally: Tally) -> Tally:
    if not tally.labelled:
        return tally
    merged = (
        tally.negative.merge(tally.positive)
        if len(tally.negative) and len(tally.positive)
        else max(tally.runs, key=len)
    )
    return Tally((merged,), grid=tally.grid, clusters=None if tally.clusters is None else tally.clusters.together())


def one_target(target: object, asker: str) -> Tally:
    """The one unlabelled tally of a target without groups."""
    groups = targets_of(target)
    if list(groups) != [()]:
        raise InputError(f"{asker} takes one target; ask for each group on its own.")
    return groups[()]


def problem_of(
    method: Method,
    validation: object,
    targets: list[Tally],
    threshold: float | str | None = None,
    training_prevalence: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> Problem:
    """A problem with everything checked; `threshold` goes to the methods that cut the scores."""
    pair = checked_pair(validation, targets)
    if method.probabilities and not all(tally.is_probability for tally in (pair, *targets)):
        ends = [tally.range for tally in (pair, *targets)]
        raise InputError(
            f"{method.name} needs probabilities, but the scores run from {min(e[0] for e in ends):g} to "
            f"{max(e[1] for e in ends):g}. Calibrate them first (tm.calibration.platt), or use a method for any scores "
            "such as bayes, pacc or ms."
        )
    given = dict(options or {})
    if unknown := set(given) - set(method.options):
        declared = ", ".join(sorted(method.options)) or "none"
        raise InputError(f"{method.name} has no option {min(unknown)!r}; its options are {declared}.")
    chosen = {**method.options, **given}
    if "threshold" in method.options:
        if threshold is None and not pair.is_probability:
            raise InputError(
                f"{method.name} cuts the scores; say where with a threshold: a number (0 for decision values) or a "
                "policy such as 'max'."
            )
        chosen["threshold"] = 0.5 if threshold is None else pair.at(threshold).threshold
    share = float(pair.positives / pair.n)
    if training_prevalence is not None:
        share = _check.probability(training_prevalence, "training_prevalence")
    return Problem(method, pair, share, chosen, stated=training_prevalence is not None)


def checked_pair(validation: object, targets: list[Tally]) -> Tally:
    """The validation sample, labelled and with rows of both classes, beside targets with scores of the same type."""
    if not isinstance(validation, Tally) or not validation.labelled:
        raise InputError(
            f"validation is {'unlabelled' if isinstance(validation, Tally) else 'a ' + type(validation).__name__}, "
            "expected a labelled Tally: write validation=tm.tally(y, scores)."
        )
    if not validation.positives or not validation.negatives:
        one = "positives" if not validation.negatives else "negatives"
        raise InputError(f"validation has {one} only; error rates need rows of both classes.")
    if any(not target.n_rows for target in targets):
        raise InputError("The target has no rows.")
    kinds = {str(t.runs[0].scores.dtype if t.grid is None else t.grid.dtype) for t in (validation, *targets)}
    if len(kinds) > 1:
        raise InputError(
            f"validation and target hold scores of different types ({', '.join(sorted(kinds))}); convert one of them."
        )
    return validation
