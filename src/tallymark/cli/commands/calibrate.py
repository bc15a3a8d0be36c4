"""Turn scores into probabilities.

They hold at the prevalence of the labelled sample or, with --method bayes, at that of the target.

Example: tallymark calibrate labelled.csv new.csv --label y --score s --out new_with_p.parquet
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from tallymark._numbers import noun
from tallymark.cli.options import Label, WeightedRowOptions, column, data_file, text
from tallymark.cli.output import CheckedOutput, require_table_place, write_beside
from tallymark.cli.reading import read_tally
from tallymark.errors import InputError
from tallymark.quantify.estimation.mixture_test import mixture_fit
from tallymark.registry import CALIBRATIONS, Calibration, choose
from tallymark.sources.constructors import tally
from tallymark.sources.engine import engine
from tallymark.sources.files import columns_of
from tallymark.sources.formats import Wanted


def run(
    validation: Annotated[str, data_file("VALIDATION", "Labelled rows with scores.")],
    target: Annotated[str, data_file("TARGET", "Rows whose scores become probabilities.")],
    label: Label,
    score: Annotated[str, column("Score column, in both files.")],
    out: Annotated[str, text("FILE", "CSV, Parquet or spreadsheet file to write: the target with one more column.")],
    rows: WeightedRowOptions,
    output: CheckedOutput,
    method: Annotated[str, text("METHOD", "bayes, platt, isotonic, beta or temperature.")] = "bayes",
    column: Annotated[str, text("NAME", "Name of the new column.")] = "probability",
) -> None:
    """Fit on the validation rows, write the target with its probabilities."""
    calibration: Calibration = choose("--method", method, CALIBRATIONS)
    require_table_place(out, validation, target)
    fitted_on = read_tally(validation, label, score, rows)
    wanted = [Wanted(score, "--score", "number")]
    with engine(target, wanted) as source:
        source.keep_order()
        if column in source.types:
            raise InputError(f"{target!r} has a column {column!r} already; choose another name with --column.")
        scores = columns_of(source, wanted)[score]
    samples = [tally(scores=scores)] if calibration.uses_target else []
    fitted = calibration.fit(fitted_on, *samples)
    # What is fitted to the target's scores too assumes that they are a mixture of the two classes.
    notes = tuple(note for one in samples for note in mixture_fit(fitted_on, one).warnings)
    probabilities, parameters = fitted(scores), dict(fitted.parameters)
    write_beside(out, target, {column: probabilities}, numbers=[score])
    total = float(np.sum(probabilities))
    if output.as_json:
        answer = {"n": len(scores), "rows": len(scores), "sum": total, "method": method, **parameters, "out": out}
        output.answer("calibrate", answer, notes)
        return
    fit = ", ".join(f"{name} {value:.4g}" for name, value in parameters.items())
    output.text(
        f"Wrote {out}: {len(scores)} {noun(len(scores), 'row')} with {column} ({method}: {fit}); they add up to "
        f"{total:.1f} positives."
    )
    output.notes(notes)
