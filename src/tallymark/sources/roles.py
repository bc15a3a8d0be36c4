"""The role of each column: label, score, group, weight, count or cluster."""

from __future__ import annotations

from dataclasses import dataclass

from tallymark._check import Label
from tallymark.errors import InputError
from tallymark.sources.formats import Wanted, column_names

#: How a role is spelled in messages: as an argument in Python, or as an option of the command line.
ARGUMENT, OPTION = "{}=", "--{}"


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Names of the columns of labels, scores, groups, masses and clusters; and the positive label."""

    label: str | None = None
    scores: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    weight: str | None = None
    count: str | None = None
    cluster: str | None = None
    pos_label: Label | None = None
    #: How roles are spelled in messages.
    spelling: str = ARGUMENT

    def __post_init__(self) -> None:
        if self.weight is not None and self.count is not None:
            count, weight = (self.spelling.format(part) for part in ("count", "weight"))
            raise InputError(f"Give {count} (repeated rows) or {weight} (survey weights), not both.")
        if len(set(self.scores)) != len(self.scores):
            named = self.spelling.format("score")
            raise InputError(f"{named} must list the score columns, one per model and each once.")

    @classmethod
    def named(
        cls,
        *,
        label: object = None,
        score: object = (),
        by: object = (),
        weight: object = None,
        count: object = None,
        cluster: object = None,
        pos_label: Label | None = None,
        spelling: str = ARGUMENT,
    ) -> Roles:
        """From names as people pass them: one score or group, or several."""
        names: dict[str, str | None] = {}
        for role, name in (("label", label), ("weight", weight), ("count", count), ("cluster", cluster)):
            if name is not None and not isinstance(name, str):
                raise InputError(
                    f"{spelling.format(role)}{name!r}: columns are named by text; rename the column first."
                )
            names[role] = name
        scores, groups = (
            tuple(column_names(value, spelling.format(role))) for role, value in (("score", score), ("by", by))
        )
        return cls(**names, scores=scores, by=groups, pos_label=pos_label, spelling=spelling)

    @property
    def mass(self) -> str | None:
        """The column of weights or counts; None when each row counts one."""
        return self.weight if self.weight is not None else self.count

    @property
    def wanted(self) -> list[Wanted]:
        """Every column, with its role and the kind of its values."""
        parts = [
            *(Wanted(name, "score", "number") for name in self.scores),
            *(Wanted(name, "by") for name in self.by),
            *([] if self.label is None else [Wanted(self.label, "label")]),
            *([] if self.weight is None else [Wanted(self.weight, "weight", "number")]),
            *([] if self.count is None else [Wanted(self.count, "count", "count")]),
            *([] if self.cluster is None else [Wanted(self.cluster, "cluster")]),
        ]
        return [one._replace(option=self.spelling.format(one.option)) for one in parts]
