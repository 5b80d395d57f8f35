"""Keys of random numbers: from ``random_state`` to the 64-bit keys of the kernels.

Every random quantity of a map is a pure function of (seed, stream, column, component). The seed is
drawn here once, in ``fit``. A stream consists of the number of a class and the parameters that
determine the distribution of its output, such as the kernel and its degree: maps with the same seed
that differ in these are independent. Column and component enter in the kernels
(``_loops/c/random/random.h``).
"""

import hashlib
import json
import numbers
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sparsemaps._loops import maps as _loops
from sparsemaps._tools._parameters import ParameterError
from sparsemaps._tools._typing import Keys, RandomState

SCHEME = 1
"""Version of the random numbers, from the keys here to the words in ``random.h``.

Outputs with the same seed can be compared if and only if they have the same scheme. It changes only
in a release that announces it.
"""

STREAMS = {
    "count_sketch": 1,
    "weighted_sampling": 2,
    "random_maclaurin": 4,
    "sign_projection": 6,
    "random_fourier": 7,
    "random_binning": 8,
    "tensor_sketch": 11,
    "kernel_product": 12,
    "minhash": 14,
    "fastfood": 17,
    "random_projection": 18,
    "linear": 19,
}
"""Numbers of the first classes. They are never reused or renumbered within a scheme. The number of
any other class is a 120-bit hash of its name."""

Parameter: TypeAlias = str | int | float | None


def draw_seed(random_state: RandomState) -> int:
    """Return a non-negative integer: `random_state` itself, or a draw from it.

    None draws from NumPy's global generator, as in scikit-learn.
    """
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ParameterError("random_state", str(random_state), "a non-negative integer")
        return int(random_state)
    if random_state is None:
        return int(np.random.randint(2**31 - 1))  # noqa: NPY002 (the global generator is meant)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    rule = "None, an int, a numpy.random.Generator or a numpy.random.RandomState"
    raise ParameterError("random_state", repr(random_state), rule)


def number_of(stream: str) -> int:
    """Return the number of a class."""
    if stream in STREAMS:
        return STREAMS[stream]
    return int.from_bytes(hashlib.sha256(stream.encode()).digest()[:15], "little")


@lru_cache(maxsize=256, typed=True)  # takes a fifth of the time of mapping a single row
def keys(seed: int, stream: str, n: int, *parameters: Parameter) -> Keys:
    """Return the `n` uint64 key words of a map of class `stream` with these `parameters` and
    `seed`.

    An integer parameter and a float of the same value count as different parameters.
    """
    spawn_key = [SCHEME, number_of(stream)]
    if parameters:
        # JSON writes floats alike on every platform, but distinguishes -0.0 from 0.0; adding 0.0
        # makes both 0.0.
        canonical = [part + 0.0 if isinstance(part, float) else part for part in parameters]
        digest = hashlib.sha256(json.dumps(canonical).encode()).digest()
        spawn_key.append(int.from_bytes(digest[:16], "little"))
    sequence = np.random.SeedSequence(seed, spawn_key=spawn_key)
    words: Keys = sequence.generate_state(n, np.uint64).astype(np.uint64, copy=False)
    words.flags.writeable = False
    return words


def random_words(key: np.uint64, n: int, first: int = 0) -> npt.NDArray[np.uint64]:
    """Return random words, one per component, from component `first` on."""
    found = np.empty(n, np.uint64)
    _loops.random_words(key, found, first)
    return found


def uniforms(key: np.uint64, n: int) -> npt.NDArray[np.float64]:
    """Return uniform random numbers in (0, 1), one per component."""
    return ((random_words(key, n) >> np.uint64(12)).astype(float) + 0.5) * 2.0**-52
