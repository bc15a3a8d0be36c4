"""Commands that the page started, each in a process of its own: a crash or a kill costs that run only."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import shlex
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tallymark.errors import InputError

#: Runs that wait at most, and characters of what a command says that are kept.
_MOST_WAITING, _MOST_SAID = 100, 20_000

#: Python that imports nothing from the folder it is started in, which may hold anybody's files.
PYTHON = (sys.executable, "-P")

#: Runs, and looks at files, at a time.
AT_ONCE = max(1, (os.cpu_count() or 2) // 2)

#: Where a command writes how far it is.
PROGRESS = "TALLYMARK_PROGRESS"


@dataclass(eq=False)
class Run:
    """A command and what became of it."""

    folder: Path
    words: list[str]
    #: What the paths in it are called to people.
    names: dict[str, str]
    shown: str
    python: str
    state: str = "waiting"
    said: str = ""
    started: float = field(default_factory=time.monotonic)
    ended: float | None = None
    process: asyncio.subprocess.Process | None = None
    task: asyncio.Task[None] | None = None

    @property
    def report(self) -> Path:
        """The page that it writes."""
        return self.folder / "report.html"

    @property
    def tables(self) -> Path:
        """The workbook that it writes."""
        return self.folder / "tables.xlsx"

    @property
    def rows(self) -> Path:
        """The rows to check that it writes, of a plan."""
        return self.folder / "to_check.csv"

    def to_dict(self) -> dict[str, Any]:
        """What the page shows."""
        progress = self.folder / "progress"
        return {
            "state": self.state,
            "said": self.said,
            "command": self.shown,
            "python": self.python,
            "seconds": round((self.ended or time.monotonic()) - self.started, 1),
            "progress": progress.read_text(encoding="utf-8") if progress.exists() else "",
            "files": [path.name for path in (self.report, self.tables, self.rows) if path.exists()],
        }


class Runs:
    """All runs; so many at a time as there are cores, the others wait."""

    def __init__(self, folder: Path, cwd: Path, seconds: float) -> None:
        self.folder, self.cwd, self.seconds = folder, cwd, seconds
        self._runs: dict[str, Run] = {}
        self._free = asyncio.Semaphore(AT_ONCE)

    def start(self, words: Sequence[str], names: dict[str, str], python: str) -> str:
        """Start a command; `names` are what the paths in it are called to people."""
        if sum(run.state in {"waiting", "running"} for run in self._runs.values()) >= _MOST_WAITING:
            raise InputError("Too many questions wait for their answer; cancel some, or wait.")
        key = secrets.token_hex(8)
        folder = self.folder / "runs" / key
        folder.mkdir(parents=True)
        shown = shlex.join(["tallymark", *(names.get(word, word) for word in words)])
        run = Run(folder, list(words), names, shown, python)
        self._runs[key] = run
        run.task = asyncio.create_task(self._work(run))
        return key

    def __getitem__(self, key: str) -> Run:
        if key not in self._runs:
            raise InputError("There is no such run; the page was started anew.")
        return self._runs[key]

    async def _work(self, run: Run) -> None:
        try:
            async with self._free:
                run.state, run.started = "running", time.monotonic()
                code, said = await self._call(run)
                run.said = said[-_MOST_SAID:]
                run.state = "done" if code == 0 else "failed"
                if code < 0:
                    run.said = f"The command was ended by the system (signal {-code}); it may have run out of memory."
        except TimeoutError:
            run.state, run.said = "failed", f"It took longer than {self.seconds / 60:g} minutes and was ended."
        except asyncio.CancelledError:
            run.state = "cancelled"
        except OSError as error:
            run.state, run.said = "failed", f"The command could not be started: {error}."
        finally:
            await _end(run.process)
            run.ended = time.monotonic()

    async def _call(self, run: Run) -> tuple[int, str]:
        outputs = ["--report", str(run.report), "--out", str(run.tables)]
        if run.words[:2] == ["audit", "plan"]:
            outputs = ["--report", str(run.report), "--out", str(run.rows)]
        run.process = await asyncio.create_subprocess_exec(
            *PYTHON, "-m", "tallymark", *run.words, *outputs,
            cwd=run.folder, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE, start_new_session=True,
            env=os.environ | {PROGRESS: str(run.folder / "progress"), "COLUMNS": "200"},
        )  # fmt: skip
        _, errors = await asyncio.wait_for(run.process.communicate(), self.seconds)
        said = errors.decode("utf-8", "replace").replace("tallymark: ", "")
        for path, name in {str(run.folder) + os.sep: "", **run.names}.items():
            said = said.replace(path, name)
        return run.process.returncode or 0, said.strip()

    def cancel(self, key: str) -> None:
        """End a run, waiting or not."""
        run = self[key]
        if run.task is not None and run.state in {"waiting", "running"}:
            run.task.cancel()

    async def close(self) -> None:
        """End all runs."""
        tasks = [run.task for run in self._runs.values() if run.task is not None and not run.task.done()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _end(process: asyncio.subprocess.Process | None) -> None:
    """End a process and those that it started."""
    if process is None or process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    await process.wait()


async def answer_of(words: Sequence[str], seconds: float) -> str:
    """What a short command of Python prints; its error where it fails."""
    process = await asyncio.create_subprocess_exec(
        *PYTHON, *words, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    try:
        printed, errors = await asyncio.wait_for(process.communicate(), seconds)
    except TimeoutError:
        raise InputError(f"Looking at the file took longer than {seconds:g} seconds.") from None
    finally:
        await _end(process)
    if process.returncode:
        said = errors.decode("utf-8", "replace").strip().removeprefix("tallymark: ")
        raise InputError(said or "The file could not be read; the process that read it was ended.")
    return printed.decode("utf-8")
