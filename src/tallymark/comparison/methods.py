"""Methods of paired comparison: the difference of every pair of models, by DeLong, MOVER, McNemar or resampling."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal

import numpy as np

from tallymark._check import Floats
from tallymark._policies import parse_policy, policy_in
from tallymark.errors import InputError
from tallymark.inference.declared import Inference, inference_of
from tallymark.inference.hypothesis_tests.delong import DeLong, correlation_of, delong, error_of_difference
from tallymark.inference.hypothesis_tests.difference import (
    Difference,
    LimitsAt,
    known_up_to,
    model_limits,
    model_rate_limits,
    mover_difference,
    no_disagreement,
    student_difference,
)
from tallymark.inference.hypothesis_tests.mcnemar import mcnemar
from tallymark.inference.hypothesis_tests.paired import (
    CHOICES,
    PairedInfluence,
    PairedProportions,
    Resampler,
    bootstrap_difference,
    cell_values,
    percentile_difference,
    value_of,
)
from tallymark.inference.hypothesis_tests.permutation import permutation_p
from tallymark.inference.resampling.cluster_draws import fewest_clusters
from tallymark.inference.resampling.jackknife import Jackknife, jackknifed
from tallymark.inference.resampling.parallel import Resampling, in_threads
from tallymark.inference.scales import NO_SPREAD
from tallymark.metrics.declare import cell_settings
from tallymark.metrics.parameters import stated_parameters
from tallymark.registry import Metric
from tallymark.summaries.panel import Panel
from tallymark.summaries.tally import Tally

#: The difference of every pair of models.
Differences = dict[tuple[str, str], Difference]

#: Cells of the rows that are classified correctly, and of the others.
_RIGHT, _WRONG = frozenset({"tp", "tn"}), frozenset({"fp", "fn"})


@dataclass(frozen=True)
class Problem:
    """A paired comparison: the rows, the metric, and how to compare."""

    panel: Panel
    facts: Metric
    threshold: float | str | None
    resampling: Resampling
    mcnemar_kind: Literal["exact", "mid_p"]
    parameters: Mapping[str, float]

    @property
    def default_method(self) -> str:
        """The method when none is given."""
        if self.panel.cluster is not None:
            return "clusters"
        if self.inference.mover is not None:
            return "mover"
        if self.inference.influence is not None:
            return "influence"
        if self.policy is not None:
            return "bootstrap"
        if self.counts_correct is not None and self.panel.weights is None:
            return "mcnemar"
        return "mover" if self.is_proportion else "bootstrap"

    @property
    def is_proportion(self) -> bool:
        """Whether the metric is a proportion of rows."""
        return self.facts.proportion is not None

    @property
    def policy(self) -> str | None:
        """The policy that chooses each model's threshold; None where it is a number."""
        return policy_in(self.threshold)

    @property
    def maximised(self) -> bool:
        """Whether the policy chooses the threshold at which the metric is best."""
        if self.policy is None:
            return False
        policy, numbers = parse_policy(self.policy)
        settings = dict(zip(policy.arguments, numbers, strict=True))
        return self.facts.name in policy.maximises and all(self.given.get(k, v) == v for k, v in settings.items())

    @property
    def inference(self) -> Inference:
        """How the metric is tested."""
        return inference_of(self.facts.name)

    @property
    def counts_correct(self) -> bool | None:
        """Whether the metric is the share of rows that are right (True) or wrong (False); None where it is neither."""
        hits, misses = self.facts.proportion or ((), ())
        return {_RIGHT: True, _WRONG: False}.get(frozenset(hits)) if {*hits, *misses} == _RIGHT | _WRONG else None

    @property
    def freedom(self) -> float:
        """Degrees of freedom."""
        return max(1.0, self.units - 1.0)

    @cached_property
    def units(self) -> float:
        """Independent units of the smaller class: its effective rows, or the clusters in which it has any."""
        clusters = fewest_clusters([self.tally])
        return min(run.effective_size for run in self.tally.runs) if clusters is None else float(clusters)

    @property
    def tally(self) -> Tally:
        """The tally of the first model; labels, weights and clusters are the same for all."""
        return self.tallies[self.panel.models[0]]

    @cached_property
    def tallies(self) -> Mapping[str, Tally]:
        """The tally of each model."""
        models = self.panel.models
        return dict(zip(models, in_threads(self.panel.tally, models, self.resampling.jobs), strict=True))

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Every pair once."""
        return list(itertools.combinations(self.panel.models, 2))

    @cached_property
    def thresholds(self) -> dict[str, float | None]:
        """The threshold of each model."""
        if self.facts.needs != "confusion":
            return dict.fromkeys(self.panel.models)
        if self.threshold is None:
            raise InputError(
                f"{self.facts.name} needs a threshold: a number, or a policy such as 'youden' that each model "
                "chooses by."
            )
        return {model: tally.at(self.threshold).threshold for model, tally in self.tallies.items()}

    @cached_property
    def given(self) -> dict[str, float]:
        """The metric's parameters that were set, by name or by the policy."""
        given = stated_parameters(self.threshold, self.parameters)
        unknown = set(self.parameters) - set(self.facts.parameters)
        if unknown:
            cell_settings(self.facts, {name: self.parameters[name] for name in unknown})
        return {name: value for name, value in given.items() if name in self.facts.parameters}

    @cached_property
    def settings(self) -> dict[str, dict[str, float]] | None:
        """All parameters of the metric, for each model."""
        if self.facts.needs != "confusion":
            return None
        return {
            model: cell_settings(
                self.facts, self.given, cut if cut is None or self.tallies[model].is_probability else math.nan
            )
            for model, cut in self.thresholds.items()
        }

    @cached_property
    def values(self) -> dict[str, float]:
        """The metric of each model."""
        cuts = self.thresholds
        return {model: value_of(self.facts, tally, cuts[model], self.given) for model, tally in self.tallies.items()}

    @property
    def paired(self) -> PairedInfluence:
        """Each model's influence function, and the covariance of their estimates."""
        plain, jobs = self.resampling.sampling == "plain", self.resampling.jobs
        return PairedInfluence.of(self.panel, self.tallies, self.facts.name, plain=plain, jobs=jobs)

    @property
    def chosen(self) -> dict[str, Floats]:
        """The metric of every model in every resample, at the thresholds that the policy chooses there."""
        return Resampler(self.panel, self.panel.models, CHOICES).at_choices(
            self.facts.name, str(self.policy), self.resampling, self.given
        )

    def of_replicates(self, drawn: Mapping[str, Floats], method: str) -> Differences:
        """Every pair's difference from paired resamples of both models.

        A metric maximised over thresholds has the wider of percentile and Student limits; another metric at chosen
        thresholds has percentile limits.
        """
        maximum = self.maximised or self.inference.maximum is not None
        entries = {}
        for a, b in self.pairs:
            estimate, differences = self.values[a] - self.values[b], drawn[a] - drawn[b]
            defined = differences[np.isfinite(differences)]
            if abs(estimate) <= NO_SPREAD and len(defined) and np.abs(defined).max() <= NO_SPREAD:
                entries[a, b] = no_disagreement(self.facts.high - self.facts.low, self.units, method)
            elif self.policy is None and not maximum:
                entries[a, b] = bootstrap_difference(estimate, differences, self.freedom)
            else:
                careful = maximum or self.panel.cluster is not None
                entries[a, b] = percentile_difference(
                    estimate, differences, self.freedom, method, at_least_student=careful, maximum=maximum
                )
        return entries


def delong_differences(
    facts: Metric, areas: DeLong, fewest: float, slack: Mapping[str, float] | None = None
) -> Differences:
    """Differences of AUROCs, or of linear functions of AUROC, by DeLong's z."""
    unit = facts.high - facts.low
    differences = {}
    for a, b in itertools.combinations(areas.models, 2):
        off = 0.0 if slack is None else slack[a] + slack[b]
        difference, error = areas.difference(a, b)
        agree = abs(difference) <= NO_SPREAD and error <= NO_SPREAD and off == 0.0
        differences[a, b] = (
            no_disagreement(unit, fewest, "DeLong") if agree else known_up_to(unit * difference, unit * error, off)
        )
    return differences


@dataclass(frozen=True)
class ModelLimits:
    """Limits of each model at any level, the covariance of their estimates, and the rows of the smaller class."""

    limits: Mapping[str, LimitsAt]
    covariance: Floats
    fewest: float

    @classmethod
    def of_effects(
        cls, facts: Metric, values: Mapping[str, float], paired: PairedInfluence, fewest: float
    ) -> ModelLimits:
        """From influence functions."""
        how, freedom = inference_of(facts.name).mover, max(1.0, fewest - 1.0)
        if how is None:
            raise InputError(f"MOVER does not compare {facts.name}; leave method= out, or use method='bootstrap'.")
        limits = {
            model: model_limits(how, effect, values[model], paired.designs[model], freedom)
            for model, effect in paired.effects.items()
        }
        return cls(limits, paired.covariance, fewest)

    @classmethod
    def of_proportions(cls, facts: Metric, paired: PairedProportions) -> ModelLimits:
        """From the hits and rows of each model."""
        limits = {model: model_rate_limits(facts, matrix) for model, matrix in paired.confusions.items()}
        return cls(limits, paired.covariance, paired.fewest)


def mover_differences(
    facts: Metric, values: Mapping[str, float], models: ModelLimits, slack: Mapping[str, float] | None = None
) -> Differences:
    """MOVER: differences from the limits of each model and the correlation of the two estimates."""
    differences = {}
    for (i, a), (j, b) in itertools.combinations(enumerate(models.limits), 2):
        off = 0.0 if slack is None else slack[a] + slack[b]
        error = error_of_difference(models.covariance, i, j)
        if abs(values[a] - values[b]) <= NO_SPREAD and error <= NO_SPREAD and off == 0.0:
            differences[a, b] = no_disagreement(facts.high - facts.low, models.fewest, "MOVER")
        else:
            ends, correlation = (models.limits[a], models.limits[b]), correlation_of(models.covariance, i, j)
            differences[a, b] = mover_difference((values[a], values[b]), ends, error, correlation, off)
    return differences


def _by_delong(problem: Problem) -> Differences:
    if not problem.inference.linear_in_auroc:
        raise InputError(f"DeLong's test compares auroc or gini; for {problem.facts.name} use method='bootstrap'.")
    return delong_differences(problem.facts, delong(problem.panel), problem.units)


def _by_mover(problem: Problem) -> Differences:
    if problem.is_proportion:
        paired = PairedProportions.of(problem.panel, problem.tallies, problem.facts, problem.thresholds)
        return mover_differences(problem.facts, problem.values, ModelLimits.of_proportions(problem.facts, paired))
    if problem.inference.influence is None:
        raise InputError(
            f"MOVER does not compare {problem.facts.name} here; leave method= out, or use method='bootstrap'."
        )
    return mover_differences(
        problem.facts,
        problem.values,
        ModelLimits.of_effects(problem.facts, problem.values, problem.paired, problem.units),
    )


def _by_influence(problem: Problem) -> Differences:
    values, covariances = problem.values, problem.paired.covariance
    differences = {}
    for (i, a), (j, b) in itertools.combinations(enumerate(problem.panel.models), 2):
        difference, error = values[a] - values[b], error_of_difference(covariances, i, j)
        if abs(difference) <= NO_SPREAD and error <= NO_SPREAD:
            differences[a, b] = no_disagreement(problem.facts.high - problem.facts.low, problem.units, "influence")
        else:
            differences[a, b] = student_difference(difference, error, "influence", problem.freedom)
    return differences


def _by_mcnemar(problem: Problem) -> Differences:
    if problem.counts_correct is None or problem.panel.weights is not None:
        raise InputError("McNemar's test compares accuracy or error of unweighted rows; use method='bootstrap' here.")
    cuts, counts = problem.thresholds, problem.panel.mass
    right = {m: (problem.panel.scores[m] >= cuts[m]) == problem.panel.is_positive for m in problem.panel.models}
    if not problem.counts_correct:
        right = {model: ~hit for model, hit in right.items()}
    kind = problem.mcnemar_kind
    return {(a, b): mcnemar(right[a], right[b], counts, kind) for a, b in problem.pairs}


def _by_bootstrap(problem: Problem) -> Differences:
    if problem.policy is not None:
        return problem.of_replicates(problem.chosen, "paired bootstrap, choice included")
    panel, name = problem.panel, problem.facts.name
    if problem.facts.needs == "confusion" and panel.weights is None:
        drawn = cell_values(panel, name, problem.thresholds, problem.resampling, problem.settings)
    else:
        resampler = Resampler(panel, panel.models)
        drawn = resampler.values(name, problem.thresholds, problem.resampling, problem.settings)
    return problem.of_replicates(drawn, "paired bootstrap")


def _by_permutation(problem: Problem) -> Differences:
    facts, cuts = problem.facts, problem.thresholds
    entries = {}
    for (a, b), d in _by_bootstrap(problem).items():
        if cuts[a] != cuts[b]:
            raise InputError("A permutation test exchanges scores, so both models need one threshold.")
        p = permutation_p(
            problem.panel,
            (a, b),
            partial(value_of, facts, threshold=cuts[a], parameters=problem.given),
            d.difference,
            by_rank=facts.rank_only and facts.needs != "confusion",
            permutations=problem.resampling.replicates,
            seed=problem.resampling.seed,
        )
        entries[a, b] = replace(d, p_value=p, method="permutation")
    return entries


def _by_clusters(problem: Problem) -> Differences:
    name = problem.facts.name
    if problem.policy is not None:
        return problem.of_replicates(problem.chosen, "cluster bootstrap, choice included")
    drawn = {
        model: jackknifed(
            [name],
            problem.tallies[model],
            cut,
            None if problem.settings is None else {name: problem.settings[model]},
        )[name]
        for model, cut in problem.thresholds.items()
    }
    differences = {}
    for a, b in problem.pairs:
        jackknife, estimate = Jackknife.of(drawn[a] - drawn[b]), problem.values[a] - problem.values[b]
        if abs(estimate) <= NO_SPREAD and jackknife.error <= NO_SPREAD:
            differences[a, b] = no_disagreement(
                problem.facts.high - problem.facts.low, jackknife.groups, "cluster jackknife"
            )
        elif math.isnan(jackknife.error):
            raise InputError(
                f"Leaving out one cluster leaves {name} undefined: a class has rows in a single cluster, "
                "so that its variance cannot be estimated."
            )
        else:
            differences[a, b] = student_difference(estimate, jackknife.error, "cluster jackknife", jackknife.freedom)
    return differences


METHODS: Mapping[str, Callable[[Problem], Differences]] = {
    "mover": _by_mover,
    "delong": _by_delong,
    "influence": _by_influence,
    "mcnemar": _by_mcnemar,
    "bootstrap": _by_bootstrap,
    "permutation": _by_permutation,
    "clusters": _by_clusters,
}

#: Methods that choose thresholds anew in every resample, where a policy chooses them.
RESAMPLED = frozenset({"bootstrap", "clusters"})
