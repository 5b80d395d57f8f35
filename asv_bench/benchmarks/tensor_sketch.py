"""Tensor sketch against scikit-learn's PolynomialCountSketch, which computes in float64 always."""

import numpy as np
from sklearn.kernel_approximation import PolynomialCountSketch

from sparsemaps import TensorSketch

from .common import MapBenchmark, ratio

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
    """Fewer rows, as scikit-learn holds (degree, rows, n_components) complex numbers."""

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
    """scikit-learn loops over the columns in Python: seconds, however few the rows."""

    params = (["W2"], [2])


class AgainstFilling(MapBenchmark):
    """Rows of few entries: against filling an output as large, which is fresh in both."""

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
