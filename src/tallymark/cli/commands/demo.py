"""Write sample data of rare events, evaluate and count it.

Two models are evaluated, and the positives of a year without labels are counted.

Example: tallymark demo --folder try
"""

from __future__ import annotations

import csv
import importlib.util
from pathlib import Path
from typing import Annotated

import numpy as np

from tallymark._check import Bools, Floats
from tallymark._write import replacing
from tallymark.cli.commands import evaluate, quantify
from tallymark.cli.options import ClusteredRowOptions, EngineOptions, MetricParameters, number, text
from tallymark.cli.output import ReportedOutput
from tallymark.errors import InputError
from tallymark.measures import Evaluations

_ROWS = 60_000
_PREVALENCE = 0.002
_NEW_ROWS = 40_000
_NEW_PREVALENCE = 0.006
_HEADER = "company,region,platform,model_a,model_b"
_REGIONS = ("north", "east", "south", "west")


def run(
    folder: Annotated[str, text("FOLDER", "Where to write the sample data.")] = "demo",
    seed: Annotated[int, number("INTEGER", "Seed of the generated data.", least=0)] = 1,
) -> None:
    """Write the data, evaluate and count it as a user would, and point at what matters."""
    labelled, new = Path(folder) / "companies.csv", Path(folder) / "next_year.csv"
    try:
        labelled.parent.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(seed)
        write(labelled, rng, _ROWS, _PREVALENCE)
        truth = write(new, rng, _NEW_ROWS, _NEW_PREVALENCE, labelled=False)
    except OSError as error:
        raise InputError(
            f"Cannot write {str(labelled)!r}: {error.strerror}. Choose another place with --folder."
        ) from None
    page = str(labelled.with_name("report.html")) if importlib.util.find_spec("vl_convert") else None
    command = f"tallymark evaluate {labelled} --label platform --score model_a --score model_b --threshold f1"
    command += f" --report {page}" if page else ""
    output = ReportedOutput(report=page)
    output.text(f"Wrote {labelled}: {_ROWS} companies, about 0.2 % of them platforms.")
    output.text("$ " + command, "bold")
    evaluations = evaluate.run(
        str(labelled),
        evaluate.ColumnOptions(label="platform", score=["model_a", "model_b"]),
        evaluate.ScannedRowOptions(),
        evaluate.MetricOptions(threshold="f1"),
        MetricParameters(),
        evaluate.IntervalOptions(),
        EngineOptions(),
        output,
    )
    output.text("\nWhat to look at", "bold")
    for line in _remarks(evaluations):
        output.text(f"• {line}")
    command = f"tallymark quantify {labelled} {new} --label platform --score model_b --threshold f1"
    output.text(f"\nHow many are there next year? {new}: {_NEW_ROWS} companies nobody has labelled.")
    output.text("$ " + command, "bold")
    quantify.run(
        str(labelled),
        "platform",
        quantify.GroupOptions(),
        quantify.MethodOptions(threshold="f1", method=["cc", "ac", "ms", "bayes"]),
        quantify.AuditOptions(),
        ClusteredRowOptions(),
        EngineOptions(),
        ReportedOutput(),
        target=str(new),
        score="model_b",
    )
    output.text(f"• In truth there are {truth}; counting predicted positives (cc) cannot know.")
    output.text(
        (f"\nOpen {page} in a browser: sliders, pictures, tables.\n" if page else "\n")
        + "Next: add --by region, --prevalence 0.01, --json or --all; `tallymark metrics mcc` explains a metric."
    )


def write(path: Path, rng: np.random.Generator, rows: int, prevalence: float, *, labelled: bool = True) -> int:
    """Generated companies: two models that differ where it matters, in four regions. How many are platforms."""
    is_platform = rng.random(rows) < prevalence
    region = rng.integers(len(_REGIONS), size=rows)
    # model_a knows every platform a little; model_b knows six in ten very well and hardly the others.
    scores = [_model(rng, is_platform, *shape) for shape in ((1.0, 2.5), (0.6, 4.5))]
    with (
        replacing(path, over=(_HEADER.encode(),)) as temporary,
        temporary.open("w", newline="", encoding="utf-8") as file,
    ):
        writer = csv.writer(file)
        writer.writerow(_HEADER.split(","))
        writer.writerows(
            (
                f"c{i:05d}",
                _REGIONS[region[i]],
                int(is_platform[i]) if labelled else "",
                f"{scores[0][i]:.6f}",
                f"{scores[1][i]:.6f}",
            )
            for i in range(rows)
        )
    return int(is_platform.sum())


def _model(rng: np.random.Generator, is_positive: Bools, known: float, distance: float) -> Floats:
    """Probabilities from a model trained on balanced data: right order, far too many positives."""
    shift = np.where(rng.random(len(is_positive)) < known, distance, 1.0)
    evidence = rng.normal(size=len(is_positive)) + is_positive * shift
    return 1.0 / (1.0 + np.exp(-2.0 * (evidence - 1.25)))


def _remarks(evaluations: Evaluations) -> list[str]:
    a, b = evaluations["model_a"], evaluations["model_b"]
    share = (a.positives or 0) / a.n
    return [
        f"Accuracy is {a['accuracy'].value:.4f} and {b['accuracy'].value:.4f}, and a model that says no to everything "
        "has "
        f"{1 - share:.4f}: at {100 * share:.3g} % positives accuracy tells nothing.",
        f"AUROC is {a['auroc'].value:.3f} for model_a and {b['auroc'].value:.3f} for model_b, average precision "
        f"{a['average_precision'].value:.3f} and {b['average_precision'].value:.3f} (chance {share:.4f}). AUROC speaks "
        "of the "
        "whole list, average precision of its top: say which one you need before you pick a model.",
        f"The probabilities add up to {a['positive_estimate'].value:.0f} and {b['positive_estimate'].value:.0f} "
        "platforms "
        f"where there are {a.positives}: scores from balanced training cannot be summed into a count.",
        f"At the best F1 threshold model_b finds {100 * b['recall'].value:.0f} % of the platforms and "
        f"{100 * b['precision'].value:.0f} % of its hits are right; the threshold was chosen on the same rows, so both "
        "are "
        "a little too good.",
    ]
