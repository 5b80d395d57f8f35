"""Random projections against scikit-learn's, which store their matrices."""

import numpy as np
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection

from sparsemaps import RandomProjection

from .common import MapBenchmark, ratio

N_COMPONENTS = 512


class Projection(MapBenchmark):
    """For W3, scikit-learn's Gaussian matrix would take 34 GB."""

    params = (["W1", "W2", "W3", "W4", "W5"], ["gaussian", "rademacher", "cauchy"])
    param_names = ("workload", "distribution")

    def make(self, distribution):
        return RandomProjection(
            n_components=N_COMPONENTS, distribution=distribution, random_state=0
        )

    def setup(self, name, distribution):
        super().setup(name, distribution, dtype="float32")

    time_transform = MapBenchmark._time_transform
    peakmem_transform = MapBenchmark._peakmem_transform


class AgainstStoredMatrix(MapBenchmark):
    """By fitted peers, to float32: their matrices are made before. `fit` is where the peer draws
    them: together with it, as for data that are mapped once."""

    params = (["W1", "W2"],)

    def make(self):
        return RandomProjection(n_components=N_COMPONENTS, random_state=0)

    def setup(self, name):
        super().setup(name, dtype="float32")

    def track_ratio_gaussian(self, name):
        peer = GaussianRandomProjection(N_COMPONENTS, random_state=0).fit(self.X)
        peer.components_ = peer.components_.astype(np.float32)
        return ratio(lambda: peer.transform(self.X), lambda: self.map.transform(self.X))

    def track_ratio_gaussian_with_fit(self, name):
        peer = GaussianRandomProjection(N_COMPONENTS, random_state=0)
        return ratio(lambda: peer.fit_transform(self.X), lambda: self.map.fit_transform(self.X))

    def track_ratio_sparse(self, name):
        peer = SparseRandomProjection(N_COMPONENTS, random_state=0, dense_output=True).fit(self.X)
        return ratio(lambda: peer.transform(self.X), lambda: self.map.transform(self.X))

    def track_ratio_sparse_of_signs(self, name):
        peer = SparseRandomProjection(N_COMPONENTS, random_state=0, dense_output=True).fit(self.X)
        signs = self.map.set_params(distribution="rademacher").fit(self.X)
        return ratio(lambda: peer.transform(self.X), lambda: signs.transform(self.X))

    track_ratio_gaussian.unit = track_ratio_sparse.unit = "times faster"
    track_ratio_gaussian_with_fit.unit = track_ratio_sparse_of_signs.unit = "times faster"


class AgainstSparseMatrix(AgainstStoredMatrix):
    """For W3, only the sparse matrix can be stored: 2 million entries of 8.5 billion."""

    params = (["W3"],)

    def track_ratio_gaussian(self, name):
        raise NotImplementedError

    track_ratio_gaussian_with_fit = track_ratio_gaussian
