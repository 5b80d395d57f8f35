"""Kernels of random grids, given the density of their pitches (the parameter `pitch_density`)."""

from collections.abc import Callable

import numpy as np

from sparsemaps._loops import maps as _loops
from sparsemaps._tools import _portable_math
from sparsemaps._tools._typing import Array

Density = Callable[[Array], Array]


def inverses(density: Density) -> Array:
    """Return the inverses of the midpoints of equally likely parts of a density on (0, inf), in
    ascending order of the pitches."""
    # Steps are equal in the logarithm, where dp = (density * pitch) d log(pitch).
    logarithms = np.linspace(-50, 50, 2**20 + 1)
    pitches = _portable_math.exp(logarithms)
    values = np.asarray(density(pitches), float)
    if values.shape != pitches.shape or not (values >= 0).all() or not np.isfinite(values).all():
        raise ValueError("pitch_density must return a finite number of at least 0 for each pitch")
    steps = values * pitches * (logarithms[1] - logarithms[0])
    below = np.concatenate([[0], np.cumsum((steps[1:] + steps[:-1]) / 2)])
    if abs(below[-1] - 1) > 1e-3:
        raise ValueError(
            "pitch_density must integrate to 1, the kernel's value at 0; its integral is "
            f"{below[-1]:.4g}"
        )
    # np.interp may be rounded differently on other machines, depending on the compiler.
    n = _loops.N_PITCHES
    wanted = (np.arange(n) + 0.5) / n * below[-1]
    step = np.searchsorted(below, wanted, side="right") - 1
    fraction = (wanted - below[step]) / (below[step + 1] - below[step])
    middles = logarithms[step] + fraction * (logarithms[step + 1] - logarithms[step])
    return 1 / _portable_math.exp(middles)


def hat_mixture(inverse_pitches: Array, gamma: float) -> Callable[[Array], Array]:
    """Return one column's factor of the kernel, as a function of the difference in that column.

    It is the mean of ``max(0, 1 - gamma * difference / pitch)`` over the pitches.
    """
    pitches = np.sort(1 / inverse_pitches)
    # For each pitch, the sum of 1 / pitch over it and all larger pitches.
    sums = np.append(np.cumsum((1 / pitches)[::-1])[::-1], 0.0)

    def factor(difference: Array) -> Array:
        first = np.searchsorted(pitches, gamma * difference, side="right")
        total = (len(pitches) - first) - gamma * difference * sums[first]
        return np.asarray(np.maximum(total / len(pitches), 0))

    return factor
