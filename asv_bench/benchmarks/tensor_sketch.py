"""Tensor sketch against scikit-learn's PolynomialCountSketch, which always computes in float64."""

import numpy as np
from sklearn.kernel_approximation import PolynomialCountSketch
from sklearn.preprocessing import normalize

from sparsemaps import RandomMaclaurin, TensorSketch

from .common import MapBenchmark, fastest, ratio, workload

N_COMPONENTS = 1024


class Dense(MapBenchmark):
    params = (["W1", "W2", "W3", "W4", "W5"],)

    def make(self):
        return TensorSketch(n_components=N_COMPONENTS, random_state=0)

    time_transform = MapBenchmark._time_transform
    peakmem_transform = MapBenchmark._peakmem_transform


class Sparse(Dense):
    params = (["W2", "W5"],)

    def make(self):
        return super().make().set_params(dense_output=False)


class AgainstScikitLearn(MapBenchmark):
    """Fewer rows, since scikit-learn holds (degree, rows, n_components) complex numbers."""

    params = (["W1", "W4", "W5"], [2, 4])
    param_names = ("workload", "degree")
    rows = {"W1": 2_000, "W2": 1_000, "W4": 2_000, "W5": 10_000}  # noqa: RUF012
    dtype = "float64"

    def make(self, degree):
        return TensorSketch(degree=degree, n_components=N_COMPONENTS, random_state=0)

    def setup(self, name, degree):
        super().setup(name, degree, dtype=self.dtype)
        self.peer = PolynomialCountSketch(
            degree=degree, n_components=N_COMPONENTS, random_state=0
        ).fit(self.X)

    def track_ratio_transform(self, *_):
        return ratio(lambda: self.peer.transform(self.X), lambda: self.map.transform(self.X))

    track_ratio_transform.unit = "times faster"


class Peer(MapBenchmark):
    params = (["W1", "W2", "W4", "W5"],)
    rows = {**MapBenchmark.rows, "W2": 500}  # noqa: RUF012

    def make(self):
        return PolynomialCountSketch(degree=2, n_components=N_COMPONENTS, random_state=0)

    peakmem_transform = MapBenchmark._peakmem_transform


class AgainstScikitLearnFloat32(AgainstScikitLearn):
    params = (["W1"], [2])
    dtype = "float32"


class AgainstScikitLearnWide(AgainstScikitLearn):
    """scikit-learn loops over the columns in Python, which takes seconds even for few rows."""

    params = (["W2"], [2])


class AgainstFilling(MapBenchmark):
    """Rows of few entries: against filling a newly allocated output of the same size."""

    params = (["W5"], ["float32", "float64"])
    param_names = ("workload", "dtype")

    def make(self, dtype):
        return TensorSketch(n_components=N_COMPONENTS, random_state=0)

    def setup(self, name, dtype):
        super().setup(name, dtype, dtype=dtype)

    def track_ratio_filling(self, _, dtype):
        shape = (self.X.shape[0], N_COMPONENTS)
        return ratio(lambda: np.full(shape, 1, dtype), lambda: self.map.transform(self.X))

    track_ratio_filling.unit = "times faster"


class SeriesAgainstMaclaurin(MapBenchmark):
    """The kernel exp of inner products, for rows of unit length: the error of RandomMaclaurin
    relative to the error of the sketch, with the components that it makes in the same time, and
    with the same number.

    Errors are of kernel values of pairs of rows, over seeds.
    """

    params = (["W1", "W2", "W3", "W4", "W5"], [1.0, 4.0])
    param_names = ("workload", "gamma")
    n_pairs, n_seeds = 60, 5

    def make(self, gamma):
        return TensorSketch(kernel="exp", gamma=gamma, n_components=N_COMPONENTS, random_state=0)

    def setup(self, name, gamma):
        self.X = normalize(workload(name, self.rows.get(name)))
        self.map = self.make(gamma).fit(self.X)
        self.peer = RandomMaclaurin(
            kernel="exp", gamma=gamma, n_components=N_COMPONENTS, random_state=0
        ).fit(self.X)
        of_peer, of_ours = fastest(
            lambda: self.peer.transform(self.X), lambda: self.map.transform(self.X)
        )
        self.equal = max(1, round(N_COMPONENTS * of_ours / of_peer))

    def error(self, features):
        """Return the root mean square error over pairs of some rows and over seeds."""
        rows = self.X[: self.n_pairs]
        exact = features.exact_kernel(rows)
        squares = []
        for seed in range(self.n_seeds):
            Z = features.set_params(random_state=seed).fit(rows).transform(rows)
            squares.append((Z @ Z.T - exact)[np.triu_indices(len(exact), 1)] ** 2)
        return np.sqrt(np.mean(squares))

    def track_components_at_equal_time(self, *_):
        return self.equal

    def track_ratio_of_errors_at_equal_time(self, *_):
        return self.error(self.peer.set_params(n_components=self.equal)) / self.error(self.map)

    def track_ratio_of_errors_at_equal_width(self, *_):
        return self.error(self.peer) / self.error(self.map)

    track_components_at_equal_time.unit = "components"
    track_ratio_of_errors_at_equal_time.unit = "times the error"
    track_ratio_of_errors_at_equal_width.unit = "times the error"
