"""Random Maclaurin features against scikit-learn's PolynomialCountSketch, for the same kernel."""

from sklearn.kernel_approximation import PolynomialCountSketch

from sparsemaps import RandomMaclaurin

from .common import MapBenchmark, ratio

N_COMPONENTS = 1024


class Dense(MapBenchmark):
    params = (["W1", "W2", "W3", "W4", "W5"],)

    def make(self):
        return RandomMaclaurin(n_components=N_COMPONENTS, random_state=0)

    time_transform = MapBenchmark._time_transform
    peakmem_transform = MapBenchmark._peakmem_transform


class AgainstScikitLearn(MapBenchmark):
    params = (["W1", "W4", "W5"], [2, 4])
    param_names = ("workload", "degree")
    rows = {"W1": 2_000, "W2": 500, "W4": 1_000, "W5": 5_000}  # noqa: RUF012

    def make(self, degree):
        return RandomMaclaurin(degree=degree, n_components=N_COMPONENTS, random_state=0)

    def track_ratio_transform(self, _, degree):
        peer = PolynomialCountSketch(degree=degree, n_components=N_COMPONENTS, random_state=0).fit(
            self.X
        )
        return ratio(lambda: peer.transform(self.X), lambda: self.map.transform(self.X))

    track_ratio_transform.unit = "times faster"


class AgainstScikitLearnWide(AgainstScikitLearn):
    """scikit-learn loops over the columns in Python, which takes seconds even for few rows."""

    params = (["W2"], [2])
