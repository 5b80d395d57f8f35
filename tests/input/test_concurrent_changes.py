"""Matrices that another thread changes during a call: the result may be wrong, or an error, but
nothing outside the arrays is read or written.

``SPARSEMAPS_CHANGES_SECONDS=5`` calls each function for that long, not for a moment.
"""

import inspect

import numpy as np
import pytest
from _data.chance import SEED
from _data.variants import MAPS
from _scripts import concurrent_changes, programs
from _scripts.concurrent_changes import FUNCTIONS, calls, conversions, matrix, takes_matrix

import sparsemaps
from sparsemaps import approximation, codes, dask, kernels, libsvm, neighbors, text

OTHERS = {
    "codes.dump_svmlight_file": "refuses sparse labels without a look at them",
    "text.ByteNgrams": "takes texts",
    "text.HashingVectorizer": "takes texts",
}


MODULES = approximation, codes, dask, kernels, libsvm, neighbors, text


def takers_of_matrices():
    """The public functions and classes of the modules that take a matrix or labels."""
    for module in MODULES:
        for name in module.__all__:
            public = getattr(module, name)
            if isinstance(public, str):
                continue
            takes = inspect.isfunction(public) and (
                {"X", "Y", "y"} & set(inspect.signature(public).parameters)
            )
            if takes or any(takes_matrix(public, method) for method in dir(public)):
                yield f"{module.__name__.removeprefix('sparsemaps.')}.{name}"


def test_every_function_that_takes_a_matrix_is_called():
    estimators = {"neighbors.KernelNeighbors", "text.IdfWeights"}
    assert set(takers_of_matrices()) == set(FUNCTIONS) | set(OTHERS) | estimators
    classes = {name for name in sparsemaps.__all__ if isinstance(getattr(sparsemaps, name), type)}
    assert classes == set(MAPS)


def run(make_calls, index_type, width, to_format="csr"):
    context = programs.context()
    number = context.Value("i", 0)
    arguments = make_calls, index_type, width, to_format, number
    process = context.Process(target=concurrent_changes.call_all, args=arguments)
    process.start()
    process.join()
    names = [name for name, _ in make_calls(matrix(np.random.default_rng(SEED), index_type, width))]
    assert process.exitcode == 0, f"{names[number.value]} ended with {process.exitcode}"


@pytest.mark.parametrize(("index_type", "width"), [("int32", 600), ("int64", 10**9)])
def test_changes_during_a_call(index_type, width):
    """Columns few enough for a table, and too many."""
    run(calls, index_type, width)


@pytest.mark.parametrize("to_format", ["csc", "coo", "bsr", "dia"])
def test_changes_of_other_formats(to_format):
    run(conversions, "int32", 600, to_format)
