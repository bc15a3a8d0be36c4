"""What ``tallymark evaluate`` prints: metrics of models, groups and classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tallymark._cells import Written
from tallymark._numbers import amount, equals_p, number, per_cent, with_limits
from tallymark.cli.printing import print_table, print_text, table
from tallymark.errors import InputError
from tallymark.inference.hypothesis_tests.heterogeneity import Heterogeneity, heterogeneity
from tallymark.measures import Evaluation, Evaluations, Measure
from tallymark.metrics import headlines
from tallymark.metrics.averages import CLASS_METRICS
from tallymark.registry import METRICS
from tallymark.summaries.confusion import Confusion

if TYPE_CHECKING:
    from tallymark.cli.commands.evaluate import Asked

#: Classes listed when there are many: those with the lowest F1.
_WORST = 15


def print_evaluations(result: Evaluations, asked: Asked) -> None:
    """The tables that were asked for, and below them what their numbers mean."""
    file, metrics, every = asked.file, asked.metrics, asked.every
    first = next(iter(result.values()))
    if len(result.names) > 1:
        print_table(_group_table(result, asked))
        _say(first)
        for line in _differ(result):
            print_text(line, "dim", indent="  ")
        for reason in _reasons(result, asked):
            print_text(reason, "dim", indent="  ")
        return
    if first.per_class:
        for name, evaluation in result.items():
            print_table(
                _value_table(
                    f"{file}: {name}, {evaluation.size()}, {len(evaluation.per_class)} classes",
                    {name: evaluation},
                    list(evaluation),
                )
            )
            if len(evaluation.per_class) == 2:
                print_text("Two classes: say --pos-label to see precision, recall and F1 of the positive one.", "dim")
            if evaluation.confusion is not None:
                _print_matrix(evaluation.confusion)
                print_table(_class_table(evaluation, evaluation.confusion, every=every))
        return
    lens = "" if first.prevalence is None else f", seen at prevalence {number(first.prevalence)}"
    title = f"{file}: {first.size()}{lens}"
    names = list(first) if every or metrics else [name for name in headlines.TABLE if name in first]
    print_table(_value_table(title, dict(result), names))
    _say(first)
    if len(result) > 1:
        undefined = (e[name].reason for e in result.values() for name in names)
        reasons = [reason for reason in dict.fromkeys(undefined) if reason is not None]
        for line in (*reasons, "`tallymark metrics NAME` says what a metric means."):
            print_text(line, "dim", indent="  ")


def _say(first: Evaluation) -> None:
    """What the numbers in brackets are, and what choosing the threshold on the same rows did."""
    if first.intervals is None:
        return
    hint = "; for class sizes fixed by design add --sampling stratified" if first.sampling == "plain" else ""
    hint = "" if first.prevalence is not None else hint
    print_text(f"In brackets: {first.intervals}{hint}.", "dim", indent="  ")
    if first.policy is not None and any(measure.optimism is not None for measure in first.values()):
        print_text(
            f"The threshold was chosen on these rows ({first.policy}): values at it are too good by about their "
            "optimism (--json), and their intervals allow for it.",
            "dim",
            indent="  ",
        )


def _value_table(title: str, evaluations: dict[str, Evaluation], names: Sequence[str]) -> Any:
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
        rows.append([name, *map(_with_interval, measures), _same(measures),
                     *([_bounds(measures)] if bounded else []), *([meaning] if alone else [])])  # fmt: skip
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
_MATRIX = 12


def _print_matrix(matrix: Confusion) -> None:
    labels = [str(label) for label in matrix.labels]
    if len(labels) <= _MATRIX:
        rows = [[label, *map(amount, line)] for label, line in zip(labels, matrix.matrix.tolist(), strict=True)]
        heads = [("truth \\ predicted", "left"), *((label, "right") for label in labels)]
        print_table(table("Confusion matrix", heads, rows))
        return
    from tallymark.decisions.verdicts import most_confused

    lines = [[truth, call, amount(n), per_cent(share)] for truth, call, n, share in most_confused(matrix)]
    heads = [("truth", "left"), ("predicted", "left"), ("rows", "right"), ("of the true class", "right")]
    print_table(table("Most frequent confusions", heads, lines))


def _class_table(evaluation: Evaluation, matrix: Confusion, *, every: bool) -> Any:
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


def _group_table(result: Evaluations, asked: Asked) -> Any:
    names = _group_metrics(result, asked)
    cuts = {e.threshold for e in result.values()}
    policy = next(iter(result.values())).policy
    said = (
        ""
        if cuts == {None}
        else f", threshold {number(next(iter(cuts)))}"
        if len(cuts) == 1
        else f", threshold by {policy} in each"
    )
    two_classes = any(e.positives is not None for e in result.values())
    heads = [*((name, "left") for name in result.names), ("n", "right")]
    heads += [("positive", "right")] if two_classes else []
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
    return table(f"{asked.file} by {', '.join(result.names[1:])}{said}", [*heads, *((n, "right") for n in names)], rows)


def tests_of_groups(result: Evaluations) -> list[tuple[str, Heterogeneity]]:
    """Cochran's test of each model's groups; none where too few are large enough."""
    models: dict[str, dict[Any, Evaluation]] = {}
    for key, one in result.entries.items():
        models.setdefault(str(key[0]) if result.by_model else "model", {})[key] = one
    found = []
    for model, own in models.items():
        try:
            found.append((model, heterogeneity(own, "auroc")))
        except InputError:
            continue
    return found


def _differ(result: Evaluations) -> list[str]:
    """Whether each model's groups differ by more than chance explains."""
    lines = []
    tests = tests_of_groups(result)
    for model, found in tests:
        whose = f"{model}: " if len(tests) > 1 else ""
        said = "differs between groups by more than chance explains" if found.p_value < 1.0 - _LEVEL else "is not shown to differ between groups"  # fmt: skip
        lines.append(f"{whose}AUROC {said} (Cochran's Q over {len(found.groups)} groups, {equals_p(found.p_value)}).")
    return lines


#: Level at which groups are said to differ.
_LEVEL = 0.95


def _group_metrics(result: Evaluations, asked: Asked) -> list[str]:
    first = next(iter(result.values()))
    of_two = headlines.BY_GROUP if "auroc" in first else headlines.PREDICTIONS_BY_GROUP
    few = headlines.CLASSES_BY_GROUP if first.per_class else of_two
    wanted = asked.metrics or (list(first) if asked.every else few)
    # Averages over classes have names of their own.
    return [METRICS[name].name if name in METRICS else name for name in wanted if name in first]


def _reasons(result: Evaluations, asked: Asked) -> list[str]:
    """Why values of the group table are undefined, each reason once."""
    names = _group_metrics(result, asked)
    items = (
        f"{', '.join(map(str, key))}: {evaluation[name].reason}"
        for key, evaluation in result.entries.items()
        for name in names
        if evaluation[name].reason
    )
    return list(dict.fromkeys(items))
