"""A product classifier with many classes: averages by name, the worst classes, and expenditure weights."""

import numpy as np

import tallymark as tm

rng = np.random.default_rng(3)
classes = [f"item-{i:02d}" for i in range(40)]
share = rng.dirichlet(np.full(40, 2.0))
true = rng.choice(classes, 20_000, p=share)
predicted = np.where(rng.random(20_000) < 0.85, true, rng.choice(classes, 20_000))
expenditure = rng.lognormal(3, 1, 20_000)

by_rows = tm.confusion(true, predicted)
by_money = tm.confusion(true, predicted, weights=expenditure)

for name, average in (
    ("F1, mean of classes", "mean_of_f"),
    ("F1 of macro means", "f_of_means"),
    ("F1, micro = accuracy", "micro"),
):
    print(
        f"{name:<22} {tm.metrics.f1(by_rows, average=average):.4f}  "
        f"by expenditure {tm.metrics.f1(by_money, average=average):.4f}"
    )

evaluation = tm.evaluate(by_rows)
worst = sorted(evaluation.per_class.items(), key=lambda item: item[1]["f1"].value)[:3]
for label, measures in worst:
    print(f"{label}: precision {measures['precision'].value:.3f}, recall {measures['recall'].value:.3f}")
