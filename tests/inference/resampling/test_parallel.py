"""Threads: what the machine has, bounded, and the same results for any number of them."""

import os

import numpy as np
import pytest

import tallymark as tm
from tallymark.inference.resampling.parallel import in_threads, seeds
from tallymark.summaries import sorting


@pytest.mark.parametrize(("cores", "threads"), [(None, 1), (1, 1), (3, 3), (64, 8)])
def test_threads_follow_the_machine_up_to_8(monkeypatch, cores, threads):
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert sorting.machine_threads() == threads


@pytest.mark.parametrize("cores", [1, 2, 16])
def test_results_do_not_depend_on_the_machine(monkeypatch, cores):
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.4
    tally = tm.tally(y, rng.normal(y * 1.0))
    wanted = tm.intervals.bootstrap(tally, ["auroc", "spcc"], replicates=200, jobs=1)
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    again = tm.intervals.bootstrap(tally, ["auroc", "spcc"], replicates=200)
    assert all((again[name] == wanted[name]).all() for name in wanted)


def test_results_come_in_order_and_seeds_are_different():
    assert in_threads(lambda x: x * x, range(20), 7) == [x * x for x in range(20)]
    assert len({np.random.default_rng(seed).random() for seed in seeds(0, 50)}) == 50
