"""The measurements for Pham & Pagh's paper, as functions that cells name."""

import time
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.svm import SVC, LinearSVC

from experiments import datasets
from sparsemaps import RandomMaclaurin, TensorSketch


def make(name: str, degree: int, coef0: float, size: int, seed: int) -> Any:
    more = {"h01": True} if name == "H0/1" else {}
    cls = TensorSketch if name == "TS" else RandomMaclaurin
    return cls(degree=degree, coef0=coef0, n_components=size, random_state=seed, **more)


def relative_error(
    data: str, name: str, degree: int, coef0: float, size: int, seeds: int, n_rows: int
) -> dict[str, Any]:
    """Return the mean relative error over pairs of rows with a kernel value above 0."""
    X = datasets.load(data, "adult_a9a", None, "unit").X
    X = X[np.random.default_rng(0).choice(X.shape[0], n_rows, replace=False)]
    exact = ((X @ X.T).toarray() + coef0)[np.triu_indices(n_rows, 1)] ** degree
    kept = exact > 0
    found = []
    for seed in range(seeds):
        Z = make(name, degree, coef0, size, seed).fit_transform(X)
        estimate = (Z @ Z.T)[np.triu_indices(n_rows, 1)]
        found.append(float(np.abs(estimate[kept] / exact[kept] - 1).mean()))
    return {"error": float(np.mean(found))}


def mapping_time(data: str, name: str, source: str, size: int, n_rows: int) -> dict[str, Any]:
    """Return microseconds of CPU per row, the least of three runs, for (1 + <x, y>)^4."""
    if source == "synthetic":
        rng = np.random.default_rng(0)
        X = sp.csr_array(normalize(rng.random((n_rows, size))))
    else:
        X = datasets.load(data, source, None, "unit").X[:n_rows]
    features = make(name, 4, 1.0, size, 0).fit(X)
    seconds = []
    for _ in range(3):
        start = time.process_time()
        features.transform(X)
        seconds.append(time.process_time() - start)
    return {"microseconds": 1e6 * min(seconds) / n_rows}


def accuracy(
    data: str, source: str, name: str, degree: int, coef0: float, size: int, seed: int,
    n_rows: int | None,
) -> dict[str, Any]:  # fmt: skip
    """Return the test accuracy in percent of a linear SVM (C = 1) on the features, and seconds of
    CPU."""
    split = datasets.load(data, source, n_rows, "unit")
    features = make(name, degree, coef0, size, seed).fit(split.X)
    start = time.process_time()
    Z = features.transform(split.X)
    mapped = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LinearSVC(random_state=0, tol=1e-2, max_iter=100).fit(Z, split.y)
    trained = time.process_time()
    score = model.score(features.transform(split.X_test), split.y_test)
    return {
        "accuracy": 100 * float(score),
        "map": mapped - start,
        "train": trained - mapped,
        "rows": len(split.y),
    }


def exact_svm(
    data: str, source: str, degree: int, coef0: float, n_rows: int | None
) -> dict[str, Any]:
    """Return the test accuracy in percent of LIBSVM's SVM (C = 1) with a polynomial kernel, and
    seconds of CPU."""
    split = datasets.load(data, source, n_rows, "unit")
    start = time.process_time()
    model = SVC(kernel="poly", degree=degree, coef0=coef0, gamma=1.0, cache_size=500)
    X, X_test = (A.toarray() for A in (split.X, split.X_test))
    model.fit(X, split.y)
    seconds = time.process_time() - start
    return {
        "accuracy": 100 * float(model.score(X_test, split.y_test)),
        "train": seconds,
        "rows": len(split.y),
    }


def variance(data: str, degree: int, cosine: float, size: int, seeds: int) -> dict[str, Any]:
    """Return the variance of one estimate over seeds, times D, with its standard error."""
    rng = np.random.default_rng(0)
    basis, _ = np.linalg.qr(rng.normal(size=(100, 2)))
    X = np.stack([basis[:, 0], cosine * basis[:, 0] + np.sqrt(1 - cosine**2) * basis[:, 1]])
    found = np.empty(seeds)
    for seed in range(seeds):
        Z = TensorSketch(
            degree=degree, n_components=size, method="fft", random_state=seed
        ).fit_transform(X)
        found[seed] = Z[0] @ Z[1]
    centred = (found - found.mean()) ** 2
    overlap = float((X[0] ** 2 * X[1] ** 2).sum())
    return {
        "variance": size * float(centred.mean()),
        "error": size * float(centred.std() / np.sqrt(seeds)),
        "inner": float(X[0] @ X[1]),
        "overlap": overlap,
    }
