"""Consistent weighted sampling against datasketch's weighted minhash, and its methods compared."""

from functools import lru_cache

import numpy as np
import scipy.sparse as sp

from sparsemaps import ConsistentWeightedSampling, MinHash

from .common import MapBenchmark, ratio, workload

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


class LevelsAgainstIcws(MapBenchmark):
    """Real values, with enough levels that the rounding error is a tenth of the error of 512
    samples. Below 1, "icws" is faster. Rows share their columns ("shared") or have disjoint
    ones."""

    params = ([30, 100, 300, 1_000, 3_000], [64, 512], ["shared", "own"])
    param_names = ("entries", "n_hashes", "columns")
    resolution = {30: 64, 100: 16, 300: 16, 1_000: 8, 3_000: 4}  # noqa: RUF012

    def setup(self, n_entries, n_hashes, columns):
        rng = np.random.default_rng(0)
        n_rows = max(4, 20_000 // n_entries)
        width = 2 * n_entries if columns == "shared" else 2**40
        indices = np.sort(rng.integers(0, width, (n_rows, n_entries)), axis=1)
        values = rng.gamma(0.7, size=indices.size)
        indptr = np.arange(n_rows + 1) * n_entries
        self.X = sp.csr_array((values, indices.ravel(), indptr), (n_rows, width))
        self.X.sum_duplicates()
        levels = {"method": "levels", "resolution": self.resolution[n_entries]}
        self.maps = [
            ConsistentWeightedSampling(n_hashes=n_hashes, random_state=0, **parameters).fit(self.X)
            for parameters in ({}, levels)
        ]

    def track_ratio_encode(self, *_):
        icws, levels = self.maps
        return ratio(lambda: icws.encode(self.X), lambda: levels.encode(self.X))

    track_ratio_encode.unit = "times faster"


class LevelsAgainstOthers:
    """Counts with a given mean, or real values with a given number of levels per entry: "levels"
    against "icws", and against datasketch if memory allows."""

    # (workload, mean of counts), or None and levels per entry
    params = ([
        ("W1", 3, None), ("W1", 20, None), ("W2", 1.7, None), ("W2", None, 4),
        ("W3", 2, None), ("W3", 8, None), ("W3", None, 4), ("W3", None, 1_000),
    ],)  # fmt: skip
    param_names = ("workload, mean of counts, levels",)
    timeout = 600
    rows = {"W1": 2_000, "W2": 2_000, "W3": 12}  # noqa: RUF012

    def setup(self, case):
        name, mean, levels = case
        self.X = workload(name, self.rows[name]).copy()
        if mean is not None:
            self.X.data = np.random.default_rng(1).geometric(1 / mean, self.X.nnz).astype(float)
        self.levels = self.make(method="levels", resolution=levels or 1.0)

    def make(self, **parameters):
        cws = ConsistentWeightedSampling(n_hashes=N_HASHES, random_state=0, **parameters)
        return cws.fit(self.X)

    def time_encode(self, case):
        self.levels.encode(self.X)

    def track_ratio_icws(self, case):
        icws = self.make()
        return ratio(lambda: icws.encode(self.X), lambda: self.levels.encode(self.X))

    def track_ratio_datasketch(self, case):
        if case[0] == "W3":
            return float("nan")
        X, peer = self.X[:500], generator(self.X.shape[1])
        return ratio(lambda: peer.minhash_many(X), lambda: self.levels.encode(X))

    track_ratio_icws.unit = track_ratio_datasketch.unit = "times faster"


class LevelsOfBinaryRows:
    """Against MinHash, for sets of the given numbers of members."""

    params = ([20, 85, 300, 3_300, 26_000],)
    param_names = ("members",)

    def setup(self, n_members):
        rng = np.random.default_rng(0)
        n_rows = max(20, 200_000 // n_members)
        columns = np.sort(rng.integers(0, 2**31 - 1, (n_rows, n_members)), axis=1)
        indptr = np.arange(n_rows + 1) * n_members
        self.X = sp.csr_array((np.ones(columns.size), columns.ravel(), indptr), (n_rows, 2**31 - 1))
        self.X.sum_duplicates()
        self.levels, self.minhash = (
            random_map.fit(self.X)
            for random_map in (
                ConsistentWeightedSampling(n_hashes=N_HASHES, method="levels", random_state=0),
                MinHash(n_hashes=N_HASHES, random_state=0),
            )
        )

    def track_ratio_minhash(self, n_members):
        return ratio(lambda: self.minhash.encode(self.X), lambda: self.levels.encode(self.X))

    track_ratio_minhash.unit = "times faster"
