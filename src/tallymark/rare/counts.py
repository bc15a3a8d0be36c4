"""Counts of a rare class in texts: balanced, class weights, bootstrap, weighted ensembles (Gubbels, chapter 2)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Bools, Floats, Ints, Label
from tallymark._numbers import number
from tallymark.errors import InputError, Undefined, shown
from tallymark.inference.hypothesis_tests.delong import auroc
from tallymark.inference.interval import checked_number
from tallymark.inference.resampling.parallel import seeds
from tallymark.notes import Note, emit
from tallymark.quantify.estimation.bayesian_calibration import BayesianCalibration, bayesian_calibration
from tallymark.quantify.estimation.prevalence import Prevalence
from tallymark.rare.ensembles import (
    Draw,
    Ensemble,
    MeanEnsemble,
    Progress,
    Training,
    UniformEnsemble,
    balanced_draws,
    bootstrap_draws,
    cross_fitted,
    negatives_for,
    weighted_draws,
    weighted_ensemble,
)
from tallymark.rare.results import ClassWeightSweep, RareCount
from tallymark.rare.words import Cleaning, Vocabulary, in_blocks, tf_idf
from tallymark.registry import METRICS
from tallymark.sources.constructors import tally_of_arrays
from tallymark.summaries.tally import Tally

#: Twenty weights from 10^0.1 to 10^2.
WEIGHTS = tuple(10.0 ** (step / 10.0) for step in range(1, 21))

#: Folds of cross-fitting, and the least number of texts of a class.
_FOLDS = 5


@dataclass(frozen=True)
class _Settings:
    """Options that all ways to count share, checked."""

    cleaning: Cleaning | None
    C: float
    level: float | None
    seed: int
    jobs: int | None
    progress: Progress | None

    def __post_init__(self) -> None:
        _check.callback(self.progress)
        if self.jobs is not None:
            _check.whole(self.jobs, "jobs", 1)
        if self.cleaning is not None and not isinstance(self.cleaning, Cleaning):
            raise InputError(f"cleaning is {self.cleaning!r}, expected a tm.rare.Cleaning.")
        if not _check.real(self.C, "C") > 0.0:
            raise InputError(f"C is {self.C!r}, expected a number above 0.")

    def report(self, percentage: float) -> None:
        """Report progress."""
        if self.progress is not None:
            self.progress(percentage)


@dataclass(frozen=True)
class _Problem:
    """Labelled texts ready for training, their vocabulary, and the settings."""

    training: Training
    vocabulary: Vocabulary
    cleaning: Cleaning
    #: The negative and the positive label.
    classes: tuple[Label, Label]
    notes: tuple[Note, ...]
    settings: _Settings

    def details(self, **options: int) -> dict[str, int]:
        """Options of a method beside the sizes of the training data."""
        return {**options, "labelled": len(self.training.positive), "words": self.vocabulary.size}


@dataclass(frozen=True)
class _Target:
    """Scores of the target by each ensemble (ensemble, probability or vote, text), and its labels if given."""

    scores: Floats
    positive: Bools | None
    notes: tuple[Note, ...]


@dataclass(frozen=True)
class _Method:
    """A fitted way to count: out-of-sample scores of labelled texts, and of how many ways it was chosen as the best."""

    name: str
    validation: Tally
    details: Mapping[str, Any]
    choices: int = 1


def class_weight_sweep(
    texts: Iterable[str],
    labels: Any,
    target_texts: Iterable[str],
    *,
    weights: Sequence[float] = WEIGHTS,
    machines: int = 10,
    target_labels: Any = None,
    pos_label: Label | None = None,
    cleaning: Cleaning | None = None,
    C: float = 1.0,
    level: float | None = 0.95,
    seed: int = 0,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> ClassWeightSweep:
    """Count a rare class with logistic regressions whose positives have a larger weight.

    The weight is chosen by the sPCC of labelled texts in cross-fitting, never on the target.

    Parameters
    ----------
    weights
        Weights of the positives to try.
    machines
        Regressions for each weight, on resampled training sets with 30 % positives.
    texts, labels, target_texts, target_labels, pos_label, cleaning, C, level, seed, jobs, progress
        As for :func:`bootstrap`.

    Returns
    -------
    ClassWeightSweep
        The count by the best weight, and the counts by all weights.

    Examples
    --------
    >>> import tallymark as tm
    >>> texts = ["buy cheap pills now"] * 20 + ["see you at the meeting"] * 60
    >>> round(tm.rare.class_weight_sweep(texts, [1] * 20 + [0] * 60, texts, weights=[1, 10], machines=2).count.count)
    20
    """
    listed = [_check.real(weight, "weights") for weight in _check.several(weights, "weights")]
    if not listed or min(listed) <= 0.0:
        raise InputError(f"weights are {shown(weights)}, expected one or more numbers above 0.")
    checked_number(machines, "machines", 1)
    problem = _problem(texts, labels, pos_label, _Settings(cleaning, C, level, seed, jobs, progress))
    training, spawned = problem.training, seeds(seed, machines)
    folds = _folds(training.positive, seed)

    def with_weight(weight: float) -> Callable[[Training], Ensemble]:
        return lambda part: _bagged(part, weighted_draws(part.positive, weight, spawned))

    validations, ensembles = [], []
    for place, weight in enumerate(listed):
        probability, model = cross_fitted(training, folds, with_weight(weight))
        validations.append(_validation(training, probability))
        ensembles.append(model)
        problem.settings.report(70.0 * (place + 1) / len(listed))
    reached = [_spcc_of(validation) for validation in validations]
    best = int(np.nanargmax(reached)) if np.isfinite(reached).any() else 0
    target = _target(problem, target_texts, target_labels, ensembles)
    details = problem.details(machines=machines)
    methods = [_Method("class_weight_sweep", one, details, choices=len(listed)) for one in validations]
    sweep, variants = [], []
    for place, (weight, spcc) in enumerate(zip(listed, reached, strict=True)):
        one = RareCount(**_fitted(problem, methods[place], target, place, None))
        probability = one.scores[one.counted]
        row: dict[str, Any] = {
            "weight": weight,
            "spcc_labelled": spcc,
            "uncalibrated": float(probability.sum()),
            "calibrated": one.count.count,
        }
        if target.positive is not None:
            truth = target.positive[one.counted]
            row["bias"] = (one.count.count - int(truth.sum())) / len(truth)
            row["spcc"] = _spcc(truth, one.posteriors[one.counted])
        sweep.append(row)
        variants += [{"weight": weight, **variant} for variant in one.table]
    fields = _fields(problem, methods[best], target, best)
    return ClassWeightSweep(**fields, weight=listed[best], sweep=sweep, variants=variants)


def balanced(
    texts: Iterable[str],
    labels: Any,
    target_texts: Iterable[str],
    *,
    machines: int = 1,
    target_labels: Any = None,
    pos_label: Label | None = None,
    cleaning: Cleaning | None = None,
    C: float = 1.0,
    level: float | None = 0.95,
    seed: int = 0,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> RareCount:
    """Count a rare class with a logistic regression trained on as many positives as negatives: the usual baseline.

    Labelled texts are scored in cross-fitting.

    Parameters
    ----------
    machines
        Regressions, each on other negatives, whose probabilities are averaged.
    texts, labels, target_texts, target_labels, pos_label, cleaning, C, level, seed, jobs, progress
        As for :func:`bootstrap`.

    Returns
    -------
    RareCount
        The calibrated count with its interval, and the scores of all texts.

    Examples
    --------
    >>> import tallymark as tm
    >>> texts = ["buy cheap pills now"] * 20 + ["see you at the meeting"] * 60
    >>> round(tm.rare.balanced(texts, [1] * 20 + [0] * 60, texts).count.count)
    20
    """
    checked_number(machines, "machines", 1)
    problem = _problem(texts, labels, pos_label, _Settings(cleaning, C, level, seed, jobs, progress))
    training, spawned = problem.training, seeds(seed, machines)
    probability, model = cross_fitted(
        training, _folds(training.positive, seed), lambda part: _bagged(part, balanced_draws(part.positive, spawned))
    )
    target = _target(problem, target_texts, target_labels, [model])
    method = _Method("balanced", _validation(training, probability), problem.details(machines=machines))
    return RareCount(**_fields(problem, method, target))


def bootstrap(
    texts: Iterable[str],
    labels: Any,
    target_texts: Iterable[str],
    *,
    machines: int = 1000,
    negatives: int | None = None,
    target_labels: Any = None,
    pos_label: Label | None = None,
    cleaning: Cleaning | None = None,
    C: float = 1.0,
    level: float | None = 0.95,
    seed: int = 0,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> RareCount:
    """Count a rare class with bagged logistic regressions, followed by Bayesian Calibration.

    Each regression is trained on positives drawn with replacement and negatives drawn without; labelled texts are
    scored by the regressions that were not trained on them (out-of-bag).

    Parameters
    ----------
    texts, labels
        Labelled texts to learn from.
    target_texts
        Texts to count in: any iterable, read in blocks (:func:`tallymark.rare.texts_in` reads files).
    machines
        Number of regressions.
    negatives
        Negatives that a regression is trained on; by default 70 for 30 positives.
    target_labels
        Labels of the target, for the table only; nothing is fitted to them.
    pos_label
        The label of the rare class.
    cleaning
        How texts are split into words.
    C
        Inverse strength of regularisation, as scikit-learn's.
    level
        Confidence level of the interval; None for no interval.
    seed
        Seed of all draws.
    jobs
        Threads that train; 1 by default.
    progress
        Called with the percentage done.

    Returns
    -------
    RareCount
        The calibrated count with its interval, and the scores of all texts.

    Examples
    --------
    >>> import tallymark as tm
    >>> texts = ["buy cheap pills now"] * 20 + ["see you at the meeting"] * 60
    >>> round(tm.rare.bootstrap(texts, [1] * 20 + [0] * 60, texts, machines=10).count.count)
    20
    """
    checked_number(machines, "machines", 1)
    problem = _problem(texts, labels, pos_label, _Settings(cleaning, C, level, seed, jobs, progress))
    training = problem.training
    available = int(np.count_nonzero(~training.positive))
    # Some negatives must be out of bag, or nothing would say how negatives score.
    most = max(int(0.9 * available), 1)
    if negatives is None:
        negatives = min(negatives_for(int(training.positive.sum()), available), most)
    elif not 1 <= checked_number(negatives, "negatives", 1) <= most:
        raise InputError(f"negatives is {negatives}, but of the {available} there are at most {most} may be drawn.")
    draws = bootstrap_draws(training.positive, negatives, seeds(seed, machines))
    model = _bagged(training, draws, (0.0, 50.0))
    validation = _validation(training, model.out_of_bag(training, draws)[0])
    target = _target(problem, target_texts, target_labels, [model])
    method = _Method("bootstrap", validation, problem.details(machines=machines, negatives=negatives))
    return RareCount(**_fields(problem, method, target))


def ensemble(
    texts: Iterable[str],
    labels: Any,
    target_texts: Iterable[str],
    *,
    machines: int = 10,
    ensembles: int = 20,
    target_labels: Any = None,
    pos_label: Label | None = None,
    cleaning: Cleaning | None = None,
    C: float = 1.0,
    level: float | None = 0.95,
    seed: int = 0,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> RareCount:
    r"""Count a rare class with ensembles of logistic regressions weighted by accuracy and by vocabulary.

    Each regression has a TF-IDF of its own and is fitted to 80 % of a resampled training set. Its weight for a text is
    its accuracy on the rest times :math:`|F(x) \cap F_i| / |F(x)|`, where F(x) are the text's words that occur in the
    labelled texts and F_i the words of the regression's training set.

    Parameters
    ----------
    machines
        Regressions of an ensemble.
    ensembles
        Number of ensembles, which are averaged.
    texts, labels, target_texts, target_labels, pos_label, cleaning, C, level, seed, jobs, progress
        As for :func:`bootstrap`.

    Returns
    -------
    RareCount
        The calibrated count with its interval, and the scores of all texts.

    Examples
    --------
    >>> import tallymark as tm
    >>> texts = ["buy cheap pills now"] * 20 + ["see you at the meeting"] * 60
    >>> round(tm.rare.ensemble(texts, [1] * 20 + [0] * 60, texts, machines=3, ensembles=2).count.count)
    20
    """
    checked_number(machines, "machines", 2)
    checked_number(ensembles, "ensembles", 1)
    problem = _problem(texts, labels, pos_label, _Settings(cleaning, C, level, seed, jobs, progress))
    training, spawned = problem.training, seeds(seed, machines * ensembles)
    groups = [spawned[start : start + machines] for start in range(0, len(spawned), machines)]
    probability, model = cross_fitted(
        training,
        _folds(training.positive, seed),
        lambda part: MeanEnsemble([weighted_ensemble(part, group) for group in groups]),
    )
    target = _target(problem, target_texts, target_labels, [model])
    details = problem.details(machines=machines, ensembles=ensembles)
    return RareCount(**_fields(problem, _Method("ensemble", _validation(training, probability), details), target))


def _problem(texts: Iterable[str], labels: Any, pos_label: Label | None, settings: _Settings) -> _Problem:
    """The labelled texts as word counts; texts that are too short are left out."""
    cleaning = settings.cleaning or Cleaning()
    if isinstance(texts, str):
        raise InputError("texts is one text, expected a list of them.")
    y = _check.labels(labels, "labels")
    vocabulary, counted = Vocabulary.of(in_blocks(texts), cleaning)
    if len(counted.lengths) != len(y):
        raise InputError(f"There are {len(counted.lengths)} texts and {len(y)} labels; each text needs one.")
    if not len(y):
        raise InputError("There are no labelled texts to learn from.")
    positive, classes = _check.binary_labels(y, pos_label, "labels")
    long = counted.lengths >= cleaning.min_words
    notes = _left_out("labelled", int(np.count_nonzero(~long)), len(y), cleaning)
    positive, counts = positive[long], counted.counts[np.flatnonzero(long)]
    for name, rows in (("positive", int(positive.sum())), ("negative", int(np.count_nonzero(~positive)))):
        if rows < _FOLDS:
            words = f"{cleaning.min_words} word{'s' * (cleaning.min_words > 1)}"
            raise InputError(
                f"There are {rows} {name} texts of at least {words}; learning a rare class needs {_FOLDS} or more of "
                "each class."
            )
    if not counts.nnz:
        raise InputError("No word occurs in enough labelled texts; lower min_df or min_letters of the cleaning.")
    training = Training(counts, positive, float(settings.C), settings.jobs or 1, cleaning.min_df, settings.progress)
    return _Problem(training, vocabulary, cleaning, classes, tuple(notes), settings)


def _left_out(which: str, short: int, n: int, cleaning: Cleaning) -> list[Note]:
    """The note that some texts have too few words."""
    if not short:
        return []
    words = "no word" if cleaning.min_words == 1 else f"fewer than {cleaning.min_words} words"
    end = "; they are not counted" if which == "target" else ""
    letters = cleaning.min_letters
    return [
        Note(
            "TM116", f"{short} of {n} {which} texts have {words} of {letters} or more characters and are left out{end}"
        )
    ]


def _bagged(training: Training, draws: Sequence[Draw], done: tuple[float, float] = (0.0, 100.0)) -> UniformEnsemble:
    """An ensemble with one TF-IDF of all training texts."""
    return UniformEnsemble(training.trained(tf_idf(training.counts, training.idf), draws, done), training.idf)


def _folds(positive: Bools, seed: int) -> Ints:
    """A fold for each text, each class spread evenly."""
    rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
    fold = np.empty(len(positive), dtype=np.int64)
    for rows in (np.flatnonzero(positive), np.flatnonzero(~positive)):
        fold[rng.permutation(rows)] = np.arange(len(rows)) % _FOLDS
    return fold


def _validation(training: Training, probability: Floats) -> Tally:
    """The tally of out-of-sample scores of labelled texts."""
    scored = ~np.isnan(probability)
    return tally_of_arrays(training.positive[scored], probability[scored], pos_label=True)


def _target(
    problem: _Problem, target_texts: Iterable[str], target_labels: Any, ensembles: Sequence[Ensemble]
) -> _Target:
    """Scores of the target by each ensemble, block by block; nan for texts left out."""
    if isinstance(target_texts, str):
        raise InputError("target_texts is one text, expected a list of them.")
    parts: list[Floats] = []
    n, unknown, short = 0, 0, 0
    expected = len(target_texts) if isinstance(target_texts, Sized) else None
    for block in in_blocks(target_texts):
        counted = problem.vocabulary.counted(block)
        scores = np.stack([ensemble.predict(counted.counts) for ensemble in ensembles])
        missing = counted.lengths < problem.cleaning.min_words
        scores[..., missing] = np.nan
        n += len(missing)
        short += int(missing.sum())
        unknown += int(np.count_nonzero((np.diff(counted.counts.indptr) == 0) & ~missing))
        parts.append(scores)
        if expected:
            problem.settings.report(70.0 + 30.0 * min(n / expected, 1.0))
    if n == short:
        raise InputError(
            "There is no target text with a word in it." if n else "There are no target texts to count in."
        )
    if unknown == n - short:
        raise InputError(
            "No target text has a single word that the labelled texts have; are they in the same language?"
        )
    notes = _left_out("target", short, n, problem.cleaning)
    if unknown:
        text = "target texts have no word that the labelled texts have; the machines see them as empty"
        notes.append(Note("TM116", f"{unknown} of {n} {text}"))
    return _Target(np.concatenate(parts, axis=-1), _encoded(problem, target_labels, n), tuple(notes))


def _encoded(problem: _Problem, target_labels: Any, n: int) -> Bools | None:
    """Which target texts are positive, where labels are given."""
    if target_labels is None:
        return None
    y = _check.labels(target_labels, "target_labels")
    if len(y) != n:
        raise InputError(f"There are {n} target texts and {len(y)} target labels; each text needs one.")
    return np.asarray(_check.encode(y, problem.classes, "target_labels") == 1)


def _calibration(
    validation: Tally, scores: Floats, level: float | None, seed: int, choices: int
) -> BayesianCalibration:
    """Bayesian Calibration of a target's scores; without an estimate where labelled texts show no signal.

    Scores that do not rank held-out positives above negatives carry no information on the target, however certain the
    mixture looks. The lower limit of their AUROC must lie above chance, at a level corrected for the best of `choices`.
    """
    area = auroc(validation, level=1.0 - 0.05 / choices)
    separated = area.low > 0.5
    target = tally_of_arrays(None, scores)
    fitted = bayesian_calibration(validation, target, level=level if separated else None, seed=seed)
    if separated or fitted.estimate.reason is not None:
        return fitted
    reason = (
        "the labelled texts do not show that words tell the classes apart: machines that had not seen them reach an "
        f"AUROC of {number(area.value)} ({number(area.low)} to {number(area.high)}), and 0.5 is chance"
    )
    nothing = Prevalence(method=fitted.estimate.method, prevalence=math.nan, n=fitted.estimate.n, reason=reason)
    return replace(fitted, estimate=nothing)


def _fitted(problem: _Problem, method: _Method, target: _Target, place: int, level: float | None) -> dict[str, Any]:
    """The fields of a result: scores by the ensemble at `place`, and the count after calibration."""
    probability, vote = target.scores[place]
    kept = probability[~np.isnan(probability)]
    fitted = _calibration(method.validation, kept, level, problem.settings.seed, method.choices)
    return {
        "method": method.name,
        "scores": probability,
        "votes": vote,
        "validation": method.validation,
        "calibration": fitted,
        "count": fitted.estimate,
        "positive": target.positive,
        "warnings": (*problem.notes, *target.notes, *fitted.estimate.warnings),
        "details": method.details,
    }


def _fields(problem: _Problem, method: _Method, target: _Target, place: int = 0) -> dict[str, Any]:
    """The fields of a result with its interval; notes on the texts are given out, and progress is complete."""
    fields = _fitted(problem, method, target, place, problem.settings.level)
    emit((*problem.notes, *target.notes))
    problem.settings.report(100.0)
    return fields


def _spcc(truth: Bools, scores: Floats) -> float:
    if truth.all() or not truth.any() or np.isnan(scores).any():
        return math.nan
    return _spcc_of(tally_of_arrays(truth, scores, pos_label=True))


def _spcc_of(tally: Tally) -> float:
    """sPCC, nan where all scores are equal."""
    try:
        return METRICS["spcc"].compute(tally)
    except Undefined:
        return math.nan


def split(
    labels: Any, *, positives: int, negatives: int, prevalence: float, pos_label: Label | None = None, seed: int = 0
) -> tuple[Any, Any]:
    """Split labelled rows into a training set with given class sizes and a target at another prevalence.

    Parameters
    ----------
    labels
        The class of each row.
    positives, negatives
        Rows of each class in the training set.
    prevalence
        Share of positives in the target, which is as large as the other rows allow.
    pos_label
        The label of the positive class.
    seed
        Seed of the draw.

    Returns
    -------
    tuple
        Row numbers of the training set, and of the target.

    Examples
    --------
    >>> import tallymark as tm
    >>> train, target = tm.rare.split([1] * 100 + [0] * 900, positives=30, negatives=70, prevalence=0.01)
    >>> len(train), len(target), sum(row < 100 for row in target.tolist())
    (100, 838, 8)
    """
    positive, _ = _check.binary_labels(_check.labels(labels, "labels"), pos_label, "labels")
    share = _check.real(prevalence, "prevalence")
    if not 0.0 <= share <= 1.0:
        raise InputError(f"prevalence is {prevalence!r}, expected a share from 0 to 1.")
    rng = np.random.default_rng(_check.whole(seed, "seed", 0, 2**63 - 1))
    up, down = (rng.permutation(np.flatnonzero(side)) for side in (positive, ~positive))
    for name, wanted, rows in (("positives", positives, up), ("negatives", negatives, down)):
        if not 0 <= checked_number(wanted, name, 1) < len(rows):
            raise InputError(f"{name} is {wanted}, but there are {len(rows)} and some must be left for the target.")
    train = np.sort(np.concatenate((up[:positives], down[:negatives])))
    hits, others = len(up) - positives, len(down) - negatives
    if 0.0 < share < 1.0:
        # The class that runs out first limits the size.
        size = min(hits / share, others / (1.0 - share))
        hits, others = round(size * share), round(size * (1.0 - share))
    else:
        hits, others = (0, others) if share == 0.0 else (hits, 0)
    target = np.sort(np.concatenate((up[positives : positives + hits], down[negatives : negatives + others])))
    return train, target
