"""``tm.scan``: tallies of files of any size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict, Unpack, overload

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


class _ScanOptions(TypedDict, total=False):
    label: str | None
    weight: str | None
    count: str | None
    cluster: str | None
    where: str | None
    thresholds: Iterable[float]
    pos_label: Label | None
    exact: bool | None
    drop_missing: bool
    memory_limit: str | None
    threads: int | None
    progress: Progress | None
    strict: bool


@overload
def scan(paths: Paths, *, score: str, **options: Unpack[_ScanOptions]) -> Tally: ...
@overload
def scan(
    paths: Paths, *, score: list[str] | tuple[str, ...], by: str | Sequence[str] = ..., **options: Unpack[_ScanOptions]
) -> Tallies: ...
@overload
def scan(paths: Paths, *, score: str, by: str | Sequence[str], **options: Unpack[_ScanOptions]) -> Tallies: ...
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
    r"""Tally files of any size: Parquet, CSV, TSV or JSON lines, also compressed.

    Up to two million rows the tally is exact. Beyond, scores are rounded to cells of about 13 significant bits, of
    which the heaviest are split finer; repeated scores, `thresholds` and moments stay exact, and
    :func:`tallymark.bound` says how far each metric can be off.

    Parameters
    ----------
    paths
        A path, a pattern or a list of either.
    label, score, weight, count, cluster, by
        Names of columns. Several scores, or groups (`by`), give :class:`Tallies`. With `cluster` the rows are read
        whole, however many.
    where
        An SQL condition on the rows.
    thresholds
        Scores at which cells are cut, so that confusion matrices there are exact.
    pos_label
        The positive label, where it is not obvious.
    exact
        True never rounds scores, False always does.
    drop_missing
        Leave out rows in which a named column is missing.
    memory_limit, threads
        Bounds of the engine (``"1GB"``), which spills to disk.
    progress
        Called with the percentage done.
    strict
        Raise warnings as errors.

    Returns
    -------
    Tally or Tallies

    Examples
    --------
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
