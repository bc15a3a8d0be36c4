"""Rendering of charts as SVG in a child process, so that a failure loses one chart and nothing else.

The rendering library runs a JavaScript engine, which ends its process when it is short of memory or meets a character
that it does not expect.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import IO, Any, Self, cast

Progress = Callable[[float], None]

#: Seconds after which a chart is given up.
_PATIENCE = 60.0


def drawn(specifications: Sequence[dict[str, Any]], progress: Progress | None = None) -> list[str | None]:
    """Each Vega-Lite specification as SVG; None where it could not be rendered."""
    pictures: list[str | None] = []
    while len(pictures) < len(specifications):
        started = len(pictures)
        with _Artist() as artist:
            for specification in specifications[started:]:
                pictures.append(artist.draw(specification))
                if progress is not None:
                    progress(100.0 * len(pictures) / len(specifications))
                if pictures[-1] is None and not artist.alive:
                    # A new process goes on with the next chart.
                    break
    return pictures


class _Artist:
    """A child process that answers each specification with an SVG."""

    def __enter__(self) -> Self:
        # The paths of this process, and -P so that nothing is imported from the current folder. The file is run, not
        # its module, which would load the package first.
        paths = os.pathsep.join(path for path in sys.path if path)
        self._process = subprocess.Popen(  # noqa: S603 - this very file
            [sys.executable, "-P", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"},
            encoding="utf-8",
        )
        return self

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def draw(self, specification: dict[str, Any]) -> str | None:
        """The SVG of a specification, or None where it could not be rendered."""
        given, answers = cast("IO[str]", self._process.stdin), cast("IO[str]", self._process.stdout)
        clock = threading.Timer(_PATIENCE, self._process.kill)
        clock.start()
        try:
            given.write(json.dumps(specification) + "\n")
            given.flush()
            answer = answers.readline()
        except OSError:
            answer = ""
        finally:
            clock.cancel()
        if not answer:
            self._process.wait()
            return None
        picture: str | None = json.loads(answer)
        return picture

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


def _answer(questions: IO[str], answers: IO[str]) -> None:
    import vl_convert

    for line in questions:
        try:
            picture = vl_convert.vegalite_to_svg(json.loads(line))
        except ValueError:
            picture = None
        answers.write(json.dumps(picture) + "\n")
        answers.flush()


if __name__ == "__main__":
    _answer(sys.stdin, sys.stdout)
