"""``tallymark calibrate``."""

from __future__ import annotations

import numpy as np

from tallymark._numbers import noun
from tallymark.cli.commands.sources import Source
from tallymark.cli.output import require_table_place, write_beside
from tallymark.cli.printing import print_json, print_notes, print_text
from tallymark.errors import InputError
from tallymark.quantify.estimation.mixture_test import mixture_fit
from tallymark.registry import CALIBRATIONS, Calibration, choose
from tallymark.sources.constructors import tally
from tallymark.sources.engine import engine
from tallymark.sources.files import columns_of
from tallymark.sources.formats import Wanted


def run(
    validation: str, target: str, label: str, score: str, out: str, method: str, column: str, pos_label: str | None, source: Source,
    *, as_json: bool,
) -> None:  # fmt: skip
    """Fit on the validation rows, write the target with its probabilities."""
    calibration: Calibration = choose("--method", method, CALIBRATIONS)
    require_table_place(out, validation, target)
    fitted_on = source.tally(validation, label, score, pos_label)
    wanted = [Wanted(score, "--score", "number")]
    with engine(target, wanted) as opened:
        opened.keep_order()
        if column in opened.types:
            raise InputError(f"{target!r} has a column {column!r} already; choose another name with --column.")
        scores = columns_of(opened, wanted)[score]
    samples = [tally(scores=scores)] if calibration.uses_target else []
    fitted = calibration.fit(fitted_on, *samples)
    # What is fitted to the target's scores too rests on their being a mixture of the two classes.
    notes = tuple(note for one in samples for note in mixture_fit(fitted_on, one).warnings)
    probabilities, parameters = fitted(scores), dict(fitted.parameters)
    write_beside(out, target, {column: probabilities}, numbers=[score])
    summary = {"rows": len(scores), "sum": float(np.sum(probabilities)), "method": method, **parameters, "out": out}
    if as_json:
        print_json("calibrate", {"n": len(scores), **summary}, notes)
        return
    told = ", ".join(f"{name} {value:.4g}" for name, value in parameters.items())
    print_text(
        f"Wrote {out}: {len(scores)} {noun(len(scores), 'row')} with {column} ({method}: {told}); they add up to {summary['sum']:.1f} positives."
    )
    print_notes(notes)
