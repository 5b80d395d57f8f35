"""The user guide's figures: how rows are scaled, how many samples, values of both signs."""

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler, normalize
from sklearn.svm import SVC, LinearSVC

from experiments import datasets, report
from experiments.runner import Cell, Experiment, Options, Results
from sparsemaps import ConsistentWeightedSampling, RandomBinning, RandomFourier, kernels

CELLS = "experiments.guide"
SIZE = 1024

SIGNED = ["ijcnn1", "satimage", "letter", "covtype29k"]
TEXTS = ["sms_spam", "reuters52", "news20_bydate", "sector"]


def best_of_c(
    Z: Any, y: Any, Z_test: Any, y_test: Any, cs: tuple[float, ...] = (0.1, 1, 10)
) -> float:
    """Return the best test accuracy in percent of a linear SVM over values of C."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        models = (LinearSVC(C=C, random_state=0, tol=1e-2, max_iter=50) for C in cs)
        return max(100 * float(model.fit(Z, y).score(Z_test, y_test)) for model in models)


def _on(features: Any, split: datasets.Split) -> float:
    Z = features.fit(split.X).transform(split.X)
    return best_of_c(Z, split.y, features.transform(split.X_test), split.y_test)


def signed(data: str, name: str, n_rows: int | None) -> dict[str, Any]:
    """Return accuracies in percent on standardised columns, whose values have both signs."""
    split = datasets.load(data, name, n_rows)
    X, X_test = _scaled(split, StandardScaler())
    rows = split._replace(X=X, X_test=X_test)
    gmm = kernels.generalized_min_max_kernel
    K, K_test = gmm(X), gmm(X_test, X)
    same = {"random_state": 0}
    return {
        "rows": len(split.y),
        "linear": best_of_c(*rows),
        "generalized min-max": _on(
            ConsistentWeightedSampling(n_hashes=SIZE, signed=True, t_bits=4, **same), rows
        ),
        "Gaussian": _on(RandomFourier(gamma="scale", n_components=SIZE, **same), rows),
        "Laplacian": _on(
            RandomBinning(gamma=1 / X.shape[1], n_grids=SIZE, n_bins=2**8, **same), rows
        ),
        "exact": max(
            100 * SVC(kernel="precomputed", C=C).fit(K, split.y).score(K_test, split.y_test)
            for C in (1, 10, 100)
        ),
    }


def text(data: str, name: str, n_rows: int | None) -> dict[str, Any]:
    """Return accuracies in percent on counts of words: linear, min-max, and both concatenated."""
    split = datasets.load(data, name, n_rows)
    tfidf = TfidfTransformer(sublinear_tf=True).fit(split.X)
    T, T_test = tfidf.transform(split.X), tfidf.transform(split.X_test)
    found = {"rows": len(split.y), "linear": best_of_c(T, split.y, T_test, split.y_test)}
    found["linear bytes"] = 12 * T.nnz / T.shape[0]
    for label, (A, A_test) in {
        "min-max, counts": (split.X, split.X_test),
        "min-max, tf-idf": (T, T_test),
    }.items():
        cws = ConsistentWeightedSampling(n_hashes=SIZE, random_state=0).fit(A)
        Z, Z_test = cws.transform(A), cws.transform(A_test)
        found[label] = best_of_c(Z, split.y, Z_test, split.y_test)
    found["linear and min-max"] = best_of_c(
        sp.hstack([T, Z], format="csr"), split.y, sp.hstack([T_test, Z_test], format="csr"),
        split.y_test,
    )  # fmt: skip
    return found


def _scaled(split: datasets.Split, scaler: Any) -> tuple[Any, Any]:
    X, X_test = (A.toarray() if sp.issparse(A) else A for A in (split.X, split.X_test))
    scaler.fit(X)
    return scaler.transform(X), scaler.transform(X_test)


def scaling(data: str, name: str, kernel: str, scale: str, n_rows: int | None) -> dict[str, Any]:
    """Return the accuracy in percent of a map on rows that are scaled in one of several ways."""
    split = datasets.load(data, name, n_rows)
    if scale == "unit":
        X, X_test = normalize(split.X), normalize(split.X_test)
    elif scale == "raw":
        X, X_test = split.X, split.X_test
    else:
        scaler = {"max": MaxAbsScaler, "range": MinMaxScaler, "standard": StandardScaler}[scale]()
        X, X_test = _scaled(split, scaler)
        if kernel == "min-max":
            X, X_test = np.maximum(X, 0), np.maximum(X_test, 0)
    rows = split._replace(X=X, X_test=X_test)
    if kernel == "min-max":
        return {"accuracy": _on(ConsistentWeightedSampling(n_hashes=512, random_state=0), rows)}
    if kernel == "Gaussian, gamma=1":
        return {"accuracy": _on(RandomFourier(n_components=512, random_state=0), rows)}
    if kernel == 'Gaussian, gamma="scale"':
        return {
            "accuracy": _on(RandomFourier(gamma="scale", n_components=512, random_state=0), rows)
        }
    gamma = 1 / X.shape[1]
    return {"accuracy": _on(RandomBinning(gamma=gamma, n_bins=256, random_state=0), rows)}


def samples(
    data: str, name: str, prepare: str, k: int, bits: int, t_bits: int, C: float, n_rows: int | None
) -> dict[str, Any]:
    """Return the accuracy in percent of min-max features of one size."""
    split = datasets.load(data, name, n_rows, prepare)
    cws = ConsistentWeightedSampling(n_hashes=k, bits=bits, t_bits=t_bits, random_state=0)
    Z = cws.fit(split.X).transform(split.X)
    return {"accuracy": best_of_c(Z, split.y, cws.transform(split.X_test), split.y_test, (C,))}


def powers(data: str, name: str, prepare: str, p: float, n_rows: int | None) -> dict[str, Any]:
    """Return the accuracy in percent of the exact min-max kernel of the values' powers, and of its
    map."""
    split = datasets.load(data, name, n_rows, prepare)
    X, X_test = split.X.power(p), split.X_test.power(p)
    K, K_test = kernels.min_max_kernel(X), kernels.min_max_kernel(X_test, X)
    exact = max(
        100 * SVC(kernel="precomputed", C=C).fit(K, split.y).score(K_test, split.y_test)
        for C in (1, 10, 100)
    )
    rows = split._replace(X=X, X_test=X_test)
    found = _on(ConsistentWeightedSampling(n_hashes=SIZE, random_state=0), rows)
    return {"exact": exact, "map": found}


def _rows(o: Options) -> int | None:
    return 1000 if o.quick else o.rows


def _signed_cells(o: Options) -> list[Cell]:
    return [
        Cell(f"{CELLS}:signed", {"name": name, "n_rows": min(5000, _rows(o) or 5000)}, data=name)
        for name in (SIGNED[1:2] if o.quick else SIGNED)
    ]


def _text_cells(o: Options) -> list[Cell]:
    return [
        Cell(f"{CELLS}:text", {"name": name, "n_rows": 1000 if o.quick else None}, data=name)
        for name in (TEXTS[:1] if o.quick else TEXTS)
    ]


SCALES = ("raw", "max", "range", "standard", "unit")
SCALED = ("min-max", "Gaussian, gamma=1", 'Gaussian, gamma="scale"', "Laplacian, gamma=1/d")
SCALED_SETS = ("spambase", "satimage", "letter")


def _scaling_cells(o: Options) -> list[Cell]:
    return [
        Cell(
            f"{CELLS}:scaling",
            {"name": name, "kernel": kernel, "scale": scale, "n_rows": min(4000, _rows(o) or 4000)},
            data=name,
        )
        for name in SCALED_SETS for kernel in SCALED for scale in SCALES
    ]  # fmt: skip


KS = (64, 256, 1024, 4096)


def _samples_cells(o: Options) -> list[Cell]:
    sets = [("optdigits", ""), ("usps", "shift"), ("letter", "")]
    ks = KS[:2] if o.quick else KS[:3] if o.rows else KS
    return [
        Cell(
            f"{CELLS}:samples",
            {"name": name, "prepare": how, "k": k, "bits": bits, "t_bits": t, "C": C,
             "n_rows": _rows(o)},
            data=name,
        )
        for name, how in sets for k in ks
        for bits, t, C in ((1, 0, 1.0), (2, 0, 1.0), (4, 0, 1.0), (8, 0, 1.0), (8, 4, 1.0),
                           (8, 0, 0.1), (8, 0, 10.0))
    ]  # fmt: skip


def _power_cells(o: Options) -> list[Cell]:
    return [
        Cell(f"{CELLS}:powers",
             {"name": "spambase", "prepare": "max", "p": p, "n_rows": _rows(o)}, data="spambase")
        for p in (2.0, 1.0, 0.5, 0.25, 0.1)
    ]  # fmt: skip


def _write_signed(o: Options, results: Results) -> None:
    keys = ("linear", "generalized min-max", "Gaussian", "Laplacian", "exact")
    rows = []
    for cell in _signed_cells(o):
        r = results(cell)
        rows.append([cell.parameters["name"], r["rows"] if r else report.NOT_RUN,
                     *(report.number(r and r[key], 1) for key in keys)])  # fmt: skip
    notes = (
        "Test accuracy in percent on columns of mean 0 and variance 1, best C of 0.1, 1, 10; at "
        f"most 5,000 training rows. Generalized min-max: {SIZE} samples of 8 bits and t_bits=4; "
        f'Gaussian: {SIZE} components, gamma="scale"; Laplacian: {SIZE} grids, gamma = 1 / '
        "columns; exact: an SVM with the generalized min-max kernel. One seed. Boosted trees and "
        "exact Gaussian kernels: see *Models without a map*."
    )
    header = ["data", "training rows", *keys[:-1], "exact generalized min-max"]
    report.write_table(o.results / "guide-signed", "Values of both signs", header, rows, notes)


def _write_text(o: Options, results: Results) -> None:
    keys = ("linear", "min-max, counts", "min-max, tf-idf", "linear and min-max")
    rows = []
    for cell in _text_cells(o):
        r = results(cell)
        size = f"{r['linear bytes']:.0f}" if r else report.NOT_RUN
        rows.append([cell.parameters["name"], r["rows"] if r else report.NOT_RUN,
                     *(report.number(r and r[key], 1) for key in keys), size])  # fmt: skip
    notes = (
        "Test accuracy in percent on texts, best C of 0.1, 1, 10. Linear: on tf-idf (sublinear, "
        f"unit length). Min-max: {SIZE} samples of 8 bits, 1,024 bytes a row. One seed."
    )
    header = ["data", "training rows", *keys, "bytes a row, tf-idf"]
    report.write_table(o.results / "guide-text", "Texts", header, rows, notes)


def _write_scaling(o: Options, results: Results) -> None:
    cells = _scaling_cells(o)
    rows = []
    for name in SCALED_SETS:
        for kernel in SCALED:
            found = [
                results(c) for c in cells
                if (c.parameters["name"], c.parameters["kernel"]) == (name, kernel)
            ]  # fmt: skip
            rows.append([name, kernel, *(report.number(r and r["accuracy"], 1) for r in found)])
    notes = (
        "Test accuracy in percent, best C of 0.1, 1, 10; 512 samples or components (256 grids); at "
        "most 4,000 training rows. max: columns to at most 1; range: to 0..1; standard: to mean 0 "
        "and variance 1 (min-max then takes negative values as 0); unit: rows to length 1."
    )
    report.write_table(
        o.results / "guide-scaling", "Scaling", ["data", "kernel", *SCALES], rows, notes
    )


def _write_samples(o: Options, results: Results) -> None:
    found: dict[tuple[Any, ...], str] = {}
    columns = [
        "b = 1",
        "b = 2",
        "b = 4",
        "b = 8",
        "b = 8, t = 4",
        "b = 8, C = 0.1",
        "b = 8, C = 10",
    ]
    for number, cell in enumerate(_samples_cells(o)):
        r = results(cell)
        key = cell.parameters["name"], cell.parameters["k"], number % len(columns)
        found[key] = report.number(r and r["accuracy"], 1)
    rows = [
        [name, k, *(found[name, k, number] for number in range(len(columns)))]
        for name, k in dict.fromkeys(key[:2] for key in found)
    ]
    notes = (
        "Test accuracy of min-max features in percent; C = 1 unless given; one seed. Linear "
        "models, boosted trees and exact kernels: see *Models without a map*."
    )
    report.write_table(
        o.results / "guide-samples", "Samples and bits", ["data", "k", *columns], rows, notes
    )


def _write_powers(o: Options, results: Results) -> None:
    rows = []
    for cell in _power_cells(o):
        r = results(cell)
        rows.append(
            [cell.parameters["p"], *(report.number(r and r[k], 1) for k in ("exact", "map"))]
        )
    notes = (
        "Test accuracy in percent on spambase (columns to at most 1) of the min-max kernel of "
        f"`X.power(p)`, exact and by {SIZE} samples. Linear models and boosted trees: see *Models "
        "without a map*."
    )
    report.write_table(o.results / "guide-powers", "Powers of the values", ["p", "exact", "map"],
                       rows, notes)  # fmt: skip


EXPERIMENTS = [
    Experiment("guide-signed", "values of both signs", _signed_cells, _write_signed),
    Experiment("guide-text", "texts", _text_cells, _write_text),
    Experiment("guide-scaling", "scaling", _scaling_cells, _write_scaling),
    Experiment("guide-samples", "samples and bits", _samples_cells, _write_samples),
    Experiment("guide-powers", "powers of the values", _power_cells, _write_powers),
]
