"""``tm.tally``, ``tm.panel`` and the like: summaries of arrays and dataframes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple, TypedDict, Unpack, overload

import numpy as np

from tallymark import _check
from tallymark._check import Column, Label
from tallymark.errors import InputError, shown
from tallymark.notes import emit, honours_strict
from tallymark.sources.cell_queries import tallies_of_relation
from tallymark.sources.columns import SMALL, Columns, checked_cluster, checked_mass, tallies_of_columns
from tallymark.sources.formats import Wanted, column_names
from tallymark.sources.frames import (
    is_frame,
    is_relation,
    lazy_frame,
    named_columns,
    read_columns,
    require,
    without_missing,
)
from tallymark.sources.lazy import number_of_rows, tallies_of_lazy
from tallymark.sources.left_out import note_left_out
from tallymark.sources.roles import Roles
from tallymark.summaries import storage
from tallymark.summaries.class_panel import ClassPanel
from tallymark.summaries.class_scores import ClassScores
from tallymark.summaries.confusion import Confusion
from tallymark.summaries.moments import Moments
from tallymark.summaries.panel import Panel
from tallymark.summaries.score_notes import hard_labels, hard_labels_of
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally, unpacked


class _FrameOptions(TypedDict, total=False):
    """Options of :func:`tally` with a dataframe."""

    label: str | None
    weight: str | None
    count: str | None
    cluster: str | None
    pos_label: Label | None
    exact: bool | None
    drop_missing: bool
    strict: bool


@overload
def tally(
    y: object = ...,
    scores: object = ...,
    *,
    counts: object = ...,
    weights: object = ...,
    clusters: object = ...,
    pos_label: Label | None = ...,
    strict: bool = ...,
) -> Tally: ...
@overload
def tally(y: object, *, score: str, **options: Unpack[_FrameOptions]) -> Tally: ...
@overload
def tally(
    y: object, *, score: list[str] | tuple[str, ...], by: str | Sequence[str] = ..., **options: Unpack[_FrameOptions]
) -> Tallies: ...
@overload
def tally(y: object, *, score: str, by: str | Sequence[str], **options: Unpack[_FrameOptions]) -> Tallies: ...
@named_columns
@honours_strict
def tally(
    y: object = None,
    scores: object = None,
    *,
    label: str | None = None,
    score: str | Sequence[str] | None = None,
    by: str | Sequence[str] = (),
    weight: str | None = None,
    count: str | None = None,
    cluster: str | None = None,
    counts: object = None,
    weights: object = None,
    clusters: object = None,
    pos_label: Label | None = None,
    exact: bool | None = None,
    drop_missing: bool = False,
    strict: bool = False,
) -> Tally | Tallies:
    """Summarise labels and scores as a :class:`Tally`, from which metrics are computed.

    ``tally(y, scores)`` takes arrays, ``tally(scores=…)`` an unlabelled sample, ``tally(frame, label=, score=)`` a
    dataframe. Missing values are an error that counts them.

    Parameters
    ----------
    y
        Labels; or a dataframe of any library that Narwhals reads.
    scores
        Scores, higher for the positive class.
    label, score, by, weight, count, cluster
        Names of columns of a dataframe. Several scores, or groups (`by`), give :class:`Tallies`.
    counts
        How often each row occurs.
    weights
        Survey or expenditure weights.
    clusters
        Cluster of each row, such as the product of a line; intervals then let whole clusters vary.
    pos_label
        The positive label, where it is not obvious.
    exact
        Lazy frames (Polars, DuckDB, Dask, PySpark, Ibis) of more than two million rows are grouped into cells by their
        engine, as :func:`tallymark.scan` does for files; True never groups, False always does.
    drop_missing
        Leave out the rows of a dataframe that have a missing value.
    strict
        Raise warnings as errors.

    Returns
    -------
    Tally or Tallies
        `Tallies` of several scores or groups.

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.tally(["no", "yes", "no"], [0.1, 0.8, 0.3], pos_label="yes").positives
    1
    >>> tm.tally(scores=[0.2, 0.9]).n
    2
    """
    groups = None if isinstance(by, tuple) and not by else by
    named = {"label": label, "score": score, "by": groups, "weight": weight, "count": count, "cluster": cluster}
    given = {"scores": scores, "counts": counts, "weights": weights, "clusters": clusters}
    _refuse_unused("tally", y, named=named, given=given)
    if is_frame(y):
        if score is None:
            raise InputError("A dataframe needs score= with the name of the score column (or a list of them).")
        roles = Roles.named(
            label=label, score=score, by=by, weight=weight, count=count, cluster=cluster, pos_label=pos_label
        )
        tallies = _tallies_of_frame(y, roles, exact=exact, drop_missing=drop_missing)
        emit(hard_labels_of(tallies), strict=strict)
        if isinstance(score, str) and not roles.by:
            _refuse_weightless_class(tallies[score])
        return tallies.of_one_model() if isinstance(score, str) else tallies
    if drop_missing or exact is False:
        option = "drop_missing=True leaves out rows" if drop_missing else "exact=False groups rows"
        raise InputError(
            f"{option} of a dataframe, but the first argument is a {type(y).__name__}; leave it out with arrays."
        )
    if scores is None:
        raise InputError("No scores. Write tm.tally(y, scores), or tm.tally(scores=…) for an unlabelled sample.")
    summary = tally_of_arrays(y, scores, counts=counts, weights=weights, clusters=clusters, pos_label=pos_label)
    emit(hard_labels(summary, "scores"), strict=strict)
    return summary


def tally_of_arrays(
    y: object,
    scores: object,
    *,
    counts: object = None,
    weights: object = None,
    clusters: object = None,
    pos_label: Label | None = None,
    one_class: bool = False,
    names: tuple[str, str] = ("labels", "scores"),
) -> Tally:
    """The tally of one model from columns; `one_class` accepts a sample in which a class is absent."""
    s = _check.scores(scores, names[1])
    n, w = checked_mass(counts, weights)
    is_positive, labels = (
        (None, None) if y is None else _check.binary_labels(y, pos_label, names[0], one_class=one_class)
    )
    cluster = None if clusters is None else checked_cluster(clusters)
    _check.same_length({names[0]: is_positive, names[1]: s, "counts": n, "weights": w, "clusters": cluster})
    summary = Tally.of(s, is_positive, labels, counts=n, weights=w, cluster=cluster)
    if not one_class:
        _refuse_weightless_class(summary)
    return summary


@named_columns
def confusion(
    y: object,
    predicted: object,
    *,
    label: str | None = None,
    weight: str | None = None,
    count: str | None = None,
    pos_label: Label | None = None,
    classes: Sequence[Label] | None = None,
    counts: object = None,
    weights: object = None,
) -> Confusion:
    """Confusion matrix of any number of classes.

    ``confusion(y, predicted)`` takes arrays, ``confusion(frame, "yhat", label="y", weight="w")`` a dataframe.

    Parameters
    ----------
    y
        True labels; or a dataframe.
    predicted
        Predicted labels; or the name of their column.
    label, weight, count
        Names of columns of a dataframe.
    pos_label
        The positive label of two classes, needed for tp, fp, fn and tn; obvious for bools, 0/1 and −1/+1.
    classes
        The classes in order; may have classes that do not occur.
    counts, weights
        How often each row occurs, or its weight.

    Returns
    -------
    Confusion

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.confusion(["a", "b", "c", "a"], ["a", "b", "a", "a"])
    Confusion of 4 rows (truth down, prediction across)
    truth  a  b  c
    a      2  0  0
    b      0  1  0
    c      1  0  0
    """
    named = {"label": label, "weight": weight, "count": count}
    _refuse_unused("confusion", y, named=named, given={"counts": counts, "weights": weights})
    if is_frame(y):
        name = require(predicted if isinstance(predicted, str) else None, "predicted", "predicted class")
        frame = _frame_columns(y, require(label, "label", "label"), weight, count, [Wanted(name, "predicted=")])
        y, predicted, counts, weights = frame.truth, frame.columns[name], frame.counts, frame.weights
    truth, guess = _check.labels(y, "labels"), _check.labels(predicted, "predicted")
    n, w = checked_mass(counts, weights)
    _check.same_length({"labels": truth, "predicted": guess, "counts": n, "weights": w})
    true_classes, predicted_classes = _check.distinct(truth), _check.distinct(guess, "predicted")
    if isinstance(true_classes[0], str) != isinstance(predicted_classes[0], str):
        raise InputError(
            f"labels are {shown(true_classes)} but predicted is {shown(predicted_classes)}: "
            "text on one side, numbers on the other. Convert one of them."
        )
    if classes is None:
        names = tuple(sorted({*true_classes, *predicted_classes}))
    else:
        names = tuple(map(_check.plain_label, _check.listed(classes)))
    if len(set(names)) != len(names):
        raise InputError(f"classes={shown(names)} names a class twice.")
    return Confusion.of_codes(
        _check.encode(truth, names, "labels"),
        _check.encode(guess, names, "predicted"),
        names,
        positive=_positive_of(names, pos_label),
        counts=n,
        weights=w,
    )


def moments(
    y: object, scores: object, *, classes: Sequence[Label], counts: object = None, weights: object = None
) -> Moments:
    """Mean, variance and skewness of K score columns within each class.

    Parameters
    ----------
    y
        True labels.
    scores
        A matrix with a row for each label and a score column for each class.
    classes
        The classes, in the order of the columns.
    counts, weights
        How often each row occurs, or its weight.

    Returns
    -------
    Moments

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.moments([0, 1, 1], [[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]], classes=[0, 1]).mass.tolist()
    [1.0, 2.0]
    """
    codes, s, names, n, w = _class_columns(_labelled(y), scores, classes, counts, weights)
    return Moments.of(codes, s, names, counts=n, weights=w)


@named_columns
def class_scores(
    y: object,
    scores: object = None,
    *,
    classes: Sequence[Label] | None = None,
    label: str | None = None,
    score: Mapping[Label, str] | None = None,
    weight: str | None = None,
    count: str | None = None,
    counts: object = None,
    weights: object = None,
) -> ClassScores:
    """Summarise a K-class score matrix: confusion matrix, moments and score distributions by class.

    ``class_scores(y, matrix, classes=[…])`` takes arrays,
    ``class_scores(frame, score={"cat": "p_cat", …}, label="y")`` a dataframe.

    Parameters
    ----------
    y
        True labels; or a dataframe.
    scores
        A matrix with a score column for each class.
    classes
        The classes, in the order of the columns.
    label, weight, count
        Names of columns of a dataframe.
    score
        Score column of each class of a dataframe.
    counts, weights
        How often each row occurs, or its weight.

    Returns
    -------
    ClassScores

    Examples
    --------
    >>> import tallymark as tm
    >>> s = tm.class_scores([0, 1, 2], [[.8, .1, .1], [.3, .6, .1], [.5, .1, .4]], classes=[0, 1, 2])
    >>> tm.metrics.auroc_ovo(s)
    1.0
    """
    named = {"score": score, "label": label, "weight": weight, "count": count}
    given = {"scores": scores, "classes": classes, "counts": counts, "weights": weights}
    _refuse_unused("class_scores", y, named=named, given=given)
    if is_frame(y):
        columns, classes, scores = _scores_by_class(y, score, require(label, "label", "label"), weight, count)
        y, counts, weights = columns.truth, columns.counts, columns.weights
    if classes is None:
        raise InputError("Say which class each score column is for: classes=[…], in order.")
    codes, s, names, n, w = _class_columns(_labelled(y), scores, classes, counts, weights)
    return ClassScores.of(codes, s, names, counts=n, weights=w)


@named_columns
def class_panel(
    y: object = None,
    scores: object = None,
    *,
    classes: Sequence[Label] | None = None,
    label: str | None = None,
    score: Mapping[Label, str] | None = None,
    weight: str | None = None,
    count: str | None = None,
    counts: object = None,
    weights: object = None,
) -> ClassPanel:
    """Row-level scores for each of K classes, for counting classes and for intervals of K-class metrics.

    ``class_panel(y, matrix, classes=[…])`` takes arrays, ``class_panel(scores=matrix, classes=[…])`` rows without
    labels, ``class_panel(frame, score={"cat": "p_cat", …}, label="y")`` a dataframe.

    Parameters
    ----------
    y
        True labels; or a dataframe.
    scores
        A matrix with a score column for each class.
    classes
        The classes, in the order of the columns; by default the sorted labels.
    label, weight, count
        Names of columns of a dataframe.
    score
        Score column of each class of a dataframe.
    counts, weights
        How often each row occurs, or its weight.

    Returns
    -------
    ClassPanel

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.class_panel(scores=[[0.8, 0.1, 0.1], [0.3, 0.6, 0.1]], classes=["a", "b", "c"])
    Class panel of 2 unlabelled rows, 3 classes
    class  mean score
    a          0.5500
    b          0.3500
    c          0.1000
    """
    named = {"score": score, "label": label, "weight": weight, "count": count}
    given = {"scores": scores, "classes": classes, "counts": counts, "weights": weights}
    _refuse_unused("class_panel", y, named=named, given=given)
    if is_frame(y):
        columns, classes, scores = _scores_by_class(y, score, label, weight, count)
        y, counts, weights = columns.truth, columns.counts, columns.weights
    if scores is None:
        raise InputError(
            "No scores. Write tm.class_panel(y, scores, classes=…), or tm.class_panel(scores=…, classes=…)."
        )
    if classes is None:
        if y is None:
            raise InputError("Say which class each score column is for: classes=[…], in order.")
        classes = _check.distinct(_check.labels(y, "labels"))
        if len(classes) < 2:
            raise InputError(f"labels have one class only, {classes[0]!r}; name every class with classes=[…].")
    codes, s, names, n, w = _class_columns(y, scores, classes, counts, weights)
    # Copies: a panel must not change when the caller's arrays do.
    codes, n, w = (None if array is None else array.copy() for array in (codes, n, w))
    return ClassPanel(names, s.copy(), codes, n, w)


@named_columns
def panel(
    y: object,
    scores: Mapping[str, object] | None = None,
    *,
    label: str | None = None,
    score: str | Sequence[str] | None = None,
    weight: str | None = None,
    count: str | None = None,
    cluster: str | None = None,
    counts: object = None,
    weights: object = None,
    clusters: object = None,
    pos_label: Label | None = None,
    extra: Mapping[str, object] | None = None,
) -> Panel:
    """Labels and the scores of several models on the same rows, for paired comparison.

    ``panel(y, {"a": score_a, "b": score_b})`` takes arrays, ``panel(frame, label="y", score=["a", "b"])`` a dataframe.

    Parameters
    ----------
    y
        Labels; or a dataframe.
    scores
        Scores of each model, by name.
    label, score, weight, count, cluster
        Names of columns of a dataframe.
    counts, weights
        How often each row occurs, or its weight.
    clusters
        Cluster of each row.
    pos_label
        The positive label, where it is not obvious.
    extra
        Further columns (price, period, …) to keep beside the rows.

    Returns
    -------
    Panel

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.panel([0, 1, 0], {"a": [0.2, 0.9, 0.4], "b": [1, 3, 2]}).models
    ('a', 'b')
    """
    named = {"label": label, "score": score, "weight": weight, "count": count, "cluster": cluster}
    given = {"scores": scores, "counts": counts, "weights": weights, "clusters": clusters}
    _refuse_unused("panel", y, named=named, given=given)
    if is_frame(y):
        if score is None:
            raise InputError('With a dataframe name the score columns: tm.panel(frame, label="y", score=["a", "b"]).')
        names = column_names(score, "score=")
        wanted = [Wanted(name, "score=", "number") for name in names]
        wanted += [] if cluster is None else [Wanted(cluster, "cluster=")]
        frame = _frame_columns(y, require(label, "label", "label"), weight, count, wanted)
        y, counts, weights = frame.truth, frame.counts, frame.weights
        scores = {name: frame.columns[name] for name in names}
        clusters = None if cluster is None else frame.columns[cluster]
    return panel_of_arrays(
        y,
        scores,
        counts=counts,
        weights=weights,
        clusters=clusters,
        pos_label=pos_label,
        extra=extra,
        name=label or "labels",
    )


def panel_of_arrays(
    y: object,
    scores: object,
    *,
    counts: object = None,
    weights: object = None,
    clusters: object = None,
    pos_label: Label | None = None,
    extra: Mapping[str, object] | None = None,
    name: str = "labels",
) -> Panel:
    """The panel of columns; `name` is that of the labels in messages."""
    if not isinstance(scores, Mapping) or not scores:
        raise InputError('scores must map each model\'s name to its column: tm.panel(y, {"a": score_a, "b": score_b}).')
    is_positive, labels = _check.binary_labels(y, pos_label, name)
    n, w = checked_mass(counts, weights)
    columns = {model: _check.scores(column, f"scores of {model!r}") for model, column in scores.items()}
    if extra is not None and not isinstance(extra, Mapping):
        raise InputError(f"extra is {shown([extra])[:80]}, expected a mapping from a name to its column.")
    others = {other: _extra(column, other) for other, column in (extra or {}).items()}
    names_in_use = [*map(str, columns), *map(str, others)]
    if len(set(names_in_use)) != len(names_in_use):
        raise InputError(f"Names of models and extra columns must differ, also as text: {shown(names_in_use)}.")
    if not all(used.strip() for used in names_in_use):
        raise InputError(f"Every model and extra column needs a name that can be read; got {shown(names_in_use)}.")
    cluster = None if clusters is None else checked_cluster(clusters)
    _check.same_length({name: is_positive, "counts": n, "weights": w, "clusters": cluster, **columns, **others})
    # Copies: a panel must not change when the caller's arrays do.
    return Panel(
        is_positive.copy(),
        labels,
        {str(model): column.copy() for model, column in columns.items()},
        None if n is None else n.copy(),
        None if w is None else w.copy(),
        {str(other): column.copy() for other, column in others.items()},
        None if cluster is None else cluster.copy(),
    )


#: A call of each constructor with a dataframe, and one with arrays.
_EXAMPLES = {
    "tally": ("tm.tally(frame, label='y', score='p', weight='w')", "tm.tally(y, scores, weights=w, clusters=c)"),
    "confusion": ("tm.confusion(frame, 'yhat', label='y', weight='w')", "tm.confusion(y, predicted, weights=w)"),
    "class_scores": (
        "tm.class_scores(frame, score={'cat': 'p_cat', 'dog': 'p_dog'}, label='y')",
        "tm.class_scores(y, matrix, classes=[…], weights=w)",
    ),
    "class_panel": (
        "tm.class_panel(frame, score={'cat': 'p_cat', 'dog': 'p_dog'}, label='y')",
        "tm.class_panel(y, matrix, classes=[…], weights=w)",
    ),
    "panel": (
        "tm.panel(frame, label='y', score=['a', 'b'], cluster='c')",
        "tm.panel(y, {'a': score_a, 'b': score_b}, clusters=c)",
    ),
}


def _refuse_unused(
    constructor: str, first: object, *, named: Mapping[str, object], given: Mapping[str, object]
) -> None:
    """Refuse names of columns without a dataframe, and arrays beside one: neither would be used."""
    frame, arrays = _EXAMPLES[constructor]
    unused = [name for name, value in (given if is_frame(first) else named).items() if value is not None]
    if not unused:
        return
    what = ", ".join(f"{name}=" for name in unused)
    if is_frame(first):
        raise InputError(f"{what} would not be used. With a dataframe name the columns: {frame}.")
    raise InputError(
        f"{what} {'names' if len(unused) == 1 else 'name'} a column of a dataframe, but the first argument is a "
        f"{type(first).__name__}. With arrays write {arrays}."
    )


def _extra(column: object, name: object) -> Column:
    array = _check.column(column, f"extra {name!r}")
    return array.astype(str) if array.dtype.kind == "O" else array


def is_saved(path: str | PathLike[str]) -> bool:
    """Whether a file is one that a summary's ``save`` wrote, judged by its first bytes."""
    return storage.looks_saved(path)


def load(path: str | PathLike[str]) -> Any:
    """Read a summary that its ``save`` method wrote.

    The invariants of the summary are checked; nothing in the file is executed.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    Tally, Tallies, Confusion, Moments, ClassScores, Panel or ClassPanel
    """
    kinds = {
        "tally": unpacked,
        "tallies": Tallies.unpack,
        "confusion": Confusion.unpack,
        "moments": Moments.unpack,
        "panel": Panel.unpack,
        "class scores": ClassScores.unpack,
        "class panel": ClassPanel.unpack,
    }
    return storage.read(path, kinds)


class _FrameColumns(NamedTuple):
    """Columns of a dataframe by their role."""

    truth: Column | None
    counts: Column | None
    weights: Column | None
    columns: Columns


def _frame_columns(
    frame: object, label: str | None, weight: str | None, count: str | None, others: Sequence[Wanted]
) -> _FrameColumns:
    columns = read_columns(frame, [*Roles(label=label, weight=weight, count=count).wanted, *others])
    truth, counts, weights = (None if name is None else columns[name] for name in (label, count, weight))
    return _FrameColumns(truth, counts, weights, columns)


def _scores_by_class(
    frame: object, score: object, label: str | None, weight: str | None, count: str | None
) -> tuple[_FrameColumns, list[Label], Column]:
    """Columns of a dataframe by their role, the classes, and the scores for each class."""
    if not isinstance(score, Mapping):
        raise InputError('With a dataframe say which column scores each class: score={"cat": "p_cat", "dog": "p_dog"}.')
    wanted = [Wanted(column, "score=", "number") for column in score.values()]
    read = _frame_columns(frame, label, weight, count, wanted)
    return read, list(score), np.column_stack([_check.scores(read.columns[name], name) for name in score.values()])


def _tallies_of_frame(frame: object, roles: Roles, *, exact: bool | None, drop_missing: bool) -> Tallies:
    lazy = lazy_frame(frame, roles.wanted)
    if exact is False and (lazy is None or roles.cluster is not None):
        why = "a frame in memory is tallied as it is" if lazy is None else "rows in clusters are tallied one by one"
        raise InputError(
            f"exact=False groups the rows of a lazy frame into cells, but {why}. Leave it out, or quantise() the tally."
        )
    if lazy is not None and drop_missing:
        names = [name for name, *_ in roles.wanted]
        rows, lazy = number_of_rows(lazy), without_missing(lazy, names)
        note_left_out(rows - number_of_rows(lazy), rows, names)
    grouped = lazy is not None and roles.cluster is None and not exact
    if grouped and (exact is False or number_of_rows(lazy) > SMALL):
        return tallies_of_relation(lazy.to_native(), roles) if is_relation(frame) else tallies_of_lazy(lazy, roles)
    # Rows of a lazy frame are left out and noted already.
    source = lazy if drop_missing and lazy is not None else frame
    return tallies_of_columns(read_columns(source, roles.wanted, drop_missing=drop_missing), roles)


def _class_columns(y: object, scores: object, classes: Sequence[Label], counts: object, weights: object) -> Any:
    names = tuple(map(_check.plain_label, _check.listed(classes)))
    if len(set(names)) != len(names) or len(names) < 2:
        raise InputError(f"classes={shown(names)} must name two or more different classes, one per score column.")
    s = _check.matrix(scores, "scores", columns=len(names))
    codes = None if y is None else _check.encode(_check.labels(y, "labels"), names, "labels")
    n, w = checked_mass(counts, weights)
    _check.same_length({"labels": codes, "scores": s, "counts": n, "weights": w})
    return codes, s, names, n, w


def _labelled(y: object) -> object:
    if y is None:
        raise InputError("labels are missing; rows without them are tm.class_panel(scores=…, classes=…).")
    return y


def _positive_of(names: tuple[Label, ...], pos_label: Label | None) -> int | None:
    if pos_label is not None:
        plain = _check.named_label(pos_label, names)
        if plain not in names:
            raise InputError(f"pos_label={pos_label!r} does not occur; the classes are {shown(names)}.")
        if len(names) != 2:
            raise InputError(f"pos_label= needs two classes, there are {len(names)}: {shown(names)}.")
        return names.index(plain)
    return _check.obvious_positive(names)


def _refuse_weightless_class(summary: Tally) -> None:
    for label, run in zip(summary.labels or (), summary.runs, strict=True) if summary.labelled else ():
        if not len(run):
            raise InputError(
                f"All rows of class {label!r} have weight 0, so one class only is left; check the weights."
            )
