"""``python -m bench.quantify_coverage``: do intervals of prevalences hold the truth? Beside resampling the target alone.

Scores are the posteriors of N(±1.5, 1) at one half, validation samples have 100 rows of each class, targets are drawn at
another prevalence. The docs show the table; the test suite runs a short version. Name a section to run it instead: ``trained`` counts with
probabilities of a model that was trained at another prevalence (normal scores, and a tree of seven leaves), ``counts`` from a table of few
audited rows, ``rates`` from the sensitivity and specificity of a test, ``corrected`` audits with labels that err, ``two_tests`` without a gold
standard, ``periods`` the false alarms and delays of ``watch`` where the rows of a period share an effect.
"""

import argparse
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import tallymark as tm
from tallymark.quantify.estimation.problem import problem_of
from tallymark.quantify.kernels.samples import Samples
from tallymark.registry import QUANTIFIERS

DISTANCE = 1.5
VALIDATION = 200
TARGETS = (500, 5_000)
SHARES = (0.2, 0.02)
#: What is biased by design covers nothing.
METHODS = tuple(name for name, method in QUANTIFIERS.items() if method.shift_proof)


def draw(rng, y):
    return 1 / (1 + np.exp(-2 * DISTANCE * rng.normal(DISTANCE * (2 * y - 1))))


def one(task):
    """Which intervals of one simulated data set hold the truth."""
    names, rows, share, seed, naive = task
    warnings.simplefilter("ignore", tm.GuardWarning)
    rng = np.random.default_rng([seed, rows, round(1000 * share)])
    y = np.arange(VALIDATION) % 2
    validation = tm.tally(y, draw(rng, y))
    target = tm.tally(scores=draw(rng, (rng.random(rows) < share).astype(int)))
    found = {}
    for name in names:
        trained_at = {"training_prevalence": 0.5} if QUANTIFIERS[name].uses_training_prevalence else {}
        entry = tm.quantify.estimate(name, validation, target, replicates=400, seed=seed, **trained_at)
        found[name] = bool(entry.low <= share <= entry.high)
        found[name, "width"] = entry.high - entry.low
        if naive:
            low, high = np.quantile(_target_alone(name, validation, target, rng), [0.025, 0.975])
            found[name, "target alone"] = bool(low <= share <= high)
    return found


def _target_alone(name, validation, target, rng):
    """Shares in resamples of the target, with the validation sample taken as the truth."""
    problem = problem_of(QUANTIFIERS[name], validation, [target], None, 0.5)
    scores = target.runs[0].scores
    index = rng.integers(0, len(scores), (200, len(scores)))
    return problem.shares(problem.clean(target), Samples(scores, index=index))


def coverages(names, rows, share, repeats, *, naive=False, workers=1):
    """Share of intervals that hold the truth, by method."""
    tasks = [(names, rows, share, seed, naive) for seed in range(repeats)]
    held = Counter()
    if workers == 1:
        results = map(one, tasks)
    else:
        with ProcessPoolExecutor(workers) as pool:
            results = list(pool.map(one, tasks, chunksize=4))
    for result in results:
        held.update(result)
    return {key: held[key] / repeats for key in held}


def trained(repeats):
    """Print how often em holds the truth or is warned of (TM110), with a model trained at 30 % on 600 rows, by what it is told."""
    from sklearn.tree import DecisionTreeClassifier

    warnings.simplefilter("ignore", tm.GuardWarning)
    rng = np.random.default_rng(3)

    def rows(y):
        return rng.normal(size=(len(y), 3)) + 1.2 * y[:, None]

    known = (np.arange(600) < 180).astype(int)
    tree = DecisionTreeClassifier(max_leaf_nodes=7, random_state=0).fit(rows(known), known)

    def normal(y):
        return 1 / (1 + np.exp(-(1.8 * (rng.normal(size=len(y)) + 1.8 * y) - 1.62 + np.log(3 / 7))))

    print("| scores | validation | target | truth | told | estimate | covers | warned | covers or warned |")
    print("|---" * 9 + "|")
    for name, scores in (("normal", normal), ("tree", lambda y: tree.predict_proba(rows(y))[:, 1])):
        for (up, down), n, share in (((150, 450), 5_000, 0.02), ((120, 480), 2_000, 0.3), ((60, 140), 1_000, 0.05)):
            for told in (None, 0.3):
                y, target = np.arange(up + down) < up, np.arange(n) < round(share * n)
                held = warned = either = mean = 0.0
                for _ in range(repeats):
                    found = tm.quantify.estimate(
                        "em", tm.tally(y, scores(y)), tm.tally(scores=scores(target)), training_prevalence=told
                    )
                    holds, notes = (
                        found.low <= share <= found.high,
                        any(note.code == "TM110" for note in found.warnings),
                    )
                    held, warned, either = held + holds, warned + notes, either + (holds or notes)
                    mean += found.prevalence
                cells = [f"{100 * part / repeats:.1f}" for part in (held, warned, either)]
                print(
                    f"| {name} | {up}+{down} | {n} | {share:g} | {told} | {mean / repeats:.3f} | {' | '.join(cells)} |",
                    flush=True,
                )


def counts(repeats):
    """Print the coverage and mean width of from_counts with few audited rows."""
    warnings.simplefilter("ignore", tm.GuardWarning)
    rng = np.random.default_rng(5)
    print("| tpr, specificity, audited | share | ac | bayes |")
    print("|---" * 4 + "|")
    for tpr, specificity in ((0.8, 0.95), (0.6, 0.98), (0.99, 0.99)):
        for up, down in ((30, 30), (20, 500)):
            for share in (0.0, 0.002, 0.02, 0.5, 0.95):
                held, widths = np.zeros(2), np.zeros(2)
                for seed in range(repeats):
                    tp, fp = rng.binomial(up, tpr), rng.binomial(down, 1 - specificity)
                    audit = tm.confusion(
                        [1] * up + [0] * down, [1] * tp + [0] * (up - tp) + [1] * fp + [0] * (down - fp)
                    )
                    called = int(rng.binomial(1_000, share * tpr + (1 - share) * (1 - specificity)))
                    for place, method in enumerate(("ac", "bayes")):
                        found = tm.audits.from_counts(
                            audit, predicted_positive=called, n=1_000, method=method, seed=seed
                        )
                        # Without an estimate there are no limits that could miss.
                        low, high = (0.0, 1.0) if found.reason else (found.low, found.high)
                        held[place] += low <= share <= high
                        widths[place] += high - low
                cells = [f"{100 * h / repeats:.1f} ({w / repeats:.3f})" for h, w in zip(held, widths, strict=True)]
                print(f"| {tpr}, {specificity}, {up}+{down} | {share:g} | {' | '.join(cells)} |", flush=True)


def published(right, rows):
    """An estimate with its Clopper-Pearson limits, to three digits, as a leaflet has it."""
    known = tm.intervals.proportion(right, rows, method="clopper_pearson")
    return tuple(round(value, 3) for value in (known.value, known.low, known.high))


#: How the rates of a test are given: right of so many rows, and the truth.
FORMS = {
    "counts": lambda right, rows, _: (right, rows),
    "published": lambda right, rows, _: published(right, rows),
    "known": lambda _right, _rows, truth: truth,
}


def rates(repeats):
    """Print the coverage and mean width of from_counts with rates of a test, and how often TM107 fires.

    The lowest and the highest of three tests; ``bayes``, which is slower, in every fifth sample.
    """
    warnings.simplefilter("ignore", tm.GuardWarning)
    rng = np.random.default_rng(6)
    print("| rates | rows of each | share | ac | bayes | TM107 |")
    print("|---" * 6 + "|")
    for form, rows in (
        ("counts", 30),
        ("counts", 500),
        ("published", 30),
        ("published", 100),
        ("published", 500),
        ("known", 0),
    ):
        for share in (0.0, 0.002, 0.02, 0.1, 0.5, 0.95):
            held, done, widths, noted = np.zeros((3, 2)), np.zeros((3, 2)), np.zeros(2), 0
            for place, (se, sp) in enumerate(((0.8, 0.95), (0.6, 0.98), (0.95, 0.99))):
                for seed in range(repeats):
                    right = [int(rng.binomial(max(rows, 1), rate)) for rate in (se, sp)]
                    given = [FORMS[form](k, rows, truth) for k, truth in zip(right, (se, sp), strict=True)]
                    called = int(rng.binomial(1_000, share * se + (1 - share) * (1 - sp)))
                    for which, method in enumerate(("ac",) if seed % 5 else ("ac", "bayes")):
                        found = tm.audits.from_counts(
                            predicted_positive=called, n=1_000, sensitivity=given[0], specificity=given[1],
                            method=method, seed=seed,
                        )  # fmt: skip
                        low, high = (0.0, 1.0) if found.reason else (found.low, found.high)
                        held[place, which] += low <= share <= high
                        done[place, which] += 1
                        widths[which] += high - low
                    noted += any(note.code == "TM107" for note in found.warnings)
            covered = 100 * held / done
            cells = [
                f"{covered[:, m].min():.1f}–{covered[:, m].max():.1f} ({widths[m] / done[:, m].sum():.3f})"
                for m in (0, 1)
            ]
            notes = f"{100 * noted / (3 * repeats):.0f} %"
            print(f"| {form} | {rows or ''} | {share:g} | {' | '.join(cells)} | {notes} |", flush=True)


def corrected(repeats):
    """Print the coverage of audits whose labels err, corrected and as they are."""
    warnings.simplefilter("ignore", tm.GuardWarning)
    rng = np.random.default_rng(7)
    print("| rates of the checker | checked of | share | corrected | as they are |")
    print("|---" * 5 + "|")
    for form, rows in (("counts", 30), ("published", 100), ("known", 0)):
        for checked, n in ((100, 5_000), (400, 5_000), (400, 400)):
            for share in (0.0, 0.02, 0.1, 0.5):
                held = np.zeros(2)
                for _ in range(repeats):
                    right = [int(rng.binomial(max(rows, 1), rate)) for rate in (0.9, 0.97)]
                    given = [FORMS[form](k, rows, truth) for k, truth in zip(right, (0.9, 0.97), strict=True)]
                    y = np.arange(n) < round(share * n)
                    labels = (rng.random(n) < np.where(y, 0.9, 0.03)).astype(float)
                    labels[rng.permutation(n)[checked:]] = np.nan
                    audit = tm.audits.from_audit({"checked": labels}, label="checked")
                    answers = tm.audits.corrected(audit, sensitivity=given[0], specificity=given[1]), audit
                    held += [one.low <= y.mean() <= one.high for one in answers]
                cells = [f"{100 * part / repeats:.1f}" for part in held]
                print(f"| {form} {rows or ''} | {checked} of {n} | {share:g} | {' | '.join(cells)} |", flush=True)


def two_tests(repeats):
    """Print the coverage of the profile limits of two tests without a gold standard, and how often they are refused."""
    warnings.simplefilter("ignore", tm.GuardWarning)
    rng = np.random.default_rng(8)
    print("| sensitivities | specificities | shares | rows | prevalences | sensitivities | specificities | refused |")
    print("|---" * 8 + "|")
    for se, sp, shares, rows in (
        ((0.9, 0.8), (0.95, 0.98), (0.1, 0.5), 300),
        ((0.9, 0.8), (0.95, 0.98), (0.02, 0.3), 1_000),
        ((0.95, 0.95), (0.99, 0.99), (0.05, 0.6), 200),
        ((0.7, 0.8), (0.9, 0.85), (0.2, 0.4), 500),
        ((0.9, 0.8), (0.95, 0.98), (0.05, 0.2, 0.5), 300),
    ):
        held, done = np.zeros(3), 0
        for _ in range(repeats):
            tables = []
            for share in shares:
                y = rng.random(rows) < share
                a, b = (rng.random(rows) < np.where(y, up, 1 - down) for up, down in zip(se, sp, strict=True))
                tables.append([[np.sum(a & b), np.sum(a & ~b)], [np.sum(~a & b), np.sum(~a & ~b)]])
            try:
                found = tm.audits.two_tests(tables)
            except tm.InputError:
                continue
            done += 1
            for place, (entries, truth) in enumerate(
                ((found.prevalences, shares), (found.sensitivity, se), (found.specificity, sp))
            ):
                pairs = zip(entries.values(), truth, strict=True)
                held[place] += np.mean([one.low <= value <= one.high for one, value in pairs])
        cells = [f"{100 * part / max(done, 1):.1f}" for part in held]
        print(
            f"| {se} | {sp} | {shares} | {rows} | {' | '.join(cells)} | {100 - 100 * done / repeats:.0f} % |",
            flush=True,
        )


#: What happens to the scores after the reference: to all rows (normal score, class), and the prevalence.
CHANGES = {
    "nothing": (lambda z, _: z, 0.3),
    "positives 0.75 lower": (lambda z, y: z - 0.75 * y, 0.3),
    "positives' deviation 1.8": (lambda z, y: np.where(y, 1.5 + 1.8 * (z - 1.5), z), 0.3),
    "prevalence 0.4": (lambda z, _: z, 0.4),
}


def watched(rng, effect, change, *, reference, later, rows=500):
    """A run of ``watch`` in which all scores of a period are moved by normal noise with deviation `effect`."""
    moved, share = CHANGES[change]
    when = np.repeat(np.arange(reference + later), rows)
    after = when >= reference
    y = rng.random(len(when)) < np.where(after, share, 0.3)
    z = rng.normal(size=len(when)) + 1.5 * y
    z = np.where(after, moved(z, y), z) + (effect * rng.normal(size=reference + later))[when]
    columns = {"m": when, "p": 1 / (1 + np.exp(-(1.5 * z - 1.125))), "y": np.where(after, np.nan, y)}
    return tm.monitor.watch(columns, period="m", score="p", label="y", run_length=60, method="ac")


def periods(repeats):
    """Print how often ``watch`` errs where the rows of a period move together, asked for once in 60 periods (each of two charts in 120).

    References of five and of ten periods of 500 rows, and 15 more; an alarm of the score chart, a CUSUM, lasts, so the first of each run counts.
    With a change the mean number of periods until a signal (of any chart, at most 15) is printed, and the periods signalled as moved classes.
    """
    warnings.simplefilter("ignore", tm.GuardWarning)
    print(
        "| reference | effect | change | classes signalled | runs with a score alarm | periods until a signal | TM126 |"
    )
    print("|---" * 7 + "|")
    for reference, effect, change in [
        *((n, e, "nothing") for n in (5, 10) for e in (0.0, 0.2, 0.5)),
        *((10, e, change) for change in list(CHANGES)[1:] for e in (0.0, 0.2)),
    ]:
        rng = np.random.default_rng(2)
        classes = scores = noted = until = 0
        for _ in range(repeats):
            found = watched(rng, effect, change, reference=reference, later=15)
            later = found.periods[reference:]
            classes += sum("classes" in one.signals for one in later)
            scores += any({"prevalence", "scores"} & set(one.signals) for one in later)
            until += next((place for place, one in enumerate(later, 1) if one.signals), 15)
            noted += any(note.code == "TM126" for note in found.warnings)
        number = 15 * repeats
        often = f"{classes} of {number}, one in {number / max(classes, 1):.1f}"
        cells = (often, f"{100 * scores / repeats:.0f} %", f"{until / repeats:.1f}", f"{100 * noted / repeats:.0f} %")
        print(f"| {reference} | {effect:g} | {change} | {' | '.join(cells)} |", flush=True)


SECTIONS = {
    "trained": trained,
    "counts": counts,
    "rates": rates,
    "corrected": corrected,
    "two_tests": two_tests,
    "periods": periods,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("section", nargs="?", choices=SECTIONS)
    parser.add_argument("--repeats", type=int, default=500)
    parser.add_argument("--methods", nargs="*", default=METHODS)
    options = parser.parse_args()
    if options.section:
        SECTIONS[options.section](options.repeats)
        return
    print("| method | " + " | ".join(f"{rows} rows, {100 * share:g} %" for rows in TARGETS for share in SHARES) + " |")
    print("|---" * 5 + "|")
    columns = [
        coverages(tuple(options.methods), rows, share, options.repeats, naive=True, workers=2)
        for rows in TARGETS for share in SHARES
    ]  # fmt: skip
    for name in options.methods:
        cells = [f"{100 * c[name]:.1f} ({100 * c[name, 'target alone']:.0f})" for c in columns]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
