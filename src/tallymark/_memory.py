"""Memory that a process may still take, where that is limited (``ulimit -v``, a batch queue).

Libraries that we stand on do not always end well without it: a linear algebra that is being loaded asks for more for ever, and
an engine whose threads get none crashes.
"""

from __future__ import annotations

from pathlib import Path

#: What NumPy, SciPy and DuckDB take when they are loaded, before any work.
_LIBRARIES = 384 * 2**20


def room() -> int | None:
    """Bytes of address space that this process may still take; None where nothing limits them, or nobody says so."""
    try:
        import resource
    except ModuleNotFoundError:
        # Windows has no such limit.
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    sizes = Path("/proc/self/statm")
    if limit == resource.RLIM_INFINITY or not sizes.exists():
        return None
    return limit - int(sizes.read_text(encoding="ascii").split()[0]) * resource.getpagesize()


def load_libraries_while_there_is_room() -> None:
    """Load SciPy before anything else takes memory, where that is limited; MemoryError where there is too little for it."""
    left = room()
    if left is None:
        return
    if left < _LIBRARIES:
        raise MemoryError
    import scipy.special  # noqa: F401
