"""Tables of an evaluation for the terminal: metrics of models, groups and classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallymark._cells import Written
from tallymark._numbers import amount, equals_p, number, per_cent, with_limits
from tallymark.cli.layout import TextTable, table
from tallymark.cli.output import Output
from tallymark.decisions.verdicts import alarms, most_confused
from tallymark.errors import InputError
from tallymark.inference.hypothesis_tests.heterogeneity import Heterogeneity, heterogeneity
from tallymark.measures import Evaluation, Evaluations, Measure
from tallymark.metrics import headlines
from tallymark.metrics.averages import CLASS_METRICS
from tallymark.registry import METRICS
from tallymark.reporting.sentences import found
from tallymark.summaries.confusion import Confusion

#: Classes listed when there are many: those with the lowest F1.
_WORST = 15


@dataclass(frozen=True)
class Shown:
    """Which metrics are shown of what."""

    #: Names the rows, at the top of the table.
    title: str
    metrics: Sequence[str] | None = None
    every: bool = False


def print_evaluations(result: Evaluations, shown: Shown, output: Output) -> None:
    """The tables of an evaluation, and below them what their numbers mean."""
    first = next(iter(result.values()))
    if len(result.names) > 1:
        _print_groups(result, shown, output)
    elif first.per_class:
        for name, evaluation in result.items():
            _print_classes(name, evaluation, shown, output)
    else:
        _print_models(result, shown, output)


def _print_groups(result: Evaluations, shown: Shown, output: Output) -> None:
    output.table(_group_table(result, shown))
    _explain_intervals(next(iter(result.values())), output)
    for line in (*_differences(result), *_reasons(result, shown)):
        output.text(line, "dim", indent="  ")


def _print_classes(name: str, evaluation: Evaluation, shown: Shown, output: Output) -> None:
    title = f"{shown.title}: {name}, {evaluation.size()}, {len(evaluation.per_class)} classes"
    output.table(_value_table(title, {name: evaluation}, list(evaluation)))
    if len(evaluation.per_class) == 2:
        output.text("Two classes: say --pos-label to see precision, recall and F1 of the positive one.", "dim")
    if "spcc_one_vs_one" in evaluation.tables:
        output.table(_correlations(evaluation.tables))
    if evaluation.confusion is not None:
        output.table(_matrix(evaluation.confusion))
        output.table(_class_table(evaluation, evaluation.confusion, every=shown.every))


def _print_models(result: Evaluations, shown: Shown, output: Output) -> None:
    first = next(iter(result.values()))
    at = "" if first.prevalence is None else f", seen at prevalence {number(first.prevalence)}"
    names = list(first) if shown.every or shown.metrics else [name for name in headlines.TABLE if name in first]
    output.table(_value_table(f"{shown.title}: {first.size()}{at}", dict(result), names))
    _print_found(result, output)
    _explain_intervals(first, output)
    if len(result) > 1:
        undefined = (evaluation[name].reason for evaluation in result.values() for name in names)
        reasons = [reason for reason in dict.fromkeys(undefined) if reason is not None]
        for line in (*reasons, "`tallymark metrics NAME` says what a metric means."):
            output.text(line, "dim", indent="  ")


def _print_found(result: Evaluations, output: Output) -> None:
    """How many are found, where what is sought has a name."""
    for model, one in result.items():
        counts = None if one.called is None else alarms(one)
        if counts is not None:
            output.text(f"{found(str(model), one, counts)}.", indent="  ")


def _explain_intervals(first: Evaluation, output: Output) -> None:
    """What the numbers in brackets are, and the optimism of a threshold that was chosen on the same rows."""
    if first.intervals is None:
        return
    hint = "; for class sizes fixed by design add --sampling stratified"
    hint = hint if first.sampling == "plain" and first.prevalence is None else ""
    output.text(f"In brackets: {first.intervals}{hint}.", "dim", indent="  ")
    if first.policy is not None and any(measure.optimism is not None for measure in first.values()):
        output.text(
            f"The threshold was chosen on these rows ({first.policy}): values at it are too good by about their "
            "optimism (--json), and their intervals allow for it.",
            "dim",
            indent="  ",
        )


def _value_table(title: str, evaluations: dict[str, Evaluation], names: Sequence[str]) -> TextTable:
    """Metrics down, models across; one model alone leaves room for what each metric means."""
    alone = len(evaluations) == 1
    bounded = any(e[name].bound for e in evaluations.values() for name in names)
    heads: list[tuple[Any, ...]] = [
        ("metric", "left"),
        *(("value" if alone else name, "right") for name in evaluations),
        ("chance", "right", True),
    ]
    heads += [*([("bound", "right")] if bounded else []), *([("what it means", "prose")] if alone else [])]
    rows = []
    if any(e.threshold is not None for e in evaluations.values()):
        thresholds = [_threshold(e) for e in evaluations.values()]
        meaning = "score from which a row is predicted positive"
        rows.append(["threshold", *thresholds, "", *([""] if bounded else []), *([meaning] if alone else [])])
    for name in names:
        measures = [e[name] for e in evaluations.values()]
        classes = any(e.per_class for e in evaluations.values())
        meaning = (
            measures[0].reason
            or (CLASS_METRICS[name].meaning if classes and name in CLASS_METRICS else None)
            or METRICS[name].meaning
        )
        rows.append(
            [
                name,
                *map(_with_interval, measures),
                _same(measures),
                *([_bounds(measures)] if bounded else []),
                *([meaning] if alone else []),
            ]
        )
    return table(title, heads, rows)


def _threshold(evaluation: Evaluation) -> str:
    text = number(evaluation.threshold)
    return Written(f"{text} ({evaluation.policy})", evaluation.threshold) if evaluation.policy else text


def _with_interval(measure: Measure) -> str:
    return number(measure.value) if measure.interval is None else with_limits(measure.value, *measure.interval)


def _same(measures: Sequence[Measure]) -> str:
    levels = [m.chance for m in measures if m.chance is not None]
    if not levels:
        return ""
    return number(levels[0]) if np.allclose(levels, levels[0], rtol=1e-9) else " / ".join(map(number, levels))


def _bounds(measures: Sequence[Measure]) -> str:
    """How far the value can be off on either side."""
    off = [max(m.value - m.bound[0], m.bound[1] - m.value) for m in measures if m.bound]
    return Written(f"±{max(off):.1g}", max(off)) if off and max(off) > 0 else Written("exact", 0.0)


#: Classes up to which the matrix is printed; of more, the most frequent confusions.
_LARGEST_MATRIX = 12


def _matrix(matrix: Confusion) -> TextTable:
    labels = [str(label) for label in matrix.labels]
    if len(labels) <= _LARGEST_MATRIX:
        rows = [[label, *map(amount, line)] for label, line in zip(labels, matrix.matrix.tolist(), strict=True)]
        heads = [("truth \\ predicted", "left"), *((label, "right") for label in labels)]
        return table("Confusion matrix", heads, rows)
    lines = [[truth, call, amount(n), per_cent(share)] for truth, call, n, share in most_confused(matrix)]
    heads = [("truth", "left"), ("predicted", "left"), ("rows", "right"), ("of the true class", "right")]
    return table("Most frequent confusions", heads, lines)


def _correlations(tables: Mapping[str, Any]) -> TextTable:
    """The sPCC of each class's score between two classes; of many classes the pairs it separates least."""
    labels, values = [str(label) for label in tables["classes"]], tables["spcc_one_vs_one"]
    pairs = [(i, j) for i in range(len(labels)) for j in range(len(labels)) if i != j]
    if len(labels) <= _LARGEST_MATRIX:
        rows = [
            [label, *("–" if i == j else number(values[i][j]) for j in range(len(labels)))]
            for i, label in enumerate(labels)
        ]
        heads = [("score of \\ against", "left"), *((label, "right") for label in labels)]
        return table("sPCC of each class's score, between its rows and those of another class", heads, rows)
    lowest = sorted(pairs, key=lambda pair: np.nan_to_num(values[pair[0]][pair[1]], nan=2.0))[:_WORST]
    lines = [[labels[i], labels[j], number(values[i][j])] for i, j in lowest]
    heads = [("score of", "left"), ("against", "left"), ("sPCC", "right")]
    return table("Pairs of classes that a class's score separates least", heads, lines)


def _class_table(evaluation: Evaluation, matrix: Confusion, *, every: bool) -> TextTable:
    # A class whose F1 is undefined has neither rows nor predictions and comes last.
    rows = sorted(evaluation.per_class.items(), key=lambda item: np.nan_to_num(item[1]["f1"].value, nan=2.0))
    listed = rows if every else rows[:_WORST]
    sizes = dict(zip(map(str, matrix.labels), matrix.truth.tolist(), strict=True))
    names = list(rows[0][1])
    hidden = len(rows) - len(listed)
    title = "By class, lowest F1 first" + (f" ({hidden} more with --all)" if hidden else "")
    return table(
        title,
        [("class", "left"), ("n", "right"), *((name, "right") for name in names)],
        [
            [label, number(sizes[label]), *(_with_interval(measures[name]) for name in names)]
            for label, measures in listed
        ],
    )


def _group_table(result: Evaluations, shown: Shown) -> TextTable:
    names = _group_metrics(result, shown)
    cuts = {e.threshold for e in result.values()}
    if len(cuts) > 1:
        at = f", threshold by {next(iter(result.values())).policy} in each"
    else:
        (cut,) = cuts
        at = "" if cut is None else f", threshold {number(cut)}"
    two_classes = any(e.positives is not None for e in result.values())
    heads = [*((name, "left") for name in result.names), ("n", "right")]
    heads += [(next(iter(result.values())).words.kind, "right")] if two_classes else []
    heads += [("threshold", "right")] if len(cuts) > 1 else []
    rows = [
        [
            *map(str, key),
            number(e.n),
            *([number(e.positives)] if two_classes else []),
            *([number(e.threshold)] if len(cuts) > 1 else []),
            *(_with_interval(e[name]) for name in names),
        ]
        for key, e in result.entries.items()
    ]
    title = f"{shown.title} by {', '.join(result.names[1:])}{at}"
    return table(title, [*heads, *((name, "right") for name in names)], rows)


def tests_of_groups(result: Evaluations) -> list[tuple[str, Heterogeneity]]:
    """Cochran's test of each model's groups; none where too few are large enough."""
    models: dict[str, dict[Any, Evaluation]] = {}
    for key, one in result.entries.items():
        models.setdefault(str(key[0]) if result.by_model else "model", {})[key] = one
    tests = []
    for model, groups in models.items():
        try:
            tests.append((model, heterogeneity(groups, "auroc")))
        except InputError:
            continue
    return tests


def _differences(result: Evaluations) -> list[str]:
    """Whether each model's groups differ by more than chance explains."""
    lines = []
    tests = tests_of_groups(result)
    for model, test in tests:
        whose = f"{model}: " if len(tests) > 1 else ""
        is_shown = test.p_value < 1.0 - _LEVEL
        verdict = (
            "differs between groups by more than chance explains"
            if is_shown
            else "is not shown to differ between groups"
        )
        lines.append(f"{whose}AUROC {verdict} (Cochran's Q over {len(test.groups)} groups, {equals_p(test.p_value)}).")
    return lines


#: Level at which groups are said to differ.
_LEVEL = 0.95


def _group_metrics(result: Evaluations, shown: Shown) -> list[str]:
    first = next(iter(result.values()))
    of_two = headlines.BY_GROUP if "auroc" in first else headlines.PREDICTIONS_BY_GROUP
    few = headlines.CLASSES_BY_GROUP if first.per_class else of_two
    names = shown.metrics or (list(first) if shown.every else few)
    # Averages over classes have names of their own.
    return [METRICS[name].name if name in METRICS else name for name in names if name in first]


def _reasons(result: Evaluations, shown: Shown) -> list[str]:
    """Why values of the group table are undefined, each reason once."""
    names = _group_metrics(result, shown)
    items = (
        f"{', '.join(map(str, key))}: {evaluation[name].reason}"
        for key, evaluation in result.entries.items()
        for name in names
        if evaluation[name].reason
    )
    return list(dict.fromkeys(items))
