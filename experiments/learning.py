"""Measurements on classification sets: SVMs with exact kernels, on rows, and on features."""

import time
import warnings
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler, normalize
from sklearn.svm import SVC, LinearSVC

from experiments import datasets
from sparsemaps import (
    ConsistentWeightedSampling,
    KernelProduct,
    RandomFourier,
    SignProjection,
    kernels,
)
from sparsemaps.comparison._facts import facts_of

GRID = (0.1, 1.0, 10.0, 100.0)
"""Values of C."""


def _scores(fit: Any, cs: list[float]) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return {f"{C:g}": 100 * float(fit(C)) for C in cs}


def linear_svm(
    data: str, name: str, prepare: str, n_rows: int | None, cs: list[float], hinge: bool = False
) -> dict[str, Any]:
    """Return the test accuracy in percent for each C, on rows of unit length.

    With `hinge`, the loss is not squared, and there is no intercept.
    """
    split = datasets.load(data, name, n_rows, prepare)
    X, X_test = normalize(split.X), normalize(split.X_test)

    def fit(C: float) -> float:
        more: dict[str, Any] = {"loss": "hinge", "fit_intercept": False} if hinge else {}
        model = LinearSVC(C=C, random_state=0, tol=1e-3, max_iter=1000, **more).fit(X, split.y)
        return float(model.score(X_test, split.y_test))

    return {"scores": _scores(fit, cs), "rows": len(split.y), "columns": X.shape[1]}


@lru_cache(maxsize=2)
def _grams(data: str, name: str, prepare: str, n_rows: int | None, kernel: str) -> Any:
    split = datasets.load(data, name, n_rows, prepare)
    function = getattr(kernels, kernel)
    return function(split.X), function(split.X_test, split.X)


def kernel_svm(
    data: str, name: str, prepare: str, n_rows: int | None, kernel: str, gamma: float | None,
    cs: list[float],
) -> dict[str, Any]:  # fmt: skip
    """Return the test accuracy in percent for each C of an SVM with an exact kernel, or a product
    of two."""
    split = datasets.load(data, name, n_rows, prepare)
    if gamma is not None:
        function = getattr(kernels, kernel)
        K, K_test = function(split.X, gamma=gamma), function(split.X_test, split.X, gamma=gamma)
    else:
        parts = [_grams(data, name, prepare, n_rows, part) for part in kernel.split(" ")]
        K = np.prod([part[0] for part in parts], axis=0)
        K_test = np.prod([part[1] for part in parts], axis=0)

    model, score = None, 0.0

    def fit(C: float) -> float:
        nonlocal model, score
        # If no multiplier is at the bound C, a larger C has the same solution.
        if model is None or np.abs(model.dual_coef_).max() >= model.C:
            model = SVC(kernel="precomputed", C=C, cache_size=500).fit(K, split.y)
            score = float(model.score(K_test, split.y_test))
        return score

    return {"scores": _scores(fit, sorted(cs)), "rows": len(split.y)}


def prepared_linear(data: str, name: str, prepare: str, n_rows: int | None) -> dict[str, Any]:
    """Return the best test accuracy in percent, over C, of linear SVMs on columns that are scaled
    to at most 1 or to variance 1, or one-hot if they have few values."""
    split = datasets.load(data, name, n_rows, prepare)
    X, X_test = split.X, split.X_test
    steps = {"columns to 1": MaxAbsScaler()}  # only this one for many columns, as rows stay sparse
    if X.shape[1] <= 500:
        X, X_test = X.toarray(), X_test.toarray()
        steps["variance 1"] = StandardScaler()
    facts = facts_of(X, is_text=False, is_regression=False)
    if facts.has_few_values:
        steps["one-hot"] = OneHotEncoder(handle_unknown="ignore")
    scores = {}
    for step_name, step in steps.items():
        Z, Z_test = step.fit_transform(X), step.transform(X_test)
        for C in (0.01, 0.1, 1.0, 10.0):
            with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
                model = LinearSVC(C=C, random_state=0, tol=1e-2, max_iter=200).fit(Z, split.y)
            scores[step_name, C] = 100 * float(model.score(Z_test, split.y_test))
    best = max(scores, key=scores.__getitem__)
    return {"accuracy": scores[best], "how": best[0], "C": best[1], "rows": len(split.y)}


def boosted_trees(data: str, name: str, prepare: str, n_rows: int | None) -> dict[str, Any]:
    """Return the test accuracy in percent of scikit-learn's boosted trees, and the seconds of
    training."""
    split = datasets.load(data, name, n_rows, prepare)
    start = time.process_time()
    model = HistGradientBoostingClassifier(random_state=0).fit(split.X.toarray(), split.y)
    seconds = time.process_time() - start
    accuracy = 100 * float(model.score(split.X_test.toarray(), split.y_test))
    return {"accuracy": accuracy, "seconds": seconds, "rows": len(split.y)}


def make_map(kind: str, size: int, bits: int, gamma: float | None, seed: int) -> Any:
    """A map by its short name. RBF's gamma is that of exp(-gamma (1 - cosine))."""
    if kind == "min-max":
        return ConsistentWeightedSampling(n_hashes=size, bits=bits, random_state=seed)
    if kind == "acos":
        return SignProjection(n_hashes=size, dense_output=True, random_state=seed)
    if kind == "acos-chi2":
        return SignProjection(
            kernel="acos_chi2", n_hashes=size, dense_output=True, random_state=seed
        )
    if kind == "RBF":
        return RandomFourier(gamma=(gamma or 2) / 2, n_components=size, random_state=seed)
    if kind == "folded RBF":
        return RandomFourier(
            kernel="folded_rbf", gamma=gamma or 2, n_components=size, random_state=seed
        )
    other = "acos_chi2" if kind.endswith("chi2") else "acos"
    maps = (
        ConsistentWeightedSampling(n_hashes=size, bits=bits),
        SignProjection(kernel=other, n_hashes=size),
    )
    return KernelProduct(maps=maps, random_state=seed)


def features(
    data: str, name: str, prepare: str, n_rows: int | None, kind: str, size: int, bits: int,
    gamma: float | None, seed: int, cs: list[float],
) -> dict[str, Any]:  # fmt: skip
    """Return the test accuracy in percent for each C of a linear SVM on a map's features."""
    split = datasets.load(data, name, n_rows, prepare)
    X, X_test = split.X, split.X_test
    if "RBF" in kind:
        X, X_test = normalize(X), normalize(X_test)
    features = make_map(kind, size, bits, gamma, seed).fit(X)
    Z, Z_test = features.transform(X), features.transform(X_test)

    def fit(C: float) -> float:
        model = LinearSVC(C=C, random_state=0, tol=1e-2, max_iter=30).fit(Z, split.y)
        return float(model.score(Z_test, split.y_test))

    return {"scores": _scores(fit, cs), "rows": len(split.y)}
