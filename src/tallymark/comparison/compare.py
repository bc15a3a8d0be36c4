"""``tm.compare``: which model is better on the same rows, and is it sure."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from tallymark import _check
from tallymark._check import Floats
from tallymark._policies import parse_policy, policy_in
from tallymark.comparison.results import Comparison, Pair
from tallymark.errors import InputError
from tallymark.inference.declared import Inference, inference_of
from tallymark.inference.guards import comparison_notes
from tallymark.inference.hypothesis_tests.delong import DeLong, correlation_of, delong, error_of_difference
from tallymark.inference.hypothesis_tests.delong_in_files import delong_in_files
from tallymark.inference.hypothesis_tests.difference import (
    Difference,
    LimitsAt,
    known_up_to,
    mover_difference,
    no_disagreement,
    own_limits,
    own_rate_limits,
    student_difference,
)
from tallymark.inference.hypothesis_tests.holm import holm, holm_levels
from tallymark.inference.hypothesis_tests.mcnemar import mcnemar
from tallymark.inference.hypothesis_tests.paired import (
    CHOICES,
    PairedInfluence,
    PairedMethod,
    PairedProportions,
    Resampler,
    bootstrap_difference,
    cell_values,
    metric_named,
    percentile_difference,
    value_of,
)
from tallymark.inference.hypothesis_tests.permutation import permutation_p
from tallymark.inference.interval import Sampling, Seed, checked_level
from tallymark.inference.limits.influence import FIXED
from tallymark.inference.limits.proportions import unseen
from tallymark.inference.resampling.cluster_draws import fewest_clusters
from tallymark.inference.resampling.jackknife import Jackknife, jackknifed
from tallymark.inference.scales import NO_SPREAD
from tallymark.metrics.declare import cell_settings
from tallymark.metrics.parameters import stated_parameters
from tallymark.notes import Note, emit
from tallymark.registry import Metric, require_one_of
from tallymark.sources.filepanel import FilePanel
from tallymark.sources.open_rows import Table
from tallymark.summaries.panel import Panel
from tallymark.summaries.tally import Tally


def compare(
    panel: Panel | FilePanel, *, metric: str = "auroc", method: PairedMethod | None = None, threshold: float | str | None = None,
    level: float = 0.95, equivalence: float | None = None, sampling: Sampling = "plain",
    mcnemar_kind: Literal["exact", "mid_p"] = "mid_p", replicates: int = 2_000, seed: Seed = 0, jobs: int | None = None,
    strict: bool = False, **parameters: float,
) -> Comparison:  # fmt: skip
    """Compare models on the same rows by one metric: difference, interval, p-value and a verdict for every pair.

    Left out, `method` is ``"mover"`` for auroc, gini, average precision, the area under the PR curve and proportions at a
    threshold (precision, recall, …): each model's own limits (of areas with less of an imaginary row than
    :func:`tallymark.evaluate` prints) and the correlation of the two, which keeps its size with few positives and unlike
    scores (``"delong"`` is the textbook's z of auroc, as R's pROC has it); the metric's own ``"influence"`` function where
    it has one (sPCC, Brier score, log loss, …); McNemar's for accuracy and error of unweighted rows; and the paired
    bootstrap for everything else.
    ``"permutation"`` exchanges the two models' scores row by row (its interval is the bootstrap's). A metric at one threshold
    needs `threshold`, a number or a policy that each model then chooses by. A policy chooses anew in every paired resample, so
    that the verdict speaks of the models, not of the thresholds that these rows happened to give; limits are percentiles, for
    the metric that the policy maximises at least Student's. Methods that hold thresholds fixed are refused for any other
    metric. Policies such as ``cost:1,50`` set the metric's `parameters`, which can be given by name too
    (``cost_fp=1, cost_fn=50``).
    Files beyond two million rows (:func:`tallymark.scan_panel`) are compared by AUROC. Where rows come in clusters
    (``tm.panel(…, clusters=…)``) they are left out together, cluster by cluster (``"clusters"``).

    `sampling` ``plain`` takes all rows as drawn at random, ``stratified`` the class sizes as fixed by design. With
    `equivalence` δ a pair is called equivalent when two one-sided tests say that it differs by less than δ, and never on
    the strength of rows that simply agree. `strict` turns guards into errors. Several pairs: Holm's correction of both tests and of the limits.

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
    facts, confidence = metric_named(metric), checked_level(level)
    margin = None if equivalence is None else _margin(equivalence)
    design: Sampling = require_one_of("sampling", sampling, ("stratified", "plain"))
    if isinstance(panel, FilePanel):
        with panel.open() as table:
            if not table.small and table.roles.cluster is None:
                return _compare_files(table, facts, method, confidence, margin, design)
            panel = table.panel()
    if facts.model_free or (threshold is not None and facts.needs != "confusion"):
        raise InputError(
            f"{facts.name} does not depend on a threshold; leave it out."
            if threshold is not None
            else f"The {facts.name} is that of the data, whatever the model."
        )
    panel = panel.keep(panel.mass > 0)
    ask = _Ask(panel, facts, threshold, replicates, seed, jobs, mcnemar_kind, design, parameters)
    way = require_one_of("method", method, _WAYS) if method is not None else ask.usual
    require_one_of("mcnemar_kind", mcnemar_kind, ("exact", "mid_p"))
    if mcnemar_kind != "mid_p" and way != "mcnemar":
        raise InputError(f"mcnemar_kind={mcnemar_kind!r} goes with method='mcnemar'; this is compared by {way!r}.")
    if panel.cluster is not None and design != "plain":
        raise InputError(
            f"sampling={design!r} speaks of single rows; clusters are taken as drawn at random. Leave it out."
        )
    if (way == "clusters") != (panel.cluster is not None):
        raise InputError(
            "method='clusters' needs a panel that knows which rows belong together: tm.panel(…, clusters=…)."
            if panel.cluster is None
            else f"method={way!r} takes rows one by one; rows in clusters are compared by method='clusters'."
        )
    if ask.policy is not None and way not in _RESAMPLED and not ask.maximised:
        raise InputError(
            f"method={way!r} holds thresholds fixed, but {ask.policy!r} chooses them on these rows and does not maximise "
            f"{facts.name}: leave method= out to resample the choice, or give a number as the threshold."
        )
    differences = _WAYS[way](ask)
    notes = comparison_notes(facts, ask.tally)
    emit(notes, strict=strict)
    cuts = {model: cut for model, cut in ask.thresholds.items() if cut is not None}
    return _comparison(
        facts, ask.values, differences, confidence, margin, thresholds=cuts or None, sampling=design if panel.cluster is None else "clusters", parameters=ask.given,
        fewest=ask.units, warnings=notes, policy=ask.policy if way in _RESAMPLED else None, n=int(panel.mass.sum()) if panel.weights is None else panel.n,
        positives=int((panel.mass * panel.is_positive).sum()) if panel.weights is None else int(panel.is_positive.sum()),
    )  # fmt: skip


def _compare_files(
    table: Table, facts: Metric, method: str | None, level: float, margin: float | None, sampling: Sampling
) -> Comparison:
    """DeLong's comparison from cells: tallies in a first pass, products of looked-up placements in a second."""
    if not inference_of(facts.name).linear_in_auroc or method not in {None, "mover", "delong"}:
        raise InputError(
            f"{table.n} rows are compared by auroc with DeLong's covariance; for {facts.name} read fewer rows with where=."
        )
    areas, slack, tallies = delong_in_files(table)
    own = {model: tally for (model,), tally in tallies.entries.items()}
    values = {model: facts.compute(tally) for model, tally in own.items()}
    first = next(iter(own.values()))
    fewest = min(run.effective_size for run in first.runs)
    unit = facts.high - facts.low
    off = {model: unit * width for model, width in slack.items()}
    if method == "delong":
        differences = _delong_differences(facts, areas, fewest, off)
    else:
        influence = inference_of(facts.name).influence
        effects = {} if influence is None else {model: influence(tally) for model, tally in own.items()}
        paired = PairedInfluence(effects, dict.fromkeys(own, FIXED), unit**2 * areas.covariance)
        differences = _mover_differences(facts, values, _Own.of_effects(facts, values, paired, fewest), off)
    return _comparison(
        facts, values, differences, level, margin, sampling=sampling, n=first.n_rows, positives=first.positive.n_rows,
        fewest=fewest,
    )  # fmt: skip


def _delong_differences(
    facts: Metric, areas: DeLong, fewest: float, slack: Mapping[str, float] | None = None
) -> dict[tuple[str, str], Difference]:
    """Differences of AUROCs, or of what is AUROC on another scale, by DeLong's z."""
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
class _Own:
    """Each model's own limits at any level, the covariance of their estimates, and the rows of the smallest part."""

    limits: Mapping[str, LimitsAt]
    covariance: Floats
    fewest: float

    @classmethod
    def of_effects(cls, facts: Metric, values: Mapping[str, float], paired: PairedInfluence, fewest: float) -> _Own:
        """From influence functions."""
        how, freedom = inference_of(facts.name).mover, max(1.0, fewest - 1.0)
        if how is None:
            raise InputError(f"MOVER does not compare {facts.name}; leave method= out, or use method='bootstrap'.")
        limits = {
            model: own_limits(how, effect, values[model], paired.designs[model], freedom)
            for model, effect in paired.effects.items()
        }
        return cls(limits, paired.covariance, fewest)

    @classmethod
    def of_proportions(cls, facts: Metric, paired: PairedProportions) -> _Own:
        """From the hits and rows of each model."""
        limits = {model: own_rate_limits(facts, matrix) for model, matrix in paired.confusions.items()}
        return cls(limits, paired.covariance, paired.fewest)


def _mover_differences(
    facts: Metric, values: Mapping[str, float], own: _Own, slack: Mapping[str, float] | None = None
) -> dict[tuple[str, str], Difference]:
    """Differences from each model's own limits and the correlation of the two estimates."""
    differences = {}
    for (i, a), (j, b) in itertools.combinations(enumerate(own.limits), 2):
        off = 0.0 if slack is None else slack[a] + slack[b]
        error = error_of_difference(own.covariance, i, j)
        if abs(values[a] - values[b]) <= NO_SPREAD and error <= NO_SPREAD and off == 0.0:
            differences[a, b] = no_disagreement(facts.high - facts.low, own.fewest, "MOVER")
        else:
            ends, correlation = (own.limits[a], own.limits[b]), correlation_of(own.covariance, i, j)
            differences[a, b] = mover_difference((values[a], values[b]), ends, error, correlation, off)
    return differences


def _margin(equivalence: float) -> float:
    if not _check.real(equivalence, "equivalence") > 0.0:
        raise InputError(f"equivalence is {equivalence!r}, expected a difference above 0 that would not matter.")
    return equivalence


def _comparison(
    facts: Metric, values: Mapping[str, float], differences: Mapping[tuple[str, str], Difference], level: float,
    margin: float | None, *, n: int, positives: int, fewest: float, sampling: str,
    thresholds: Mapping[str, float] | None = None, parameters: Mapping[str, float] | None = None, warnings: tuple[Note, ...] = (),
    policy: str | None = None,
) -> Comparison:  # fmt: skip
    items = list(differences.values())
    p_values = np.array([d.p_value for d in items])
    adjusted = holm(p_values)
    levels = holm_levels(p_values, 1.0 - level)
    same: list[float | None] = [None] * len(items)
    if margin is not None:
        same = list(holm(np.array([d.equivalence_p(margin) for d in items])))
    # Rows that all agree say nothing about those not seen: a share of them may differ.
    agreed = margin is not None and unseen(2.0 * level - 1.0, fewest) * (facts.high - facts.low) <= margin
    most = facts.high - facts.low
    pairs = []
    for (first, second), d, p, own, q in zip(differences, items, adjusted, levels, same, strict=True):
        low, high = d.limits(own)
        equivalent = q is not None and q <= 1.0 - level and (agreed or d.error > 0.0)
        pairs.append(
            Pair(first, second, d.difference, d.error, max(low, -most), min(high, most), d.p_value, float(p),
                 _verdict(facts, first, second, d.difference, float(p), level, margin if equivalent else None), d.method,
                 own, None if q is None else float(q))
        )  # fmt: skip
    return Comparison(
        facts.name,
        values,
        tuple(pairs),
        level,
        n,
        positives,
        margin,
        thresholds,
        sampling,
        parameters or None,
        warnings,
        policy,
    )


def _verdict(
    facts: Metric, first: str, second: str, difference: float, p: float, level: float, margin: float | None
) -> str:
    if p >= 1.0 - level:
        return "no difference shown" if margin is None else f"equivalent within {margin:g}"
    higher, lower = (first, second) if difference > 0 else (second, first)
    said = {"higher": f"{higher} is better", "lower": f"{lower} is better"}.get(facts.better, f"{higher} is higher")
    return said if margin is None else f"{said}, but equivalent within {margin:g}"


#: Cells of the rows that are classified correctly, and of the others.
_RIGHT, _WRONG = frozenset({"tp", "tn"}), frozenset({"fp", "fn"})


@dataclass(frozen=True)
class _Ask:
    """What to compare, and how."""

    panel: Panel
    facts: Metric
    threshold: float | str | None
    replicates: int
    seed: Seed
    jobs: int | None
    mcnemar_kind: Literal["exact", "mid_p"]
    sampling: Sampling
    parameters: Mapping[str, float]

    @property
    def usual(self) -> str:
        """The method for this metric when none is named."""
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
        """Whether the metric is a share of rows that are hits."""
        return self.facts.proportion is not None

    @property
    def policy(self) -> str | None:
        """The policy that chooses each model's threshold; None where it is a number."""
        return policy_in(self.threshold)

    @property
    def maximised(self) -> bool:
        """Whether the metric has its best value of all thresholds at the policy's choice."""
        if self.policy is None:
            return False
        policy, numbers = parse_policy(self.policy)
        own = dict(zip(policy.arguments, numbers, strict=True))
        return self.facts.name in policy.maximises and all(self.given.get(k, v) == v for k, v in own.items())

    @property
    def inference(self) -> Inference:
        """What the metric's tests are made from."""
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

    @cached_property
    def tally(self) -> Tally:
        """The first model's: labels, weights and clusters are those of every other."""
        return self.panel.tally(self.panel.models[0])

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
    def given(self) -> dict[str, float]:
        """The metric's parameters that were asked for, by name or by the policy."""
        asked = stated_parameters(self.threshold, self.parameters)
        unknown = set(self.parameters) - set(self.facts.parameters)
        if unknown:
            cell_settings(self.facts, {name: self.parameters[name] for name in unknown})
        return {name: value for name, value in asked.items() if name in self.facts.parameters}

    @cached_property
    def settings(self) -> dict[str, dict[str, float]] | None:
        """All parameters of the metric, for each model."""
        if self.facts.needs != "confusion":
            return None
        return {
            model: cell_settings(
                self.facts, self.given, cut if cut is None or self.panel.tally(model).is_probability else math.nan
            )
            for model, cut in self.thresholds.items()
        }

    @cached_property
    def values(self) -> dict[str, float]:
        """Each model's own value."""
        cuts = self.thresholds
        return {
            model: value_of(self.facts, self.panel.tally(model), cuts[model], self.given) for model in self.panel.models
        }

    @property
    def paired(self) -> PairedInfluence:
        """Each model's influence function, and the covariance of their estimates."""
        return PairedInfluence.of(self.panel, self.facts.name, plain=self.sampling == "plain")

    @property
    def chosen(self) -> dict[str, Floats]:
        """The metric of every model in every resample, at the thresholds that the policy chooses there."""
        return Resampler(self.panel, self.panel.models, CHOICES).at_choices(
            self.facts.name, str(self.policy), self.replicates, self.seed, self.jobs, self.sampling, self.given
        )

    def of_replicates(self, drawn: Mapping[str, Floats], method: str) -> dict[tuple[str, str], Difference]:
        """Every pair's difference from paired resamples of both.

        Of a maximum over thresholds percentiles and Student's limits both count; of what a choice of thresholds does not
        maximise percentiles alone.
        """
        maximum = self.maximised or self.inference.maximum is not None
        entries = {}
        for a, b in self.pairs:
            estimate, differences = self.values[a] - self.values[b], drawn[a] - drawn[b]
            known = differences[np.isfinite(differences)]
            if abs(estimate) <= NO_SPREAD and len(known) and np.abs(known).max() <= NO_SPREAD:
                entries[a, b] = no_disagreement(self.facts.high - self.facts.low, self.units, method)
            elif self.policy is None and not maximum:
                entries[a, b] = bootstrap_difference(estimate, differences, self.freedom)
            else:
                careful = maximum or self.panel.cluster is not None
                entries[a, b] = percentile_difference(
                    estimate, differences, self.freedom, method, at_least_student=careful, maximum=maximum
                )
        return entries


def _by_delong(ask: _Ask) -> dict[tuple[str, str], Difference]:
    if not ask.inference.linear_in_auroc:
        raise InputError(f"DeLong's test compares auroc or gini; for {ask.facts.name} use method='bootstrap'.")
    return _delong_differences(ask.facts, delong(ask.panel), ask.units)


def _by_mover(ask: _Ask) -> dict[tuple[str, str], Difference]:
    if ask.is_proportion:
        paired = PairedProportions.of(ask.panel, ask.facts, ask.thresholds)
        return _mover_differences(ask.facts, ask.values, _Own.of_proportions(ask.facts, paired))
    if ask.inference.influence is None:
        raise InputError(f"MOVER does not compare {ask.facts.name} here; leave method= out, or use method='bootstrap'.")
    return _mover_differences(ask.facts, ask.values, _Own.of_effects(ask.facts, ask.values, ask.paired, ask.units))


def _by_influence(ask: _Ask) -> dict[tuple[str, str], Difference]:
    values, covariances = ask.values, ask.paired.covariance
    differences = {}
    for (i, a), (j, b) in itertools.combinations(enumerate(ask.panel.models), 2):
        difference, error = values[a] - values[b], error_of_difference(covariances, i, j)
        if abs(difference) <= NO_SPREAD and error <= NO_SPREAD:
            differences[a, b] = no_disagreement(ask.facts.high - ask.facts.low, ask.units, "influence")
        else:
            differences[a, b] = student_difference(difference, error, "influence", ask.freedom)
    return differences


def _by_mcnemar(ask: _Ask) -> dict[tuple[str, str], Difference]:
    if ask.counts_correct is None or ask.panel.weights is not None:
        raise InputError("McNemar's test compares accuracy or error of unweighted rows; use method='bootstrap' here.")
    cuts, counts = ask.thresholds, ask.panel.mass
    right = {m: (ask.panel.scores[m] >= cuts[m]) == ask.panel.is_positive for m in ask.panel.models}
    if not ask.counts_correct:
        right = {model: ~hit for model, hit in right.items()}
    kind = require_one_of("mcnemar_kind", ask.mcnemar_kind, ("exact", "mid_p"))
    return {(a, b): mcnemar(right[a], right[b], counts, kind) for a, b in ask.pairs}


def _by_bootstrap(ask: _Ask) -> dict[tuple[str, str], Difference]:
    if ask.policy is not None:
        return ask.of_replicates(ask.chosen, "paired bootstrap, choice included")
    if ask.facts.needs == "confusion" and ask.panel.weights is None:
        drawn = cell_values(
            ask.panel, ask.facts.name, ask.thresholds, ask.replicates, ask.seed, ask.sampling, ask.settings
        )
    else:
        drawn = Resampler(ask.panel, ask.panel.models).values(
            ask.facts.name, ask.thresholds, ask.replicates, ask.seed, ask.jobs, ask.sampling, ask.settings
        )
    return ask.of_replicates(drawn, "paired bootstrap")


def _by_permutation(ask: _Ask) -> dict[tuple[str, str], Difference]:
    entries = {}
    for (a, b), d in _by_bootstrap(ask).items():
        p = permutation_p(ask.panel, a, b, ask.facts, ask.thresholds, d.difference, ask.replicates, ask.seed, ask.given)
        entries[a, b] = replace(d, p_value=p, method="permutation")
    return entries


def _by_clusters(ask: _Ask) -> dict[tuple[str, str], Difference]:
    name = ask.facts.name
    if ask.policy is not None:
        return ask.of_replicates(ask.chosen, "cluster bootstrap, choice included")
    drawn = {
        model: jackknifed(
            [name], ask.panel.tally(model), cut, None if ask.settings is None else {name: ask.settings[model]}
        )[name]
        for model, cut in ask.thresholds.items()
    }
    differences = {}
    for a, b in ask.pairs:
        found, estimate = Jackknife.of(drawn[a] - drawn[b]), ask.values[a] - ask.values[b]
        if abs(estimate) <= NO_SPREAD and found.error <= NO_SPREAD:
            differences[a, b] = no_disagreement(ask.facts.high - ask.facts.low, found.groups, "cluster jackknife")
        elif math.isnan(found.error):
            raise InputError(
                f"Leaving out one cluster leaves {name} undefined: a class has rows in a single cluster, so nothing can be said."
            )
        else:
            differences[a, b] = student_difference(estimate, found.error, "cluster jackknife", found.freedom)
    return differences


_WAYS: Mapping[str, Callable[[_Ask], dict[tuple[str, str], Difference]]] = {
    "mover": _by_mover,
    "delong": _by_delong,
    "influence": _by_influence,
    "mcnemar": _by_mcnemar,
    "bootstrap": _by_bootstrap,
    "permutation": _by_permutation,
    "clusters": _by_clusters,
}

#: Ways that choose thresholds anew in every resample, where a policy chooses them.
_RESAMPLED = frozenset({"bootstrap", "clusters"})
