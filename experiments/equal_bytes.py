"""Accuracy at equal bytes per row: a linear SVM on short codes of texts."""

import time
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.neighbors import NearestNeighbors

from experiments import datasets, report
from experiments.guide import best_of_c
from experiments.runner import Cell, Experiment, Options, Results
from sparsemaps import ConsistentWeightedSampling, CountSketch, MinHash, SignProjection
from sparsemaps.neighbors import KernelNeighbors

CELLS = "experiments.equal_bytes"
SETS = ("news20_bydate", "reuters52", "sector", "rcv1_binary20k")
NEIGHBOUR_SETS = SETS[:2]
WEIGHTED = ("rcv1_binary20k",)
"""Sets whose values are tf-idf, not counts."""
SIZES = (64, 128, 256)
METHODS = {
    "MinHash of words, 8 bits": "C0",
    "min-max of tf-idf, 8 bits": "C1",
    "SignProjection, 1 bit": "C2",
    "count sketch, int8": "C4",
    "count sketch, float32": "C7",
}
MOST_BITS = 1024
"""Training on more one-hot bits takes too long."""


def features(method: str, size: int) -> Any:
    """Return the map whose rows take `size` bytes."""
    if method == "count sketch, float32":
        return CountSketch(n_components=size // 4, dense_output=True, random_state=0)
    if method == "count sketch, int8":
        return CountSketch(n_components=size, dense_output=True, random_state=0)
    if method == "SignProjection, 1 bit":
        return SignProjection(n_hashes=8 * size, random_state=0)
    if method == "MinHash of words, 8 bits":
        return MinHash(n_hashes=size, random_state=0)
    return ConsistentWeightedSampling(n_hashes=size, random_state=0)


def tfidf(split: datasets.Split, name: str) -> tuple[Any, Any]:
    """Return training and test rows of tf-idf of unit length."""
    if name in WEIGHTED:
        return split.X, split.X_test
    weights = TfidfTransformer(sublinear_tf=True).fit(split.X)
    return weights.transform(split.X), weights.transform(split.X_test)


def codes(data: str, name: str, method: str, size: int, n_rows: int | None) -> dict[str, Any]:
    """Return the accuracy in percent of a linear SVM on codes of `size` bytes per row."""
    split = datasets.load(data, name, n_rows)
    X, X_test = split.X, split.X_test
    if not method.startswith("MinHash"):  # it takes sets
        X, X_test = tfidf(split, name)
    made = features(method, size).fit(X)
    Z, Z_test = made.transform(X), made.transform(X_test)
    if method.endswith("int8"):
        unit = np.abs(Z).max() / 127
        Z, Z_test = (np.clip(np.rint(A / unit), -127, 127) * unit for A in (Z, Z_test))
    return {"accuracy": best_of_c(Z, split.y, Z_test, split.y_test)}


def whole(data: str, name: str, n_rows: int | None) -> dict[str, Any]:
    """Return the accuracy in percent of a linear SVM on tf-idf, and its bytes per row."""
    split = datasets.load(data, name, n_rows)
    T, T_test = tfidf(split, name)
    return {
        "accuracy": best_of_c(T, split.y, T_test, split.y_test),
        "bytes": 12 * T.nnz / T.shape[0],
    }


def _sets(o: Options) -> tuple[str, ...]:
    return SETS[:1] if o.quick else SETS


def _rows(o: Options) -> int | None:
    return 1000 if o.quick else o.rows


def _cell(o: Options, name: str, method: str, size: int) -> Cell:
    parameters = {"name": name, "method": method, "size": size, "n_rows": _rows(o)}
    return Cell(f"{CELLS}:codes", parameters, data=name)


def _whole_cell(o: Options, name: str) -> Cell:
    return Cell(f"{CELLS}:whole", {"name": name, "n_rows": _rows(o)}, data=name)


def _sizes(o: Options, method: str) -> list[int]:
    sizes = SIZES[:2] if o.quick else SIZES
    return [size for size in sizes if not method.endswith("1 bit") or 8 * size <= MOST_BITS]


def _cells(o: Options) -> list[Cell]:
    found = [_whole_cell(o, name) for name in _sets(o)]
    found += [
        _cell(o, name, method, size)
        for name in _sets(o) for method in METHODS for size in _sizes(o, method)
    ]  # fmt: skip
    return found


def _show(found: dict[int, Any], size: int) -> str:
    if size not in found:
        return ""
    result = found[size]
    return report.number(result and result["accuracy"], 1)


def _write(o: Options, results: Results) -> None:
    base = o.results / "guide-bytes"
    figure, axes = report.panels(len(_sets(o)), 2, 4.2)
    rows = []
    for ax, name in zip(axes, _sets(o), strict=True):
        linear = results(_whole_cell(o, name))
        if linear is None:
            report.not_run(ax, name)
        for method, color in METHODS.items():
            found = {size: results(_cell(o, name, method, size)) for size in _sizes(o, method)}
            points = [(size, r["accuracy"]) for size, r in found.items() if r]
            if points:
                ax.semilogx(*zip(*points, strict=True), "o-", color=color, markersize=4,
                            label=method)  # fmt: skip
            rows.append([name, method, *(_show(found, size) for size in SIZES)])
        if linear:
            size, accuracy = linear["bytes"], linear["accuracy"]
            ax.semilogx([size], [accuracy], "*", color="black", markersize=10,
                        label="tf-idf itself")  # fmt: skip
            rows.append([name, f"tf-idf itself: {accuracy:.1f} at {size:,.0f} bytes",
                         *[""] * len(SIZES)])  # fmt: skip
            ax.set(title=name, xlabel="bytes a row", ylabel="test accuracy, %")
            report.tick_each(ax, [64, 128, 256, 512, 1024, 2048])
    axes[-1].legend(loc="lower right")
    notes = (
        "Test accuracy in percent of a linear SVM, best C of 0.1, 1, 10, on codes of the given "
        "number of bytes a row; "
        "one seed. Count sketch, signs and min-max of tf-idf (sublinear, unit length); "
        "int8: the largest value of the training rows is 127. Signs: up to "
        f"{MOST_BITS:,} bits. tf-idf itself: 12 bytes an entry. rcv1 comes as tf-idf."
    )
    header = ["data", "codes", *(f"{size} bytes" for size in SIZES)]
    report.save(figure, base, "Accuracy at equal bytes")
    report.write_table(base, "Accuracy at equal bytes", header, rows, notes)
    page = base.with_suffix(".md")
    text = page.read_text(encoding="utf-8")
    page.write_text(f"{text}\n![Accuracy at equal bytes]({base.name}.svg)\n", encoding="utf-8")


class Way(NamedTuple):
    """How to find the nearest rows: on counts or tf-idf; for codes, whether the exact kernel
    reranks the candidates."""

    weighted: bool
    rerank: bool | None = None


NEIGHBOURS = {
    "cosine of counts, exact": Way(weighted=False),
    "cosine of tf-idf, exact": Way(weighted=True),
    "min-max of counts, codes": Way(weighted=False, rerank=False),
    "min-max of tf-idf, codes": Way(weighted=True, rerank=False),
    "min-max of counts, codes and rerank": Way(weighted=False, rerank=True),
    "min-max of tf-idf, codes and rerank": Way(weighted=True, rerank=True),
}


def neighbours(data: str, name: str, way: str, n_rows: int | None) -> dict[str, Any]:
    """Return the accuracy in percent of the vote of the ten nearest rows, and the seconds of the
    search."""
    split = datasets.load(data, name, n_rows)
    weighted, rerank = NEIGHBOURS[way]
    X, X_test = tfidf(split, name) if weighted else (split.X, split.X_test)
    if rerank is None:
        index = NearestNeighbors(n_neighbors=10, metric="cosine")
    else:
        cws = ConsistentWeightedSampling(n_hashes=256, random_state=0)
        index = KernelNeighbors(cws, n_neighbors=10, rerank=rerank)
    index.fit(X)
    start = time.process_time()
    nearest = index.kneighbors(X_test, return_distance=False)
    seconds = time.process_time() - start
    _, labels = np.unique(split.y, return_inverse=True)
    votes = np.array([np.bincount(labels[row]).argmax() for row in nearest])
    accuracy = 100 * float(np.mean(np.unique(split.y)[votes] == split.y_test))
    return {"accuracy": accuracy, "seconds": seconds}


def _neighbour_sets(o: Options) -> tuple[str, ...]:
    return NEIGHBOUR_SETS[:1] if o.quick else NEIGHBOUR_SETS


def _neighbour_cells(o: Options) -> list[Cell]:
    return [
        Cell(
            f"{CELLS}:neighbours", {"name": name, "way": way, "n_rows": _rows(o)}, data=name
        )
        for name in _neighbour_sets(o) for way in NEIGHBOURS
    ]  # fmt: skip


def _write_neighbours(o: Options, results: Results) -> None:
    rows = []
    for name in _neighbour_sets(o):
        found = [results(c) for c in _neighbour_cells(o) if c.parameters["name"] == name]
        cells = (
            f"{r['accuracy']:.1f}, {r['seconds']:.1f} s" if r else report.NOT_RUN for r in found
        )
        rows.append([name, *cells])
    notes = (
        "Test accuracy in percent of the vote of the ten nearest training rows, on counts of "
        "words or on tf-idf (sublinear, unit length), and the time of the search with the mapping "
        "of the test rows, one thread. Codes: 256 samples of 8 bits."
    )
    report.write_table(
        o.results / "guide-neighbours", "Ten nearest neighbours", ["data", *NEIGHBOURS], rows, notes
    )


EXPERIMENTS = [
    Experiment("guide-neighbours", "ten nearest", _neighbour_cells, _write_neighbours),
    Experiment("guide-bytes", "accuracy at equal bytes", _cells, _write),
]
