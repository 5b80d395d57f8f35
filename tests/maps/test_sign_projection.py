"""Signs of projections agree at the rate of the kernel."""

import functools

import numpy as np
import pytest
import scipy.sparse as sp
import theorems
from conftest import random_csr

from sparsemaps import SignProjection

N_HASHES = 400_000
CORRELATIONS = [-0.9, -0.5, 0.0, 0.3, 0.7, 0.95, 0.99]


def pair(rho, seed=0, n=40):
    """Two rows of the given correlation, in columns up to 2^40."""
    rng = np.random.default_rng(seed)
    u, v = np.linalg.qr(rng.normal(size=(n, 2)))[0].T
    v = rho * u + np.sqrt(1 - rho**2) * v
    columns = np.sort(rng.choice(2**40, n, replace=False))
    values = np.stack([3 * u, 0.2 * v])
    return sp.csr_array((values.ravel(), np.tile(columns, 2), [0, n, 2 * n]), shape=(2, 2**40))


def bits(X, **parameters):
    codes = SignProjection(n_hashes=N_HASHES, random_state=1, **parameters).fit(X).encode(X)
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
    that of rows with one of two entries in common; for Cauchy vectors, that of disjoint rows."""

    def agree(one, other, values, **parameters):
        indices, indptr = np.concatenate([one, other]), [0, len(one), len(one) + len(other)]
        X = sp.csr_array((values, indices, indptr), (2, 2**62))
        signs = SignProjection(n_hashes=20_000, random_state=1, **parameters).fit(X).encode(X)
        first, second = np.unpackbits(signs, axis=1, bitorder="little")
        return first == second

    values = np.random.default_rng(2).normal(size=(2, 20))
    exact = exact_kernel(values)
    theorems.assert_rate(agree(columns, columns, values.ravel()), exact)
    found = agree(columns[:2], columns[[0, 2]], np.ones(4), distribution="rademacher")
    theorems.assert_rate(found, 3 / 4)
    found = agree(columns[::2], columns[1::2], np.abs(values[0]), kernel="acos_chi2")
    theorems.assert_rate(found, 1 / 2)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_theorem_for_short_rows(n):
    X = sp.csr_array(np.random.default_rng(n).normal(size=(2, n)))
    assert_acos(bits(X), X)


def test_rademacher_is_biased_for_short_rows():
    """The docstring's example: one common entry, and one of each row's own."""
    X = sp.csr_array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
    signs = bits(X, distribution="rademacher")
    theorems.assert_rate(signs[0] == signs[1], 3 / 4)
    assert_acos(bits(X), X)


@pytest.mark.parametrize("rho", [-0.5, 0.3, 0.9])
def test_rademacher_is_close_for_long_rows(rho):
    X = pair(rho, n=2000)
    signs = bits(X, distribution="rademacher")
    assert abs((signs[0] == signs[1]).mean() - exact_kernel(X)) < 0.005


def chi2_pair(shared):
    u, v = np.random.default_rng(3).gamma(0.5, size=(2, 200))
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
    rng = np.random.default_rng(0)
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


@pytest.mark.parametrize("distribution", [None, "rademacher"])
def test_sign_of_zero_is_one(distribution):
    X = sp.csr_array([[0.0, 0.0], [1.0, -1.0], [0.0, 0.0]])
    Z = SignProjection(n_hashes=64, distribution=distribution, random_state=0).fit_transform(X)
    assert Z[[0]].indices.tolist() == Z[[2]].indices.tolist() == list(range(1, 128, 2))
    if distribution:  # 1 - 1 = 0 counts as not negative
        theorems.assert_rate((Z[[1]].indices % 2).astype(bool), 0.75)


def test_more_bits_extend_the_first():
    X = random_csr()
    few, many = (
        np.unpackbits(
            SignProjection(n_hashes=n, random_state=0).fit(X).encode(X), axis=1, bitorder="little"
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
    SignProjection(random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"-2.0 in row 0, column 1; .*kernel='acos' takes both"):
        SignProjection(kernel="acos_chi2").fit(X)
