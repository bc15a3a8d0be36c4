"""The page of exhibits as one HTML file without scripts."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

import tallymark as tm
from studies.exhibits import Exhibit, Fact, Figure, Finished, Table

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2530; --quiet: #5a6675; --line: #d5dbe3; --good: #1a6b3c; --bad: #8a4b00; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ee; --quiet: #a8b2bf; --line: #3a4450; --good: #7fd6a2; --bad: #f0b870; }
  body { background: #14181d; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); max-width: 70rem; margin: 0 auto; padding: 1rem; }
nav ul { columns: 18rem; padding-left: 1.2rem; }
section { border-top: 1px solid var(--line); padding: .5rem 0 1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: .5rem 0 1rem; font-size: .9rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--quiet); padding-bottom: .25rem; white-space: nowrap; }
th, td { border-bottom: 1px solid var(--line); padding: .2rem .7rem .2rem 0; text-align: left; vertical-align: top; }
td.yes { color: var(--good); } td.no { color: var(--bad); }
figure { margin: .75rem 0; display: inline-block; max-width: 100%; }
figure img { max-width: 100%; background: #fff; border-radius: 4px; }
figcaption, .quiet { color: var(--quiet); font-size: .9rem; }
"""

#: The documents, as they are cited.
CITATIONS = {
    "S-PCC": "Gubbels (2023), master thesis, TU Eindhoven: the Pearson correlation as a metric, rare events",
    "S-ROC": "Kharitonov (2017), laboratory exercise: model-wide measures",
    "S-ONS": "Rowland (2019), Office for National Statistics, APCP-T: metrics for classifiers of prices",
    "S-QUANT": "Barranquero (2013), doctoral thesis, Oviedo: quantification",
    "S-SIMPLE": "Rahardja & Fränti (2022): evaluation without simple objects",
}


def write_page(path: Path, answers: Mapping[Exhibit, Finished], *, quick: bool) -> None:
    """Write the page of answers."""
    facts = [fact for answer in answers.values() for fact in answer.facts]
    documents = {name: [one for one in answers if one.document == name] for name in CITATIONS}
    parts = [
        "<!doctype html><html lang='en'><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>The seeds reproduced</title><style>{_STYLE}</style>",
        "<h1>The seeds reproduced</h1>",
        f"<p>Every table and figure of five documents, drawn again by Tallymark {escape(tm.__version__)}, with the "
        f"printed numbers beside ours. {sum(fact.agrees for fact in facts)} of {len(facts)} compared facts agree; "
        "where one does not, the reason is given.</p>",
    ]
    if quick:
        parts.append(
            "<p><strong>Quick form:</strong> few draws, bags and data sets. Only the facts that follow from a formula "
            "are meant to agree here.</p>"
        )
    parts.append("<nav>" + "".join(_contents(name, ones) for name, ones in documents.items() if ones) + "</nav>")
    for name, ones in documents.items():
        if ones:
            parts.append(f"<h2>{escape(name)}: {escape(CITATIONS[name])}</h2>")
            parts += [_section(one, answers[one]) for one in ones]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(parts), encoding="utf-8")


def _contents(name: str, ones: Sequence[Exhibit]) -> str:
    items = "".join(f"<li><a href='#{one.key}'>{escape(one.name)}</a></li>" for one in ones)
    return f"<p>{escape(name)}</p><ul>{items}</ul>"


def _section(one: Exhibit, answer: Finished) -> str:
    parts = [f"<section id='{one.key}'><h3>{escape(one.name)}. {escape(one.title)}</h3>"]
    parts += [_picture(figure) for figure in answer.figures]
    parts += [_table(table) for table in answer.tables]
    if answer.facts:
        parts.append(_facts(answer.facts))
    if answer.remark:
        parts.append(f"<p>{escape(answer.remark)}</p>")
    return "".join(parts) + f"<p class='quiet'>{answer.seconds:.1f} s</p></section>"


def _picture(figure: Figure) -> str:
    encoded = base64.b64encode(figure.chart.encode()).decode()
    caption = escape(figure.caption)
    return (
        f"<figure><img src='data:image/svg+xml;base64,{encoded}' alt='{caption}'>"
        f"<figcaption>{caption}</figcaption></figure> "
    )


def _table(table: Table) -> str:
    heads = "".join(f"<th scope='col'>{escape(head)}</th>" for head in table.heads)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    return (
        f"<div class='scroll' tabindex='0'><table><caption>{escape(table.caption)}</caption><thead><tr>{heads}</tr>"
        f"</thead><tbody>{rows}</tbody></table></div>"
    )


def _facts(facts: Sequence[Fact]) -> str:
    reasons = any(fact.why for fact in facts)
    rows = "".join(
        f"<tr><td>{escape(fact.what)}</td><td>{escape(fact.printed)}</td><td>{escape(fact.ours)}</td>"
        f"<td class='{'yes' if fact.agrees else 'no'}'>{'agrees' if fact.agrees else 'differs'}</td>"
        + (f"<td>{escape(fact.why)}</td></tr>" if reasons else "</tr>")
        for fact in facts
    )
    heads = "".join(
        f"<th scope='col'>{head}</th>" for head in ("Fact", "Printed", "Ours", "", *(["Why"] if reasons else []))
    )
    return (
        f"<div class='scroll' tabindex='0'><table><caption>Printed and ours</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )
