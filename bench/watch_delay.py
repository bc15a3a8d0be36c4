"""How early a moved prevalence is seen, at the same rate of false alarms: the watch's chart against CBPE's thresholds.

``python -m bench.watch_delay [--streams 200]`` draws streams of periods of 500 rows, ten of them the reference, from normal scores and from a
classifier of the weather and electricity data (``TALLYMARK_DATA``). CBPE estimates accuracy from calibrated probabilities, mean max(p, 1 - p),
as NannyML does; its alarm is a distance from the reference's mean in standard deviations, here set so that it alarms falsely as seldom as the
chart does (its own three deviations would alarm at other rates). Printed: the mean number of periods until an alarm, cut at 100, and what
accuracy each expects beside the true one.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.datasets import data_folder
from tallymark.monitor.control_charts import control_chart

Floats = NDArray[np.float64]
Source = Callable[[np.random.Generator, float, int], tuple[Floats, NDArray[np.bool_]]]

ROWS, REFERENCE, LENGTH, CUT = 500, 10, 370.0, 100


def normal_scores(rng: np.random.Generator, share: float, n: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Calibrated probabilities at a prevalence of 0.3, whatever the prevalence drawn."""
    y = rng.random(n) < share
    z = rng.normal(size=n) + 1.5 * y
    return 1 / (1 + np.exp(-(1.5 * z - 1.5**2 / 2 + np.log(0.3 / 0.7)))), y


def of_file(name: str, positive: str) -> tuple[Source, float]:
    """Rows of a data set the classifier has not learnt from, drawn by class."""
    import pandas as pd
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.ensemble import HistGradientBoostingClassifier

    frame = pd.read_csv(data_folder() / "shift" / name)
    x, y = frame.drop(columns="label").to_numpy(), (frame.label == positive).to_numpy()
    order = np.random.default_rng(0).permutation(len(y))
    half = len(y) // 2
    model = CalibratedClassifierCV(HistGradientBoostingClassifier(random_state=0), method="isotonic", cv=5).fit(
        x[order[:half]], y[order[:half]]
    )
    p, truth = model.predict_proba(x[order[half:]])[:, 1], y[order[half:]]
    pools = [p[~truth], p[truth]]

    def draw(rng: np.random.Generator, share: float, n: int) -> tuple[Floats, NDArray[np.bool_]]:
        label = rng.random(n) < share
        return np.where(label, rng.choice(pools[1], n), rng.choice(pools[0], n)), label

    return draw, float(truth.mean())


def statistics(source: Source, rng: np.random.Generator, share: float, periods: int) -> tuple[Floats, Floats]:
    """Mean score and CBPE's accuracy of each period."""
    p, _ = source(rng, share, ROWS * periods)
    p = p.reshape(periods, ROWS)
    return p.mean(axis=1), np.maximum(p, 1 - p).mean(axis=1)


def first(signals: Any, cut: int) -> int:
    """Periods until the first signal, from the end of the reference on."""
    found = np.flatnonzero(signals)
    return min(int(found[0]) + 1, cut) if len(found) else cut


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=200)
    asked = parser.parse_args()
    sources: dict[str, tuple[Source, float]] = {"normal scores": (normal_scores, 0.3)}
    for name, file, positive in (("weather", "noaa_weather.csv.gz", "rain"), ("electricity", "elec2.csv.gz", "UP")):
        if (data_folder() / "shift" / file).exists():
            sources[name] = of_file(file, positive)
    sizes = np.full(REFERENCE + 1_500, float(ROWS))
    print(
        f"{'stream':14} {'from':>5} {'to':>5} {'chart':>7} {'CBPE':>7} {'true':>7} {'CBPE says':>10} {'corrected':>10}"
    )
    for name, (source, share) in sources.items():
        rng = np.random.default_rng(1)
        calm = [statistics(source, rng, share, REFERENCE + 1_500) for _ in range(asked.streams)]
        lengths = [first(control_chart(x, sizes, REFERENCE, LENGTH).signals[REFERENCE:], 1_500) for x, _ in calm]
        away = [np.abs(a[REFERENCE:] - a[:REFERENCE].mean()) / a[:REFERENCE].std() for _, a in calm]
        # The distance at which CBPE errs as seldom as the chart.
        low, high = 1.0, 20.0
        for _ in range(30):
            middle = (low + high) / 2
            low, high = (
                (middle, high)
                if np.mean([first(z > middle, 1_500) for z in away]) < np.mean(lengths)
                else (low, middle)
            )
        print(
            f"{name:14} {share:5.2f}     – {np.mean(lengths):7.1f} {np.mean([first(z > high, 1_500) for z in away]):7.1f}   (false alarms, CBPE at {high:.2f} sd)"
        )
        tpr, fpr = _rates(source, rng)
        for shift in (0.05, 0.1, 0.2, 0.3):
            delays: list[tuple[int, int]] = []
            for _ in range(asked.streams):
                x0, a0 = statistics(source, rng, share, REFERENCE)
                x1, a1 = statistics(source, rng, share + shift, CUT)
                chart = control_chart(np.concatenate((x0, x1)), sizes[: REFERENCE + CUT], REFERENCE, LENGTH).signals[
                    REFERENCE:
                ]
                delays.append((first(chart, CUT), first(np.abs(a1 - a0.mean()) / a0.std() > high, CUT)))
            p, y = source(rng, share + shift, 200_000)
            said = float(np.maximum(p, 1 - p).mean())
            truth = float(np.mean((p >= 0.5) == y))
            moved = (share + shift) * tpr + (1 - share - shift) * (1 - fpr)
            mine, theirs = np.mean(delays, axis=0)
            print(
                f"{'':14} {share:5.2f} {share + shift:5.2f} {mine:7.1f} {theirs:7.1f} {truth:7.3f} {said:10.3f} {moved:10.3f}",
                flush=True,
            )


def _rates(source: Source, rng: np.random.Generator) -> tuple[float, float]:
    p, y = source(rng, 0.5, 200_000)
    return float((p[y] >= 0.5).mean()), float((p[~y] >= 0.5).mean())


if __name__ == "__main__":
    main()
