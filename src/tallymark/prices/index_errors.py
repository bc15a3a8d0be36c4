"""Bias and variance of a price index under classification errors, and the accuracy that an index needs.

Errors belong to products, not to lines: a product that is misclassified stays so, in every period. Drawn line by line
they would cancel, and the index would look far too accurate (Scholtus & van Delden 2020).
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
from tallymark.sources.any_columns import any_columns
from tallymark.sources.formats import Wanted
from tallymark.sources.frames import named_columns

#: Which products are misclassified more often.
Errors = Literal["random", "price", "scores"]

#: The steepest tilt at which given error rates can still be reached.
_STEEPEST = 5.0

#: Draws computed at a time.
_BLOCK = 1_000

#: Steps of the search for the metric value that an index needs.
_VALUES = np.array([0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.975, 0.99, 1.0])


@dataclass(frozen=True, eq=False, repr=False)
class IndexUnderError(Shown):
    """Distribution of an index by period over sets of misclassified products, beside the true index.

    `draws` has the index of every draw (lines) by period; `empty` counts draws that left a comparison without a
    product. Predictions that never vary within a product leave nothing to draw: then there is one line.
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
        """Whether nothing was drawn, because every product always has the same prediction."""
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
        """The least value of the metric at which the index of every period is within `tolerance` in `share` of the
        draws.

        nan where no value is; searched over values from 0.5 to 1, linearly interpolated.
        """
        wanted = _check.real(tolerance, "tolerance")
        if wanted <= 0.0:
            raise InputError(f"tolerance is {tolerance!r}, expected a difference of the index above 0.")
        _check.probability(share, "share")
        if self._again is None:
            raise InputError(
                "Predictions of a real classifier have no metric value to search for; leave predicted= out to find how "
                "good one must be."
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
            return (
                f"Index by {self.formula} of the products as predicted; every product always has the same prediction, "
                "so nothing was drawn"
            )
        rest = f"; {self.empty} draws left a period without a product" if self.empty else ""
        real = np.isnan(self.metric_value)
        how = "as a real classifier predicts them" if real else f"with {self.metric} {self.metric_value:g}"
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
        return {
            "formula": self.formula,
            "metric": self.metric,
            "metric_value": plain(self.metric_value),
            "n": len(self.draws),
            "empty": self.empty,
            "periods": plain([dict(row) for row in self.rows()]),
        }


@named_columns
def index_under_error(
    data: Any,
    *,
    period: str,
    product: str | Sequence[str],
    price: str,
    quantity: str | None = None,
    label: str,
    pos_label: Any = None,
    formula: str = "fisher",
    metric: str = "balanced_accuracy",
    metric_value: float = 0.9,
    chained: bool = False,
    errors: Errors = "random",
    tilt: float = 1.0,
    score: str | None = None,
    predicted: str | None = None,
    together: str | None = None,
    draws: int = 1_000,
    seed: Seed = 0,
    order: Sequence[Any] | None = None,
) -> IndexUnderError:
    """Distribution of a price index over classifiers whose `metric` is `metric_value`, or over a real one's
    predictions.

    For each draw a pair of rates (tpr, tnr) on the metric's isoline is taken uniformly by tpr, then every product is
    classified by them, once for all periods; the index is that of the products classified positive.
    ``required_value(tolerance)`` of the result inverts it: the metric value that keeps the error within a tolerance.

    Parameters
    ----------
    data
        A dataframe or files with a line per period and product, or several.
    period, product, price, quantity, chained, order
        As of :func:`tallymark.prices.index`.
    label, pos_label
        Column of the class of each product, and its positive label: the class whose index is computed.
    formula
        Name of an index formula.
    metric, metric_value
        The metric whose isoline the rates are drawn from, and its value.
    errors
        Which products are misclassified more often: ``random``, none; ``price``, dear ones, by a factor exp(`tilt`) per
        standard deviation of the log price; ``scores``, in proportion to a real classifier's probabilities: positives
        to 1 - p, negatives to p.
    tilt
        Slope of ``errors="price"``; cheap products are misclassified more often where it is negative.
    score
        Column of the probabilities of ``errors="scores"``.
    predicted
        Column of a real classifier's predictions. No rates are drawn: each product is positive as often as its lines
        were predicted so (where that is always or never for all of them, nothing is drawn at all).
    together
        Column, such as the product's text, whose products are all classified alike.
    draws
        Number of draws.
    seed
        Seed of the draws.

    Returns
    -------
    IndexUnderError
        The true index and its draws by period.

    Examples
    --------
    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> products, months = np.tile(np.arange(40), 6), np.repeat(np.arange(6), 40)
    >>> frame = pd.DataFrame({"m": months, "id": products, "x": products < 20, "q": 1.0})
    >>> frame["p"] = np.exp(rng.normal(0, 0.05, 240) + np.where(frame.x, 0.01, 0.03) * months)
    >>> columns = {"period": "m", "product": "id", "price": "p", "quantity": "q", "label": "x"}
    >>> under_error = tm.prices.index_under_error(frame, **columns, metric_value=0.9)
    >>> bool(under_error.bias[-1] > 0), bool(under_error.standard_error[-1] < 0.05)
    (True, True)

    """
    require_formula(formula, quantity)
    number = checked_number(draws, "draws", 2)
    model = ErrorModel(
        label=label,
        pos_label=pos_label,
        errors=errors,
        tilt=tilt,
        score=score,
        predicted=predicted,
        together=together,
    )
    table = price_table(data, period, product, price, quantity, order=order)
    wrong = model.of_products(data, table)
    truth = index_of(_only(table, wrong.positive), formula, chained=chained).values
    if wrong.called is not None and np.isin(wrong.called, (0.0, 1.0)).all():
        number = 1

    def drawn(at: float) -> Floats:
        parts = []
        for block, block_seed in enumerate(seeds(seed, -(-number // _BLOCK))):
            size = min(_BLOCK, number - block * _BLOCK)
            rng = np.random.default_rng(block_seed)
            parts.append(levels(table, formula, wrong.drawn(metric, at, size, rng), chained=chained))
        return np.concatenate(parts)

    values = drawn(_checked_value(metric, metric_value))
    empty = int(np.isnan(values).any(axis=1).sum())
    if empty == number:
        raise InputError(
            "Every draw left some period without a product; there are too few products, or the value of the metric is "
            "too low."
        )
    again = None if wrong.called is not None else drawn
    reached = float(metric_value) if wrong.called is None else float("nan")
    return IndexUnderError(
        formula=formula,
        metric=METRICS[metric].name,
        metric_value=reached,
        periods=table.periods,
        truth=truth,
        draws=values,
        empty=empty,
        _again=again,
    )


@dataclass(frozen=True, eq=False, repr=False)
class MetricsByIndexError(Shown):
    """Rank correlation of each metric with the error of an index, over simulated classifiers."""

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
            f"How well each metric predicts the error of {self.formula} in {self.period}: rank correlation with its "
            f"absolute size, over {self.draws} classifiers with random rates; the best is {self.best}"
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
    "accuracy", "balanced_accuracy", "f1", "recall", "precision", "specificity", "mcc", "kappa", "informedness",
    "geometric_mean", "jaccard",
)  # fmt: skip


@named_columns
def metrics_by_index_error(
    data: Any,
    *,
    period: str,
    product: str | Sequence[str],
    price: str,
    quantity: str | None = None,
    label: str,
    pos_label: Any = None,
    formula: str = "fisher",
    chained: bool = False,
    metrics: Sequence[str] = _COMPARED,
    errors: Errors = "random",
    tilt: float = 1.0,
    score: str | None = None,
    together: str | None = None,
    draws: int = 2_000,
    seed: Seed = 0,
    order: Sequence[Any] | None = None,
) -> MetricsByIndexError:
    """Rank correlation of metrics with the error of a price index: by which metric to choose a classifier for it.

    Classifiers are drawn with a recall and a specificity each uniform from 0.5 to 1; for each the metrics' values on
    the products and the index's error in the last period are computed. Intervals are those of Spearman's correlation on
    Fisher's scale.

    Parameters
    ----------
    data, period, product, price, quantity, label, pos_label, formula, chained, order
        As of :func:`tallymark.prices.index_under_error`.
    metrics
        Metrics to compare.
    errors, tilt, score, together, draws, seed
        As of :func:`tallymark.prices.index_under_error`.

    Returns
    -------
    MetricsByIndexError
        The correlations, the sign turned: high where the metric is high when the error is small.

    Examples
    --------
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
    model = ErrorModel(label=label, pos_label=pos_label, errors=errors, tilt=tilt, score=score, together=together)
    table = price_table(data, period, product, price, quantity, order=order)
    wrong = model.of_products(data, table)
    truth = index_of(_only(table, wrong.positive), formula, chained=chained).values
    off, cells = [], []
    for block, block_seed in enumerate(seeds(seed, -(-number // _BLOCK))):
        rng = np.random.default_rng(block_seed)
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
    correlations = {}
    for name in names:
        with np.errstate(divide="ignore", invalid="ignore"):
            values = METRICS[name].cells(*table_cells, **METRICS[name].parameters)  # type: ignore[misc]
        kept = np.isfinite(values) & np.isfinite(error)
        # A good metric is high where the error is small.
        r = -float(np.corrcoef(rankdata(values[kept]), rankdata(error[kept]))[0, 1])
        reach = 1.96 * np.sqrt((1.0 + r**2 / 2.0) / max(int(kept.sum()) - 3, 1))
        z = np.arctanh(min(max(r, -0.999999), 0.999999))
        correlations[name] = Interval(r, float(np.tanh(z - reach)), float(np.tanh(z + reach)), "fisher z", 0.95)
    return MetricsByIndexError(formula, table.periods[-1], correlations, number)


def _checked_value(metric: str, metric_value: object) -> float:
    facts = METRICS[metric]
    if facts.cells is None or facts.better != "higher":
        raise InputError(
            f"{metric} is no metric at one threshold that is better when higher; take one such as balanced_accuracy or "
            "f1."
        )
    value = _check.real(metric_value, "metric_value")
    if not facts.low <= value <= facts.high:
        raise InputError(f"metric_value is {metric_value!r}, but {metric} runs from {facts.low:g} to {facts.high:g}.")
    return value


@dataclass(frozen=True, kw_only=True)
class ErrorModel:
    """Columns and options that determine how often each product is misclassified."""

    label: str
    pos_label: Any = None
    errors: str = "random"
    tilt: float = 1.0
    score: str | None = None
    predicted: str | None = None
    together: str | None = None

    def __post_init__(self) -> None:
        require_one_of("errors", self.errors, ("random", "price", "scores"))
        if (self.errors == "scores") != (self.score is not None):
            raise InputError(
                "errors='scores' and score= (the column of a classifier's probabilities) go together; give both, or "
                "neither."
            )

    def of_products(self, data: Any, table: PriceTable) -> ProductErrors:
        """The error model of the products of a table."""
        columns = any_columns(data, [*self._wanted(), *(Wanted(name, "product=") for name in table.product)])
        truth, labels = _check.binary_labels(_check.labels(columns[self.label], self.label), self.pos_label, self.label)
        lines = table.lines(columns)
        share = lines.means(truth)
        if mixed := [table.products[i] for i in np.flatnonzero((share > 0.0) & (share < 1.0))]:
            raise InputError(
                f"The product {mixed[0]!r} is in the class in some lines and not in others; a product belongs to one."
            )
        positive = share > 0.5
        called, cluster = None, np.arange(lines.number)
        if self.predicted is not None:
            calls = _check.calls(columns[self.predicted], columns[self.label], self.predicted, self.label)
            called = lines.means(calls == labels[1])
        if self.together is not None:
            names = _check.groups(columns[self.together], self.together)[lines.sold].astype(str)
            cluster = np.zeros(lines.number, dtype=np.int64)
            cluster[lines.product] = np.unique(names, return_inverse=True)[1]
        if self.score is not None:
            p = lines.probabilities(columns[self.score], self.score)
            # No product is quite certain, or the rates could not be reached.
            propensity = np.asarray(np.clip(np.where(positive, 1.0 - p, p), 0.001, None))
        else:
            propensity = self._by_price(table) if self.errors == "price" else np.ones(lines.number)
        return ProductErrors(positive, propensity, cluster, called)

    def _wanted(self) -> list[Wanted]:
        columns: tuple[tuple[str | None, str, Literal["text", "class", "number"]], ...] = (
            (self.label, "label=", "class"),
            (self.score, "score=", "number"),
            (self.predicted, "predicted=", "class"),
            (self.together, "together=", "text"),
        )
        return [Wanted(name, option, kind) for name, option, kind in columns if name is not None]

    def _by_price(self, table: PriceTable) -> Floats:
        """Error propensities that grow with the price."""
        if abs(_check.real(self.tilt, "tilt")) > _STEEPEST:
            raise InputError(
                f"tilt is {self.tilt!r}; beyond {_STEEPEST:g} hardly any product but the dearest would be taken "
                "wrongly."
            )
        price = np.log(np.nanmean(table.prices, axis=0))
        spread = float(price.std())
        return np.exp(self.tilt * (price - price.mean()) / spread) if spread > 0.0 else np.ones(len(price))


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
