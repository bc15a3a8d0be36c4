"""Guards of a quantification problem that have no test elsewhere."""

import numpy as np
import pytest

import tallymark as tm


def test_probabilities_of_a_few_values_are_doubted_where_the_training_prevalence_is_stated():
    rng = np.random.default_rng(31)
    leaves = np.array([0.02, 0.1, 0.2, 0.35, 0.6, 0.8, 0.97])
    p, q = (leaves[rng.integers(7, size=n)] for n in (600, 3_000))
    validation = tm.tally((rng.random(600) < p).astype(int), p)
    options = {"validation": validation, "target": tm.tally(scores=q)}
    with pytest.warns(tm.GuardWarning, match="TM110.*7 different values"):
        tm.quantify.estimate("em", **options, training_prevalence=0.4343)
