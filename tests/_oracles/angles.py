"""Angles of Fourier and Fastfood features, computed by whole numbers."""

from fractions import Fraction

import numpy as np

from sparsemaps._loops import maps as _loops
from sparsemaps._tools import _seeding


def exact_turns(fitted, X):
    """The angles in turns, of float64 numbers without rounding; and the sums of the absolute values
    of what is added."""
    draw = fitted.draw
    if type(fitted).__name__ == "Fastfood":
        W = draw.multiply(np.eye(draw.dense_width))[: X.shape[1], : len(draw.scales)]
        scales = draw.scales.astype(float)
    else:
        vectors, lengths, _ = draw.keys()
        folded = fitted.kernel == "folded_rbf"
        paired = fitted.form == "paired" and not folded
        n = fitted.n_components // 2 if paired else fitted.n_components
        kinds = {"laplacian": _loops.CAUCHY, "cauchy": _loops.LAPLACE}
        kind = kinds.get(fitted.kernel, _loops.NORMAL)
        W = np.empty((X.shape[1], 64), np.float32)
        for column in range(X.shape[1]):
            of = (_loops.QUANTILES, column, W[column], draw.quantiles)
            _loops.draw(vectors, *(of if draw.quantiles is not None else (kind, *of[1:3])))
        W, scales = W[:, :n], draw._scales(lengths, n)
    (X, unit_of_rows), (W, unit) = whole(X), whole(W)
    units = [unit_of_rows * unit * Fraction(scale) for scale in scales.tolist()]
    return tuple(
        [[number * unit for number, unit in zip(row, units, strict=True)] for row in found.tolist()]
        for found in (X @ W, abs(X) @ abs(W))
    )


def whole(numbers):
    """Whole numbers, and the power of 2 that these numbers are multiples of."""
    ratios = [number.as_integer_ratio() for number in numbers.ravel().tolist()]
    divisor = max(divisor for _, divisor in ratios)
    found = [number * (divisor // of_number) for number, of_number in ratios]
    return np.array(found, object).reshape(numbers.shape), Fraction(1, divisor)


def features_of(fitted, turns):
    """The features of angles."""
    draw = fitted.draw
    name, n = type(fitted).__name__, fitted.n_components
    paired = name == "Fastfood" or (fitted.form == "paired" and fitted.kernel != "folded_rbf")
    if paired:
        angles = np.array([[2 * np.pi * float(t % 1) for t in row] for row in turns])
        pairs = np.stack([np.cos(angles), np.sin(angles)], axis=2).reshape(len(turns), -1)
        return np.sqrt(2 / n) * pairs, 2
    folded = fitted.kernel == "folded_rbf"
    phases = np.zeros(n) if folded else _seeding.uniforms(draw.keys()[2], n)
    shifted = np.array(turns, object) + np.array([Fraction(p) for p in phases.tolist()])
    angles = 2 * np.pi * (shifted % 1).astype(float)
    return np.sqrt((1 if folded else 2) / n) * np.cos(angles), 1
