"""The tensor sketch estimates polynomial kernels without bias, with a variance that is bounded."""

import functools
import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.rows import random_csr
from _oracles import reference, theorems
from sklearn.metrics.pairwise import polynomial_kernel

from sparsemaps import TensorSketch
from sparsemaps._tools import _seeding

N_SEEDS = 500
N_COMPONENTS = 24
N_ENTRIES = 6

COLUMNS = theorems.structured_columns(N_ENTRIES)

KERNELS = [
    {"degree": 1},
    {"degree": 1, "gamma": 0.7, "coef0": 0.5},
    {"degree": 2},
    {"degree": 2, "gamma": 0.5, "coef0": 1.0},
    {"degree": 3, "gamma": 2.0},
    {"degree": 3, "coef0": 2.0},
    {"degree": 4},
    {"degree": 4, "gamma": 1.5, "coef0": 0.25},
    {"degree": 5},
    {"degree": 5, "gamma": 0.8, "coef0": 1.0},
]


def name_of(parameters):
    return ",".join(f"{key}={value}" for key, value in parameters.items())


def rows(columns=COLUMNS["random"]):
    """Rows whose pairs have inner products of both signs, zero and large; as CSR and as values."""
    rng = np.random.default_rng(SEED)
    values = rng.normal(size=(4, N_ENTRIES)) / 2
    values[1] = values[0] + 0.2 * values[1]
    values[2, ::2] = 0
    values[3] = 0.6
    indptr = np.arange(5) * N_ENTRIES
    X = sp.csr_array((values.ravel(), np.tile(columns, 4), indptr), (4, int(columns[-1]) + 1))
    return X, values


def real_map(columns, method="auto"):
    X, _ = rows(columns)

    def sketch(values, kernel, seed):
        fitted = TensorSketch(
            n_components=N_COMPONENTS, method=method, random_state=SEED + seed, **kernel
        ).fit(X)
        return fitted.transform(X)

    return sketch


def random_hashes(change=lambda hashes, extended, kernel: (hashes, extended)):
    """A sketch by fully random hashes, after `change` has had its way."""

    def sketch(values, kernel, seed):
        rng = np.random.default_rng(SEED + seed)
        degree, gamma, coef0 = kernel["degree"], kernel.get("gamma", 1.0), kernel.get("coef0", 0.0)
        extended = np.hstack([np.sqrt(gamma) * values, np.full((len(values), 1), np.sqrt(coef0))])
        width = extended.shape[1]
        buckets = rng.integers(0, N_COMPONENTS, (degree, width))
        signs = rng.choice([-1.0, 1.0], (degree, width))
        (buckets, signs), extended = change((buckets, signs), extended, kernel)
        product = 1.0
        for bucket, sign in zip(buckets, signs, strict=True):
            part = np.zeros((len(values), N_COMPONENTS))
            for column in range(width):
                part[:, bucket[column]] += sign[column] * extended[:, column]
            product = product * np.fft.rfft(part, axis=1)
        return np.fft.irfft(product, n=N_COMPONENTS, axis=1)

    return sketch


@functools.cache
def of_random_columns(index, *, ours):
    """Estimates for one of the kernels, ours or those of fully random hashes."""
    return estimates(real_map(COLUMNS["random"]) if ours else random_hashes(), KERNELS[index])


def estimates(sketch, kernel):
    """Estimates for all pairs of rows, over the seeds; the kernel; the bound of the variance."""
    _, values = rows()
    one, other = np.triu_indices(4)
    found = []
    for seed in range(N_SEEDS):
        Z = sketch(values, kernel, seed)
        found.append((Z[one] * Z[other]).sum(axis=1))
    exact = TensorSketch(**kernel).fit(values).exact_kernel(values)
    bound = (
        (2 + 3 ** kernel["degree"]) / N_COMPONENTS * np.outer(exact.diagonal(), exact.diagonal())
    )
    return np.array(found), exact[one, other], bound[one, other]


def assert_theorem(sketch, kernel):
    assert_estimates(*estimates(sketch, kernel))


def assert_estimates(found, exact, bound):
    """E<Cx, Cy> = kernel, and the variance that Avron, Nguyen & Woodruff allow."""
    theorems.assert_mean(found, exact)
    theorems.assert_variance(found, bound, at_most=True)


each_kernel = pytest.mark.parametrize(
    "index", range(len(KERNELS)), ids=[name_of(kernel) for kernel in KERNELS]
)


@each_kernel
def test_theorem(index):
    assert_estimates(*of_random_columns(index, ours=True))


@pytest.mark.parametrize(
    ("name", "method"),
    [(name, "direct") for name in COLUMNS] + [("consecutive", "fft"), ("up to 2^62", "fft")],
)
def test_theorem_for_structured_columns(name, method):
    assert_theorem(real_map(COLUMNS[name], method), {"degree": 2, "gamma": 0.5, "coef0": 1.0})


@each_kernel
def test_variance_is_that_of_random_hashes(index):
    """Our 2-wise independent hashes do as well as fully random ones, of which the variance has no
    closed form: the two samples of squared errors have one mean."""
    ours, exact, _ = of_random_columns(index, ours=True)
    fully, _, _ = of_random_columns(index, ours=False)
    squares = [(found - exact) ** 2 for found in (ours, fully)]
    distance = squares[0].mean(axis=0) - squares[1].mean(axis=0)
    error = np.sqrt(sum(s.var(axis=0, ddof=1) / len(s) for s in squares))
    assert (np.abs(distance) <= theorems.N_STANDARD_ERRORS * error + 1e-12).all()


@pytest.mark.parametrize(("degree", "n_columns", "size"), [(2, 3, 3), (3, 2, 4), (4, 2, 2)])
def test_lemma_6_is_too_optimistic(degree, n_columns, size):
    """Why the docstring gives another bound than the paper: of rows of ones, the variance over all
    hashes and signs is beyond the lemma's."""
    every_sign = itertools.product([-1.0, 1.0], repeat=n_columns)
    every_bucket = list(itertools.product(range(size), repeat=n_columns))
    sketches = [np.bincount(h, s, size) for s in every_sign for h in every_bucket]
    factor = product = np.fft.rfft(sketches, axis=1)
    for _ in range(degree - 1):
        product = (product[:, None] * factor).reshape(-1, factor.shape[1])
    found = (np.fft.irfft(product, n=size, axis=1) ** 2).sum(axis=1)
    kernel = n_columns**degree
    np.testing.assert_allclose(found.mean(), kernel)
    assert 1.2 * 2 * kernel**2 / size < found.var() <= (2 + 3**degree) * kernel**2 / size


MUTANTS = {
    "all zeros": lambda hashes, x, kernel: (hashes, 0 * x),
    "one hash for two factors": lambda hashes, x, kernel: (
        tuple(h[[0, 0, *range(2, len(h))]] for h in hashes), x,
    ),
    "one bucket hash for all factors, no signs": lambda hashes, x, kernel: (
        (hashes[0][[0] * len(hashes[0])], np.ones_like(hashes[1])), x,
    ),
    "no coef0": lambda hashes, x, kernel: (hashes, x * ([1.0] * N_ENTRIES + [0.0])),
    "coef0 without its root": lambda hashes, x, kernel: (
        hashes, x * ([1.0] * N_ENTRIES + [np.sqrt(kernel["coef0"])]),
    ),
    "no gamma": lambda hashes, x, kernel: (
        hashes, x / ([np.sqrt(kernel["gamma"])] * N_ENTRIES + [1.0]),
    ),
    "gamma on coef0 too": lambda hashes, x, kernel: (
        hashes, x * ([1.0] * N_ENTRIES + [np.sqrt(kernel["gamma"])]),
    ),
}  # fmt: skip


def test_random_hashes_pass():
    assert_theorem(random_hashes(), {"degree": 3, "gamma": 0.5, "coef0": 2.0})


@pytest.mark.parametrize("change", MUTANTS.values(), ids=MUTANTS.keys())
@pytest.mark.parametrize("degree", [2, 3])
def test_mutants_are_rejected(change, degree):
    with pytest.raises(AssertionError):
        assert_theorem(random_hashes(change), {"degree": degree, "gamma": 0.5, "coef0": 2.0})


def test_error_shrinks():
    """The error falls as 1 / sqrt(n_components)."""
    X, values = rows()
    exact = (values[0] @ values[1]) ** 2

    def error(n_components):
        found = []
        for seed in range(600):
            sketch = TensorSketch(n_components=n_components, random_state=SEED + seed)
            Z = sketch.fit_transform(X)
            found.append(Z[0] @ Z[1] - exact)
        return np.sqrt(np.mean(np.square(found)))

    assert 2.4 < error(16) / error(256) < 6.7  # 4 expected; some 10 % of sampling error


# ---- one sketch, whatever the way to it ----------------------------------------------------------


def mixed_rows(dtype=np.float64):
    """Rows of 0 to 300 small integers, in columns up to 2^40."""
    rng = np.random.default_rng(SEED + 5)
    lengths = [3, 0, 300, 1, 17, 40, 0, 90, 8, 250, 2]
    columns = [np.sort(rng.choice(2**40, n, replace=False)) for n in lengths]
    values = rng.integers(1, 4, sum(lengths)) * rng.choice([-1, 1], sum(lengths))
    indptr = np.cumsum([0, *lengths])
    shape = (len(lengths), 2**40)
    return sp.csr_array((values.astype(dtype), np.concatenate(columns), indptr), shape)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_components", [1, 2, 97, 1000])
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_against_reference(dtype, n_components, degree):
    """Directly summed, integers are exact; by the transforms they are so up to rounding."""
    X = mixed_rows(dtype)[[0, 1, 3, 4, 8, 10]]
    keys = _seeding.keys(SEED + 3, "tensor_sketch", 3 * degree, degree).reshape(-1, 3)
    expected = np.stack([
        reference.tensor_sketch(keys, *reference.with_constant(row, 2.0), n_components)
        for row in reference.rows_of(X)
    ])  # fmt: skip
    for method in ("direct", "fft", "auto"):
        sketch = TensorSketch(
            degree=degree,
            coef0=4.0,
            n_components=n_components,
            method=method,
            random_state=SEED + 3,
        )
        Z = sketch.fit_transform(X)
        assert Z.dtype == dtype
        if method == "direct":
            np.testing.assert_array_equal(Z, expected)
        np.testing.assert_allclose(Z, expected, atol=50 * np.finfo(dtype).eps * abs(expected).max())


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 7])
@pytest.mark.parametrize(("gamma", "coef0"), [(1.0, 0.0), (0.3, 1.7)])
def test_methods_agree(degree, gamma, coef0):
    X = mixed_rows()
    X = X if degree < 4 else X[[0, 1, 3, 8, 10]]
    results = [
        TensorSketch(
            degree=degree, gamma=gamma, coef0=coef0, n_components=120, method=method,
            random_state=SEED + 1,
        ).fit_transform(X)
        for method in ("direct", "fft", "auto")
    ]  # fmt: skip
    for other in results[1:]:
        np.testing.assert_allclose(other, results[0], atol=1e-12 * abs(results[0]).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_components", [3, 97, 128])
def test_transforms_do_not_depend_on_other_rows(dtype, n_components):
    """However many rows and factors are transformed at once."""
    X = random_csr(600, 200, 0.05, dtype)
    sketch = TensorSketch(
        degree=3, coef0=1.3, n_components=n_components, method="fft", random_state=SEED
    ).fit(X)
    Z = sketch.transform(X)
    for rows in (slice(7, 8), slice(100, 103), slice(200, 500)):
        np.testing.assert_array_equal(sketch.transform(X[rows]), Z[rows])


@pytest.mark.parametrize("coef0", [0.0, 1.5])
@pytest.mark.parametrize("method", ["auto", "direct"])
def test_sums_do_not_depend_on_other_rows(method, coef0):
    """However many rows are hashed at once, with rows between them that are transformed."""
    rng = np.random.default_rng(SEED)
    lengths = rng.permutation([*rng.integers(0, 40, 60), 0, 0, 253, 254, 255, 256, 257, 271, 700])
    columns = [np.sort(rng.choice(5000, n, replace=False)) for n in lengths]
    arrays = rng.normal(size=lengths.sum()), np.concatenate(columns), np.cumsum([0, *lengths])
    X = sp.csr_array(arrays, shape=(len(lengths), 5000))
    sketch = TensorSketch(coef0=coef0, n_components=64, method=method, random_state=SEED + 1).fit(X)
    Z = sketch.transform(X)
    for i in range(len(lengths)):
        np.testing.assert_array_equal(sketch.transform(X[i : i + 1])[0], Z[i])


@pytest.mark.parametrize("method", ["auto", "fft", "direct"])
@pytest.mark.parametrize("n_components", [5, 200, 2**17])
def test_sparse_output(method, n_components):
    """CSR holds the dense sketch's non-zeros, in order; rows of all lengths take turns."""
    X = sp.vstack([mixed_rows()] * 30, format="csr")
    if n_components > 1000:
        X = X[:11]
    parameters = {"n_components": n_components, "method": method, "random_state": 2}
    dense = TensorSketch(**parameters).fit_transform(X)
    sparse = TensorSketch(**parameters, dense_output=False).fit_transform(X)
    assert sparse.has_canonical_format
    assert (sparse.data != 0).all()
    np.testing.assert_array_equal(sparse.toarray(), dense)


def test_sparse_output_of_wide_sketches():
    """A row's tuples are sorted, not summed in an array of the width."""
    sketch = TensorSketch(n_components=2**31 - 1, dense_output=False, coef0=1.0, random_state=SEED)
    Z = sketch.fit_transform(mixed_rows()[[0, 1, 4]])
    assert np.diff(Z.indptr).tolist() == [16, 1, 18 * 18]
    assert Z.indices.max() > 2**30


def test_sums_that_cancel_are_not_stored():
    X = sp.csr_array(np.ones((1, 40)))
    for n_components in (2, 7):
        sketch = TensorSketch(
            n_components=n_components, method="direct", dense_output=False, random_state=SEED
        )
        assert (sketch.fit_transform(X).data != 0).all()


def test_auto_takes_what_costs_least():
    """Per row: tuples of so many factors are summed and the rest convolved; 0 for transforms."""

    def summed(lengths, itemsize=8, **parameters):
        draw = TensorSketch(**parameters, random_state=SEED).fit_any_width().draw
        return draw._sketch._factors_to_sum(np.array(lengths), itemsize).tolist()

    assert summed([0, 1, 85, 86, 267, 268, 5000]) == [2, 2, 2, 1, 1, 0, 0]
    assert summed([42, 43, 270, 271], itemsize=4) == [2, 1, 1, 0]
    assert summed([85], coef0=1.0) == [1]
    assert summed([0, 4, 9, 10, 85, 100, 5000], degree=4) == [4, 4, 3, 2, 2, 1, 0]
    assert summed([0, 10, 5000], degree=1) == [1, 1, 1]
    assert summed([0, 1, 2, 5000], degree=1024) == [1024, 1024, 7, 0]
    assert summed([0, 1, 5000], method="direct") == [2, 2, 1]
    assert summed([0, 1, 5000], method="fft") == [0, 0, 0]


def test_high_degree():
    X = sp.csr_array([[2.0, 0.0], [0.0, 0.0]])
    Z = TensorSketch(degree=1000, random_state=SEED).fit_transform(X)
    assert abs(Z).sum(axis=1).tolist() == [2.0**1000, 0.0]


def test_an_accurate_sketch():
    """Of many components, the Gram matrix is the kernel's. By Chebyshev's inequality, at least half
    of the errors are within root(2) standard deviations. Single ones may be far larger."""
    X = random_csr(30, 50, density=0.3)
    X.data /= 4
    Z = TensorSketch(degree=2, gamma=0.5, coef0=1, n_components=2**15, random_state=SEED)
    Z = Z.fit_transform(X)
    exact = polynomial_kernel(X, degree=2, gamma=0.5, coef0=1)
    bound = np.sqrt((2 + 9) / 2**15 * np.outer(exact.diagonal(), exact.diagonal()))
    assert np.median(abs(Z @ Z.T - exact) / bound) < np.sqrt(2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"degree": 0}, "degree must be from 1 to 1024, got 0"),
        ({"degree": 2.0}, "degree must be an integer"),
        ({"gamma": 0}, "gamma must be a finite number above 0, got 0"),
        ({"gamma": "scale"}, "gamma must be a finite number above 0, got 'scale'"),
        ({"coef0": -1}, "coef0 must be a finite number of at least 0, got -1"),
        ({"coef0": np.nan}, "coef0 must be a finite number"),
        ({"n_components": 0}, "n_components must be from 1 to 2147483647, got 0"),
        ({"method": "slow"}, "method must be 'auto' or 'fft' or 'direct', got 'slow'"),
        ({"dense_output": 1}, "dense_output must be True or False, got 1"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        TensorSketch(**parameters).fit(np.ones((2, 4)))
