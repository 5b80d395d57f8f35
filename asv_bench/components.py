"""Accuracy of a linear SVM on projections' maps, by the number of their components.

    python asv_bench/components.py DIRECTORY letter satimage:range usps mnist:10000 spambase:max

DIRECTORY and the names are as for `accuracy.py`, whose rows these are; `kernel_svm.py` has the
exact kernels beside. Each figure is the best test accuracy in percent over a small grid of C. Rows
have unit length for the Gaussian kernel and its folded form; its gamma is the best of
`kernel_svm.py`'s by 1,024 components, learnt on half of the training rows, or on 4,000, and tested
on as many others. One seed. P. Li, "A comparison study of nonlinear kernels", arXiv 1603.06541,
has such figures.
"""

import argparse
import warnings

import numpy as np
from accuracy import load
from kernel_svm import GAMMAS
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from sparsemaps import RandomFourier, SignProjection

GRID = (1, 10, 100)
N_CHOOSING = 4000


def makers(gamma):
    """Map of n components, by the kernel's name."""
    return {
        "acos": lambda n: SignProjection(n_hashes=n, dense_output=True, random_state=0),
        "acos-chi2": lambda n: SignProjection(
            kernel="acos_chi2", n_hashes=n, dense_output=True, random_state=0
        ),
        "RBF": lambda n: RandomFourier(gamma=gamma, n_components=n, random_state=0),
        "folded RBF": lambda n: RandomFourier(
            kernel="folded_rbf", gamma=2 * gamma, n_components=n, random_state=0
        ),
    }


def score(new_map, C, X, y, X_test, y_test):
    new_map.fit(X)
    model = LinearSVC(C=C, random_state=0, tol=1e-2, max_iter=50)
    model.fit(new_map.transform(X), y)
    return 100 * model.score(new_map.transform(X_test), y_test)


def choose_gamma(X, y):
    """The best gamma for rows of unit length, as RandomFourier has it."""
    rng = np.random.default_rng(0)
    order = rng.permutation(len(y))
    chosen, others = order[:N_CHOOSING], order[-N_CHOOSING:]
    if len(y) < 2 * N_CHOOSING:
        chosen, others = np.split(order, [len(y) // 2])
    # `normalized_rbf_kernel` is exp(-gamma (1 - cosine)): half the squared distance.
    return max(
        (gamma / 2 for gamma in GAMMAS),
        key=lambda gamma: score(
            makers(gamma)["RBF"](1024), 10, X[chosen], y[chosen], X[others], y[others]
        ),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory")
    parser.add_argument("names", nargs="+")
    parser.add_argument("--n-components", type=int, nargs="+", default=[64, 256, 1024, 4096])
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    for name in options.names:
        X, y, X_test, y_test = load(options.directory, name)
        rows = csr_array(X), csr_array(X_test)
        units = csr_array(normalize(X)), csr_array(normalize(X_test))
        gamma = choose_gamma(units[0], y)
        for kernel, make in makers(gamma).items():
            found, grid = [], GRID
            A, B = rows if kernel.startswith("acos") else units
            for n in options.n_components:
                best, C = max((score(make(n), C, A, y, B, y_test), C) for C in grid)
                found.append(f"{n}: {best:.2f}")
                if n >= 1024:  # the largest takes minutes
                    grid = (C,)
            note = f" (gamma {gamma:g})" if "RBF" in kernel else ""
            print(f"{name:16} {kernel:10} {', '.join(found)}{note}", flush=True)


if __name__ == "__main__":
    main()
