"""A measure: what was reached, how it spread over the rounds, what was asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Measured:
    """A ratio over the rounds of a run, beside its goal."""

    name: str
    ratios: tuple[float, ...]
    unit: str
    goal: float
    larger_is_better: bool
    note: str = ""

    @property
    def value(self) -> float:
        """The median over rounds."""
        return median(self.ratios)

    @property
    def reached(self) -> bool:
        """Whether the median reaches the goal."""
        return self.value >= self.goal if self.larger_is_better else self.value <= self.goal

    def line(self) -> str:
        """One line for people."""
        spread = f"({min(self.ratios):.2f} to {max(self.ratios):.2f})" if len(self.ratios) > 1 else ""
        goal = f"goal {self.goal:g}x" + ("" if self.larger_is_better else " or less")
        mark = "ok  " if self.reached else "MISS"
        return f"{mark}  {self.name:<56} {self.value:6.2f}x {self.unit:<22} {spread:<18} {goal} {self.note}".rstrip()

    def to_dict(self) -> dict[str, object]:
        """Plain values."""
        return {
            "name": self.name, "value": self.value, "low": min(self.ratios), "high": max(self.ratios),
            "unit": self.unit, "goal": self.goal, "reached": self.reached, "note": self.note,
        }  # fmt: skip


def faster(name: str, ratios: Sequence[float], goal: float) -> Measured:
    """A speed-up over a peer."""
    return Measured(name, tuple(ratios), "faster", goal, larger_is_better=True)


def at_most(name: str, ratios: Sequence[float], goal: float, unit: str, note: str = "") -> Measured:
    """A ratio that should stay small."""
    return Measured(name, tuple(ratios), unit, goal, larger_is_better=False, note=note)
