"""Fastfood against a dense Gaussian matrix times one vector, and against scikit-learn-extra's."""

import numpy as np

from sparsemaps import Fastfood
from sparsemaps._loops import maps as kernel

from .common import MapBenchmark, ratio


class Features(MapBenchmark):
    params = (["W1", "W4", "W5"], ["hadamard", "fft", "orthogonal"])
    param_names = ("workload", "transform_type")

    def make(self, transform_type):
        return Fastfood(n_components=1024, transform_type=transform_type, random_state=0)

    time_transform = MapBenchmark._time_transform
    peakmem_transform = MapBenchmark._peakmem_transform


class OrthogonalAgainstHadamard(MapBenchmark):
    """Three transforms instead of two and a permutation."""

    params = (["W1", "W4"], ["float32", "float64"])
    param_names = ("workload", "dtype")

    def make(self, dtype):
        return Fastfood(n_components=1024, transform_type="orthogonal", random_state=0)

    def setup(self, name, dtype):
        super().setup(name, dtype, dtype=dtype)

    def track_ratio_transform(self, *_):
        peer = Fastfood(n_components=1024, random_state=0).fit(self.X)
        return ratio(lambda: peer.transform(self.X), lambda: self.map.transform(self.X))

    track_ratio_transform.unit = "times faster"


N_CALLS = 20
"""Number of consecutive calls for one vector, as in a service. Each matrix product of the peer
evicts the caches, so Python's code would be reloaded for every call."""


class OneVector:
    """As many projections as the matrix has rows. Python's overhead dominates a call."""

    params = ([(1024, 16384), (4096, 32768), (8192, 65536)],)
    param_names = ("size",)

    def setup(self, size):
        width, n = size
        rng = np.random.default_rng(0)
        self.x = rng.random((1, width), np.float32)
        self.matrix = rng.standard_normal((n, width), np.float32)
        self.map = Fastfood(n_components=2 * n, random_state=0).fit(self.x)

    def dense(self):
        return self.matrix @ self.x[0]

    def calls(self):
        for _ in range(N_CALLS):
            self.map.transform(self.x)

    def track_ratio_call(self, size):
        return N_CALLS * ratio(self.dense, self.calls)

    def track_ratio_products(self, size):
        return ratio(self.dense, lambda: self.map.draw.blocks.multiply(self.x))

    def track_ratio_parameters(self, size):
        blocks = self.map.draw.blocks
        arrays = (array for array in vars(blocks).values() if isinstance(array, np.ndarray))
        return self.matrix.nbytes / sum(array.nbytes for array in arrays)

    track_ratio_call.unit = track_ratio_products.unit = "times faster"
    track_ratio_parameters.unit = "times smaller"


class AgainstScikitLearnExtra(MapBenchmark):
    params = (["W4"],)

    def make(self):
        return Fastfood(n_components=1024, random_state=0)

    def setup(self, name):
        try:
            from sklearn_extra.kernel_approximation import Fastfood as Peer
        except Exception as error:  # not installed, or incompatible with this NumPy
            raise NotImplementedError from error
        super().setup(name)
        self.dense = self.X.toarray()
        self.peer = Peer(n_components=1024, random_state=0).fit(self.dense)

    def track_ratio_transform(self, *_):
        return ratio(
            lambda: self.peer.transform(self.dense), lambda: self.map.transform(self.dense)
        )

    track_ratio_transform.unit = "times faster"


class WalshHadamard:
    """In-place transforms of rows, in copies of the same rows."""

    params = ([10, 14], ["float32", "float64"])
    param_names = ("log_size", "dtype")

    def setup(self, log_size, dtype):
        self.rows = np.zeros((2 ** (14 - log_size), 2**log_size), dtype)
        self.copy = self.rows.copy()

    def time_transform(self, *_):
        kernel.walsh_hadamard(self.rows)

    def track_ratio_copy(self, *_):
        """Below 1: the time of a transform in copies of rows."""
        return ratio(
            lambda: np.copyto(self.copy, self.rows), lambda: kernel.walsh_hadamard(self.rows)
        )

    track_ratio_copy.unit = "copies"
