"""All commands of the command line, loaded."""

import typer

from tallymark.cli.app import app

ROOT = typer.main.get_command(app)


def subcommands(command):
    """The commands below one, by name."""
    names = command.list_commands(None) if hasattr(command, "list_commands") else []
    return {name: command.get_command(None, name) for name in names}


def every_command():
    """Every command that does something, by its words."""
    for name, command in subcommands(ROOT).items():
        below = subcommands(command)
        yield from (((name, word), one) for word, one in below.items()) if below else [((name,), command)]
