"""Report on a study: ranks, tests, errors by method, prevalence and data set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tallymark import charts
from tallymark.reporting.builders import ReportRequest, contents, only
from tallymark.reporting.page_model import Content, Remark, Section, table_of

if TYPE_CHECKING:
    from tallymark.study.outcomes import StudyResults, StudyTest


@contents("StudyResults", uses=("level",))
def _of_data(named: Mapping[str, StudyResults], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    results = only(named, "study")
    return of_study(results, title=request.title or f"Study {results.name}", level=request.level)


def of_study(results: StudyResults, *, title: str, level: float = 0.95) -> Content:
    """The report on a study: ranks, tests and errors by each of its losses."""
    # Tests of ranks need two data sets and three methods.
    enough = len(results.datasets) > 1 and len(results.methods) > 2
    tests = {loss: results.test(loss, level=level) if enough else None for loss in results.losses}
    sections = [_section(results, loss, test) for loss, test in tests.items()]
    if all(cell.nominal.ndim == 1 for cell in results.cells):
        sections.append(Section("Estimated and true", "Means over data sets and folds.", [charts.diagonal(results)]))
    remarks = [Remark("skipped", f"{name}: {why}") for name, why in (results.skipped or {}).items()]
    remarks += [Remark("failed", f"{c.method} on {c.dataset}, fold {c.fold}: {c.error}") for c in results.failed[:10]]
    if results.unfinished:
        remarks.append(Remark("unfinished", f"{results.unfinished} cells were not run yet."))
    verdict = [_verdict(test) for test in tests.values() if test is not None]
    return Content(title, [results.heading()], verdict, remarks, sections)


def _section(results: StudyResults, loss: str, test: StudyTest | None) -> Section:
    pictures = [
        charts.study_errors(results, loss=loss),
        charts.errors_by_prevalence(results, loss=loss),
        charts.errors_by_dataset(results, loss=loss, methods=_leading(results, test)),
    ]
    best, text, tables = results.methods[0], "", []
    if test is not None:
        pictures.insert(0, charts.critical_difference(test))
        best, text = _best(test), test.heading().replace("\n", ". ")
        caption = f"{100 * test.nemenyi.level:g} % level, N = {test.friedman.n} data sets"
        tables.append(table_of(test.rows(), caption))
    caption = f"{best} beside the others, over data sets and prevalences"
    tables.append(table_of(results.pairwise(best, loss).rows(), caption))
    return Section(f"By {loss}", text, pictures, tables)


#: Methods whose losses are drawn by data set and prevalence.
_DRAWN = 4


def _leading(results: StudyResults, test: StudyTest | None) -> list[str]:
    """The methods with the best ranks, in the order of the study."""
    if test is None:
        return list(results.methods[:_DRAWN])
    ranks = test.nemenyi.mean_ranks
    return [name for name in results.methods if name in sorted(ranks, key=lambda one: ranks[one])[:_DRAWN]]


def _best(test: StudyTest) -> str:
    ranks = test.nemenyi.mean_ranks
    return min(ranks, key=lambda name: ranks[name])


def _verdict(test: StudyTest) -> str:
    """What the tests show."""
    best, p = _best(test), f"Friedman, p = {test.friedman.p_value:.2g}"
    if test.friedman.p_value > 1.0 - test.nemenyi.level:
        return f"By {test.loss} no difference between the methods is shown ({p})."
    worse = test.beaten()[best]
    if not worse:
        but = f"{best}, the best in rank, is not shown to beat any single one"
        return f"By {test.loss} the methods differ ({p}), but {but}."
    return (
        f"By {test.loss} {best} has the best mean rank and is shown to beat {', '.join(worse)}; the others cannot be "
        "told from it."
    )
