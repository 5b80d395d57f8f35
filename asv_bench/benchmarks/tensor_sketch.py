"""Tensor sketch against scikit-learn's PolynomialCountSketch, which computes in float64 always."""

from sklearn.kernel_approximation import PolynomialCountSketch

from sparsemaps import TensorSketch

from .common import MapBenchmark, ratio

N_COMPONENTS = 1024


class Dense(MapBenchmark):
    params = (["W1", "W2", "W3", "W4", "W5"], [2], ["float64"])
    param_names = ("workload", "degree", "dtype")

    def make(self, degree):
        return TensorSketch(degree=degree, n_components=N_COMPONENTS, random_state=0)

    def setup(self, name, degree, dtype):
        super().setup(name, degree, dtype=dtype)

    time_transform = MapBenchmark._time_transform
    peakmem_transform = MapBenchmark._peakmem_transform


class Sparse(Dense):
    params = (["W2", "W5"], [2], ["float64"])

    def make(self, degree):
        return super().make(degree).set_params(dense_output=False)


class AgainstScikitLearn(MapBenchmark):
    """Fewer rows, as scikit-learn holds (degree, rows, n_components) complex numbers."""

    params = (["W1", "W5"], [2, 4], ["float64", "float32"])
    param_names = ("workload", "degree", "dtype")
    rows = {"W1": 2_000, "W2": 1_000, "W4": 2_000, "W5": 10_000}  # noqa: RUF012
    repeats = 3

    make = Dense.make

    def setup(self, name, degree, dtype):
        super().setup(name, degree, dtype=dtype)
        self.peer = PolynomialCountSketch(
            degree=degree, n_components=N_COMPONENTS, random_state=0
        ).fit(self.X)

    def track_ratio_transform(self, *_):
        return ratio(
            lambda: self.peer.transform(self.X), lambda: self.map.transform(self.X), self.repeats
        )

    def peakmem_peer(self, *_):
        self.peer.transform(self.X)

    track_ratio_transform.unit = "times faster"


class AgainstScikitLearnWide(AgainstScikitLearn):
    """scikit-learn loops over the columns in Python: seconds, however few the rows."""

    params = (["W2"], [2], ["float64"])
    repeats = 1
