"""Polynomial kernels by TensorSketch and RandomMaclaurin: Figure 1 and Tables 1 and 3 of the paper.

    python asv_bench/polynomial.py errors DIRECTORY adult_a9a
    python asv_bench/polynomial.py accuracy DIRECTORY adult_a9a 200
    python asv_bench/polynomial.py accuracy DIRECTORY mnist:10000 1000

DIRECTORY holds NAME.train.svm and NAME.test.svm, or the same with .xz, .gz or .bz2; `mnist:10000`
takes the first 10,000 training rows. Rows are scaled to unit length. The paper is Pham & Pagh,
"Fast and scalable polynomial kernels via explicit feature maps", KDD 2013.
"""

import argparse
import warnings

import numpy as np
from data import read
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from sparsemaps import RandomMaclaurin, TensorSketch

N_ROWS = 1000
N_SEEDS = 5
KERNELS = [(degree, coef0) for degree in (2, 3, 4) for coef0 in (0.0, 1.0)]


def load(directory, name):
    """Training and test rows of unit length, with labels."""
    (X, y, X_test, y_test), _ = read(directory, name)
    return normalize(X), y, normalize(X_test), y_test


def name_of(degree, coef0):
    return f"({'1 + ' if coef0 else ''}<x,y>)^{degree}"


def errors(X):
    """Mean relative error of the kernel over pairs of rows, against the number of features."""
    rows = np.random.default_rng(0).choice(X.shape[0], N_ROWS, replace=False)
    X = X[rows]
    inner = (X @ X.T).toarray()
    one, other = np.triu_indices(N_ROWS, 1)
    sizes = range(500, 3001, 500)
    print(f"{'kernel':14} {'map':16} " + " ".join(f"D={size:<5}" for size in sizes))
    for degree, coef0 in KERNELS:
        exact = (inner + coef0)[one, other] ** degree
        for cls in (TensorSketch, RandomMaclaurin):
            means = []
            for size in sizes:
                found = []
                for seed in range(N_SEEDS):
                    features = cls(degree=degree, coef0=coef0, n_components=size, random_state=seed)
                    Z = features.fit_transform(X)
                    estimate = (Z @ Z.T)[one, other]
                    kept = exact > 0
                    found.append(np.abs(estimate / np.where(kept, exact, 1) - 1)[kept].mean())
                means.append(np.mean(found))
            line = " ".join(f"{mean:7.3f}" for mean in means)
            print(f"{name_of(degree, coef0):14} {cls.__name__:16} {line}", flush=True)


def accuracy(data, n_components):
    """Test accuracy of a linear SVM on the features, over the seeds."""
    X, y, X_test, y_test = data
    print(f"{'kernel':14} {'map':22} accuracy, % (linear SVM on the rows themselves: ", end="")
    print(f"{100 * LinearSVC(random_state=0).fit(X, y).score(X_test, y_test):.2f})")
    for degree, coef0 in KERNELS:
        if degree == 3:
            continue
        maps = [("TensorSketch", TensorSketch, {}), ("RandomMaclaurin", RandomMaclaurin, {})]
        if coef0:
            maps.append(("RandomMaclaurin, H0/1", RandomMaclaurin, {"h01": True}))
        for name, cls, more in maps:
            found = []
            for seed in range(N_SEEDS):
                features = cls(
                    degree=degree, coef0=coef0, n_components=n_components, random_state=seed, **more
                ).fit(X)
                model = LinearSVC(random_state=0, tol=1e-2, max_iter=300)
                model.fit(features.transform(X), y)
                found.append(100 * model.score(features.transform(X_test), y_test))
            line = f"{np.mean(found):6.2f} +- {np.std(found, ddof=1):.2f}"
            print(f"{name_of(degree, coef0):14} {name:22} {line}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["errors", "accuracy"])
    parser.add_argument("directory")
    parser.add_argument("name")
    parser.add_argument("n_components", type=int, nargs="?", default=1000)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    data = load(options.directory, options.name)
    if options.what == "errors":
        errors(data[0])
    else:
        accuracy(data, options.n_components)


if __name__ == "__main__":
    main()
