"""Interleaved timing: each round runs every contender once, and a ratio compares times of one round."""

import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path


def rounds(contenders: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """Seconds of each contender, by round."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, work in contenders.items():
            start = time.perf_counter()
            work()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def ratios(seconds: Mapping[str, list[float]], name: str, to: str) -> list[float]:
    """One contender's time over another's, by round."""
    return [a / b for a, b in zip(seconds[name], seconds[to], strict=True)]


def run_python(arguments: list[str]) -> str:
    """What a fresh interpreter prints."""
    return subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True).stdout


def memory_bytes(field: str) -> int:
    """``VmHWM``, the most memory this process has held, or ``VmRSS``, what it holds now (Linux).

    Not ``ru_maxrss``: a new process inherits its parent's peak there.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024
