"""McNemar's test of paired proportions."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from tallymark._check import Bools, Masses
from tallymark.inference.hypothesis_tests.difference import Difference


def mcnemar(first: Bools, second: Bools, counts: Masses, kind: Literal["exact", "mid_p"] = "mid_p") -> Difference:
    r"""McNemar's test of the shares of rows that two models classify correctly.

    Of the rows that only one model gets right, each model is expected to get half: exact binomial test, or `mid_p`,
    which counts half of the probability of the observed table and is less conservative. The interval is Newcombe's for
    paired shares, from Wilson limits of both. McNemar (1947), Psychometrika 12(2); Fagerland, Lydersen & Laake (2013),
    BMC Med. Res. Methodol. 13.
    """
    from scipy.stats import binom

    b, c = (int(counts[one & ~other].sum()) for one, other in ((first, second), (second, first)))
    both, neither = int(counts[first & second].sum()), int(counts[~first & ~second].sum())
    n, m = both + neither + b + c, b + c
    least = min(b, c)
    tail = float(binom.cdf(least, m, 0.5)) - (float(binom.pmf(least, m, 0.5)) / 2 if kind == "mid_p" else 0.0)
    p = 1.0 if b == c else min(1.0, 2.0 * tail)
    error = math.sqrt(max(0.0, b + c - (b - c) ** 2 / n)) / n
    name = f"McNemar, {kind.replace('_', '-')}"
    return Difference((b - c) / n, error, p, name, lambda level: _newcombe(both, b, c, neither, level))


def _newcombe(both: int, b: int, c: int, neither: int, level: float) -> tuple[float, float]:
    """Newcombe (1998), Stat. Med. 17(22), method 10: score limits of both shares and their correlation."""
    from tallymark.inference.limits.proportions import limits

    n = both + b + c + neither
    p1, p2 = (both + b) / n, (both + c) / n
    (l1, l2), (u1, u2) = limits(np.array([both + b, both + c]), n, level, "wilson")
    margins = (both + b) * (c + neither) * (both + c) * (b + neither)
    phi = 0.0
    if margins > 0:
        lead = both * neither - b * c
        phi = (max(lead - n / 2, 0.0) if lead > 0 else lead) / math.sqrt(margins)
    d = p1 - p2
    down = math.sqrt((p1 - l1) ** 2 - 2 * phi * (p1 - l1) * (u2 - p2) + (u2 - p2) ** 2)
    up = math.sqrt((p2 - l2) ** 2 - 2 * phi * (p2 - l2) * (u1 - p1) + (u1 - p1) ** 2)
    return float(d - down), float(d + up)
