"""The exact kernel of pairs of rows, and what of it is remembered."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.rows import families

from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.kernels import min_max_kernel
from sparsemaps.neighbors import _exact
from sparsemaps.neighbors._exact import exact_pairs, remembered_kernel


def pairs_of(rng, n_rows, n_other, n):
    i, j = rng.integers(0, n_rows, n), rng.integers(0, n_other, n)
    order = np.lexsort((j, i))
    return i[order], j[order]


@pytest.mark.parametrize("bits", [4, 20])
def test_pairs_of_two_sets(bits):
    """Where few pairs are remembered, and where few are computed together."""
    X, Y = families(60), families(90)
    map = ConsistentWeightedSampling(random_state=0).fit(X)
    kernel = remembered_kernel(map, X, Y, bits)
    K = min_max_kernel(X, Y)
    rng = np.random.default_rng(SEED)
    for n in (0, 1, 1000, 1000):
        i, j = pairs_of(rng, 60, 90, n)
        np.testing.assert_array_equal(kernel(i, j), K[i, j])
        np.testing.assert_array_equal(exact_pairs(map, X, Y, i, j, call_entries=0), K[i, j])
    np.testing.assert_array_equal(kernel(np.zeros(3, int), np.arange(3)), K[0, :3])


@pytest.mark.parametrize("few", [0, 100])
@pytest.mark.parametrize("entries", [1, 200, 2**20])
def test_pairs_of_sets(entries, few, set_limits):
    """Zeros and values that cancel are no members, in whatever parts pairs are compared."""
    set_limits(_exact, _MERGED_ENTRIES=entries, _FEW_PAIRS=few)
    rng = np.random.default_rng(SEED)
    indptr = np.concatenate([[0, 0], np.sort(rng.integers(0, 900, 38)), [900]])
    values = rng.choice([-1.0, 0.0, 1.0, 2.5], 900)
    X = sp.csr_array((values, rng.integers(0, 40, 900), indptr), shape=(40, 50))
    members = [set(np.flatnonzero(row)) for row in X.toarray()]
    before = X.copy()
    i, j = pairs_of(rng, 40, 40, 500)
    expected = [len(members[a] & members[b]) / max(1, len(members[a] | members[b]))
                for a, b in zip(i, j, strict=True)]  # fmt: skip
    np.testing.assert_array_equal(exact_pairs(MinHash().fit(X), X, X, i, j), expected)
    np.testing.assert_array_equal(X.data, before.data)
    np.testing.assert_array_equal(X.indices, before.indices)


class Counted:
    """A map, and at once its law, whose kernel counts the values that it computes."""

    n_jobs, n_values, is_of_sets = None, 0, False

    @property
    def law(self):
        return self

    def exact_kernel(self, X, Y, n_jobs):
        self.n_values += X.shape[0] * Y.shape[0]
        return X.toarray() @ Y.toarray().T


def test_a_pair_is_computed_once():
    X = families(80)
    map = Counted()
    kernel = remembered_kernel(map, X, X)
    i, j = np.triu_indices(80, 1)
    first, n_first = kernel(i, j), map.n_values
    again = kernel(i[::2], j[::2])
    np.testing.assert_array_equal(first[::2], again)
    assert n_first >= len(i)
    # Few pairs share a place in the memory.
    assert map.n_values - n_first < 0.1 * n_first
