"""Interleaved timing: each round runs every contender once, the ratio is the median over rounds."""

import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median


def rounds(contenders: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """Seconds of each contender, by round."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, work in contenders.items():
            start = time.perf_counter()
            work()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def ratio(seconds: Mapping[str, list[float]], name: str, to: str) -> float:
    """Median over rounds of one contender's time over another's."""
    return median(a / b for a, b in zip(seconds[name], seconds[to], strict=True))


def command_seconds(code: list[str], repeats: int) -> list[float]:
    """Wall time of a Python command, several times; the first, which fills the disk cache, does not count."""
    found = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        subprocess.run([sys.executable, *code], check=True, capture_output=True)
        found.append(time.perf_counter() - start)
    return found[1:]


def memory_bytes(field: str) -> int:
    """``VmHWM``, the most memory this process has held, or ``VmRSS``, what it holds now (Linux).

    Not ``ru_maxrss``: a new process inherits its parent's peak there.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024
