"""Entry point of ``tallymark`` and ``python -m tallymark``, with handling of signals from the first import on."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Any

#: Signals that end a command, and its exit status.
_STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143}

_received: signal.Signals | None = None


class _Stopped(KeyboardInterrupt):
    """A signal to stop. A subclass, because Python may end the process with another status at a KeyboardInterrupt."""


def main() -> None:
    """Run a command; a signal to stop removes its temporary files and ends it with one line."""
    sys.unraisablehook = _unraisable
    try:
        for number in _STATUS:
            signal.signal(number, _stop)
        from tallymark.cli.app import main as run

        run()
    except (KeyboardInterrupt, SystemExit):
        # Typer turns an interrupt into a silent exit.
        if _received is None:
            raise
        sys.stderr.write("tallymark: stopped.\n")
        sys.exit(_STATUS[_received])


def _stop(number: int, _: Any) -> None:
    """Unwind as Ctrl-C does, so that everything is cleaned up; a second signal ends the process at once."""
    global _received  # noqa: PLW0603 - of the process
    _received = signal.Signals(number)
    for one in _STATUS:
        signal.signal(one, signal.SIG_DFL)
    raise _Stopped


def _unraisable(lost: Any) -> None:
    """Where Python drops the exception, as in a destructor, send the signal again a moment later."""
    if lost.exc_type is _Stopped and _received is not None:
        signal.signal(_received, _stop)
        again = threading.Timer(0.05, os.kill, [os.getpid(), _received])
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(lost)


if __name__ == "__main__":
    main()
