"""``tallymark`` and ``python -m tallymark``: a command that can be stopped at any moment, also while its libraries are loaded."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Any

#: Signals that end a command, and the status it ends with.
_STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143}

_received: signal.Signals | None = None


class _Stopped(KeyboardInterrupt):
    """A signal to stop. Not a KeyboardInterrupt itself, for which Python may end the process with a status of its own."""


def main() -> None:
    """Run a command; a signal to stop takes away its temporary files and ends it with one line."""
    sys.unraisablehook = _unraisable
    try:
        for number in _STATUS:
            signal.signal(number, _stop)
        from tallymark.cli.app import main as run

        run()
    except (KeyboardInterrupt, SystemExit):
        # Typer makes an exit of its own of an interrupt, and says nothing.
        if _received is None:
            raise
        sys.stderr.write("tallymark: stopped.\n")
        sys.exit(_STATUS[_received])


def _stop(number: int, _: Any) -> None:
    """Unwind as Ctrl-C does, so that everything is put in order; a second signal ends the process at once."""
    global _received  # noqa: PLW0603 - of the process
    _received = signal.Signals(number)
    for one in _STATUS:
        signal.signal(one, signal.SIG_DFL)
    raise _Stopped


def _unraisable(lost: Any) -> None:
    """Where Python drops an exception, as in a destructor, the signal is sent again a moment later."""
    if lost.exc_type is _Stopped and _received is not None:
        signal.signal(_received, _stop)
        again = threading.Timer(0.05, os.kill, [os.getpid(), _received])
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(lost)


if __name__ == "__main__":
    main()
