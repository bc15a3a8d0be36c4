"""Populations to draw from: the shapes scores have in the world, and some that were built to break intervals.

Each class is a mixture of parts, and each part is known by its quantile function. A sample draws from the parts; the
truth about any metric is read off a tally of a hundred thousand evenly spread quantiles of each class.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import special, stats

import tallymark as tm
from tallymark.registry import METRICS

Part = tuple[float, Callable[[np.ndarray], np.ndarray]]

#: Quantiles of each class that stand for a population.
_POINTS = 100_000


@dataclass(frozen=True)
class World:
    """Parts of the negatives and of the positives, as (share, quantile function)."""

    name: str
    negative: tuple[Part, ...]
    positive: tuple[Part, ...]
    #: From raw scores and the prevalence to what the model prints.
    shown: Callable[[np.ndarray, float], np.ndarray] = lambda x, _: x

    def draw(self, rng, n, positive, prevalence):
        """Scores of n random rows of a class."""
        parts = self.positive if positive else self.negative
        u = rng.random(n)
        if len(parts) == 1:
            return self.shown(parts[0][1](u), prevalence)
        which = rng.choice(len(parts), n, p=[share for share, _ in parts])
        return self.shown(np.choose(which, [quantile(u) for _, quantile in parts]), prevalence)

    def sample(self, rng, positives, prevalence, design="random", weights=None):
        """Labels, scores (and weights) of rows drawn at random, with class sizes fixed, or the higher the score the more often."""
        n = round(positives / prevalence)
        if design == "unequal":
            return self._unequal(rng, n, prevalence)
        up = positives
        if design == "random":
            up = int(np.clip(rng.binomial(n, prevalence), 1, n - 1))
        y = np.arange(n) >= n - up
        x = np.concatenate([self.draw(rng, n - up, False, prevalence), self.draw(rng, up, True, prevalence)])
        return (y, x) if weights is None else (y, x, weights(rng, x))

    def _unequal(self, rng, n, prevalence):
        """Rows drawn with unequal probabilities, up to e³ times as often at the highest scores, and what each stands for."""
        y, x = self.sample(rng, 30 * n * prevalence, prevalence)
        weight = np.exp(-3.0 * np.argsort(np.argsort(x)) / len(x))
        while True:
            rows = rng.choice(len(x), n, p=(1.0 / weight) / (1.0 / weight).sum())
            if 2 <= y[rows].sum() <= n - 2:
                return y[rows], x[rows], weight[rows]

    def population(self, prevalence):
        """The whole population as a tally."""
        return _population(self, prevalence)

    def truth(self, name, prevalence, threshold=None):
        """A metric of the population, of a threshold where it needs one."""
        return _truth(self, name, prevalence, threshold if METRICS[name].needs == "confusion" else None)


@cache
def _truth(world, name, prevalence, threshold):
    tally = world.population(prevalence)
    return METRICS[name].compute(tally if threshold is None else tally.at(threshold))


@cache
def _population(world, prevalence):
    sides = []
    for parts in (world.negative, world.positive):
        sizes = [round(share * _POINTS) for share, _ in parts]
        sides.append(np.concatenate([
            quantile((np.arange(size) + 0.5) / size) for size, (_, quantile) in zip(sizes, parts, strict=True)
        ]))  # fmt: skip
    y = np.repeat([0, 1], [len(side) for side in sides])
    return tm.tally(y, world.shown(np.concatenate(sides), prevalence)).at_prevalence(prevalence)


def normal(mean=0.0, sd=1.0):
    return lambda u: mean + sd * special.ndtri(u)


def _apart(auroc, sd=1.0):
    """Distance of two normals of spreads 1 and sd that gives an AUROC."""
    return float(special.ndtri(auroc) * np.hypot(1.0, sd))


def binormal(auroc, sd=1.0):
    name = f"normal {auroc:g}" + ("" if sd == 1.0 else f", sd {sd:g}")
    return World(name, ((1.0, normal()),), ((1.0, normal(_apart(auroc, sd), sd)),))


def undetectable(share, distance):
    """A share of the positives score like negatives."""
    parts = ((1.0 - share, normal(distance)), (share, normal()))
    return World(f"{100 * share:g} % undetectable", ((1.0, normal()),), parts)


def calibrated(distance):
    def shown(x, prevalence):
        return special.expit(distance * x - distance**2 / 2 + special.logit(prevalence))

    return World(f"calibrated, d {distance:g}", ((1.0, normal()),), ((1.0, normal(distance)),), shown)


def overconfident(distance, factor):
    def shown(x, prevalence):
        return special.expit(factor * (distance * x - distance**2 / 2 + special.logit(prevalence)))

    return World(f"overconfident, d {distance:g}", ((1.0, normal()),), ((1.0, normal(distance)),), shown)


TIES = World("five scores", ((1.0, normal()),), ((1.0, normal(1.5)),), lambda x, _: np.clip(np.rint(x + 0.5), -1, 3))
HEAVY = World(
    "t with 2 df", ((1.0, lambda u: stats.t.ppf(u, 2)),), ((1.0, lambda u: 2.0 + stats.t.ppf(u, 2)),)
)  # fmt: skip
SKEWED = World("exponential", ((1.0, lambda u: -np.log1p(-u)),), ((1.0, lambda u: -6.0 * np.log1p(-u)),))
SPIKE = World(
    "half at 0", ((0.5, normal()), (0.5, np.zeros_like)), ((0.85, normal(2.0)), (0.15, np.zeros_like))
)  # fmt: skip

ZEROS = World(
    "many zeros", ((0.2, normal(1.0)), (0.8, np.zeros_like)), ((0.75, normal(2.5)), (0.25, np.zeros_like)),
    lambda x, _: np.maximum(x, 0.0),
)  # fmt: skip
RATINGS = World(
    "ratings 1 to 5", ((1.0, normal(1.2, 1.2)),), ((1.0, normal(3.6, 1.2)),), lambda x, _: np.clip(np.rint(x), 1, 5)
)
LOGNORMAL = World(
    "exponential and lognormal",
    ((1.0, lambda u: -np.log1p(-u)),),
    ((1.0, lambda u: np.exp(1.0 + special.ndtri(u))),),
)
TAILS = World("overlap in tails", ((0.97, normal(0.0, 0.5)), (0.03, normal(4.0))), ((1.0, normal(5.0, 0.7)),))


@cache
def _model_scores(kind):
    """Probabilities of two hundred thousand rows by a model that was fitted to 600 others, and their labels."""
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    y = rng.random(200_600) < 0.3
    # Features that go together: naive Bayes is overconfident.
    shared = rng.normal(size=(len(y), 1))
    x = 0.8 * shared + rng.normal(size=(len(y), 6)) + 0.7 * y[:, None]
    model = {"tree": DecisionTreeClassifier(max_leaf_nodes=7, random_state=0), "naive Bayes": GaussianNB()}[kind]
    return y[600:], model.fit(x[:600], y[:600]).predict_proba(x[600:])[:, 1]


def fitted(kind):
    """A fitted model on new rows: a tree with seven leaves, or naive Bayes."""

    def of(positive):
        def quantile(u):
            y, p = _model_scores(kind)
            own = np.sort(p[y == positive])
            return own[np.minimum((u * len(own)).astype(int), len(own) - 1)]

        return ((1.0, quantile),)

    return World(kind, of(False), of(True))


#: Shapes that a second audit brought: real models, many exact zeros, ratings, skewed classes of unlike shape, rare overlap.
AUDIT = (ZEROS, RATINGS, LOGNORMAL, TAILS, fitted("tree"), fitted("naive Bayes"))


@dataclass(frozen=True)
class ClassWorld:
    """K classes with a score for each: noise, to which `distance` is added in the score of the row's own class.

    A share `missed` of the last class gets nothing added.
    """

    name: str
    shares: tuple[float, ...]
    distance: float
    noise: Callable[[np.ndarray], np.ndarray] = special.ndtri
    shown: Callable[[np.ndarray], np.ndarray] = lambda x: x
    missed: float = 0.0

    def sample(self, rng, n):
        """Classes and scores of rows drawn at random, two of each class at least."""
        k = len(self.shares)
        y = rng.choice(k, n, p=self.shares)
        while np.bincount(y, minlength=k).min() < 2:
            y = rng.choice(k, n, p=self.shares)
        x = self.noise(rng.random((n, k)))
        seen = (y < k - 1) | (rng.random(n) >= self.missed)
        x[np.arange(n), y] += self.distance * seen
        return y, self.shown(x)


def softmax(x):
    return special.softmax(x, axis=1)


CLASS_WORLDS = (
    ClassWorld("3, normal", (0.6, 0.32, 0.08), 3.0),
    ClassWorld("3, equal", (0.4, 0.3, 0.3), 1.0),
    ClassWorld("3, probabilities", (0.6, 0.3, 0.1), 2.0, shown=softmax),
    ClassWorld("3, many zeros", (0.6, 0.3, 0.1), 3.0, shown=lambda x: np.maximum(x - 1.0, 0.0)),
    ClassWorld("4, a tenth missed", (0.5, 0.3, 0.13, 0.07), 4.0, missed=0.1),
    ClassWorld("5, t with 2 df", (0.4, 0.3, 0.15, 0.1, 0.05), 3.0, noise=lambda u: stats.t.ppf(u, 2)),
    ClassWorld("6, ratings", (0.3, 0.25, 0.2, 0.15, 0.06, 0.04), 2.0, shown=lambda x: np.clip(np.rint(x), -1, 3)),
    ClassWorld("8, lognormal", (0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.05), 5.0, noise=lambda u: np.exp(special.ndtri(u))),
)  # fmt: skip

#: Every world the tables show. Those of the first list were looked at while methods were chosen, those of the second not.
WORLDS = (
    binormal(0.5), binormal(0.7), binormal(0.85), binormal(0.95), binormal(0.99), binormal(0.85, 2.0),
    binormal(0.97, 2.0), binormal(0.85, 0.5), binormal(0.97, 0.5), undetectable(0.05, 5.0), undetectable(0.2, 3.0),
    TIES, HEAVY, SKEWED, calibrated(1.5), calibrated(3.0),
)  # fmt: skip
FRESH = (
    binormal(0.6), binormal(0.8, 1.5), binormal(0.92, 3.0), binormal(0.9, 0.7), undetectable(0.1, 4.0), SPIKE,
    calibrated(2.0), overconfident(2.0, 2.5),
    World("two clusters", ((0.9, normal()), (0.1, normal(2.0, 0.3))), ((0.6, normal(3.0, 0.5)), (0.4, normal(1.0)))),
)  # fmt: skip
