"""Packed codes and similar pairs on Dask: the same as on one machine."""

import re
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import families, random_csr
from dask_parts import (
    CWS,
    SAMPLED_MAPS,
    assert_pairs,
    in_blocks,
    pairs_in_parts,
    pairs_of_one_machine,
)
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone

import sparsemaps.dask as sd
from sparsemaps import ConsistentWeightedSampling, MinHash, RandomFourier, neighbors
from sparsemaps.codes import PackedCodes
from sparsemaps.dask import _similar_pairs
from sparsemaps.neighbors import _bands

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")

# Clusters that come and go leave sockets that Python warns of.
pytestmark = pytest.mark.filterwarnings("default")


# ---- packed codes --------------------------------------------------------------------------------


def test_packed_codes_are_those_of_one_machine(new_map):
    X = random_csr(23, 40, density=0.2)
    fitted = new_map().fit(X)
    blocks = da.from_array(sp.csr_matrix(X), chunks=(23, 40), asarray=False)
    if not fitted.has_codes:
        with pytest.raises(ValueError, match="has no codes"):
            sd.encode(fitted, blocks, packed=True)
        return
    try:
        expected = fitted.encode(X, packed=True)
    except ValueError as error:  # a density, which no configuration holds
        with pytest.raises(ValueError, match=re.escape(str(error))):
            sd.encode(fitted, blocks, packed=True)
        return
    codes = sd.encode(fitted, da.concatenate([blocks, blocks]), packed=True)
    assert repr(codes).startswith(f"DaskPackedCodes(46 rows of {expected.n_hashes} codes")
    with dask.config.set(scheduler="sync"):
        found = codes.compute()
    np.testing.assert_array_equal(found.array, np.concatenate([expected.array] * 2))
    np.testing.assert_array_equal(found.sampled, np.concatenate([expected.sampled] * 2))
    assert (found.bits, found.config) == (expected.bits, expected.config)
    assert found._facts() == expected._facts()


def test_packed_codes_that_are_persisted_or_of_unknown_length(inputs):
    X, _ = sd.read_svmlight(inputs, n_features=300, partition_bytes=999, count_rows=False)
    codes = sd.encode(CWS, X, packed=True)
    with pytest.raises(ValueError, match="codes must know the lengths of its blocks"):
        sd.similar_pairs(codes, 0.5)
    codes = codes.persist().compute_chunk_sizes()
    assert codes.shape == (201, 8)
    assert codes.sampled.chunks == codes.array.chunks[:1]
    expected = neighbors.similar_pairs(codes.compute(), 0.5)
    assert_pairs(sd.similar_pairs(codes, 0.5), expected)


def test_which_rows_have_samples_may_be_left_out():
    codes = np.ones((9, 4), np.uint8)
    codes[5] = 0
    packed = sd.DaskPackedCodes(da.from_array(codes, chunks=(4, 3)), 8, {})
    assert packed.n_hashes == 4
    assert packed.sampled.compute().tolist() == [True] * 5 + [False] + [True] * 3
    with pytest.raises(ValueError, match="sampled must be a Dask array of bool in the blocks"):
        sd.DaskPackedCodes(packed.array, 8, {}, sampled=np.ones(9, bool))
    with pytest.raises(ValueError, match="array must be a two-dimensional Dask array of uint8"):
        sd.DaskPackedCodes(codes, 8, {})


# ---- similar pairs -------------------------------------------------------------------------------


def codes_with_copies(n_rows=4000, n_bytes=32, seed=0):
    """Random codes; some rows resemble others, and some are empty."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 256, (n_rows, n_bytes), dtype=np.uint8)
    for _ in range(n_rows // 5):
        i, j = rng.integers(0, n_rows, 2)
        codes[j] = np.where(rng.random(n_bytes) < rng.choice([0.5, 0.8, 0.95]), codes[i], codes[j])
    codes[::100] = 0
    return codes


@pytest.mark.parametrize("chunks", [4000, 900, (0, 1000, 0, 3000)])
@pytest.mark.parametrize(("bits", "recall"), [(8, 0.9), (4, 0.99), (8, 1.0)])
def test_pairs_are_those_of_one_machine(chunks, bits, recall):
    codes = codes_with_copies()
    options = {"bits": bits, "recall": recall}
    expected = neighbors.similar_pairs(codes, 0.7, **options)
    chunked = da.from_array(codes, chunks=(chunks, 20))
    assert_pairs(sd.similar_pairs(chunked, 0.7, **options), expected)
    found = pairs_in_parts(chunked, 0.7, hashed=False, part_rows=1700, **options)
    assert_pairs(found, expected)


@pytest.mark.parametrize("hashed", [False, True])
@pytest.mark.parametrize("map", SAMPLED_MAPS, ids=str)
def test_pairs_of_each_map(hashed, map):
    """Within a set and between two, from packed codes; the estimate is that of the map."""
    pairs = partial(pairs_in_parts, hashed=hashed)
    X = families(700)
    fitted = clone(map).fit(X)
    A, B = fitted.encode(X[:500], packed=True), fitted.encode(X[400:], packed=True)
    rows = [
        da.from_array(sp.csr_matrix(block), chunks=block.shape, asarray=False)
        for block in (X[:70], X[70:400], X[400:500], X[500:])
    ]
    codes = sd.encode(fitted, da.concatenate(rows[:3]), packed=True)
    other = sd.encode(fitted, da.concatenate(rows[2:]), packed=True)
    expected = pairs_of_one_machine(A, 0.8, hashed=hashed)
    assert len(expected[0]) > 20
    assert_pairs(pairs(codes, 0.8), expected)
    expected = pairs_of_one_machine(A, 0.8, hashed=hashed, other=B, recall=0.8)
    assert len(expected[0]) > 20
    assert_pairs(pairs(codes, 0.8, other=other, recall=0.8), expected)
    if map is SAMPLED_MAPS[0]:  # one of the two may be the plain array
        assert_pairs(pairs(codes, 0.8, other=other.array, recall=0.8), expected)
        assert_pairs(pairs(codes.array, 0.8, other=other, recall=0.8), expected)


@pytest.mark.parametrize("hashed", [False, True])
@pytest.mark.parametrize("max_bucket", [1, 3, 20, 1000])
def test_copies_are_paired_as_on_one_machine(hashed, max_bucket):
    """Many rows with the same codes, in all blocks; empty ones are nobody's neighbours."""
    options = {"hashed": hashed, "max_bucket": max_bucket}
    X = families(100)
    rng = np.random.default_rng(0)
    X = X[np.concatenate([rng.integers(0, 100, 900), np.full(200, 3), [4] * 40, [57] * 60])]
    A = MinHash(n_hashes=64, random_state=0).fit(X).encode(X, packed=True)
    A = A[rng.permutation(len(A))]
    assert (~A.sampled).sum() > 60
    codes = in_blocks(A, 300, 1, 0, 500, 399)
    expected = pairs_of_one_machine(A, 0.7, **options)
    assert_pairs(pairs_in_parts(codes, 0.7, **options), expected)
    expected = pairs_of_one_machine(A[:700], 0.7, other=A[700:], **options)
    found = pairs_in_parts(
        in_blocks(A[:700], 300, 400), 0.7, other=in_blocks(A[700:], 499, 1), **options
    )
    assert_pairs(found, expected)


def test_bands_are_used_and_those_of_one_machine(monkeypatch):
    """Also where the codes are so many that rows are copied before they are compared."""
    codes = codes_with_copies()
    chosen = set()
    for largest in (2**27, 0):
        monkeypatch.setattr(_bands, "LARGEST_IN_PLACE", largest)
        for threshold in (0.5, 0.6, 0.7, 0.8):
            blocks = da.from_array(codes, chunks=(900, 32))
            _, plan = _similar_pairs.make_plan(blocks, threshold, bits=8)
            n_agreeing = plan.known.n_hashes - plan.max_differing
            expected = _bands.choose_bands(PackedCodes(codes, 8, {}), None, n_agreeing, 0.95)
            assert plan.bands == expected
            assert plan.bands is not None or threshold < 0.7
            chosen.add((threshold, plan.bands))
    assert len(chosen) > 4  # so that it matters whether rows are copied


def test_rates_that_bands_are_chosen_by(monkeypatch):
    """They are those of one machine, within a set and between two."""
    rates = []
    of_samples = _bands.rates_of

    def recorded(one, two):
        rates.append(of_samples(one, two))
        return rates[-1]

    monkeypatch.setattr(_bands, "rates_of", recorded)
    codes = np.random.default_rng(0).integers(0, 2, (3000, 8), np.uint8)
    for sets in ([codes], [codes[1000:], codes[:1000]]):
        known = [PackedCodes(rows, 8, {}) for rows in sets]
        blocks = [da.from_array(rows, chunks=(900, 8)) for rows in sets]
        _similar_pairs.make_plan(blocks[0], 0.9, bits=8, other=(*blocks, None)[1])
        _bands.choose_bands(known[0], (*known, None)[1], 7, 0.95)
        np.testing.assert_array_equal(*rates[-2:])
        assert len(np.unique(rates[-1])) > 1
    assert len(rates) == 4


def test_pairs_of_few_rows():
    for n_rows in (0, 1, 2):
        codes = da.from_array(np.ones((n_rows, 16), np.uint8), chunks=1)
        found = dask.compute(*sd.similar_pairs(codes, 0.7, bits=8))
        assert [len(array) for array in found] == [n_rows // 2] * 3


def test_codes_that_do_not_compare():
    X = da.ones((9, 5), chunks=(4, 5))
    codes = sd.encode(CWS, X, packed=True)
    another = ConsistentWeightedSampling(n_hashes=16, bits=4, random_state=1)
    with pytest.raises(ValueError, match=r"codes and other must be codes of the same map: .* seed"):
        sd.similar_pairs(codes, 0.5, other=sd.encode(another, X, packed=True))
    with pytest.raises(ValueError, match="rows of one length, got 8 and 16 bytes"):
        sd.similar_pairs(codes, 0.5, other=da.zeros((3, 16), dtype=np.uint8))
    with pytest.raises(ValueError, match="bits must be that of codes, 4, got 8"):
        sd.similar_pairs(codes, 0.5, bits=8)
    with pytest.raises(ValueError, match="other must be a two-dimensional Dask array"):
        sd.similar_pairs(codes, 0.5, other=np.zeros((3, 8), np.uint8))
    cauchy = RandomFourier(n_components=64, kernel="cauchy", random_state=0)
    with pytest.raises(ValueError, match="these codes have no estimate"):
        sd.similar_pairs(sd.encode(cauchy, X, packed=True), 0.5)


def test_many_copies_are_bounded():
    codes = np.full((700, 32), 7, np.uint8)
    chunked = da.from_array(codes, chunks=(300, 32))
    i, j, _ = dask.compute(*sd.similar_pairs(chunked, 0.7, bits=8, max_bucket=10))
    if len(i) < 700 * 699 // 2:  # where rows are hashed
        assert len(i) <= 10 * 700
    n_components, _ = connected_components(sp.coo_array((i >= 0, (i, j)), shape=(700, 700)))
    assert n_components == 1


def test_bad_codes():
    codes = da.zeros((9, 4), dtype=np.uint8)
    for arguments, message in [
        ({"bits": None}, "bits must be given where codes is a plain array"),
        ({"codes": codes.compute()}, "two-dimensional Dask array of uint8"),
        ({"codes": codes.astype(float)}, "two-dimensional Dask array of uint8"),
        ({"codes": codes[codes[:, 0] == 0]}, "must know the lengths of its blocks"),
        ({"threshold": 0}, "threshold must be a finite number above 0"),
        ({"threshold": 1.1}, "threshold must be above 0 and at most 1"),
        ({"bits": 0}, "bits must be from 1"),
        ({"codes": codes[:, :1], "bits": 13}, "bits must be at most 8, those of a row of codes"),
        ({"n_hashes": 5}, "n_hashes must be from 1 to 4"),
        ({"recall": 2}, "recall must be above 0 and at most 1"),
        ({"max_bucket": 0}, "max_bucket must be from 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            sd.similar_pairs(**{"codes": codes, "threshold": 0.5, "bits": 8, **arguments})
