"""The exact kernel of pairs of rows, and what of it is remembered."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.rows import families

from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.kernels import min_max_kernel
from sparsemaps.neighbors import _exact
from sparsemaps.neighbors._exact import ExactKernel


def pairs_of(rng, n_rows, n_other, n):
    i, j = rng.integers(0, n_rows, n), rng.integers(0, n_other, n)
    order = np.lexsort((j, i))
    return i[order], j[order]


@pytest.mark.parametrize("entries", [0, 2**16])
@pytest.mark.parametrize("bits", [4, 20])
def test_pairs_of_two_sets(monkeypatch, bits, entries):
    """Where few pairs are computed together, and where few are remembered."""
    monkeypatch.setattr(_exact, "_CALL_ENTRIES", entries)
    monkeypatch.setattr(_exact, "_REMEMBERED_BITS", bits)
    X, Y = families(60), families(90)
    kernel = ExactKernel(ConsistentWeightedSampling(random_state=0).fit(X), X, Y)
    K = min_max_kernel(X, Y)
    rng = np.random.default_rng(0)
    for n in (0, 1, 1000, 1000):
        i, j = pairs_of(rng, 60, 90, n)
        np.testing.assert_array_equal(kernel(i, j), K[i, j])
    np.testing.assert_array_equal(kernel(np.zeros(3, int), np.arange(3)), K[0, :3])


def test_a_pair_is_computed_once(monkeypatch):
    X = sp.csr_array(families(80))
    kernel = ExactKernel(MinHash(random_state=0).fit(X), X, X)
    i, j = np.triu_indices(80, 1)
    computed = []
    before = _exact.exact_pairs
    monkeypatch.setattr(
        _exact, "exact_pairs", lambda *given: (computed.append(len(given[3])), before(*given))[1]
    )
    first = kernel(i, j)
    again = kernel(i[::2], j[::2])
    np.testing.assert_array_equal(first[::2], again)
    assert computed[0] == len(i)
    assert computed[1] < 0.01 * len(i)  # of those that share a place in the memory
