"""Which rows of a file a command looks at, and what each counts: the same options everywhere."""

from __future__ import annotations

from dataclasses import dataclass

from tallymark.cli.printing import progress_bar
from tallymark.sources.roles import OPTION, Roles
from tallymark.sources.rows import Rows
from tallymark.summaries.tally import Tally


@dataclass(frozen=True)
class Source:
    """What --weight, --count, --where and --drop-missing say."""

    weight: str | None = None
    count: str | None = None
    where: str | None = None
    drop_missing: bool = False

    def tally(self, file: str, label: str, score: str, pos_label: str | None) -> Tally:
        """The tally of one model."""
        with progress_bar(f"Reading {file}") as progress:
            roles = Roles(label=label, scores=(score,), weight=self.weight, count=self.count, spelling=OPTION)
            rows = Rows(paths=file, roles=roles, where=self.where, drop_missing=self.drop_missing, progress=progress)
            with rows.open() as table:
                table.choose_positive(pos_label)
                return table.tallies()[score]
