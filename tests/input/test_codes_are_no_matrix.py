"""Packed codes in the place of a matrix are one error, in all functions that take a matrix."""

import inspect

import numpy as np
import pytest
from _data.chance import SEED
from _data.variants import MAPS, make

from sparsemaps import MinHash, approximation, codes, kernels, libsvm, linear, neighbors

X = np.random.default_rng(SEED).integers(0, 2, (20, 16)).astype(float)
X[:, 0] = 1
MAP = MinHash(n_hashes=16, random_state=0)
CODES = MAP.fit(X).encode(X, packed=True)


def refused(function, *arguments, name="X", **more):
    message = rf"^{name} must be a matrix \(of codes, sparsemaps.neighbors has .*got PackedCodes$"
    with pytest.raises(ValueError, match=message):
        function(*arguments, **more)


def methods_of(estimator):
    """The public methods that take a matrix `X`."""
    return {
        name: method
        for name, method in inspect.getmembers(estimator, inspect.ismethod)
        if name[0] != "_" and "X" in inspect.signature(method).parameters
    }


@pytest.mark.parametrize("name", MAPS)
def test_maps(name):
    map = make(name)
    found = methods_of(map.fit(X))
    assert {"fit", "transform", "fit_transform", "exact_kernel"} <= set(found)
    for method in found.values():
        refused(method, CODES)
    refused(map.exact_kernel, X, CODES, name="[XY]")


@pytest.mark.parametrize("name", kernels.__all__)
def test_kernels(name):
    function = getattr(kernels, name)
    refused(function, CODES)
    refused(function, X, CODES, name="Y")


def test_an_index_with_rows():
    index = neighbors.KernelNeighbors(MAP, radius=0.2, rerank=True)
    message = "^X must be a matrix, as rerank compares the rows themselves, got PackedCodes$"
    with pytest.raises(ValueError, match=message):
        index.fit(CODES)
    with pytest.raises(ValueError, match=message):
        index.insert_new(CODES, threshold=0.8)
    found = methods_of(index.fit(X))
    assert {"fit", "partial_fit", "insert_new", "kneighbors", "radius_neighbors"} <= set(found)
    for method in found.values():
        more = {"threshold": 0.8} if "threshold" in inspect.signature(method).parameters else {}
        with pytest.raises(ValueError, match=message):
            method(CODES, **more)


def test_functions_of_a_matrix(tmp_path):
    refused(approximation.kernel_error, MAP, CODES)
    refused(approximation.min_components, MAP, 0.1, X=CODES)
    refused(approximation.KernelApproximationDisplay.from_estimator, MAP, CODES)
    refused(libsvm.dump_svmlight_file, CODES, np.zeros(20), str(tmp_path / "out"))


def test_these_are_all_functions():
    """Of the public modules; those of `linear` and of `codes` take codes."""
    found = {
        f"{module.__name__}.{name}"
        for module in (approximation, codes, libsvm, neighbors, linear)
        for name in module.__all__
        if inspect.isfunction(getattr(module, name))
        and "X" in inspect.signature(getattr(module, name)).parameters
    }
    assert found == {
        "sparsemaps.approximation.kernel_error", "sparsemaps.approximation.min_components",
        "sparsemaps.libsvm.dump_svmlight_file",
    }  # fmt: skip


def test_estimators_of_codes_take_them():
    y = np.arange(20) % 2
    for rows in (X, CODES):
        assert linear.KernelClassifier(MAP).fit(rows, y).predict(rows).shape == (20,)
