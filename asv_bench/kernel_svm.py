"""Accuracy of SVMs with the exact kernels: Tables 2 and 3 of Li's comparison study, 2015.

    python asv_bench/kernel_svm.py DIRECTORY optdigits satimage usps spambase:max mnist:10000

DIRECTORY and the names are as for `accuracy.py`. Each figure is the best test accuracy in percent
over a grid of C and, for the Gaussian kernel, of gamma, as in that paper: P. Li, "A comparison
study of nonlinear kernels", arXiv 1603.06541.
"""

import argparse

from accuracy import load
from scipy.sparse import csr_array
from sklearn.svm import SVC

from sparsemaps import kernels

GAMMAS = (0.5, 2, 5, 8, 15, 32, 64, 128)


def grams(X, X_test):
    """Name and pair of Gram matrices of each kernel."""

    def both(function, **parameters):
        return [function(A, X, **parameters) for A in (X, X_test)]

    min_max = both(kernels.min_max_kernel)
    yield "min-max", min_max
    acos = both(kernels.acos_kernel)
    yield "acos", acos
    yield "min-max acos", [a * b for a, b in zip(min_max, acos, strict=True)]
    del acos
    chi2 = both(kernels.acos_chi2_kernel)
    yield "acos-chi2", chi2
    yield "min-max acos-chi2", [a * b for a, b in zip(min_max, chi2, strict=True)]
    del chi2, min_max
    for gamma in GAMMAS:
        yield "RBF", both(kernels.normalized_rbf_kernel, gamma=gamma)
        yield "folded RBF", both(kernels.folded_rbf_kernel, gamma=gamma)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory")
    parser.add_argument("names", nargs="+")
    parser.add_argument("--c", type=float, nargs="+", default=[0.1, 1, 10, 100, 1000])
    options = parser.parse_args()
    for name in options.names:
        X, y, X_test, y_test = load(options.directory, name)
        X, X_test = csr_array(X), csr_array(X_test)
        found = {}
        for kernel, (K, K_test) in grams(X, X_test):
            for C in options.c:
                model = SVC(kernel="precomputed", C=C, cache_size=500).fit(K, y)
                accuracy = 100 * model.score(K_test, y_test)
                found[kernel] = max(found.get(kernel, (0, 0)), (accuracy, C))
        for kernel, (accuracy, C) in found.items():
            print(f"{name:14} {kernel:18} {accuracy:.2f} (C = {C:g})", flush=True)


if __name__ == "__main__":
    main()
