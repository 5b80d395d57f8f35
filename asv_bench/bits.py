"""Accuracy of a linear SVM on 0-bit samples, by their number and by the bits kept of each.

    python asv_bench/bits.py DIRECTORY letter usps mnist:10000 news20_bydate

DIRECTORY holds NAME.train.svm and NAME.test.svm, or the same with .xz, .gz or .bz2. Where there
are negative values all are shifted so that the least is 0; `mnist:10000` takes the first 10,000
training rows. The exact min-max kernel is beside, with an SVM. One seed, and one C for all. P. Li,
"0-bit consistent weighted sampling", KDD 2015, has such figures.
"""

import argparse
import warnings

from data import read
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC

from sparsemaps import ConsistentWeightedSampling
from sparsemaps.kernels import min_max_kernel

BITS = (1, 2, 4, 8)


def load(directory, name):
    (X, y, X_test, y_test), _ = read(directory, name)
    least = min(X.min(), X_test.min())
    if least < 0:
        X, X_test = csr_array(X.toarray() - least), csr_array(X_test.toarray() - least)
    return X, y, X_test, y_test


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory")
    parser.add_argument("names", nargs="+")
    parser.add_argument("--n-hashes", type=int, nargs="+", default=[64, 256, 1024, 4096])
    parser.add_argument("--c", type=float, default=10)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    for name in options.names:
        X, y, X_test, y_test = load(options.directory, name)
        for n_hashes in options.n_hashes:
            found = []
            for bits in BITS:
                cws = ConsistentWeightedSampling(n_hashes=n_hashes, bits=bits, random_state=0).fit(
                    X
                )
                model = LinearSVC(C=options.c, random_state=0, tol=1e-2, max_iter=100)
                model.fit(cws.transform(X), y)
                found.append(100 * model.score(cws.transform(X_test), y_test))
            figures = " ".join(
                f"b={bits}: {score:.2f}" for bits, score in zip(BITS, found, strict=True)
            )
            print(f"{name:14} k={n_hashes:<5} {figures}", flush=True)
        model = SVC(kernel="precomputed", C=options.c).fit(min_max_kernel(X), y)
        accuracy = 100 * model.score(min_max_kernel(X_test, X), y_test)
        print(f"{name:14} exact min-max {accuracy:.2f}", flush=True)


if __name__ == "__main__":
    main()
