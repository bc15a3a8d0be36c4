"""The report of a study: ranks, tests, errors by method, prevalence and data set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallymark import charts
from tallymark.reporting.builders import ReportRequest, contents, only
from tallymark.reporting.page_model import Content, Remark, Section, table_of
from tallymark.study.outcomes import StudyResults, StudyTest


@contents(StudyResults, uses=("level",))
def _of_data(named: Mapping[str, Any], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    results = only(named, "study")
    return of_study(results, title=request.title or f"Study {results.name}", level=request.level)


def of_study(results: StudyResults, *, title: str, level: float = 0.95) -> Content:
    """Everything a study found, by each of its losses."""
    sections, verdict = [], []
    enough = len(results.datasets) > 1 and len(results.methods) > 2
    for loss in results.losses:
        test = results.test(loss, level=level) if enough else None
        pictures = [charts.study_errors(results, loss=loss), charts.errors_by_prevalence(results, loss=loss),
                    charts.errors_by_dataset(results, loss=loss)]  # fmt: skip
        if test is not None:
            verdict.append(_said(test))
            pictures.insert(0, charts.critical_difference(test))
        best = (
            min(test.nemenyi.mean_ranks, key=lambda name: test.nemenyi.mean_ranks[name]) if test else results.methods[0]
        )
        tables = (
            [] if test is None else [table_of(test.rows(), f"{100 * level:g} % level, N = {test.friedman.n} data sets")]
        )
        tables.append(
            table_of(results.pairwise(best, loss).rows(), f"{best} beside the others, over data sets and prevalences")
        )
        sections.append(
            Section(f"By {loss}", "" if test is None else test.heading().replace("\n", ". "), pictures, tables)
        )
    if all(cell.nominal.ndim == 1 for cell in results.cells):
        sections.append(Section("Estimated and true", "Means over data sets and folds.", [charts.diagonal(results)]))
    remarks = [Remark("skipped", f"{name}: {why}") for name, why in (results.skipped or {}).items()]
    remarks += [Remark("failed", f"{c.method} on {c.dataset}, fold {c.fold}: {c.error}") for c in results.failed[:10]]
    if results.unfinished:
        remarks.append(Remark("unfinished", f"{results.unfinished} cells were not run yet."))
    return Content(title, [results.heading()], verdict, remarks, sections)


def _said(test: StudyTest) -> str:
    """What the tests show, and no more."""
    best = min(test.nemenyi.mean_ranks, key=lambda name: test.nemenyi.mean_ranks[name])
    if test.friedman.p_value > 1.0 - test.nemenyi.level:
        return f"By {test.loss} no difference between the methods is shown (Friedman, p = {test.friedman.p_value:.2g})."
    beaten = test.beaten()[best]
    if not beaten:
        return f"By {test.loss} the methods differ (Friedman, p = {test.friedman.p_value:.2g}), but {best}, the best in rank, is not shown to beat any single one."
    return f"By {test.loss} {best} has the best mean rank and is shown to beat {', '.join(beaten)}; the others cannot be told from it."
