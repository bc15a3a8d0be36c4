"""Result of checking a judge: pass rates as judged and as corrected, error rates, agreement, and a difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tallymark._check import Label
from tallymark._display import Limited, Row, Shown, plain
from tallymark._mappings import FrozenDict
from tallymark._numbers import counted, equals_p, number, per_cent
from tallymark.audits.class_estimates import AuditMeasure
from tallymark.comparison.of_outcomes import OutcomeComparison
from tallymark.measures import Measure
from tallymark.notes import Note
from tallymark.quantify.estimation.prevalence import Prevalence
from tallymark.raters.results import Agreement

#: What verdicts are that are no passes.
_SCALES = {"classes": "classes, each against the others", "grades": "grades, of which the mean is estimated"}

#: p-value below which error rates of segments are said to differ.
_SHOWN = 0.05


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Judgement(Shown):
    """Pass rates of a judge checked by people.

    Attributes
    ----------
    judged, corrected : Measure
        Pass rate by the judge's verdicts, and corrected by people's (design-based).
    by_error_rates : Prevalence
        The pass rate from the judge's error rates (Rogan-Gladen); None where people passed all labelled items or none.
    sensitivity, specificity : Measure
        Share of the items that people pass which the judge passes, and of those they fail which it fails.
    agreement : Agreement
        Agreement of judge and people on the labelled items, of grades by their squared difference. None where items
        were labelled with unequal chances, and of grades with more than 1 000 different values.
    bias : AuditMeasure
        Of grades: the judge's mean grade less people's, over all items.
    difference : AuditMeasure
        Corrected difference of two systems, the first less the second; None of one system. Its p-value is in
        ``parameters``.
    comparison : OutcomeComparison
        Every pair of several systems, with tests, limits and letters.
    systems, classes, segments : mapping
        The same for each system, for each verdict against the others, and for each segment.
    unlike_rates : mapping
        p-value of the judge's sensitivity, and of its specificity, being the same in all segments.
    """

    n: int
    labelled: int
    scale: str = "pass"
    #: What rates are of: these items (suite), or those that they are a random sample of (items).
    population: str = "suite"
    judged: Measure | None = None
    corrected: AuditMeasure | None = None
    by_error_rates: Prevalence | None = None
    sensitivity: Measure | None = None
    specificity: Measure | None = None
    agreement: Agreement | None = None
    bias: AuditMeasure | None = None
    difference: AuditMeasure | None = None
    comparison: OutcomeComparison | None = None
    systems: Mapping[str, Judgement] = field(default_factory=dict)
    classes: Mapping[Label, Judgement] = field(default_factory=dict)
    segments: Mapping[tuple[Any, ...], Judgement] = field(default_factory=dict)
    by: tuple[str, ...] = ()
    unlike_rates: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        for name in ("systems", "classes", "segments", "unlike_rates"):
            object.__setattr__(self, name, FrozenDict(getattr(self, name)))

    @classmethod
    def of_systems(cls, systems: Mapping[str, Judgement]) -> Judgement:
        """Several systems judged on the same items."""
        first = next(iter(systems.values()))
        notes = tuple(dict.fromkeys(note for one in systems.values() for note in one.warnings))
        return cls(
            n=first.n,
            labelled=first.labelled,
            scale=first.scale,
            population=first.population,
            systems=systems,
            warnings=notes,
        )

    def heading(self) -> str:
        """Items and labels; which system is better, where there are several; whether error rates differ."""
        of = "these items" if self.population == "suite" else "the items that these are a sample of"
        lines = [f"{counted(self.n, 'item')} judged, {self.labelled} of them by people too; rates are of {of}"]
        if self.scale != "pass":
            lines[0] += f"; verdicts are {_SCALES[self.scale]}"
        if self.difference is not None and not self.difference.reason:
            names = list(self.systems)
            low, high = self.difference.low or 0.0, self.difference.high or 0.0
            better = names[0] if low > 0.0 else names[1] if high < 0.0 else None
            word = "does better" if self.scale == "grades" else "passes more often"
            verdict = "no difference is shown" if better is None else f"{better} {word}"
            lines.append(f"{names[0]} less {names[1]}: {self.difference.written}; {verdict}")
        elif self.comparison is not None:
            letters = self.comparison.letters
            ranked = ", ".join(f"{name} ({letters[name]})" for name in self.comparison.ranked)
            lines.append(f"Best first: {ranked}; systems that share a letter cannot be told apart")
        lines += [
            f"The judge's {name} differs between segments ({equals_p(p)}): read each segment's own correction; the "
            "pass rate by error rates takes them as the same"
            for name, p in self.unlike_rates.items()
            if p < _SHOWN
        ]
        return "\n".join(lines)

    @property
    def level(self) -> float:
        """Confidence level of the limits."""
        measures = (one for _, part in self.parts() for _, _, one, _ in part.estimates())
        levels = (getattr(one, "level", None) for one in measures)
        return next((level for level in levels if level is not None), 0.95)

    def sentences(self) -> list[str]:
        """Whether the judge is too lenient or too strict, of each system."""
        told = []
        for name, one in self.systems.items() or [("The judge", self)]:
            if one.judged is None or one.corrected is None or one.corrected.interval is None:
                continue
            low, high = one.corrected.interval
            gap = "high" if one.judged.value > high else "low" if one.judged.value < low else None
            rates = self.scale != "grades"
            said, right = (
                per_cent(one.judged.value) if rates else number(one.judged.value),
                per_cent(one.corrected.value, low, high) if rates else one.corrected.written,
            )
            verdict = "no bias is shown" if gap is None else f"its own figure is too {gap}"
            of, how = "passes" if rates else "gives a mean of", "corrected by people's verdicts"
            if low == high:
                how, right = "by people's verdicts on every item", per_cent(low) if rates else number(low)
            told.append(f"{name} {of} {said}; {how} it is {right}: {verdict}.")
        return told

    def matrix(self) -> list[Row] | None:
        """Labelled items by people's and the judge's verdict; None of grades, several systems or unequal chances."""
        patterns = None if self.agreement is None else self.agreement.ratings.patterns
        if patterns is None or patterns.codes is None or self.scale == "grades":
            return None
        judge, human = patterns.codes.T.tolist()
        counts: dict[tuple[str, str], int] = {}
        for j, h, mass in zip(judge, human, patterns.mass.tolist(), strict=True):
            cell = str(patterns.classes[h]), str(patterns.classes[j])
            counts[cell] = counts.get(cell, 0) + int(mass)
        labels = [str(label) for label in patterns.classes]
        return [{"human": h, "judge": j, "n": counts.get((h, j), 0)} for h in labels for j in labels]

    def estimates(self) -> Iterator[tuple[str, float, Limited | None, str | None]]:
        """Name, value, limits and reason of each estimate."""
        for name in ("judged", "corrected", "by_error_rates", "sensitivity", "specificity", "bias"):
            one = getattr(self, name)
            if one is not None:
                yield name, one.value, one, one.reason
        if self.agreement is not None:
            for name in ("observed", "cohen_kappa", "gwet_ac"):
                coefficient = self.agreement[name]
                yield name, coefficient.value, coefficient, coefficient.reason

    def parts(self) -> Iterator[tuple[dict[str, str], Judgement]]:
        """Judgements of one system or class each, of all items and then of the segments, with what names it."""
        for key, segment in [(("(all)",) * len(self.by), replace(self, segments={}, by=())), *self.segments.items()]:
            named = dict(zip(self.by, map(str, key), strict=True))
            for system, one in segment.systems.items() or [("", segment)]:
                of = {**named, "system": system} if segment.systems else named
                for label, judgement in one.classes.items() or [("", one)]:
                    yield ({**of, "verdict": str(label)} if one.classes else of), judgement
                if one.classes and one.agreement is not None:
                    yield {**of, "verdict": "(all)"}, replace(one, classes={})
            if segment.difference is not None:
                pair = Judgement(n=self.n, labelled=self.labelled, difference=segment.difference)
                yield {**named, "system": " − ".join(segment.systems)}, pair

    def rows(self) -> list[Row]:
        """One line per estimate; by system, verdict and segment where there are any."""
        lines: list[Row] = []
        for named, part in self.parts():
            lines += [{**named, **_line(*estimate)} for estimate in part.estimates()]
            if part.difference is not None and not part.systems:
                one = part.difference
                p = {name: one.parameters.get(name) for name in ("p_value", "p_holm") if name in one.parameters}
                lines.append({**named, **_line(one.name, one.value, one, one.reason), **p})
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        names = (
            "judged", "corrected", "by_error_rates", "sensitivity", "specificity", "bias", "agreement", "difference",
            "comparison",
        )  # fmt: skip
        parts = {name: None if (one := getattr(self, name)) is None else one.to_dict() for name in names}
        return {
            "n": self.n,
            "labelled": self.labelled,
            "scale": self.scale,
            "population": self.population,
            **parts,
            "systems": {name: one.to_dict() for name, one in self.systems.items()} or None,
            "classes": {str(label): one.to_dict() for label, one in self.classes.items()} or None,
            "unlike_rates": plain(dict(self.unlike_rates)) or None,
            "segments": [
                {"segment": dict(zip(self.by, plain(list(key)), strict=True)), **one.to_dict()}
                for key, one in self.segments.items()
            ]
            or None,
        }


def _line(name: str, value: float, one: Limited | None, reason: str | None) -> Row:
    low, high = (None, None) if one is None else (one.low, one.high)
    return {"of": name, "value": value, "low": low, "high": high, "reason": reason}
