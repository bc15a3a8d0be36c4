"""``tm.decide.index_under_error``: what a classifier's mistakes do to a price index, and how good it must be.

Errors belong to products, not to lines: a product that is misclassified stays so, in every period. Drawn line by line they would
wash out, and the index would look far too sure (Scholtus & van Delden 2020).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Bools, Floats
from tallymark._display import Row, Shown, plain
from tallymark.decide.price_index import index_of, levels, require_formula
from tallymark.decide.price_tables import PriceTable, price_table
from tallymark.errors import InputError
from tallymark.inference.interval import Seed, checked_number
from tallymark.inference.resampling.parallel import seeds
from tallymark.registry import METRICS
from tallymark.sources.formats import Wanted, column_names
from tallymark.sources.frames import read_columns

#: Draws worked on at a time.
_BLOCK = 1_000

#: Points of the isoline of a metric, and shares between which the two rates are looked for.
_POINTS, _FINE = 201, 4_001

#: Steps of the search for the level that an index needs.
_LEVELS = np.array([0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.975, 0.99, 1.0])


@dataclass(frozen=True, eq=False, repr=False)
class IndexUnderError(Shown):
    """An index by period as it would come out with misclassified products, beside the true one.

    `draws` has the index of every draw (lines) by period; `empty` counts draws that left a comparison without a product.
    """

    formula: str
    metric: str
    level: float
    periods: tuple[Any, ...]
    truth: Floats
    draws: Floats
    empty: int
    _again: Any = None

    @property
    def bias(self) -> Floats:
        """Mean error by period."""
        return np.asarray(np.nanmean(self.draws, axis=0) - self.truth)

    @property
    def standard_error(self) -> Floats:
        """Standard deviation over the draws, by period."""
        return np.asarray(np.nanstd(self.draws, axis=0, ddof=1))

    @property
    def root_mean_square(self) -> Floats:
        """Root of the mean squared error, by period."""
        return np.asarray(np.sqrt(np.nanmean((self.draws - self.truth) ** 2, axis=0)))

    def quantiles(self, shares: Sequence[float] = (0.025, 0.25, 0.5, 0.75, 0.975)) -> Floats:
        """Quantiles of the index over the draws: a line for each share."""
        return np.asarray(np.nanquantile(self.draws, list(shares), axis=0))

    def required_level(self, tolerance: float, *, confidence: float = 0.95) -> float:
        """The least level of the metric at which the index of every period stays within `tolerance` in this share of the draws.

        nan where even a perfect classifier of this kind does not; searched over levels from 0.5 to 1 and between them by line.
        """
        wanted = _check.real(tolerance, "tolerance")
        if wanted <= 0.0:
            raise InputError(f"tolerance is {tolerance!r}, expected a difference of the index above 0.")
        share = _check.probability(confidence, "confidence")
        grid = [level for level in _LEVELS.tolist() if METRICS[self.metric].low <= level <= METRICS[self.metric].high]
        worst = np.array([self._spread(self._again(level), share) for level in grid])
        within = np.flatnonzero(worst <= wanted)
        if not len(within):
            return float("nan")
        # The first level from which on all better ones do.
        first = next(place for place in within if (worst[place:] <= wanted).all()) if worst[-1] <= wanted else None
        if first is None or first == 0:
            return float("nan") if first is None else float(grid[0])
        above, below = worst[first - 1], worst[first]
        return float(grid[first] - (grid[first] - grid[first - 1]) * (wanted - below) / (above - below))

    def _spread(self, draws: Floats, share: float) -> float:
        errors = np.abs(draws - self.truth)
        return float(np.nanmax(np.nanquantile(errors, share, axis=0)))

    def heading(self) -> str:
        """What was drawn."""
        rest = f"; {self.empty} draws left a period without a product" if self.empty else ""
        return f"Index by {self.formula} under errors: {len(self.draws)} sets of products with {self.metric} {self.level:g}{rest}"

    def rows(self) -> Sequence[Row]:
        """A line per period."""
        low, high = self.quantiles((0.025, 0.975))
        parts = zip(self.periods, self.truth, self.bias, self.standard_error, low, high, strict=True)
        return [
            {
                "period": p,
                "index": float(t),
                "bias": float(b),
                "standard_error": float(s),
                "low": float(a),
                "high": float(z),
            }
            for p, t, b, s, a, z in parts
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"formula": self.formula, "metric": self.metric, "level": self.level, "n": len(self.draws), "empty": self.empty,
                "periods": plain([dict(row) for row in self.rows()])}  # fmt: skip


def index_under_error(
    data: Any, *, period: str, product: str | Sequence[str], price: str, quantity: str | None = None, label: str,
    pos_label: Any = None, formula: str = "fisher", metric: str = "balanced_accuracy", level: float = 0.9, chained: bool = False,
    draws: int = 1_000, seed: Seed = 0,
) -> IndexUnderError:  # fmt: skip
    """The distribution of an index over classifiers that reach a `level` of a `metric`.

    `label` says which products belong to the class whose index is wanted. For each draw a pair of rates (tpr, tnr) on the metric's
    isoline is taken uniformly by tpr, then every product is classified by them, once for all periods; the index is that of the products
    classified positive. ``required_level(tolerance)`` turns the question round.

    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> products, months = np.tile(np.arange(40), 6), np.repeat(np.arange(6), 40)
    >>> frame = pd.DataFrame({"m": months, "id": products, "x": products < 20, "q": 1.0})
    >>> frame["p"] = np.exp(rng.normal(0, 0.05, 240) + np.where(frame.x, 0.01, 0.03) * months)
    >>> found = tm.decide.index_under_error(frame, period="m", product="id", price="p", quantity="q", label="x", level=0.9)
    >>> bool(found.bias[-1] > 0), bool(found.standard_error[-1] < 0.05)
    (True, True)
    """
    require_formula(formula, quantity)
    number = checked_number(draws, "draws", 2)
    table, positive = _labelled(data, period, product, price, quantity, label, pos_label)
    truth = index_of(_only(table, positive), formula, chained=chained).values

    def drawn(at: float) -> Floats:
        parts = []
        for block, own in enumerate(seeds(seed, -(-number // _BLOCK))):
            size = min(_BLOCK, number - block * _BLOCK)
            rng = np.random.default_rng(own)
            parts.append(levels(table, formula, _classified(positive, metric, at, size, rng), chained=chained))
        return np.concatenate(parts)

    found = drawn(_level(metric, level))
    empty = int(np.isnan(found).any(axis=1).sum())
    if empty == number:
        raise InputError(
            "Every draw left some period without a product; there are too few products, or the level is too low."
        )
    return IndexUnderError(formula, METRICS[metric].name, float(level), table.periods, truth, found, empty, drawn)


def _level(metric: str, level: object) -> float:
    facts = METRICS[metric]
    if facts.cells is None or facts.better != "higher":
        raise InputError(
            f"{metric} is no metric at one threshold that is better when higher; take one such as balanced_accuracy or f1."
        )
    value = _check.real(level, "level")
    if not facts.low <= value <= facts.high:
        raise InputError(f"level is {level!r}, but {metric} runs from {facts.low:g} to {facts.high:g}.")
    return value


def isoline(metric: str, level: float, positives: int, negatives: int) -> tuple[Floats, Floats]:
    """Pairs (tpr, tnr) at which a metric has a value, evenly spaced by tpr; none where it is never reached."""
    facts = METRICS[metric]
    fine = np.linspace(0.0, 1.0, _FINE)
    tprs, tnrs = [], []
    for tpr in np.linspace(0.0, 1.0, _POINTS):
        tp, fp = tpr * positives, (1.0 - fine) * negatives
        with np.errstate(divide="ignore", invalid="ignore"):
            values = facts.cells(
                np.full(_FINE, tp), fp, np.full(_FINE, positives - tp), negatives - fp, **facts.parameters
            )  # type: ignore[misc]
        # The least specificity that reaches the level; better ones are on a higher isoline.
        reached = np.flatnonzero(values >= level - 1e-12)
        exact = len(reached) and (reached[0] > 0 or abs(values[0] - level) < 1e-3)
        if exact:
            tprs.append(tpr)
            tnrs.append(fine[reached[0]])
    return np.array(tprs), np.array(tnrs)


def _classified(positive: Bools, metric: str, level: float, draws: int, rng: np.random.Generator) -> Floats:
    """Sets of products classified positive, each by rates on the isoline."""
    tprs, tnrs = isoline(metric, level, int(positive.sum()), int((~positive).sum()))
    if not len(tprs):
        raise InputError(f"No pair of error rates gives {metric} = {level:g} on these products; choose another level.")
    place = rng.integers(len(tprs), size=draws)
    chance = np.where(positive[None, :], tprs[place, None], 1.0 - tnrs[place, None])
    return (rng.random(chance.shape) < chance).astype(np.float64)


def _labelled(
    data: Any, period: str, product: str | Sequence[str], price: str, quantity: str | None, label: str, pos_label: Any
) -> tuple[PriceTable, Bools]:
    """The table of prices, and which of its products belong to the class."""
    keys = tuple(column_names(product, "product="))
    table = price_table(data, period, product, price, quantity)
    columns = read_columns(data, [Wanted(label, "label="), *(Wanted(name, "product=") for name in keys)])
    positive, _ = _check.binary_labels(_check.labels(columns[label], label), pos_label, label)
    told: dict[Any, bool] = {}
    for row, hit in enumerate(positive.tolist()):
        parts = tuple(
            columns[name][row].item() if hasattr(columns[name][row], "item") else columns[name][row] for name in keys
        )
        key = parts[0] if len(parts) == 1 else parts
        if told.setdefault(key, hit) != hit:
            raise InputError(
                f"The product {key!r} is in the class in some lines and not in others; a product belongs to one."
            )
    return table, np.array([told[name] for name in table.products], dtype=np.bool_)


def _only(table: PriceTable, kept: Bools) -> PriceTable:
    """The table of some products; periods stay."""
    names = tuple(name for name, keep in zip(table.products, kept, strict=True) if keep)
    part = PriceTable(
        table.periods, names, table.prices[:, kept], table.quantities[:, kept], table.product, table.weighted
    )
    if not part.sold.any(axis=1).all():
        empty = [part.periods[t] for t in np.flatnonzero(~part.sold.any(axis=1))]
        raise InputError(
            f"In {', '.join(map(str, empty))} no product of the class was sold; there is no true index to compare with."
        )
    return part
