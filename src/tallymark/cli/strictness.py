"""``--strict``: every command that reads labels can treat its notes as errors."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from tallymark.notes import strictly

Strict = Annotated[bool, typer.Option("--strict", help="Treat warnings as errors.")]


def with_strict(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command with the option ``--strict``, which holds for all that it reads and calls."""

    @functools.wraps(command)
    def run(*args: Any, strict: bool, **kwargs: Any) -> Any:
        with strictly(strict=strict):
            return command(*args, **kwargs)

    known = inspect.signature(command, eval_str=True)
    option = inspect.Parameter("strict", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Strict)
    run.__signature__ = known.replace(parameters=[*known.parameters.values(), option])  # type: ignore[attr-defined]
    run.__annotations__ = {**command.__annotations__, "strict": Strict}
    return run
