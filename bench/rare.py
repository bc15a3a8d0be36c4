"""Rare events in text at the scale of a national register: generated texts, 0.23 % of them positive."""

import sys
import time

import numpy as np

import tallymark as tm
from bench.report import at_most
from bench.timing import memory_bytes

#: Words of the language (Zipf), words of the topic, words of a text, share of topical words in a positive text.
_WORDS, _TOPIC, _LENGTH, _TOPICAL = 100_000, 600, 60, 0.1


class Texts:
    """Texts made anew at each walk, block by block, so that they never stand in memory together."""

    def __init__(self, positive, seed):
        self.positive, self.seed = positive, seed
        slots = 1.0 / (np.arange(_WORDS) + 10.0) ** 1.05
        self.table = np.searchsorted(np.cumsum(slots) / slots.sum(), (np.arange(2**22) + 0.5) / 2**22)
        self.names = np.array([f"w{number:06d}" for number in range(_WORDS)], dtype=object)

    def __len__(self):
        return len(self.positive)

    def __iter__(self):
        for start in range(0, len(self.positive), 10_000):
            rng = np.random.default_rng([self.seed, start])
            own = self.positive[start : start + 10_000]
            lengths = np.maximum(rng.poisson(_LENGTH, len(own)), 1)
            words = self.table[rng.integers(2**22, size=lengths.sum())]
            topical = np.repeat(own, lengths) & (rng.random(len(words)) < _TOPICAL)
            words[topical] = rng.integers(5_000, 5_000 + _TOPIC, int(topical.sum()))
            names = self.names[words].tolist()
            ends = np.cumsum(lengths)
            for low, high in zip(ends - lengths, ends, strict=True):
                yield " ".join(names[low:high])


def run(size, repeats):
    """The whole pipeline: labelled texts are 698 positives and 5 000 negatives, the target `size` texts at 0.23 %."""
    del repeats
    known = np.arange(5_698) < 698
    target = np.random.default_rng(0).permutation(np.arange(size) < round(0.0023 * size))
    texts = Texts(target, 1)
    started = time.perf_counter()
    for _ in texts:
        pass
    making = time.perf_counter() - started
    started = time.perf_counter()
    result = tm.rare.bootstrap(Texts(known, 2), known, texts, target_labels=target, jobs=2)
    spent = time.perf_counter() - started - making
    peak = memory_bytes("VmHWM") / 2**30
    print(result, file=sys.stderr)
    note = f"({spent:.0f} s and {peak:.2f} GiB for {size} texts, {result.details['words']} words; making the texts {making:.0f} s apart)"
    # Four minutes for 600 000 texts, and two GiB whatever the number.
    yield at_most(
        "1 000 machines on rare texts, tokenising included",
        [spent / (240.0 * size / 600_000)],
        1.0,
        "of the time allowed",
        note,
    )
    yield at_most("the same, memory", [peak / 2.0], 1.0, "of 2 GiB")
