"""Ridge regression on random features: Table 1 of Rahimi & Recht, 2007, Table 2 of Fastfood.

    python asv_bench/ridge.py DIRECTORY adult_a9a cpu_act insurance_coil wine_white

DIRECTORY and the names are as for `accuracy.py`. Of classes, labels -1 and 1 are regressed on and
the error is the share that is wrong; otherwise it is the root of the mean squared error, as it is,
over that of the mean ("relative"), and over the root of the mean squared truth ("of the norm", as
in Rahimi & Recht's table). Columns are scaled to variance 1; gamma and the ridge are chosen on a
fifth of the training rows. The exact kernels take at most 4,000 training rows.
"""

import argparse
import warnings

import numpy as np
from accuracy import load
from scipy.linalg import LinAlgWarning
from scipy.sparse import issparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.preprocessing import StandardScaler

from sparsemaps import Fastfood, RandomBinning, RandomFourier

GAMMAS = 2.0 ** np.arange(-8, 3)  # over the number of columns
RIDGES = (1e-3, 1e-2, 1e-1, 1, 10)
MOST_EXACT = 4000


def features(make):
    """A learner of (gamma, ridge): a map, then ridge regression."""

    def predict(gamma, X, y, X_test):
        new_map = make(gamma).fit(X)
        Z, Z_test = new_map.transform(X), new_map.transform(X_test)
        # A hundred thousand columns of one-hot features: iterations, and not to the last digit.
        solver = {"solver": "lsqr", "tol": 1e-3} if issparse(Z) else {"solver": "cholesky"}
        for ridge in RIDGES:
            yield Ridge(alpha=ridge, **solver).fit(Z, y).predict(Z_test)

    return predict


def exact(kernel):
    def predict(gamma, X, y, X_test):
        X, y = X[:MOST_EXACT], y[:MOST_EXACT]
        K, K_test = kernel(X, gamma=gamma), kernel(X_test, X, gamma=gamma)
        mean = y.mean()
        for ridge in RIDGES:
            model = KernelRidge(alpha=ridge, kernel="precomputed").fit(K, y - mean)
            yield model.predict(K_test) + mean

    return predict


def learners(width, n, n_grids):
    power = 1 << int(width - 1).bit_length()
    degree = 4

    def fastfood(gamma, **more):
        return Fastfood(gamma=gamma, n_components=n, random_state=0, **more)

    return {
        "exact Gaussian": exact(rbf_kernel),
        f"RandomFourier, {n}": features(
            lambda gamma: RandomFourier(gamma=gamma, n_components=n, random_state=0)
        ),
        f"Fastfood, {n}": features(fastfood),
        f"Fastfood, fft, {n}": features(lambda gamma: fastfood(gamma, transform_type="fft")),
        f"Fastfood, matern, {n}": features(
            lambda gamma: fastfood(gamma * (power + 2) / degree, kernel="matern", degree=degree)
        ),
        "exact Laplacian": exact(laplacian_kernel),
        f"RandomBinning, {n_grids}": features(
            lambda gamma: RandomBinning(gamma=gamma, n_grids=n_grids, n_bins=2**10, random_state=0)
        ),
    }


def error(prediction, truth, classes):
    if classes:
        return np.mean((prediction > 0) != (truth > 0))
    return np.sqrt(np.mean((prediction - truth) ** 2))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory")
    parser.add_argument("names", nargs="+")
    parser.add_argument("--n-components", type=int, default=500)
    parser.add_argument("--n-grids", type=int, default=350)
    options = parser.parse_args()
    warnings.simplefilter("ignore", LinAlgWarning)
    for name in options.names:
        X, y, X_test, y_test = load(options.directory, name)
        scaler = StandardScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
        classes = name.startswith("adult")
        order = np.random.default_rng(0).permutation(len(y))
        held, kept = np.split(order, [len(y) // 5])
        for label, predict in learners(X.shape[1], options.n_components, options.n_grids).items():
            found = {
                (gamma, number): error(prediction, y[held], classes)
                for gamma in GAMMAS / X.shape[1]
                for number, prediction in enumerate(predict(gamma, X[kept], y[kept], X[held]))
            }
            gamma, number = min(found, key=found.get)
            best = error(list(predict(gamma, X, y, X_test))[number], y_test, classes)
            relative = best / error(y.mean(), y_test, classes)
            normed = "" if classes else f", {best / error(0, y_test, False):.2%} of the norm"
            print(
                f"{name:15} {label:22} {best:.4f}, relative {relative:.3f}{normed} "
                f"(gamma {gamma:.3g}, ridge {RIDGES[number]:g})",
                flush=True,
            )


if __name__ == "__main__":
    main()
