"""``tm.tally`` and its sisters: arrays or a dataframe in, a summary out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from tallymark import _check
from tallymark._check import Label
from tallymark.errors import InputError, shown
from tallymark.notes import emit
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
def tally(
    y: object, *, label: str | None = ..., score: str, weight: str | None = ..., count: str | None = ..., cluster: str | None = ...,
    pos_label: Label | None = ..., exact: bool | None = ..., drop_missing: bool = ...,
    strict: bool = ...,
) -> Tally: ...  # fmt: skip
@overload
def tally(
    y: object, *, label: str | None = ..., score: list[str] | tuple[str, ...], by: str | Sequence[str] = ...,
    weight: str | None = ..., count: str | None = ..., cluster: str | None = ..., pos_label: Label | None = ..., exact: bool | None = ...,
    drop_missing: bool = ..., strict: bool = ...,
) -> Tallies: ...  # fmt: skip
@overload
def tally(
    y: object, *, label: str | None = ..., score: str, by: str | Sequence[str],
    weight: str | None = ..., count: str | None = ..., cluster: str | None = ..., pos_label: Label | None = ..., exact: bool | None = ...,
    drop_missing: bool = ..., strict: bool = ...,
) -> Tallies: ...  # fmt: skip
@named_columns
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
    """Summarise labels and scores: the start of everything.

    ``tally(y, scores)`` takes columns, ``tally(scores=…)`` an unlabelled sample, ``tally(frame, label=, score=)`` any
    dataframe; there several scores or ``by=`` give :class:`Tallies`. `counts` says how often each row occurs,
    `weights` are survey or expenditure weights, `clusters` (``cluster=`` of a frame) says which rows belong together: lines of one
    product, say. Intervals then let whole clusters vary. `pos_label` names the positive label where it is not obvious.
    Lazy frames (Polars, DuckDB, Dask, PySpark, Ibis) of more than two million rows are grouped in their own engine
    into cells, as :func:`tallymark.scan` does for files; `exact` True never does, False always. Missing values are an
    error that counts them; `drop_missing` leaves out the rows of a frame that have one. `strict` turns guards into errors.

    >>> import tallymark as tm
    >>> tm.tally(["no", "yes", "no"], [0.1, 0.8, 0.3], pos_label="yes").positives
    1
    >>> tm.tally(scores=[0.2, 0.9]).n
    2
    """
    _refuse_swallowed(
        "tally", y, named={"label": label, "score": score, "by": None if isinstance(by, tuple) and not by else by, "weight": weight, "count": count, "cluster": cluster},
        given={"scores": scores, "counts": counts, "weights": weights, "clusters": clusters},
    )  # fmt: skip
    if is_frame(y):
        return _tally_frame(
            y,
            label,
            score,
            by,
            weight,
            count,
            cluster,
            pos_label,
            exact=exact,
            drop_missing=drop_missing,
            strict=strict,
        )
    if drop_missing or exact is False:
        option = "drop_missing=True leaves out rows" if drop_missing else "exact=False groups rows"
        raise InputError(
            f"{option} of a dataframe, but the first argument is a {type(y).__name__}; leave it out with arrays."
        )
    if scores is None:
        raise InputError("No scores. Write tm.tally(y, scores), or tm.tally(scores=…) for an unlabelled sample.")
    made = tally_of_arrays(y, scores, counts=counts, weights=weights, clusters=clusters, pos_label=pos_label)
    emit(hard_labels(made, "scores"), strict=strict)
    return made


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
    own = None if clusters is None else checked_cluster(clusters)
    _check.same_length({names[0]: is_positive, names[1]: s, "counts": n, "weights": w, "clusters": own})
    made = Tally.of(s, is_positive, labels, counts=n, weights=w, cluster=own)
    if not one_class:
        _refuse_weightless_class(made)
    return made


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
    """Truth against prediction for any number of classes.

    ``confusion(y, predicted)`` takes columns, ``confusion(frame, "yhat", label="y", weight="w")`` a dataframe. With two classes the positive one is known for bools, 0/1 and −1/+1; otherwise name it with `pos_label` to use
    tp, fp, fn and tn. `classes` fixes the order (and may name classes that do not occur).

    >>> import tallymark as tm
    >>> tm.confusion(["a", "b", "c", "a"], ["a", "b", "a", "a"])
    Confusion of 4 rows (truth down, prediction across)
    truth  a  b  c
    a      2  0  0
    b      0  1  0
    c      1  0  0
    """
    _refuse_swallowed(
        "confusion", y, named={"label": label, "weight": weight, "count": count},
        given={"counts": counts, "weights": weights},
    )  # fmt: skip
    if is_frame(y):
        name = require(predicted if isinstance(predicted, str) else None, "predicted", "predicted class")
        found_in = _named(y, label, weight, count, [Wanted(name, "predicted=")])
        y, predicted, counts, weights = found_in.truth, found_in.columns[name], found_in.counts, found_in.weights
    truth, guess = _check.labels(y, "labels"), _check.labels(predicted, "predicted")
    n, w = checked_mass(counts, weights)
    _check.same_length({"labels": truth, "predicted": guess, "counts": n, "weights": w})
    found = _check.distinct(truth), _check.distinct(guess, "predicted")
    if isinstance(found[0][0], str) != isinstance(found[1][0], str):
        raise InputError(
            f"labels are {shown(found[0])} but predicted is {shown(found[1])}: text on one side, numbers on the other. "
            "Convert one of them."
        )
    names = tuple(
        sorted({*found[0], *found[1]}) if classes is None else map(_check.plain_label, _check.listed(classes))
    )
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
    """Class-wise moments of K score columns, one per class in the order of `classes`.

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
    """Everything a K-class score matrix can tell: argmax confusion, moments and runs by class.

    ``class_scores(y, matrix, classes=[…])`` takes columns, ``class_scores(frame, score={"cat": "p_cat", …}, label="y")`` a
    dataframe and the score column of each class.

    >>> import tallymark as tm
    >>> s = tm.class_scores([0, 1, 2], [[.8, .1, .1], [.3, .6, .1], [.5, .1, .4]], classes=[0, 1, 2])
    >>> tm.metrics.auroc_ovo(s)
    1.0
    """
    _refuse_swallowed(
        "class_scores", y, named={"score": score, "label": label, "weight": weight, "count": count},
        given={"scores": scores, "classes": classes, "counts": counts, "weights": weights},
    )  # fmt: skip
    if is_frame(y):
        columns, classes, scores = _scores_by_class(y, score, label, weight, count)
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
    """Rows with a score for each of K classes: for counting classes, and for intervals of K-class metrics.

    ``class_panel(y, matrix, classes=[…])`` takes columns, ``class_panel(scores=matrix, classes=[…])`` rows without labels,
    ``class_panel(frame, score={"cat": "p_cat", …}, label="y")`` a dataframe and the score column of each class. Where `classes` is
    left out they are the labels in order.

    >>> import tallymark as tm
    >>> tm.class_panel(scores=[[0.8, 0.1, 0.1], [0.3, 0.6, 0.1]], classes=["a", "b", "c"])
    Class panel of 2 unlabelled rows, 3 classes
    class  mean score
    a          0.5500
    b          0.3500
    c          0.1000
    """
    _refuse_swallowed(
        "class_panel", y, named={"score": score, "label": label, "weight": weight, "count": count},
        given={"scores": scores, "classes": classes, "counts": counts, "weights": weights},
    )  # fmt: skip
    if is_frame(y):
        columns, classes, scores = _scores_by_class(y, score, label, weight, count, unlabelled=label is None)
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
    return ClassPanel(names, *(None if array is None else array.copy() for array in (s, codes, n, w)))  # type: ignore[arg-type]


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
    """Labels and the scores of several models on the same rows.

    ``panel(y, {"a": score_a, "b": score_b})``, or ``panel(frame, label="y", score=["a", "b"], weight="w")``. `clusters` (``cluster=``) says which
    rows belong together; `extra` columns (price, period, …) are kept beside the rows.

    >>> import tallymark as tm
    >>> tm.panel([0, 1, 0], {"a": [0.2, 0.9, 0.4], "b": [1, 3, 2]}).models
    ('a', 'b')
    """
    _refuse_swallowed(
        "panel", y, named={"label": label, "score": score, "weight": weight, "count": count, "cluster": cluster},
        given={"scores": scores, "counts": counts, "weights": weights, "clusters": clusters},
    )  # fmt: skip
    if is_frame(y):
        if score is None:
            raise InputError('With a dataframe name the score columns: tm.panel(frame, label="y", score=["a", "b"]).')
        names = column_names(score, "score=")
        wanted = [Wanted(name, "score=", "number") for name in names]
        wanted += [] if cluster is None else [Wanted(cluster, "cluster=")]
        named = _named(y, label, weight, count, wanted)
        y, counts, weights = named.truth, named.counts, named.weights
        scores = {name: named.columns[name] for name in names}
        clusters = None if cluster is None else named.columns[cluster]
    return panel_of_arrays(
        y, scores, counts=counts, weights=weights, clusters=clusters, pos_label=pos_label, extra=extra,
        name=label or "labels",
    )  # fmt: skip


def panel_of_arrays(
    y: object, scores: object, *, counts: object = None, weights: object = None, clusters: object = None,
    pos_label: Label | None = None, extra: Mapping[str, object] | None = None, name: str = "labels",
) -> Panel:  # fmt: skip
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
    own = None if clusters is None else checked_cluster(clusters)
    _check.same_length({name: is_positive, "counts": n, "weights": w, "clusters": own, **columns, **others})
    # Copies: a panel must not change when the caller's arrays do.
    return Panel(
        is_positive.copy(),
        labels,
        {str(model): column.copy() for model, column in columns.items()},
        None if n is None else n.copy(),
        None if w is None else w.copy(),
        {str(other): column.copy() for other, column in others.items()},
        None if own is None else own.copy(),
    )


#: How each maker is written with a dataframe and with arrays.
_WRITTEN = {
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


def _refuse_swallowed(maker: str, first: object, *, named: Mapping[str, object], given: Mapping[str, object]) -> None:
    """Refuse names of columns where there is no dataframe, and columns themselves beside one: neither would be used."""
    frame, arrays = _WRITTEN[maker]
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


def _extra(column: object, name: object) -> NDArray[Any]:
    array = _check.column(column, f"extra {name!r}")
    return array.astype(str) if array.dtype.kind == "O" else array


def is_saved(path: str | PathLike[str]) -> bool:
    """Whether a file is one that a summary's ``save`` wrote, by the look of its first bytes."""
    return storage.looks_saved(path)


def load(path: str | PathLike[str]) -> Any:
    """Read what a summary's ``save`` wrote: a Tally, Tallies, Confusion, Moments, ClassScores, Panel or ClassPanel.

    The file is checked before it is believed; nothing in it is ever executed.
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


class _Named(NamedTuple):
    """Columns of a dataframe by what they are for."""

    truth: NDArray[Any] | None
    counts: NDArray[Any] | None
    weights: NDArray[Any] | None
    columns: Columns


def _named(frame: object, label: str | None, weight: str | None, count: str | None, others: Sequence[Wanted]) -> _Named:
    truth = require(label, "label", "label")
    columns = read_columns(frame, [*Roles(label=truth, weight=weight, count=count).wanted, *others])
    return _Named(
        columns[truth], None if count is None else columns[count], None if weight is None else columns[weight], columns
    )


def _unlabelled(frame: object, weight: str | None, count: str | None, others: Sequence[Wanted]) -> _Named:
    columns = read_columns(frame, [*Roles(weight=weight, count=count).wanted, *others])
    return _Named(None, None if count is None else columns[count], None if weight is None else columns[weight], columns)


def _scores_by_class(
    frame: object, score: object, label: str | None, weight: str | None, count: str | None, *, unlabelled: bool = False
) -> tuple[_Named, list[Label], NDArray[Any]]:
    """Columns of a dataframe by what they are for, the classes, and the score column of each."""
    if not isinstance(score, Mapping):
        raise InputError('With a dataframe say which column scores each class: score={"cat": "p_cat", "dog": "p_dog"}.')
    wanted = [Wanted(column, "score=", "number") for column in score.values()]
    found = _unlabelled(frame, weight, count, wanted) if unlabelled else _named(frame, label, weight, count, wanted)
    return found, list(score), np.column_stack([_check.scores(found.columns[name], name) for name in score.values()])


def _tally_frame(
    frame: object,
    label: str | None,
    score: str | Sequence[str] | None,
    by: str | Sequence[str],
    weight: str | None,
    count: str | None,
    cluster: str | None,
    pos_label: Label | None,
    *,
    exact: bool | None,
    drop_missing: bool,
    strict: bool,
) -> Tally | Tallies:
    if score is None:
        raise InputError("A dataframe needs score= with the name of the score column (or a list of them).")
    roles = Roles.named(
        label=label, score=score, by=by, weight=weight, count=count, cluster=cluster, pos_label=pos_label
    )
    wanted = roles.wanted
    lazy = lazy_frame(frame, wanted)
    if exact is False and (lazy is None or cluster is not None):
        why = "a frame in memory is tallied as it is" if lazy is None else "rows in clusters are tallied one by one"
        raise InputError(
            f"exact=False groups the rows of a lazy frame into cells, but {why}. Leave it out, or quantise() the tally."
        )
    if lazy is not None and drop_missing:
        lazy = without_missing(lazy, [name for name, *_ in wanted])
    if lazy is not None and cluster is None and not exact and (exact is False or number_of_rows(lazy) > SMALL):
        if is_relation(frame):
            made = tallies_of_relation(lazy.to_native(), roles)
        else:
            made = tallies_of_lazy(lazy, roles)
    else:
        columns = read_columns(frame, wanted, drop_missing=drop_missing)
        made = tallies_of_columns(columns, roles)
    emit(hard_labels_of(made), strict=strict)
    if isinstance(score, str) and not roles.by:
        _refuse_weightless_class(made[score])
    return made.of_one_model() if isinstance(score, str) else made


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
        plain = _check.plain_label(pos_label)
        if plain not in names:
            raise InputError(f"pos_label={pos_label!r} does not occur; the classes are {shown(names)}.")
        if len(names) != 2:
            raise InputError(f"pos_label= needs two classes, there are {len(names)}: {shown(names)}.")
        return names.index(plain)
    return _check.obvious_positive(names)


def _refuse_weightless_class(made: Tally) -> None:
    for label, run in zip(made.labels or (), made.runs, strict=True) if made.labelled else ():
        if not len(run):
            raise InputError(
                f"All rows of class {label!r} have weight 0, so one class only is left; check the weights."
            )
