"""Commands as declarations: a parameter is an option, a dataclass is a group of options.

A command is a module with a function ``run``. The module's docstring is the help text; the parameters of ``run`` are
its arguments and options, declared by ``Annotated`` types. A parameter whose type is a dataclass stands for one option
per field, listed under the heading of that class in the help. Modules are imported when their command runs.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import shlex
from collections.abc import Callable, Iterator
from copy import copy
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from tallymark.errors import ColumnError, UnnamedColumnError, nearest
from tallymark.notes import strictly

#: ``-h`` as well as ``--help``, in every command.
CONTEXT = {"help_option_names": ["-h", "--help"]}


class Command(TyperCommand):
    """A command whose help lists its options by group, and whose errors about columns say where to look."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line; a column that is not named is a reason to look at the file."""
        try:
            parsed: list[str] = super().parse_args(ctx, args)
        except typer.BadParameter as error:
            # What is missing has a kind; other bad values have none.
            if hasattr(error, "param_type") and getattr(error.param, "metavar", None) == _COLUMN:
                error.message = _where_to_look(ctx)
            raise
        return parsed

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an error about its columns says where to look."""
        try:
            return super().invoke(ctx)
        except (ColumnError, UnnamedColumnError) as error:
            raise type(error)(f"{error} {_where_to_look(ctx)}") from None

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write one section for each group of options."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                is_argument = parameter.param_type_name == "argument"
                heading = "Arguments" if is_argument else getattr(parameter, "rich_help_panel", None) or "Options"
                sections.setdefault(heading, []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)


#: What an option that names a column takes.
_COLUMN = "COLUMN"


def _where_to_look(ctx: Any) -> str:
    """The command that shows what each column of the command's file could be; of several files, of any."""
    arguments = [one.name for one in ctx.command.params if one.param_type_name == "argument"]
    given = [value for name in arguments if (value := ctx.params.get(name)) is not None]
    file = shlex.quote(given[0]) if len(given) == 1 and isinstance(given[0], str) else "FILE"
    return f"`tallymark look {file}` shows what each column could be."


class CommandPackage(TyperGroup):
    """The commands of a Python package, which lists them by heading in ``COMMANDS``; loaded when they are used."""

    def __init__(self, *, package: str = "tallymark.cli.commands", **settings: Any) -> None:
        super().__init__(**settings)
        self.package = importlib.import_module(package)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """The names of the commands, in the order of the help."""
        return [name for names in self.package.COMMANDS.values() for name in names]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name, or None."""
        if cmd_name not in self.list_commands(ctx):
            if meant := nearest(cmd_name, self.list_commands(ctx)):
                ctx.fail(f"No such command {cmd_name!r}.{meant}")
            return None
        module = importlib.import_module(f"{self.package.__name__}.{cmd_name.replace('-', '_')}")
        if hasattr(module, "COMMANDS"):
            return CommandPackage(
                package=module.__name__,
                name=cmd_name,
                help=module.__doc__,
                no_args_is_help=True,
                rich_markup_mode=None,
                context_settings=CONTEXT,
            )
        return command_of(module.run, cmd_name, module.__doc__ or "")

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands by heading, each with the first sentence of its help, without importing them."""
        width = max(map(len, self.list_commands(ctx)))
        for heading, names in self.package.COMMANDS.items():
            formatter.write(f"\n{heading}\n")
            with formatter.indentation():
                formatter.write_dl([(name.ljust(width), self._summary(name)) for name in names])

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Completions of the names of commands, without importing them."""
        commands: dict[str, Any] = {
            name: TyperCommand(name, help=self._summary(name)) for name in self.list_commands(ctx)
        }
        ctx.command = TyperGroup(name=self.name, params=self.params, commands=commands)
        return ctx.command.shell_complete(ctx, incomplete)

    def _summary(self, name: str) -> str:
        """The first line of the docstring of a command's module, read from its file."""
        place = Path(str(self.package.__file__)).parent / name.replace("-", "_")
        source = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        with source.open(encoding="utf-8") as lines:
            return next(lines).strip().strip('"')


def command_of(function: Callable[..., Any], name: str, help_text: str) -> Any:
    """The command that a function declares."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None, context_settings=CONTEXT)
    app.command(name, cls=Command, help=help_text)(_spread(function))
    return typer.main.get_command(app)


def _spread(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with one keyword for each option, those of groups included."""
    from tallymark.cli.options import FileFormat

    hints = get_type_hints(function, include_extras=True)
    declared = inspect.signature(function).parameters
    groups: dict[str, Any] = {name: hints[name] for name in declared if dataclasses.is_dataclass(hints[name])}
    files = [name for name in declared if any(getattr(part, "reads_rows", False) for part in get_args(hints[name]))]
    # An option of the command stands for that of a group with the same name.
    own = declared.keys() - groups.keys()
    parameters: list[inspect.Parameter] = []
    for name, parameter in declared.items():
        if name in groups:
            parameters += [one for one in _options_of(groups[name]) if one.name not in own]
        else:
            kind = inspect.Parameter.KEYWORD_ONLY
            parameters.append(inspect.Parameter(name, kind, default=parameter.default, annotation=hints[name]))
    parameters += _options_of(FileFormat) if files else ()

    def run(**options: Any) -> Any:
        def taken(kind: Any) -> Any:
            names = [field.name for field in dataclasses.fields(kind) if field.name not in own]
            return kind(**{name: options.pop(name) for name in names})

        values = {name: taken(kind) for name, kind in groups.items()}
        if files:
            given = [name for name in files if options[name] is not None]
            options |= zip(given, taken(FileFormat).of_files(*(options[name] for name in given)), strict=True)
        # An option --strict holds for everything that the command reads and calls.
        from tallymark.cli.output import writing_tables

        strict = any(getattr(value, "strict", False) for value in values.values())
        inputs = [options[name] for name in files if options[name] is not None]
        with strictly(strict=strict), writing_tables(values.values(), inputs):
            return function(**options, **values)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _options_of(group: Any) -> Iterator[inspect.Parameter]:
    """One parameter for each field of a group, under its heading."""
    hints = get_type_hints(group, include_extras=True)
    for field in dataclasses.fields(group):
        kind, option = get_args(hints[field.name])
        option = copy(option)
        option.rich_help_panel = group.heading
        default = inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default
        yield inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option]
        )
