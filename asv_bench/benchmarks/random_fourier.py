"""Random Fourier features against scikit-learn's RBFSampler, which uses the form with an offset."""

import numpy as np
from sklearn.kernel_approximation import RBFSampler

from sparsemaps import RandomFourier

from .common import MapBenchmark, ratio

N_COMPONENTS = 512


class Fourier(MapBenchmark):
    params = (["W1", "W2", "W3", "W4", "W5"], ["float32"])
    param_names = ("workload", "dtype")

    def make(self):
        return RandomFourier(n_components=N_COMPONENTS, random_state=0)

    def setup(self, name, dtype):
        super().setup(name, dtype=dtype)

    time_transform = MapBenchmark._time_transform
    peakmem_transform = MapBenchmark._peakmem_transform


class AgainstRBFSampler(MapBenchmark):
    params = (["W1", "W2"], ["float32", "float64"])
    param_names = ("workload", "dtype")
    rows = {"W1": 5_000, "W2": 5_000}  # noqa: RUF012
    make = Fourier.make

    def setup(self, name, dtype):
        super().setup(name, dtype=dtype)

    def track_ratio_transform(self, *_):
        peer = RBFSampler(n_components=N_COMPONENTS, random_state=0).fit(self.X)
        return ratio(lambda: peer.transform(self.X), lambda: self.map.transform(self.X))

    track_ratio_transform.unit = "times faster"


def log_odds(probability):
    """Quantiles of the logistic distribution."""
    return np.log(probability / (1 - probability))


class Spectrum(Fourier):
    def make(self):
        return RandomFourier(spectrum=log_odds, n_components=N_COMPONENTS, random_state=0)

    def track_ratio_gaussian(self, *_):
        """Numbers from a table against normal numbers."""
        peer = Fourier.make(self).fit(self.X)
        return ratio(lambda: peer.transform(self.X), lambda: self.map.transform(self.X))

    track_ratio_gaussian.unit = "times faster"
