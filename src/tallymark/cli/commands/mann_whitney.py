"""Test if positives score higher than negatives (Mann-Whitney).

It prints U, the rank sums of both classes, the p-value and the largest U that is significant, for each score.

Example: tallymark mann-whitney scores.csv --label y --score a,b
"""

from __future__ import annotations

from typing import Annotated, Any

from tallymark._numbers import amount, number, p_value
from tallymark.cli.layout import table
from tallymark.cli.options import Count, File, Label, Level, RowOptions, columns, text
from tallymark.cli.output import CheckedOutput, progress_bar
from tallymark.inference.hypothesis_tests.mann_whitney import MannWhitney, mann_whitney
from tallymark.metrics.ranking import auroc
from tallymark.sources.roles import OPTION, Roles
from tallymark.sources.rows import Rows


def run(
    file: File,
    label: Label,
    score: Annotated[list[str], columns("Score columns, one per model", "number")],
    rows: RowOptions,
    output: CheckedOutput,
    count: Count = None,
    method: Annotated[
        str, text("METHOD", "exact, normal, or auto: exact for small samples without ties, else normal.")
    ] = "auto",
    alternative: Annotated[str, text("SIDE", "two-sided, greater (positives score higher) or less.")] = "two-sided",
    level: Level = 0.95,
) -> dict[str, MannWhitney]:
    """Rank sums, U and p-value of each score."""
    roles = Roles(label=label, scores=tuple(score), count=count, pos_label=rows.pos_label, spelling=OPTION)
    with progress_bar(f"Reading {file}") as progress:
        described = Rows(paths=file, roles=roles, where=rows.where, drop_missing=rows.drop_missing, progress=progress)
        with described.open() as opened:
            tallies = opened.tallies(exact=True)
    options: Any = {"method": method, "alternative": alternative, "level": level}
    tests = {str(name): mann_whitney(tally, **options) for name, tally in tallies.items()}
    if output.as_json:
        items = [
            {"model": name, "n": tally.n, "positives": tally.positives, **tests[str(name)].to_dict()}
            for name, tally in tallies.items()
        ]
        output.answer("mann-whitney", {"models": items})
        return tests
    first, test = next(iter(tallies.values())), next(iter(tests.values()))
    heads = [("score", "left"), *((head, "right") for head in ("U", "T positive", "T negative", "AUROC", "z", "p"))]
    heads.append(("method", "left"))
    heads.append((f"critical U ({100 * (1 - level):g} %)", "right"))
    lines = [
        [
            name,
            *(amount(v) for v in (one.u, one.rank_sum_positive, one.rank_sum_negative)),
            number(auroc(tallies[name])),
            number(one.z),
            p_value(one.p_value),
            one.method,
            "none" if one.critical is None else amount(one.critical),
        ]
        for name, one in tests.items()
    ]
    size = f"{number(first.positives)} positives and {number(first.negatives)} negatives"
    output.table(table(f"{file}: {size}, {test.alternative}", heads, lines))
    output.text(
        "U is the smaller of U+ = T positive − P(P + 1)/2 and PN − U+; AUROC is U+/PN. p is the probability of ranks "
        "at least as far from chance if scores do not depend on the class; rows are taken to be independent.",
        "dim",
        indent="  ",
    )
    return tests
