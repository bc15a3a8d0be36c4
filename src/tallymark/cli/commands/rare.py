"""Count a rare class in texts.

Models are trained on texts in which the class is common and count in texts in which it is rare.

Example: tallymark rare labelled.csv new.parquet --text body --label platform
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from tallymark import rare
from tallymark._numbers import number as shown
from tallymark.cli.options import Jobs, LevelOrNone, OptionGroup, PosLabel, Seed, column, data_file, names, number, text
from tallymark.cli.output import ReportedOutput, progress_bar, require_table_place, write_beside
from tallymark.errors import InputError
from tallymark.rare.comparison import METHODS as RARE_METHODS
from tallymark.rare.files import TextColumn
from tallymark.rare.results import ClassWeightSweep, RareComparison, RareCount
from tallymark.registry import choose
from tallymark.sources.any_columns import any_columns
from tallymark.sources.formats import Wanted

#: Numbers from here on are counts, of which one decimal is enough.
_COUNTED = 10.0

#: The ways to count by the name they have on the command line.
METHODS: Mapping[str, str] = {name.replace("_", "-"): name for name in RARE_METHODS}

#: The option that runs all of them.
_ALL = "all"


@dataclass(frozen=True)
class CleaningOptions(OptionGroup):
    """How texts become words."""

    heading: ClassVar[str] = "Words"

    min_letters: Annotated[int, number("INTEGER", "Shorter words are dropped.", least=1)] = 3
    min_words: Annotated[int, number("INTEGER", "Texts with fewer words are left out.", least=1)] = 1
    min_df: Annotated[int, number("INTEGER", "Words of fewer training texts are dropped.", least=1)] = 2
    language: Annotated[list[str] | None, names("CODE", "Languages to tell apart: de, en, es, fr, nl")] = None
    stem: Annotated[str | None, text("CODE", "Stem words of this language (needs snowballstemmer).")] = None


def run(
    train: Annotated[str, data_file("TRAIN", "CSV, Parquet, Excel or other data file with labelled texts.")],
    target: Annotated[str, data_file("TARGET", "File with the texts to count in.")],
    text: Annotated[str, column("Column with the text, in both files.")],
    label: Annotated[str, column("Column with the true class, in TRAIN.")],
    cleaning: CleaningOptions,
    output: ReportedOutput,
    target_label: Annotated[
        str | None, column("Column of TARGET with the true class, to see how good the count is.")
    ] = None,
    pos_label: PosLabel = None,
    method: Annotated[str, text("METHOD", f"{', '.join(METHODS)}; or all, side by side.")] = "bootstrap",
    machines: Annotated[
        int | None,
        number("INTEGER", "Models to train (bootstrap 1000, a weight 10, an ensemble 10, balanced 1).", least=1),
    ] = None,
    level: LevelOrNone = 0.95,
    seed: Seed = 0,
    jobs: Jobs = None,
    out: Annotated[str | None, text("FILE", "Write TARGET with scores and probabilities to this file.")] = None,
) -> RareCount | RareComparison:
    """Train on the labelled texts, count in the target, print; gives back what was printed."""
    chosen = choose("--method", method, {**METHODS, _ALL: None})
    output.require_place(train, target)
    require_table_place(out, train, target)
    if chosen is None and out is not None:
        raise InputError("--out writes the scores of one method; name it with --method.")
    words = asdict(cleaning)
    labels = _column(train, label, "--label")
    truth = None if target_label is None else _column(target, target_label, "--target-label")
    known, unknown = (TextColumn(path, text, option="--text") for path in (train, target))
    own = {} if machines is None else {"machines": machines}
    with progress_bar(f"Counting in {target}") as progress:
        options: dict[str, Any] = {
            "target_labels": truth,
            "pos_label": pos_label,
            "cleaning": rare.Cleaning(languages=words.pop("language") or (), **words),
            "level": level or None,
            "seed": seed,
            "jobs": jobs,
            "progress": progress,
        }
        if chosen is None:
            compared = rare.compare(known, labels, unknown, methods=dict.fromkeys(RARE_METHODS, own), **options)
        else:
            result = RARE_METHODS[chosen](known, labels, unknown, **options, **own)
    if chosen is None:
        return _show_all(compared, target, output)
    if out is not None:
        write_beside(out, target, {"tallymark_score": result.scores, "tallymark_probability": result.posteriors})
    output.write_report(result, target)
    if output.as_json:
        output.answer("rare", result.to_dict() | {"out": out}, result.warnings)
        return result
    _print(result, target, out, output)
    output.notes(result.warnings)
    output.say_where()
    return result


def _show_all(compared: RareComparison, target: str, output: ReportedOutput) -> RareComparison:
    """The methods side by side."""
    output.write_report(compared, target)
    if output.as_json:
        output.answer("rare", compared.to_dict(), compared.warnings)
        return compared
    output.text(f"{target}: {compared.heading()}", "bold")
    output.rows(compared.rows(), shown=_shown)
    output.text(f"Calibrated probabilities; --json has all four variants. {_DEVIATIONS}", "dim", indent="  ")
    for name, one in compared.counts.items():
        if one.count.reason is not None:
            output.text(f"{name}: no count: {one.count.reason}.", indent="  ")
    output.notes(compared.warnings)
    output.say_where()
    return compared


#: What the columns of a count mean.
_DEVIATIONS = (
    "sd is the within-sample Bernoulli deviation; low and high span the chance in both samples, if the texts of each "
    "class are alike in them."
)


def _column(paths: str, name: str, option: str) -> Any:
    """A column of labels, in the order of the files."""
    return any_columns(paths, [Wanted(name, option)])[name]


def _print(result: RareCount, target: str, out: str | None, output: ReportedOutput) -> None:
    output.text(f"{target}: {result.heading()}", "bold")
    output.rows(result.table, shown=_shown)
    output.text(_DEVIATIONS, "dim", indent="  ")
    if isinstance(result, ClassWeightSweep):
        output.text("")
        output.rows(result.sweep, "Weights of positives in training; labelled texts chose", _shown)
        output.text("--json and --report have all four variants of each weight.", "dim", indent="  ")
    if result.count.reason is None:
        verdict = result.fit.verdict
        output.text(f"{verdict[0].upper()}{verdict[1:]}.", indent="  ")
    if out is not None:
        left_out = int(np.count_nonzero(~result.counted))
        empty = f", empty for the {left_out} texts left out" if left_out else ""
        output.text(f"Wrote {out}: the target with tallymark_score and tallymark_probability{empty}.")


def _shown(value: Any) -> str:
    """A count with one decimal, anything else as everywhere."""
    if value is None:
        return ""
    return f"{value:.1f}" if isinstance(value, float) and abs(value) >= _COUNTED else shown(value)
