"""Messages, docstrings and pages name only calls, commands and options that exist."""

import ast
import functools
import importlib
import re
from pathlib import Path

import pytest

import tallymark as tm
from command_tree import ROOT as MAIN
from command_tree import subcommands

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "src" / "tallymark" / "cli" / "skill.md",
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs").glob("tutorials/*.py"),
    ]
)

CALL = re.compile(r"(?<![\w.])tm(?:\.[A-Za-z_]\w*)+")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z](?![\w-])")
COMMAND = re.compile(r"\btallymark ([a-z][a-z-]*)")

#: What stands for any name, or follows the program's name in a sentence about it.
PLACEHOLDERS = {"tm.metrics.NAME"}
WORDS = {"as", "file", "reads"}


def options_of(command):
    own = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    return own.union({"--help"}, *(options_of(part) for part in subcommands(command).values()))


OPTIONS = options_of(MAIN)


@functools.cache
def exists(name):
    """Whether a dotted name can be had from the package."""
    found = tm
    for part in name.split(".")[1:]:
        if not hasattr(found, part):
            try:
                found = importlib.import_module(f"{found.__name__}.{part}")
            except (ImportError, AttributeError):
                return False
        else:
            found = getattr(found, part)
    return True


def texts(path):
    """Texts of a module, or a page without the commands of the benchmarks."""
    text = path.read_text(encoding="utf-8")
    if path in SOURCES:
        return [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant) and isinstance(node.value, str)]  # fmt: skip
    return [re.sub(r"python -m (?:bench|fuzz|studies)[^`\n]*", "", text)]


def missing(path):
    for text in texts(path):
        yield from (name for name in CALL.findall(text) if name not in PLACEHOLDERS and not exists(name))
        yield from (name for name in OPTION.findall(text) if name not in OPTIONS)
        if path in SOURCES or path.name in {"skill.md", "tasks.md"}:
            yield from (
                f"tallymark {word}" for word in COMMAND.findall(text) if word not in {*MAIN.list_commands(None), *WORDS}
            )


@pytest.mark.parametrize("folder", ["src", "docs"])
def test_every_name_exists(folder):
    paths = SOURCES if folder == "src" else PAGES
    assert {str(path.relative_to(ROOT)): names for path in paths if (names := sorted(set(missing(path))))} == {}


def test_names_are_found():
    """The test itself would notice."""
    found = {name for path in SOURCES for text in texts(path) for name in (*CALL.findall(text), *OPTION.findall(text))}
    assert {"tm.tally", "--pos-label"} <= found
    assert len(found) > 100
    assert not exists("tm.calibration.fit")
    assert "--odds-at" not in OPTIONS
