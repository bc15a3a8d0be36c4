"""Open a page in the browser: drop a file, read the answer.

The page runs on this machine alone, and nothing leaves it: it listens at 127.0.0.1, its address has a secret token, and
it reads files of the folder it is started in. Dropped files and reports are kept until it ends (Ctrl-C).

Example: tallymark serve reports --port 0
"""

from __future__ import annotations

import signal
import sys
import webbrowser
from pathlib import Path
from typing import Annotated, Any

import typer

from tallymark.cli.options import argument, flag, number, text
from tallymark.errors import InputError


def run(
    folder: Annotated[str, argument("[FOLDER]", "Folder whose files can be chosen; the current one by default.")] = ".",
    port: Annotated[int, number("PORT", "Port to listen at; 0 is any that is free.", least=0)] = 0,
    no_open: Annotated[bool, flag("no-open", "Print the address and open no browser.")] = False,
    host: Annotated[
        str, text("ADDRESS", "Address to listen at. Others than 127.0.0.1 can be reached from other machines.")
    ] = "127.0.0.1",
    limit: Annotated[int, number("MB", "Size of a file that can be dropped on the page.", least=1)] = 500,
    minutes: Annotated[float, number("MINUTES", "Time after which a question is given up.", least=0.05)] = 60.0,
) -> None:
    """Listen until the process is ended."""
    root = Path(folder)
    if not root.is_dir():
        raise InputError(f"{folder!r} is no folder.")
    if host in {"0.0.0.0", "::"}:  # noqa: S104 - it is refused
        raise InputError(f"--host {host}: name the one address at which this machine is to be reached.")
    uvicorn, app = _libraries()
    listening = app.open_socket(host, port)
    settings = app.Settings(host, listening.getsockname()[1], app.new_token(), limit << 20, minutes * 60.0)
    page = app.Page(root, settings)
    config = uvicorn.Config(page.application(), log_level="error", access_log=False, timeout_graceful_shutdown=5)
    typer.echo(f"Open {settings.address} in a browser; end it with Ctrl-C. Nothing leaves this machine.")
    sys.stdout.flush()
    if not no_open:
        webbrowser.open(settings.address)
    if hasattr(signal, "SIGHUP"):
        # A terminal that is closed ends the page as Ctrl-C does, and with it what was dropped.
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
    uvicorn.Server(config).run(sockets=[listening])


def _libraries() -> tuple[Any, Any]:
    try:
        import uvicorn

        from tallymark.server import app
    except ModuleNotFoundError:
        raise InputError("The page needs Starlette and uvicorn: pip install 'tallymark[serve]'.") from None
    return uvicorn, app
