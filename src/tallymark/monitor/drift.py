"""Monitoring by period (``tm.monitor.watch``): prevalence, expected metrics, drift tests, control charts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Self

import numpy as np

from tallymark import _check
from tallymark._check import Floats, Ints
from tallymark.audits.checked_rows import audit_of
from tallymark.audits.plan_results import AuditPlan
from tallymark.audits.plans import only_verdicts, plan
from tallymark.audits.prevalences import prevalence_of_all
from tallymark.curves.isolines import metric_at_rates
from tallymark.errors import InputError, shown
from tallymark.inference.interval import Seed, checked_level
from tallymark.monitor.control_charts import FEWEST, ControlChart, control_chart, median_run_length, unusual
from tallymark.monitor.history import remember
from tallymark.monitor.new_items import ItemRows, NewItems, new_items
from tallymark.monitor.period_rows import PeriodRows
from tallymark.monitor.results import Watch, Watched
from tallymark.monitor.shared_effects import SharedEffect
from tallymark.notes import Note, emit
from tallymark.quantify.estimation.class_drift import class_drift
from tallymark.quantify.estimation.estimate import estimate_tallies
from tallymark.quantify.estimation.mixture_test import MixtureFit, fit_of
from tallymark.quantify.estimation.prevalence import Prevalence
from tallymark.registry import METRICS, QUANTIFIERS, metric_names
from tallymark.sources.frames import named_columns
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally

#: Share of rows that no mixture of the classes explains below which a contradiction does not matter.
_MATTERS = 0.02

#: Rows of a period from which a plan is made.
_FEWEST_TO_PLAN = 50

#: Width of the interval that an audit after a signal is planned for.
_AUDIT_WIDTH = 0.05

#: Guards about the method rather than about one period.
_OF_METHOD = frozenset({"TM110"})

#: p-value of "no shared effect of a period" in the reference below which TM126 reports such an effect.
_TOGETHER = 0.01


@named_columns
def watch(
    data: Any,
    *,
    score: str,
    period: str | None = None,
    label: str | None = None,
    value: str | None = None,
    reference: int | None = None,
    audit: bool = False,
    threshold: float | str = 0.5,
    method: str = "bayes",
    metrics: str | Sequence[str] = ("accuracy", "f1"),
    run_length: float = 370.0,
    pos_label: Any = None,
    level: float = 0.95,
    store: str | PathLike[str] | None = None,
    seed: Seed = 0,
    where: str | None = None,
    order: Sequence[Any] | None = None,
    item: str | None = None,
    check_cost: float | None = None,
    error_cost: float | None = None,
) -> Watch:
    """Monitor a classifier period by period: prevalences, expected metrics, drift tests and alarms.

    Labelled rows of the reference, the first periods, are the validation sample. Each period gets its prevalence with
    an interval, the metrics to expect at that prevalence, and three control charts:

    - the mean score, by a self-starting CUSUM that compares each period with those before it, so that its run length
      holds with the reference estimated (:mod:`tallymark.monitor.control_charts`);
    - whether the scores are still a mixture of the two classes' scores (with `audit` also whether labels contradict
      it);
    - the mean rank of `value` among the reference's, by the same CUSUM.

    A signal says which of two explanations the scores support. Either a change of prevalence explains them, and the
    corrected prevalence is valid if each class's scores kept their distribution; or no prevalence explains them, so the
    classes themselves changed and rows must be labelled (`plan` of the result draws them). A change of both classes
    that looks like a change of prevalence is detected by labels alone (`audit`).

    Parameters
    ----------
    data
        A dataframe, files, or a folder of files.
    score
        Column of the scores.
    period
        Column of the period; left out, each file of a folder is a period.
    label
        Column of the labels, empty where a row has none.
    value
        Column of a number to watch, such as a price.
    reference
        Number of leading periods of the reference; left out, those before the first period without labels, or a third.
    audit
        Take labels of later periods for a random sample of their period.
    threshold
        Number or policy at which `metrics` are expected.
    method
        Quantifier of the prevalences.
    metrics
        Metrics at a threshold to expect at each prevalence.
    run_length
        Periods between false alarms of all charts together, on average, where nothing changes and periods are
        independent. Rows of a period may share an effect, as far as the reference's labels show it
        (:mod:`tallymark.monitor.shared_effects`); guard TM126 reports that they do, or that it cannot be estimated.
    pos_label
        The positive label.
    level
        Confidence level of the intervals.
    store
        SQLite file of the history; each run is one transaction.
    seed
        Seed of resampling and of the drawn rows.
    where
        SQL condition on the rows of files.
    item
        Column of the item (the product, the company): rows of items first seen in a period are compared with those of
        known ones, by share, churn, scores, values and, where labels are, errors
        (:class:`~tallymark.results.NewItems`); labels count as random samples of their period.
    check_cost, error_cost
        What a check (labelling, training anew) and an error cost; then the answer says how often to check.
    order
        The periods in order of time, where it cannot be read from them (2024-01, Q1 2024, January 2024 can).

    Returns
    -------
    Watch
        Periods with their numbers and signals, the limit of the charts, the plan of an audit where one is needed.

    Examples
    --------
    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> month = np.repeat(np.arange(1, 17), 500)
    >>> y = rng.random(8_000) < np.where(month > 12, 0.45, 0.3)
    >>> p = 1 / (1 + np.exp(-rng.normal(2 * y - 1)))
    >>> frame = pd.DataFrame({"month": month, "p": p, "y": np.where(month <= 10, y, np.nan)})
    >>> watched = tm.monitor.watch(frame, period="month", score="p", label="y")
    >>> [one.period for one in watched.signals]
    [14, 15, 16]
    >>> watched.signals[0].signals
    ('prevalence',)

    """
    settings = _Settings(
        method=method,
        metrics=metric_names(metrics),
        threshold=threshold,
        audit=audit,
        level=checked_level(level),
        run_length=_check.real(run_length, "run_length"),
        seed=seed,
    )
    rows = PeriodRows.read(
        data,
        score=score,
        period=period,
        label=label,
        value=value,
        pos_label=pos_label,
        where=where,
        order=order,
        item=item,
    )
    costs = _costs(item, check_cost, error_cost)
    start = _Reference.of(rows, reference)
    charts = _Charts.of(rows, start, settings)
    periods = tuple(_watched(place, rows, start, charts, settings) for place in range(len(rows)))
    lines = [one.row() for one in periods]
    notes = (*_notes_of_method(periods), *_notes_of_shared_effect(start, charts))
    watched = Watch(
        periods=periods,
        limit=charts.scores.limit,
        run_length=settings.run_length,
        median_run_length=median_run_length(charts.scores.limit) / charts.number,
        charts=charts.number,
        threshold=None if start.validation is None else start.validation.at(threshold).threshold,
        plan=_plan(rows, periods[-1], seed),
        history=tuple(lines if store is None else remember(store, lines, order)),
        counted=start.validation is not None,
        new_items=_new_items(rows, start, settings, costs),
        warnings=notes,
    )
    emit(notes)
    return watched


def _costs(item: str | None, check: float | None, error: float | None) -> tuple[float | None, float | None]:
    """Costs of a check and of an error, both or none."""
    if (check is None) != (error is None):
        raise InputError("check_cost= and error_cost= belong together: what a check costs, and what an error does.")
    if check is None or error is None:
        return None, None
    if item is None:
        raise InputError("check_cost= and error_cost= are for new items; name the column of the items with item=.")
    costs = _check.real(check, "check_cost"), _check.real(error, "error_cost")
    if min(costs) <= 0.0:
        raise InputError(f"check_cost and error_cost are {costs[0]:g} and {costs[1]:g}, expected numbers above 0.")
    return costs


def _new_items(
    rows: PeriodRows, reference: _Reference, settings: _Settings, costs: tuple[float | None, float | None]
) -> NewItems | None:
    """New items beside known ones at the threshold of the expected metrics; None where no column names the items."""
    if rows.items is None:
        return None
    threshold: Any = settings.threshold
    if reference.validation is not None:
        threshold = reference.validation.at(threshold).threshold
    elif isinstance(threshold, str):
        # A policy chooses by labels, and there are none: there are no errors to count either.
        threshold = math.inf
    wrong = (rows.scores >= threshold) != rows.truth
    compared = ItemRows(rows.items, rows.scores, rows.values, rows.labelled, wrong)
    return new_items(compared, rows.names, rows.rows, settings.level, *costs)


@dataclass(frozen=True, kw_only=True)
class _Settings:
    """Options of the analysis, checked."""

    method: str
    metrics: Sequence[str]
    threshold: float | str
    audit: bool
    level: float
    run_length: float
    seed: Seed

    def __post_init__(self) -> None:
        for name in self.metrics:
            if METRICS[name].needs != "confusion":
                raise InputError(f"{name} is no metric at one threshold; prior shift predicts those only.")
        if not QUANTIFIERS[self.method].shift_proof:
            raise InputError(
                f"{self.method} does not correct for the classifier's errors; count with one that does, such as bayes, "
                "ac or ms."
            )
        if not 2.0 <= self.run_length <= 1e5:
            raise InputError(f"run_length is {self.run_length:g}, expected 2 to 100 000 periods between false alarms.")


@dataclass(frozen=True, eq=False)
class _Reference:
    """The leading periods: their number and rows, and what later periods are compared with."""

    periods: int
    rows: Ints
    #: Labelled rows; None where a class is missing.
    validation: Tally | None
    effect: SharedEffect | None
    #: The values in ascending order, None where no value is watched.
    values: Floats | None

    @classmethod
    def of(cls, data: PeriodRows, periods: int | None) -> Self:
        number = _reference_periods(data, periods)
        rows = np.concatenate(data.rows[:number])
        validation = data.labelled_tally(rows)
        effect = None
        if validation is not None:
            labelled = [part[data.labelled[part]] for part in data.rows[:number]]
            effect = SharedEffect.of(data.scores, data.truth, labelled)
        return cls(number, rows, validation, effect, None if data.values is None else np.sort(data.values[rows]))

    def fits(self, data: PeriodRows) -> list[MixtureFit | None]:
        """The mixture test of every period; a period of the reference is compared with the other periods of it."""
        if self.validation is None:
            return [None] * len(data)
        fits: list[MixtureFit | None] = []
        for place, rows in enumerate(data.rows):
            others = data.labelled_tally(np.setdiff1d(self.rows, rows)) if place < self.periods else None
            fits.append(fit_of(others or self.validation, Tally.of(data.scores[rows])))
        return fits


def _reference_periods(data: PeriodRows, given: int | None) -> int:
    """How many leading periods make the reference."""
    if len(data) <= FEWEST:
        raise InputError(
            f"There are {len(data)} periods ({shown(data.names, 4)}); watching needs a reference of {FEWEST} and one "
            "more."
        )
    if given is not None:
        return _check.whole(given, "reference", FEWEST, len(data) - 1)
    leading = next((place for place, rows in enumerate(data.rows) if not data.labelled[rows].any()), len(data))
    # All labelled, or hardly any: a third of the periods.
    return leading if FEWEST <= leading < len(data) else max(FEWEST, len(data) // 3)


@dataclass(frozen=True, eq=False)
class _Charts:
    """Control charts and mixture tests of all periods."""

    number: int
    #: Probability of a false alarm of one chart in one period.
    chance: float
    scores: ControlChart
    values: ControlChart | None
    fits: Sequence[MixtureFit | None]
    #: p-values of the mixture tests, with what rows of one period share allowed for.
    misfits: Floats

    @classmethod
    def of(cls, data: PeriodRows, reference: _Reference, settings: _Settings) -> Self:
        number = 1 + (reference.validation is not None) * (1 + settings.audit) + (data.values is not None)
        # Each chart alone has so long a run length that all together have the one that was stated.
        length = settings.run_length * number
        means = np.array([data.scores[rows].mean() for rows in data.rows])
        values = None
        if data.values is not None and reference.values is not None:
            ranks = np.array([_ranks(reference.values, data.values[rows]).mean() for rows in data.rows])
            values = control_chart(ranks, data.sizes, reference.periods, length)
        fits = reference.fits(data)
        misfits = np.fmax(
            unusual(*_statistics(fits), reference.periods), _p_with_shared_effect(reference, fits, data.sizes)
        )
        scores = control_chart(means, data.sizes, reference.periods, length)
        return cls(number, 1.0 / length, scores, values, fits, misfits)

    def signals(self, place: int, drift: float, *, counted: bool) -> tuple[str, ...]:
        """What signals in a period after the reference, given the p-value of drift in its labels."""
        signals, fit = [], self.fits[place]
        contradicted = fit is not None and self.misfits[place] < self.chance and fit.distance >= _MATTERS
        if contradicted or drift < self.chance:
            signals.append("classes")
        elif self.scores.signals[place]:
            signals.append("prevalence" if counted else "scores")
        if self.values is not None and self.values.signals[place]:
            signals.append("values")
        return tuple(signals)


def _watched(place: int, data: PeriodRows, reference: _Reference, charts: _Charts, settings: _Settings) -> Watched:
    """One period."""
    rows, in_reference = data.rows[place], place < reference.periods
    scores, fit = data.scores[rows], charts.fits[place]
    prevalence = _prevalence(scores, reference, settings)
    checked = _audited(data, rows, settings) if settings.audit else None
    drift = math.nan if in_reference or not settings.audit else _drift(data, rows, reference, settings)
    signals = () if in_reference else charts.signals(place, drift, counted=prevalence is not None)
    value_mean = value_ks = math.nan
    if data.values is not None and reference.values is not None:
        values = data.values[rows]
        value_mean, value_ks = float(_ranks(reference.values, values).mean()), _ks(reference.values, values)
    return Watched(
        period=data.names[place],
        rows=len(rows),
        reference=in_reference,
        mean_score=float(scores.mean()),
        prevalence=prevalence,
        audit=checked,
        expected=_expected(prevalence, reference, settings),
        fit_p=float(charts.misfits[place]),
        fit_distance=math.nan if fit is None else fit.distance,
        drift_p=drift,
        value_mean=value_mean,
        value_ks=value_ks,
        score_sum=charts.scores.larger_sum(place),
        value_sum=math.nan if charts.values is None else charts.values.larger_sum(place),
        signals=signals,
        advice=_advice(signals, prevalence, checked),
        unused_labels=0 if in_reference or settings.audit else int(data.labelled[rows].sum()),
    )


def _ranks(reference: Floats, values: Floats) -> Floats:
    """Mid-ranks among ordered values, as shares."""
    below, up_to = (np.searchsorted(reference, values, side) for side in ("left", "right"))
    return np.asarray((below + up_to) / (2.0 * len(reference)))


def _statistics(fits: Sequence[MixtureFit | None]) -> tuple[Floats, Floats]:
    """The statistics of the fits and their degrees of freedom, nan and 0 where there is none."""
    return (
        np.array([math.nan if one is None else one.statistic for one in fits]),
        np.array([0.0 if one is None else float(one.freedom) for one in fits]),
    )


def _p_with_shared_effect(reference: _Reference, fits: Sequence[MixtureFit | None], sizes: Floats) -> Floats:
    """p-values of the mixture tests after the reference, if rows of a period share an effect as in the reference."""
    p = np.full(len(fits), np.nan)
    validation, effect = reference.validation, reference.effect
    if effect is None or validation is None:
        return p
    of_classes = [run.effective_size for run in (validation.negative, validation.positive)]
    for place in range(reference.periods, len(fits)):
        fit = fits[place]
        if fit is not None:
            p[place] = effect.p_of_misfit(fit, [*of_classes, float(sizes[place])])
    return p


def _notes_of_method(periods: Sequence[Watched]) -> Iterator[Note]:
    """Each guard about the quantifier once."""
    prevalences = [one.prevalence for one in periods if one.prevalence is not None]
    notes = (note for one in prevalences for note in one.warnings if note.code in _OF_METHOD)
    return iter(dict.fromkeys(notes))


def _notes_of_shared_effect(reference: _Reference, charts: _Charts) -> Iterator[Note]:
    """Whether rows of a period share an effect, which only the reference can show."""
    from scipy.special import chdtrc

    if reference.validation is None:
        return
    if reference.effect is None:
        yield Note(
            "TM126",
            "Fewer than three periods of the reference have five labelled rows of each class: nothing tells whether "
            "the rows of a period move together. If they do, moved classes are signalled too often; label rows of more "
            "periods.",
        )
        return
    statistics, freedom = _statistics(charts.fits[: reference.periods])
    misfit = float(chdtrc(max(freedom.sum(), 1.0), np.nansum(statistics))) if freedom.any() else 1.0
    if min(reference.effect.p_value, misfit) < _TOGETHER:
        yield Note(
            "TM126",
            "The rows of a period move together: scores differ between the reference's periods by more than "
            f"independent rows would. The charts allow for it as {reference.periods} periods show it, so that they see "
            "less, and may signal moved classes more often than stated; a longer reference helps.",
        )


def _prevalence(scores: Floats, reference: _Reference, settings: _Settings) -> Prevalence | None:
    """The prevalence by the quantifier; its guards stay in the result, because the charts say the same."""
    if reference.validation is None:
        return None
    cuts = "threshold" in QUANTIFIERS[settings.method].options
    prevalence = estimate_tallies(
        settings.method,
        reference.validation,
        Tally.of(scores),
        threshold=settings.threshold if cuts else None,
        level=settings.level,
        seed=settings.seed,
    )
    return prevalence if isinstance(prevalence, Prevalence) else None


def _expected(prevalence: Prevalence | None, reference: _Reference, settings: _Settings) -> dict[str, float]:
    """The metrics at the threshold under prior shift."""
    if prevalence is None or prevalence.reason is not None or reference.validation is None:
        return {}
    table = reference.validation.at(settings.threshold)
    rates = float(table.tp / (table.tp + table.fn)), float(table.fp / (table.fp + table.tn))
    return {name: float(metric_at_rates(name, *rates, prevalence.prevalence)) for name in settings.metrics}


def _audited(data: PeriodRows, rows: Ints, settings: _Settings) -> Prevalence | None:
    """The prevalence by the period's labels, a random sample of its rows."""
    if data.labelled[rows].sum() < 2:
        return None
    label = np.where(data.labelled[rows], data.truth[rows], np.nan).astype(np.float64)
    audit = audit_of({"y": label, "p": data.scores[rows]}, "y", score="p")
    return prevalence_of_all(audit, settings.level)


def _drift(data: PeriodRows, rows: Ints, reference: _Reference, settings: _Settings) -> float:
    """p-value of the period's labelled rows having the same scores, class by class, as the reference's."""
    labelled = data.labelled_tally(rows)
    if reference.validation is None or labelled is None:
        return math.nan
    samples = {("reference",): reference.validation, ("period",): labelled}
    p = class_drift(Tallies(("sample",), samples, by_model=False), seed=settings.seed).p_value
    if reference.effect is None:
        return p
    return reference.effect.p_of_drift(p, labelled.negative.n_rows, labelled.positive.n_rows)


def _ks(reference: Floats, values: Floats) -> float:
    """Kolmogorov-Smirnov distance of a period's values from the reference's, which are in order."""
    ordered = np.sort(values)
    steps = np.unique(np.concatenate((reference, ordered)))
    shares = [np.searchsorted(part, steps, "right") / len(part) for part in (reference, ordered)]
    return float(np.abs(shares[0] - shares[1]).max())


def _advice(signals: Sequence[str], prevalence: Prevalence | None, checked: Prevalence | None) -> str:
    """What each signal means and asks for, in a sentence."""
    sentences = []
    for signal in signals:
        if signal == "prevalence" and prevalence is not None:
            best = checked if checked is not None and checked.reason is None else prevalence
            ends = "" if best.low is None or best.high is None else f" ({best.low:.3f} to {best.high:.3f})"
            sentences.append(
                "the scores shifted as a change of prevalence would shift them: the corrected prevalence is "
                f"{best.prevalence:.3f}{ends}, if each class's scores kept their distribution, which only labels can "
                "tell"
            )
        else:
            sentences.append(_ADVICE[signal])
    return "; ".join(sentences)


_ADVICE = {
    "scores": "the scores shifted; without labelled rows of the reference the cause cannot be told",
    "classes": (
        "the scores of the classes themselves shifted, so corrected counts cannot be trusted: label rows of this "
        "period and retrain"
    ),
    "values": "the values shifted: check what errors do to them (tm.prices.impact, tallymark impact)",
}


def _plan(data: PeriodRows, last: Watched, seed: Seed) -> AuditPlan | None:
    """The rows to label where the classes shifted in the last period, by their places in the data."""
    rows = data.rows[-1]
    scores = data.scores[rows]
    probabilities = scores.min() >= 0.0 and scores.max() <= 1.0 and not only_verdicts(scores)
    if "classes" not in last.signals or not probabilities or len(scores) < _FEWEST_TO_PLAN:
        return None
    planned = plan({"score": scores}, score="score", width=_AUDIT_WIDTH, seed=seed)
    inclusion, stratum = np.zeros(len(data.scores)), np.full(len(data.scores), -1, dtype=np.int64)
    inclusion[rows], stratum[rows] = planned.inclusion, planned.stratum
    return replace(planned, drawn=rows[planned.drawn], inclusion=inclusion, stratum=stratum, scores=data.scores)
