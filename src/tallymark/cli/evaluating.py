"""``tallymark evaluate``."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._show import number
from tallymark.cli.printing import console, print_json, print_notes, table
from tallymark.errors import GuardWarning, InputError, shown
from tallymark.evaluation import evaluate
from tallymark.registry import METRICS
from tallymark.results import Evaluation, Evaluations, Measure, Note
from tallymark.sources.doors import class_scores, confusion, tallies_of_columns
from tallymark.sources.files import read_file
from tallymark.summaries.confusion import Confusion

#: What a first look needs, in the order it is read.
_HEADLINE = (
    "auroc", "average_precision", "h_measure", "spcc",
    "accuracy", "balanced_accuracy", "precision", "recall", "specificity", "f1", "mcc",
    "brier", "ece", "bias", "positive_estimate", "predicted_prevalence",
)  # fmt: skip
_BY_GROUP = ("auroc", "average_precision", "precision", "recall", "f1", "mcc")

#: Classes listed when there are many: those with the lowest F1.
_WORST = 15


def run(
    file: str, *, label: str, scores: Sequence[str], predicted: Sequence[str], probabilities: Sequence[str],
    pos_label: str | None, weight: str | None, count: str | None, by: Sequence[str], threshold: str | None,
    prevalence: float | None, metrics: Sequence[str] | None, every: bool, strict: bool, as_json: bool,
) -> Evaluations:  # fmt: skip
    """Read, evaluate, print; gives back what was printed."""
    if sum(map(bool, (scores, predicted, probabilities))) != 1:
        raise InputError(
            "Say what to evaluate: --score COLUMN, --predicted COLUMN, or --probability CLASS=COLUMN for each class."
        )
    groups = [name for part in by for name in part.split(",")]
    pairs = [_class_and_column(text) for text in probabilities]
    if (predicted or pairs) and groups:
        raise InputError("--by goes with --score.")
    if (weight is not None) and (count is not None):
        raise InputError("Give --weight (survey weights) or --count (repeated rows), not both.")
    wanted = [(label, "--label"), *((name, "--score") for name in scores), *((name, "--by") for name in groups)]
    wanted += [(name, "--predicted") for name in predicted] + [(name, "--probability") for _, name in pairs]
    wanted += [(name, option) for name, option in ((weight, "--weight"), (count, "--count")) if name is not None]
    columns = read_file(file, wanted)
    masses = {
        "counts": None if count is None else columns[count],
        "weights": None if weight is None else columns[weight],
    }
    options: dict[str, Any] = {"metrics": metrics, "prevalence": prevalence, "strict": strict}
    result: Evaluations
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if scores:
            found = tallies_of_columns(
                columns, label, scores, groups, weight=weight, count=count,
                pos_label=_label_called(pos_label, columns[label], label), strict=strict,
            )  # fmt: skip
            result = evaluate(found, threshold=threshold, **options)
        elif predicted:
            result = Evaluations(("model",), {
                (name,): evaluate(_confusion(columns, label, name, pos_label, masses), threshold=threshold, **options)
                for name in predicted
            })  # fmt: skip
        else:
            result = Evaluations(("model",), {("probability",): evaluate(
                _class_scores(columns, label, pairs, masses), threshold=threshold, **options
            )})  # fmt: skip
    notes = _notes(result, caught)
    if as_json:
        print_json(result.to_dict() | {"warnings": [vars(note) for note in notes]})
    else:
        _print(result, file, metrics, every=every)
        print_notes(notes)
    return result


def _confusion(columns: Any, label: str, predicted: str, pos_label: str | None, masses: Any) -> Any:
    positive = _label_called(pos_label, columns[label], label)
    return confusion(columns[label], columns[predicted], pos_label=positive, **masses)


def _class_scores(columns: Any, label: str, pairs: Sequence[tuple[str, str]], masses: Any) -> Any:
    present = _check.distinct(_check.labels(columns[label], label), label)
    by_text = {str(value): value for value in present}
    # A class that has a column but no rows is known by its text alone.
    classes = [by_text.get(name, name) for name, _ in pairs]
    absent = [value for value in present if value not in classes]
    if absent:
        raise InputError(f"No --probability column for the class {shown(absent)}; give CLASS=COLUMN for every class.")
    matrix = np.column_stack([_check.scores(columns[name], name) for _, name in pairs])
    return class_scores(columns[label], matrix, classes=classes, **masses)


def _class_and_column(text: str) -> tuple[str, str]:
    name, equals, column = text.partition("=")
    if not equals or not name or not column:
        raise InputError(f"--probability {text!r}: write CLASS=COLUMN, e.g. --probability cat=p_cat.")
    return name, column


def _label_called(text: str | None, column: Any, name: str) -> Any:
    """The label a user typed, in the type it has in the file."""
    if text is None:
        return None
    present = _check.distinct(_check.labels(column, name), name)
    for spelled in (str, lambda value: str(value).lower()):
        matches = [value for value in present if spelled(value) == spelled(text)]
        if len(matches) == 1:
            return matches[0]
    raise InputError(f"--pos-label {text!r} does not occur in {name!r}, which has the values {shown(present)}.")


def _notes(result: Evaluations, caught: Sequence[warnings.WarningMessage]) -> list[Note]:
    """Each guard once: those of the evaluations name their model, the others were met on reading."""
    own = list(result.warnings)
    known = {note.message.split(": ", 1)[-1] for note in own}
    read = [w.message for w in caught if isinstance(w.message, GuardWarning) and w.message.message not in known]
    return [*dict.fromkeys(Note(message.code, message.message) for message in read), *own]


def _print(result: Evaluations, file: str, metrics: Sequence[str] | None, *, every: bool) -> None:
    out = console()
    first = next(iter(result.values()))
    if len(result.names) > 1:
        out.print(_group_table(result, metrics))
        return
    if first.per_class:
        for name, evaluation in result.items():
            out.print(_value_table(f"{file}: {name}, {number(evaluation.n)} rows, {len(evaluation.per_class)} classes",
                                   {name: evaluation}, list(evaluation)))  # fmt: skip
            if evaluation.confusion is not None:
                out.print(_class_table(evaluation, evaluation.confusion, every=every))
        return
    share = (first.positives or 0) / first.n
    title = f"{file}: {number(first.n)} rows, {number(first.positives)} positive ({100 * share:.3g} %)"
    names = list(first) if every or metrics else [name for name in _HEADLINE if name in first]
    out.print(_value_table(title, dict(result), names))


def _value_table(title: str, evaluations: dict[str, Evaluation], names: Sequence[str]) -> Any:
    several = len(evaluations) > 1
    heads = [("metric", "left"), *((name if several else "value", "right") for name in evaluations)]
    bounded = any(e[name].bound for e in evaluations.values() for name in names)
    heads += [("chance", "right"), *([("bound", "right")] if bounded else []), ("what it means", "left")]
    rows = []
    thresholds = [number(e.threshold) + (f" ({e.policy})" if e.policy else "") for e in evaluations.values()]
    if any(e.threshold is not None for e in evaluations.values()):
        rows.append(
            ["threshold", *thresholds, "", *([""] if bounded else []), "score from which a row is called positive"]
        )
    for name in names:
        measures = [e[name] for e in evaluations.values()]
        reasons = {m.reason for m in measures if m.reason}
        meaning = "; ".join(sorted(reasons)) or _AVERAGED.get(name) or METRICS[name].meaning
        rows.append([name, *(number(m.value) for m in measures), _same(measures),
                     *([_bounds(measures)] if bounded else []), meaning])  # fmt: skip
    return table(title, heads, rows)


#: What the averaged metrics of K classes mean.
_AVERAGED = {
    "precision_macro": "Mean of the classes' precisions, every class alike.",
    "recall_macro": "Mean of the classes' recalls, every class alike; does not move with class sizes.",
    "f1_macro": "Mean of the classes' F1 (scikit-learn's macro F1).",
    "f1_of_macro_means": "F1 of macro precision and macro recall (the ONS's macro F1).",
    "f1_micro": "With one label a row this is accuracy, and moves with class sizes.",
    "precision_weighted": "Mean of the classes' precisions, by class size.",
    "recall_weighted": "Mean of the classes' recalls, by class size: accuracy again.",
    "f1_weighted": "Mean of the classes' F1, by class size.",
}


def _same(measures: Sequence[Measure]) -> str:
    levels = [m.chance for m in measures if m.chance is not None]
    if not levels:
        return ""
    return number(levels[0]) if np.allclose(levels, levels[0], rtol=1e-9) else "varies"


def _bounds(measures: Sequence[Measure]) -> str:
    widths = [m.bound[1] - m.bound[0] for m in measures if m.bound]
    return f"±{max(widths):.1g}" if widths and max(widths) > 0 else "exact"


def _class_table(evaluation: Evaluation, matrix: Confusion, *, every: bool) -> Any:
    # A class whose F1 is undefined has neither rows nor predictions and comes last.
    rows = sorted(evaluation.per_class.items(), key=lambda item: np.nan_to_num(item[1]["f1"].value, nan=2.0))
    listed = rows if every else rows[:_WORST]
    sizes = dict(zip(map(str, matrix.labels), matrix.truth.tolist(), strict=True))
    names = list(rows[0][1])
    hidden = len(rows) - len(listed)
    title = "By class, lowest F1 first" + (f" ({hidden} more with --all)" if hidden else "")
    return table(title, [("class", "left"), ("n", "right"), *((name, "right") for name in names)],
                 [[label, number(sizes[label]), *(number(measures[name].value) for name in names)] for label, measures in listed])  # fmt: skip


def _group_table(result: Evaluations, metrics: Sequence[str] | None) -> Any:
    names = [METRICS[name].name for name in metrics or _BY_GROUP]
    heads = [
        *((name, "left") for name in result.names),
        ("n", "right"),
        ("positive", "right"),
        *((n, "right") for n in names),
    ]
    rows = [
        [*map(str, key), number(e.n), number(e.positives), *(number(e[name].value) for name in names)]
        for key, e in result.items()
    ]
    return table(f"By {', '.join(result.names[1:])}", heads, rows)
