"""Compact letter display: maximal sets of models without a shown difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def alike(names: Sequence[str], apart: Callable[[str, str], bool]) -> tuple[tuple[str, ...], ...]:
    """Maximal sets of names no two of which are apart, in the order of the names.

    Every name is in at least one. Piepho (2004), J. Comput. Graph. Stat. 13(2); the sets are the maximal cliques of
    Bron & Kerbosch (1973), Commun. ACM 16(9).

    >>> alike("abcd", lambda x, y: {x, y} in ({"a", "c"}, {"a", "d"}))
    (('a', 'b'), ('b', 'c', 'd'))
    """
    near = {one: {other for other in names if other != one and not apart(one, other)} for one in names}
    cliques: list[set[str]] = []

    def extend(chosen: set[str], open_: set[str], done: set[str]) -> None:
        if not open_ and not done:
            cliques.append(chosen)
            return
        pivot = max(open_ | done, key=lambda one: (len(near[one] & open_), -names.index(one)))
        for one in [name for name in names if name in open_ - near[pivot]]:
            extend(chosen | {one}, open_ & near[one], done & near[one])
            open_ = open_ - {one}
            done = done | {one}

    extend(set(), set(names), set())
    ordered = [tuple(name for name in names if name in members) for members in cliques]
    return tuple(sorted(ordered, key=lambda members: [names.index(name) for name in members]))
