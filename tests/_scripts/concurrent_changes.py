"""What takes a matrix, and a process that calls it while a thread changes that matrix."""

import functools
import inspect
import io
import os
import threading
import time
from unittest import mock

import numpy as np
import scipy.sparse as sp
from _data.chance import SEED
from _data.variants import MAPS, make

from sparsemaps import approximation, kernels, libsvm, neighbors
from sparsemaps.text import IdfWeights

SECONDS = float(os.environ.get("SPARSEMAPS_CHANGES_SECONDS", "0.006"))

Y = np.ones(120)


def fixed(X):
    """A matrix of the same width that nobody changes."""
    return sp.csr_array(([1.0], ([0], [3])), shape=(2, X.shape[1]))


def dump(X, y, **options):
    libsvm.dump_svmlight_file(X, y, io.BytesIO(), **options)


def minhash():
    return make("MinHash", n_hashes=16)


def show(X):
    with mock.patch.object(approximation.KernelApproximationDisplay, "plot"):
        approximation.KernelApproximationDisplay.from_estimator(
            minhash(), X, n_pairs=10, n_seeds=2, sizes=[16]
        )


FUNCTIONS = {
    "approximation.kernel_error": lambda X: approximation.kernel_error(
        minhash(), X, n_pairs=10, n_seeds=2, random_state=0
    ),
    "approximation.min_components": lambda X: approximation.min_components(
        minhash(), 0.1, X=X, n_pairs=10
    ),
    "approximation.KernelApproximationDisplay": show,
    "libsvm.dump_svmlight_file": lambda X: (dump(X, Y), dump(Y[:, None], X, multilabel=True)),
    **{
        f"kernels.{name}": lambda X, name=name: (
            getattr(kernels, name)(X), getattr(kernels, name)(fixed(X), X, n_jobs=2),
        )
        for name in kernels.__all__
    },
}  # fmt: skip


def takes_matrix(instance, name):
    """Whether a method has a parameter X."""
    method = None if name.startswith("_") else getattr(instance, name, None)
    return callable(method) and "X" in inspect.signature(method).parameters


def instances(X):
    """Fitted objects with methods that take a matrix, by name."""
    for name, variants in MAPS.items():
        for number, parameters in enumerate(variants):
            yield f"{name} {number}", make(name, **parameters).fit(X)
    yield "IdfWeights", IdfWeights(n_buckets=2**10, n_jobs=2).fit(X)
    for algorithm in ("brute", "lsh"):
        index = neighbors.KernelNeighbors(
            minhash(), n_neighbors=2, radius=0.5, rerank=True, algorithm=algorithm
        )
        yield f"KernelNeighbors {algorithm}", index.fit(fixed(X)).partial_fit(X[:20])


def calls(X):
    """All methods and functions, as functions of one matrix."""
    for what, instance in instances(X):
        for name in dir(instance):
            if takes_matrix(instance, name):
                more = {"threshold": 0.5} if name == "insert_new" else {}
                if name == "exact_kernel" and getattr(instance, "spectrum", None) is not None:
                    more = {"Y": fixed(X)}  # 10,000 differences take a second
                yield f"{what}.{name}", functools.partial(getattr(instance, name), **more)
    yield from FUNCTIONS.items()


def conversions(X):
    """What reads matrices of other formats."""
    sketch = make("CountSketch", n_components=8).fit(X)
    yield "transform", sketch.transform
    yield "exact_kernel", sketch.exact_kernel
    yield "rbf_kernel", kernels.rbf_kernel
    yield "dump", FUNCTIONS["libsvm.dump_svmlight_file"]
    yield "rerank", neighbors.KernelNeighbors(minhash(), rerank=True).fit


def matrix(rng, index_type, width):
    n_rows, length = len(Y), 40
    indices = np.sort(rng.integers(0, width // length, (n_rows, length)), axis=1)
    indices += np.arange(length) * (width // length)
    X = sp.csr_matrix((n_rows, width))
    X.data, X.indices = rng.random(indices.size), indices.reshape(-1).astype(index_type)
    X.indptr = (np.arange(n_rows + 1) * length).astype(index_type)
    return X


def index_arrays(X):
    if X.format == "coo":
        return list(X.coords)
    return [X.offsets] if X.format == "dia" else [X.indices, X.indptr]


def change(X, rng, stop):
    """Damage parts of the matrix for a moment, again and again."""
    arrays = [*index_arrays(X), X.data.reshape(-1)]
    sound = [array.copy() for array in arrays]
    largest = np.iinfo(arrays[0].dtype).max
    while not stop.is_set():
        chosen = rng.integers(0, len(arrays))
        array, before = arrays[chosen], sound[chosen]
        part = slice(*np.sort(rng.integers(0, array.size + 1, 2)))
        hostile = [0, largest, -1, -largest, X.shape[1] - 1, X.nnz + 1000]
        array[part] = rng.choice([0.0, 1.0, -1.0] if array.dtype.kind == "f" else hostile)
        time.sleep(1e-5)
        array[part] = before[part]
        time.sleep(rng.random() * 1e-3)


def call_all(make_calls, index_type, width, to_format, number):
    """Call each function for a while; `number` tells which one is being called."""
    rng = np.random.default_rng(SEED)
    sound = matrix(rng, index_type, width)
    X = sound.asformat(to_format)
    all_calls = list(make_calls(sound.copy()))
    stop = threading.Event()
    thread = threading.Thread(target=change, args=(X, rng, stop), daemon=True)
    thread.start()
    done = 0
    for number.value, (name, function) in enumerate(all_calls):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            try:
                function(X)
                done += 1
            except ValueError:
                pass
            except Exception as error:
                raise AssertionError(name) from error
    stop.set()
    thread.join()
    assert done > len(all_calls) / 10
