"""``tm.monitor.watch``: period by period, how many there are, whether anything moved, and what to do about it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallymark import _check
from tallymark._check import Bools, Floats
from tallymark._numbers import noun
from tallymark._periods import in_order
from tallymark.audits.checked_rows import audit_of
from tallymark.audits.plans import AuditPlan, only_verdicts, plan
from tallymark.audits.prevalences import audited
from tallymark.curves.isolines import metric_at_rates
from tallymark.errors import InputError, shown
from tallymark.inference.interval import Seed, checked_level
from tallymark.monitor.control_charts import FEWEST, ControlChart, control_chart, median_run_length, unusual
from tallymark.monitor.history import remember
from tallymark.monitor.results import Watch, Watched
from tallymark.monitor.shared_effects import SharedEffect
from tallymark.notes import GuardWarning, Note, emit, strictly
from tallymark.quantify.estimation.class_drift import class_drift
from tallymark.quantify.estimation.estimate import estimate
from tallymark.quantify.estimation.mixture_test import MixtureFit, mixture_fit
from tallymark.quantify.estimation.prevalence import Prevalence
from tallymark.registry import METRICS, QUANTIFIERS, metric_names
from tallymark.sources.any_columns import any_columns, is_missing, numbers
from tallymark.sources.columns import rows_by_group
from tallymark.sources.formats import Wanted
from tallymark.sources.frames import named_columns, order_of
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally

#: Share of rows that no mixture of the classes explains below which a contradiction does not matter.
_MATTERS = 0.02

#: Rows of a period from which a plan is made.
_FEWEST_TO_PLAN = 50

#: Width of the interval that an audit after a signal is planned for.
_AUDIT_WIDTH = 0.05


@named_columns
def watch(
    data: Any, *, score: str, period: str | None = None, label: str | None = None, value: str | None = None, reference: int | None = None,
    audit: bool = False, threshold: float | str = 0.5, method: str = "bayes", metrics: str | Sequence[str] = ("accuracy", "f1"),
    run_length: float = 370.0, pos_label: Any = None, level: float = 0.95, store: str | PathLike[str] | None = None, seed: Seed = 0,
    where: str | None = None, order: Sequence[Any] | None = None,
) -> Watch:  # fmt: skip
    """Watch a classifier period by period: counts, expected metrics, drift, and a signal when to look again.

    `data` is a dataframe, files, or a folder of files; `period` names the column with the period, left out in a folder each file is one. `order` lists the periods where their order in time cannot be read (2024-01, Q1 2024, January
    2024 can).
    Rows with a `label` in the first `reference` periods (left out: the leading periods that have labels, or a third of all) make the
    validation sample. For every period: the prevalence by the quantifier `method` with its interval; with `audit`, by the period's own
    labels, taken for a random sample of it; the `metrics` to expect at `threshold` at that prevalence; and three charts:

    - the mean score, by a self-starting CUSUM that compares each period with those before it, so that its run length holds with the
      reference estimated (:mod:`tallymark.monitor.control_charts`);
    - whether the scores are still a mixture of the two classes' scores (with `audit` also whether labels contradict it);
    - the mean rank of `value`, a price, among the reference's, by the same CUSUM.

    Together they signal falsely once in `run_length` periods on average where nothing moves and periods are independent; rows of a period
    may move together, as far as the reference's labels show it (:mod:`tallymark.monitor.shared_effects`; guard TM126 says so, or that it cannot be
    told). A signal says which
    of two things the scores tell: they moved as a moved prevalence moves them, and the corrected figure stands if each class's scores stayed as
    they were; or no prevalence explains them, so the classes themselves moved and rows must be labelled (`plan` draws them). A move of both
    classes that looks like a moved prevalence can be told by labels alone (`audit`). `store` keeps the history in an SQLite file, one transaction a run.

    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> month = np.repeat(np.arange(1, 17), 500)
    >>> y = rng.random(8_000) < np.where(month > 12, 0.45, 0.3)
    >>> frame = pd.DataFrame({"month": month, "p": 1 / (1 + np.exp(-rng.normal(2 * y - 1))), "y": np.where(month <= 10, y, np.nan)})
    >>> found = tm.monitor.watch(frame, period="month", score="p", label="y")
    >>> [one.period for one in found.signals]
    [14, 15, 16]
    >>> found.signals[0].signals
    ('prevalence',)
    """
    confidence, chosen = checked_level(level), metric_names(metrics)
    for name in chosen:
        if METRICS[name].needs != "confusion":
            raise InputError(f"{name} is no metric at one threshold; prior shift predicts those only.")
    if not QUANTIFIERS[method].shift_proof:
        raise InputError(
            f"{method} does not correct for the classifier's errors; count with one that does, such as bayes, ac or ms."
        )
    length = _check.real(run_length, "run_length")
    if not 2.0 <= length <= 1e5:
        raise InputError(f"run_length is {run_length!r}, expected 2 to 100 000 periods between false alarms.")
    columns = _columns(data, score, period, label, value, where)
    rows_of = {key[0]: rows for key, rows in rows_by_group([_check.groups(columns[_PERIOD], period or "file")])}
    times = in_order(rows_of, period or "the names of the files", order_of(data, period, order))
    parts = [((when,), rows_of[when]) for when in times]
    scores = np.asarray(_check.scores(columns[score], score), dtype=np.float64)
    labelled = ~is_missing(columns[label]) if label is not None else np.zeros(len(scores), dtype=np.bool_)
    first = _reference(parts, labelled, reference)
    amounts = None if value is None else _finite(numbers(columns[value], value), value)
    known = np.concatenate([np.asarray(rows) for _, rows in parts[:first]])
    truth = _truth(columns, label, labelled, pos_label)
    validation = _validation(scores, truth, labelled, known)
    charts = 1 + (validation is not None) * (1 + audit) + (amounts is not None)
    sizes = np.array([len(rows) for _, rows in parts], dtype=np.float64)
    # Each chart errs so seldom that all together err once in the asked number of periods.
    own = length * charts
    of_scores = control_chart(np.array([scores[rows].mean() for _, rows in parts]), sizes, first, own)
    of_values = _chart_of_values(amounts, parts, known, sizes, first, own)
    usual = None if amounts is None else np.sort(amounts[known])
    fits: list[MixtureFit | None] = [None] * len(parts)
    if validation is not None:
        for place, (_, rows) in enumerate(parts):
            # A period of the reference is compared with the others of it, as later ones are with all.
            others = _validation(scores, truth, labelled, np.setdiff1d(known, rows)) if place < first else None
            fits[place] = _fit(others or validation, scores[rows])
    # Rows of a period may move together: as the reference's labels show it, and as its misfits do.
    effect = (
        None
        if validation is None
        else SharedEffect.of(scores, truth, [_labelled(r, labelled) for _, r in parts[:first]])
    )
    misfits = np.fmax(unusual(*_statistics(fits), first), _moved_together(effect, fits, validation, sizes, first))
    made = []
    for place, ((when,), rows) in enumerate(parts):
        look = _Look(
            scores[rows],
            truth[rows],
            labelled[rows],
            place < first,
            audit,
            threshold,
            method,
            chosen,
            confidence,
            seed,
            1.0 / own,
            fits[place],
            float(misfits[place]),
            effect,
        )
        made.append(
            _watched(
                when,
                look,
                validation,
                place,
                of_scores,
                of_values,
                None if amounts is None or usual is None else (usual, amounts[rows]),
            )
        )
    plan = _plan(scores, np.asarray(parts[-1][1]), made[-1], seed)
    rows_found = [one.row() for one in made]
    history = tuple(rows_found) if store is None else tuple(remember(store, rows_found, order))
    cut = None if validation is None else validation.at(threshold).threshold
    notes = tuple(
        dict.fromkeys(
            note
            for one in made
            if one.prevalence is not None
            for note in one.prevalence.warnings
            if note.code in _OF_METHOD
        )
    )
    notes = (*notes, *_of_periods(effect, fits, validation, first))
    emit(notes)
    return Watch(
        tuple(made), of_scores.limit, length, median_run_length(of_scores.limit) / charts, charts, cut, plan, history,
        validation is not None, notes,
    )  # fmt: skip


#: Guards that speak of the method and not of one period.
_OF_METHOD = frozenset({"TM110"})

#: The column under which periods are kept, whatever they were called.
_PERIOD = "\0period"


def _columns(
    data: Any, score: str, period: str | None, label: str | None, value: str | None, where: str | None
) -> dict[str, NDArray[Any]]:
    """The named columns, and the period of every row."""
    wanted = [
        Wanted(score, "score=", "number"), *([] if label is None else [Wanted(label, "label=")]),
        *([] if value is None else [Wanted(value, "value=", "number")]), *([] if period is None else [Wanted(period, "period=")]),
    ]  # fmt: skip
    folder = isinstance(data, str | PathLike) and Path(data).is_dir()
    if folder:
        files = sorted(path for path in Path(data).iterdir() if path.is_file() and _is_table(path))
        if not files:
            raise InputError(f"{str(data)!r} has no CSV, Parquet or JSON lines file to watch.")
        if period is None:
            read = {path: any_columns(str(path), wanted, where=where) for path in files}
            joined = {name: _joined([read[path][name] for path in files]) for name, *_ in wanted}
            names = [_stem(path) for path in files]
            return joined | {_PERIOD: np.repeat(names, [len(read[path][score]) for path in files])}
        data = [str(path) for path in files]
    if period is None:
        raise InputError("Say which column has the period with period=, or pass a folder with a file for each.")
    columns = any_columns(data, wanted, where=where)
    return columns | {_PERIOD: columns[period]}


def _joined(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    values, missing = (
        np.concatenate([np.ma.getdata(one) for one in columns]),
        np.concatenate([is_missing(one) for one in columns]),
    )
    return np.ma.MaskedArray(values, mask=missing) if missing.any() else values


def _stem(path: Path) -> str:
    """A file's name without what says its kind."""
    return Path(path.name.removesuffix(".gz").removesuffix(".zst")).stem


def _is_table(path: Path) -> bool:
    name = path.name.lower().removesuffix(".gz").removesuffix(".zst")
    return name.endswith((".csv", ".tsv", ".parquet", ".pq", ".jsonl", ".ndjson"))


def _finite(values: Floats, name: str) -> Floats:
    if bad := int((~np.isfinite(values)).sum()):
        raise InputError(f"{name} is missing or not finite in {bad} {noun(bad, 'row')}; leave them out, or mend them.")
    return values


def _reference(parts: Sequence[tuple[Any, Any]], labelled: Bools, asked: int | None) -> int:
    """How many leading periods make the reference."""
    if len(parts) <= FEWEST:
        raise InputError(
            f"There are {len(parts)} periods ({shown([key[0] for key, _ in parts], 4)}); watching needs a reference of {FEWEST} and one more."
        )
    if asked is not None:
        return _check.whole(asked, "reference", FEWEST, len(parts) - 1)
    leading = next((place for place, (_, rows) in enumerate(parts) if not labelled[rows].any()), len(parts))
    # All labelled, or hardly any: a third of the periods.
    return leading if FEWEST <= leading < len(parts) else max(FEWEST, len(parts) // 3)


def _truth(columns: Mapping[str, NDArray[Any]], label: str | None, labelled: Bools, pos_label: Any) -> Bools:
    truth = np.zeros(len(labelled), dtype=np.bool_)
    if label is not None and labelled.any():
        truth[labelled] = _check.binary_labels(
            np.ma.getdata(columns[label])[labelled], pos_label, label, one_class=True
        )[0]
    return truth


def _validation(scores: Floats, truth: Bools, labelled: Bools, known: NDArray[Any]) -> Tally | None:
    """Labelled rows of the reference; None where a class is missing."""
    rows = known[labelled[known]]
    if not len(rows) or truth[rows].all() or not truth[rows].any():
        return None
    return Tally.of(scores[rows], truth[rows], (0, 1))


def _chart_of_values(
    amounts: Floats | None,
    parts: Sequence[tuple[Any, Any]],
    known: NDArray[Any],
    sizes: Floats,
    first: int,
    run_length: float,
) -> ControlChart | None:
    """The chart of a value's mean rank among the reference's."""
    if amounts is None:
        return None
    usual = np.sort(amounts[known])
    return control_chart(np.array([_ranks(usual, amounts[rows]).mean() for _, rows in parts]), sizes, first, run_length)


def _ranks(usual: Floats, values: Floats) -> Floats:
    """Mid-ranks among ordered values, as shares."""
    return (np.searchsorted(usual, values, "left") + np.searchsorted(usual, values, "right")) / (2.0 * len(usual))


@dataclass(frozen=True)
class _Look:
    """One period's rows, and what is asked of them."""

    scores: Floats
    truth: Bools
    labelled: Bools
    reference: bool
    audit: bool
    threshold: float | str
    method: str
    metrics: Sequence[str]
    level: float
    seed: Seed
    chance: float
    #: Whether the scores are a mixture of the classes', and the p-value beside those of the reference's periods.
    fit: MixtureFit | None
    misfit: float
    effect: SharedEffect | None


def _watched(
    when: Any,
    look: _Look,
    validation: Tally | None,
    place: int,
    of_scores: ControlChart,
    of_values: ControlChart | None,
    values: tuple[Floats, Floats] | None,
) -> Watched:
    (prevalence, awaited), fit = _counted(look, validation), look.fit
    checked = _checked(look)
    drift = _drift(look, validation)
    contradicted = fit is not None and look.misfit < look.chance and fit.distance >= _MATTERS
    signals = []
    if not look.reference:
        if contradicted or drift < look.chance:
            signals.append("classes")
        elif of_scores.signals[place]:
            signals.append("prevalence" if prevalence is not None else "scores")
        if of_values is not None and of_values.signals[place]:
            signals.append("values")
    ks, mean = (math.nan, math.nan) if values is None else (_ks(*values), float(_ranks(*values).mean()))
    return Watched(
        when, len(look.scores), look.reference, float(look.scores.mean()), prevalence, checked, awaited,
        look.misfit, math.nan if fit is None else fit.distance, drift,
        mean, ks, float(max(of_scores.up[place], of_scores.down[place])),
        math.nan if of_values is None else float(max(of_values.up[place], of_values.down[place])), tuple(signals),
        _advice(signals, prevalence, checked), 0 if look.reference or look.audit else int(look.labelled.sum()),
    )  # fmt: skip


def _fit(validation: Tally, scores: Floats) -> MixtureFit:
    """Whether a period's scores are a mixture of the classes'."""
    with strictly(strict=False), warnings.catch_warnings():
        # What the guard would say of every period is said by the charts.
        warnings.simplefilter("ignore", GuardWarning)
        return mixture_fit(validation, Tally.of(scores))


def _statistics(fits: Sequence[MixtureFit | None]) -> tuple[Floats, Floats]:
    """The statistics of the fits and their degrees of freedom, nan and 0 where there is none."""
    return (
        np.array([math.nan if one is None else one.statistic for one in fits]),
        np.array([0.0 if one is None else float(one.freedom) for one in fits]),
    )


def _labelled(rows: NDArray[Any], labelled: Bools) -> NDArray[Any]:
    return np.asarray(rows[labelled[rows]])


def _moved_together(
    effect: SharedEffect | None,
    fits: Sequence[MixtureFit | None],
    validation: Tally | None,
    sizes: Floats,
    reference: int,
) -> Floats:
    """p-values of the misfits of periods after the reference, if their rows move together as those of the reference's do."""
    p = np.full(len(fits), np.nan)
    if effect is None or validation is None:
        return p
    known = [run.effective_size for run in (validation.negative, validation.positive)]
    for place in range(reference, len(fits)):
        fit = fits[place]
        if fit is not None:
            p[place] = effect.p_of_misfit(fit, [*known, float(sizes[place])])
    return p


#: p-value of the reference's rows not moving together below which it is said that they do.
_TOGETHER = 0.01


def _of_periods(
    effect: SharedEffect | None, fits: Sequence[MixtureFit | None], validation: Tally | None, reference: int
) -> Iterator[Note]:
    """Whether rows of a period move together, which charts know from the reference alone."""
    from scipy.special import chdtrc

    if validation is None:
        return
    if effect is None:
        yield Note(
            "TM126",
            "Fewer than three periods of the reference have five labelled rows of each class: nothing tells whether the rows of a period move together. "
            "If they do, moved classes are signalled too often; label rows of more periods.",
        )
        return
    statistics, freedom = _statistics(fits[:reference])
    misfit = float(chdtrc(max(freedom.sum(), 1.0), np.nansum(statistics))) if freedom.any() else 1.0
    if min(effect.p_value, misfit) < _TOGETHER:
        yield Note(
            "TM126",
            f"The rows of a period move together: scores differ between the reference's periods by more than independent rows would. The charts allow "
            f"for it as {reference} periods show it, so that they see less, and may signal moved classes more often than stated; a longer reference helps.",
        )


def _counted(look: _Look, validation: Tally | None) -> tuple[Prevalence | None, dict[str, float]]:
    """The prevalence by the quantifier, and the metrics to expect."""
    if validation is None:
        return None, {}
    target = Tally.of(look.scores)
    with strictly(strict=False), warnings.catch_warnings():
        # What the guards would say of every period is said by the charts.
        warnings.simplefilter("ignore", GuardWarning)
        cut = {"threshold": look.threshold} if "threshold" in QUANTIFIERS[look.method].options else {}
        share = estimate(look.method, validation, target, level=look.level, seed=look.seed, **cut)  # type: ignore[call-overload]
    if share.reason is not None:
        return share, {}
    table = validation.at(look.threshold)
    rates = float(table.tp / (table.tp + table.fn)), float(table.fp / (table.fp + table.tn))
    return share, {name: float(metric_at_rates(name, *rates, share.prevalence)) for name in look.metrics}


def _checked(look: _Look) -> Prevalence | None:
    """The prevalence by the period's own labels, where they are an audit."""
    if not look.audit or look.labelled.sum() < 2:
        return None
    label = np.where(look.labelled, look.truth, np.nan).astype(np.float64)
    found = audited(audit_of({"y": label, "p": look.scores}, "y", "p", [], None, [], None, None), look.level)
    return found if isinstance(found, Prevalence) else None


def _drift(look: _Look, validation: Tally | None) -> float:
    """p-value of the period's labelled rows having the same scores, class by class, as the reference's."""
    rows = look.labelled
    if not look.audit or look.reference or validation is None or not look.truth[rows].any() or look.truth[rows].all():
        return math.nan
    own = Tally.of(look.scores[rows], look.truth[rows], (0, 1))
    p = class_drift(
        Tallies(("sample",), {("reference",): validation, ("period",): own}, by_model=False), seed=look.seed
    ).p_value
    return p if look.effect is None else look.effect.p_of_drift(p, own.negative.n_rows, own.positive.n_rows)


def _ks(usual: Floats, values: Floats) -> float:
    """Kolmogorov and Smirnov's distance of a period's values from the reference's (ordered ones)."""
    own = np.sort(values)
    steps = np.unique(np.concatenate((usual, own)))
    shares = [np.searchsorted(part, steps, "right") / len(part) for part in (usual, own)]
    return float(np.abs(shares[0] - shares[1]).max())


def _advice(signals: Sequence[str], prevalence: Prevalence | None, checked: Prevalence | None) -> str:
    said = []
    for signal in signals:
        if signal == "prevalence" and prevalence is not None:
            best = checked if checked is not None and checked.reason is None else prevalence
            ends = "" if best.low is None or best.high is None else f" ({best.low:.3f} to {best.high:.3f})"
            said.append(
                f"the scores moved as a moved prevalence moves them: the corrected share is {best.prevalence:.3f}{ends}, if each class's scores "
                "stayed as they were, which only labels can tell"
            )
        elif signal == "scores":
            said.append("the scores moved; without labelled rows of the reference it cannot be told why")
        elif signal == "classes":
            said.append(
                "the classes' scores moved, so that corrected counts cannot be trusted: label rows of this period and retrain"
            )
        elif signal == "values":
            said.append("the values moved: check what errors do to them (tm.prices.impact, tallymark impact)")
    return "; ".join(said)


def _plan(scores: Floats, rows: NDArray[Any], last: Watched, seed: Seed) -> AuditPlan | None:
    """The rows to label where the classes moved in the last period, by their places in the data."""
    own = scores[rows]
    if (
        "classes" not in last.signals
        or own.min() < 0.0
        or own.max() > 1.0
        or len(own) < _FEWEST_TO_PLAN
        or only_verdicts(own)
    ):
        return None
    made = plan({"score": own}, score="score", width=_AUDIT_WIDTH, seed=seed)
    inclusion, stratum = np.zeros(len(scores)), np.full(len(scores), -1, dtype=np.int64)
    inclusion[rows], stratum[rows] = made.inclusion, made.stratum
    return replace(made, drawn=rows[made.drawn], inclusion=inclusion, stratum=stratum, scores=scores)
