"""Exact kernels against dense NumPy and scikit-learn."""

import numpy as np
from sklearn.metrics.pairwise import chi2_kernel, polynomial_kernel, rbf_kernel

from sparsemaps import kernels

from .common import ratio, workload

N_ROWS = 400


def dense_min_max(X, Y):
    """Row by row, which is fastest in NumPy."""
    sums, other = X.sum(axis=1), Y.sum(axis=1)
    out = np.empty((len(X), len(Y)))
    for i, row in enumerate(X):
        least = np.minimum(row, Y).sum(axis=1)
        out[i] = least / (sums[i] + other - least)
    return out


class Gram:
    params = (["W1", "W2", "W4"],)
    param_names = ("workload",)

    def setup(self, name):
        self.X = workload(name, 2 * N_ROWS)
        self.Y, self.X = self.X[N_ROWS:], self.X[:N_ROWS]

    def time_min_max(self, name):
        kernels.min_max_kernel(self.X, self.Y)

    def peakmem_min_max(self, name):
        kernels.min_max_kernel(self.X, self.Y)

    def time_cauchy(self, name):
        kernels.cauchy_kernel(self.X, self.Y)


class AgainstDense:
    params = (["W1", "W4"],)
    param_names = ("workload",)

    def setup(self, name):
        Gram.setup(self, name)
        self.dense = self.X.toarray(), self.Y.toarray()

    def track_ratio_min_max(self, name):
        return ratio(
            lambda: dense_min_max(*self.dense), lambda: kernels.min_max_kernel(self.X, self.Y)
        )

    def track_ratio_chi2(self, name):
        return ratio(
            lambda: chi2_kernel(*self.dense), lambda: kernels.chi2_similarity(self.X, self.Y)
        )

    def track_ratio_chi2_symmetric(self, name):
        """A matrix with itself. scikit-learn does not exploit the symmetry."""
        return ratio(lambda: chi2_kernel(self.dense[0]), lambda: kernels.chi2_similarity(self.X))

    track_ratio_min_max.unit = track_ratio_chi2.unit = "times faster"
    track_ratio_chi2_symmetric.unit = "times faster"


class AgainstScikitLearn:
    """The kernels of the same name, of rows with others and of a matrix with itself."""

    params = (["W1", "W2", "W4"],)
    param_names = ("workload",)

    def setup(self, name):
        X = workload(name, 2_000)
        self.X, self.Y = X[:1_000], X[1_000:]

    def time_rbf(self, name):
        kernels.rbf_kernel(self.X, self.Y)

    def time_polynomial(self, name):
        kernels.polynomial_kernel(self.X, self.Y)

    def peakmem_rbf(self, name):
        kernels.rbf_kernel(self.X, self.Y)

    def track_ratio_rbf(self, name):
        return ratio(lambda: rbf_kernel(self.X, self.Y), lambda: kernels.rbf_kernel(self.X, self.Y))

    def track_ratio_rbf_symmetric(self, name):
        return ratio(lambda: rbf_kernel(self.X), lambda: kernels.rbf_kernel(self.X))

    def track_ratio_polynomial(self, name):
        return ratio(
            lambda: polynomial_kernel(self.X, self.Y),
            lambda: kernels.polynomial_kernel(self.X, self.Y),
        )

    track_ratio_rbf.unit = track_ratio_rbf_symmetric.unit = "times faster"
    track_ratio_polynomial.unit = "times faster"
