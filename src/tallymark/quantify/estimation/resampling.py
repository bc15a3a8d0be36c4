"""Bootstrap of prevalence estimates: rows of the validation sample, by class, and of the target.

Resampling the target alone takes the error rates as known and covers far too little. And where a class has, say, no row
above a threshold, its resamples have none either; so each resampled class also gets about one row of the other class,
and the target about one of each, as Laplace would give it. Without that row the intervals of rare classes cover 82 to
94 % instead of 93 to 96.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tallymark._check import Floats
from tallymark.inference.interval import Seed
from tallymark.inference.resampling.cluster_draws import ClusterDraws
from tallymark.inference.resampling.parallel import in_threads, seeds
from tallymark.inference.resampling.strata import Stratum, strata_of
from tallymark.quantify.kernels.samples import Samples, Validation, score_range
from tallymark.summaries.tally import Tally

#: Cells a sample is put into before it is resampled; smaller samples keep every score.
_CELLS = 2**12

#: Resamples drawn with one seed.
_BLOCK = 50


def resampled(
    kernel: Callable[[Validation, Samples], Floats],
    validation: Tally,
    targets: Sequence[Tally],
    training_prevalence: float,
    replicates: int,
    seed: Seed,
    *,
    edges: Sequence[float] = (),
    sides: str = "both",
    jobs: int | None = None,
) -> Floats:
    """What a kernel gives for each target (first axis) in every resample (last axis).

    All targets see the same resampled validation sample.

    `sides` may be ``"validation"`` to leave the targets as they are.
    """
    classes = strata_of(validation.runs, _CELLS, edges)
    strata = [strata_of(target.runs, _CELLS, edges)[0] for target in targets]
    of_validation, of_targets = ClusterDraws([validation]), ClusterDraws(targets)
    ends = score_range(validation, *targets)
    share = np.array([training_prevalence])

    def block(seed_of_block: Any) -> Floats:
        rng = np.random.default_rng(seed_of_block)
        times = of_validation.multiplicities(rng, _BLOCK)
        down, up = (
            _drawn(stratum, [other], rng, of_validation.masses(validation, side, stratum, times))
            for side, (stratum, other) in enumerate((classes, classes[::-1]))
        )
        drawn = Validation(down, up, training_prevalence=share, range=ends)
        times = of_targets.multiplicities(rng, _BLOCK)
        return np.stack(
            [
                _estimates(kernel, drawn, stratum, classes, rng, sides, of_targets.masses(target, 0, stratum, times))
                for target, stratum in zip(targets, strata, strict=True)
            ]
        )

    blocks = -(-replicates // _BLOCK)
    return np.concatenate(in_threads(block, seeds(seed, blocks), jobs), axis=-1)[..., :replicates]


def _drawn(
    stratum: Stratum, others: Sequence[Stratum], rng: np.random.Generator, clustered: Floats | None = None
) -> Samples:
    """Resamples of some rows (of whole clusters, where they are `clustered`), each with about one row of each of the
    others.
    """
    weight = stratum.mass.sum() / stratum.n
    parts = [stratum.draw(rng, _BLOCK) if clustered is None else clustered]
    for other in others:
        strangers = rng.multinomial(rng.poisson(1.0, _BLOCK), other.rows / other.n)
        parts.append(strangers * weight)
    scores = np.concatenate((stratum.scores, *(other.scores for other in others)))
    order = np.argsort(scores, kind="stable")
    mass = np.concatenate(parts, axis=1)[:, order]
    size = float(stratum.mass.sum() ** 2 / stratum.squares.sum())
    return Samples(scores[order], mass=mass.astype(np.float64, copy=False), effective_size=size)


def _estimates(
    kernel: Callable[[Validation, Samples], Floats],
    drawn: Validation,
    stratum: Stratum,
    classes: Sequence[Stratum],
    rng: np.random.Generator,
    sides: str,
    clustered: Floats | None = None,
) -> Floats:
    if sides == "both":
        samples = _drawn(stratum, classes, rng, clustered)
    else:
        samples = Samples.of_stratum(stratum, np.broadcast_to(stratum.mass, (_BLOCK, len(stratum.mass))))
    values = kernel(drawn, samples)
    return np.broadcast_to(values, (*values.shape[:-1], _BLOCK))
