"""``python -m bench.impact_coverage [--repeats 200]``: do the intervals of ``tm.prices.impact`` hold the truth, and does guard TM113 fire?

Prices are log-normal, 40 % of the rows are positive. False positives are drawn more often from dear rows (``half``: above the median, ``top``: the
dearest tenth, ``rare``: the dearest sixth, with few errors), and so are false negatives. Printed for every deviation of the log-price and number of rows:
the mean number of false positives, the share of 95 % intervals that hold the shift by false positives, by false negatives and by both, and
the share of samples in which the guard fires.
"""

import argparse
import math
import warnings

import numpy as np
from scipy.special import ndtr

import tallymark as tm

#: By name: the false positive rate of cheap and of dear rows, the log-price in deviations from which a row is dear, and the false negative rate of
#: cheap rows (of dear ones it is half as much again).
ERRORS = {"half": (0.05, 0.15, 0.0, 0.1), "top": (0.03, 0.3, 1.28, 0.1), "rare": (0.005, 0.05, 1.0, 0.03)}
POSITIVE = 0.4
SHIFTS = ("fp", "fn", "total")


def draw(rng, n, deviation, errors):
    """Labels, calls and prices of `n` rows."""
    low, high, cut, missed = errors
    y, z = rng.random(n) < POSITIVE, rng.normal(size=n)
    false, lost = (
        rng.random(n) < np.where(z > cut, dear, cheap) for cheap, dear in ((low, high), (missed, 1.5 * missed))
    )
    return {"y": y.astype(int), "c": np.where(y, ~lost, false).astype(int), "v": np.exp(deviation * z)}


def true_shifts(deviation, errors):
    """The shifts in the population, from the log-normal's partial means."""
    low, high, cut, missed = errors
    mean = math.exp(deviation**2 / 2)
    dear = np.array([ndtr(-cut), mean * ndtr(deviation - cut)])
    cheap = np.array([1.0, mean]) - dear
    false = (1 - POSITIVE) * (high * dear + low * cheap)
    found = POSITIVE * ((1 - 1.5 * missed) * dear + (1 - missed) * cheap)
    level = {name: value / size for name, (size, value) in {"called": found + false, "found": found}.items()}
    return {"fp": level["called"] - level["found"], "fn": level["found"] - mean, "total": level["called"] - mean}


def cell(rng, n, deviation, errors, repeats):
    """Mean number of false positives, coverage of each shift, and how often the guard fires."""
    truth = true_shifts(deviation, errors)
    held, number, fired = np.zeros(len(SHIFTS)), 0, 0
    for _ in range(repeats):
        found = tm.prices.impact(draw(rng, n, deviation, errors), label="y", predicted="c", value="v")
        part = found.parts[0]
        held += [part.shifts[error].low <= truth[error] <= part.shifts[error].high for error in SHIFTS]
        number += part.sizes["false positives"]
        fired += any(note.code == "TM113" for note in found.warnings)
    return number / repeats, held / repeats, fired / repeats


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--errors", choices=ERRORS)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", tm.GuardWarning)
    print("| errors | deviation | rows | false positives | fp | fn | total | TM113 |")
    print("|---" * 8 + "|")
    for name in [asked.errors] if asked.errors else ERRORS:
        for deviation in (0.3, 0.5, 1.0, 1.5, 2.0):
            for n in (100, 300, 1_000, 5_000):
                rng = np.random.default_rng([n, round(10 * deviation)])
                number, held, fired = cell(rng, n, deviation, ERRORS[name], asked.repeats)
                cells = [f"{100 * part:.1f}" for part in (*held, fired)]
                print(f"| {name} | {deviation:g} | {n} | {number:.0f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
