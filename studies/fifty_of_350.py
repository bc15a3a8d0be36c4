"""``python studies/fifty_of_350.py``: 350 points, 50 of them positive, as in the laboratory exercise: thresholds, U test, AUROC against
sample size. The exercise's points are not published (it prints 17 rows, which are not used here): these are drawn from two normals
with round parameters, so figures are of the same kind and not the same. The linear classifier is the printed one."""

import numpy as np

import tallymark as tm

#: The exercise's classifier, which its printed rows determine.
WEIGHTS, OFFSET = np.array([0.63534, 0.78007]), -4.55005


def main() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [300, 50])
    points = rng.multivariate_normal([2.0, 0.9], [[0.45, 0.3], [0.3, 0.6]], 350) + 1.5 * y[:, None]
    tally = tm.tally(y, points @ WEIGHTS + OFFSET)
    print(
        tm.evaluate(
            tally, threshold="youden", metrics=["auroc", "average_precision", "f1", "kappa", "informedness", "spcc"]
        )
    )
    print(tm.compare_thresholds(tally, "youden", "f1", "kappa", "tpr:0.9", "fpr:0.05"))
    print(tm.mann_whitney(tally))
    print(tm.by_sample_size(tally, ["auroc"], sizes=[35, 70, 140, 280, 350], replicates=200))


if __name__ == "__main__":
    main()
