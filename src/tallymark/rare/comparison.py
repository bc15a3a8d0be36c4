"""Every way to count a rare class in texts, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tallymark import _check
from tallymark._check import Label
from tallymark.errors import InputError
from tallymark.rare.counts import balanced, bootstrap, class_weight_sweep, ensemble
from tallymark.rare.ensembles import Progress
from tallymark.rare.results import RareComparison, RareCount
from tallymark.rare.words import Cleaning
from tallymark.registry import choose

#: The ways to count by name.
METHODS: Mapping[str, Callable[..., RareCount]] = {
    "balanced": balanced,
    "class_weight_sweep": class_weight_sweep,
    "bootstrap": bootstrap,
    "ensemble": ensemble,
}


def compare(
    texts: Iterable[str],
    labels: Any,
    target_texts: Iterable[str],
    *,
    methods: Sequence[str] | Mapping[str, Mapping[str, Any]] | None = None,
    target_labels: Any = None,
    pos_label: Label | None = None,
    cleaning: Cleaning | None = None,
    C: float = 1.0,
    level: float | None = 0.95,
    seed: int = 0,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> RareComparison:
    """Count a rare class by several methods, on the same labelled texts and the same target.

    Parameters
    ----------
    methods
        Names of the methods, or by name the options that are theirs alone, as in ``{"bootstrap": {"machines": 100}}``;
        all by default.
    texts, labels, target_texts, target_labels, pos_label, cleaning, C, level, seed, jobs, progress
        As for :func:`bootstrap`.

    Returns
    -------
    RareComparison
        A line for each method; `counts` has their results, `variants` all four variants of each.

    Examples
    --------
    >>> import tallymark as tm
    >>> texts = ["buy cheap pills now"] * 20 + ["see you at the meeting"] * 60
    >>> methods = {"balanced": {}, "bootstrap": {"machines": 5}}
    >>> found = tm.rare.compare(texts, [1] * 20 + [0] * 60, texts, methods=methods)
    >>> [(row["method"], round(row["estimate"])) for row in found.rows()]
    [('balanced', 20), ('bootstrap', 20)]
    """
    own = _options_of(methods)
    _check.callback(progress)
    # Texts that can be read once only are kept.
    known, target = (list(one) if isinstance(one, Iterator) else one for one in (texts, target_texts))
    counts = {}
    for place, (name, options) in enumerate(own.items()):
        counts[name] = METHODS[name](
            known,
            labels,
            target,
            target_labels=target_labels,
            pos_label=pos_label,
            cleaning=cleaning,
            C=C,
            level=level,
            seed=seed,
            jobs=jobs,
            progress=None if progress is None else _part(progress, place, len(own)),
            **options,
        )
    return RareComparison(counts)


def _options_of(methods: Sequence[str] | Mapping[str, Mapping[str, Any]] | None) -> dict[str, Mapping[str, Any]]:
    """The options of each method that is wanted."""
    if methods is None:
        return {name: {} for name in METHODS}
    listed = list(methods) if isinstance(methods, Mapping) else _check.listed(methods)
    if not listed:
        raise InputError(f"methods is empty; name one or more of {', '.join(METHODS)}.")
    for name in listed:
        choose("methods", name, METHODS)
    return dict(methods) if isinstance(methods, Mapping) else {name: {} for name in listed}


def _part(progress: Progress, place: int, of: int) -> Progress:
    """The progress of one of several methods, as a share of all."""
    return lambda percentage: progress((100.0 * place + percentage) / of)
