"""Packed codes that know their map: what compares and estimates."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.rows import random_csr
from _oracles import theorems
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

import sparsemaps
from sparsemaps import (
    ConsistentWeightedSampling,
    KernelProduct,
    MinHash,
    RandomBinning,
    RandomFourier,
    SignProjection,
    codes,
)
from sparsemaps.codes import ByChance, ByProduct, BySigns, PackedCodes, ProductCounts
from sparsemaps.codes._packed import with_rows

MAPS = [
    MinHash(n_hashes=70, bits=3, random_state=SEED),
    ConsistentWeightedSampling(n_hashes=70, bits=8, t_bits=4, random_state=SEED),
    ConsistentWeightedSampling(n_hashes=70, bits=16, method="levels", random_state=SEED),
    SignProjection(n_hashes=70, random_state=SEED),
    RandomBinning(n_grids=70, gamma=0.1, n_bins=64, random_state=SEED),
    RandomFourier(n_components=70, gamma=0.1, random_state=SEED),
    KernelProduct(random_state=SEED),
]


@pytest.mark.parametrize("new_map", MAPS, ids=lambda m: type(m).__name__)
def test_what_it_knows(new_map):
    X = random_csr()
    fitted = sparsemaps.from_config(new_map.fit(X).to_config())
    A = fitted.encode(X, packed=True)
    np.testing.assert_array_equal(A.array, fitted.encode(X))
    assert A.config == fitted.to_config()
    assert A.shape == A.array.shape
    assert len(A) == 40
    empty = np.diff(X.indptr) == 0
    has_zeros = isinstance(new_map, RandomBinning | RandomFourier | SignProjection)
    np.testing.assert_array_equal(A.sampled, ~empty | has_zeros)
    counts = codes.collisions(A[1:5], A)
    np.testing.assert_array_equal(
        counts, codes.collisions(A.array[1:5], A.array, A.bits, n_hashes=A.n_hashes)
    )
    np.testing.assert_array_equal(
        codes.unpack(A), codes.unpack(A.array, A.bits, n_hashes=A.n_hashes)
    )
    agreeing = codes.agreements(A[1:5], A)
    np.testing.assert_array_equal(agreeing.both if A.law.needs_parts else agreeing, counts)
    assert A.law.needs_parts == (isinstance(new_map, KernelProduct) and A.law.parts[0].chance > 0)
    kernel, std = codes.kernel_from_collisions(agreeing, A, return_std=True)
    assert kernel.shape == std.shape == (4, 40)
    assert (kernel[np.arange(4), np.arange(1, 5)] == 1).all()


@pytest.mark.parametrize("new_map", MAPS, ids=lambda m: type(m).__name__)
def test_numbers_are_the_codes(new_map):
    X = random_csr()
    fitted = new_map.fit(X)
    A = fitted.encode(X, packed=True)
    expected = np.where(A.sampled[:, None], codes.unpack(A), -1)
    np.testing.assert_array_equal(fitted.numbers(X), expected)


@pytest.mark.parametrize("new_map", MAPS, ids=lambda m: type(m).__name__)
def test_all_rows_whatever_the_threads(new_map):
    X = random_csr(n_rows=3001)
    A = new_map.fit(X).encode(X, packed=True)
    for n_jobs in (2, 3):
        B = sparsemaps.from_config(A.config).set_params(n_jobs=n_jobs).encode(X, packed=True)
        np.testing.assert_array_equal(A.array, B.array)
        np.testing.assert_array_equal(A.sampled, B.sampled)


def test_a_code_that_is_all_zeros_by_chance_has_samples():
    X = np.arange(1, 200)[:, None] * 1.0
    signs = SignProjection(n_hashes=1, random_state=SEED).fit(X)
    one, other = signs.encode(-X, packed=True), signs.encode(X, packed=True)
    assert {*one.array.ravel().tolist(), *other.array.ravel().tolist()} == {0, 1}
    assert one.sampled.all()
    assert other.sampled.all()


def test_as_an_array():
    X = random_csr()
    A = MinHash(n_hashes=5, bits=3, random_state=SEED).fit(X).encode(X, packed=True)
    assert np.asarray(A) is A.array
    copy = np.array(A, copy=True)
    np.testing.assert_array_equal(copy, A.array)
    assert not np.shares_memory(copy, A.array)
    assert repr(A) == "PackedCodes(40 rows of 5 codes of 3 bits, MinHash)"


def test_slices():
    X = random_csr()
    A = MinHash(n_hashes=20, random_state=SEED).fit(X).encode(X, packed=True)
    for rows in (slice(3, 30, 2), np.array([5, 1, 5]), X.sum(axis=1) > 0):
        B = A[rows]
        np.testing.assert_array_equal(B.array, A.array[rows])
        np.testing.assert_array_equal(B.sampled, A.sampled[rows])
        assert B.config == A.config
    assert len(A[7]) == 1
    assert np.asarray(A) is A.array


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_estimates_of_minhash(bits):
    a, b = np.zeros((2, 60))
    a[:40], b[20:] = 1, 1
    estimates = []
    for seed in range(1_000):
        A = (
            MinHash(n_hashes=32, bits=bits, random_state=SEED + seed)
            .fit([a, b])
            .encode([a, b], packed=True)
        )
        estimates.append(codes.kernel_from_collisions(codes.collisions(A[:1], A[1:]), A)[0, 0])
    theorems.assert_mean(estimates, 20 / 60)


def test_signs_agree_at_the_rate_of_the_acos_kernel():
    X = np.array([[1.0, 0.0], [1.0, 1.0]])
    A = SignProjection(n_hashes=100_000, random_state=SEED).fit(X).encode(X, packed=True)
    kernel, std = codes.kernel_from_collisions(codes.collisions(A, A), A, return_std=True)
    assert abs(kernel[0, 1] - 0.75) < 5 * std[0, 1]


@pytest.mark.parametrize("distance", [0.2, 0.7, 1.5, 3.0])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_bits_of_fourier_features(kernel, distance):
    """They agree at the rate of the theorem, and the kernel comes back from it."""
    X = np.array([[0.0, 0.0], [0.6 * distance, 0.8 * distance]])
    n = 200_000
    exact = {"rbf": rbf_kernel, "laplacian": laplacian_kernel}[kernel]
    odd = np.arange(1, 20_001, 2)[:, None]
    K = exact(odd * X[1], X[:1], gamma=0.5)[:, 0]  # the first row is zero
    rate = 0.5 + 4 / np.pi**2 * (K / odd[:, 0] ** 2).sum()
    fourier = RandomFourier(kernel=kernel, gamma=0.5, n_components=n, random_state=SEED + 1).fit(X)
    A = fourier.encode(X, packed=True)
    agree = ~np.unpackbits(A.array[0] ^ A.array[1], bitorder="little")[:n].astype(bool)
    theorems.assert_rate(agree, rate)
    if distance < 3:
        with pytest.raises(AssertionError):  # the first term alone is another rate
            theorems.assert_rate(agree, 0.5 + K[0] / 2)
    found, std = codes.kernel_from_collisions([agree.sum()], A, return_std=True)
    assert abs(found[0] - K[0]) < 5 * std[0]
    assert std[0] < 0.02


def test_bits_of_fourier_features_are_signs_of_the_offset_form():
    X = random_csr()
    fourier = RandomFourier(n_components=75, gamma=0.1, form="offset", random_state=SEED).fit(X)
    expected = np.packbits(fourier.transform(X) >= 0, axis=1, bitorder="little")
    np.testing.assert_array_equal(fourier.encode(X), expected)
    paired = RandomFourier(n_components=75, gamma=0.1, random_state=SEED).fit(X)
    np.testing.assert_array_equal(paired.encode(X), expected)
    folded = RandomFourier(kernel="folded_rbf")
    assert not any(hasattr(folded, name) for name in ("encode", "encode_texts", "numbers"))


@pytest.mark.parametrize("kernel", ["cauchy", "matern"])
def test_kernels_without_an_estimate(kernel):
    X = random_csr()
    A = (
        RandomFourier(kernel=kernel, n_components=16, random_state=SEED)
        .fit(X)
        .encode(X, packed=True)
    )
    with pytest.raises(ValueError, match="these codes have no estimate"):
        codes.kernel_from_collisions([3], A)


@pytest.mark.parametrize(
    ("new_map", "law"),
    [
        (MinHash(bits=3), ByChance(3, 2**-3)),
        (ConsistentWeightedSampling(bits=2, t_bits=6), ByChance(8, 2**-8)),
        (ConsistentWeightedSampling(bits=16), ByChance(16, 2**-16)),
        (RandomBinning(n_bins=64), ByChance(6, 1 / 64)),
        (SignProjection(), ByChance(1, 0.0)),
        (RandomFourier(), BySigns("rbf")),
        (RandomFourier(kernel="laplacian"), BySigns("laplacian")),
        (RandomFourier(kernel="matern"), BySigns(None)),
        (KernelProduct(), ByProduct((ByChance(8, 2**-8), ByChance(1, 0.0)))),
    ],
    ids=str,
)
def test_what_decides_the_estimate(new_map, law):
    """A value, whatever the width of the data."""
    for n_columns in (2, 300):
        A = new_map.fit(np.ones((2, n_columns))).encode(np.ones((2, n_columns)), packed=True)
        assert A.law == law
        assert A.bits == law.bits
    # Nothing is taken from the config.
    config = {"class": "x", "parameters": {"bits": 10**11}}
    B = PackedCodes(A.array, A.bits, config, n_hashes=A.n_hashes, law=A.law)
    assert B.law == law


def codes_of_parts(kernels, chances, n_hashes, n_rows, rng):
    """Which codes of either part agree, of independent samples, as codes of 1 bit that differ from
    zeros where they do not."""
    agree = [
        (rng.random((n_rows, n_hashes)) < kernel) | (rng.random((n_rows, n_hashes)) < chance)
        for kernel, chance in zip(kernels, chances, strict=True)
    ]
    numbers = 2 * ~agree[0] + 1 * ~agree[1]
    bits = (numbers[:, :, None] >> np.arange(2)) & 1
    array = np.packbits(bits.reshape(n_rows, -1).astype(np.uint8), axis=1, bitorder="little")
    law = ByProduct(tuple(ByChance(1, chance) for chance in chances))
    sampled = np.ones(n_rows, bool)
    return PackedCodes(array, 2, {}, n_hashes=n_hashes, sampled=sampled, law=law)


@pytest.mark.parametrize("chances", [(0.25, 0.5), (0.5, 0.0), (0.0, 0.125), (0.0, 0.0)])
@pytest.mark.parametrize("kernels", [(0.7, 0.4), (0.0, 0.0), (0.0, 0.9)])
def test_products_are_unbiased(kernels, chances):
    """With the standard errors that they state, also where neither kernel is above 0."""
    rng = np.random.default_rng(SEED)
    n_hashes, n_rows = 256, 4000
    A = codes_of_parts(kernels, chances, n_hashes, n_rows, rng)
    zeros = with_rows(A, np.zeros((1, A.shape[1]), np.uint8), [True])
    counts = codes.agreements(A, zeros)
    found, std = codes.kernel_from_collisions(counts, A, return_std=True)
    found, std = found[:, 0], std[:, 0]
    both = codes.collisions(A, zeros)[:, 0]
    exact = kernels[0] * kernels[1]
    theorems.assert_mean(found, exact)
    assert_covers(found, std, exact)
    if exact:
        theorems.assert_variance(found, (std**2).mean())
    if all(chances):  # the share of joint codes that agree is another
        with pytest.raises(AssertionError):
            theorems.assert_mean(both / n_hashes, exact)
        with pytest.raises(ValueError, match=r"give agreements\(A, B\)"):
            codes.kernel_from_collisions(both, A)
        with pytest.raises(ValueError, match="counts of the same codes"):
            A.kernel(ProductCounts(both + 1, both, both))
        with pytest.raises(ValueError, match="counts of the same codes"):
            A.kernel(ProductCounts([0], [n_hashes], [1]))


def assert_covers(found, std, exact):
    """Two standard errors hold the exact value in 9 of 10 cases at least."""
    covered = abs(found - exact) <= 2 * std
    error = np.sqrt(0.9 * 0.1 / len(covered))
    assert covered.mean() >= 0.9 - theorems.N_STANDARD_ERRORS * error


@pytest.mark.parametrize("chance", [0.0, 2.0**-16, 2.0**-8, 0.5])
@pytest.mark.parametrize("kernel", [0.0, 0.001, 0.01, 0.1, 0.5, 0.99, 0.999, 1.0])
@pytest.mark.parametrize("n_hashes", [64, 1024])
def test_standard_errors_hold(kernel, chance, n_hashes):
    """Also near 0 and 1, where few codes agree or differ."""
    rate = kernel + (1 - kernel) * chance
    counts = np.random.default_rng(SEED).binomial(n_hashes, rate, 20_000)
    A = PackedCodes(np.ones((1, n_hashes), np.uint8), 8, {}, law=ByChance(8, chance))
    found, std = A.kernel(counts, return_std=True)
    assert_covers(found, std, kernel)
    assert (std > 0).all()


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("value", [0.1, 0.5, 0.9])
def test_standard_errors_of_bits_of_fourier_features(kernel, value):
    """They are the spread of the estimates."""
    A = PackedCodes(np.ones((1, 512), np.uint8), 1, {}, law=BySigns(kernel))
    odd = np.arange(1, 20_001, 2)
    power = odd**2 if kernel == "rbf" else odd
    rate = 0.5 + 4 / np.pi**2 * (value ** power.astype(float) / odd**2).sum()
    counts = np.random.default_rng(SEED).binomial(4096, rate, 20_000)
    found, std = A.kernel(counts, return_std=True)
    assert_covers(found, std, value)
    spread = found.std(ddof=1)
    assert abs(np.median(std) / spread - 1) < theorems.N_STANDARD_ERRORS / np.sqrt(2 * 4096)


def test_products_of_products():
    """Of three maps, codes have an estimate only if none agree by chance."""
    X = np.abs(random_csr())
    signs = SignProjection(n_hashes=32)
    for sampled, has_estimate in ((MinHash(n_hashes=32), False), (signs, True)):
        inner = KernelProduct(maps=(sampled, signs))
        A = KernelProduct(maps=(inner, signs), random_state=SEED).fit(X).encode(X, packed=True)
        assert len(A.law.parts) == 3
        if has_estimate:
            assert codes.kernel_from_collisions(32, A) == 1
        else:
            with pytest.raises(ValueError, match="products of more than two maps"):
                codes.kernel_from_collisions(32, A)


def test_parts_are_the_codes_of_the_two_maps():
    X = sp.csr_array(sp.vstack([random_csr()] * 1500))  # more than are unpacked at a time
    maps = ConsistentWeightedSampling(n_hashes=20, bits=3, t_bits=2), MinHash(n_hashes=20, bits=4)
    product = KernelProduct(maps=maps, random_state=SEED).fit(X)
    A = product.encode(X, packed=True)
    for which, one in enumerate(product.maps_):
        B = A.part(which)
        assert B.law == (ByChance(5, 2**-5), ByChance(4, 2**-4))[which]
        np.testing.assert_array_equal(B.array[A.sampled], one.encode(X)[A.sampled])
        assert 0 < A.sampled.sum() < len(A)
        np.testing.assert_array_equal(B.sampled, A.sampled)


# ---- bad input -----------------------------------------------------------------------------------


X2 = np.array([[1.0, 2, 0], [0, 1, 1]])


def encode(new_map):
    return new_map.fit(X2).encode(X2, packed=True)


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        (
            MinHash(random_state=SEED),
            MinHash(random_state=SEED + 1),
            f"seed is {SEED} in one and {SEED + 1} in the other",
        ),
        (MinHash(bits=4, random_state=SEED), MinHash(bits=8, random_state=SEED), "of the same map"),
        (
            MinHash(random_state=SEED),
            ConsistentWeightedSampling(random_state=SEED),
            "class is MinHash in one",
        ),
        (
            RandomFourier(gamma=1.0, random_state=SEED),
            RandomFourier(gamma=2.0, random_state=SEED),
            "gamma is 1.0 in one and 2.0 in the other",
        ),
    ],
)
def test_codes_of_maps_that_differ_are_refused(one, other, message):
    one, other = encode(one), encode(other)
    for compare in (codes.collisions, codes.hamming):
        with pytest.raises(ValueError, match=message):
            compare(one, other)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda A: PackedCodes(A.array.astype(int), 8, {}), "array must be .* of uint8"),
        (lambda A: PackedCodes(A.array, 25, {}), "bits must be from 1 to 24, got 25"),
        (
            lambda A: PackedCodes(A.array[:, :1], 13, {}),
            "must be at most 8, a row's bits, got 13",
        ),
        (lambda A: PackedCodes(A.array, 8, 3), "config must be a dictionary, got 3"),
        (lambda A: PackedCodes(A.array, 8, {}, law="x"), "law must be a law of codes of 8 bits"),
        (lambda A: PackedCodes(A.array, 8, {}, law=ByChance(7)), "law must be a law of codes of 8"),
        (lambda A: codes.agreements(A.array, A), "A must be PackedCodes, got ndarray"),
        (lambda A: A.part(0), "codes of one map have no parts"),
        (lambda A: PackedCodes.load("x", mmap_mode="w+"), "mmap_mode must be"),
        (lambda A: PackedCodes(A.array, 8, {}, n_hashes=500), "n_hashes must be from 1 to 256"),
        (lambda A: PackedCodes(A.array, 8, {}, sampled=[True]), r"sampled must be of shape \(2,\)"),
        (lambda A: codes.collisions(A, A, 4), "bits must be 8, as in A, got 4"),
        (lambda A: codes.collisions(A.array, A.array), "bits must be given if A is a plain"),
        (
            lambda A: codes.collisions(A, A.array[:, :9]),
            "of the same length, got 256 and 9 bytes",
        ),
        (lambda A: codes.kernel_from_collisions([300], A), "counts must be from 0 to n_hashes"),
        (lambda A: MinHash().fit(X2).encode(X2, packed=1), "packed must be True or False"),
        (lambda A: PackedCodes.load(__file__), "is not a file of packed codes"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call(encode(MinHash(random_state=SEED)))


def test_counts_of_any_type_of_number():
    """The formulas do not overflow where counts are integers of few bits."""
    counts = np.array([0, 3, 100, 127])
    expected = (counts / 1000 - 1 / 256) / (1 - 1 / 256)
    for dtype in (np.int8, np.uint8, np.float16, np.int64):
        found = codes.kernel_from_collisions(counts.astype(dtype), 1000, 8)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("counts", "found"),
    [
        (sp.dia_array(np.eye(2)), "a sparse dia matrix"),
        (sp.csr_matrix([[1, 2]]), "a sparse csr matrix"),
        ([None, 1], "one of object"),
        (["1"], "one of <U1"),
    ],
)
def test_counts_that_are_no_numbers(counts, found):
    law = ByProduct((ByChance(1), ByChance(1)))
    A = PackedCodes(np.zeros((1, 16), np.uint8), 2, {}, law=law)
    message = f"must be an array of numbers, got {found}"
    with pytest.raises(ValueError, match=f"counts {message}"):
        codes.kernel_from_collisions(counts, 16, 8)
    for name in ProductCounts._fields:
        given = ProductCounts([4], [5], [5])._replace(**{name: counts})
        with pytest.raises(ValueError, match=f"{name} {message}"):
            A.kernel(given)


def test_codes_are_no_counts():
    codes = (
        SignProjection(n_hashes=16, random_state=SEED).fit(np.eye(3)).encode(np.eye(3), packed=True)
    )
    with pytest.raises(ValueError, match=r"give collisions\(A, B\)"):
        codes.kernel(codes)
