"""``tm.raters.agreement``: agreement of two raters or more."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tallymark._check import Floats, Label
from tallymark._numbers import counted, number
from tallymark.inference.guards import FEW_ROWS
from tallymark.inference.interval import checked_level
from tallymark.inference.limits.proportions import limits as proportion_limits
from tallymark.notes import Note, emit
from tallymark.raters.coefficients import COEFFICIENTS, Agreements, Patterns, Value, specific_agreement
from tallymark.raters.limits import ItemDraws
from tallymark.raters.ratings import MOST_RATERS, Ratings, read_ratings
from tallymark.raters.results import Agreement, Coefficient, Rater, RaterPair
from tallymark.raters.weights import BY_VALUE, WeightName, agreement_weights
from tallymark.sources.frames import named_columns

_METHOD = "bootstrap of items, one pseudo-item"
_BY_CLUSTER = "bootstrap of clusters, one pseudo-item"

#: Raters agree, κ is low, and one class has most of the ratings: from here on a note says why.
_AGREE, _LOW_KAPPA, _COMMON, _APART = 0.8, 0.6, 0.8, 0.2


@named_columns
def agreement(
    ratings: Any,
    *,
    rater: str | Sequence[str] | None = None,
    item: str | None = None,
    rating: str | None = None,
    weights: WeightName | Any = "nominal",
    level: float = 0.95,
    cluster: str | None = None,
) -> Agreement:
    r"""Agreement of raters: observed, and beyond chance by six coefficients, each with an interval.

    A coefficient beyond chance is :math:`(p_o - p_e) / (1 - p_e)`, with :math:`p_o` the share of pairs of ratings of an
    item that agree (with weights: their mean agreement) and :math:`p_e` the share expected by chance:

    - ``cohen_kappa``: each rater's own prevalences, :math:`\sum_k p_{1k} p_{2k}`; the mean over the pairs of more
      raters. Cohen (1960), Educ. Psychol. Meas. 20(1); Conger (1980), Psychol. Bull. 88(2).
    - ``scott_pi``, ``fleiss_kappa``: the mean prevalences, :math:`\sum_k \pi_k^2`. Scott's π is of two raters,
      Fleiss's κ the same of any number. Scott (1955), Public Opin. Q. 19(3); Fleiss (1971), Psychol. Bull. 76(5).
    - ``krippendorff_alpha``: :math:`1 - D_o / D_e`, over all ratings that can be paired, with a correction for small
      samples. Krippendorff (2004), Content Analysis, ch. 11.
    - ``gwet_ac``: :math:`\sum_k \pi_k (1 - \pi_k) / (K - 1)`: AC1, with weights AC2. Gwet (2008), Br. J. Math. Stat.
      Psychol. 61(1).
    - ``brennan_prediger``: :math:`1/K`. Brennan & Prediger (1981), Educ. Psychol. Meas. 41(3).

    Parameters
    ----------
    ratings
        A dataframe, the path of a file, or arrays by name, one row per item (wide: name the raters' columns) or one row
        per rating (long: name `rater`, `item` and `rating`). Or counts: a square table of two raters, one by rows and
        one by columns (also a :class:`~tallymark.Confusion` or a pandas ``crosstab``), or a table of items by classes,
        which is not square. Ratings may be missing; of two raters, items that both rated are used. Labels are text or
        numbers.
    rater
        Wide: the columns of the raters, all columns if left out. Long: the column that names the rater.
    item
        The column that names the item. Needed in long form; in wide form it names the disagreements.
    rating
        Long: the column with the rating.
    weights
        Partial agreement of two classes: ``"nominal"`` none; by the number of classes that they are apart ``"linear"``,
        ``"quadratic"`` or ``"ordinal"`` (of d, :math:`d(d+1)/2`; Krippendorff's α takes its own ordinal distance, by
        ranks); by their values ``"interval"``, the squared difference, or ``"ratio"``, the squared relative difference.
        Or a matrix, with 1 on its diagonal, for the classes in sorted order.
    level
        Confidence level.
    cluster
        The column that says which items belong together, such as the conversation; clusters are then drawn at random.

    Returns
    -------
    Agreement
        A mapping from the name of the coefficient; with specific agreement by class, pairs of raters, who differs from
        the others, and the list of disagreements.

    Notes
    -----
    Limits are quantiles of 2 000 draws in which items (or clusters) have random weights and one item is added that is
    rated at random; a fixed seed makes them the same every time. The standard error is linearised (Gwet 2021, Educ.
    Psychol. Meas. 81(4)).

    Examples
    --------
    >>> import tallymark as tm
    >>> result = tm.raters.agreement([[20, 5], [10, 15]])
    >>> round(result["cohen_kappa"].value, 4), round(result["cohen_kappa"].standard_error, 6)
    (0.4, 0.126996)
    >>> wide = {"ann": ["yes", "no", "no", "yes", None], "bob": ["yes", "no", "yes", "yes", "no"]}
    >>> result = tm.raters.agreement(wide)
    >>> result["observed"].value
    0.75
    >>> result.disagreements
    [{'item': 3, 'ann': 'no', 'bob': 'yes'}]
    """
    confidence = checked_level(level)
    by_value = isinstance(weights, str) and weights in BY_VALUE
    table = read_ratings(ratings, rater, item, rating, cluster, by_value=by_value)
    patterns = table.patterns
    matrix = agreement_weights(weights, patterns.classes, ordered=table.ordered)
    ranked = isinstance(weights, str) and weights == "ordinal"
    coefficients, specific, raters = _with_limits(table, matrix, confidence, ranked=ranked)
    prevalences = (patterns.mass @ patterns.shares) / patterns.mass.sum()
    shares = dict(zip(patterns.classes, prevalences.tolist(), strict=True))
    clusters = None if table.members is None else int(table.members.shape[0])
    notes = _notes(coefficients, shares, clusters)
    emit(notes)
    return Agreement(
        coefficients=coefficients,
        n=table.n,
        n_paired=int(patterns.mass @ patterns.paired),
        classes=patterns.classes,
        specific=specific,
        pairs=_pairs(table, matrix),
        raters=raters,
        prevalences=shares,
        weights=weights if isinstance(weights, str) else "matrix",
        level=confidence,
        ratings=table,
        clusters=clusters,
        warnings=notes,
    )


def _with_limits(
    table: Ratings, matrix: Floats, level: float, *, ranked: bool
) -> tuple[dict[str, Coefficient], dict[Label, Coefficient], tuple[Rater, ...]]:
    """Coefficients, specific agreement and raters, with limits from the same draws."""
    patterns, draws = table.patterns, ItemDraws(table.patterns, table.members)
    mass = patterns.mass[None, :]
    exact = Agreements(patterns, matrix, mass, ranked=ranked).coefficients()
    of_classes = specific_agreement(patterns, mass)[0]
    several = patterns.n_raters > 2
    against = AgainstOthers(patterns, matrix) if several else None
    extended = AgainstOthers(draws.patterns, matrix) if several else None
    values = np.concatenate(
        [[one.values[0] for one in exact.values()], of_classes, [] if against is None else against.differences(mass)[0]]
    )

    def statistic(weights: Floats) -> Floats:
        drawn = Agreements(draws.patterns, matrix, weights, ranked=ranked).coefficients()
        parts = [np.stack([one.values for one in drawn.values()], axis=1), specific_agreement(draws.patterns, weights)]
        return np.hstack(parts if extended is None else [*parts, extended.differences(weights)])

    drawn = draws.drawn(statistic)
    low, high = draws.limits(drawn, values, level)
    if len(patterns.classes) == 1:
        # A second class was not seen, so that no pseudo-item can differ: the limits of n hits of n.
        units = patterns.mass @ patterns.paired if table.members is None else table.members.shape[0]
        low = np.minimum(low, float(proportion_limits(units, units, level)[0]))
    method = _METHOD if table.members is None else _BY_CLUSTER
    coefficients = {}
    for name in COEFFICIENTS:
        if name not in exact or math.isnan(exact[name].values[0]):
            coefficients[name] = Coefficient(name=name, value=math.nan, reason=_reason(name, patterns))
            continue
        place = list(exact).index(name)
        coefficients[name] = Coefficient(
            name=name,
            value=float(exact[name].values[0]),
            low=float(low[place]),
            high=float(high[place]),
            standard_error=_standard_error(exact[name], table),
            interval_method=method,
            level=level,
        )
    specific = {}
    for place, label in enumerate(patterns.classes, len(exact)):
        if math.isnan(values[place]):
            reason = "the class was named on no item with two ratings"
            specific[label] = Coefficient(name=str(label), value=math.nan, reason=reason)
        else:
            ends = float(np.clip(low[place], 0.0, 1.0)), float(np.clip(high[place], 0.0, 1.0))
            specific[label] = Coefficient(
                name=str(label), value=float(values[place]), low=ends[0], high=ends[1], interval_method=method,
                level=level,
            )  # fmt: skip
    raters: tuple[Rater, ...] = ()
    if against is not None:
        strict = 1.0 - (1.0 - level) / patterns.n_raters
        start = len(exact) + len(patterns.classes)
        ends_of = draws.limits(drawn[:, start:], values[start:], strict)
        raters = against.raters(table.raters, mass, ends_of, strict)
    return coefficients, specific, raters


def _standard_error(value: Value, table: Ratings) -> float:
    """Root of the sum of squared influences, of items or of clusters; of clusters corrected for their number."""
    if table.members is None:
        return math.sqrt(float(table.patterns.mass @ value.influence**2))
    of_clusters = table.members @ value.influence
    clusters = len(of_clusters)
    return math.sqrt(float(of_clusters @ of_clusters) * clusters / (clusters - 1)) if clusters > 1 else math.nan


def _reason(name: str, patterns: Patterns) -> str:
    if patterns.codes is not None and (patterns.codes < 0).all(axis=0).any():
        return "a rater gave no rating"
    if name == "cohen_kappa" and patterns.codes is None:
        return f"it needs to be known who gave which rating, for at most {MOST_RATERS} raters"
    if len(patterns.classes) == 1:
        return "all ratings are of one class, so that chance alone would agree on all"
    return "chance alone would agree on all items"


class AgainstOthers:
    """Agreement of each rater with the others, and of the others with one another.

    Parameters
    ----------
    patterns
        The patterns, with raters.
    agreement
        Weights of partial agreement.
    """

    def __init__(self, patterns: Patterns, agreement: Floats) -> None:
        given = [patterns.given_by(rater) for rater in range(patterns.n_raters)]
        weighted = patterns.counts @ agreement
        rated = np.stack([one.sum(axis=1) for one in given], axis=1)
        #: Per pattern and rater: sum of agreement with the others, and number of others.
        self._alike = np.stack([(one * weighted).sum(axis=1) for one in given], axis=1) - rated
        self._pairs = rated * (patterns.ratings - 1.0)[:, None]
        self._rated = rated

    def parts(self, weights: Floats) -> tuple[Floats, Floats]:
        """Agreement of each rater with the others, and among the others; a row per reweighting."""
        alike, pairs = weights @ self._alike, weights @ self._pairs
        # Every pair of ratings is counted from both of its ends.
        all_alike, all_pairs = alike.sum(axis=1, keepdims=True) / 2, pairs.sum(axis=1, keepdims=True) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            return alike / pairs, (all_alike - alike) / (all_pairs - pairs)

    def differences(self, weights: Floats) -> Floats:
        """How much less each rater agrees with the others than they with one another."""
        own, others = self.parts(weights)
        return own - others

    def raters(
        self, names: Sequence[str], mass: Floats, ends: tuple[Floats, Floats], level: float
    ) -> tuple[Rater, ...]:
        """The raters, the one who agrees least with the others first."""
        (own,), (others,) = self.parts(mass)
        n = (mass @ self._rated)[0]
        listed = [
            Rater(name, int(n[i]), float(own[i]), float(others[i]), float(ends[0][i]), float(ends[1][i]), level)
            for i, name in enumerate(names)
        ]
        return tuple(sorted(listed, key=lambda one: math.inf if math.isnan(one.value) else one.value))


def _pairs(table: Ratings, matrix: Floats) -> tuple[RaterPair, ...]:
    """Every pair of raters on the items that both rated."""
    patterns = table.patterns
    if patterns.codes is None:
        return ()
    classes, pairs = len(patterns.classes), []
    for a, b in itertools.combinations(range(patterns.n_raters), 2):
        both = (patterns.codes[:, a] >= 0) & (patterns.codes[:, b] >= 0)
        cells = patterns.codes[both, a] * classes + patterns.codes[both, b]
        joint = np.bincount(cells, patterns.mass[both], classes**2).reshape(classes, classes)
        n = joint.sum()
        observed = expected = math.nan
        if n > 0:
            observed = float((joint * matrix).sum() / n)
            expected = float(joint.sum(axis=1) @ matrix @ joint.sum(axis=0) / n**2)
        kappa = (observed - expected) / (1.0 - expected) if expected < 1.0 - 1e-12 else math.nan
        pairs.append(RaterPair(table.raters[a], table.raters[b], int(n), observed, kappa))
    return tuple(pairs)


def _notes(
    coefficients: dict[str, Coefficient], prevalences: dict[Label, float], clusters: int | None
) -> tuple[Note, ...]:
    notes = []
    observed = coefficients["observed"].value
    kappa = next(
        (coefficients[name] for name in ("cohen_kappa", "fleiss_kappa") if not coefficients[name].reason), None
    )
    common = max(prevalences, key=lambda label: prevalences[label])
    gap = math.nan if kappa is None else coefficients["brennan_prediger"].value - kappa.value
    low_kappa = kappa is not None and observed >= _AGREE and kappa.value <= _LOW_KAPPA
    if kappa is not None and low_kappa and prevalences[common] >= _COMMON and gap >= _APART:
        notes.append(
            Note(
                "TM127",
                f"the raters agree on {100 * observed:.0f} % of pairs, yet {kappa.name} is {number(kappa.value)}: "
                f"{100 * prevalences[common]:.0f} % of the ratings are {common!r}, so that chance alone would agree on "
                f"{100 * (observed - kappa.value) / (1 - kappa.value):.0f} %. Read the agreement on each class, and "
                "gwet_ac beside it.",
            )
        )
    if clusters is not None and clusters < FEW_ROWS:
        text = f"the items come in {counted(clusters, 'cluster')}; with fewer than ten, limits are rough."
        notes.append(Note("TM119", text))
    return tuple(notes)
