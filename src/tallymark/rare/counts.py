"""From raw texts to a count of a rare class: class weights, bootstrapped machines, ensembles of experts (Gubbels 2021, ch. 2)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence, Sized
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Bools, Floats, Label
from tallymark._numbers import number
from tallymark.errors import InputError, Undefined, shown
from tallymark.inference.hypothesis_tests.delong import auroc
from tallymark.inference.interval import checked_number
from tallymark.inference.resampling.parallel import seeds
from tallymark.notes import Note, emit
from tallymark.quantify.estimation.bayesian_calibration import BayesianCalibration, bayesian_calibration
from tallymark.quantify.estimation.prevalence import Prevalence
from tallymark.rare.ensembles import (
    Committee,
    Peers,
    Progress,
    Training,
    bootstrap_draws,
    cross_fitted,
    experts,
    negatives_for,
    weighted_draws,
)
from tallymark.rare.results import ClassWeightSweep, RareCount
from tallymark.rare.words import Cleaning, Counted, Vocabulary, in_blocks, tf_idf
from tallymark.registry import METRICS
from tallymark.sources.constructors import tally_of_arrays
from tallymark.summaries.tally import Tally

#: Twenty weights from 10^0.1 to 10^2.
WEIGHTS = tuple(10.0 ** (step / 10.0) for step in range(1, 21))

#: Folds of labelled texts for scores of machines that have not seen them.
_FOLDS = 5

#: Fewer rows of a class cannot be put into folds.
_FEWEST = _FOLDS


@dataclass(frozen=True)
class _Problem:
    """Labelled texts ready for training, the vocabulary they gave, and the settings that all ways to count share."""

    training: Training
    vocabulary: Vocabulary
    cleaning: Cleaning
    #: The negative and the positive label.
    classes: tuple[Label, Label]
    notes: tuple[Note, ...]
    level: float | None
    seed: int
    progress: Progress | None


def class_weight_sweep(
    texts: Iterable[str], labels: Any, target_texts: Iterable[str], *, weights: Sequence[float] = WEIGHTS, replicates: int = 10,
    target_labels: Any = None, pos_label: Label | None = None, cleaning: Cleaning | None = None, C: float = 1.0,
    level: float | None = 0.95, seed: int = 0, jobs: int | None = None, progress: Progress | None = None,
) -> ClassWeightSweep:  # fmt: skip
    """Count with logistic machines whose positives weigh more; the weight is chosen on labelled texts, never on the target.

    Each weight trains `replicates` machines on redrawn training sets (30 % positives) and is judged by the sPCC of labelled texts in
    folds that its machines have not seen; target texts are asked of the machines of each fold in turns. Returns a :class:`ClassWeightSweep`; arguments as for :func:`bootstrap`.

    >>> import tallymark as tm
    >>> texts = ["buy cheap pills now"] * 20 + ["see you at the meeting"] * 60
    >>> round(tm.rare.class_weight_sweep(texts, [1] * 20 + [0] * 60, texts, weights=[1, 10], replicates=2).count.count)
    20
    """
    listed = [_check.real(weight, "weights") for weight in _check.several(weights, "weights")]
    if not listed or min(listed) <= 0.0:
        raise InputError(f"weights are {shown(weights)}, expected one or more numbers above 0.")
    checked_number(replicates, "replicates", 1)
    problem = _problem(texts, labels, pos_label, cleaning, C, level, seed, jobs, progress)
    training, spawned = problem.training, seeds(problem.seed, replicates)
    folds = _folds(training.positive, problem.seed)

    def made(weight: float) -> Callable[[Training], Peers]:
        return lambda part: _peers(part, weighted_draws(part.positive, weight, spawned))

    validations, committees = [], []
    for place, weight in enumerate(listed):
        probability, committee = cross_fitted(training, folds, made(weight))
        validations.append(_validation(training, probability))
        committees.append(committee)
        if progress is not None:
            progress(70.0 * (place + 1) / len(listed))
    reached = [_spcc_of(validation) for validation in validations]
    best = int(np.nanargmax(reached)) if np.isfinite(reached).any() else 0

    def asked(counted: Counted) -> Floats:
        return np.stack([committee.asked(counted.counts) for committee in committees])

    told, notes = _told(problem, target_texts, asked)
    truth = _truth(problem, target_labels, told.shape[-1])
    sweep = []
    for weight, validation, spcc, (probability, _) in zip(listed, validations, reached, told, strict=True):
        kept = probability[~np.isnan(probability)]
        fitted = _calibration(validation, kept, None, problem.seed, len(listed))
        row: dict[str, Any] = {"weight": weight, "spcc_labelled": spcc, "uncalibrated": float(kept.sum())}
        row["calibrated"] = fitted.estimate.count
        if truth is not None:
            own = truth[~np.isnan(probability)]
            row |= {"bias": (fitted.estimate.count - int(own.sum())) / len(own)}
            row |= {"spcc": _spcc(own, fitted.posterior(kept))}
        sweep.append(row)
    details = {"machines": replicates, "labelled": len(training.positive), "words": problem.vocabulary.size}
    parts = _parts(problem, "class_weight_sweep", validations[best], told[best], truth, notes, details, len(listed))
    return ClassWeightSweep(**parts, weight=listed[best], sweep=sweep)


def bootstrap(
    texts: Iterable[str], labels: Any, target_texts: Iterable[str], *, machines: int = 1000, negatives: int | None = None,
    target_labels: Any = None, pos_label: Label | None = None, cleaning: Cleaning | None = None, C: float = 1.0,
    level: float | None = 0.95, seed: int = 0, jobs: int | None = None, progress: Progress | None = None,
) -> RareCount:  # fmt: skip
    """Count with many logistic machines, each on positives drawn with replacement and negatives drawn without.

    `texts` and `labels` are what is known; `target_texts` what is to be counted, which may be any iterable, as long as memory
    pleases (:func:`tallymark.rare.texts_in` reads files in blocks). A machine sees `negatives` texts of the negative class, by
    default 70 for 30 positives. Scores of labelled texts come from the machines that were not trained on them. `target_labels`, where
    they are known, fill the table; nothing is fitted to them. `C` is the machines' (as scikit-learn's), `cleaning` says
    what a word is, `progress` is called with the percentage done.

    >>> import tallymark as tm
    >>> texts = ["buy cheap pills now"] * 20 + ["see you at the meeting"] * 60
    >>> round(tm.rare.bootstrap(texts, [1] * 20 + [0] * 60, texts, machines=10).count.count)
    20
    """
    checked_number(machines, "machines", 1)
    problem = _problem(texts, labels, pos_label, cleaning, C, level, seed, jobs, progress)
    training = problem.training
    available = int(np.count_nonzero(~training.positive))
    # Some negatives must stay unseen, or none could say how negatives score.
    most = max(int(0.9 * available), 1)
    if negatives is None:
        negatives = min(negatives_for(int(training.positive.sum()), available), most)
    elif not 1 <= checked_number(negatives, "negatives", 1) <= most:
        raise InputError(f"negatives is {negatives}, but of the {available} there are at most {most} may be drawn.")
    draws = bootstrap_draws(training.positive, negatives, seeds(problem.seed, machines))
    committee = _peers(training, draws, (0.0, 50.0))
    probability, _ = committee.out_of_bag(training, draws)
    validation = _validation(training, probability)
    told, notes = _told(problem, target_texts, lambda counted: np.stack([committee.asked(counted.counts)]))
    truth = _truth(problem, target_labels, told.shape[-1])
    details = {
        "machines": machines,
        "negatives": negatives,
        "labelled": len(training.positive),
        "words": problem.vocabulary.size,
    }
    return RareCount(**_parts(problem, "bootstrap", validation, told[0], truth, notes, details))


def ensemble(
    texts: Iterable[str], labels: Any, target_texts: Iterable[str], *, machines: int = 10, ensembles: int = 20,
    target_labels: Any = None, pos_label: Label | None = None, cleaning: Cleaning | None = None, C: float = 1.0,
    level: float | None = 0.95, seed: int = 0, jobs: int | None = None, progress: Progress | None = None,
) -> RareCount:  # fmt: skip
    r"""Count with `ensembles` of machines that are heard by their accuracy and by how many of a text's words they know.

    Each machine has a TF-IDF of its own and learns from 80 % of a redrawn training set, and votes with its accuracy on the rest
    times :math:`|F(x) \cap F_i| / |F(x)|`, F(x) being the text's known words and F_i the machine's. Arguments as for :func:`bootstrap`.

    >>> import tallymark as tm
    >>> texts = ["buy cheap pills now"] * 20 + ["see you at the meeting"] * 60
    >>> round(tm.rare.ensemble(texts, [1] * 20 + [0] * 60, texts, machines=3, ensembles=2).count.count)
    20
    """
    checked_number(machines, "machines", 2)
    checked_number(ensembles, "ensembles", 1)
    problem = _problem(texts, labels, pos_label, cleaning, C, level, seed, jobs, progress)
    training, spawned = problem.training, seeds(problem.seed, machines * ensembles)
    groups = [spawned[start : start + machines] for start in range(0, len(spawned), machines)]

    def made(part: Training) -> Committee:
        return _Councils([experts(part, group) for group in groups])

    probability, committee = cross_fitted(training, _folds(training.positive, problem.seed), made)
    validation = _validation(training, probability)
    told, notes = _told(problem, target_texts, lambda counted: np.stack([committee.asked(counted.counts)]))
    truth = _truth(problem, target_labels, told.shape[-1])
    details = {
        "machines": machines,
        "ensembles": ensembles,
        "labelled": len(training.positive),
        "words": problem.vocabulary.size,
    }
    return RareCount(**_parts(problem, "ensemble", validation, told[0], truth, notes, details))


@dataclass(frozen=True)
class _Councils(Committee):
    """Several committees with equal say."""

    committees: Sequence[Committee]

    def asked(self, counts: Any) -> tuple[Floats, Floats]:
        answers = np.stack([committee.asked(counts) for committee in self.committees])
        probability, vote = answers.mean(axis=0)
        return probability, vote


def _problem(
    texts: Iterable[str], labels: Any, pos_label: Label | None, cleaning: Cleaning | None, C: float, level: float | None,
    seed: int, jobs: int | None, progress: Progress | None,
) -> _Problem:  # fmt: skip
    _check.callback(progress)
    if jobs is not None:
        _check.whole(jobs, "jobs", 1)
    if cleaning is not None and not isinstance(cleaning, Cleaning):
        raise InputError(f"cleaning is {cleaning!r}, expected a tm.rare.Cleaning.")
    cleaning = cleaning or Cleaning()
    if not _check.real(C, "C") > 0.0:
        raise InputError(f"C is {C!r}, expected a number above 0.")
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
        if rows < _FEWEST:
            raise InputError(
                f"There are {rows} {name} texts of at least {cleaning.min_words} word{'s' * (cleaning.min_words > 1)}; learning a rare "
                f"class needs {_FEWEST} or more of each class."
            )
    if not counts.nnz:
        raise InputError("No word occurs in enough labelled texts; lower min_df or min_letters of the cleaning.")
    return _Problem(
        Training(counts, positive, float(C), jobs or 1, cleaning.min_df, progress), vocabulary, cleaning, classes, tuple(notes), level, seed, progress
    )  # fmt: skip


def _left_out(which: str, short: int, n: int, cleaning: Cleaning) -> list[Note]:
    if not short:
        return []
    words = "no word" if cleaning.min_words == 1 else f"fewer than {cleaning.min_words} words"
    return [
        Note("TM116", f"{short} of {n} {which} texts have {words} of {cleaning.min_letters} or more characters and are left out"
             + ("; they are not counted" if which == "target" else ""))
    ]  # fmt: skip


def _peers(training: Training, draws: Any, done: tuple[float, float] = (0.0, 100.0)) -> Peers:
    """A committee with one TF-IDF of all its training texts."""
    return Peers(training.trained(tf_idf(training.counts, training.idf), draws, done), training.idf)


def _folds(positive: Bools, seed: int) -> Any:
    rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
    fold = np.empty(len(positive), dtype=np.int64)
    for rows in (np.flatnonzero(positive), np.flatnonzero(~positive)):
        fold[rng.permutation(rows)] = np.arange(len(rows)) % _FOLDS
    return fold


def _validation(training: Training, probability: Floats) -> Tally:
    """Scores of labelled texts by machines that had not seen them."""
    known = ~np.isnan(probability)
    return tally_of_arrays(training.positive[known], probability[known], pos_label=True)


def _told(
    problem: _Problem, target_texts: Iterable[str], asked: Callable[[Counted], Floats]
) -> tuple[Floats, tuple[Note, ...]]:
    """What committees say of the target, block by block: (committee, probability | vote, text), nan for texts left out."""
    if isinstance(target_texts, str):
        raise InputError("target_texts is one text, expected a list of them.")
    parts, unknown, short = [], 0, 0
    expected = len(target_texts) if isinstance(target_texts, Sized) else None
    for block in in_blocks(target_texts):
        counted = problem.vocabulary.counted(block)
        answers = asked(counted)
        missing = counted.lengths < problem.cleaning.min_words
        answers[..., missing] = np.nan
        short += int(missing.sum())
        unknown += int(np.count_nonzero((np.diff(counted.counts.indptr) == 0) & ~missing))
        parts.append(answers)
        if problem.progress is not None and expected:
            problem.progress(70.0 + 30.0 * min(sum(part.shape[-1] for part in parts) / expected, 1.0))
    n = sum(part.shape[-1] for part in parts)
    if n == short:
        raise InputError(
            "There is no target text with a word in it." if n else "There are no target texts to count in."
        )
    notes = _left_out("target", short, n, problem.cleaning)
    if unknown:
        notes.append(
            Note("TM116", f"{unknown} of {n} target texts have no word that the labelled texts have; the machines see them as empty")
        )  # fmt: skip
    if unknown == n - short:
        raise InputError(
            "No target text has a single word that the labelled texts have; are they in the same language?"
        )
    return np.concatenate(parts, axis=-1), tuple(notes)


def _truth(problem: _Problem, target_labels: Any, n: int) -> Bools | None:
    """Which target texts are positive, where somebody knows."""
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

    Scores that do not rank unseen positives above negatives say nothing of the target, however sure the mixture looks. The test is
    that the lower limit of their AUROC lies above chance, at a level that allows for the best of so many `choices`.
    """
    area = auroc(validation, level=1.0 - 0.05 / choices)
    told = area.low > 0.5
    fitted = bayesian_calibration(validation, tally_of_arrays(None, scores), level=level if told else None, seed=seed)
    if told or fitted.estimate.reason is not None:
        return fitted
    reason = (
        f"the labelled texts do not show that words tell the classes apart: machines that had not seen them reach an AUROC of "
        f"{number(area.value)} ({number(area.low)} to {number(area.high)}), and 0.5 is chance"
    )
    nothing = Prevalence(method=fitted.estimate.method, prevalence=math.nan, n=fitted.estimate.n, reason=reason)
    return replace(fitted, estimate=nothing)


def _parts(
    problem: _Problem, method: str, validation: Tally, told: Floats, truth: Bools | None, notes: tuple[Note, ...],
    details: dict[str, Any], choices: int = 1,
) -> dict[str, Any]:  # fmt: skip
    """What a result is made of: the scores, and the count that they give after calibration."""
    probability, vote = told
    kept = probability[~np.isnan(probability)]
    fitted = _calibration(validation, kept, problem.level, problem.seed, choices)
    own = (*problem.notes, *notes)
    emit(own)
    if problem.progress is not None:
        problem.progress(100.0)
    return {
        "method": method, "scores": probability, "votes": vote, "validation": validation, "calibration": fitted,
        "count": fitted.estimate, "positive": truth, "warnings": (*own, *fitted.estimate.warnings), "details": details,
    }  # fmt: skip


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
    """Row numbers of a training set with so many of each class, and of a target at another `prevalence` from the other rows.

    The target is as large as the rows that are left allow.

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
        # Whichever class runs out first decides the size.
        size = min(hits / share, others / (1.0 - share))
        hits, others = round(size * share), round(size * (1.0 - share))
    else:
        hits, others = (0, others) if share == 0.0 else (hits, 0)
    target = np.sort(np.concatenate((up[positives : positives + hits], down[negatives : negatives + others])))
    return train, target
