"""Measurements of ridge regression: on features of maps and of Nystroem, and exact."""

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.linalg import LinAlgWarning
from scipy.sparse import issparse
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.pipeline import FeatureUnion

from experiments import datasets
from sparsemaps import Fastfood, RandomBinning, RandomFourier

RIDGES = (1e-3, 1e-2, 1e-1, 1.0, 10.0)
MAX_EXACT_ROWS = 4000
BINS = 2**10
MATERN_DEGREE = 4
CLASSES = ("adult_a9a", "covtype29k")

Predict = Callable[[float, Any, Any, Any], Iterator[Any]]


def _on_features(make: Callable[[float], Any]) -> Predict:
    def predict(gamma: float, X: Any, y: Any, X_test: Any) -> Iterator[Any]:
        features = make(gamma).fit(X)
        Z, Z_test = features.transform(X), features.transform(X_test)
        # A hundred thousand columns of one-hot features: iterations, and not to the last digit.
        solver: dict[str, Any] = {"solver": "cholesky"}
        if issparse(Z):
            solver = {"solver": "lsqr", "tol": 1e-3}
        for ridge in RIDGES:
            yield Ridge(alpha=ridge, **solver).fit(Z, y).predict(Z_test)

    return predict


def _exact(kernel: Any) -> Predict:
    def predict(gamma: float, X: Any, y: Any, X_test: Any) -> Iterator[Any]:
        X, y = X[:MAX_EXACT_ROWS], y[:MAX_EXACT_ROWS]
        K, K_test = kernel(X, gamma=gamma), kernel(X_test, X, gamma=gamma)
        mean = y.mean(axis=0)
        for ridge in RIDGES:
            model = KernelRidge(alpha=ridge, kernel="precomputed").fit(K, y - mean)
            yield model.predict(K_test) + mean

    return predict


def _learner(kind: str, size: int, seed: int, width: int) -> Predict:

    def fourier(gamma: float) -> Any:
        return RandomFourier(gamma=gamma, n_components=size, random_state=seed)

    def binning(gamma: float, n_grids: int = size) -> Any:
        return RandomBinning(gamma=gamma, n_grids=n_grids, n_bins=BINS, random_state=seed)

    def fastfood(gamma: float, **more: Any) -> Fastfood:
        return Fastfood(gamma=gamma, n_components=size, random_state=seed, **more)

    def matern(gamma: float) -> Fastfood:
        power = 1 << int(width - 1).bit_length()
        gamma *= (power + 2) / MATERN_DEGREE  # falls near 0 as the Gaussian kernel does
        return fastfood(gamma, kernel="matern", degree=MATERN_DEGREE)

    if kind == "exact Matern":
        return _exact(lambda X, Y=None, *, gamma: matern(gamma).fit(X).exact_kernel(X, Y))
    if kind == "exact Gaussian":
        return _exact(rbf_kernel)
    if kind == "exact Laplacian":
        return _exact(laplacian_kernel)
    makers: dict[str, Callable[[float], Any]] = {
        "Fourier": fourier,
        "binning": binning,
        # The grids of the Laplacian kernel take gamma for distances, not for their squares.
        "Fourier and binning": lambda gamma: FeatureUnion(
            [("fourier", fourier(gamma)), ("binning", binning(gamma, max(1, size // 10)))]
        ),
        "Fastfood": fastfood,
        "Fastfood, fft": lambda gamma: fastfood(gamma, transform_type="fft"),
        "Fastfood, Matern": matern,
        "Nystroem": lambda gamma: Nystroem(gamma=gamma, n_components=size, random_state=seed),
    }
    return _on_features(makers[kind])


def _targets(y: Any, classes: bool) -> Any:
    """Return the regression targets: labels of -1 and 1, one column per class for several
    classes."""
    if not classes:
        return y
    labels = np.unique(y)
    if len(labels) == 2:
        return np.where(y == labels[1], 1.0, -1.0)
    return np.where(y[:, None] == labels, 1.0, -1.0)


def _error(prediction: Any, truth: Any, classes: bool) -> float:
    if not classes:
        return float(np.sqrt(np.mean((prediction - truth) ** 2)))
    if truth.ndim == 1:
        return float(np.mean((prediction > 0) != (truth > 0)))
    return float(np.mean(prediction.argmax(axis=1) != truth.argmax(axis=1)))


def ridge(
    data: str, name: str, kind: str, size: int, seed: int, n_rows: int | None, log_gammas: list[int]
) -> dict[str, Any]:
    """Test error; gamma and the ridge are the best on a fifth of the training rows.

    Columns have variance 1. The error is the error rate, or the root mean squared error: unscaled,
    and relative to the norm of the truth.
    """
    split = datasets.load(data, name, n_rows, "standard")
    classes = name in CLASSES
    X, X_test = split.X, split.X_test
    both = _targets(np.concatenate([split.y, split.y_test]), classes)
    y, y_test = both[: len(split.y)], both[len(split.y) :]
    held, kept = np.split(np.random.default_rng(0).permutation(len(y)), [len(y) // 5])
    predict = _learner(kind, size, seed, X.shape[1])
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)
        for power in log_gammas:
            gamma = 2.0**power / X.shape[1]
            for number, prediction in enumerate(predict(gamma, X[kept], y[kept], X[held])):
                found[gamma, number] = _error(prediction, y[held], classes)
        gamma, number = min(found, key=lambda key: found[key])
        start = time.process_time()
        prediction = list(predict(gamma, X, y, X_test))[number]
        seconds = time.process_time() - start
    best = _error(prediction, y_test, classes)
    return {
        "error": best,
        "of_norm": best if classes else best / float(np.sqrt(np.mean(y_test**2))),
        "gamma": gamma,
        "ridge": RIDGES[number],
        "seconds": seconds / len(RIDGES),
        "rows": len(y),
        "columns": X.shape[1],
    }


def kernel_rmse(data: str, kind: str, size: int, seeds: int, n_rows: int) -> dict[str, Any]:
    """Root mean squared error of the Gaussian kernel on uniform points of [0, 1]^10."""
    X = np.random.default_rng(0).random((n_rows, 10))
    gamma = 0.5
    exact = rbf_kernel(X, gamma=gamma)
    squares = []
    for seed in range(seeds):
        make = {
            "Fourier": RandomFourier(gamma=gamma, n_components=size, random_state=seed),
            "Fastfood": Fastfood(gamma=gamma, n_components=size, random_state=seed),
            "Fastfood, fft": Fastfood(
                gamma=gamma, n_components=size, transform_type="fft", random_state=seed
            ),
        }
        Z = make[kind].fit_transform(X)
        squares.append(float(np.mean((Z @ Z.T - exact) ** 2)))
    return {"rmse": float(np.sqrt(np.mean(squares)))}


def pair_variance(data: str, kind: str, distance: float, seeds: int) -> dict[str, Any]:
    """Variance over seeds of one Gaussian kernel value (gamma = 1/2), times the components."""
    d = n = 128
    rng = np.random.default_rng(0)
    X = np.zeros((2, d))
    step = rng.normal(size=d)
    X[1] = distance * step / np.linalg.norm(step)
    cls = {"Fourier": RandomFourier, "Fastfood": Fastfood}[kind]
    found = np.empty(seeds)
    for seed in range(seeds):
        Z = cls(gamma=0.5, n_components=2 * n, random_state=seed).fit_transform(X)
        found[seed] = Z[0] @ Z[1]
    centred = (found - found.mean()) ** 2
    return {
        "variance": 2 * n * float(centred.mean()),
        "error": 2 * n * float(centred.std() / np.sqrt(seeds)),
    }


def speed(data: str, d: int, n: int) -> dict[str, Any]:
    """Seconds for n projections of one vector of d numbers (float32): dense product, Fastfood."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1, d)).astype(np.float32)
    dense = rng.random((n, d), dtype=np.float32)
    fastfood = Fastfood(n_components=2 * n, random_state=0).fit(x)

    def least(call: Callable[[], Any]) -> float:
        seconds = []
        for _ in range(15):
            start = time.process_time()
            call()
            seconds.append(time.process_time() - start)
        return min(seconds)

    stored = 9 * n
    return {
        "dense": least(lambda: dense @ x[0]),
        "call": least(lambda: fastfood.transform(x)),
        "memory": dense.nbytes / stored,
    }
