"""Memory of the machine, and errors if it does not suffice."""

import contextlib
import os
from collections.abc import Iterator


def bytes_of_machine() -> int | None:
    """Return the memory of the machine in bytes, or None if it is unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return None


@contextlib.contextmanager
def allocating(n_bytes: int, what: str) -> Iterator[None]:
    """Raise a MemoryError that names `what` if the bytes cannot be allocated, or exceed the memory
    of the machine: the system may promise more than it has, and kill the process later."""
    there = bytes_of_machine()
    said = f"{n_bytes:,} bytes are needed for {what}"
    if there is not None and n_bytes > there:
        raise MemoryError(f"{said}; this machine has {there:,}")
    try:
        yield
    except MemoryError as error:
        raise MemoryError(said) from error


@contextlib.contextmanager
def out_of_memory_in(what: str) -> Iterator[None]:
    """Name the step that failed in MemoryErrors without a message."""
    try:
        yield
    except MemoryError as error:
        if str(error):
            raise
        raise MemoryError(what) from error
