"""Maximum likelihood quantifiers: EM, kernel densities, Bayesian Calibration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tallymark._check import Floats, Scores
from tallymark.errors import InputError
from tallymark.metrics.logistic import fit_logistic, log_odds, sigmoid
from tallymark.quantify.kernels.batches import in_parts, squeezed, take, take_lines
from tallymark.quantify.kernels.declare import method
from tallymark.quantify.kernels.densities import FAINT, Binned, Kernels, adaptive_edges
from tallymark.quantify.kernels.joint import CLOSE, CLOSE_ENOUGH, fit_jointly, smoothed, without_residue
from tallymark.quantify.kernels.mixture import contrast, most_likely
from tallymark.quantify.kernels.samples import Samples, Validation
from tallymark.registry import choose


def posterior_densities(scores: Scores, training_prevalence: Floats) -> tuple[Floats, Floats]:
    """Densities of the classes, up to a common factor, that probabilities at a training prevalence imply."""
    s = np.asarray(scores, dtype=np.float64)
    share = training_prevalence[:, None]
    return s / share, (1.0 - s) / (1.0 - share)


def _em_densities(validation: Validation, target: Samples, *, calibration: str | None) -> tuple[Floats, Floats]:
    if calibration is None:
        return posterior_densities(target.scores, validation.training_prevalence)
    features = choose("calibration", calibration, _SCALINGS)
    sides = (validation.negative, validation.positive)
    regressors = features(np.concatenate([side.scores for side in sides]))
    truth = np.repeat([0.0, 1.0], [len(side.scores) for side in sides])
    masses = [_masses(side) for side in sides]
    mass = np.concatenate(masses, axis=1)
    fitted = fit_logistic(regressors, truth, mass)
    probabilities = sigmoid(fitted[:, :-1] @ features(target.scores) + fitted[:, -1:])
    # A fitted bias makes the mean probability of the validation sample its share of positives.
    share = masses[1].sum(axis=1) / mass.sum(axis=1)
    return posterior_densities(probabilities, share)


def _masses(side: Samples) -> Floats:
    return np.ones((1, len(side.scores))) if side.mass is None else side.mass


#: Features of a probability whose logistic regression calibrates it: bias-corrected temperature, vector scaling.
_SCALINGS: dict[str, Callable[[Scores], Floats]] = {
    "bcts": lambda scores: np.stack([sum(log_odds(scores))]),
    "vs": lambda scores: np.stack(log_odds(scores)),
}


@method("em", "Expectation maximisation",
         r"\hat\pi = \arg\max_\pi \prod_i \left(\pi \frac{s_i}{\pi_{train}} + (1-\pi) "
         r"\frac{1-s_i}{1-\pi_{train}}\right)",
         "The prevalence at which calibrated probabilities, moved to it, explain the target best.",
         "Saerens, Latinne & Decaestecker (2002), Neural Comput. 14.", interval="profile", probabilities=True,
         trusts_probabilities=True, aliases=("emq", "sld"), densities=_em_densities, options={"calibration": None},
         resampled_with=("calibration",), uses_training_prevalence=True, fitted_with={"calibration": "bcts"},
         precedence=5)  # fmt: skip
def _em(validation: Validation, target: Samples, *, calibration: str | None) -> Floats:
    up, down = _em_densities(validation, target, calibration=calibration)
    return _most_likely(up, down, target)


#: Rows of one sample from which a first guess is made with some of them.
_MANY, _SOME = 2**20, 2**16


def _most_likely(up: Floats, down: Floats, target: Samples) -> Floats:
    """Best share of every sample, a few samples at a time."""
    lines = max(len(up), len(target))
    width = len(target.scores) if target.index is None else target.index.shape[1]
    gap, base = contrast(up, down)
    if lines == 1 and target.index is None and width > _MANY:
        # Every hundredth row or so says nearly where the best share is; Newton then needs a step or two with all of
        # them.
        some_rows = slice(None, None, width // _SOME)
        mass = target.mass
        near = most_likely(gap[:, some_rows], base[:, some_rows], None if mass is None else mass[:, some_rows])
        start = float(np.clip(np.nan_to_num(near, nan=0.5), 1e-6, 1.0 - 1e-6)[0])
        return most_likely(gap, base, mass, start)

    def best(part: slice) -> Floats:
        (own_gap, own_base), mass = take(target, part).gathered(
            squeezed(take_lines(gap, part)), squeezed(take_lines(base, part))
        )
        return most_likely(own_gap, own_base, mass)

    return in_parts(best, lines, width)


def _kde_densities(validation: Validation, target: Samples, *, bandwidth: float = 0.1) -> tuple[Floats, Floats]:
    up, down = Kernels.on_simplex(validation, bandwidth).at(target.scores)
    return up + FAINT, down + FAINT


@method("kde", "KDE maximum likelihood", r"\hat\pi = \arg\max_\pi \prod_i (\pi \hat f^+(s_i) + (1-\pi) \hat f^-(s_i))",
         "The most likely mixture of Gaussian kernel densities of the classes' probabilities.",
         "Moreo, González & del Coz (2025), Mach. Learn. 114.", probabilities=True,
         aliases=("kde_ml", "kdey"), densities=_kde_densities, options={"bandwidth": 0.1}, precedence=6)  # fmt: skip
def _kde(validation: Validation, target: Samples, *, bandwidth: float) -> Floats:
    if len(validation.positive) == 1:
        return _most_likely(*_kde_densities(validation, target, bandwidth=bandwidth), target)

    def best(part: slice) -> Floats:
        samples = take(target, part)
        drawn = replace(validation, negative=take(validation.negative, part), positive=take(validation.positive, part))
        return _most_likely(*_kde_densities(drawn, samples, bandwidth=bandwidth), samples)

    return in_parts(best, len(validation.positive), len(target.scores))


def bayes_densities(
    validation: Validation,
    target: Samples,
    *,
    density: str = "bins",
    bins: int | None = None,
    bandwidth: float | None = None,
) -> tuple[Floats, Floats]:
    """Densities of both classes at the target's scores, the way Bayesian Calibration was asked to estimate them."""
    _refuse_other(density, bins, bandwidth)
    if density == "kde":
        up, down = Kernels.on_line(validation, bandwidth).at(target.scores)
        return up + FAINT, down + FAINT
    if density != "bins":
        raise InputError(f"density={density!r} is not known; choose 'bins' or 'kde'.")
    edges = adaptive_edges(validation, bins)
    fitted = fit_jointly(*joint_cells(validation, target, edges)).shares
    return Binned(edges, fitted[:, 0], fitted[:, 1]).at(target.scores)


def _refuse_other(density: str, bins: int | None, bandwidth: float | None) -> None:
    """Refuse the option of the other kind of density."""
    if density == "bins" and bandwidth is not None:
        raise InputError(f"bandwidth={bandwidth!r} goes with density='kde'; bins have none.")
    if density == "kde" and bins is not None:
        raise InputError(f"bins={bins!r} goes with density='bins'; kernels have a bandwidth.")


def joint_cells(validation: Validation, target: Samples, edges: Scores) -> tuple[Floats, Floats]:
    """Rows of both classes (lines, classes, cells), smoothed, and of the target (lines, cells); effective ones with
    weights.
    """
    down, up = np.broadcast_arrays(
        *(side.within(edges) * side.rows for side in (validation.negative, validation.positive))
    )
    return smoothed(np.stack((down, up), axis=1)), target.within(edges) * target.rows


@method("bayes", "Bayesian Calibration",
         r"\hat\pi = \arg\max_\pi \max_{f^+, f^-} \prod_i (\pi f^+(s_i) + (1-\pi) f^-(s_i)) \prod_{j} f^{y_j}(s_j)",
         "The most likely mixture of the classes' score densities, which labelled rows and target fit together; for "
         "any scores; gives calibrated posteriors too.",
         "Puts & Daas (2021), arXiv:2102.08659.", aliases=("bayesian_calibration",), interval="profile",
         densities=bayes_densities, options={"density": "bins", "bins": None, "bandwidth": None},
         resampled_with=("density",), precedence=1)  # fmt: skip
def _bayes(
    validation: Validation, target: Samples, *, density: str, bins: int | None, bandwidth: float | None
) -> Floats:
    _refuse_other(density, bins, bandwidth)
    if density != "bins":
        return _most_likely(*bayes_densities(validation, target, density=density, bandwidth=bandwidth), target)
    edges = adaptive_edges(validation, bins)
    labelled, observed = joint_cells(validation, target, edges)
    lines = max(len(labelled), len(observed))
    if not np.any(np.abs(np.diff(labelled / labelled.sum(axis=2, keepdims=True), axis=1)) > _SAME):
        return np.full(lines, np.nan)

    # Resamples scatter by far more than the last digits of each.
    close = CLOSE if len(validation.positive) == 1 else CLOSE_ENOUGH

    def best(part: slice) -> Floats:
        fitted = fit_jointly(take_lines(labelled, part), take_lines(observed, part), close=close)
        return without_residue(fitted.prevalences, target.rows)[:, 1]

    return in_parts(best, lines, 4 * labelled.shape[2])


#: Classes whose shares differ by less than this in every cell cannot be told apart.
_SAME = 1e-12
