"""``tm.scan``: tallies of files of any size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import overload

from tallymark import _check
from tallymark._check import Label
from tallymark.errors import InputError
from tallymark.notes import emit, honours_strict
from tallymark.sources.duck import Progress
from tallymark.sources.formats import Paths
from tallymark.sources.frames import named_columns
from tallymark.sources.roles import Roles
from tallymark.sources.rows import Rows
from tallymark.summaries.score_notes import hard_labels_of
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally


@overload
def scan(
    paths: Paths, *, label: str | None = ..., score: str, weight: str | None = ..., count: str | None = ..., cluster: str | None = ...,
    where: str | None = ..., thresholds: Iterable[float] = ..., pos_label: Label | None = ...,
    exact: bool | None = ..., drop_missing: bool = ..., memory_limit: str | None = ..., threads: int | None = ...,
    progress: Progress | None = ..., strict: bool = ...,
) -> Tally: ...  # fmt: skip
@overload
def scan(
    paths: Paths, *, label: str | None = ..., score: list[str] | tuple[str, ...], weight: str | None = ..., count: str | None = ..., cluster: str | None = ...,
    by: str | Sequence[str] = ..., where: str | None = ..., thresholds: Iterable[float] = ..., pos_label: Label | None = ...,
    exact: bool | None = ..., drop_missing: bool = ..., memory_limit: str | None = ..., threads: int | None = ...,
    progress: Progress | None = ..., strict: bool = ...,
) -> Tallies: ...  # fmt: skip
@overload
def scan(
    paths: Paths, *, label: str | None = ..., score: str, weight: str | None = ..., count: str | None = ..., cluster: str | None = ...,
    by: str | Sequence[str], where: str | None = ..., thresholds: Iterable[float] = ..., pos_label: Label | None = ...,
    exact: bool | None = ..., drop_missing: bool = ..., memory_limit: str | None = ..., threads: int | None = ...,
    progress: Progress | None = ..., strict: bool = ...,
) -> Tallies: ...  # fmt: skip
@named_columns
@honours_strict
def scan(
    paths: Paths,
    *,
    label: str | None = None,
    score: str | Sequence[str],
    weight: str | None = None,
    count: str | None = None,
    cluster: str | None = None,
    by: str | Sequence[str] = (),
    where: str | None = None,
    thresholds: Iterable[float] = (0.5,),
    pos_label: Label | None = None,
    exact: bool | None = None,
    drop_missing: bool = False,
    memory_limit: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    strict: bool = False,
) -> Tally | Tallies:
    r"""Tally files of any size: a path, a pattern or a list; Parquet, CSV, TSV or JSON lines, also compressed.

    Up to two million rows the tally is exact. Beyond, scores share cells of about 13 significant bits; a cell of one
    repeated score is exact, so are the asked `thresholds` and the moments, the heaviest cells are split finer, and
    :func:`tallymark.bound` says how far each metric can be off. `exact` True never quantises, False always does.
    `cluster` names the column that says which rows belong together (the rows are then read whole, however many);
    `where` is an SQL condition on the rows; `drop_missing` leaves out rows in which a named column is missing and notes how many (TM124); `memory_limit` (``"1GB"``) and `threads` bound the engine, which spills to
    disk; `progress` is called with the percentage done.

    >>> import tallymark as tm, tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "scores.csv"
    >>> _ = path.write_text("y,p\n0,0.1\n1,0.8\n0,0.4\n1,0.35\n")
    >>> tm.metrics.auroc(tm.scan(path, label="y", score="p"))
    0.75
    >>> folder.cleanup()
    """
    if isinstance(score, list | tuple) and not score:
        raise InputError("score= names no column; give the score column, or a list of them.")
    roles = Roles.named(
        label=label, score=score, by=by, weight=weight, count=count, cluster=cluster, pos_label=pos_label
    )
    cuts = [_check.real(t, "thresholds") for t in (thresholds if isinstance(thresholds, Iterable) else [thresholds])]
    rows = Rows(
        paths=paths,
        roles=roles,
        where=where,
        drop_missing=drop_missing,
        memory_limit=memory_limit,
        threads=threads,
        progress=progress,
    )
    with rows.open() as table:
        tallies = table.tallies(exact=exact, thresholds=cuts)
    emit(hard_labels_of(tallies), strict=strict)
    return tallies.of_one_model() if isinstance(score, str) else tallies
