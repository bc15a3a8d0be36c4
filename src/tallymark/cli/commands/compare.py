"""Compare models on the same rows.

Every pair gets a difference, an interval, a p-value and a verdict.

Example: tallymark compare scores.parquet --label y --score a,b --metric average_precision
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from tallymark._numbers import limits, p_value, with_limits
from tallymark._numbers import number as shown
from tallymark.cli.layout import TextTable, table
from tallymark.cli.options import (
    ClusteredRowOptions,
    EngineOptions,
    File,
    Level,
    MetricParameters,
    Sampling,
    Scores,
    Seed,
    Threshold,
    column,
    columns,
    flag,
    names,
    number,
    text,
)
from tallymark.cli.output import Output, ReportedOutput, progress_bar
from tallymark.cli.predictions import panel_of_predictions
from tallymark.cli.reading import read_columns
from tallymark.cli.requirements import (
    Estimate,
    Require,
    Requirement,
    as_json,
    checks_of,
    end_unless_met,
    print_checks,
)
from tallymark.comparison.compare import compare
from tallymark.comparison.of_outcomes import OutcomeComparison
from tallymark.comparison.results import Comparison
from tallymark.errors import InputError, UnnamedColumnError
from tallymark.measures import Measure
from tallymark.simple import NoSimple, without_simple
from tallymark.sources.duck import Progress
from tallymark.sources.filepanel import FilePanel
from tallymark.sources.formats import Wanted
from tallymark.sources.outcomes import outcomes as outcomes_of
from tallymark.sources.roles import OPTION, Roles
from tallymark.sources.rows import Rows
from tallymark.summaries.outcomes import Outcomes
from tallymark.summaries.panel import Panel


def run(
    file: File,
    rows: ClusteredRowOptions,
    parameters: MetricParameters,
    engine: EngineOptions,
    output: ReportedOutput,
    label: Annotated[str | None, column("Column with the true class.", "class")] = None,
    score: Scores = None,
    predicted: Annotated[list[str] | None, columns("Or: columns with predicted classes, of two", "class")] = None,
    outcome: Annotated[
        list[str] | None, columns("Or, without --label: columns with outcomes, 0 or 1 or grades", "number")
    ] = None,
    item: Annotated[str | None, column("With --outcome: column with the item, where items were run often.")] = None,
    pass_at: Annotated[int | None, number("K", "With --item: compare pass@k, one of k runs passes.", least=1)] = None,
    pass_all: Annotated[int | None, number("K", "With --item: compare pass^k, all of k runs pass.", least=1)] = None,
    metric: Annotated[list[str] | None, names("METRIC", "Compare by this metric, auroc unless told")] = None,
    method: Annotated[
        str | None,
        text(
            "METHOD",
            "mover, delong, influence, mcnemar, bootstrap or permutation (of outcomes mcnemar, t or bootstrap); left "
            "out, the usual one.",
        ),
    ] = None,
    threshold: Threshold = None,
    equivalence: Annotated[float | None, number("NUMBER", "A difference so small that it does not matter.")] = None,
    noninferiority: Annotated[float | None, number("NUMBER", "A loss so small that it does not matter.")] = None,
    mcnemar: Annotated[str, text("KIND", "McNemar's test: mid_p or exact.")] = "mid_p",
    without_simple_rows: Annotated[
        bool, flag("without-simple", "Leave out the rows that every model gets right.")
    ] = False,
    sampling: Sampling = "plain",
    level: Level = 0.95,
    seed: Seed = 0,
    require: Require = None,
) -> None:
    """Read, compare, print."""
    output.require_place(file)
    requirements = [Requirement.of(written) for written in require or ()]
    if outcome:
        given: dict[str, Any] = {"--label": label, "--score": score, "--predicted": predicted, "--metric": metric}
        given |= {"--threshold": threshold, "--without-simple": without_simple_rows, "--weight": rows.weight}
        given |= {"--count": rows.count, "--pos-label": rows.pos_label, "--sampling": sampling != "plain"}
        if used := [name for name, value in (given | parameters.given()).items() if value]:
            raise InputError(f"{', '.join(used)}: not with --outcome, which needs no true class.")
        compared = compare(
            _of_runs(_of_outcomes(file, outcome, item, rows), pass_at, pass_all),
            method=method,  # type: ignore[arg-type]
            level=level,
            equivalence=equivalence,
            noninferiority=noninferiority,
            mcnemar_kind=mcnemar,  # type: ignore[arg-type]
            seed=seed,
        )
        _answer_outcomes(compared, file, requirements, output)
        return
    if item is not None or pass_at is not None or pass_all is not None:
        raise InputError("--item, --pass-at, --pass-all: only with --outcome.")
    if label is None:
        raise UnnamedColumnError(
            "Name the column with the true class (--label), or columns with outcomes (--outcome a,b)."
        )
    if len(metric or ()) > 1:
        raise InputError("Compare by one --metric at a time.")
    if bool(score) == bool(predicted):
        raise InputError("Compare columns of --score or columns of --predicted; name one of the two.")
    with progress_bar(f"Reading and comparing {file}") as progress:
        if predicted:
            if used := [
                name
                for name, value in {"--threshold": threshold, "--without-simple": without_simple_rows}.items()
                if value
            ]:
                raise InputError(f"{', '.join(used)}: only with --score.")
            panel: Panel | FilePanel = _of_predictions(file, label, predicted, rows)
        else:
            panel = _of_scores(file, label, score or [], rows, engine, progress)
        reduced = without_simple(panel) if without_simple_rows else None
        comparison = compare(
            panel if reduced is None else reduced.reduced,
            metric=next(iter(metric or ()), "accuracy" if predicted else "auroc"),
            method=method,  # type: ignore[arg-type]
            threshold=0.5 if predicted else threshold,
            level=level,
            equivalence=equivalence,
            noninferiority=noninferiority,
            mcnemar_kind=mcnemar,  # type: ignore[arg-type]
            seed=seed,
            sampling=sampling,  # type: ignore[arg-type]
            **parameters.given(),
        )
    output.write_report(comparison, file)
    checks = checks_of(requirements, _estimates(comparison))
    if output.as_json:
        output.answer("compare", comparison.to_dict() | _simple(reduced) | as_json(checks), comparison.warnings)
    else:
        _print(comparison, file, reduced, output)
        print_checks(checks, output)
        output.notes(comparison.warnings)
        output.say_where()
    end_unless_met(checks)


def _of_scores(
    file: str,
    label: str,
    scores: list[str],
    rows: ClusteredRowOptions,
    engine: EngineOptions,
    progress: Progress | None,
) -> Panel | FilePanel:
    roles = Roles(
        label=label,
        scores=tuple(scores),
        weight=rows.weight,
        count=rows.count,
        cluster=rows.cluster,
        pos_label=rows.pos_label,
        spelling=OPTION,
    )
    described = Rows(
        paths=file,
        roles=roles,
        where=rows.where,
        drop_missing=rows.drop_missing,
        memory_limit=engine.memory_limit,
        threads=engine.threads,
        progress=progress,
    )
    with described.open() as table:
        return table.panel() if table.small else FilePanel(replace(described, noted=True))


def _of_predictions(file: str, label: str, predicted: list[str], rows: ClusteredRowOptions) -> Panel:
    """Predictions of two classes as scores of 0 and 1."""
    named = [Wanted(label, "--label", "class"), *(Wanted(name, "--predicted", "class") for name in predicted)]
    data = read_columns(file, rows, more=named)
    return panel_of_predictions(data, label, predicted, rows, rows.cluster)


def _of_outcomes(file: str, outcome: list[str], item: str | None, rows: ClusteredRowOptions) -> Outcomes:
    named = [Wanted(name, "--outcome", "number") for name in outcome]
    named += [] if item is None else [Wanted(item, "--item")]
    data = read_columns(file, rows, more=named)
    return outcomes_of(
        {name: data[name] for name in outcome},
        items=None if item is None else data[item],
        clusters=None if rows.cluster is None else data[rows.cluster],
    )


def _of_runs(outcomes: Outcomes, pass_at: int | None, pass_all: int | None) -> Outcomes:
    """The runs, or what k of them give."""
    if pass_at is not None and pass_all is not None:
        raise InputError("Give --pass-at or --pass-all, not both.")
    if pass_at is not None:
        return outcomes.best_of(pass_at)
    return outcomes if pass_all is None else outcomes.all_of(pass_all)


def _estimates(comparison: Comparison) -> Iterator[tuple[str, Mapping[str, Estimate]]]:
    """What can be required: the difference of every pair, and of outcomes each system's mean."""
    if isinstance(comparison, OutcomeComparison):
        for name, rate in comparison.rates.items():
            yield name, {comparison.metric: rate}
    for pair in comparison.pairs:
        difference = Measure(name="difference", value=pair.difference, low=pair.low, high=pair.high)
        yield f"{pair.first} − {pair.second}", {"difference": difference}


def _answer_outcomes(
    comparison: Comparison, file: str, requirements: Sequence[Requirement], output: ReportedOutput
) -> None:
    """Print means with their limits, every pair, and what was required."""
    output.write_report(comparison, file)
    checks = checks_of(requirements, _estimates(comparison))
    if output.as_json:
        output.answer("compare", comparison.to_dict() | as_json(checks), comparison.warnings)
    else:
        _print_outcomes(comparison, file, output)
        print_checks(checks, output)
        output.say_where()
    end_unless_met(checks)


def _print_outcomes(comparison: Comparison, file: str, output: Output) -> None:
    """Means with their limits, and every pair."""
    rates = comparison.rates if isinstance(comparison, OutcomeComparison) else {}
    several = len(rates) > 2
    output.text(f"{file}: {comparison.metric} on the same {comparison.n} rows", "bold")
    heads = [("system", "left"), (f"{comparison.metric} ({100 * comparison.level:g} % interval)", "right")]
    lines = [
        [
            name,
            with_limits(rates[name].value, rates[name].low, rates[name].high),
            *([comparison.letters[name]] if several else []),
        ]
        for name in comparison.ranked
    ]
    output.table(table("", [*heads, *([("letter", "left")] if several else [])], lines))
    output.text("")
    output.table(compared_table("", comparison))
    print_conditions(comparison, output)


def _simple(reduced: NoSimple | None) -> dict[str, Any]:
    if reduced is None:
        return {}
    return {"simple": {"rows": reduced.n_simple, "share": reduced.share, "verdict": reduced.verdict}}


def _print(comparison: Comparison, file: str, reduced: NoSimple | None, output: Output) -> None:
    if reduced is not None:
        output.text(
            f"{reduced.n_simple} of {reduced.n} rows are right for every model at any threshold "
            f"({100 * reduced.share:.1f} %, {reduced.verdict}); they are left out."
        )
    output.text(f"{file}: {comparison.metric} on the same {comparison.n} rows, {comparison.positives} positive", "bold")
    output.table(_models_table(comparison))
    if len(comparison.values) > 2:
        output.text("Models that share a letter cannot be told apart.", "dim", indent="  ")
    output.text("")
    output.table(compared_table("", comparison))
    print_conditions(comparison, output)


def _models_table(comparison: Comparison) -> TextTable:
    cuts = comparison.thresholds
    letters = comparison.letters if len(comparison.values) > 2 else {}
    heads = [("model", "left"), (comparison.metric, "right")]
    heads += [("threshold", "right")] if cuts else []
    heads += [("letter", "left")] if letters else []
    lines = [
        [
            model,
            shown(float(comparison.values[model])),
            *([shown(cuts[model])] if cuts else []),
            *([letters[model]] if letters else []),
        ]
        for model in comparison.ranked
    ]
    return table("", heads, lines)


def print_conditions(comparison: Comparison, output: Output) -> None:
    """What the limits and verdicts of a table of pairs are about."""
    together = "; limits and verdicts of all pairs are corrected together (Holm)" if len(comparison.pairs) > 1 else ""
    output.text(f"{comparison.conditions.removeprefix(', ').capitalize()}{together}.", "dim", indent="  ")


def compared_table(title: str, comparison: Comparison) -> TextTable:
    """Every pair with its difference, limits, p-value and verdict."""
    several = len(comparison.pairs) > 1
    heads: list[tuple[Any, ...]] = [
        ("pair", "left"),
        ("difference", "right"),
        (f"{100 * comparison.level:g} % interval", "right"),
        ("p", "right"),
        *([("p (Holm)", "right")] if several else []),
        ("verdict", "left"),
        ("method", "left", True),
    ]
    lines = [
        [
            f"{pair.first} − {pair.second}",
            shown(pair.difference),
            limits(pair.low, pair.high),
            p_value(pair.p_value),
            *([p_value(pair.p_holm)] if several else []),
            pair.verdict,
            pair.method,
        ]
        for pair in comparison.pairs
    ]
    return table(title, heads, lines)
