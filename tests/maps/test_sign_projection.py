"""Signs of projections agree at the rate of the kernel."""

import functools
import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.rows import random_csr
from _oracles import theorems
from sklearn.base import clone

from sparsemaps import SignProjection
from sparsemaps._loops import maps as loops

N_HASHES = 400_000
CORRELATIONS = [-0.9, -0.5, 0.0, 0.3, 0.7, 0.95, 0.99]


def pair(rho, seed=0, n=40):
    """Two rows of the given correlation, in columns up to 2^40."""
    rng = np.random.default_rng(SEED + seed)
    u, v = np.linalg.qr(rng.normal(size=(n, 2)))[0].T
    v = rho * u + np.sqrt(1 - rho**2) * v
    columns = np.sort(rng.choice(2**40, n, replace=False))
    values = np.stack([3 * u, 0.2 * v])
    return sp.csr_array((values.ravel(), np.tile(columns, 2), [0, n, 2 * n]), shape=(2, 2**40))


def bits(X, **parameters):
    codes = SignProjection(n_hashes=N_HASHES, random_state=SEED + 1, **parameters).fit(X).encode(X)
    return np.unpackbits(codes, axis=1, bitorder="little")[:, :N_HASHES]


def exact_kernel(X, **parameters):
    """The kernel of the two rows of `X`."""
    return SignProjection(**parameters).fit(X).exact_kernel(X)[0, 1]


def assert_acos(signs, X):
    theorems.assert_rate(signs[0] == signs[1], exact_kernel(X))


@pytest.mark.parametrize("rho", CORRELATIONS)
def test_theorem(rho):
    """Signs agree with the probability that the kernel says, exactly, for normal vectors."""
    X = pair(rho)
    signs = bits(X)
    assert_acos(signs, X)
    theorems.assert_rate(signs[0] == 1, 0.5)


@theorems.each_structure(20)
def test_theorems_for_structured_columns(columns):
    """Of each kind of vectors a law that is exact: the kernel for normal ones; for random signs,
    the kernel of rows with one of two entries in common; for Cauchy vectors, that of disjoint
    rows."""

    def agree(one, other, values, **parameters):
        indices, indptr = np.concatenate([one, other]), [0, len(one), len(one) + len(other)]
        X = sp.csr_array((values, indices, indptr), (2, 2**62))
        signs = (
            SignProjection(n_hashes=20_000, random_state=SEED + 1, **parameters).fit(X).encode(X)
        )
        first, second = np.unpackbits(signs, axis=1, bitorder="little")
        return first == second

    values = np.random.default_rng(SEED + 2).normal(size=(2, 20))
    exact = exact_kernel(values)
    theorems.assert_rate(agree(columns, columns, values.ravel()), exact)
    found = agree(columns[:2], columns[[0, 2]], np.ones(4), distribution="rademacher")
    theorems.assert_rate(found, 2 / 3)
    found = agree(columns[::2], columns[1::2], np.abs(values[0]), kernel="acos_chi2")
    theorems.assert_rate(found, 1 / 2)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_theorem_for_short_rows(n):
    X = sp.csr_array(np.random.default_rng(SEED + n).normal(size=(2, n)))
    assert_acos(bits(X), X)


def test_rademacher_is_biased_for_short_rows():
    """The docstring's example: two common entries, and one of each row's own."""
    X = sp.csr_array([[1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 0.0, 1.0]])
    signs = bits(X, distribution="rademacher")
    theorems.assert_rate(signs[0] == signs[1], 3 / 4)
    assert_acos(bits(X), X)


@pytest.mark.parametrize("rho", [-0.5, 0.3, 0.9])
def test_rademacher_is_close_for_long_rows(rho):
    X = pair(rho, n=2000)
    signs = bits(X, distribution="rademacher")
    assert abs((signs[0] == signs[1]).mean() - exact_kernel(X)) < 0.005


def chi2_pair(shared):
    u, v = np.random.default_rng(SEED + 3).gamma(0.5, size=(2, 200))
    return [u, shared * u + (1 - shared) * v]


CHI2_PAIRS = {
    "independent": chi2_pair(0.0),
    "alike": chi2_pair(0.6),
    "nearly equal": chi2_pair(0.99),
    "two entries": [[1, 9], [9, 1]],
    "one against two": [[1, 0], [9, 1]],
    "one in common": [[3, 7, 0], [3, 0, 7]],
}


@functools.cache  # as one drawing of vectors serves all pairs
def agreements_of_cauchy_vectors():
    """By name of the pair, whether the signs of its rows agree, for each of 200,000 vectors."""
    longest = max(len(row) for pair in CHI2_PAIRS.values() for row in pair)
    rows = np.zeros((2 * len(CHI2_PAIRS), longest))
    for number, row in enumerate(row for pair in CHI2_PAIRS.values() for row in pair):
        rows[number, : len(row)] = row
    rng = np.random.default_rng(SEED)
    signs = np.concatenate(
        [rng.standard_cauchy((20_000, longest)) @ rows.T >= 0 for _ in range(10)]
    )
    return dict(zip(CHI2_PAIRS, (signs[:, ::2] == signs[:, 1::2]).T, strict=True))


@pytest.mark.parametrize("name", CHI2_PAIRS)
def test_acos_chi2(name):
    """The rate is that of true Cauchy vectors, and off the published formula by what the docstring
    says; the scale of a row has no part in it."""
    X = np.array(CHI2_PAIRS[name], float)
    X /= X.sum(axis=1, keepdims=True)
    signs = bits(sp.csr_array(X), kernel="acos_chi2")
    agree = signs[0] == signs[1]
    true = agreements_of_cauchy_vectors()[name]
    error = np.sqrt(true.var() / len(true) + agree.var() / len(agree))
    assert abs(agree.mean() - true.mean()) < theorems.N_STANDARD_ERRORS * error
    assert -0.006 < agree.mean() - exact_kernel(X, kernel="acos_chi2") < 0.033
    scaled = bits(sp.csr_array(X * [[8.0], [0.25]]), kernel="acos_chi2")
    np.testing.assert_array_equal(scaled, signs)


def test_acos_chi2_is_exact_where_it_is():
    """Disjoint rows agree half of the time, and equal ones always."""
    X = sp.csr_array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.3, 0.7], [1.0, 1.0, 0.0, 0.0]])
    signs = bits(X, kernel="acos_chi2")
    theorems.assert_rate(signs[0] == signs[1], 0.5)
    assert (signs[0] == signs[2]).all()


MUTANTS = {
    "all ones": lambda signs: np.ones_like(signs),
    "independent": lambda signs: np.stack([signs[0], np.roll(signs[1], 1)]),
    "one hash in twenty is stuck": lambda signs: np.where(np.arange(N_HASHES) % 20 == 0, 1, signs),
    "negated": lambda signs: np.stack([signs[0], 1 - signs[1]]),
}


@pytest.mark.parametrize("change", MUTANTS.values(), ids=MUTANTS.keys())
def test_mutants_are_rejected(change):
    X = pair(0.7)
    with pytest.raises(AssertionError):
        assert_acos(change(bits(X)), X)


def test_outputs_agree():
    X = random_csr()
    parameters = {"n_hashes": 77, "random_state": 5}
    hot = SignProjection(**parameters).fit(X)
    signs = np.unpackbits(hot.encode(X), axis=1, bitorder="little")
    assert not signs[:, 77:].any()
    signs = signs[:, :77]
    Z = hot.transform(X)
    assert (np.diff(Z.indptr) == 77).all()
    np.testing.assert_array_equal(Z.indices.reshape(-1, 77), 2 * np.arange(77) + signs)
    dense = SignProjection(**parameters, dense_output=True).fit_transform(X)
    np.testing.assert_array_equal(dense, np.where(signs, 1, -1) / np.sqrt(77))
    np.testing.assert_allclose(dense @ dense.T, 2 * (Z @ Z.T).toarray() - 1)


EQUAL_ENTRIES = {  # pairs of rows of one, two and four entries of size 1
    "one": ([1], [1]),
    "one and two": ([1], [1, 1]),
    "two, one in common": ([1, 1, 0], [1, 0, 1]),
    "two of other signs": ([1, 1], [1, -1]),
    "two, none in common": ([1, 1, 0, 0], [0, 0, 1, -1]),
    "four, one of another sign": ([1, 1, 1, 1], [1, 1, 1, -1]),
    "four, two in common": ([1, 1, 1, 1, 0, 0], [1, 1, 0, 0, 1, 1]),
    "two and four": ([1, 1, 0, 0], [1, 1, 1, 1]),
}


def rate_of_signs(u, v):
    """How often two short rows agree, over all vectors of random signs plus an infinitely small
    normal vector."""
    vectors = np.array(list(itertools.product([-1, 1], repeat=len(u))))
    first, second = np.sign(vectors @ u), np.sign(vectors @ v)
    acos = 1 - np.arccos(np.clip(u @ v / np.sqrt((u @ u) * (v @ v)), -1, 1)) / np.pi
    one_is_zero, both_are = first * second == 0, (first == 0) & (second == 0)
    return np.where(both_are, acos, np.where(one_is_zero, 0.5, first == second)).mean()


@pytest.mark.parametrize(
    "kind", [{}, {"distribution": "rademacher"}, {"distribution": "orthogonal"}]
)
@pytest.mark.parametrize("name", EQUAL_ENTRIES)
def test_law_of_equal_entries(name, kind):
    """For normal and orthogonal vectors the kernel; x and -x never agree; bits are fair."""
    u, v = (np.array(row + [0] * (6 - len(row)), float) for row in EQUAL_ENTRIES[name])
    X = np.array([u, v, -u, -v])
    found = []
    for seed in range(400):
        codes = SignProjection(n_hashes=512, random_state=SEED + seed, **kind).fit(X).encode(X)
        signs = np.unpackbits(codes, axis=1)
        assert (signs[:2] + signs[2:] == 1).all()
        found.append([(signs[0] == signs[1]).mean(), signs[0].mean(), signs[1].mean()])
    rate = rate_of_signs(u, v) if "rademacher" in kind.values() else exact_kernel(X)
    theorems.assert_mean(found, [rate, 0.5, 0.5])


@pytest.mark.parametrize(
    "parameters",
    [
        {"distribution": "rademacher"},
        {"distribution": "orthogonal"},
        {},
        {"kernel": "acos_chi2"},
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_projections_of_zero(parameters, dtype):
    """All forms of output decide alike, whatever zeros are stored; x and -x differ where products
    leave the range of numbers too; a row of zeros has ones."""
    least, most = np.nextafter(dtype(0), dtype(1)), np.finfo(dtype).max
    rows = np.zeros((8, 160), dtype)
    rows[0, 1:3] = 1
    rows[1, 3:7] = least
    rows[2, [0, 7]] = most, most / 2
    rows[3, 20:120] = 1
    rows[4:] = -rows[:4]
    X = sp.csr_array(np.vstack([np.zeros((1, 160), dtype), rows]))
    if "kernel" in parameters:
        X = X[:5]  # whose values are not negative
    maps = SignProjection(n_hashes=1000, random_state=SEED + 3, **parameters)
    signs = np.unpackbits(maps.fit(X).encode(X), axis=1, bitorder="little")[:, :1000]
    assert signs[0].all()
    if X.shape[0] == 9:
        assert (signs[1:5] + signs[5:] == 1).all()
    for row in signs[1:5]:
        theorems.assert_rate(row == 1, 0.5)
    np.testing.assert_array_equal(maps.transform(X).indices.reshape(-1, 1000) % 2, signs)
    dense = clone(maps).set_params(dense_output=True).fit_transform(X)
    np.testing.assert_array_equal(dense > 0, signs)
    filled = sp.csr_array(np.ones(X.shape, dtype))
    filled.data = X.toarray().reshape(-1)
    np.testing.assert_array_equal(maps.encode(filled), maps.encode(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_sums", [40, 64, 100])  # parts of tiles, and whole ones
def test_sums_that_are_not_numbers(n_sums, dtype):
    """A sum of two infinities is decided like one of 0, though no other sum of its row is 0."""
    X = pair(0.3, n=10).astype(dtype)
    for column in (0, n_sums - 1):
        zero, nan = np.full((2, n_sums), 2, dtype), np.full((2, n_sums), 2, dtype)
        zero[:, column], nan[:, column] = 0, np.nan
        for sums in (zero, nan):
            loops.settle_zeros(X.data, X.indices, X.indptr.astype(np.int64), 11, sums)
        assert (abs(nan[:, column]) == 1).all()
        np.testing.assert_array_equal(nan, zero)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 5, 64, 300])
def test_second_projections(n, dtype):
    """The signs that take the place of zeros agree at the rate of acos, whatever zeros are stored;
    other numbers stay."""
    X = pair(0.3, n=2 * n).astype(dtype)
    X.data[: n // 2] = 0
    found = np.zeros((2, 20_000), dtype)
    found[:, 7] = 3, -2
    loops.settle_zeros(X.data, X.indices, X.indptr.astype(np.int64), 11, found)
    assert found[:, 7].tolist() == [3, -2]
    assert (abs(np.delete(found, 7, axis=1)) == 1).all()
    theorems.assert_rate(found[0] == found[1], exact_kernel(X))
    X.eliminate_zeros()
    again = np.zeros((2, 20_000), dtype)
    loops.settle_zeros(X.data, X.indices, X.indptr.astype(np.int64), 11, again)
    np.testing.assert_array_equal(np.delete(again, 7, axis=1), np.delete(found, 7, axis=1))


def test_more_bits_extend_the_first():
    X = random_csr()
    few, many = (
        np.unpackbits(
            SignProjection(n_hashes=n, random_state=SEED).fit(X).encode(X),
            axis=1,
            bitorder="little",
        )
        for n in (72, 200)
    )
    np.testing.assert_array_equal(many[:, :72], few)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "rbf"}, "kernel must be 'acos' or 'acos_chi2', got 'rbf'"),
        ({"n_hashes": 0}, "n_hashes must be from 1 to 16777216, got 0"),
        (
            {"distribution": "normal"},
            "must be 'rademacher' or 'orthogonal', got 'normal'",
        ),
        ({"distribution": "rademacher", "kernel": "acos_chi2"}, "for kernel='acos' only"),
        ({"dense_output": 1}, "dense_output must be True or False, got 1"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        SignProjection(**parameters).fit(np.ones((2, 4)))


def test_negative_values():
    X = np.array([[1.0, -2.0]])
    SignProjection(random_state=SEED).fit(X)
    with pytest.raises(ValueError, match=r"-2.0 in row 0, column 1; .*kernel='acos' allows both"):
        SignProjection(kernel="acos_chi2").fit(X)
