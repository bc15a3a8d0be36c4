"""What the README shows is what the program prints."""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tallymark.cli.app import app

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"```console\n\$ (.*?)\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize(("page", "fewest"), [("README.md", 2), ("CONTRIBUTING.md", 5)])
def test_the_python_examples_run(page, fewest):
    result = doctest.testfile(str(Path(__file__).parent.parent / page), module_relative=False, verbose=False)
    assert result.attempted > fewest
    assert result.failed == 0


@pytest.fixture(scope="module")
def demo_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("readme")
    CliRunner().invoke(app, ["demo", "--folder", str(folder / "demo")], catch_exceptions=False)
    return folder


@pytest.mark.parametrize(("command", "shown"), COMMANDS, ids=[command[:60] for command, _ in COMMANDS])
def test_the_commands_print_what_is_shown(demo_folder, monkeypatch, command, shown):
    monkeypatch.chdir(demo_folder)
    monkeypatch.setenv("COLUMNS", "80")
    result = CliRunner().invoke(app, shlex.split(command)[1:], catch_exceptions=False)
    assert [line.rstrip() for line in result.stdout.rstrip().splitlines()] == shown.rstrip().splitlines()
