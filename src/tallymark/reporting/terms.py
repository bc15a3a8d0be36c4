"""What a page explains at its end: the terms that stand on it, and no others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tallymark.registry import QUANTIFIERS
from tallymark.reporting.page_model import Cell, Content, Section, Table

#: Terms by the words that show that a page uses them.
_TERMS = {
    "Interval": (
        r"interval|\(\d[^)]*[–-]\d|\bto\b [\d−]",
        "In brackets stands the range of values that the rows leave open. A method with 95 % intervals catches the "
        "true value in 95 of 100 samples like this one.",
    ),
    "Chance": (
        r"\bchance\b",
        "What scores that know nothing of the labels would reach. A number means something by how far it lies from "
        "that.",
    ),
    "Cannot be told apart": (
        r"told apart",
        "The difference is not larger than chance makes it in samples like this one. It does not say that they are "
        "equally good.",
    ),
    "p": (
        r"\bp [=<]|^p$|p \(Holm\)",
        "How often a difference at least this large would come up by chance if there were none.",
    ),
    "Holm": (
        r"Holm|corrected together",
        "Of many tests some come out by luck. Holm's correction makes the p-values larger, so that one wrong verdict "
        "among all of them is as rare as the level says.",
    ),
    "Prevalence": (
        r"[Pp]revalence",
        "The share of positives. Precision, F1 and average precision move with it; recall, specificity and AUROC do "
        "not.",
    ),
    "Alarm": (r"\balarms?\b", "A row that the model calls positive; a false alarm is one that is not."),
    "Calibrated": (
        r"calibrat",
        "Scores are calibrated if of the rows with a score of 0.3 three in ten are positive, and so for every score.",
    ),
    "Prior shift": (
        r"prior shift",
        "The classes became rarer or commoner, but the scores within each class kept their distribution. Counts from "
        "labelled rows of another population rest on it.",
    ),
    "Stratum": (r"\bstrat(um|a)\b", "A part of the rows from which its own share was drawn and checked."),
    "Inclusion probability": (
        r"[Ii]nclusion|probability of being drawn",
        "The probability with which a row was drawn to be checked; the count weighs each row by its inverse.",
    ),
    "Standard error": (
        r"[Ss]tandard error",
        "The spread that an estimate has over samples like this one.",
    ),
    "Resampling": (
        r"resampl|bootstrap",
        "The rows are drawn again with replacement, many times, and everything is computed anew: the spread of the "
        "results shows what chance does.",
    ),
    "Agreement beyond chance": (
        r"kappa|Krippendorff|Gwet",
        "How much more often raters agree than they would if they rated independently of each other.",
    ),
}


def explained_terms(content: Content) -> list[tuple[str, str]]:
    """The terms on a page with their explanations, those of its counting methods included."""
    text = "\n".join(_words(content))
    found = [(term, said) for term, (pattern, said) in _TERMS.items() if re.search(pattern, text, re.MULTILINE)]
    return found + [(one.name, f"{one.title}: {one.meaning}") for one in _counting_methods(content)]


def _counting_methods(content: Content) -> list[Any]:
    """The quantifiers in tables that list methods."""
    tables = [table for section in content.sections for table in section.tables]
    names = {line[0].text for table in tables if table.columns[:1] == ["method"] for line in table.lines if line}
    return [QUANTIFIERS[name] for name in QUANTIFIERS if name in names] if names else []


def _words(content: Content) -> Iterator[str]:
    yield from (content.headline, *content.what, *content.verdict)
    yield from (note.message for note in content.warnings)
    for line in content.lines:
        for bar in line.bars:
            yield bar.text
            if bar.chance is not None:
                yield "chance"
    for section in content.sections:
        yield from _words_of(section)


def _words_of(section: Section) -> Iterator[str]:
    yield from (section.title, section.text)
    for table in [*section.tables, *(table for fold in section.folded for table in fold.tables)]:
        yield from _words_in(table)


def _words_in(table: Table) -> Iterator[str]:
    yield from (*table.columns, table.caption)
    cells: Iterator[Cell] = (cell for line in table.lines for cell in line)
    yield from dict.fromkeys(cell.text for cell in cells)
