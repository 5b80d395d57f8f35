"""The memory of the machine, and errors if it does not suffice."""

import contextlib
import os
from collections.abc import Iterator


def bytes_of_machine() -> int | None:
    """Return the number of bytes of memory that the machine has; None if it does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return None


@contextlib.contextmanager
def allocating(n_bytes: int, what: str) -> Iterator[None]:
    """Raise a MemoryError, which names what the bytes are for, if they cannot be had, or are more
    than the machine has: it gives more than it has, and ends the process later."""
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
    """Let a MemoryError without text name the step that failed."""
    try:
        yield
    except MemoryError as error:
        if str(error):
            raise
        raise MemoryError(what) from error
