"""Diagnostics: notes on samples whose estimates, intervals or tests are unreliable."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence

import numpy as np

from tallymark._check import Masses
from tallymark.errors import Undefined
from tallymark.inference.declared import inference_of
from tallymark.inference.limits.proportions import kish
from tallymark.inference.limits.rank_effects import FEW_NEGATIVES
from tallymark.metrics.ranking import auroc_of
from tallymark.notes import Note
from tallymark.registry import METRICS, Metric
from tallymark.summaries.confusion import Confusion
from tallymark.summaries.moments import Moments
from tallymark.summaries.sorting import starts_of_groups
from tallymark.summaries.tally import Tally

#: With fewer rows of a class than this, estimates are unreliable.
FEW_ROWS = 10

#: Uneven weights are noted where (c³ - 1) / m exceeds this, with c the largest ratio of rows to effective rows, and m
#: the effective rows of the smallest class: 230 rows where half of them are effective, 60 at 70 %, 30 at 80 %.
_UNEVEN = 0.03

#: Rows look like copies from so many rows on one score, and so many such scores; the share of these with one label
#: only.
_COPIES, _OBJECTS, _ONE_LABEL = 5, 20, 0.9

#: Standard errors below chance at which the direction of the scores is doubted.
_INVERTED = -3.0

#: Share of the rows on one score from which ties are reported.
_HEAVY_TIE = 0.1

#: Skewness within a class beyond which sPCC is misleading.
_SKEWED = 2.0

#: A row dominates a metric's variance from this share on, where the smaller class has this many rows or more.
_CARRIES, _ROWS_TO_TELL = 0.25, 30


def score_notes(tally: Tally, metrics: Sequence[str] | None, *, intervals: bool) -> tuple[Note, ...]:
    """Notes on the scores that metrics (None: all) are computed from, with default `intervals` or without."""
    if not tally.positives or not tally.negatives:
        return ()
    named = [METRICS[name] for name in metrics or ()]
    computed = named or list(METRICS.values())
    return (
        *_no_probabilities(tally, named),
        *_few_rows(tally),
        *(_few_clusters(tally) if intervals else ()),
        *(_repeats(tally) if intervals else ()),
        *_few_negatives(tally, computed),
        *(_short_of_rows(tally, named) if intervals else ()),
        *(_carried_by_a_row(tally, named) if intervals else ()),
        *_inverted(tally),
        *_ties(tally),
        *_skewed(tally, computed),
    )


def comparison_notes(facts: Metric, tally: Tally) -> tuple[Note, ...]:
    """Notes on a comparison by a metric, given one model's tally."""
    notes = [*_few_rows(tally), *_few_clusters(tally)] if tally.positives and tally.negatives else []
    if inference_of(facts.name).maximum is not None and tally.clusters is not None:
        message = (
            f"{facts.name} is maximised over thresholds, and leaving out clusters does not show its optimism; "
            "compare by auroc, or at one threshold"
        )
        notes.append(Note("TM112", message))
    return tuple(notes)


def _few_clusters(tally: Tally) -> Iterator[Note]:
    if tally.clusters is None:
        return
    fewest = min(len(np.unique(one.codes)) for one in tally.clusters.members)
    if fewest < FEW_ROWS:
        yield Note("TM119", f"one class has rows in only {fewest} clusters; intervals are rough below {FEW_ROWS}")


#: Fewest repeated scores of each label alone from which copies are concluded.
_OF_EACH = 10


def _repeats(tally: Tally) -> Iterator[Note]:
    """Scores of many digits that occur often, each with one label only, suggest copies of one object."""
    if tally.clusters is not None or tally.weighted or tally.grid is not None or tally.n_rows < _COPIES * _OBJECTS:
        return
    # A quick check first: where most scores occur once there are no copies.
    if sum(run.n_distinct for run in tally.runs) > tally.n_rows * (0.5 + 0.5 / _COPIES):
        return
    starts = [starts_of_groups(run.scores) for run in tally.runs]
    scores = [run.scores[first] for run, first in zip(tally.runs, starts, strict=True)]
    counts = [np.add.reduceat(run.mass, first) for run, first in zip(tally.runs, starts, strict=True)]
    pure = [~np.isin(mine, others, assume_unique=True) for mine, others in (scores, scores[::-1])]
    # Rounded scores and votes repeat without copies.
    fine = [np.abs(s - np.round(s, 4)) > 1e-9 * np.abs(s) for s in scores]
    often = [count >= _COPIES for count in counts]
    copied = [f & o for f, o in zip(fine, often, strict=True)]
    objects = sum(int(np.count_nonzero(c)) for c in copied)
    if objects < _OBJECTS:
        return
    alone = [int(np.count_nonzero(c & p)) for c, p in zip(copied, pure, strict=True)]
    if min(alone) < _OF_EACH:
        # Leaves of a tree repeat too, and where one class is rare hardly any of them can have both labels.
        return
    single = sum(alone)
    rows = sum(int(n[c].sum()) for n, c in zip(counts, copied, strict=True))
    if single > _ONE_LABEL * objects and rows > tally.n_rows / 2:
        message = (
            f"{rows} of {tally.n_rows} rows share {objects} scores, nearly each with one label only, "
            f"like copies of {objects} objects; "
            "intervals take rows as independent, so say which belong together with cluster="
        )
        yield Note("TM120", message)


def _no_probabilities(tally: Tally, metrics: Sequence[Metric]) -> Iterator[Note]:
    needing = [metric.name for metric in metrics if metric.needs == "probabilities"]
    if needing and not tally.is_probability:
        low, high = tally.range
        message = (
            f"{', '.join(needing)} computed from scores of {low:.4g} to {high:.4g}; "
            "calibrate them to probabilities first"
        )
        yield Note("TM102", message)


def _few_rows(tally: Tally) -> Iterator[Note]:
    return few_rows_notes((False, True), [run.n_rows for run in tally.runs], [run.effective_size for run in tally.runs])


def few_rows_notes(labels: Sequence[object], rows: Sequence[float], effective: Sequence[float]) -> Iterator[Note]:
    """Notes on classes of few rows, or few effective rows because of uneven weights; empty classes are left out."""
    present = [place for place, n in enumerate(rows) if n > 0]
    short = [place for place in present if min(rows[place], effective[place]) < FEW_ROWS]
    if short:
        worst = min(short, key=lambda place: effective[place])
        few, equal = rows[worst], effective[worst]
        which = "one class" if len(labels) == 2 else f"class {labels[worst]!r}"
        message = f"only {few:g} row{'s' if few != 1 else ''} of {which}"
        message += "" if equal >= 0.99 * few else f", whose uneven weights make them count like {equal:.1f}"
        message += (
            f" (and {len(short) - 1} other class{'es' if len(short) > 2 else ''} below {FEW_ROWS})" if short[1:] else ""
        )
        more = max(1, math.ceil(FEW_ROWS * few / equal - 1e-9) - math.floor(few))
        message += (
            f"; estimates are unreliable, and intervals reach nominal coverage from {FEW_ROWS} rows per class: "
            f"collect {more} more at the least, and many more for useful intervals"
        )
        yield Note("TM107", message)
        return
    if not present:
        return
    # A small class may have missed its rare heavy rows and look even, so the most uneven class is taken.
    uneven = min(present, key=lambda place: effective[place] / rows[place])
    least = min(effective[place] for place in present)
    if (rows[uneven] / effective[uneven]) ** 3 - 1.0 > _UNEVEN * least:
        message = (
            f"the weights are so uneven that {rows[uneven]:g} rows of one class count like {effective[uneven]:.0f}, "
            f"and the smallest class counts like {least:.0f}; intervals may be too short, above all where weights and "
            "scores are correlated"
        )
        yield Note("TM113", message)


def table_notes(confusion: Confusion) -> tuple[Note, ...]:
    """Notes on a confusion matrix: classes of few rows."""
    rows, squares = (
        (confusion.matrix if cells is None else cells).sum(axis=1)
        for cells in (confusion.rows_per_cell, confusion.squares)
    )
    return _few_of(confusion.labels, rows, confusion.truth, squares)


def class_notes(moments: Moments) -> tuple[Note, ...]:
    """Notes on moments of K classes: classes of few rows."""
    return _few_of(moments.labels, moments.n_rows, moments.mass, moments.squares)


def _few_of(labels: Sequence[object], rows: Masses, mass: Masses, squares: Masses) -> tuple[Note, ...]:
    total, of_squares = mass.astype(np.float64), squares.astype(np.float64)
    effective = kish(total, of_squares)
    return tuple(few_rows_notes(labels, rows.tolist(), effective.tolist()))


#: Keeps odds finite at a stated prevalence of 0.
_LEAST_PREVALENCE = 1e-300


def _few_negatives(tally: Tally, metrics: Sequence[Metric]) -> Iterator[Note]:
    odds = (1.0 - tally.prevalence) / max(tally.prevalence, _LEAST_PREVALENCE)
    top = [metric.name for metric in metrics if metric.top_heavy]
    if tally.prior is not None and odds / tally.negative.effective_size > FEW_NEGATIVES and top:
        message = (
            f"at a prevalence of {tally.prevalence:g} the top of the list depends on a few of {tally.negative.n_rows} "
            f"negatives: {', '.join(top)} are biased upwards (intervals allow for it). "
            f"About {math.ceil(odds / FEW_NEGATIVES)} negatives are needed"
        )
        yield Note("TM111", message)


def _short_of_rows(tally: Tally, metrics: Sequence[Metric]) -> Iterator[Note]:
    down, up = (run.effective_size for run in tally.runs)
    short = [
        "{}: {} negatives and {} positives".format(metric.name, *metric.holds_from)
        for metric in metrics
        if metric.needs != "confusion" and (down < metric.holds_from[0] or up < metric.holds_from[1])
    ]
    if short:
        message = (
            f"intervals reach nominal coverage only from so many rows on ({'; '.join(short)}); here there are "
            f"{tally.negative.n_rows} and {tally.positive.n_rows}"
        )
        yield Note("TM112", message)


def _carried_by_a_row(tally: Tally, metrics: Sequence[Metric]) -> Iterator[Note]:
    if min(run.n_rows for run in tally.runs) < _ROWS_TO_TELL:
        return
    for metric in metrics:
        influence = inference_of(metric.name).influence
        if not metric.moments or influence is None:
            continue
        with contextlib.suppress(Undefined):
            parts = np.concatenate([side.shares_of_variance for side in influence(tally).sides])
            if parts.sum() > 0.0 and float(parts.max() / parts.sum()) > _CARRIES:
                message = (
                    f"one row makes up {100 * parts.max() / parts.sum():.0f} % of the variance of {metric.name}: "
                    "scores with such outliers may have no finite variance. Read AUROC, or transform the scores"
                )
                yield Note("TM113", message)
        return


def _inverted(tally: Tally) -> Iterator[Note]:
    up, down = (float(run.n_rows) for run in (tally.positive, tally.negative))
    auroc = auroc_of(tally)
    if (auroc - 0.5) / math.sqrt((up + down + 1.0) / (12.0 * up * down)) < _INVERTED:
        message = (
            f"AUROC is {auroc:.4f}, far below 0.5: higher scores seem to mean negative. Nothing was flipped; "
            "negate the scores or pass the other pos_label"
        )
        yield Note("TM103", message)


def _ties(tally: Tally) -> Iterator[Note]:
    if tally.n_rows < FEW_ROWS / _HEAVY_TIE or not tally.exact or tally.views.untied:
        return
    cut = tally.cutoffs
    heaviest = float(np.max(np.diff(cut.tp + cut.fp))) / float(tally.n)
    if heaviest >= _HEAVY_TIE and len(cut.thresholds) > 3:
        message = (
            f"{100 * heaviest:.0f} % of the rows share one score; "
            "ties count one half, and no threshold can separate them"
        )
        yield Note("TM104", message)


def _skewed(tally: Tally, metrics: Sequence[Metric]) -> Iterator[Note]:
    if not any(metric.normal_theory for metric in metrics):
        return
    worst = max((moments.skewness for moments in tally.views.scaled_moments), key=abs)
    if abs(worst) > _SKEWED:
        message = (
            f"the scores of one class are strongly skewed ({worst:.1f}); sPCC and d′ use two moments only, "
            "read them beside AUROC or transform the scores"
        )
        yield Note("TM105", message)
