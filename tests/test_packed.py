"""Packed codes that know their map: what compares, estimates, files."""

import contextlib
import json

import numpy as np
import pytest
import theorems
from conftest import random_csr
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
from sparsemaps.codes import PackedCodes

MAPS = [
    MinHash(n_hashes=70, bits=3, random_state=0),
    ConsistentWeightedSampling(n_hashes=70, bits=8, t_bits=4, random_state=0),
    ConsistentWeightedSampling(n_hashes=70, bits=16, method="dart", random_state=0),
    SignProjection(n_hashes=70, random_state=0),
    RandomBinning(n_grids=70, gamma=0.1, n_bins=64, random_state=0),
    RandomFourier(n_components=70, gamma=0.1, random_state=0),
    KernelProduct(random_state=0),
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
    kernel, std = codes.kernel_from_collisions(counts, A, return_std=True)
    assert kernel.shape == std.shape == (4, 40)
    assert (kernel[np.arange(4), np.arange(1, 5)] == 1).all()


def test_a_code_that_is_all_zeros_by_chance_has_samples():
    X = np.arange(1, 200)[:, None] * 1.0
    A = SignProjection(n_hashes=2, random_state=0).fit(X).encode(-X, packed=True)
    A2 = SignProjection(n_hashes=2, random_state=0).fit(X).encode(X, packed=True)
    assert A.sampled.all()
    assert A2.sampled.all()
    assert not A.array.any() or not A2.array.any() or (A.array ^ A2.array == 3).all()


def test_as_an_array():
    X = random_csr()
    A = MinHash(n_hashes=5, bits=3, random_state=0).fit(X).encode(X, packed=True)
    assert np.asarray(A) is A.array
    copy = np.array(A, copy=True)
    np.testing.assert_array_equal(copy, A.array)
    assert not np.shares_memory(copy, A.array)
    assert repr(A) == "PackedCodes(40 rows of 5 codes of 3 bits, MinHash)"


def test_slices():
    X = random_csr()
    A = MinHash(n_hashes=20, random_state=0).fit(X).encode(X, packed=True)
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
            MinHash(n_hashes=32, bits=bits, random_state=seed)
            .fit([a, b])
            .encode([a, b], packed=True)
        )
        estimates.append(codes.kernel_from_collisions(codes.collisions(A[:1], A[1:]), A)[0, 0])
    theorems.assert_mean(estimates, 20 / 60)


def test_signs_agree_at_the_rate_of_the_acos_kernel():
    X = np.array([[1.0, 0.0], [1.0, 1.0]])
    A = SignProjection(n_hashes=100_000, random_state=0).fit(X).encode(X, packed=True)
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
    fourier = RandomFourier(kernel=kernel, gamma=0.5, n_components=n, random_state=1).fit(X)
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
    fourier = RandomFourier(n_components=75, gamma=0.1, form="offset", random_state=0).fit(X)
    expected = np.packbits(fourier.transform(X) >= 0, axis=1, bitorder="little")
    np.testing.assert_array_equal(fourier.encode(X), expected)
    paired = RandomFourier(n_components=75, gamma=0.1, random_state=0).fit(X)
    np.testing.assert_array_equal(paired.encode(X), expected)
    assert not hasattr(RandomFourier(kernel="folded_rbf"), "encode")


@pytest.mark.parametrize("kernel", ["cauchy", "matern"])
def test_kernels_without_an_estimate(kernel):
    X = random_csr()
    A = RandomFourier(kernel=kernel, n_components=16, random_state=0).fit(X).encode(X, packed=True)
    with pytest.raises(ValueError, match=f"not '{kernel}'"):
        codes.kernel_from_collisions([3], A)


def test_whole_columns_do_not_agree_by_chance():
    X = random_csr(n_columns=200)
    A = ConsistentWeightedSampling(n_hashes=16, random_state=0).fit(X).encode(X, packed=True)
    assert codes.kernel_from_collisions(0, A) == 0
    X = random_csr(n_columns=300)
    A = ConsistentWeightedSampling(n_hashes=16, random_state=0).fit(X).encode(X, packed=True)
    assert codes.kernel_from_collisions(0, A) < 0


# ---- files ---------------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path):
    X = random_csr(n_rows=41)
    A = MinHash(n_hashes=20, bits=3, random_state=0).fit(X).encode(X, packed=True)
    A.save(tmp_path / "codes.npy")
    return A, tmp_path / "codes.npy"


@pytest.mark.parametrize("mmap_mode", ["r", None])
def test_save_and_load(saved, mmap_mode):
    A, path = saved
    B = PackedCodes.load(path, mmap_mode=mmap_mode)
    assert B.array.flags.writeable == (mmap_mode is None)
    for name in ("array", "sampled"):
        np.testing.assert_array_equal(getattr(B, name), getattr(A, name))
    assert (B.bits, B.n_hashes, B.config) == (A.bits, A.n_hashes, A.config)
    np.testing.assert_array_equal(codes.collisions(A, B), codes.collisions(A, A))
    np.testing.assert_array_equal(np.load(path), A.array)  # NumPy reads it too


def test_every_file_that_is_cut_short_is_refused(saved):
    _, path = saved
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"cut short|damaged"):
            PackedCodes.load(path)


WRONG = (None, -1, 1.5, 2**63, 10**30, "x", [], {}, [1])
MISSING = object()


def changed_descriptions(path):
    """The file with each part of its description in turn missing or replaced by what is wrong."""
    whole = path.read_bytes()
    n_text = int.from_bytes(whole[-16:-8], "little")
    front, text, magic = whole[: -16 - n_text], whole[-16 - n_text : -16], whole[-8:]

    def with_text(text):
        return front + text + len(text).to_bytes(8, "little") + magic

    def changed(keys, value):
        about = json.loads(text)
        part = about
        for key in keys[:-1]:
            part = part[key]
        if value is MISSING:
            del part[keys[-1]]
        else:
            part[keys[-1]] = value
        return with_text(json.dumps(about).encode())

    yield with_text(b"[" * 100_000)
    yield with_text(b"[]")
    for key in ("bits", "n_hashes", "shape", "config"):
        yield changed([key], MISSING)
        yield from (changed([key], wrong) for wrong in WRONG)
    for key in (0, 1):
        yield from (changed(["shape", key], wrong) for wrong in WRONG)
    yield from (changed(["config", "class"], wrong) for wrong in WRONG if wrong != "x")
    yield from (changed(["config", "parameters"], wrong) for wrong in WRONG if wrong != {})
    yield from (changed(["config", "scheme"], wrong) for wrong in WRONG)


def test_every_wrong_description_is_refused(saved):
    _, path = saved
    for content in list(changed_descriptions(path)):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"damaged|scheme"):
            PackedCodes.load(path)


def test_headers_that_are_wrong(saved):
    """NumPy's own header, a byte of it changed or missing: an error, or the same codes."""
    A, path = saved
    whole = path.read_bytes()
    for position in range(0, 128, 3):
        for new in (b"", b"\0", b"9", b"\xff"):
            path.write_bytes(whole[:position] + new + whole[position + 1 :])
            with contextlib.suppress(ValueError):
                np.testing.assert_array_equal(PackedCodes.load(path, mmap_mode=None).array, A.array)


def test_files_of_another_scheme(saved):
    A, path = saved
    A.config["scheme"] = 99
    A.save(path)
    with pytest.raises(ValueError, match=r"scheme 99 of random numbers; this version .* scheme 1"):
        PackedCodes.load(path)


def test_json(saved):
    A, _ = saved
    assert json.loads(json.dumps(A.config)) == A.config


X2 = np.array([[1.0, 2, 0], [0, 1, 1]])


def encode(new_map):
    return new_map.fit(X2).encode(X2, packed=True)


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        (MinHash(random_state=0), MinHash(random_state=1), "their seed are 0 and 1"),
        (MinHash(bits=4, random_state=0), MinHash(bits=8, random_state=0), "of the same map"),
        (MinHash(random_state=0), ConsistentWeightedSampling(random_state=0), "class are MinHash"),
        (
            RandomFourier(gamma=1.0, random_state=0),
            RandomFourier(gamma=2.0, random_state=0),
            "parameters are",
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
        (lambda A: PackedCodes(A.array, 8, {}, n_hashes=500), "n_hashes must be from 1 to 256"),
        (lambda A: PackedCodes(A.array, 8, {}, sampled=[True]), r"sampled must be of shape \(2,\)"),
        (lambda A: codes.collisions(A, A, 4), "bits must be that of A, 8, got 4"),
        (lambda A: codes.collisions(A.array, A.array), "bits must be given where A is a plain"),
        (lambda A: codes.collisions(A, A.array[:, :9]), "rows of one length, got 256 and 9 bytes"),
        (lambda A: codes.kernel_from_collisions([300], A), "counts must be from 0 to n_hashes"),
        (lambda A: MinHash().fit(X2).encode(X2, packed=1), "packed must be True or False"),
        (lambda A: PackedCodes.load(__file__), "is no file of packed codes"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call(encode(MinHash(random_state=0)))
