"""Count sketch against the product with a stored sparse sketching matrix."""

from functools import lru_cache

import numpy as np
import scipy.sparse as sp

from sparsemaps import CountSketch

from .common import MapBenchmark, fastest, ratio

N_COMPONENTS = 1024


@lru_cache
def sketching_matrix(n_columns):
    rng = np.random.default_rng(0)
    buckets = rng.integers(0, N_COMPONENTS, n_columns).astype(np.int32)
    signs = rng.choice([-1.0, 1.0], n_columns)
    indptr = np.arange(n_columns + 1, dtype=np.int32)
    return sp.csr_matrix((signs, buckets, indptr), shape=(n_columns, N_COMPONENTS))


class Dense(MapBenchmark):
    params = (["W1", "W2", "W3", "W4", "W5"],)

    def make(self):
        return CountSketch(n_components=N_COMPONENTS, dense_output=True, random_state=0)

    time_transform = MapBenchmark._time_transform
    peakmem_transform = MapBenchmark._peakmem_transform


class Sparse(Dense):
    def make(self):
        return CountSketch(n_components=N_COMPONENTS, random_state=0)


class AgainstMatrix(MapBenchmark):
    params = (["W1", "W2", "W3"],)

    def make(self):
        return CountSketch(n_components=N_COMPONENTS, dense_output=True, random_state=0)

    def track_ratio_transform(self, name):
        S = sketching_matrix(self.X.shape[1])
        return ratio(lambda: (self.X @ S).toarray(), lambda: self.map.transform(self.X))

    def track_ratio_zeros(self, name):
        """Against writing the same number of zeros, which bounds the ratio by 1."""
        zeros = self.map.transform(self.X[:1])
        shape = (self.X.shape[0], zeros.shape[1])
        return ratio(lambda: np.full(shape, 0, zeros.dtype), lambda: self.map.transform(self.X))

    track_ratio_transform.unit = track_ratio_zeros.unit = "times faster"


class SparseAgainstMatrix(MapBenchmark):
    """CSR output. The peer's rows have unsorted columns."""

    params = (["W1", "W2", "W5"],)

    def make(self):
        return CountSketch(n_components=N_COMPONENTS, random_state=0)

    def track_ratio_transform(self, name):
        S = sketching_matrix(self.X.shape[1])
        return ratio(lambda: self.X @ S, lambda: self.map.transform(self.X))

    track_ratio_transform.unit = "times faster"


class Unsorted(MapBenchmark):
    """Rows with columns in descending or random order, against sorting them with SciPy first."""

    params = (["W1", "W2"], ["descending", "random"])
    param_names = ("workload", "order")

    def make(self, order):
        return CountSketch(n_components=64, dense_output=True, random_state=0)

    def setup(self, name, order):
        super().setup(name, order)
        rng = np.random.default_rng(0)
        X = self.X.copy()
        for row, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
            n = end - row
            places = row + (rng.permutation(n) if order == "random" else np.arange(n)[::-1])
            X.indices[row:end], X.data[row:end] = X.indices[places], X.data[places]
        self.unsorted = X

    def sort_and_transform(self):
        X = self.unsorted
        X = sp.csr_matrix((X.data, X.indices, X.indptr), X.shape, copy=True)
        X.sum_duplicates()
        self.map.transform(X)

    def track_nanoseconds_beyond_sorted(self, *_):
        of_sorted, of_unsorted = fastest(
            lambda: self.map.transform(self.X), lambda: self.map.transform(self.unsorted)
        )
        return (of_unsorted - of_sorted) / self.X.nnz * 1e9

    def track_ratio_transform(self, *_):
        return ratio(self.sort_and_transform, lambda: self.map.transform(self.unsorted))

    track_nanoseconds_beyond_sorted.unit = "nanoseconds an entry"
    track_ratio_transform.unit = "times faster"
