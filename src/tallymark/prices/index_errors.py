"""``tm.prices.index_under_error``: what a classifier's mistakes do to a price index, and how good it must be.

Errors belong to products, not to lines: a product that is misclassified stays so, in every period. Drawn line by line they would
wash out, and the index would look far too sure (Scholtus & van Delden 2020).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tallymark import _check
from tallymark._check import Bools, Floats
from tallymark._display import Row, Shown, plain
from tallymark.errors import InputError
from tallymark.inference.interval import Interval, Seed, checked_number
from tallymark.inference.resampling.parallel import seeds
from tallymark.prices.price_index import index_of, levels, require_formula
from tallymark.prices.price_tables import PriceTable, price_table
from tallymark.prices.product_errors import ProductErrors
from tallymark.registry import METRICS, metric_names, require_one_of
from tallymark.sources.any_columns import any_columns, numbers
from tallymark.sources.formats import Wanted, column_names
from tallymark.sources.frames import named_columns

#: On which products mistakes fall.
Errors = Literal["random", "price", "scores"]

#: The steepest tilt at which the rates that were asked for can still be reached.
_STEEPEST = 5.0

#: Draws worked on at a time.
_BLOCK = 1_000

#: Steps of the search for the metric value that an index needs.
_VALUES = np.array([0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.975, 0.99, 1.0])


@dataclass(frozen=True, eq=False, repr=False)
class IndexUnderError(Shown):
    """An index by period as it would come out with misclassified products, beside the true one.

    `draws` has the index of every draw (lines) by period; `empty` counts draws that left a comparison without a product.
    Calls that never vary within a product leave nothing to draw: then there is one line.
    """

    formula: str
    metric: str
    metric_value: float
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
    def fixed(self) -> bool:
        """Whether nothing was drawn, because every product is always called the same."""
        return len(self.draws) == 1

    @property
    def standard_error(self) -> Floats:
        """Standard deviation over the draws, by period."""
        return np.full(len(self.truth), np.nan) if self.fixed else np.asarray(np.nanstd(self.draws, axis=0, ddof=1))

    @property
    def root_mean_square(self) -> Floats:
        """Root of the mean squared error, by period."""
        return np.asarray(np.sqrt(np.nanmean((self.draws - self.truth) ** 2, axis=0)))

    def quantiles(self, shares: Sequence[float] = (0.025, 0.25, 0.5, 0.75, 0.975)) -> Floats:
        """Quantiles of the index over the draws: a line for each share."""
        return np.asarray(np.nanquantile(self.draws, list(shares), axis=0))

    def required_value(self, tolerance: float, *, share: float = 0.95) -> float:
        """The least value of the metric at which the index of every period stays within `tolerance` in `share` of the draws.

        nan where even a perfect classifier of this kind does not; searched over values from 0.5 to 1, linearly interpolated.
        """
        wanted = _check.real(tolerance, "tolerance")
        if wanted <= 0.0:
            raise InputError(f"tolerance is {tolerance!r}, expected a difference of the index above 0.")
        _check.probability(share, "share")
        if self._again is None:
            raise InputError(
                "A real classifier's calls have no metric value to look for; leave predicted= out to ask how good one must be."
            )
        grid = [value for value in _VALUES.tolist() if METRICS[self.metric].low <= value <= METRICS[self.metric].high]
        worst = np.array([self._spread(self._again(value), share) for value in grid])
        within = np.flatnonzero(worst <= wanted)
        if not len(within):
            return float("nan")
        # The first value from which on all higher ones do.
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
        if self.fixed:
            return f"Index by {self.formula} of the products as they were called; every product is always called the same, so nothing was drawn"
        rest = f"; {self.empty} draws left a period without a product" if self.empty else ""
        how = (
            "as a real classifier calls them"
            if np.isnan(self.metric_value)
            else f"with {self.metric} {self.metric_value:g}"
        )
        return f"Index by {self.formula} under errors: {len(self.draws)} sets of products {how}{rest}"

    def rows(self) -> Sequence[Row]:
        """A line per period."""
        if self.fixed:
            return [
                {"period": p, "index": float(t), "as_called": float(d), "error": float(d - t)}
                for p, t, d in zip(self.periods, self.truth, self.draws[0], strict=True)
            ]
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
        return {"formula": self.formula, "metric": self.metric, "metric_value": plain(self.metric_value), "n": len(self.draws), "empty": self.empty,
                "periods": plain([dict(row) for row in self.rows()])}  # fmt: skip


@named_columns
def index_under_error(
    data: Any, *, period: str, product: str | Sequence[str], price: str, quantity: str | None = None, label: str,
    pos_label: Any = None, formula: str = "fisher", metric: str = "balanced_accuracy", metric_value: float = 0.9, chained: bool = False,
    errors: Errors = "random", tilt: float = 1.0, score: str | None = None, predicted: str | None = None, together: str | None = None,
    draws: int = 1_000, seed: Seed = 0, order: Sequence[Any] | None = None,
) -> IndexUnderError:  # fmt: skip
    """The distribution of an index over classifiers whose `metric` is `metric_value`, or over what a real classifier does.

    `label` says which products belong to the class whose index is wanted. For each draw a pair of rates (tpr, tnr) on the metric's
    isoline is taken uniformly by tpr, then every product is classified by them, once for all periods; the index is that of the products
    classified positive. ``required_value(tolerance)`` turns the question round. `errors` says on which products mistakes fall:

    - ``random``: on all alike;
    - ``price``: on dear products more often, by a factor exp(`tilt`) a standard deviation of the log price (cheap ones with a negative
      tilt);
    - ``scores``: as a real classifier's probabilities, the column `score`, would have it: on positives in proportion to 1 - p, on
      negatives to p.

    `together` names a column, such as the product's text, whose products are all classified alike. With `predicted`, a column of a real
    classifier's calls, nothing is drawn from an isoline: each product is called positive as often as its lines were (where that is
    always or never for all of them, nothing is drawn at all). `order` is that of :func:`tallymark.prices.index`.

    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> products, months = np.tile(np.arange(40), 6), np.repeat(np.arange(6), 40)
    >>> frame = pd.DataFrame({"m": months, "id": products, "x": products < 20, "q": 1.0})
    >>> frame["p"] = np.exp(rng.normal(0, 0.05, 240) + np.where(frame.x, 0.01, 0.03) * months)
    >>> found = tm.prices.index_under_error(frame, period="m", product="id", price="p", quantity="q", label="x", metric_value=0.9)
    >>> bool(found.bias[-1] > 0), bool(found.standard_error[-1] < 0.05)
    (True, True)
    """
    require_formula(formula, quantity)
    number = checked_number(draws, "draws", 2)
    table, wrong = _products(
        data, period, product, price, quantity, label, pos_label, errors, tilt, score, predicted, together, order
    )
    truth = index_of(_only(table, wrong.positive), formula, chained=chained).values
    if wrong.called is not None and np.isin(wrong.called, (0.0, 1.0)).all():
        number = 1

    def drawn(at: float) -> Floats:
        parts = []
        for block, own in enumerate(seeds(seed, -(-number // _BLOCK))):
            size = min(_BLOCK, number - block * _BLOCK)
            rng = np.random.default_rng(own)
            parts.append(levels(table, formula, wrong.drawn(metric, at, size, rng), chained=chained))
        return np.concatenate(parts)

    found = drawn(_checked_value(metric, metric_value))
    empty = int(np.isnan(found).any(axis=1).sum())
    if empty == number:
        raise InputError(
            "Every draw left some period without a product; there are too few products, or the value of the metric is too low."
        )
    again = None if wrong.called is not None else drawn
    reached = float(metric_value) if wrong.called is None else float("nan")
    return IndexUnderError(formula, METRICS[metric].name, reached, table.periods, truth, found, empty, again)


@dataclass(frozen=True, eq=False, repr=False)
class MetricsByIndexError(Shown):
    """How well each metric predicts the error of an index: rank correlations over draws of all kinds of classifiers."""

    formula: str
    period: Any
    correlations: Mapping[str, Interval]
    draws: int

    @property
    def best(self) -> str:
        """The metric that predicts the index's error best."""
        return max(self.correlations, key=lambda name: self.correlations[name].value)

    def heading(self) -> str:
        """What was asked."""
        return (
            f"How well each metric predicts the error of {self.formula} in {self.period}: rank correlation with its absolute size, over "
            f"{self.draws} classifiers with rates of all kinds; the best is {self.best}"
        )

    def rows(self) -> Sequence[Row]:
        """A line per metric, the best first."""
        ordered = sorted(self.correlations.items(), key=lambda item: -item[1].value)
        return [{"metric": name, "correlation": one.value, "low": one.low, "high": one.high} for name, one in ordered]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "formula": self.formula,
            "period": plain(self.period),
            "draws": self.draws,
            "best": self.best,
            "metrics": plain([dict(r) for r in self.rows()]),
        }


#: Metrics that are compared unless others are named.
_COMPARED = (
    "accuracy",
    "balanced_accuracy",
    "f1",
    "recall",
    "precision",
    "specificity",
    "mcc",
    "kappa",
    "informedness",
    "geometric_mean",
    "jaccard",
)


@named_columns
def metrics_by_index_error(
    data: Any, *, period: str, product: str | Sequence[str], price: str, quantity: str | None = None, label: str,
    pos_label: Any = None, formula: str = "fisher", chained: bool = False, metrics: Sequence[str] = _COMPARED, errors: Errors = "random",
    tilt: float = 1.0, score: str | None = None, together: str | None = None, draws: int = 2_000, seed: Seed = 0,
    order: Sequence[Any] | None = None,
) -> MetricsByIndexError:  # fmt: skip
    """Which metric predicts the error of an index best.

    Classifiers are drawn with a recall and a specificity each uniform from 0.5 to 1; for each the metrics' values on the products and the
    index's error in the last period are computed. A metric that is closely (and negatively) rank-correlated with the size of the error is
    one by which a classifier for this index should be chosen. Intervals are those of Spearman's correlation on Fisher's scale.
    The other arguments are those of :func:`tallymark.prices.index_under_error`.

    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> products, months = np.tile(np.arange(60), 6), np.repeat(np.arange(6), 60)
    >>> frame = pd.DataFrame({"m": months, "id": products, "x": products < 30, "q": 1.0})
    >>> frame["p"] = np.exp(rng.normal(0, 0.02, 360) + np.where(frame.x, 0.01, 0.04) * months)
    >>> columns = {"period": "m", "product": "id", "price": "p", "quantity": "q", "label": "x"}
    >>> tm.prices.metrics_by_index_error(frame, **columns).best                # false positives bring in other prices
    'precision'
    """
    from scipy.stats import rankdata

    require_formula(formula, quantity)
    number = checked_number(draws, "draws", 100)
    names = metric_names(metrics)
    if not names:
        raise InputError("metrics= names none; name some, or leave it out.")
    for name in names:
        _checked_value(name, METRICS[name].high)
    table, wrong = _products(
        data, period, product, price, quantity, label, pos_label, errors, tilt, score, None, together, order
    )
    truth = index_of(_only(table, wrong.positive), formula, chained=chained).values
    off, cells = [], []
    for block, own in enumerate(seeds(seed, -(-number // _BLOCK))):
        rng = np.random.default_rng(own)
        size = min(_BLOCK, number - block * _BLOCK)
        recall, specificity = rng.uniform(0.5, 1.0, (2, size))
        members = wrong.at_rates(recall, specificity, rng)
        off.append(np.abs(levels(table, formula, members, chained=chained)[:, -1] - truth[-1]))
        up = members[:, wrong.positive].sum(axis=1), members[:, ~wrong.positive].sum(axis=1)
        cells.append(np.stack((*up, wrong.positive.sum() - up[0], (~wrong.positive).sum() - up[1])))
    error, table_cells = np.concatenate(off), np.concatenate(cells, axis=1)
    if not float(np.nanmax(error) - np.nanmin(error)) > 0.0:
        raise InputError(
            "No error moves this index: all products' prices move alike, so no metric can predict anything."
        )
    found = {}
    for name in names:
        with np.errstate(divide="ignore", invalid="ignore"):
            values = METRICS[name].cells(*table_cells, **METRICS[name].parameters)  # type: ignore[misc]
        kept = np.isfinite(values) & np.isfinite(error)
        # A good metric is high where the error is small.
        r = -float(np.corrcoef(rankdata(values[kept]), rankdata(error[kept]))[0, 1])
        reach = 1.96 * np.sqrt((1.0 + r**2 / 2.0) / max(int(kept.sum()) - 3, 1))
        z = np.arctanh(min(max(r, -0.999999), 0.999999))
        found[name] = Interval(r, float(np.tanh(z - reach)), float(np.tanh(z + reach)), "fisher z", 0.95)
    return MetricsByIndexError(formula, table.periods[-1], found, number)


def _checked_value(metric: str, metric_value: object) -> float:
    facts = METRICS[metric]
    if facts.cells is None or facts.better != "higher":
        raise InputError(
            f"{metric} is no metric at one threshold that is better when higher; take one such as balanced_accuracy or f1."
        )
    value = _check.real(metric_value, "metric_value")
    if not facts.low <= value <= facts.high:
        raise InputError(f"metric_value is {metric_value!r}, but {metric} runs from {facts.low:g} to {facts.high:g}.")
    return value


def _products(
    data: Any, period: str, product: str | Sequence[str], price: str, quantity: str | None, label: str, pos_label: Any, errors: str,
    tilt: float, score: str | None, predicted: str | None, together: str | None, order: Sequence[Any] | None = None,
) -> tuple[PriceTable, ProductErrors]:  # fmt: skip
    """The table of prices, and which of its products are taken wrongly how easily."""
    require_one_of("errors", errors, ("random", "price", "scores"))
    if (errors == "scores") != (score is not None):
        raise InputError(
            "errors='scores' and score= (the column of a classifier's probabilities) go together; give both, or neither."
        )
    keys = tuple(column_names(product, "product="))
    table = price_table(data, period, product, price, quantity, order=order)
    wanted = [
        Wanted(label, "label=", "class"), *(Wanted(name, "product=") for name in keys), *([] if score is None else [Wanted(score, "score=", "number")]),
        *([] if predicted is None else [Wanted(predicted, "predicted=", "class")]),
        *([] if together is None else [Wanted(together, "together=")]),
    ]  # fmt: skip
    columns = any_columns(data, wanted)
    positive, labels = _check.binary_labels(_check.labels(columns[label], label), pos_label, label)
    rows, size = table.places(columns), len(table.products)
    sold = rows >= 0
    of, count = rows[sold], np.bincount(rows[sold], minlength=size)
    share = np.bincount(of, positive[sold], size) / count
    if mixed := [table.products[i] for i in np.flatnonzero((share > 0.0) & (share < 1.0))]:
        raise InputError(
            f"The product {mixed[0]!r} is in the class in some lines and not in others; a product belongs to one."
        )
    own = share > 0.5
    called = None
    if predicted is not None:
        calls = _check.calls(columns[predicted], columns[label], predicted, label) == labels[1]
        called = np.bincount(of, np.asarray(calls)[sold], size) / count
    fate = np.arange(size)
    if together is not None:
        fate = np.zeros(size, dtype=np.int64)
        fate[of] = np.unique(_check.groups(columns[together], together)[sold].astype(str), return_inverse=True)[1]
    return table, ProductErrors(own, _prone(errors, table, own, tilt, columns, score, rows, sold, count), fate, called)


def _prone(
    errors: str,
    table: PriceTable,
    own: Bools,
    tilt: float,
    columns: Any,
    score: str | None,
    rows: Any,
    sold: Bools,
    count: Any,
) -> Floats:
    """How easily each product is taken wrongly, relatively."""
    if errors == "price":
        dear = np.log(np.nanmean(table.prices, axis=0))
        spread = float(dear.std())
        if abs(_check.real(tilt, "tilt")) > _STEEPEST:
            raise InputError(
                f"tilt is {tilt!r}; beyond {_STEEPEST:g} hardly any product but the dearest would be taken wrongly."
            )
        return np.exp(tilt * (dear - dear.mean()) / spread) if spread > 0.0 else np.ones(len(own))
    if score is not None:
        p = numbers(columns[score], score)
        if not (np.isfinite(p) & (p >= 0.0) & (p <= 1.0)).all():
            raise InputError(f"{score} must hold probabilities from 0 to 1 in every line.")
        mean = np.bincount(rows[sold], p[sold], len(own)) / count
        # Nothing is quite certain, or rates could not be reached.
        return np.asarray(np.clip(np.where(own, 1.0 - mean, mean), 0.001, None))
    return np.ones(len(own))


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
