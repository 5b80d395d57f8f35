"""``sparsemaps demo``: what the maps do for a linear learner, on data that every installation has.

Three scenes. Handwritten digits, bundled in scikit-learn: every map beside its exact kernel. And
texts: the documentation strings of Python's standard library and of the installed scientific
packages, of which the package is to be told from how often each of the 256 bytes occurs, as in
web-spam classification by unigrams; and the same texts, of which those that are nearly the same are
to be found.
"""

import ast
import importlib.util
import sysconfig
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from tqdm import tqdm

from sparsemaps import _sklearn, kernels, neighbors
from sparsemaps._sampled import SampledMap
from sparsemaps.count_sketch import CountSketch
from sparsemaps.fastfood import Fastfood
from sparsemaps.kernel_product import KernelProduct
from sparsemaps.libsvm import dump_svmlight_file
from sparsemaps.minhash import MinHash
from sparsemaps.random_binning import RandomBinning
from sparsemaps.random_fourier import RandomFourier
from sparsemaps.random_maclaurin import RandomMaclaurin
from sparsemaps.sign_projection import SignProjection
from sparsemaps.tensor_sketch import TensorSketch
from sparsemaps.weighted_sampling import ConsistentWeightedSampling

N_HASHES = (64, 256, 1024)
BITS = 8
N_COMPONENTS = 1024
DEGREE = 3
GAMMA, LAPLACIAN_GAMMA = 2.0, 0.3
PACKAGES = ("numpy", "scipy", "sklearn")
N_SET_HASHES = 256
SIMILAR = 0.8
N_SHOWN = 3
TEXTS_EACH = 1200
SHORTEST_TEXT, LONGEST_TEXT = 200, 2000


class Task(NamedTuple):
    """A classification task, split."""

    title: str
    short: str
    X_train: sp.csr_array
    y_train: np.ndarray
    X_test: sp.csr_array
    y_test: np.ndarray
    all_maps: bool  # every map, or the min-max kernel's alone
    texts: list[tuple[str, bytes]]  # of each row of both parts where it is from, and its text


class Result(NamedTuple):
    """A row of the table."""

    name: str
    accuracy: float
    map_seconds: float | None
    train_seconds: float
    row_bytes: float


def digits():
    """Handwritten digits, 8 x 8 pixels of 0 to 16."""
    load_digits, *_ = _sklearn.learners()
    X, y = load_digits(return_X_y=True)
    is_test = np.arange(len(y)) % 3 == 2
    X = sp.csr_array(X)
    title = "1. Handwritten digits: 8 x 8 pixels"
    parts = X[~is_test], y[~is_test], X[is_test], y[is_test]
    return Task(title, "handwritten digits", *parts, all_maps=True, texts=[])


def docstrings(path):
    """Documentation strings of a module, its classes and functions, as bytes."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        text = ast.get_docstring(node) if isinstance(node, kinds) else None
        if text is not None and len(text) >= SHORTEST_TEXT:
            yield text[:LONGEST_TEXT].encode(errors="replace")


def byte_counts(text):
    """How often each of the 256 bytes occurs in a text."""
    return np.bincount(np.frombuffer(text, np.uint8), minlength=256)


def sources():
    """(name, files) of the standard library and of each package that is installed."""
    library = Path(sysconfig.get_paths()["stdlib"])
    skipped = ("site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3")
    yield (
        "standard library",
        [
            path
            for path in sorted(library.rglob("*.py"))
            if not set(skipped) & set(path.relative_to(library).parts)
        ],
    )
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            root = Path(spec.origin).parent
            yield name, [p for p in sorted(root.rglob("*.py")) if "tests" not in p.parts]


def texts():
    """Documentation strings by package; whole files are for training or for the test."""
    rows, labels, for_test, seen, read = [], [], [], set(), []
    all_sources = list(sources())
    with tqdm(
        total=TEXTS_EACH * len(all_sources), desc="reading texts", disable=None, leave=False
    ) as bar:
        for label, (name, files) in enumerate(all_sources):
            found = 0
            for number, path in enumerate(files):
                for text in docstrings(path):
                    if text in seen or found == TEXTS_EACH:
                        continue
                    seen.add(text)
                    rows.append(byte_counts(text))
                    read.append((name, f"{path.parent.name}/{path.name}", text))
                    labels.append(label)
                    for_test.append(number % 3 == 2)
                    found += 1
                    bar.update()
                if found == TEXTS_EACH:
                    break
    X = sp.csr_array(np.array(rows, float))
    y, for_test = np.array(labels), np.array(for_test)
    names = ", ".join(source for source, _ in all_sources)
    title = f"2. Documentation strings as counts of bytes: which package are they from? ({names})"
    parts = X[~for_test], y[~for_test], X[for_test], y[for_test]
    return Task(title, "texts by their bytes", *parts, all_maps=False, texts=read)


def timed(function):
    """(result, seconds) of a call."""
    start = time.perf_counter()
    return function(), time.perf_counter() - start


def linear(task, how, scale):
    """A linear SVM on the rows themselves, scaled."""
    _, _, LinearSVC, _ = _sklearn.learners()
    X, X_test = scale(task.X_train), scale(task.X_test)
    model, seconds = timed(lambda: LinearSVC(random_state=0).fit(X, task.y_train))
    row_bytes = X.nnz / X.shape[0] * (X.data.itemsize + X.indices.itemsize)
    accuracy = model.score(X_test, task.y_test)
    return Result(f"linear SVM, {how}", accuracy, None, seconds, row_bytes)


def exact(task, name, gram):
    """An SVM on an exact kernel, of which `gram` makes the matrix."""
    _, SVC, _, _ = _sklearn.learners()
    (K, K_test), map_seconds = timed(lambda: (gram(task.X_train), gram(task.X_test, task.X_train)))
    model, seconds = timed(lambda: SVC(kernel="precomputed").fit(K, task.y_train))
    accuracy = model.score(K_test, task.y_test)
    return Result(f"exact {name} kernel, SVM", accuracy, map_seconds, seconds, 8.0 * len(K))


def mapped(task, name, features):
    """A linear SVM on a map's output."""
    _, _, LinearSVC, _ = _sklearn.learners()
    features.fit(task.X_train)
    (Z, Z_test), map_seconds = timed(
        lambda: (features.transform(task.X_train), features.transform(task.X_test))
    )
    model, seconds = timed(lambda: LinearSVC(random_state=0).fit(Z, task.y_train))
    accuracy = model.score(Z_test, task.y_test)
    if isinstance(features, SampledMap):
        row_bytes = features.encode(task.X_train[:1]).nbytes
    elif sp.issparse(Z):
        row_bytes = Z.nnz / Z.shape[0] * (Z.data.itemsize + Z.indices.itemsize)
    else:
        row_bytes = Z.shape[1] * Z.itemsize
    return Result(f"{name}, linear SVM", accuracy, map_seconds, seconds, row_bytes)


def columns_to_one(X):
    """A function that divides columns by the largest values of those of `X`."""
    largest = X.max(axis=0).toarray().reshape(-1)
    by = sp.diags_array(1 / np.where(largest > 0, largest, 1))
    return lambda Y: sp.csr_array(Y @ by)


def steps(task):
    """What the rows of a task's table are, as functions: exact kernels, each with its maps."""
    *_, normalize = _sklearn.learners()
    common = {"random_state": 0, "n_jobs": -1}
    yield lambda: linear(task, "rows of unit length", normalize)
    if not task.all_maps:
        yield lambda: linear(task, "columns to at most 1", columns_to_one(task.X_train))
    yield lambda: exact(task, "min-max", kernels.min_max_kernel)
    for n_hashes in N_HASHES:
        cws = ConsistentWeightedSampling(n_hashes=n_hashes, bits=BITS, **common)
        yield lambda cws=cws: mapped(task, f"ConsistentWeightedSampling, {cws.n_hashes}", cws)
    if task.all_maps:
        yield from other_steps(task, common)


def other_steps(task, common):
    """The same for the other kernels. Those of inner products take rows of unit length."""
    *_, normalize = _sklearn.learners()
    unit = task._replace(X_train=normalize(task.X_train), X_test=normalize(task.X_test))
    polynomial = {"degree": DEGREE, "coef0": 1.0, "n_components": N_COMPONENTS, **common}
    count_sketch = CountSketch(n_components=N_COMPONENTS, dense_output=True, **common)
    yield lambda: mapped(unit, f"CountSketch, {N_COMPONENTS}", count_sketch)
    minhash = MinHash(n_hashes=N_COMPONENTS, bits=BITS, **common)
    yield lambda: mapped(task, f"MinHash, {N_COMPONENTS}", minhash)
    exact_polynomial = partial(kernels.polynomial_kernel, degree=DEGREE, gamma=1, coef0=1)
    gaussian = {"gamma": GAMMA, "n_components": N_COMPONENTS, **common}
    laplacian = {"gamma": LAPLACIAN_GAMMA, **common}
    cws = ConsistentWeightedSampling(n_hashes=N_COMPONENTS, bits=BITS)
    product = KernelProduct(maps=(cws, SignProjection(n_hashes=N_COMPONENTS)), **common)
    named = {
        "polynomial": (exact_polynomial, TensorSketch(**polynomial), RandomMaclaurin(**polynomial)),
        "Gaussian": (
            partial(kernels.rbf_kernel, gamma=GAMMA),
            RandomFourier(**gaussian),
            Fastfood(**gaussian),
        ),
        "Laplacian": (
            partial(kernels.laplacian_kernel, gamma=LAPLACIAN_GAMMA),
            RandomBinning(n_grids=N_COMPONENTS, n_bins=2**BITS, **laplacian),
        ),
        "acos": (kernels.acos_kernel, SignProjection(n_hashes=N_COMPONENTS, **common)),
        "min-max times acos": (
            lambda X, Y=None: kernels.min_max_kernel(X, Y) * kernels.acos_kernel(X, Y),
            product,
        ),
    }
    for name, (gram, *maps) in named.items():
        yield lambda name=name, gram=gram: exact(unit, name, gram)
        for features in maps:
            label = f"{type(features).__name__}, {N_COMPONENTS}"
            yield lambda label=label, features=features: mapped(unit, label, features)


def results(task):
    """All rows of a task's table."""
    return [step() for step in tqdm(list(steps(task)), desc="learning", disable=None, leave=False)]


def table(task, rows):
    """The results of a task as lines of text, and what to see in them."""
    n, d = task.X_train.shape
    yield f"{task.title}"
    density = task.X_train.nnz / n
    yield f"  {n} + {len(task.y_test)} rows, {d} columns, {density:.0f} non-zeros a row"
    yield f"  {'':44} {'accuracy':>9} {'map, s':>8} {'train, s':>9} {'bytes/row':>10}"
    for row in rows:
        map_seconds = "" if row.map_seconds is None else f"{row.map_seconds:.2f}"
        yield (
            f"  {row.name:44} {row.accuracy:9.1%} {map_seconds:>8} {row.train_seconds:9.2f} "
            f"{row.row_bytes:10.0f}"
        )
    yield from seen(rows)
    yield ""


def seen(rows):
    """What a table shows, in sentences."""

    def best(start):
        return max(
            (row for row in rows if row.name.startswith(start)), key=lambda row: row.accuracy
        )

    plain, kernel, features = (
        best("linear SVM, "),
        best("exact min-max kernel"),
        best("ConsistentWeightedSampling"),
    )
    yield (
        f"  What to see: a linear SVM gets {plain.accuracy:.1%} on the rows, and "
        f"{features.accuracy:.1%} on {features.row_bytes:.0f} bytes of a map for each;"
    )
    yield (
        f"  the exact min-max kernel, whose matrix holds {kernel.row_bytes:.0f} bytes a row, gets "
        f"{kernel.accuracy:.1%}."
    )


def draw(tables, path):
    """Accuracy against bytes a row, as a picture."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("--plot needs matplotlib: pip install sparsemaps[plot]") from error
    from matplotlib import colormaps

    colors = colormaps["tab20"].colors
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    for ax, (task, rows) in zip(figure.subplots(1, len(tables)), tables, strict=True):
        series = {}
        for row in rows:
            name = row.name.partition(",")[0]
            series.setdefault(name, []).append((row.row_bytes, 100 * row.accuracy))
        for number, (name, points) in enumerate(series.items()):
            color = colors[number % len(colors)]
            style = {"color": color, "marker": "o", "linewidth": 1, "label": name}
            if name.startswith("exact"):
                style |= {"marker": "s", "markerfacecolor": "none"}
            elif name.startswith("linear"):
                style |= {"color": "black", "marker": "*", "linewidth": 0, "markersize": 9}
            ax.semilogx(*zip(*sorted(points), strict=True), **style)
        ax.set(xlabel="bytes a row", ylabel="test accuracy, %", title=task.short)
        ax.grid(alpha=0.25)
        ax.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path)


def trigrams(texts):
    """The sets of the texts' trigrams as rows of 2**24 columns."""
    columns = []
    for text in texts:
        letters = np.frombuffer(text.lower(), np.uint8).astype(np.int32)
        columns.append(np.unique((letters[:-2] << 16) | (letters[1:-1] << 8) | letters[2:]))
    indptr = np.cumsum([0] + [len(found) for found in columns])
    indices = np.concatenate(columns)
    return sp.csr_array((np.ones(len(indices)), indices, indptr), shape=(len(texts), 2**24))


def near_duplicates(texts):
    """Pairs of texts of nearly the same trigrams, as lines."""
    yield "3. Near-duplicates among the same texts: sets of trigrams, 2**24 columns"
    X = trigrams([text for _, _, text in texts])
    minhash = MinHash(n_hashes=N_SET_HASHES, bits=BITS, random_state=0, n_jobs=-1).fit(X)
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


def write(task, directory):
    """The texts under the largest map as LIBSVM files; the lines that say how to use them."""
    cws = ConsistentWeightedSampling(n_hashes=N_HASHES[1], bits=BITS, random_state=0, n_jobs=-1)
    cws.fit(task.X_train)
    directory.mkdir(parents=True, exist_ok=True)
    train, test, model = (directory / f"texts.{part}" for part in ("train", "test", "model"))
    for X, y, path in ((task.X_train, task.y_train, train), (task.X_test, task.y_test, test)):
        dump_svmlight_file(cws.transform(X), y, path, zero_based=False)
    yield f"Written: {train} and {test}, the texts under the map with k = {N_HASHES[1]}."
    yield "With LIBLINEAR (its programs have the prefix liblinear- in Debian's liblinear-tools):"
    yield f"  train -c 1 {train} {model}"
    yield f"  predict {test} {model} {directory / 'texts.predicted'}"


def run(directory, plot=None, say=print):
    """Run the demonstration; LIBSVM files go to `directory`, a picture to `plot`."""
    tables = []
    for make in (digits, texts):
        task = make()
        tables.append((task, results(task)))
        for line in table(*tables[-1]):
            say(line)
    for lines in (near_duplicates(task.texts), write(task, Path(directory))):
        for line in lines:
            say(line)
    if plot is not None:
        draw(tables, plot)
        say(f"Written: {plot}, accuracy against bytes a row.")
