"""Reports on results that have no page of their own: table, notes, and picture where there is one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tallymark._display import Shown
from tallymark.charts.pictures import picture
from tallymark.notes import Note
from tallymark.reporting.builders import ReportRequest, contents
from tallymark.reporting.page_model import Content, Remark, Section, once, table_of


@contents("Shown")
def _of_data(named: Mapping[str, Shown], data: Any, request: ReportRequest) -> Content:  # noqa: ARG001
    title, *_ = dict.fromkeys(_title(one) for one in named.values())
    several = len(named) > 1
    verdict = [
        f"{f'{name}: ' if several else ''}{line}" for name, one in named.items() for line in one.heading().splitlines()
    ]
    notes = [note for one in named.values() for note in getattr(one, "warnings", ()) if isinstance(note, Note)]
    sections = [_section(name if several else title, one) for name, one in named.items()]
    return Content(request.title or title, (), verdict, once(list(map(Remark.of, notes))), sections)


def _title(result: Shown) -> str:
    """The name of a result's type as words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(result).__name__)


def _section(title: str, result: Shown) -> Section:
    chart = picture(result)
    return Section(title, "", [] if chart is None else [chart], [table_of(result.rows())])
