"""A project that uses Tallymark under ``mypy --strict``: what it is told about types must be enough, and true."""

from pathlib import Path

import numpy as np

import tallymark as tm
from tallymark.results import Comparison, Evaluation, Evaluations, Prevalence, Tally


def labelled(rows: int) -> Tally:
    """Generated rows."""
    rng = np.random.default_rng(0)
    y = rng.random(rows) < 0.2
    return tm.tally(y, rng.normal(y * 2.0))


def auroc(tally: Tally) -> tuple[float, float, float]:
    """A value with its limits."""
    one: Evaluation = tm.evaluate(tally, metrics=["auroc"])
    measure = one["auroc"]
    return measure.value, measure.low or 0.0, measure.high or 1.0


def better(y: list[int], a: list[float], b: list[float]) -> str | None:
    """The model that is shown to be better."""
    found: Comparison = tm.compare(tm.panel(y, {"a": a, "b": b}))
    return found.best


def counted(known: Tally, new: Tally) -> float:
    """How many there are."""
    found: Prevalence = tm.quantify.estimate("pacc", known, new)
    return found.count


def everything(panel: tm.Panel) -> list[str]:
    """The metrics of every model."""
    found: Evaluations = tm.evaluate(panel, threshold="f1", level=None)
    return [f"{name} {one['f1'].value:.3f}" for name, one in found.items()]


def main() -> None:
    """Use all of it."""
    tally = labelled(500)
    value, low, high = auroc(tally)
    assert low < value < high
    print(tm.metrics.f1(tally.at("youden")), tally.at(0.5).tp, better([0, 1] * 20, list(range(40)), list(range(40))))
    print(counted(tally, tm.tally(scores=[0.1, 1.5, 2.0] * 30)))
    print(everything(tm.panel([0, 1] * 20, {"a": np.arange(40.0)})))
    print(Path(tm.__file__).parent.name)


if __name__ == "__main__":
    main()
