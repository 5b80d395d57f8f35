"""Packed codes: counted, unpacked and made one-hot as plain NumPy does it."""

import gzip
from io import BytesIO

import numpy as np
import pytest
from _data.chance import SEED
from _data.rows import random_csr
from _oracles import theorems

from sparsemaps import ConsistentWeightedSampling, SignProjection, codes, libsvm, neighbors
from sparsemaps._loops import codes as _loops


def random_codes(n_rows, n_bytes, seed=0):
    rng = np.random.default_rng(SEED + seed)
    few = rng.integers(0, 4, (n_rows, n_bytes)).astype(np.uint8)  # so that many agree
    return np.where(
        rng.random((n_rows, n_bytes)) < 0.7, few, rng.integers(0, 256, few.shape)
    ).astype(np.uint8)


def as_numbers(A, bits, n_hashes):
    """Codes by way of single bits."""
    single = np.unpackbits(A, axis=1, bitorder="little")[:, : n_hashes * bits]
    return (single.reshape(len(A), n_hashes, bits) * (1 << np.arange(bits))).sum(axis=2)


@pytest.mark.parametrize("n_bytes", [1, 2, 7, 8, 9, 64, 65, 300])
@pytest.mark.parametrize(("n_a", "n_b"), [(1, 1), (3, 17), (70, 9)])
def test_hamming(n_a, n_b, n_bytes):
    A, B = random_codes(n_a, n_bytes), random_codes(n_b, n_bytes, seed=1)
    expected = np.unpackbits(A[:, None] ^ B[None], axis=2).sum(axis=2)
    found = codes.hamming(A, B)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("bits", [1, 2, 3, 4, 5, 7, 8, 11, 12, 16])
@pytest.mark.parametrize("n_bytes", [2, 6, 8, 10, 64, 520, 600])
def test_collisions(bits, n_bytes):
    A, B = random_codes(20, n_bytes), random_codes(13, n_bytes, seed=1)
    B[:5] = A[:5]
    most = 8 * n_bytes // bits
    for n_hashes in {most, max(most - 1, 1), (most + 1) // 2, 1}:
        one, other = (as_numbers(X, bits, n_hashes) for X in (A, B))
        expected = (one[:, None] == other[None]).sum(axis=2)
        found = codes.collisions(A, B, bits, n_hashes=n_hashes)
        assert found.dtype == np.int32
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(
        codes.collisions(A, B, bits), codes.collisions(A, B, bits, n_hashes=most)
    )


@pytest.mark.parametrize("bits", [1, 2, 4, 8, 16])
def test_long_rows_do_not_overflow(bits):
    """Bytes that count are added up in time: all bits differ, or none."""
    A = np.zeros((1, 5000), np.uint8)
    assert codes.hamming(A, ~A).tolist() == [[40_000]]
    assert codes.collisions(A, A, bits).tolist() == [[40_000 // bits]]
    assert codes.collisions(A, ~A, bits).tolist() == [[0]]


@pytest.mark.parametrize("bits", [1, 2, 4, 8, 16])
def test_single_bits_that_differ(bits):
    """One bit anywhere in a field makes it another, and no neighbour of it."""
    A = np.zeros((1, 8), np.uint8)
    B = np.packbits(np.eye(64, dtype=np.uint8), axis=1, bitorder="little")
    assert (codes.collisions(A, B, bits) == 64 // bits - 1).all()
    assert (codes.collisions(~A, ~B, bits) == 64 // bits - 1).all()


def test_forms():
    """Read-only, strided, Fortran order, no rows, any number of threads."""
    A = random_codes(300, 32)
    expected = codes.collisions(A, A, 8)
    A.flags.writeable = False
    np.testing.assert_array_equal(codes.collisions(np.asfortranarray(A), A, 8), expected)
    wide = np.repeat(A, 2, axis=1)[:, ::2]
    np.testing.assert_array_equal(codes.collisions(wide, A, 8), expected)
    for n_jobs in (2, -1):
        np.testing.assert_array_equal(codes.collisions(A, A, 8, n_jobs=n_jobs), expected)
    assert codes.collisions(A[:0], A, 8).shape == (0, 300)
    assert codes.hamming(A, A[:0]).shape == (300, 0)
    assert codes.unpack(A[:0], 8).shape == (0, 32)
    assert codes.to_csr(A[:0], 8).shape == (0, 32 * 256)


@pytest.mark.parametrize("bits", [1, 2, 3, 5, 8, 11, 16, 24])
def test_unpack(bits):
    A = random_codes(10, 33)
    for n_hashes in (8 * 33 // bits, 7):
        found = codes.unpack(A, bits, n_hashes=n_hashes)
        np.testing.assert_array_equal(found, as_numbers(A, bits, n_hashes))


@pytest.mark.parametrize(
    "new_map",
    [
        ConsistentWeightedSampling(n_hashes=77, bits=3, t_bits=2, random_state=SEED),
        ConsistentWeightedSampling(n_hashes=16, bits=16, random_state=SEED),
        SignProjection(n_hashes=77, random_state=SEED),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_to_csr_is_what_transform_gives(new_map, dtype):
    X = random_csr(dtype=dtype)
    X = X[np.diff(X.indptr) > 0]
    expected = new_map.fit(X).transform(X)
    bits = getattr(new_map, "bits", 1) + getattr(new_map, "t_bits", 0)
    found = codes.to_csr(new_map.encode(X), bits, n_hashes=new_map.n_hashes, dtype=dtype)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


@pytest.mark.parametrize(("bits", "n_hashes"), [(1, None), (3, 100), (8, None), (16, 7)])
@pytest.mark.parametrize("zero_based", [False, True])
def test_files_are_those_of_one_hot_features(bits, n_hashes, zero_based):
    A, y = random_codes(700, 50), np.arange(700) % 3 - 0.5
    expected, found = BytesIO(), BytesIO()
    one_hot = codes.to_csr(A, bits, n_hashes=n_hashes)
    more = {"zero_based": zero_based, "comment": "codes"}
    libsvm.dump_svmlight_file(one_hot, y, expected, **more)
    packed = codes.PackedCodes(A, bits, {}, n_hashes=n_hashes)
    codes.dump_svmlight_file(packed, y, found, n_jobs=2, **more)
    assert found.getvalue() == expected.getvalue()
    one_hot.data[:] = 1
    expected, found = BytesIO(), BytesIO()
    libsvm.dump_svmlight_file(one_hot, y, expected, **more)
    codes.dump_svmlight_file(packed, y, found, ones=True, **more)
    assert found.getvalue() == expected.getvalue()


def test_a_file_of_no_codes(tmp_path):
    codes.dump_svmlight_file(np.zeros((0, 4), np.uint8), [], tmp_path / "none.svm.gz", 8)
    assert gzip.decompress((tmp_path / "none.svm.gz").read_bytes()) == b""


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_kernel_from_collisions(bits):
    """Unbiased, with the standard error that it states, also where chance agrees a lot."""
    rng = np.random.default_rng(SEED)
    kernel, n_hashes, n_trials = 0.3, 64, 4000
    same = rng.random((n_trials, n_hashes)) < kernel
    chance = rng.integers(0, 2**bits, (n_trials, n_hashes)) == 0
    found, std = codes.kernel_from_collisions(
        (same | chance).sum(axis=1), n_hashes, bits, return_std=True
    )
    theorems.assert_mean(found, kernel)
    rate = kernel + (1 - kernel) * 2.0**-bits
    variance = rate * (1 - rate) / n_hashes / (1 - 2.0**-bits) ** 2
    theorems.assert_variance(found, variance)
    assert abs((std**2).mean() / variance - 1) < 0.05
    if bits < 8:
        with pytest.raises(AssertionError):
            theorems.assert_mean((same | chance).mean(axis=1), kernel)


def test_estimates_of_a_map():
    """From rows to the kernel: within 5 standard errors of the exact min-max kernel."""
    rng = np.random.default_rng(SEED)
    X = rng.gamma(1.0, size=(6, 3000)) * (rng.random((6, 3000)) < 0.4)
    exact = np.minimum(X[:, None], X).sum(axis=2) / np.maximum(X[:, None], X).sum(axis=2)
    A = ConsistentWeightedSampling(n_hashes=4096, bits=4, random_state=SEED).fit(X).encode(X)
    kernel, std = codes.kernel_from_collisions(codes.collisions(A, A, 4), 4096, 4, return_std=True)
    assert (abs(kernel - exact) <= theorems.N_STANDARD_ERRORS * std + 1e-12).all()


@pytest.mark.parametrize("bits", [9, 13, 16, 24])
@pytest.mark.parametrize("n_bytes", [1, 2])
def test_codes_of_more_bits_than_a_row(bits, n_bytes):
    """There is no such code in a row."""
    A = np.ones((3, n_bytes), np.uint8)
    if bits <= 8 * n_bytes:
        assert codes.collisions(A, A, bits).tolist() == [[1] * 3] * 3
        return
    for call in (
        lambda: codes.collisions(A, A, bits),
        lambda: codes.PackedCodes(A, bits, {}),
        lambda: codes.unpack(A, bits),
        lambda: codes.to_csr(A, bits),
        lambda: codes.dump_svmlight_file(A, [0, 1, 2], BytesIO(), bits),
        lambda: neighbors.top_k(A, A, 1, bits=bits),
        lambda: neighbors.similar_pairs(A, 0.5, bits=bits),
        lambda: neighbors.similar_pairs(A, 0.5, bits=bits, other=A),
        lambda: codes.collisions(A, A, bits, n_hashes=1),
    ):
        with pytest.raises(ValueError, match=f"bits.* at most {8 * n_bytes}, .* got {bits}"):
            call()
    # The loops themselves do not take them either.
    for n_codes in (0, 1, -1):
        with pytest.raises(ValueError, match="do not hold"):
            _loops.count_pairs(A, A, bits, n_codes, True, np.zeros((3, 3), np.int32))


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_counts_do_not_depend_on_how_calls_are_cut(short_calls, n_jobs):
    A, B = random_codes(301, 9), random_codes(77, 9, seed=1)
    expected = codes.collisions(A, B, 3)
    short_calls(10**5)
    np.testing.assert_array_equal(codes.collisions(A, B, 3, n_jobs=n_jobs), expected)


A = np.zeros((2, 4), np.uint8)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: codes.hamming(A.astype(int), A), "A must be a two-dimensional array of uint8"),
        (lambda: codes.hamming(A, A[0]), r"B must be .*, got shape \(4,\) of uint8"),
        (lambda: codes.hamming(A[:, :0], A[:, :0]), "at least one byte"),
        (lambda: codes.hamming(A, A[:, :3]), "rows of the same length, got 4 and 3 bytes"),
        (lambda: codes.collisions(A, A, 25), "bits must be from 1 to 24, got 25"),
        (lambda: codes.collisions(A, A, 8, n_hashes=5), "n_hashes must be from 1 to 4, got 5"),
        (lambda: codes.collisions(A, A, 8, n_jobs=0), "n_jobs must be None or a non-zero integer"),
        (lambda: codes.unpack(A, 25), "bits must be from 1 to 24, got 25"),
        (lambda: codes.to_csr(A, 8, dtype=int), "dtype must be float64 or float32, got int64"),
        (lambda: codes.dump_svmlight_file(A, [1], BytesIO(), 8), r"y must be of shape \(2,\)"),
        (lambda: codes.dump_svmlight_file(A, [1, np.nan], BytesIO(), 8), "contains NaN"),
        (lambda: codes.dump_svmlight_file(A, [1, 2], BytesIO(), 8, ones=2), "ones must be"),
        (lambda: codes.dump_svmlight_file(A, [1, 2], BytesIO(), 33), "bits must be from 1 to 24"),
        (lambda: codes.kernel_from_collisions([9], 8, 8), "counts must be from 0 to n_hashes = 8"),
        (lambda: codes.kernel_from_collisions([1], 0, 8), "n_hashes must be from 1"),
    ],
)  # fmt: skip
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
