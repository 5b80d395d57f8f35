"""Consistent weighted sampling against datasketch's weighted minhash, and its methods compared."""

from functools import lru_cache

import numpy as np
import scipy.sparse as sp

from sparsemaps import ConsistentWeightedSampling

from .common import MapBenchmark, ratio

N_HASHES = 512


@lru_cache
def generator(n_columns):
    from datasketch import WeightedMinHashGenerator

    return WeightedMinHashGenerator(n_columns, sample_size=N_HASHES, seed=1)


class Icws(MapBenchmark):
    params = (["W1", "W2", "W3", "W4", "W5"],)
    rows = {"W1": 5_000, "W2": 5_000, "W3": 20, "W4": 2_500}  # noqa: RUF012

    def make(self):
        return ConsistentWeightedSampling(n_hashes=N_HASHES, random_state=0)

    time_transform = MapBenchmark._time_transform
    time_encode = MapBenchmark._time_encode
    peakmem_transform = MapBenchmark._peakmem_transform


class AgainstDatasketch(MapBenchmark):
    params = (["W1", "W2", "W5"],)
    rows = {"W1": 1_000, "W2": 500, "W5": 2_000}  # noqa: RUF012

    def make(self):
        return ConsistentWeightedSampling(n_hashes=N_HASHES, random_state=0)

    def track_ratio_encode(self, name):
        peer = generator(self.X.shape[1])
        return ratio(lambda: peer.minhash_many(self.X), lambda: self.map.encode(self.X))

    track_ratio_encode.unit = "times faster"


class Dart(Icws):
    def make(self):
        return super().make().set_params(method="dart")


class DartAgainstIcws(MapBenchmark):
    """Below 1 icws is faster: where it crosses 1 is where to change methods. Rows of so many
    entries share their columns ("shared"), or have each its own."""

    params = ([30, 100, 300, 1_000, 3_000], [64, 512], ["shared", "own"])
    param_names = ("entries", "n_hashes", "columns")

    def setup(self, n_entries, n_hashes, columns):
        rng = np.random.default_rng(0)
        n_rows = max(4, 20_000 // n_entries)
        width = 2 * n_entries if columns == "shared" else 2**40
        indices = np.sort(rng.integers(0, width, (n_rows, n_entries)), axis=1)
        values = rng.gamma(1.0, size=indices.size)
        indptr = np.arange(n_rows + 1) * n_entries
        self.X = sp.csr_array((values, indices.ravel(), indptr), (n_rows, width))
        self.X.sum_duplicates()
        self.maps = [
            ConsistentWeightedSampling(n_hashes=n_hashes, method=method, random_state=0).fit(self.X)
            for method in ("icws", "dart")
        ]

    def track_ratio_encode(self, *_):
        icws, dart = self.maps
        return ratio(lambda: icws.encode(self.X), lambda: dart.encode(self.X))

    track_ratio_encode.unit = "times faster"
