"""Charts of matrices: confusion matrices in counts or rates, and pairwise discriminability of classes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tallymark._check import Floats
from tallymark._numbers import amount, per_cent
from tallymark.charts.pictures import picture_of
from tallymark.charts.theme import Chart, altair, finished, palette, require_kind, rows, titled
from tallymark.errors import InputError
from tallymark.measures import Evaluation
from tallymark.summaries.confusion import Confusion


@picture_of("Confusion")
def confusion(data: Confusion, *, rates: bool = False, name: str | None = None, theme: str = "light") -> Chart:
    """Confusion matrix, true classes in rows: counts, or rates of each true class.

    Of two classes the positive one comes first; of more than twelve only tooltips have the numbers.

    Parameters
    ----------
    data
        A confusion matrix.
    rates
        Show shares of each true class.
    name
        Name of the model, for the title.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> chart = tm.charts.confusion(tm.confusion([0, 1, 1], [0, 1, 0]))
    >>> chart.to_dict()["title"]["text"]
    'Confusion matrix'
    """
    require_kind(data, "Confusion", "tm.confusion")
    order = [1, 0] if data.positive == 1 and len(data.labels) == 2 else list(range(len(data.labels)))
    matrix = data.matrix[np.ix_(order, order)].astype(np.float64)
    totals = matrix.sum(axis=1, keepdims=True)
    shares = np.divide(matrix, totals, out=np.zeros_like(matrix), where=totals > 0)
    labels = [str(data.labels[i]) for i in order]
    # Counts spread over powers of ten: on a log scale a thousand and a million are both visible.
    logged = np.log1p(matrix) / max(float(np.log1p(matrix).max()), 1.0)
    texts = (
        [[per_cent(v) for v in line] for line in shares] if rates else [[amount(c) for c in line] for line in matrix]
    )
    hits = float(np.trace(matrix)) / float(matrix.sum()) if matrix.sum() else 0.0
    title = titled("Confusion matrix" + (" (% of the true class)" if rates else ""), name)
    says = f"{per_cent(hits)} of the rows are on the diagonal."
    if len(labels) == 2:
        says = (
            f"Of {amount(totals[0, 0])} rows of class {labels[0]}, {amount(matrix[0, 0])} are predicted {labels[0]}; "
            f"of {amount(totals[1, 0])} of class {labels[1]}, {amount(matrix[1, 0])} are."
        )
    grid = _Grid(labels, shares if rates else logged, texts, ("truth", "predicted"))
    return _draw(grid, title, theme, says)


def class_correlations(data: Evaluation, *, table: str = "spcc_one_vs_one", theme: str = "light") -> Chart:
    """One-against-one sPCC of K classes: how well the scores separate each pair of classes.

    Parameters
    ----------
    data
        The evaluation of class scores.
    table
        Name of the evaluation's table.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> s = tm.class_scores([0, 1, 2, 0, 1, 2], [[.8, .1, .1], [.3, .6, .1], [.5, .1, .4]] * 2, classes=[0, 1, 2])
    >>> tm.charts.class_correlations(tm.evaluate(s, level=None)).to_dict()["title"]["text"]
    'How well each pair of classes is told apart (sPCC)'
    """
    require_kind(data, "Evaluation", "tm.evaluate")
    if data.confusion is None:
        raise InputError(
            "This evaluation has no confusion matrix, whose classes are drawn; evaluate tm.class_scores(…)."
        )
    if table not in data.tables:
        tables = ", ".join(data.tables) or "none"
        raise InputError(f"This evaluation has no table {table!r}; evaluate tm.class_scores(…). It has: {tables}.")
    matrix = np.array(data.tables[table], dtype=np.float64)
    # A class against itself is no pair.
    np.fill_diagonal(matrix, np.nan)
    labels = [str(label) for label in data.confusion.labels]
    texts = [["" if np.isnan(v) else f"{v:.3f}" for v in line] for line in matrix]
    grid = _Grid(labels, np.nan_to_num(matrix), texts, ("class", "against"))
    return _draw(grid, "How well each pair of classes is told apart (sPCC)", theme)


class _Grid(NamedTuple):
    """A square of cells: shade (0 to 1) and text of each, and the titles of its rows and columns."""

    labels: list[str]
    shade: Floats
    text: list[list[str]]
    names: tuple[str, str]


def _draw(grid: _Grid, title: str, theme: str, says: str = "") -> Chart:
    alt = altair()
    colours = palette(theme)
    labels, names = grid.labels, grid.names
    items = [
        {"row": a, "column": b, "shade": float(grid.shade[i, j]), "text": grid.text[i][j]}
        for i, a in enumerate(labels)
        for j, b in enumerate(labels)
    ]
    ticks = alt.Axis(labelAngle=0 if len(labels) < 6 else -40, orient="top")
    base = alt.Chart(rows(items)).encode(
        x=alt.X("column:N", sort=labels, title=names[1], axis=ticks), y=alt.Y("row:N", sort=labels, title=names[0])
    )
    # Opacity instead of mixed colours: a page in dark mode replaces two colours only.
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
        # Squares are at most half as dark as the ink, so that text of one colour is legible on all of them.
        layers.append(base.mark_text(fontSize=13 if len(labels) < 8 else 11, color=colours.ink).encode(text="text:N"))
    return finished(alt.layer(*layers), title, theme, says=says, width=size, height=size)


#: Classes up to which numbers are written into the squares; of more they would be illegible.
_WRITTEN = 12

#: Opacity of the darkest square: text on it has a contrast of 4.5.
_DARKEST = 0.45
