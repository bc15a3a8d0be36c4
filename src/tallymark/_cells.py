"""A cell of a table: text for people that keeps its number for programs."""

from __future__ import annotations

from typing import Self


class Written(str):
    """A number written for people, with the number itself and its limits for programs.

    >>> cell = Written("0.968 (0.950–0.979)", 0.96763, 0.9503, 0.9789)
    >>> cell, cell.value, cell.high
    ('0.968 (0.950–0.979)', 0.96763, 0.9789)
    """

    __slots__ = ("high", "low", "value")

    value: float | int | None
    low: float | None
    high: float | None

    def __new__(
        cls, text: str, value: float | None = None, low: float | None = None, high: float | None = None
    ) -> Self:
        """The text with what it stands for."""
        written = super().__new__(cls, text)
        written.value, written.low, written.high = value, low, high
        return written
