"""Time of each map as a function of rows, entries and components, and the cost of a single row.

docs/at_scale.md has the formulas that these times follow.
"""

from functools import partial

import numpy as np
import scipy.sparse as sp
from sklearn.kernel_approximation import PolynomialCountSketch, RBFSampler
from sklearn.random_projection import GaussianRandomProjection

import sparsemaps

from .common import fastest, ratio, workload


def _new(name, n, **parameters):
    new = getattr(sparsemaps, name)(**parameters, random_state=0)
    new.set_size(n)
    return new


MAPS = {name: partial(_new, name) for name in sparsemaps._MAPS if name != "KernelProduct"}
MAPS["Fastfood"] = partial(_new, "Fastfood", hash_dim=1024)
MAPS["levels"] = partial(_new, "ConsistentWeightedSampling", method="levels")
MAPS["rademacher"] = partial(_new, "SignProjection", distribution="rademacher")

PEERS = {
    "RandomFourier": lambda n: RBFSampler(n_components=n, random_state=0),
    "TensorSketch": lambda n: PolynomialCountSketch(n_components=n, random_state=0),
    "SignProjection": lambda n: GaussianRandomProjection(n_components=n, random_state=0),
}

N_CALLS = 20
"""Number of consecutive calls for a single row, as in a service."""


def rows_of_their_own(n_rows, n_entries, width=2**31 - 1):
    """Rows that share almost no columns."""
    rng = np.random.default_rng(0)
    columns = np.sort(rng.integers(0, width, (n_rows, n_entries)), axis=1)
    values = rng.gamma(1.0, size=columns.size).astype(np.float32)
    ends = np.arange(n_rows + 1) * n_entries
    X = sp.csr_array((values, columns.ravel(), ends), (n_rows, width))
    X.sum_duplicates()
    return X


class _Growth:
    timeout = 600

    def prepare(self, name, n_rows, n_entries, n_components):
        self.X = rows_of_their_own(n_rows, n_entries)
        self.map = MAPS[name](n_components).fit(self.X)

    def time_transform(self, *_):
        self.map.transform(self.X)


class Rows(_Growth):
    """Rows of 10 entries each, 64 components. Memory must grow only with input and output."""

    params = ([10**3, 10**4, 10**5, 10**6], list(MAPS))
    param_names = ("rows", "map")

    def setup(self, n_rows, name):
        self.prepare(name, n_rows, 10, 64)

    def peakmem_transform(self, *_):
        self.map.transform(self.X)


class Entries(_Growth):
    """Entries per row, 100,000 in all, 64 components."""

    params = ([10, 10**2, 10**3, 10**4], list(MAPS))
    param_names = ("entries of a row", "map")

    def setup(self, n_entries, name):
        self.prepare(name, 10**5 // n_entries, n_entries, 64)


class Components(_Growth):
    """Rows of 100 entries, about four million components in all."""

    params = ([2**6, 2**8, 2**10, 2**12, 2**14, 2**16], list(MAPS))
    param_names = ("components", "map")

    def setup(self, n_components, name):
        self.prepare(name, min(1000, 2**22 // n_components), 100, n_components)


class OneRow:
    """A single row of text, as an online service maps it: microseconds in addition to the cost of a
    row among 200 that share no columns."""

    params = (["W1", "W2"], list(MAPS))
    param_names = ("workload", "map")
    unit = "microseconds"

    def setup(self, workload_name, name):
        X = workload(workload_name, 200).astype(np.float32)
        # Move each row's columns to a separate range.
        rows = np.repeat(np.arange(200), np.diff(X.indptr))
        columns = X.indices + rows * np.int64(X.shape[1])
        self.many = sp.csr_array((X.data, columns, X.indptr), (200, 200 * X.shape[1]))
        self.one = X[:1]
        self.map_of_many = MAPS[name](512).fit(self.many)
        self.map_of_one = MAPS[name](512).fit(self.one)

    def ones(self):
        for _ in range(N_CALLS):
            self.map_of_one.transform(self.one)

    def track_beyond_one_of_many(self, *_):
        ones, many = fastest(self.ones, lambda: self.map_of_many.transform(self.many))
        return 1e6 * (ones / N_CALLS - many / 200)

    track_beyond_one_of_many.unit = unit


class OneRowAgainstPeers:
    """`transform` of a single row, 512 components, against the peer with such features."""

    params = (["W1", "W2"], list(PEERS))
    param_names = ("workload", "map")

    def setup(self, workload_name, name):
        X = workload(workload_name, 200).astype(np.float32)
        self.one = X[:1]
        self.map = MAPS[name](512).fit(X)
        self.peer = PEERS[name](512).fit(X)

    def track_ratio_transform(self, *_):
        return ratio(lambda: self.peer.transform(self.one), lambda: self.map.transform(self.one))

    track_ratio_transform.unit = "times faster"


class Family:
    """A family of near copies: codes of texts of 60 words with one word replaced. Nearly all pairs
    are similar, but the time must grow with the rows, not with the pairs."""

    params = (12_500, 50_000, 200_000)
    param_names = ("n_rows",)
    timeout = 600

    def setup(self, n_rows):
        rng = np.random.default_rng(0)
        words = np.arange(60)[None, :].repeat(n_rows, axis=0)
        words[np.arange(n_rows), rng.integers(0, 60, n_rows)] = rng.integers(60, 2**20, n_rows)
        runs = np.zeros((n_rows, 56), np.uint64)
        for place in range(5):
            runs = runs * np.uint64(2**20 + 7) + words[:, place : place + 56].astype(np.uint64)
        columns = np.sort((runs % np.uint64(2**31 - 1)).astype(np.int64), axis=1)
        X = sp.csr_array((np.ones(columns.size), columns.ravel(), np.arange(n_rows + 1) * 56),
                         (n_rows, 2**31 - 1))  # fmt: skip
        X.sum_duplicates()
        self.codes = sparsemaps.MinHash(random_state=0).fit(X).encode(X, packed=True)

    def time_search(self, n_rows):
        sparsemaps.neighbors.removals(self.codes, 0.8)

    peakmem_search = time_search
