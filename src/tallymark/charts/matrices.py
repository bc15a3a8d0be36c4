"""Confusion matrices, in counts or rates, and the correlations between classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tallymark._numbers import amount, per_cent
from tallymark.charts.theme import altair, finished, palette, require_kind, rows, titled
from tallymark.errors import InputError
from tallymark.measures import Evaluation
from tallymark.summaries.confusion import Confusion


def confusion(data: Confusion, *, rates: bool = False, name: str | None = None, theme: str = "light") -> Any:
    """A confusion matrix, true classes down: counts, or with `rates` shares of each true class; `name` is the model's.

    Shaded by what it prints. Of two classes the positive one comes first; of many, cells are shaded and only tooltips have
    the numbers.

    >>> import tallymark as tm
    >>> chart = tm.charts.confusion(tm.confusion([0, 1, 1], [0, 1, 0]))
    >>> chart.to_dict()["title"]["text"]
    'Confusion matrix'
    """
    require_kind(data, Confusion, "tm.confusion")
    order = [1, 0] if data.positive == 1 and len(data.labels) == 2 else list(range(len(data.labels)))
    matrix = data.matrix[np.ix_(order, order)].astype(np.float64)
    totals = matrix.sum(axis=1, keepdims=True)
    shares = np.divide(matrix, totals, out=np.zeros_like(matrix), where=totals > 0)
    labels = [str(data.labels[i]) for i in order]
    # Counts spread over powers of ten: by their logarithm a thousand and a million are both seen.
    logged = np.log1p(matrix) / max(float(np.log1p(matrix).max()), 1.0)
    shown = [[per_cent(v) if rates else amount(c) for v, c in zip(*line, strict=True)] for line in zip(shares, matrix, strict=True)]  # fmt: skip
    hits = float(np.trace(matrix)) / float(matrix.sum()) if matrix.sum() else 0.0
    title = titled("Confusion matrix" + (" (% of the true class)" if rates else ""), name)
    says = f"{per_cent(hits)} of the rows are on the diagonal."
    if len(labels) == 2:
        says = f"Of {amount(totals[0, 0])} rows of class {labels[0]}, {amount(matrix[0, 0])} are predicted {labels[0]}; of {amount(totals[1, 0])} of class {labels[1]}, {amount(matrix[1, 0])} are."
    return _grid(labels, shares if rates else logged, shown, title, theme, ("truth", "predicted"), says)


def class_correlations(data: Evaluation, *, table: str = "spcc_one_vs_one", theme: str = "light") -> Any:
    """The one-against-one sPCC of K classes: how well the scores tell each pair apart (an inverse confusion matrix).

    >>> import tallymark as tm
    >>> s = tm.class_scores([0, 1, 2, 0, 1, 2], [[.8, .1, .1], [.3, .6, .1], [.5, .1, .4]] * 2, classes=[0, 1, 2])
    >>> tm.charts.class_correlations(tm.evaluate(s, level=None)).to_dict()["title"]["text"]
    'How well each pair of classes is told apart (sPCC)'
    """
    require_kind(data, Evaluation, "tm.evaluate")
    if data.confusion is None:
        raise InputError(
            "This evaluation has no confusion matrix, whose classes are drawn; evaluate tm.class_scores(…)."
        )
    if table not in data.tables:
        raise InputError(
            f"This evaluation has no table {table!r}; evaluate tm.class_scores(…). It has: {', '.join(data.tables) or 'none'}."
        )
    matrix = np.array(data.tables[table], dtype=np.float64)
    # A class against itself is no pair.
    np.fill_diagonal(matrix, np.nan)
    labels = [str(label) for label in data.confusion.labels]
    shown = [["" if np.isnan(v) else f"{v:.3f}" for v in line] for line in matrix]
    return _grid(
        labels,
        np.nan_to_num(matrix),
        shown,
        "How well each pair of classes is told apart (sPCC)",
        theme,
        ("class", "against"),
    )


def _grid(
    labels: list[str],
    shade: Any,
    shown: list[list[str]],
    title: str,
    theme: str,
    names: tuple[str, str],
    says: str = "",
) -> Any:
    alt = altair()
    colours = palette(theme)
    items = [
        {"row": a, "column": b, "shade": float(shade[i][j]), "text": shown[i][j]}
        for i, a in enumerate(labels)
        for j, b in enumerate(labels)
    ]
    base = alt.Chart(rows(items)).encode(
        x=alt.X(
            "column:N",
            sort=labels,
            title=names[1],
            axis=alt.Axis(labelAngle=0 if len(labels) < 6 else -40, orient="top"),
        ),
        y=alt.Y("row:N", sort=labels, title=names[0]),
    )
    # Opacity instead of mixed colours: a page that turns dark then needs to know no more than the two ends.
    squares = base.mark_rect(color=colours.negative).encode(
        opacity=alt.Opacity("shade:Q", scale=alt.Scale(domain=[0, 1], range=[0, _DARKEST]), legend=None),
        tooltip=[
            alt.Tooltip("row:N", title=names[0]),
            alt.Tooltip("column:N", title=names[1]),
            alt.Tooltip("text:N", title="value"),
        ],
    )
    size = max(150, min(560, 74 * len(labels)))
    layers = [squares]
    if len(labels) <= _WRITTEN:
        # The squares are drawn at most half as dark as the ink, so that one colour of letters is read on all of them.
        layers.append(base.mark_text(fontSize=13 if len(labels) < 8 else 11, color=colours.ink).encode(text="text:N"))
    return finished(altair().layer(*layers), title, theme, says=says, width=size, height=size)


#: Classes up to which the numbers are written into the squares: more would be smaller than anyone reads.
_WRITTEN = 12

#: Opacity of the darkest square: ink on it still has a contrast of 4.5.
_DARKEST = 0.45
