"""Available address space, where it is limited (``ulimit -v``, a batch queue).

Without enough of it a linear algebra library may hang while it is loaded, and the query engine may crash.
"""

from __future__ import annotations

from pathlib import Path

#: Address space that NumPy, SciPy and DuckDB take when they are loaded.
_LIBRARIES = 384 * 2**20


def room() -> int | None:
    """Bytes of address space that this process may still take; None where they are not limited, or it is unknown."""
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
    """Where memory is limited, load SciPy before anything else takes it; MemoryError where there is too little."""
    left = room()
    if left is None:
        return
    if left < _LIBRARIES:
        raise MemoryError
    import scipy.special  # noqa: F401
