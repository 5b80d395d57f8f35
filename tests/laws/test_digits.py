"""Numbers near 0 and 1, and variances that are small beside their moments, keep their digits.

Each place is compared with its formula in fractions, or in decimals of 60 digits.
"""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from sparsemaps.codes import ByChance, ProductCounts
from sparsemaps.laws._agreement import ByProduct
from sparsemaps.laws._block_covariance import _kummer, covariance_of_signs
from sparsemaps.laws._inner_products import ProjectionLaw
from sparsemaps.laws._moments import Pairs
from sparsemaps.laws._product_law import ProductLaw
from sparsemaps.laws._sampled import SignsLaw
from sparsemaps.laws._series import MaclaurinLaw, TensorSketchLaw
from sparsemaps.laws._shift_invariant import FastfoodLaw, FourierLaw
from sparsemaps.linear import _losses
from sparsemaps.neighbors._bands import Bands, recall_of

NEAR_1 = 1 - 2.0**-33
SMALL = 2.0**-40
SIGNS = SignsLaw(bits=1, kernel="acos", distribution=None, dense_output=False)
FACTORIALS = np.array([1 / math.factorial(n) for n in range(6)])
SHORT_ROWS = {"inner": SMALL, "square_x": SMALL, "square_y": 3 * SMALL}
ONE_COLUMN = {"inner": 1.0, "square_x": 1 + 2.0**-20, "square_y": 1.0, "overlap": 1 - 2.0**-24}


def pairs(kernel=0.0, **values):
    values = {name: np.array([value]) for name, value in values.items()}
    return Pairs(np.array([kernel]), **values)


def fourier(kernel):
    return FourierLaw(kernel=kernel, gamma=0.75, nu=1.5, form="paired", spectrum=None)


def series(cls, kernel, degree=0, **more):
    return cls(
        kernel=kernel, degree=degree, gamma=1.0, coef0=0.0, factor=1.0, coefficients=FACTORIALS,
        **more,
    )  # fmt: skip


def exp(x):
    """The exponential, to 60 digits."""
    with localcontext() as context:
        context.prec = 120
        return Fraction((Decimal(x.numerator) / Decimal(x.denominator)).exp())


def root(x):
    return math.sqrt(x.numerator * 2**400 // x.denominator) / 2**200


# ---- the places: what is computed, and the formula ----------------------------------------------


def error_by_chance():
    counts, n = 10**7 - 1, 10**7
    rate = Fraction(counts + 2, n + 4)
    exact = root(rate * (1 - rate) / n) / (1 - 2.0**-8)
    return ByChance(8).estimate(counts, n)[1], exact


def error_by_product():
    n, p, q = 2**24, Fraction(1, 256), Fraction(1, 2)
    numbers = 1, -q / (1 - q), -p / (1 - p), p * q / ((1 - p) * (1 - q))
    shares = Fraction(n + 2, n + 4), 0, 0, Fraction(2, n + 4)
    mean = sum(map(Fraction.__mul__, map(Fraction, shares), map(Fraction, numbers)))
    square = sum(share * number**2 for share, number in zip(shares, numbers, strict=True))
    law = ByProduct((ByChance(8), ByChance(1)))
    return law.estimate(ProductCounts(n, n, n), n)[1], root((square - mean**2) / n)


def agreements():
    return SIGNS.moments(pairs(SMALL**2)).unit, Fraction(SMALL**2) * (1 - Fraction(SMALL**2))


def signs_of_blocks():
    """In d dimensions the density of the angle has the integral pi / 2 * (d - 1) / (d - 2). For a
    small angle t, two bits differ with a probability of (t / pi)^2 * (d - 2) / (d - 1)."""
    return covariance_of_signs(np.array([1 - 2.0**-30]), 8), -(2.0**-60) / 7


def signs_of_blocks_near_0():
    return covariance_of_signs(np.array([2.0**-80]), 8), -(2.0**-160) / 7


def lengths_of_blocks():
    """1F1(2 h, h, -x) less exp(-2 x)."""
    half, x, total, term = Fraction(2**19), Fraction(1, 2), Fraction(0), Fraction(1)
    for n in range(60):
        total += term
        term *= (2 * half + n) / (half + n) * -x / (n + 1)
    return _kummer(np.array([0.5]), 2.0**19, 0, less_kernel=True), total - exp(-2 * x)


def fourier_rbf():
    k = Fraction(NEAR_1)
    return fourier("rbf").moments(pairs(NEAR_1, doubled=NEAR_1**4)).unit, (1 - k**2) ** 2


def fourier_cauchy():
    k, doubled = Fraction(NEAR_1), Fraction(1 - 2.0**-32)
    exact = 1 + doubled - 2 * k**2
    return fourier("cauchy").moments(pairs(NEAR_1, doubled=1 - 2.0**-32)).unit, exact


def fourier_folded():
    """Rows that are short beside the bandwidth."""
    gamma, x, y, inner = (Fraction(v) for v in (0.75, SMALL / 2**-20, SMALL / 2**-19, 0))
    near = far = x + y
    kernel = (exp(-gamma * near / 2) + exp(-gamma * far / 2)) / 2
    second = (1 + exp(-2 * gamma * x) + exp(-2 * gamma * y)) / 4
    second += (exp(-2 * gamma * near) + exp(-2 * gamma * far)) / 8
    found = fourier("folded_rbf")._folded_unit(
        pairs(square_x=float(x), square_y=float(y), inner=float(inner))
    )
    return found, second - kernel**2


def fastfood():
    law = FastfoodLaw(
        kernel="rbf", gamma=1.0, degree=1, is_orthogonal=False, is_hashed=False, widths=(8,)
    )
    k = Fraction(NEAR_1)
    return law.moments(pairs(NEAR_1, peak=0.5)).unit, (1 - k**2) ** 2


def product_of_maps():
    """Rows that agree nearly always, and whose projections vary little."""
    law = ProductLaw(sampled=SIGNS, other=ProjectionLaw(distribution="rademacher"))
    rows = {"inner": 1.0, "square_x": 1.0, "square_y": 1.0, "overlap": 1.0}
    both = Pairs(np.array([NEAR_1]), factors=(pairs(NEAR_1), pairs(1.0, **rows)))
    rate = Fraction(NEAR_1)
    return law.moments(both).unit, rate * (1 - rate)


def _quantities():
    return (Fraction(ONE_COLUMN[name]) for name in ("inner", "square_x", "square_y", "overlap"))


def maclaurin():
    law = series(MaclaurinLaw, "exp", degrees=(np.array([3]), np.array([1.0])), h01=False)
    inner, x, y, overlap = _quantities()
    exact = ((x * y + 2 * inner**2 - 2 * overlap) ** 3 - inner**6) * Fraction(FACTORIALS[3]) ** 2
    return law.moments(pairs(**ONE_COLUMN)).unit, exact


def maclaurin_of_degrees():
    """Degrees whose probabilities are as their terms."""
    degrees = np.array([0, 1]), np.array([0.5, 0.5])
    law = series(MaclaurinLaw, "exp", degrees=degrees, h01=False)
    rows = {**ONE_COLUMN, "inner": 1 + SMALL, "square_x": 1 + 2 * SMALL, "overlap": 1.0}
    x, inner = Fraction(1 + 2 * SMALL), Fraction(1 + SMALL)
    product = x + 2 * inner**2 - 2
    return law.moments(pairs(**rows)).unit, 2 + 2 * product - (1 + inner) ** 2


def tensor_sketch():
    law = series(TensorSketchLaw, "poly", 4)
    inner, x, y, overlap = _quantities()
    exact = (inner**2 + x * y - overlap) ** 4 + (2 * inner**2 - overlap) ** 4 - 2 * inner**8
    return law.moments(pairs(**ONE_COLUMN)).unit, exact


def tail_of_a_series():
    """The terms of exp(x) beyond the fifth degree."""
    x = Fraction(SHORT_ROWS["inner"])
    exact = sum(x**n / math.factorial(n) for n in range(6)) - exp(x)
    law = series(TensorSketchLaw, "exp", 5)
    return law.bias(pairs(**SHORT_ROWS)).approximate, exact


def tail_of_a_far_series():
    exact = sum(Fraction(-20) ** n / math.factorial(n) for n in range(6)) - exp(Fraction(-20))
    law = series(TensorSketchLaw, "exp", 5)
    return law.bias(pairs(inner=-20.0)).approximate, exact


def recall_of_bands():
    """A band of 20 of 64 codes, of which 21 agree."""
    exact = Fraction(math.comb(44, 1), math.comb(64, 21))
    return recall_of(Bands(20, 1), 64, 21), exact


def dual_of_logistic_loss():
    C, near = Fraction(10**8), Fraction(SMALL)
    with localcontext() as context:
        context.prec = 60
        rest, share = (Decimal(v.numerator) / Decimal(v.denominator) for v in (C - near, near / C))
        exact = -Decimal(float(near)) * share.ln() - rest * (1 - share).ln()
    objective = _losses.Objective(_losses.LOSSES["log_loss"], float(C), 0.0, 0.0)
    return objective.dual(np.ones(1), np.array([SMALL]), None), exact


PLACES = [
    error_by_chance, error_by_product, agreements, signs_of_blocks, signs_of_blocks_near_0,
    lengths_of_blocks, fourier_rbf, fourier_cauchy, fourier_folded, fastfood, product_of_maps,
    maclaurin, maclaurin_of_degrees, tensor_sketch, tail_of_a_series, tail_of_a_far_series,
    recall_of_bands, dual_of_logistic_loss,
]  # fmt: skip
ROUGH = {
    fourier_folded: 1e-9,  # of first order in the squares of rows, the moments cancel once
    signs_of_blocks: 1e-6,  # interpolated between angles
    maclaurin_of_degrees: 1e-9,
}


@pytest.mark.parametrize("place", PLACES)
def test_digits(place):
    found, exact = place()
    assert np.asarray(found, float).item() == pytest.approx(
        float(exact), rel=ROUGH.get(place, 1e-13), abs=0
    )


@pytest.mark.parametrize("exponent", range(3, 18))
def test_signs_of_blocks_of_any_width(exponent):
    width = 2**exponent
    kernel = np.array([0.0, 2.0**-30, 1 - 2.0**-30, 1.0])
    exact = -np.array([0, 2.0**-60, 2.0**-60, 0]) / (width - 1)
    np.testing.assert_allclose(covariance_of_signs(kernel, width), exact, rtol=1e-4)
    assert np.isfinite(covariance_of_signs(np.linspace(0, 1, 11), width)).all()
