"""Random binning: no other library supports sparse rows, so its peer is our own Laplacian map."""

from sparsemaps import RandomBinning, RandomFourier

from .common import MapBenchmark, ratio

N_GRIDS = 256


class Binning(MapBenchmark):
    params = (["W1", "W2", "W3", "W4", "W5"],)

    def make(self):
        return RandomBinning(n_grids=N_GRIDS, random_state=0)

    time_transform = MapBenchmark._time_transform
    time_encode = MapBenchmark._time_encode
    peakmem_transform = MapBenchmark._peakmem_transform


class AgainstFourier(MapBenchmark):
    """The same kernel with as many dense features."""

    params = (["W1", "W2"],)
    make = Binning.make

    def track_ratio_transform(self, *_):
        peer = RandomFourier(kernel="laplacian", n_components=N_GRIDS, random_state=0).fit(self.X)
        return ratio(lambda: peer.transform(self.X), lambda: self.map.transform(self.X))

    track_ratio_transform.unit = "times faster"
