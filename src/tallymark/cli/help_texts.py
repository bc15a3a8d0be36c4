"""What the help says beside what commands declare: what belongs behind an option, and a line for each command."""

from __future__ import annotations

from typing import Any

#: What stands for a value in the help, by how its explanation begins.
_VALUES = {
    "Column": "COLUMN", "Score column": "COLUMN", "Or: column": "COLUMN", "CLASS=": "CLASS=COLUMN", "SQLite file": "FILE", "CSV file": "FILE",
    "CSV or Parquet file": "FILE", "Also write a report": "FILE", "Write ": "FILE", "Only rows": "CONDITION", "Only target rows": "CONDITION",
    "Only labelled rows": "CONDITION", "Only lines": "CONDITION", "Evaluate each group": "COLUMN", "Count each group": "COLUMN",
}  # fmt: skip

#: The longest line of the list of commands that fits into 80 columns.
_BRIEF = 62


def spelled(command: Any) -> Any:
    """A command whose help says what belongs behind an option (COLUMN, FILE, CONDITION), and whose list of commands is not cut."""
    for part in getattr(command, "commands", {}).values():
        spelled(part)
        part.short_help = _brief(part.help or "")
    for option in command.params:
        told = getattr(option, "help", None) or ""
        if not getattr(option, "is_flag", True) and not option.metavar:
            own = (option.name or "").upper().replace("_", "-")
            option.metavar = next((name for start, name in _VALUES.items() if told.startswith(start)), own)
    return command


def _brief(text: str) -> str:
    """The beginning of an explanation that fits into a line and is a sentence still."""
    sentence = text.strip().split("\n\n")[0].replace("\n", " ").split(". ")[0].rstrip(".")
    for mark in (": ", ", "):
        if len(sentence) > _BRIEF and mark in sentence[:_BRIEF]:
            sentence = (
                sentence[: sentence.index(mark)] if mark == ": " else sentence[: sentence.rindex(mark, 0, _BRIEF)]
            )
    return f"{sentence}."
