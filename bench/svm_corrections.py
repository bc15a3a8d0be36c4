"""``python -m bench.svm_corrections``: does correcting a structured SVM's count help? On the 22 problems of the thesis's chapter 6."""

import argparse
import os
import warnings

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tallymark as tm
from bench.datasets import data_folder, have_data
from tallymark.quantify.protocols import prevalence_samples
from tallymark.study.datasets import PLACE, PROBLEMS

_LEFT_OUT = ("acute.a", "acute.b")
_LOSSES = {"Q2": {"loss": "q"}, "NAS": {"loss": "nas"}, "accuracy": {"loss": "accuracy"}}


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.svm_corrections", description=__doc__)
    parser.add_argument("--folds", type=int, default=5)
    options = parser.parse_args()
    if not have_data():
        raise SystemExit("The reference data are not there; set TALLYMARK_DATA.")
    warnings.simplefilter("ignore")
    quantifiers = {name: getattr(tm.quantify, name) for name in ("CC", "AC", "Max", "MS")}
    errors = {}
    os.environ.setdefault(PLACE, str(data_folder()))
    for problem in PROBLEMS:
        if problem in _LEFT_OUT:
            continue
        data = tm.study.dataset(problem)
        X, y = data.X, data.y
        lines = {(loss, name): [] for loss in _LOSSES for name in quantifiers}
        for train, test in StratifiedKFold(options.folds, shuffle=True, random_state=0).split(X, y):
            size = max(min(50, 2 * int(np.bincount(y[test]).min())), 4)
            index, truth = prevalence_samples(y[test], 2, 110, size, 0)
            for loss, settings in _LOSSES.items():
                svm = make_pipeline(StandardScaler(), tm.learners.StructuredSVM(**settings, C=1000.0))
                for name, quantifier in quantifiers.items():
                    shares = quantifier(svm, cv=5).fit(X[train], y[train]).predict_many(X[test], index)
                    lines[loss, name].append(np.abs(shares[:, 1] - truth[:, 1]).mean())
        errors[problem] = {key: float(np.mean(values)) for key, values in lines.items()}
        print(problem, {f"{a} {b}": round(v, 3) for (a, b), v in errors[problem].items()}, flush=True)
    print(f"\n{'loss':<10} {'method':<6} {'mean AE':>8} {'better than CC':>15}")
    for loss in _LOSSES:
        for name in quantifiers:
            values = np.array([line[loss, name] for line in errors.values()])
            wins = sum(line[loss, name] < line[loss, "CC"] for line in errors.values())
            print(f"{loss:<10} {name:<6} {np.nanmean(values):>8.4f} {f'{wins} of {np.isfinite(values).sum()}':>15}")


if __name__ == "__main__":
    main()
