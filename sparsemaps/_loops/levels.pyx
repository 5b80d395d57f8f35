# Which instruction set is used: the widest that was built and that the machine has, or less if the
# environment variable SPARSEMAPS_SIMD says so. It is read once, when this module is loaded.
import os
import threading


cdef extern from "c/base/cpu.h" nogil:
    int widest_built_level()
    int machine_level()

NAMES = ("baseline", "avx2", "avx512")


def _limit():
    """The level that SPARSEMAPS_SIMD allows."""
    name = os.environ.get("SPARSEMAPS_SIMD", "avx512")
    if name not in NAMES:
        allowed = " or ".join(NAMES)
        raise ImportError(f"the environment variable SPARSEMAPS_SIMD must be {allowed}, "
                          f"got {name!r}")
    return NAMES.index(name)


level = min(_limit(), widest_built_level(), machine_level())


def in_use():
    """The name of the level in use."""
    return NAMES[level]


def built():
    """The names of the levels that this installation has."""
    return NAMES[:widest_built_level() + 1]


def of_machine():
    """The names of the levels that were built and that this machine can run."""
    return NAMES[:min(widest_built_level(), machine_level()) + 1]


include "scratch.pxi"
