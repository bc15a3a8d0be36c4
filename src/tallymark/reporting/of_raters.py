"""Report on the agreement of raters."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tallymark import charts
from tallymark._numbers import counted, number
from tallymark.reporting.builders import ReportRequest, contents, only
from tallymark.reporting.page_model import Content, Fold, Remark, Section, table_of

if TYPE_CHECKING:
    from tallymark._display import Row
    from tallymark.raters.judgements import Judgement
    from tallymark.raters.results import Agreement

#: Disagreements that a page lists; the command line writes all of them to a file.
_LISTED = 200


@contents("Agreement")
def _of_agreement(named: Mapping[str, Agreement], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    result = only(named)
    classes = [
        {
            "class": str(label),
            "share": result.prevalences[label],
            "agreement": one.value,
            "low": one.low,
            "high": one.high,
        }
        for label, one in result.specific.items()
    ]
    sections = [
        Section("Coefficients", result.heading() + ".", [], [table_of(result.rows())]),
        Section(
            "By class",
            "Of the ratings that name a class, the share of others that name it too.",
            [],
            [table_of(classes)],
        ),
    ]
    if len(result.pairs) > 1:
        pairs = [asdict(pair) for pair in result.pairs]
        sections.append(Section("Pairs of raters", "On the items that both rated.", [], [table_of(pairs)]))
    if result.raters:
        raters = [asdict(one) | {"differs": "yes" if one.differs else "no"} for one in result.raters]
        text = "Limits are of the difference, corrected for the number of raters."
        sections.append(Section("Each rater against the others", text, [], [table_of(raters)]))
    listed = result.disagreements
    if listed:
        first = f"the first {_LISTED} of " if len(listed) > _LISTED else ""
        rows = table_of(
            [{name: "" if cell is None else str(cell) for name, cell in row.items()} for row in listed[:_LISTED]]
        )
        fold = Fold(f"Disagreements: {first}{counted(len(listed), 'item')}", (), [rows])
        sections.append(Section("Disagreements", f"Raters differ on {counted(len(listed), 'item')}.", [], [], [fold]))
    observed = result["observed"]
    verdict = [f"Raters agree on {100 * observed.value:.1f} % of pairs of ratings."]
    kappa = next((result[name] for name in ("cohen_kappa", "fleiss_kappa") if not result[name].reason), None)
    if kappa is not None:
        verdict.append(
            f"Beyond chance, {kappa.name} is {number(kappa.value)} ({number(kappa.low)} to {number(kappa.high)})."
        )
    verdict += [
        f"{one.rater} agrees less with the others than they with one another." for one in result.raters if one.differs
    ]
    return Content(
        request.title or "Agreement of raters",
        [counted(result.n, "item")],
        verdict,
        list(map(Remark.of, result.warnings)),
        sections,
    )


@contents("Judgement")
def _of_judgement(named: Mapping[str, Judgement], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    result = only(named)
    text = (
        "Corrected: design-based, from the items that people judged; it needs them to be drawn at random, and nothing "
        "of the judge. By error rates (Rogan and Gladen): it needs the judge's errors to be the same in all items."
    )
    lines = result.rows()
    rates = _lines(lines, {"judged", "corrected", "by_error_rates", "bias", "difference"})
    errors = _lines(lines, {line["of"] for line in lines} - {line["of"].replace(" ", "_") for line in rates})
    title = "Pass rates" if result.scale == "pass" else "Verdicts"
    sections = [Section(title, text, [charts.judgement(result)], [table_of(rates)])]
    if errors:
        about = (
            "Sensitivity is the share of the items that people pass which the judge passes, specificity the share of "
            "those they fail which it fails. Agreement is that on the labelled items."
        )
        sections.append(Section("Error rates and agreement", about, (), [table_of(errors)]))
    if (matrix := result.matrix()) is not None:
        sections.append(Section("Labelled items", "By verdict of people and of the judge.", (), [table_of(matrix)]))
    if result.comparison is not None and len(result.systems) > 2:
        pairs = "Corrected differences; limits and verdicts of all pairs are corrected together (Holm)."
        sections.append(Section("Systems", pairs, (), [table_of(result.comparison.rows())]))
    facts = [counted(result.n, "item"), counted(result.labelled, "human verdict")]
    verdict = [*result.sentences(), *result.heading().split("\n")[1:]] or [result.heading()]
    return Content(request.title or "Judge", facts, verdict, list(map(Remark.of, result.warnings)), sections)


def _lines(lines: Sequence[Row], wanted: Collection[str]) -> list[Row]:
    """Some of the lines; without the column of reasons where there is none."""
    kept = [{**line, "of": line["of"].replace("_", " ")} for line in lines if line["of"] in wanted]
    empty = {name for name in ("reason", "p_value", "p_holm") if all(line.get(name) is None for line in kept)}
    return [{name: value for name, value in line.items() if name not in empty} for line in kept]
