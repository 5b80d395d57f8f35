"""Kernels of cosines of rows that are nearly equal, against exact arithmetic."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from _data.close_rows import close_pairs

from sparsemaps.kernels import folded_rbf_kernel, normalized_rbf_kernel


def dot(x, y):
    return sum(Fraction(u) * Fraction(v) for u, v in zip(x.tolist(), y.tolist(), strict=True))


def exact_cosine(x, y):
    """The cosine to the digits of the context; with an empty row it is 0."""
    product, lengths = dot(x, y), dot(x, x) * dot(y, y)
    if not lengths:
        return Decimal(0)
    square = product**2 / lengths
    return (Decimal(square.numerator) / Decimal(square.denominator)).sqrt() * (
        1 if product > 0 else -1
    )


def normalized(gamma, rho):
    return (-gamma * (1 - rho)).exp()


def folded(gamma, rho):
    return ((-gamma * (1 - rho)).exp() + (-gamma * (1 + rho)).exp()) / 2


@pytest.mark.parametrize("sign", [1, -1])
def test_close_rows(sign):
    """The docstrings' bound of the cosine, for the least and the largest gamma of use."""
    for x, y in close_pairs():
        y = sign * y
        n = np.count_nonzero(x) + np.count_nonzero(y)
        with localcontext(prec=50):
            rho, bound = exact_cosine(x, y), Decimal(int(n) + 8) / 2**52
            for gamma in (1.0, 1e9):
                factor = Decimal(gamma)
                low, high = max(rho - bound, Decimal(-1)), min(rho + bound, Decimal(1))
                found = normalized_rbf_kernel([x], [y], gamma=gamma).item()
                rounding = 1e-15  # of the kernel, beside that of the cosine
                least, most = float(normalized(factor, low)), float(normalized(factor, high))
                assert least - rounding <= found <= most + rounding, (x, y, gamma)
                size = abs(rho)  # the folded kernel rises with it
                low, high = max(size - bound, Decimal(0)), min(size + bound, Decimal(1))
                found = folded_rbf_kernel([x], [y], gamma=gamma).item()
                least, most = float(folded(factor, low)), float(folded(factor, high))
                assert least - rounding <= found <= most + rounding, (x, y, gamma)
