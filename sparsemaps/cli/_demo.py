"""``sparsemaps demo``: the maps with a linear learner, on data that every installation has.

It has three parts: handwritten digits, with every map beside its exact kernel; texts, classified by
how often each byte occurs in them; and the pairs of these texts that are nearly the same.
"""

import itertools
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp
from tqdm import tqdm

import sparsemaps
from sparsemaps import neighbors
from sparsemaps._io import _output_files
from sparsemaps._tools import _sklearn
from sparsemaps.cli._demo_data import DemoSizes, DemoText, LearningTask, digits, texts
from sparsemaps.cli._options import CLASSES
from sparsemaps.libsvm import dump_svmlight_file
from sparsemaps.maps._sampled_map import SampledMap
from sparsemaps.maps._sparse_map import SparseMap
from sparsemaps.maps.weighted_sampling import ConsistentWeightedSampling
from sparsemaps.text import ByteNgrams

BITS = 8
N_SET_HASHES = 256
SIMILAR = 0.8
N_SHOWN = 3
WRITTEN = "texts.train", "texts.test"

T = TypeVar("T")


class Measured(NamedTuple):
    """A row of the table."""

    name: str
    accuracy: float
    map_seconds: float | None
    train_seconds: float
    row_bytes: float


def timed(function: Callable[[], T]) -> tuple[T, float]:
    """(result, seconds) of a call."""
    start = time.perf_counter()
    return function(), time.perf_counter() - start


def learned(
    task: LearningTask,
    name: str,
    rows: tuple[Any, Any],
    map_seconds: float | None = None,
    learner: Any = None,
    row_bytes: float | None = None,
) -> Measured:
    """Return a learner, or else a linear SVM, on rows to train with and rows to test with."""
    learner = learner or _sklearn.LinearSVC(random_state=0)
    X, X_test = rows
    model, seconds = timed(lambda: learner.fit(X, task.y_train))
    if row_bytes is None:
        row_bytes = X.shape[1] * X.dtype.itemsize
        if sp.issparse(X):
            row_bytes = X.nnz / X.shape[0] * (X.data.itemsize + X.indices.itemsize)
    return Measured(name, model.score(X_test, task.y_test), map_seconds, seconds, row_bytes)


def linear(task: LearningTask, how: str, scale: Callable[[Any], Any]) -> Measured:
    """Return a linear SVM on the rows themselves, scaled."""
    return learned(task, f"linear SVM, {how}", (scale(task.X_train), scale(task.X_test)))


def exact(task: LearningTask, name: str, features: SparseMap) -> Measured:
    gram = features.fit(task.X_train).exact_kernel
    kernels, seconds = timed(lambda: (gram(task.X_train), gram(task.X_test, task.X_train)))
    learner = _sklearn.SVC(kernel="precomputed")
    return learned(task, f"exact {name} kernel, SVM", kernels, seconds, learner)


def mapped(task: LearningTask, name: str, features: SparseMap) -> Measured:
    features.fit(task.X_train)
    rows, seconds = timed(
        lambda: (features.transform(task.X_train), features.transform(task.X_test))
    )
    n_bytes = features.encode(task.X_train[:1]).nbytes if isinstance(features, SampledMap) else None
    return learned(task, f"{name}, linear SVM", rows, seconds, row_bytes=n_bytes)


def columns_to_one(X: Any) -> Callable[[Any], Any]:
    """Return a function that divides columns by the largest values of those of `X`."""
    largest = X.max(axis=0).toarray().reshape(-1)
    by = sp.diags_array(1 / np.where(largest > 0, largest, 1))
    return lambda Y: sp.csr_array(Y @ by)


def steps(task: LearningTask) -> Iterator[Callable[[], Measured]]:
    """Yield a function for each row of a task's table: linear learners, exact kernels, their
    maps."""
    yield lambda: linear(task, "rows of unit length", _sklearn.normalize)
    if not task.all_maps:
        yield lambda: linear(task, "columns to at most 1", columns_to_one(task.X_train))
    sizes = task.sizes
    sampled = [weighted_sampling(n_hashes) for n_hashes in sizes.n_hashes]
    yield lambda: exact(task, "min-max", sampled[0])
    for n_hashes, features in zip(sizes.n_hashes, sampled, strict=True):
        yield partial(mapped, task, f"ConsistentWeightedSampling, {n_hashes}", features)
    if not task.all_maps:
        return
    unit = task._replace(
        X_train=_sklearn.normalize(task.X_train), X_test=_sklearn.normalize(task.X_test)
    )
    for name, maps in maps_by_kernel(sizes.n_components).items():
        if name:
            yield partial(exact, unit, name, maps[0])
        for other in maps:
            yield partial(mapped, unit, f"{type(other).__name__}, {sizes.n_components}", other)


def weighted_sampling(n_hashes: int) -> ConsistentWeightedSampling:
    return ConsistentWeightedSampling(n_hashes=n_hashes, bits=BITS, random_state=0, n_jobs=-1)


def maps_by_kernel(n_components: int) -> dict[str, list[SparseMap]]:
    """Return the maps that are shown, with the parameters that their classes state."""
    maps: dict[str, list[SparseMap]] = {}
    for name, read in CLASSES.items():
        if read.about.demo is not None:
            kernel, parameters = read.about.demo
            features = getattr(sparsemaps, name)(**parameters, random_state=0, n_jobs=-1)
            features.set_size(n_components)
            maps.setdefault(kernel, []).append(features)
    return maps


def table(task: LearningTask, rows: list[Measured]) -> Iterator[str]:
    """Yield the results of a task as lines of text, with sentences on what they show."""
    n, d = task.X_train.shape
    yield task.title
    density = task.X_train.nnz / n
    yield f"  {n} + {len(task.y_test)} rows, {d} columns, {density:.0f} non-zeros a row"
    yield f"  {'':44} {'accuracy':>9} {'map, s':>8} {'train, s':>9} {'bytes/row':>10}"
    for row in rows:
        map_seconds = "" if row.map_seconds is None else f"{row.map_seconds:.2f}"
        yield (
            f"  {row.name:44} {row.accuracy:9.1%} {map_seconds:>8} {row.train_seconds:9.2f} "
            f"{row.row_bytes:10.0f}"
        )
    shown = "linear SVM, ", "exact min-max kernel", "ConsistentWeightedSampling"
    plain, kernel, features = (
        max((row for row in rows if row.name.startswith(start)), key=lambda row: row.accuracy)
        for start in shown
    )
    yield (
        f"  What to see: a linear SVM gets {plain.accuracy:.1%} on the rows, and "
        f"{features.accuracy:.1%} on {features.row_bytes:.0f} bytes of a map for each;"
    )
    yield (
        f"  the exact min-max kernel, whose matrix holds {kernel.row_bytes:.0f} bytes a row, gets "
        f"{kernel.accuracy:.1%}."
    )
    yield ""


def draw(tables: list[tuple[LearningTask, list[Measured]]], path: str) -> None:
    """Accuracy against bytes a row, as a picture."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("--plot needs matplotlib: pip install sparsemaps[plot]") from error
    from matplotlib import colormaps

    figure = Figure(figsize=(11, 4.2), layout="constrained")
    for ax, (task, rows) in zip(figure.subplots(1, len(tables)), tables, strict=True):
        series: dict[str, list[tuple[float, float]]] = {}
        for row in rows:
            name = row.name.partition(",")[0]
            series.setdefault(name, []).append((row.row_bytes, 100 * row.accuracy))
        ax.set_prop_cycle(color=colormaps["tab20"](range(20)))
        for name, points in series.items():
            style: dict[str, Any] = {"marker": "o", "linewidth": 1, "label": name}
            if name.startswith("exact"):
                style |= {"marker": "s", "markerfacecolor": "none"}
            elif name.startswith("linear"):
                style |= {"color": "black", "marker": "*", "linewidth": 0, "markersize": 9}
            ax.semilogx(*zip(*sorted(points), strict=True), **style)
        ax.set(xlabel="bytes a row", ylabel="test accuracy, %", title=task.short)
        ax.grid(alpha=0.25)
        ax.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path)


def near_duplicates(texts: list[DemoText]) -> Iterator[str]:
    """Yield pairs of texts of nearly the same trigrams, as lines."""
    yield "3. Near-duplicates among the same texts: sets of trigrams, 2**24 columns"
    trigrams = ByteNgrams(binary=True, lowercase=True, n_jobs=-1)
    X = trigrams.transform([text for _, _, text in texts])
    minhash = sparsemaps.MinHash(n_hashes=N_SET_HASHES, bits=BITS, random_state=0, n_jobs=-1).fit(X)
    codes, encode_seconds = timed(lambda: minhash.encode(X, packed=True))
    (first, second, similarity), seconds = timed(
        lambda: neighbors.similar_pairs(codes, SIMILAR, n_jobs=-1)
    )
    yield (
        f"  {X.shape[0]} texts of {X.nnz / X.shape[0]:.0f} trigrams on average, "
        f"{X.shape[0] * (X.shape[0] - 1) // 2} pairs"
    )
    yield (
        f"  {len(first)} pairs of similarity {SIMILAR} or more, by {N_SET_HASHES} bytes a text: "
        f"codes {encode_seconds:.2f} s, pairs {seconds:.2f} s"
    )
    packages, files = (np.array([text[part] for text in texts]) for part in (0, 1))
    same_package = packages[first] == packages[second]
    same_file = files[first] == files[second]
    yield f"  The {N_SHOWN} most surprising, pairs of two packages first and then of two files:"
    for pair in np.lexsort((-similarity, same_file, same_package))[:N_SHOWN]:
        yield f"  similarity {similarity[pair]:.2f}"
        for row in (first[pair], second[pair]):
            package, place, text = texts[row]
            line = " ".join(text.decode(errors="replace").split())
            yield f"    {package:17.17} {place:26.26} {line[:52]}"
    yield "  What to see: texts that were copied and changed a little, found by their codes alone."
    yield ""


def write(task: LearningTask, directory: Path) -> Iterator[str]:
    """Write the texts under the second min-max map as LIBSVM files, and yield how to use
    them."""
    n_hashes = task.sizes.n_hashes[1]
    cws = weighted_sampling(n_hashes).fit(task.X_train)
    train, test, model = (directory / name for name in (*WRITTEN, "texts.model"))
    for X, y, path in ((task.X_train, task.y_train, train), (task.X_test, task.y_test, test)):
        dump_svmlight_file(cws.transform(X), y, path, zero_based=False)
    yield f"Written: {train} and {test}, the texts under the map with k = {n_hashes}."
    yield "With LIBLINEAR (its programs have the prefix liblinear- in Debian's liblinear-tools):"
    yield f"  train -c 1 {train} {model}"
    yield f"  predict {test} {model} {directory / 'texts.predicted'}"


def run(
    directory: str | Path,
    plot: str | None = None,
    say: Callable[[str], None] = print,
    sizes: DemoSizes = DemoSizes(),  # noqa: B008
) -> None:
    """Run the demonstration; LIBSVM files go to `directory`, a picture to `plot`."""
    outputs = [(str(Path(directory, name)), "a file of the texts") for name in WRITTEN]
    if plot is not None:
        outputs.append((plot, "the picture of --plot"))
    _output_files.refuse_clashes([], outputs, [directory])
    Path(directory).mkdir(parents=True, exist_ok=True)
    tables = []
    for make in (digits, texts):
        task = make(sizes)
        all_steps = tqdm(list(steps(task)), desc="learning", disable=None, leave=False)
        tables.append((task, [step() for step in all_steps]))
        for line in table(*tables[-1]):
            say(line)
    for line in itertools.chain(near_duplicates(task.texts), write(task, Path(directory))):
        say(line)
    if plot is not None:
        draw(tables, plot)
        say(f"Written: {plot}, accuracy against bytes a row.")
