"""Laws of estimates, against simulations in NumPy that draw what a map would: no estimator here."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _oracles import theorems

from sparsemaps import CountSketch
from sparsemaps.kernels import acos_kernel, min_max_kernel, rbf_kernel
from sparsemaps.laws._block_covariance import covariance_in_block
from sparsemaps.laws._inner_products import CountSketchLaw, ProjectionLaw
from sparsemaps.laws._moments import Bias, Moments, Pairs, UnknownVarianceError
from sparsemaps.laws._product_law import ProductLaw
from sparsemaps.laws._sampled import JaccardLaw, MinMaxLaw, SignsLaw
from sparsemaps.laws._series import TensorSketchLaw
from sparsemaps.laws._shift_invariant import FourierLaw

X = np.array([[0.6, 0.0, 0.5, 0.2], [0.3, 0.4, 0.0, 0.7]])
N_SEEDS, SIZE = 4000, 8
ACOS = SignsLaw(bits=1, kernel="acos", distribution=None, dense_output=False, width=None)
GAUSSIAN, CAUCHY = (ProjectionLaw(distribution=name) for name in ("gaussian", "cauchy"))
MIN_MAX = MinMaxLaw(bits=3, t_bits=1, signed=False, power=1.0)


def fourier_law(kernel="rbf", form="paired"):
    return FourierLaw(kernel=kernel, gamma=0.7, nu=1.5, form=form, spectrum=None)


def pairs_of(law):
    """What formulas ask of the two rows."""
    kernel, doubled = (law.exact_kernel(scale * X, None, 1)[:1, 1] for scale in (1, 2))
    x, y = X
    return Pairs(
        kernel,
        doubled=doubled,
        inner=np.array([x @ y]),
        square_x=np.array([x @ x]),
        square_y=np.array([y @ y]),
        overlap=np.array([x**2 @ y**2]),
    )


def projected(draw, distribution):
    vectors = draw.standard_normal((N_SEEDS, SIZE, 4))
    if distribution == "rademacher":
        vectors = np.sign(vectors)
    return (vectors @ X[0]) * (vectors @ X[1])


def sketched(draw):
    buckets = draw.integers(SIZE, size=(N_SEEDS, 4))
    signs = np.where(draw.random((N_SEEDS, 4)) < 0.5, -1, 1)
    sketches = np.zeros((2, N_SEEDS, SIZE))
    for column in range(4):
        for row in (0, 1):
            values = signs[:, column] * X[row, column]
            sketches[row, np.arange(N_SEEDS), buckets[:, column]] += values
    return SIZE * sketches[0] * sketches[1]


def cosines(draw, form, folded=False):
    vectors = np.sqrt((1 if folded else 2) * 0.7) * draw.standard_normal((N_SEEDS, SIZE, 4))
    first, second = vectors @ X[0], vectors @ X[1]
    if folded:
        return np.cos(first) * np.cos(second)
    if form == "offset":
        phases = 2 * np.pi * draw.random((N_SEEDS, SIZE))
        return 2 * np.cos(first + phases) * np.cos(second + phases)
    whole = np.cos(first - second)[:, : SIZE // 2]
    return np.concatenate([whole, whole], axis=1)


def same_signs(draw):
    vectors = draw.standard_normal((N_SEEDS, SIZE, 4))
    return ((vectors @ X[0] >= 0) == (vectors @ X[1] >= 0)).astype(float)


@pytest.mark.parametrize(
    ("law", "components"),
    [
        (GAUSSIAN, lambda draw: projected(draw, "gaussian")),
        (ProjectionLaw(distribution="rademacher"), lambda draw: projected(draw, "rademacher")),
        (CountSketchLaw(), sketched),
        (fourier_law(), lambda draw: cosines(draw, "paired")),
        (fourier_law(form="offset"), lambda draw: cosines(draw, "offset")),
        (fourier_law("folded_rbf"), lambda draw: cosines(draw, "offset", folded=True)),
        (ACOS, same_signs),
    ],
    ids=lambda law: type(law).__name__,
)
def test_moments_are_those_of_a_simulation(law, components):
    estimates = components(np.random.default_rng(SEED)).mean(axis=1)
    moments = law.moments(pairs_of(law))
    theorems.assert_mean(estimates, moments.kernel[0])
    theorems.assert_variance(estimates, moments.variance(SIZE)[0])
    with pytest.raises(AssertionError):
        theorems.assert_variance(estimates, 1.4 * moments.variance(SIZE)[0])


@pytest.mark.parametrize("law", [JaccardLaw(bits=2), MIN_MAX], ids=lambda law: type(law).__name__)
def test_bias_by_chance(law):
    pairs = dataclasses.replace(pairs_of(law), measured=np.array([0.125]))
    bias = law.bias(pairs)
    kernel, chance = pairs.kernel[0], 2.0**-law.bits
    zero_bit = 0.125 * (1 / 2 - chance) if law is MIN_MAX else 0  # of codes with equal i*
    np.testing.assert_allclose(bias.total, (1 - kernel) * chance + zero_bit)
    np.testing.assert_allclose(
        law.moments(pairs).variance(10), (kernel + bias.total) * (1 - kernel - bias.total) / 10
    )
    empty = dataclasses.replace(
        pairs, kernel=np.zeros(1), longest=np.zeros(1), measured=np.zeros(1)
    )
    assert law.bias(empty).total == 0  # rows without entries have no samples


def test_products_compose_laws():
    law = ProductLaw(sampled=MIN_MAX, other=ACOS)
    expected = min_max_kernel(X) * acos_kernel(X)
    np.testing.assert_allclose(law.exact_kernel(X, None, 1), expected)
    assert law.codes.parts == (MIN_MAX.codes, ACOS.codes)
    assert (law.bits, law.is_one_hot, law.why_not_second) == (4, True, None)
    assert MIN_MAX.nonnegative_rule is not None
    assert law.nonnegative_rule == MIN_MAX.nonnegative_rule
    factors = pairs_of(MIN_MAX), pairs_of(ACOS)
    pairs = Pairs(factors[0].kernel * factors[1].kernel, factors=factors)
    first, second = factors[0].kernel, factors[1].kernel
    np.testing.assert_allclose(law.bias(pairs).total, (1 - first) / 8 * second)
    nested = ProductLaw(sampled=law, other=JaccardLaw(bits=2))
    assert [part.bits for part in nested.codes.parts] == [3, 1, 2]
    assert nested.leaves() == [MIN_MAX, ACOS, nested.other]


def test_products_with_components_that_are_no_codes():
    law = ProductLaw(sampled=JaccardLaw(bits=4), other=GAUSSIAN)
    assert law.codes is None
    assert not law.is_one_hot
    assert "codes or one number" in law.why_not_second
    draw = np.random.default_rng(SEED)
    agree = draw.random((N_SEEDS, SIZE)) < 0.5 + 0.5 / 16  # Jaccard similarity 1/2, and by chance
    estimates = (agree * projected(draw, "gaussian")).mean(axis=1)
    factors = pairs_of(law.sampled), pairs_of(GAUSSIAN)
    assert factors[0].kernel == 0.5
    moments = law.moments(Pairs(factors[0].kernel * factors[1].kernel, factors=factors))
    theorems.assert_mean(estimates, (moments.kernel + moments.bias)[0])
    theorems.assert_variance(estimates, moments.variance(SIZE)[0])
    with pytest.raises(UnknownVarianceError):
        ProductLaw(sampled=law.sampled, other=fourier_law()).moments(Pairs(np.zeros(1)))


@pytest.mark.parametrize(
    ("law", "rule"),
    [
        (CountSketchLaw(), "not be a count sketch"),
        (CAUCHY, "have a mean"),
        (GAUSSIAN, None),
        (fourier_law(), None),
        (ACOS, None),
    ],
    ids=str,
)
def test_which_may_be_the_second_map_of_a_product(law, rule):
    assert law.why_not_second is None if rule is None else rule in law.why_not_second


def test_which_kernels_take_values_of_one_sign():
    assert MIN_MAX.nonnegative_rule.startswith("the min-max kernel takes values >= 0; signed=True")
    assert dataclasses.replace(MIN_MAX, signed=True).nonnegative_rule is None
    assert ACOS.nonnegative_rule is None
    rule = dataclasses.replace(ACOS, kernel="acos_chi2").nonnegative_rule
    assert rule.startswith("the acos-chi-square kernel takes values >= 0 (kernel='acos'")
    for of_map in (rule, MIN_MAX.nonnegative_rule):
        assert "; MinMaxScaler(clip=True)" in of_map


def test_laws_are_immutable_and_take_sparse_rows():
    for law in (ACOS, GAUSSIAN, MIN_MAX, fourier_law(), JaccardLaw(bits=1), CountSketchLaw()):
        dense, sparse = (law.exact_kernel(rows, None, 1) for rows in (X, sp.csr_array(X)))
        np.testing.assert_allclose(dense, sparse)
        with pytest.raises(AttributeError):
            law.another = 3
    np.testing.assert_allclose(fourier_law().exact_kernel(X, None, 1), rbf_kernel(X, gamma=0.7))
    with pytest.raises(ValueError, match="Cauchy projections have no mean"):
        CAUCHY.exact_kernel(X, None, 1)


@pytest.mark.parametrize("size", [3, 4, 6, 11])
def test_the_variance_of_blocks(size):
    """Components of one block have a covariance, of the last block too, which may have fewer."""
    blocks = np.arange(size) // 4
    covariances = np.where(blocks[:, None] == blocks, -0.05, 0.0)
    np.fill_diagonal(covariances, 0.3)
    moments = Moments(
        np.zeros(1), np.full(1, 0.3), "normal", common=np.full(1, -0.05), block=np.full(1, 4)
    )
    assert moments.variance(size)[0] == pytest.approx(covariances.mean())


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6, 7, 13])
@pytest.mark.parametrize("common", [0.0, -0.05])
def test_the_variance_of_pairs_of_features(size, common):
    """An estimate is 2 / size times a sum of cosines, of which the last one of an odd number counts
    one half. Those of one block have a covariance."""
    n = (size + 1) // 2
    weights = np.full(n, 2 / size)
    variances = np.full(n, 0.3)
    if size % 2:
        weights[-1], variances[-1] = 1 / size, 0.7
    blocks = np.arange(n) // 2
    covariances = np.where(blocks[:, None] == blocks, common, 0.0)
    np.fill_diagonal(covariances, variances)
    moments = Moments(
        np.zeros(1), np.full(1, 0.6), "gamma", paired=True, single=np.full(1, 0.7),
        common=np.full(1, common), block=np.full(1, 2),
    )  # fmt: skip
    assert moments.variance(size)[0] == pytest.approx(weights @ covariances @ weights)


def test_pairs_within_an_angle():
    """Also of the factors of a product; a row without entries has no angle to another one."""
    angles = np.array([0.0, 0.3, 0.5, 1.0])
    lengths = np.array([2.0, 1.0, 0.5, 1.0])
    pairs = Pairs(
        kernel=np.arange(6.0),
        inner=np.append(np.cos(angles) * lengths * 3, [0, 0]),
        square_x=np.append(lengths**2, [0, 0]),
        square_y=np.array([9.0, 9, 9, 9, 1, 0]),
        factors=(Pairs(kernel=np.arange(6.0) + 10),),
    )
    near = pairs.within(0.4)
    assert near.kernel.tolist() == [0, 1]
    assert near.square_x.tolist() == [4, 1]
    assert near.factors[0].kernel.tolist() == [10, 11]
    assert near.doubled.shape == (1,)  # what is not known of the pairs stays so
    assert pairs.within(1.2).kernel.tolist() == [0, 1, 2, 3]


def test_all_causes_are_in_the_bias():
    bias = Bias(np.array([0.1]), np.array([0.02]), np.array([0.003]))
    assert bias.total[0] == pytest.approx(0.123)
    assert np.ravel(bias.means(np.array([1.0]))) == pytest.approx([1, 1.1, 1.12, 1.123])


# ---- formulas at their ends ----------------------------------------------------------------------


def test_signs_of_dense_output_have_four_times_the_variance():
    """Their estimates are 2 K - 1 of a kernel K, also where vectors are orthogonal."""
    kernel = np.linspace(0, 1, 11)
    for width in (None, 16):
        bits, dense = (
            dataclasses.replace(ACOS, dense_output=is_dense, width=width).moments(Pairs(of))
            for is_dense, of in ((False, kernel), (True, 2 * kernel - 1))
        )
        for size in (1, 7, 16, 100):
            np.testing.assert_allclose(dense.variance(size), 4 * bits.variance(size), atol=1e-15)


def test_a_rate_that_is_rounded_above_1_has_no_variance():
    for law in (ACOS, JaccardLaw(bits=24)):
        assert (law.moments(Pairs(np.array([1 + 2**-52, 1.0]))).unit == 0).all()


def test_the_variance_of_a_product_of_rounded_kernels():
    """That of a product of two independent numbers."""
    levels = MinMaxLaw(bits=8, t_bits=0, signed=False, power=1.0, method="levels", resolution=1.0)
    means, variances = np.array([[0.3], [0.7]]), np.array([[0.02], [0.05]])
    factors = tuple(Pairs(mean, rounding=one) for mean, one in zip(means, variances, strict=True))
    found = ProductLaw(sampled=levels, other=levels).common_variance(
        Pairs(means.prod(axis=0), factors=factors)
    )
    expected = (variances + means**2).prod(axis=0) - (means**2).prod(axis=0)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_product_takes_the_rule_of_each_map():
    gaussian_rule, rule = GAUSSIAN.nonnegative_rule, MIN_MAX.nonnegative_rule
    assert gaussian_rule is None
    for sampled, other in ((MIN_MAX, GAUSSIAN), (ACOS, MIN_MAX)):
        assert ProductLaw(sampled=sampled, other=other).nonnegative_rule == rule
    assert ProductLaw(sampled=ACOS, other=GAUSSIAN).nonnegative_rule is None


def sketch_law(kernel, coefficients, **parameters):
    values = {"degree": 2, "gamma": 1.0, "coef0": 0.0, "factor": 1.0, **parameters}
    return TensorSketchLaw(kernel=kernel, coefficients=np.array(coefficients), **values)


def test_coefficients_leave_out_nothing():
    """A series that a user gives ends where it ends; that of exp goes on."""
    pairs = pairs_of(CountSketchLaw())
    given = [1.0, 1.0, 0.5]
    assert (sketch_law(given, given).bias(pairs).total == 0).all()
    left_out = sketch_law("exp", given).bias(pairs).total
    inner = pairs.inner
    np.testing.assert_allclose(left_out, 1 + inner + inner**2 / 2 - np.exp(inner), rtol=1e-9)


def test_jumps_are_the_largest_errors_of_two_columns():
    """Two columns share a bucket in some seeds, and errors of nothing else are there."""
    X = sp.csr_array([[1.0, 1.0], [1.0, 1.0]])
    jump = CountSketchLaw().moments(Pairs(np.array([2.0]), longest=np.ones(1))).jump
    sketches = (CountSketch(n_components=4, random_state=SEED + i) for i in range(60))
    errors = {abs(float((Z @ Z.T)[0, 1]) - 2) for Z in (one.fit_transform(X) for one in sketches)}
    assert errors == {0.0, *jump.tolist()}
    plain = sketch_law("poly", [], degree=1).moments(
        Pairs(np.array([2.0]), longest=np.ones(1), square_x=np.full(1, 2.0), square_y=np.ones(1))
    )
    assert plain.jump == jump


def test_rows_that_are_empty_are_not_rounded():
    law = MinMaxLaw(bits=8, t_bits=0, signed=False, power=1.0, method="levels", resolution=1.0)
    rows = sp.csr_array([[0.0, 0.0], [0.0, 0.0], [0.5, 0.0]])
    assert law.rounding(rows, np.zeros(3))[0] == 0


@pytest.mark.parametrize("width", [2, 3, 8])
def test_the_covariance_in_a_block_is_below_the_variance(width):
    """At most as the columns are that differ, which are no flatter than all of them."""
    kernel = np.array([1e-3, 0.1, 0.5, 0.99])
    flat = covariance_in_block(kernel, np.full(4, 1 / width), width)
    assert (covariance_in_block(kernel, np.zeros(4), width) == flat).all()
    assert (flat < (1 - kernel**2) ** 2 / 2).all()
