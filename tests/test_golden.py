"""The numbers of every map, and the bits of every map and exact kernel, are those of golden.json
on every platform.

``python tests/test_golden.py`` writes the file. It changes with a new scheme number only
(docs/promise.md).
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from _data.variants import MAPS, make
from _oracles.equal import arrays_of
from _scripts.digests import digest, inputs, of_kernels, of_maps
from _scripts.numpy_features import features

from sparsemaps import kernels, text
from sparsemaps._tools import _seeding

GOLDEN = Path(__file__).with_name("golden.json")
BITS = "bits"  # the key of the digests


# ---- numbers that are exact ----------------------------------------------------------------------


def golden_input():
    """Small integers and powers of two, of which every sum is exact."""
    rng = np.random.default_rng(20)
    columns = [np.unique(rng.integers(0, 2**40, size=n)) for n in (5, 0, 1, 9)]
    indptr = np.cumsum([0] + [len(c) for c in columns])
    values = 2.0 ** rng.integers(-3, 9, size=indptr[-1])
    return sp.csr_array((values, np.concatenate(columns), indptr), shape=(4, 2**40))


def golden_output():
    X = golden_input()
    out = {"scheme": _seeding.SCHEME, "keys": _seeding.keys(7, "count_sketch", 3).tolist()}
    for name, variants in MAPS.items():
        for number, parameters in enumerate(variants):
            if parameters.get("kernel") == "matern" or name == "Fastfood":
                continue  # quantiles by scipy.special
            if "pitch_density" in parameters:
                continue  # exponentials by NumPy
            exact = {"method": "direct"} if name == "TensorSketch" else {}  # scipy.fft may change
            fitted = make(name, random_state=7, **{**parameters, **exact}).fit(X)
            Z = fitted.transform(X)
            named = {key: getattr(value, "__name__", value) for key, value in parameters.items()}
            shown = {} if name == "KernelProduct" else named
            record = {"parameters": shown, "output": [a.tolist() for a in arrays_of(Z)]}
            if hasattr(fitted, "encode"):
                record["codes"] = fitted.encode(X).tolist()
            if hasattr(fitted, "sample"):
                record["samples"] = [a.tolist() for a in fitted.sample(X)]
            out[f"{name} {number}"] = record
    return out


def test_golden():
    """The scheme's numbers on every platform. Rewrite only with a new scheme number:
    ``python tests/test_golden.py``."""
    golden = json.loads(GOLDEN.read_text())
    golden.pop(BITS)
    assert json.loads(json.dumps(golden_output())) == golden


# ---- bits of all numbers -------------------------------------------------------------------------


def by_library(name, parameters):
    """Whether a variant's last bits are those of scipy.fft, or of the function it is given."""
    return (
        (name == "TensorSketch" and parameters.get("method") != "direct")
        or parameters.get("transform_type") == "fft"
        or "pitch_density" in parameters
    )


LEFT_TO_LIBRARIES = {
    f"{name} {number}"
    for name, variants in MAPS.items()
    for number, parameters in enumerate(variants)
    if by_library(name, parameters)
}


def rational(pitch):
    """A density of pitches, of additions, multiplications and divisions alone."""
    above = 1 + pitch * pitch
    return 2 * pitch / (above * above)


def heavy(probability):
    """A spectrum of heavy tails, of additions, multiplications and divisions alone."""
    return (2 * probability - 1) / (probability * (1 - probability))


EXTRA = [
    ("TensorSketch", {"n_components": 24, "degree": 4, "coef0": 3.0, "method": "direct"}),
    ("TensorSketch", {"n_components": 24, "gamma": 0.3, "method": "direct"}),
    ("RandomMaclaurin", {"n_components": 40, "kernel": "exp", "gamma": 0.3}),
    ("RandomMaclaurin", {"n_components": 40, "degree": 4, "gamma": 0.7, "coef0": 0.3}),
    ("RandomFourier", {"n_components": 41, "kernel": "matern", "nu": 0.3, "form": "offset"}),
    ("RandomFourier", {"n_components": 40, "kernel": "matern", "nu": 40.0}),
    ("Fastfood", {"n_components": 150, "kernel": "rbf", "hash_dim": 1000}),
    ("Fastfood", {"n_components": 40, "kernel": "matern", "degree": 5, "hash_dim": 4}),
    ("RandomBinning", {"n_bins": 2**16, "n_grids": 40, "pitch_density": rational}),
    ("RandomProjection", {"n_components": 40, "distribution": "cauchy"}),
    ("RandomFourier", {"n_components": 41, "spectrum": heavy, "gamma": 0.3, "form": "offset"}),
    ("TensorSketch", {"n_components": 40, "kernel": "exp", "degree": 5, "method": "direct"}),
    ("Fastfood", {"n_components": 301, "transform_type": "orthogonal", "hash_dim": 200}),
]


def extra():
    """Ways through the code that the variants of other tests do not take."""
    for number, (name, parameters) in enumerate(EXTRA):
        for shape in ("few columns", "wide"):
            for dtype in (np.float64, np.float32):
                X = inputs()[shape].astype(dtype)
                Z = make(name, random_state=0, **parameters).fit_transform(X)
                yield f"extra {number}: {name}, {shape}, {np.dtype(dtype)}", Z
    X = inputs()["few columns"]
    signs = make("SignProjection", random_state=0, n_hashes=300, distribution="orthogonal").fit(X)
    yield "SignProjection, orthogonal", signs.encode(X)
    for nu in (0.2, 0.5, 2.5, 7.0, 300.0):
        yield f"matern_kernel, nu={nu}", kernels.matern_kernel(X, X[:7], gamma=0.05, nu=nu)
    for name in ("laplacian_kernel", "cauchy_kernel", "normalized_rbf_kernel"):
        yield f"{name}, gamma=0.03", getattr(kernels, name)(X, X[:7], gamma=0.03)
    near = sp.vstack([X[:7], X[:7] * (1 + 2.0**-40)])
    for name in ("laplacian_kernel", "matern_kernel", "rbf_kernel"):
        yield f"{name}, rows that are close", getattr(kernels, name)(near, gamma=2.0**70)
    for degree in (1, 2, 5, 12):
        K = kernels.polynomial_kernel(X, X[:7], degree=degree, gamma=0.3, coef0=-0.5)
        yield f"polynomial_kernel, degree={degree}", K


def found():
    """The digest of each case, by its name."""
    cases = {}
    for name, output in (*of_maps(), *of_kernels(), *extra()):
        if name.split(",")[0] not in LEFT_TO_LIBRARIES:
            cases[name] = digest(output)
    return cases


def assert_golden(cases):
    golden = json.loads(GOLDEN.read_text())[BITS]
    assert len(golden) > 300
    assert [name for name in golden if cases.get(name) != golden[name]] == []


def test_golden_bits():
    assert_golden(found())


@pytest.mark.skipif(not features(), reason="NumPy has nothing to choose from here")
def test_golden_bits_without_choices_of_instruction_sets():
    environment = {"NPY_DISABLE_CPU_FEATURES": " ".join(features()), "SPARSEMAPS_SIMD": "baseline"}
    run = subprocess.run(
        [sys.executable, __file__, "--print"], env={**os.environ, **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert_golden(json.loads(run.stdout))


def test_golden_snippets():
    """On every platform, with every version of Python."""
    texts = [
        "the cat sat on the mat",
        "吾輩は猫である。名前はまだ無い。",
        "ภาษาไทยเป็นภาษา",
        "to be",
    ] * 2
    found, index = text.snippets(texts, (2, 4), random_state=0)
    assert found == [
        "the mat",
        "sat on the mat",
        "無い",
        "前はまだ",
        "ภา",
        "ป็นภา",
        "to be",
        "the mat",
        "the cat sat on",
        "輩は",
        "輩は猫で",
        "ภา",
        "นภาษ",
        "to be",
    ]
    assert index.tolist() == [0, 0, 1, 1, 2, 2, 3, 4, 4, 5, 5, 6, 6, 7]


if __name__ == "__main__":
    if "--print" in sys.argv:
        print(json.dumps(found()))
    else:
        numbers = json.dumps(golden_output()).replace('}, "', '},\n"')
        bits = json.dumps(found(), indent=0)
        GOLDEN.write_text(f'{numbers[:-1]},\n"{BITS}": {bits}}}\n')
