"""The user guide's advice, measured on sets that made it and on others.

For each kind of data, some sets decide which map is advised, and others test the advice. gamma and
C are chosen on a quarter of the training rows; the test rows are looked at once.
"""

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC

from experiments import datasets, report
from experiments.runner import Cell, Experiment, Options, Results
from sparsemaps import ConsistentWeightedSampling, RandomBinning, RandomFourier

SIZE = 1024
MOST_ROWS = 10_000
SEARCH_ROWS, SEARCH_SIZE = 3_000, 256
GAMMAS = (0.25, 1, 4)
CS = (0.1, 1, 10)
NEAR = 1.0
"""Percentage points, or percent of an error, within which two figures are called equal."""

LINEAR, MIN_MAX, LAPLACIAN, GAUSSIAN = "linear", "min-max", "Laplacian", "Gaussian"
NAMES = {
    LINEAR: "a linear model",
    MIN_MAX: "`ConsistentWeightedSampling`",
    LAPLACIAN: "`RandomBinning`, gamma searched",
    GAUSSIAN: "`RandomFourier`, gamma searched",
}


class Kind(NamedTuple):
    """A kind of data: what is advised, the sets that made the advice, and those that test it."""

    name: str
    first: str
    second: str | None
    made: tuple[str, ...]
    tested: tuple[str, ...]


KINDS = [
    Kind("words", LINEAR, None, ("news20_bydate", "rcv1_binary20k"),
         ("reuters52", "sector", "sms_spam")),
    Kind("yes-or-no answers", LINEAR, MIN_MAX, ("adult_a9a",), ("agaricus",)),
    Kind("pixels", MIN_MAX, LAPLACIAN, ("usps",), ("mnist", "optdigits")),
    Kind("categories as numbers", LAPLACIAN, MIN_MAX, ("splice",), ()),
    Kind("frequencies, counts", MIN_MAX, LAPLACIAN, ("spambase",), ()),
    Kind("measurements, classes", LAPLACIAN, GAUSSIAN,
         ("satimage", "letter", "ijcnn1", "covtype29k:10"),
         ("covtype29k", "breast_cancer", "wine")),
    Kind("measurements, a number to predict", LAPLACIAN, GAUSSIAN, ("cpu_act", "wine_white"),
         ("cpusmall", "wine_red", "diabetes")),
]  # fmt: skip

BUNDLED = {"breast_cancer": load_breast_cancer, "wine": load_wine, "diabetes": load_diabetes}
REGRESSION = ("cpu_act", "cpusmall", "wine_white", "wine_red", "diabetes")
WORDS = KINDS[0].made + KINDS[0].tested


def _load(directory: str, name: str) -> datasets.Split:
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
        return _split(X, y, 0.3)
    base, _, columns = name.partition(":")
    split = datasets.load(directory, base, MOST_ROWS)
    if columns:  # the first ones alone
        X, X_test = (A[:, : int(columns)] for A in (split.X, split.X_test))
        split = split._replace(X=X, X_test=X_test)
    return split


def _split(X: Any, y: Any, share: float) -> datasets.Split:
    X, X_test, y, y_test = train_test_split(X, y, test_size=share, random_state=0)
    return datasets.Split(X, y, X_test, y_test)


def _dense(A: Any) -> Any:
    return A.toarray() if sp.issparse(A) else A


def _prepared(kernel: str, split: datasets.Split, is_words: bool) -> datasets.Split:
    """Rows as the kernel wants them: columns of 0 to 1 for min-max, of variance 1 for the others;
    tf-idf of words."""
    if is_words and split.X.max() <= 1:  # tf-idf already
        return split
    if is_words:
        scaler = TfidfTransformer(sublinear_tf=True).fit(split.X)
        return split._replace(X=scaler.transform(split.X), X_test=scaler.transform(split.X_test))
    X, X_test = _dense(split.X), _dense(split.X_test)
    scaler = (MinMaxScaler(clip=True) if kernel == MIN_MAX else StandardScaler()).fit(X)
    return split._replace(X=scaler.transform(X), X_test=scaler.transform(X_test))


def _maps(kernel: str, d: int, size: int) -> Iterator[tuple[float, Any]]:
    """The candidates: gamma times the number of columns, and the map."""
    same: dict[str, Any] = {"random_state": 0}
    if kernel == MIN_MAX:
        yield 1, ConsistentWeightedSampling(n_hashes=size, **same)
    for gamma in GAMMAS:
        if kernel == LAPLACIAN:
            yield gamma, RandomBinning(gamma=gamma / d, n_grids=size, n_bins=2**8, **same)
        if kernel == GAUSSIAN:
            yield gamma, RandomFourier(gamma=gamma / d, n_components=size, **same)


def _fitted(is_regression: bool, C: float, Z: Any, y: Any) -> Any:
    if is_regression:
        return Ridge(alpha=1 / C, solver="lsqr" if sp.issparse(Z) else "auto", tol=1e-4).fit(Z, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LinearSVC(C=C, random_state=0, tol=1e-2, max_iter=100).fit(Z, y)


def _score(is_regression: bool, model: Any, Z: Any, y: Any) -> float:
    """Accuracy, or minus the root of the mean squared error as a share of the standard deviation,
    in percent."""
    if is_regression:
        return -100 * float(np.sqrt(np.mean((model.predict(Z) - y) ** 2)) / np.std(y))
    return 100 * float(model.score(Z, y))


def advice(data: str, name: str, kernel: str) -> dict[str, Any]:
    """The figure of one kernel on one set, with gamma and C chosen on training rows."""
    split, is_words, is_regression = _load(data, name), name in WORDS, name in REGRESSION
    searched = _split(split.X[:SEARCH_ROWS], split.y[:SEARCH_ROWS], 0.25)
    size = SIZE if is_words else SEARCH_SIZE
    gamma, C = _choose(kernel, _prepared(kernel, searched, is_words), is_regression, size)
    rows = _prepared(kernel, split, is_words)
    Z, Z_test = rows.X, rows.X_test
    for candidate, features in _maps(kernel, rows.X.shape[1], SIZE):
        if candidate == gamma:
            Z, Z_test = features.fit(Z).transform(Z), features.transform(Z_test)
    model = _fitted(is_regression, C, Z, rows.y)
    found = _score(is_regression, model, Z_test, rows.y_test)
    return {"score": found, "gamma": gamma, "C": C, "rows": len(rows.y)}


def _choose(
    kernel: str, rows: datasets.Split, is_regression: bool, size: int
) -> tuple[float, float]:
    candidates = list(_maps(kernel, rows.X.shape[1], size)) or [(1, None)]
    scores = {}
    for gamma, features in candidates:
        Z, Z_test = rows.X, rows.X_test
        if features is not None:
            Z, Z_test = features.fit(Z).transform(Z), features.transform(Z_test)
        for C in CS:
            model = _fitted(is_regression, C, Z, rows.y)
            scores[gamma, C] = _score(is_regression, model, Z_test, rows.y_test)
    return max(scores, key=scores.__getitem__)


# ---- the tables ----------------------------------------------------------------------------------


def _sets(o: Options) -> list[str]:
    if o.quick:
        return ["wine_red", "breast_cancer"]
    return [name for kind in KINDS for name in kind.made + kind.tested]


def _kernels(name: str) -> tuple[str, ...]:
    return (LINEAR, MIN_MAX) if name in WORDS else (LINEAR, MIN_MAX, LAPLACIAN, GAUSSIAN)


def _cell(name: str, kernel: str) -> Cell:
    base = None if name in BUNDLED else name.partition(":")[0]
    return Cell("experiments.advice:advice", {"name": name, "kernel": kernel}, data=base)


def _cells(o: Options) -> list[Cell]:
    return [_cell(name, kernel) for name in _sets(o) for kernel in _kernels(name)]


def _write(o: Options, results: Results) -> None:
    advised = [[k.name, NAMES[k.first], NAMES[k.second] if k.second else ""] for k in KINDS]
    report.write_table(
        o.results / "guide-advice", "What to try first", ["your data", "try first", "then"], advised
    )
    keys = (LINEAR, MIN_MAX, LAPLACIAN, GAUSSIAN)
    rows = []
    for kind in KINDS:
        for name in kind.made + kind.tested:
            if name in _sets(o):
                found = {key: results(_cell(name, key)) for key in _kernels(name)}
                rows.append(_row(kind, name, {k: r["score"] for k, r in found.items() if r}, keys))
    notes = (
        "The figures are test accuracies in percent. For a number to predict, they are the root of "
        "the mean squared error, in percent of the standard deviation. "
        f"There are {SIZE:,} samples, grids or components, and at most {MOST_ROWS:,} training "
        "rows. gamma and C were chosen on training rows, with one seed. Columns are scaled to 0 to "
        "1 for min-max, and to variance 1 for the others. Words are tf-idf. The figure of the map "
        "to try first is bold. The role says whether the set made the advice or tested it. The "
        "last column says how much better the best of the four is. Up to "
        f"{NEAR:g} it is called equal."
    )
    header = ["your data", "set", "role", *keys, "behind"]
    report.write_table(o.results / "guide-advice-figures", "The figures behind the advice",
                       header, rows, notes)  # fmt: skip


def _row(kind: Kind, name: str, scores: dict[str, float], keys: tuple[str, ...]) -> list[str]:
    cells = []
    for key in keys:
        shown = f"{abs(scores[key]):.1f}" if key in scores else ""
        cells.append(f"**{shown}**" if key == kind.first and shown else shown)
    behind = ""
    if kind.first in scores:
        gap = max(scores.values()) - scores[kind.first]
        behind = f"{gap:.1f}" if gap > NEAR else "equal"
    role = "made" if name in kind.made else "tested"
    return [kind.name, name.replace(":10", ", 10 numeric columns"), role, *cells, behind]


EXPERIMENTS = [Experiment("guide-advice", "the user guide's advice", _cells, _write)]
