"""Input of multiclass quantification: labelled and unlabelled rows with a score for each class."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tallymark._check import Floats, Ints, Label
from tallymark.errors import InputError, shown
from tallymark.inference.interval import Seed
from tallymark.inference.resampling.parallel import seeds
from tallymark.summaries.class_panel import ClassPanel

#: Intervals of methods that compare every two rows are computed on at most so many rows of each side.
_MOST_ROWS = 3_000


@dataclass(frozen=True, eq=False)
class ClassRows:
    """Codes and scores of the validation rows, scores of the target rows, and the share of each class in training."""

    labels: tuple[Label, ...]
    codes: Ints
    validation_scores: Floats
    target_scores: Floats
    training: Floats
    weight: Floats

    @classmethod
    def of(cls, validation: ClassPanel, target: ClassPanel, training: object) -> ClassRows:
        """From two panels of the same classes, the first with labels; `training` are the classes'
        shares in training.
        """
        if validation.codes is None:
            raise InputError("validation has no labels; make it with tm.class_panel(y, scores, classes=…).")
        if target.labels != validation.labels:
            raise InputError(
                f"validation has scores for {shown(validation.labels)}, the target for {shown(target.labels)}; give "
                "both the same classes=."
            )
        names, codes, weight = validation.labels, validation.codes, validation.mass.astype(np.float64)
        counts = np.bincount(codes, weight, minlength=len(names)).astype(np.float64)
        if not counts.all():
            missing = [names[i] for i in np.flatnonzero(counts == 0)]
            raise InputError(f"validation has no row of class {shown(missing)}; error rates need rows of every class.")
        if not target.n:
            raise InputError("The target has no rows.")
        if target.weights is not None or target.counts is not None:
            raise InputError(
                "The target of more than two classes is counted row by row; leave its counts and weights out."
            )
        share = counts / counts.sum() if training is None else np.asarray(training, dtype=np.float64)
        if share.shape != counts.shape or (share <= 0).any() or abs(share.sum() - 1.0) > 1e-6:
            raise InputError(
                f"training_prevalence is {training!r}, expected a share above 0 for each of {shown(names)}, adding up "
                "to 1."
            )
        counted = weight > 0.0
        return cls(names, codes[counted], validation.scores[counted], target.scores, share, weight[counted])

    @property
    def n(self) -> int:
        """Labelled rows."""
        return len(self.codes)

    @property
    def m(self) -> int:
        """Rows to count."""
        return len(self.target_scores)

    @property
    def k(self) -> int:
        """Classes."""
        return len(self.labels)

    @cached_property
    def members(self) -> list[Ints]:
        """The labelled rows of each class."""
        return [np.flatnonzero(self.codes == c) for c in range(self.k)]

    def thinned(self, seed: Seed) -> ClassRows:
        """At most some thousand rows of each side, the rarest class first kept."""
        if max(self.n, self.m) <= _MOST_ROWS:
            return self
        rng = np.random.default_rng(seeds(seed, 1)[0])
        share = min(1.0, _MOST_ROWS / self.n)
        kept = np.sort(
            np.concatenate(
                [
                    rng.choice(
                        rows, max(2, math.ceil(share * len(rows))) if len(rows) > 2 else len(rows), replace=False
                    )
                    for rows in self.members
                ]
            )
        )
        targets = rng.choice(self.m, min(self.m, _MOST_ROWS), replace=False)
        return replace(
            self,
            codes=self.codes[kept],
            validation_scores=self.validation_scores[kept],
            target_scores=self.target_scores[targets],
            weight=self.weight[kept],
        )

    def require_probabilities(self, name: str) -> None:
        """Refuse scores that are no distribution over the classes."""
        for side in (self.validation_scores, self.target_scores):
            if side.min() < 0.0 or np.abs(side.sum(axis=1) - 1.0).max() > 1e-4:
                raise InputError(f"{name} needs probabilities: scores of each row between 0 and 1 that add up to 1.")


def shares_by_class(both: ClassRows, features: Floats, weights: Floats) -> Floats:
    """Weighted mean of each feature in each class: (resamples, features, classes)."""
    columns = []
    for rows in both.members:
        of_class = weights[:, rows]
        columns.append(np.einsum("bn,nf->bf", of_class, features[rows]) / of_class.sum(axis=1, keepdims=True))
    return np.stack(columns, axis=2)
