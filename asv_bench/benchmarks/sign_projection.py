"""Sign projections against scikit-learn's stored Gaussian matrix, and a stored product."""

import numpy as np
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection

from sparsemaps import SignProjection

from .common import MapBenchmark, ratio

N_HASHES = 512


class Signs(MapBenchmark):
    params = (["W1", "W2", "W3", "W4", "W5"], [None, "rademacher"])
    param_names = ("workload", "distribution")

    def make(self, distribution):
        return SignProjection(n_hashes=N_HASHES, distribution=distribution, random_state=0)

    def setup(self, name, distribution):
        super().setup(name, distribution, dtype="float32")

    time_encode = MapBenchmark._time_encode
    peakmem_transform = MapBenchmark._peakmem_transform


class AgainstStoredMatrix(MapBenchmark):
    """The projections behind the signs, in float32: `encode` against each peer's product."""

    params = (["W1", "W2"],)
    rows = {"W1": 5_000, "W2": 5_000}  # noqa: RUF012

    def make(self):
        return SignProjection(n_hashes=N_HASHES, random_state=0)

    def setup(self, name):
        super().setup(name, dtype="float32")

    def ratio(self, peer):
        return ratio(lambda: peer(self.X), lambda: self.map.encode(self.X))

    def track_ratio_gaussian(self, name):
        peer = GaussianRandomProjection(N_HASHES, random_state=0).fit(self.X)
        peer.components_ = peer.components_.astype(np.float32)
        return self.ratio(peer.transform)

    def track_ratio_sparse(self, name):
        peer = SparseRandomProjection(N_HASHES, random_state=0, dense_output=True).fit(self.X)
        return self.ratio(peer.transform)

    def track_ratio_packbits(self, name):
        R = np.random.default_rng(0).normal(size=(self.X.shape[1], N_HASHES)).astype(np.float32)
        return self.ratio(lambda X: np.packbits(X @ R >= 0, axis=1))

    track_ratio_gaussian.unit = track_ratio_sparse.unit = "times faster"
    track_ratio_packbits.unit = "times faster"
