"""Raw web pages to labels, as web-spam was made: bytes, n-grams, the min-max map, LIBLINEAR.

Li's Figure 8 uses web-spam, whose pages are not available. `pages.jsonl` has pages of two sites
instead. The label is the site, and a part of each page is replaced by text of the other site.
"""

import json
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.preprocessing import MaxAbsScaler, normalize
from sklearn.svm import SVC

from experiments import datasets, report
from experiments.guide import best_of_c
from experiments.runner import Cell, Experiment, Options, Results
from sparsemaps import ConsistentWeightedSampling, kernels
from sparsemaps.libsvm import dump_svmlight_file
from sparsemaps.text import ByteNgrams, iter_records

CELLS = "experiments.pages"
PAGES = "pages"
NGRAMS = {1: "bytes", 3: "trigrams of bytes"}
SIZES = (128, 256, 1024, 4096)
BITS = (1, 2, 4, 8)
LINEAR_CS = (1.0, 10.0, 100.0, 1000.0, 10000.0)
LENGTH = 10_000
"""Characters of a part of a page. All parts of a page are in the training rows, or none."""
PIECE = 64
"""Bytes of a replaced piece."""
MOST_SPOILED = 0.5


def read(data: str) -> tuple[list[str], list[str]]:
    """Return pages that are not copies of others, and their sites."""
    texts, sites = [], []
    for batch in iter_records(datasets.texts_file(data, PAGES), label_field="label"):
        for text, site, record in zip(batch.texts, batch.labels, batch.records, strict=True):
            if "copy_of" not in json.loads(record):
                texts.append(text)
                sites.append(site)
    return texts, sites


def spoil(parts: list[bytes], labels: Any, rng: np.random.Generator) -> list[bytes]:
    """Return parts in which a share of the pieces, at most MOST_SPOILED, is from the other site."""
    others = {
        label: b"".join(part for part, its in zip(parts, labels, strict=True) if its != label)
        for label in np.unique(labels)
    }
    spoiled = []
    for part, label in zip(parts, labels, strict=True):
        pieces = [part[start : start + PIECE] for start in range(0, len(part), PIECE)]
        share = rng.uniform(0, MOST_SPOILED)
        for number in rng.choice(len(pieces), int(share * len(pieces)), replace=False):
            start = rng.integers(max(1, len(others[label]) - PIECE))
            pieces[number] = others[label][start : start + len(pieces[number])]
        spoiled.append(b"".join(pieces))
    return spoiled


@lru_cache(maxsize=2)
def rows(data: str, n: int, n_pages: int | None) -> datasets.Split:
    """Counts of n-grams of bytes, a row for each spoiled part; half of the pages are for tests."""
    texts, sites = read(data)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(texts))[:n_pages]
    found: list[Any] = []
    for half in np.array_split(order, 2):
        parts, labels = [], []
        for page in half:
            text = texts[page]
            cut = [text[start : start + LENGTH] for start in range(0, len(text), LENGTH)]
            parts += [part.encode() for part in cut]
            labels += [sites[page]] * len(cut)
        y = np.array(labels)
        found += [ByteNgrams(ngram_range=(n, n)).transform(spoil(parts, y, rng)), y]
    return datasets.Split(*found)


def linear(data: str, n: int, n_pages: int | None) -> dict[str, Any]:
    """Return the accuracy in percent of a linear SVM on rows of unit length, and sizes of the
    data."""
    X, y, X_test, y_test = rows(data, n, n_pages)
    accuracy = best_of_c(normalize(X), y, normalize(X_test), y_test, LINEAR_CS)
    _, counts = np.unique(y_test, return_counts=True)
    return {
        "accuracy": accuracy,
        "rows": len(y),
        "test rows": len(y_test),
        "entries": X.nnz / len(y),
        "larger class": 100 * float(counts.max() / counts.sum()),
    }


def exact(data: str, n: int, n_pages: int | None) -> dict[str, Any]:
    """Return the accuracy in percent of an SVM with the exact min-max kernel."""
    X, y, X_test, y_test = rows(data, n, n_pages)
    K, K_test = kernels.min_max_kernel(X), kernels.min_max_kernel(X_test, X)
    models = (SVC(kernel="precomputed", C=C).fit(K, y) for C in (1, 10, 100))
    return {"accuracy": max(100 * float(model.score(K_test, y_test)) for model in models)}


def plain(data: str, n: int, n_pages: int | None) -> dict[str, Any]:
    """Return the accuracies in percent of a linear SVM on columns scaled to at most 1, and for
    bytes of boosted trees, the better of 100 and 300 iterations."""
    X, y, X_test, y_test = rows(data, n, n_pages)
    scaler = MaxAbsScaler().fit(X)
    scaled = best_of_c(scaler.transform(X), y, scaler.transform(X_test), y_test, LINEAR_CS)
    found = {"linear, columns to 1": scaled}
    if n == 1:
        dense, dense_test = X.toarray(), X_test.toarray()
        models = (
            HistGradientBoostingClassifier(max_iter=n_trees, random_state=0).fit(dense, y)
            for n_trees in (100, 300)
        )
        found["boosted trees"] = max(100 * float(one.score(dense_test, y_test)) for one in models)
    return found


def mapped(data: str, n: int, k: int, bits: int, n_pages: int | None) -> dict[str, Any]:
    """Return the accuracy in percent of a linear SVM on k samples with the given number of bits."""
    X, y, X_test, y_test = rows(data, n, n_pages)
    cws = ConsistentWeightedSampling(n_hashes=k, bits=bits, random_state=0).fit(X)
    return {"accuracy": best_of_c(cws.transform(X), y, cws.transform(X_test), y_test)}


WAYS = {
    "the rows themselves": lambda: None,
    "min-max, 256 samples": lambda: _samples(256, "icws"),
    "min-max, 256 samples by levels": lambda: _samples(256, "levels"),
    "min-max, 1,024 samples by levels": lambda: _samples(1024, "levels"),
}
STEPS = ("read", "n-grams", "map", "write", "train")


def _samples(k: int, method: Any) -> ConsistentWeightedSampling:
    return ConsistentWeightedSampling(n_hashes=k, method=method, random_state=0)


def _cpu_time() -> float:
    """Of this process and the programs that it ran."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def times(data: str, n: int, way: str) -> dict[str, Any]:
    """Return the CPU seconds from pages in a file to LIBLINEAR's model, by steps, and the bytes of
    texts."""
    seconds = {}

    def timed(step: str, function: Callable[[], Any]) -> Any:
        start = _cpu_time()
        result = function()
        seconds[step] = _cpu_time() - start
        return result

    file = datasets.texts_file(data, PAGES)
    batches = timed("read", lambda: list(iter_records(file, label_field="label", records=False)))
    texts = [text for batch in batches for text in batch.texts]
    _, y = np.unique([label for batch in batches for label in batch.labels], return_inverse=True)
    X = timed("n-grams", lambda: ByteNgrams(ngram_range=(n, n)).transform(texts))
    made = WAYS[way]()
    Z = timed("map", lambda: made.fit_transform(X) if made else normalize(X))
    with tempfile.TemporaryDirectory() as folder:
        rows_file, model = Path(folder, "rows.svm"), Path(folder, "model")
        timed("write", lambda: dump_svmlight_file(Z, y, rows_file, zero_based=False))
        file_bytes = rows_file.stat().st_size
        program = shutil.which("liblinear-train") or shutil.which("train")
        if program is not None:
            command = [program, "-q", "-c", "1", str(rows_file), str(model)]
            timed("train", lambda: subprocess.run(command, check=True))
    text_bytes = sum(len(text.encode()) for text in texts)
    return {"seconds": seconds, "pages": len(texts), "bytes": text_bytes, "file": file_bytes}


def _ngrams(o: Options) -> list[int]:
    return [1] if o.quick else list(NGRAMS)


def _cell(o: Options, function: str, n: int, **parameters: Any) -> Cell:
    n_pages = 1000 if o.quick else o.rows
    return Cell(f"{CELLS}:{function}", {"n": n, "n_pages": n_pages, **parameters}, data=PAGES)


def _sizes(o: Options, n: int) -> tuple[int, ...]:
    """Numbers of samples. 4,096 of all trigrams take half a minute for each number of bits."""
    if o.quick:
        return SIZES[:2]
    return SIZES if n == 1 else SIZES[:3]


def _accuracy_cells(o: Options) -> list[Cell]:
    return [
        cell
        for n in _ngrams(o)
        for cell in (
            _cell(o, "linear", n),
            _cell(o, "exact", n),
            _cell(o, "plain", n),
            *(_cell(o, "mapped", n, k=k, bits=bits) for k in _sizes(o, n) for bits in BITS),
        )
    ]


def _write_accuracy(o: Options, results: Results) -> None:
    base = o.results / "li-pages"
    figure, axes = report.panels(len(_ngrams(o)), 2, 4.2)
    table, shapes = [], []
    for ax, n in zip(axes, _ngrams(o), strict=True):
        ax.set(title=NGRAMS[n], xlabel="k", ylabel="test accuracy, %")
        for bits in BITS:
            found = {k: results(_cell(o, "mapped", n, k=k, bits=bits)) for k in _sizes(o, n)}
            points = [(k, r["accuracy"]) for k, r in found.items() if r]
            if points:
                ax.semilogx(*zip(*points, strict=True), "o-", markersize=4, base=2,
                            label=f"min-max, b = {bits}")  # fmt: skip
            accuracies = [report.number(r and r["accuracy"]) for r in found.values()]
            accuracies += [""] * (len(_sizes(o, 1)) - len(accuracies))
            table.append([NGRAMS[n], f"min-max, b = {bits}", *accuracies])
        for label, function, style in (("exact min-max", "exact", "-"), ("linear", "linear", "--")):
            r = results(_cell(o, function, n))
            if r:
                ax.axhline(r["accuracy"], color="black", linestyle=style, linewidth=1, label=label)
            text = f"{label}: {report.number(r and r['accuracy'])}"
            table.append([NGRAMS[n], text, *[""] * len(_sizes(o, 1))])
            if r and function == "linear":
                shapes.append(f"{r['entries']:,.0f} {NGRAMS[n]}")
        for label, accuracy in (results(_cell(o, "plain", n)) or {}).items():
            style = ":" if label == "boosted trees" else "--"
            ax.axhline(accuracy, color="C4", linestyle=style, linewidth=1, label=label)
            text = f"{label}: {report.number(accuracy)}"
            table.append([NGRAMS[n], text, *[""] * len(_sizes(o, 1))])
        if ax.lines:
            report.tick_each(ax, _sizes(o, n))
        else:
            report.not_run(ax, NGRAMS[n])
    report.shared_legend(figure, axes)
    title = "Li, Figure 8, on other pages: linear against min-max"
    report.save(figure, base, title)
    header = ["rows", "what", *(f"k = {k:,}" for k in _sizes(o, 1))]
    report.write_table(base, title, header, table, _accuracy_note(o, results, shapes))
    page = base.with_suffix(".md")
    text = page.read_text(encoding="utf-8")
    page.write_text(f"{text}\n![{title}]({base.name}.svg)\n", encoding="utf-8")


def _accuracy_note(o: Options, results: Results, shapes: list[str]) -> str:
    sizes = ""
    r = results(_cell(o, "linear", 1))
    if r:
        sizes = (
            f" {r['rows']:,} training and {r['test rows']:,} test rows of {' and '.join(shapes)}, "
            f"{r['larger class']:.1f} % of the test rows from one site."
        )
    return (
        "Test accuracy in percent. Web-spam was not available. These are web pages of two sites. "
        "The site is the label, "
        f"and up to {100 * MOST_SPOILED:.0f} % of a page's pieces of {PIECE} "
        "bytes (evenly drawn) are of the other site. Pages are cut to "
        f"{LENGTH:,} characters.{sizes} "
        "Linear SVM on rows of unit length, on columns scaled to at most 1, and on min-max "
        "features; SVM with the exact kernel; boosted trees on bytes; best C; one seed."
    )


def _time_cells(o: Options) -> list[Cell]:
    return [
        Cell(f"{CELLS}:times", {"n": n, "way": way}, data=PAGES) for n in _ngrams(o) for way in WAYS
    ]


def _write_times(o: Options, results: Results) -> None:
    table, sizes = [], ""
    for cell in _time_cells(o):
        r = results(cell)
        found = [r["seconds"].get(step) if r else None for step in STEPS]
        row = [NGRAMS[cell.parameters["n"]], cell.parameters["way"]]
        row += [report.number(seconds) for seconds in found]
        known = [seconds for seconds in found if seconds is not None]
        whole = sum(known) if len(known) == len(STEPS) else None
        row.append(report.number(whole))
        row.append(report.number(r["bytes"] / whole / 1e6 if r and whole else None, 1))
        table.append([*row, report.number(r and r["file"] / 1e6, 1)])
        if r:
            sizes = f"{r['pages']:,} pages, {r['bytes'] / 1e6:.1f} MB of UTF-8 in an .xz file. "
    header = ["rows", "features", *(f"{step}, s" for step in STEPS), "all, s", "MB/s",
              "file for LIBLINEAR, MB"]  # fmt: skip
    notes = (
        f"{sizes}CPU time of one thread, one run: reading JSON Lines, counting n-grams "
        "(`ByteNgrams`), mapping (8 bits a sample; the rows themselves are scaled to unit length), "
        "writing LIBSVM's format, and LIBLINEAR's program `train` with C = 1. MB/s: of pages, all "
        "steps together."
    )
    title = "From bytes to LIBLINEAR's model"
    report.write_table(o.results / "li-pages-times", title, header, table, notes)


EXPERIMENTS = [
    Experiment("li-pages", "linear against min-max on raw pages", _accuracy_cells, _write_accuracy),
    Experiment("li-pages-times", "from bytes to LIBLINEAR's model", _time_cells, _write_times),
]
