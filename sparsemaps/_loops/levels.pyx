# Choose the instruction set: the widest that was built and that the machine supports, or a lower
# one if the environment variable SPARSEMAPS_SIMD says so. It is read once, when this module is
# loaded.
import os
import threading


cdef extern from "c/base/cpu.h" nogil:
    int widest_built_level()
    int machine_level()

NAMES = ("baseline", "avx2", "avx512")


def _limit():
    """Return the highest level that SPARSEMAPS_SIMD allows."""
    name = os.environ.get("SPARSEMAPS_SIMD", "avx512")
    if name not in NAMES:
        allowed = " or ".join(NAMES)
        raise ImportError(f"the environment variable SPARSEMAPS_SIMD must be {allowed}, "
                          f"got {name!r}")
    return NAMES.index(name)


level = min(_limit(), widest_built_level(), machine_level())


def in_use():
    """Return the name of the level in use."""
    return NAMES[level]


def built():
    """Return the names of the levels that were built."""
    return NAMES[:widest_built_level() + 1]


def of_machine():
    """Return the names of the levels that were built and that this machine can run."""
    return NAMES[:min(widest_built_level(), machine_level()) + 1]


include "scratch.pxi"
