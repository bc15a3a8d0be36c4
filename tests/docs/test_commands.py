"""Every command that a page shows exists, and has the options it is shown with."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from command_tree import ROOT as MAIN
from command_tree import subcommands

sys.path.insert(0, str(Path(__file__).parent))
from pages import DOCS


def commands():
    """Lines that begin with the program's name, continued where they end in a backslash, and commands within a text."""
    guide = DOCS.parent / "src" / "tallymark" / "cli" / "skill.md"
    for path in sorted([DOCS.parent / "README.md", guide, *DOCS.glob("*.md"), *(DOCS / "tutorials").glob("*.py")]):
        text = re.sub(r"\\\n#?\s*", "", path.read_text(encoding="utf-8"))
        for line in re.findall(r"^(?:#\s*|\s*)(tallymark \w.*)$", text, re.MULTILINE):
            yield path.name, line
        for line in re.findall(r"`(tallymark [a-z][^`\n]*)`", text):
            yield path.name, line


COMMANDS = sorted(set(commands()))


@pytest.mark.parametrize(("page", "line"), COMMANDS, ids=[line[:60] for _, line in COMMANDS])
def test_a_command_has_its_options(page, line):
    words = shlex.split(line.split("  ")[0])[1:]
    command = MAIN
    while words and words[0] in subcommands(command):
        command = subcommands(command)[words.pop(0)]
    assert not subcommands(command), f"{page}: {line}"
    known = {"--help"} | {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    assert {word.split("=")[0] for word in words if word.startswith("--")} <= known


def test_commands_are_found():
    assert len(COMMANDS) > 60
