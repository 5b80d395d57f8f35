"""Consistent weighted sampling against datasketch's weighted minhash."""

from functools import lru_cache

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
