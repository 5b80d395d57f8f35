"""Matrices that another thread changes during a call: the result may be wrong, or an error, but
nothing outside the arrays is read or written.

``SPARSEMAPS_CHANGES_SECONDS=5`` calls each function for that long, not for a moment.
"""

import functools
import inspect
import io
import os
import threading
import time
from unittest import mock

import numpy as np
import programs
import pytest
import scipy.sparse as sp
from conftest import MAPS, make

import sparsemaps
from sparsemaps import approximation, codes, dask, kernels, libsvm, neighbors

SECONDS = float(os.environ.get("SPARSEMAPS_CHANGES_SECONDS", "0.01"))

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

OTHERS = {
    "dask.encode": "Dask cuts the matrix; the parts are given to a map",
    "dask.transform": "the same",
    "codes.dump_svmlight_file": "refuses sparse labels without a look at them",
}


MODULES = approximation, codes, dask, kernels, libsvm, neighbors


def takers_of_matrices():
    """The public functions and classes of the modules that take a matrix or labels."""
    for module in MODULES:
        for name in module.__all__:
            public = getattr(module, name)
            takes = inspect.isfunction(public) and (
                {"X", "Y", "y"} & set(inspect.signature(public).parameters)
            )
            if takes or any(takes_matrix(public, method) for method in dir(public)):
                yield f"{module.__name__.removeprefix('sparsemaps.')}.{name}"


def test_every_function_that_takes_a_matrix_is_called():
    indexes = {"neighbors.KernelNeighbors"}
    assert set(takers_of_matrices()) == set(FUNCTIONS) | set(OTHERS) | indexes
    classes = {name for name in sparsemaps.__all__ if isinstance(getattr(sparsemaps, name), type)}
    assert classes == set(MAPS)


def takes_matrix(instance, name):
    """Whether a method has a parameter X."""
    method = None if name.startswith("_") else getattr(instance, name, None)
    return callable(method) and "X" in inspect.signature(method).parameters


def instances(X):
    """Fitted objects with methods that take a matrix, by name."""
    for name, variants in MAPS.items():
        for number, parameters in enumerate(variants):
            yield f"{name} {number}", make(name, **parameters).fit(X)
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
    rng = np.random.default_rng(0)
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


def run(make_calls, index_type, width, to_format="csr"):
    context = programs.context()
    number = context.Value("i", 0)
    arguments = make_calls, index_type, width, to_format, number
    process = context.Process(target=call_all, args=arguments)
    process.start()
    process.join()
    names = [name for name, _ in make_calls(matrix(np.random.default_rng(0), index_type, width))]
    assert process.exitcode == 0, f"{names[number.value]} ended with {process.exitcode}"


@pytest.mark.parametrize(("index_type", "width"), [("int32", 600), ("int64", 10**9)])
def test_changes_during_a_call(index_type, width):
    """Columns few enough for a table, and too many."""
    run(calls, index_type, width)


@pytest.mark.parametrize("to_format", ["csc", "coo", "bsr", "dia"])
def test_changes_of_other_formats(to_format):
    run(conversions, "int32", 600, to_format)
