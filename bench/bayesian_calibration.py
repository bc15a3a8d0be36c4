"""``python -m bench.bayesian_calibration``: the thesis's tables 1.1 to 1.4 beside what we get, and under prior shift.

Densities come from out-of-fold scores. The test set is used as it is, and with its positives thinned to 10 % and 2 %.
"""

import argparse

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import SVC

import tallymark as tm
from bench.datasets import fashion

#: sPCC, accuracy, AUROC and bias as printed, raw and calibrated, by problem and model.
PRINTED = {
    "normal": {
        "SVM": ((1.0, 1.0, 1.0, 0.0001), (1.0, 1.0, 1.0, 0.0)),
        "LogReg": ((0.9999, 1.0, 1.0, 0.0), (1.0, 1.0, 1.0, 0.0)),
        "RFC": ((1.0, 1.0, 1.0, 0.0), (1.0, 1.0, 1.0, 0.0)),
    },
    "not normal": {
        "SVM": ((0.856, 0.9712, 0.9368, 0.0185), (0.8559, 0.97, 0.9545, -0.0021)),
        "LogReg": ((0.8343, 0.9662, 0.9792, -0.0141), (0.8498, 0.9702, 0.9662, -0.0116)),
        "RFC": ((0.917, 0.987, 0.9652, -0.0516), (0.9267, 0.987, 0.965, -0.0081)),
    },
    "8v9": {
        "SVM": ((0.9959, 0.998, 0.9999, 0.001), (0.996, 0.998, 0.9985, 0.001)),
        "LogReg": ((0.9955, 0.9975, 0.9999, 0.0007), (0.9949, 0.9975, 0.9984, 0.0013)),
        "RFC": ((0.9949, 0.9965, 1.0, 0.0004), (0.993, 0.997, 0.9995, -0.0005)),
    },
    "0v6": {
        "SVM": ((0.7796, 0.862, 0.9393, 0.0035), (0.7765, 0.859, 0.9392, 0.0108)),
        "LogReg": ((0.7335, 0.8335, 0.9179, -0.0012), (0.7292, 0.831, 0.918, 0.0085)),
        "RFC": ((0.778, 0.862, 0.942, 0.0044), (0.7349, 0.862, 0.9263, -0.024)),
    },
}  # fmt: skip


def models():
    return {
        "LogReg": LogisticRegression(),
        "RFC": RandomForestClassifier(random_state=0),
        "SVM": SVC(random_state=0, probability=True),
    }


def _two_humps(rng, y):
    """Class 0 around 0, one row in twenty around 3; class 1 around 4, one row in ten around 1."""
    rare = rng.random(len(y)) < np.where(y == 1, 0.1, 0.05)
    return rng.normal(np.where(y == 1, np.where(rare, 1.0, 4.0), np.where(rare, 3.0, 0.0)), 0.5)


def problems(names):
    """The four problems as (X_train, y_train, X_test, y_test)."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [4500, 500])
    made = {
        "normal": lambda: [part for _ in range(2) for part in (rng.normal(4.0 * y, 0.5)[:, None], y)],
        "not normal": lambda: [part for _ in range(2) for part in (_two_humps(rng, y)[:, None], y)],
        "8v9": lambda: fashion(8, 9),
        "0v6": lambda: fashion(0, 6),
    }
    return {name: made[name]() for name in names}


def thinned(y, share, seed=0):
    """Rows of all negatives and of so many positives that they are the given share."""
    positive, negative = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    wanted = round(share / (1 - share) * len(negative))
    return np.concatenate((negative, np.random.default_rng(seed).choice(positive, wanted, replace=False)))


def measures(y, probabilities):
    """sPCC, accuracy at one half, AUROC and bias."""
    t = tm.tally(y, probabilities)
    return tm.metrics.spcc(t), tm.metrics.accuracy(t.at(0.5)), tm.metrics.auroc(t), tm.metrics.bias(t)


def table(name, model, data, folds=5):
    """(share of positives, raw measures, calibrated measures) for the whole test set and the thinned ones."""
    X, y, X_test, y_test = data
    split = StratifiedKFold(folds, shuffle=True, random_state=0)
    method = "decision_function" if name == "SVM" else "predict_proba"
    own = clone(model).set_params(probability=False) if name == "SVM" else model
    known = cross_val_predict(own, X, y, cv=split, method=method)
    fitted = clone(model).fit(X, y)
    raw = fitted.predict_proba(X_test)[:, 1]
    scores = fitted.decision_function(X_test) if name == "SVM" else raw
    validation = tm.tally(y, known if known.ndim == 1 else known[:, 1])
    for share in (None, 0.1, 0.02):
        if share is not None and share >= y_test.mean():
            continue
        rows = np.arange(len(y_test)) if share is None else thinned(y_test, share)
        calibrated = tm.quantify.bayesian_calibration(validation, tm.tally(scores=scores[rows]))
        yield (
            float(y_test[rows].mean()), measures(y_test[rows], raw[rows]),
            measures(y_test[rows], calibrated.posterior(scores[rows])),
        )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", nargs="*", default=list(PRINTED))
    parser.add_argument("--models", nargs="*", default=list(models()))
    options = parser.parse_args()
    print(
        f"{'problem':<11}{'model':<8}{'share':>6}  {'sPCC':>14} {'accuracy':>14} {'AUROC':>14} {'bias':>16}  raw/calibrated"
    )
    for problem, data in problems(options.problems).items():
        for name in options.models:
            for share, raw, calibrated in table(name, models()[name], data):
                cells = " ".join(f"{a:7.4f}/{b:7.4f}" for a, b in zip(raw, calibrated, strict=True))
                print(f"{problem:<11}{name:<8}{share:6.2f}  {cells}", flush=True)
            if name in PRINTED[problem]:
                cells = " ".join(f"{a:7.4f}/{b:7.4f}" for a, b in zip(*PRINTED[problem][name], strict=True))
                print(f"{'':<11}{'':<8}{'printed':>6} {cells}", flush=True)


if __name__ == "__main__":
    main()
