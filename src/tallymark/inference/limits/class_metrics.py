"""Dirichlet intervals of metrics of a K-class confusion matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tallymark.inference.interval import Sampling, Seed
from tallymark.inference.limits.cell_metrics import Limits
from tallymark.inference.limits.proportions import unsure_by
from tallymark.inference.resampling.parallel import Resampling
from tallymark.metrics.margins import Margins, class_values
from tallymark.summaries.confusion import Confusion

#: Resamples of a K-class matrix, and cells drawn at a time.
_DRAWS, _BLOCK = 1_000, 2**21

#: Cells of a matrix from which draws are in single precision, which takes half the time.
_MANY_CELLS = 2_500

#: A metric of a K-class matrix and how it is averaged over the classes (None: as it stands).
Averaged = tuple[str, str | None]


def class_limits(
    confusion: Confusion,
    metrics: Mapping[str, Averaged],
    level: float,
    sampling: Sampling = "plain",
    seed: Seed = 0,
    jobs: int | None = None,
    classes: Sequence[int] | None = None,
) -> dict[str, Limits]:
    """Limits of metrics of a K-class matrix: the predictions of each true class drawn from a Dirichlet posterior.

    A class of n rows is drawn as if it had n - 2, which gives its shares the variance of a sample; one pseudo-row in
    all is spread over the K × K cells, so that no share is exactly 0 and small classes are hardly pulled towards
    uniform predictions. `plain` draws the class sizes too. Averages are over the `classes` at these places.
    """
    if not metrics:
        return {}
    blocks = _drawn(confusion, sampling, seed, jobs)
    tail = (1.0 - level) / 2
    entries = {}
    for name, (metric, average) in metrics.items():
        values = np.concatenate([class_values(margins, metric, average, classes) for margins in blocks])
        if not np.isnan(values).all():
            low, high = np.nanquantile(values, [tail, 1.0 - tail])
            entries[name] = (float(low), float(high), "dirichlet")
    return entries


def _drawn(confusion: Confusion, sampling: Sampling, seed: Seed, jobs: int | None) -> list[Margins]:
    """Margins of drawn matrices, in blocks."""
    matrix = confusion.matrix.astype(np.float64)
    k = len(confusion.labels)
    if confusion.squares is not None and confusion.rows_per_cell is not None:
        totals, squares = matrix.sum(axis=1, keepdims=True), confusion.squares.sum(axis=1, keepdims=True)
        effective = totals * np.divide(totals, squares, out=np.zeros_like(totals), where=squares > 0)
        unsure = unsure_by(confusion.rows_per_cell.sum(axis=1, keepdims=True).astype(np.float64), effective)
        matrix = matrix * np.divide(effective, unsure * totals, out=np.zeros_like(totals), where=totals > 0)
    rows = matrix.sum(axis=1, keepdims=True)
    matrix = matrix * np.divide(np.maximum(rows - 2.0, 0.5), rows, out=np.zeros_like(rows), where=rows > 0)
    truth = confusion.truth.astype(np.float64)
    effective = rows[:, 0]
    digits = np.dtype(np.float32 if k**2 > _MANY_CELLS else np.float64)

    def block(times: int, entropy: np.random.SeedSequence) -> Margins:
        rng = np.random.default_rng(entropy)
        shares: Any = rng.standard_gamma((matrix + 1.0 / k**2).astype(digits), (times, k, k), dtype=digits)  # type: ignore[arg-type]
        totals = shares.sum(axis=2, keepdims=True)
        shares /= np.where(totals > 0, totals, 1.0)
        if sampling == "stratified":
            shares *= truth[:, None].astype(digits)
        else:
            drawn = rng.standard_gamma(effective + 1.0 / k, (times, k))
            # In units of each class's weight.
            drawn *= np.divide(truth, effective, out=np.zeros_like(truth), where=effective > 0)
            shares *= (drawn * (truth.sum() / drawn.sum(axis=1, keepdims=True)))[:, :, None].astype(digits)
        return Margins.of(shares)

    return Resampling(_DRAWS, seed, jobs).blocks(block, max(1, min(_DRAWS, _BLOCK // k**2)))
