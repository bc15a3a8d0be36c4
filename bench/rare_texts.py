"""``python -m bench.rare_texts``: rare events in real texts, by all three ways to count."""

import argparse
import csv
import gzip
import time
import warnings

import numpy as np

import tallymark as tm
from bench.datasets import data_folder, have_data

#: File, what is positive, labelled positives and negatives, prevalence of the target.
CORPORA = {
    "sms": ("sms_spam.csv", "spam", 400, 940, 0.0023),
    "tweets": ("hate_offensive_tweets.csv.gz", "hate", 430, 1_000, 0.058),
}
WAYS = {"bootstrap": tm.rare.bootstrap, "class_weight_sweep": tm.rare.class_weight_sweep, "ensemble": tm.rare.ensemble}


def texts_of(name):
    file, positive, *_ = CORPORA[name]
    path = data_folder() / "text" / file
    with gzip.open(path, "rt", encoding="utf-8") if file.endswith(".gz") else path.open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    return np.array([row["text"] for row in rows], dtype=object), np.array([row["label"] == positive for row in rows])


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.rare_texts", description=__doc__)
    parser.add_argument("--corpora", nargs="*", default=list(CORPORA), choices=list(CORPORA))
    options = parser.parse_args()
    if not have_data():
        raise SystemExit("The reference data are not there; set TALLYMARK_DATA.")
    warnings.simplefilter("ignore")
    for name in options.corpora:
        texts, y = texts_of(name)
        _, _, positives, negatives, prevalence = CORPORA[name]
        train, target = tm.rare.split(y, positives=positives, negatives=negatives, prevalence=prevalence)
        print(
            f"\n{name}: {positives} + {negatives} labelled, {int(y[target].sum())} positive of {len(target)} to count"
        )
        for count in WAYS.values():
            started = time.perf_counter()
            result = count(texts[train], y[train], texts[target], target_labels=y[target], jobs=2)
            print(f"({time.perf_counter() - started:.0f} s)", result)
            print(result.fit.verdict)


if __name__ == "__main__":
    main()
