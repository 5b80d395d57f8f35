"""Models without a map, for the tables that have none: linear, boosted trees, exact kernels.

The best of some values of a parameter on the test rows counts, as in these tables.
"""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, Normalizer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

from experiments import datasets, report
from experiments.runner import Cell, Experiment, Options, Results
from sparsemaps import kernels

MOST_EXACT = 5000
"""The largest number of training rows of exact kernels."""

CS = (0.1, 1.0, 10.0)
CS_OF_KERNELS = (1.0, 10.0, 100.0)
FACTORS = (0.25, 1.0, 4.0)
"""Gamma is one of these over the number of columns."""
N_TREES = (50, 200)


class Plain(NamedTuple):
    """A set, the largest number of training rows, and the tables that it is for."""

    name: str
    n_rows: int
    tables: str
    n_trees: tuple[int, ...] = N_TREES


SETS = [
    Plain("ijcnn1", 5000, "values of both signs"),
    Plain("satimage", 5000, "values of both signs"),
    Plain("letter", 5000, "values of both signs"),
    Plain("covtype29k", 5000, "values of both signs"),
    Plain("optdigits", 5000, "samples and bits"),
    Plain("spambase", 5000, "powers of the values"),
    Plain("adult_a9a", 50_000, "Pham & Pagh, Tables and Figure 3; Rahimi & Recht, Table 1"),
    Plain("covtype29k", 10_000, "Pham & Pagh, Figure 3"),
    Plain("mnist", 10_000, "Pham & Pagh, Tables and Figure 3", (100,)),  # 784 columns take long
    Plain("cpu_act", 10_000, "Rahimi & Recht, Table 1; Fastfood, Table 2"),
    Plain("insurance_coil", 10_000, "Fastfood, Table 2"),
    Plain("wine_white", 5000, "Fastfood, Table 2"),
    Plain("letter", 16_000, "samples and bits"),
    Plain("usps", 10_000, "samples and bits"),
]
REGRESSION = ("cpu_act", "insurance_coil", "wine_white")


def plain(data: str, name: str, n_rows: int, n_trees: Sequence[int] = N_TREES) -> dict[str, Any]:
    """Return the best test figures: accuracy in percent, or the root mean squared error."""
    split = datasets.load(data, name, n_rows)
    X, X_test = split.X.toarray(), split.X_test.toarray()
    y, y_test = np.asarray(split.y, float), np.asarray(split.y_test, float)
    is_regression = name in REGRESSION

    def score(model: Any, rows: Any = X, others: Any = X_test) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            guess = model.fit(rows, y).predict(others)
        if is_regression:
            return -float(np.sqrt(((guess - y_test) ** 2).mean()))
        return 100 * float((guess == y_test).mean())

    scalers: list[Any] = [Normalizer(), MaxAbsScaler(), StandardScaler()]
    if (np.rint(X) == X).all() and all(len(np.unique(column)) < 32 for column in X.T):
        scalers.append(OneHotEncoder(handle_unknown="ignore"))
    linear = [
        Ridge(alpha=1 / C) if is_regression else LinearSVC(C=C, random_state=0, max_iter=200)
        for C in CS
    ]
    trees = HistGradientBoostingRegressor if is_regression else HistGradientBoostingClassifier
    found = {
        "rows": len(y),
        "linear": max(score(make_pipeline(one, model)) for one in scalers for model in linear),
        "trees": max(
            score(trees(max_iter=n, early_stopping=False, random_state=0)) for n in n_trees
        ),
    }
    if len(y) <= MOST_EXACT:
        scaler = StandardScaler().fit(X)
        A, B = scaler.transform(X), scaler.transform(X_test)
        svm = SVR if is_regression else SVC
        for key, kernel in (
            ("Gaussian", kernels.rbf_kernel), ("Laplacian", kernels.laplacian_kernel)
        ):  # fmt: skip
            best = []
            for factor in FACTORS:
                K, K_test = (kernel(rows, A, gamma=factor / A.shape[1]) for rows in (A, B))
                best += [score(svm(kernel="precomputed", C=C), K, K_test) for C in CS_OF_KERNELS]
            found[key] = max(best)
    return found


def cell(o: Options, one: Plain) -> Cell:
    n_rows = min(one.n_rows, 500) if o.quick else one.n_rows
    parameters: dict[str, Any] = {"name": one.name, "n_rows": n_rows}
    if one.n_trees != N_TREES:
        parameters["n_trees"] = list(one.n_trees)
    return Cell("experiments.plain:plain", parameters, data=one.name)


def cells_for(o: Options, table: str) -> dict[str, Cell]:
    """Return the cell of each set that a table or figure has."""
    return {one.name: cell(o, one) for one in SETS if table in one.tables}


def _cells(o: Options) -> list[Cell]:
    return [cell(o, one) for one in (SETS[5:6] if o.quick else SETS)]


def _write(o: Options, results: Results) -> None:
    rows = []
    for one in SETS:
        found = results(cell(o, one))
        if found is None:
            continue
        digits = 3 if one.name in REGRESSION else 1
        cells = [
            f"{abs(found[key]):.{digits}f}" if key in found else ""
            for key in ("linear", "trees", "Gaussian", "Laplacian")
        ]
        rows.append([one.name, f"{found['rows']:,}", *cells, one.tables])
    notes = (
        "The baselines of tables on this page that have no columns for them. Test accuracy in "
        "percent, or for cpu_act, insurance_coil and wine_white the root mean squared error; the "
        "best C on the test rows, as in those tables. Linear: the best of unit rows, scaled "
        "columns, columns of variance 1 and one-hot columns (if columns hold fewer than 32 "
        "different whole values). Boosted trees: the better of 50 and 200 iterations of "
        "scikit-learn's histogram trees (mnist: 100 iterations). Exact kernels: columns of "
        f"variance 1, the best gamma of three, up to {MOST_EXACT:,} rows."
    )
    header = ["data", "training rows", "linear", "boosted trees", "exact Gaussian",
              "exact Laplacian", "for the tables"]  # fmt: skip
    report.write_table(o.results / "guide-baselines", "Models without a map", header, rows, notes)


EXPERIMENTS = [Experiment("guide-baselines", "models without a map", _cells, _write)]
