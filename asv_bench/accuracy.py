"""Accuracy of a linear SVM on the min-max map beside the exact kernel, on LIBSVM data sets.

    python asv_bench/accuracy.py DIRECTORY optdigits satimage usps splice spambase

DIRECTORY holds NAME.train.svm and NAME.test.svm, or the same with .xz, .gz or .bz2. Where there
are negative values all are shifted so that the least is 0; `spambase:max` scales columns to at
most 1, `satimage:range` to 0 to 1, `mnist:10000` takes the first 10,000 training rows. Each figure
is the best over a small grid of C, as in Li, "A comparison study of nonlinear kernels", 2015.
"""

import argparse
import warnings

import numpy as np
from data import read
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.svm import SVC, LinearSVC

from sparsemaps import ConsistentWeightedSampling


def load(directory, name):
    """Dense training and test rows with labels, prepared as the name asks."""
    (X, y, X_test, y_test), how = read(directory, name)
    X, X_test = X.toarray(), X_test.toarray()
    if how == "range":
        X, X_test = X - X.min(axis=0), np.maximum(X_test - X.min(axis=0), 0)
    least = min(X.min(), X_test.min(), 0)
    X, X_test = X - least, X_test - least
    if how in ("max", "range"):
        X, X_test = X / scale(X), X_test / scale(X)
    return X, y, X_test, y_test


def scale(X):
    """The largest value of each column, or 1."""
    largest = X.max(axis=0)
    return np.where(largest > 0, largest, 1)


def min_max_gram(A, B):
    """Exact kernel: with s the sum of all and d the L1 distance, (s - d) / (s + d)."""
    sums = A.sum(axis=1)[:, None] + B.sum(axis=1)
    distances = cdist(A, B, "cityblock")
    return (sums - distances) / np.maximum(sums + distances, 1e-300)


def best(make, grid, X, y, X_test, y_test):
    """Best test accuracy in percent over the grid, with its C."""
    return max((100 * make(C).fit(X, y).score(X_test, y_test), C) for C in grid)


def linear(C):
    return LinearSVC(C=C, random_state=0, tol=1e-3, max_iter=3000)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory")
    parser.add_argument("names", nargs="+")
    parser.add_argument("--n-hashes", type=int, nargs="+", default=[256, 1024])
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    for name in options.names:
        X, y, X_test, y_test = load(options.directory, name)
        plain = max(
            best(linear, (0.1, 1, 10, 100), normalize(X), y, normalize(X_test), y_test),
            best(linear, (0.1, 1, 10), X / scale(X), y, X_test / scale(X), y_test),
        )
        print(f"{name}: linear {plain[0]:.2f} (C = {plain[1]})", flush=True)
        K, K_test = min_max_gram(X, X), min_max_gram(X_test, X)
        exact = best(lambda C: SVC(kernel="precomputed", C=C), (1, 10, 100), K, y, K_test, y_test)
        print(f"{name}: exact min-max {exact[0]:.2f} (C = {exact[1]})", flush=True)
        for n_hashes in options.n_hashes:
            for seed in range(options.seeds):
                cws = ConsistentWeightedSampling(n_hashes=n_hashes, random_state=seed).fit(X)
                Z, Z_test = cws.transform(X), cws.transform(X_test)
                found, C = best(linear, (0.1, 1, 10), Z, y, Z_test, y_test)
                print(f"{name}: k = {n_hashes}, seed {seed}: {found:.2f} (C = {C})", flush=True)


if __name__ == "__main__":
    main()
