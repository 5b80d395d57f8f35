"""Count sketch against the product with a stored sparse sketching matrix."""

from functools import lru_cache

import numpy as np
import scipy.sparse as sp

from sparsemaps import CountSketch

from .common import MapBenchmark, ratio

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

    track_ratio_transform.unit = "times faster"
