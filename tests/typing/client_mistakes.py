"""Mistakes that mypy and pyright must find, for them alone: nothing here is run.

Each mistake is marked by ``type: ignore``. Both checkers report a mark on a line without an error
(``warn_unused_ignores``, ``reportUnnecessaryTypeIgnoreComment``), and an error on a line without a
mark.
"""

import numpy as np
import scipy.sparse as sp

import sparsemaps
from sparsemaps import (
    ConsistentWeightedSampling,
    CountSketch,
    KernelProduct,
    MinHash,
    RandomFourier,
    SignProjection,
    TensorSketch,
    approximation,
    codes,
    files,
    kernels,
    libsvm,
    neighbors,
    text,
)

X = sp.csr_array(np.eye(3))
minhash = MinHash().fit(X)
packed = minhash.encode(X, packed=True)
index = neighbors.KernelNeighbors(MinHash()).fit(X)


def names() -> None:
    print(sparsemaps.CountSketches)  # type: ignore[attr-defined]
    CountSketch().encod(X)  # type: ignore[attr-defined]
    CountSketch().encode(X)  # type: ignore[attr-defined]
    print(packed.nbits)  # type: ignore[attr-defined]
    kernels.minmax_kernel(X)  # type: ignore[attr-defined]


def parameters() -> None:
    MinHash(n_hashes="many")  # type: ignore[arg-type]
    MinHash(bit=8)  # type: ignore[call-arg]
    TensorSketch(3)  # type: ignore[call-arg, arg-type]
    TensorSketch(method="both")  # type: ignore[arg-type]
    RandomFourier(gamma="auto")  # type: ignore[arg-type]
    RandomFourier(kernel="gauss")  # type: ignore[arg-type]
    SignProjection(random_state="seed")  # type: ignore[arg-type]
    KernelProduct(maps=3)  # type: ignore[arg-type]
    ConsistentWeightedSampling(method="level")  # type: ignore[arg-type]
    neighbors.KernelNeighbors(CountSketch())  # type: ignore[arg-type]
    libsvm.load_svmlight_file("a.svm", queryid=True)  # type: ignore[call-overload]


def arguments() -> None:
    minhash.transform("a.svm")  # type: ignore[arg-type]
    minhash.transform([1.0, 2.0])  # type: ignore[arg-type]
    minhash.exact_kernel()  # type: ignore[call-arg]
    kernels.rbf_kernel(X, gamma="scale")  # type: ignore[arg-type]
    kernels.min_max_kernel(3)  # type: ignore[arg-type]
    libsvm.load_svmlight_file(["a.svm", "b.svm"])  # type: ignore[call-overload]
    neighbors.top_k(packed, packed)  # type: ignore[call-arg]
    approximation.min_components("MinHash", 0.1)  # type: ignore[arg-type]


def results() -> None:
    RandomFourier().fit_transform(X).toarray()  # type: ignore[attr-defined]
    minhash.transform(X).todense2()  # type: ignore[attr-defined]
    print(minhash.encode(X).config)  # type: ignore[attr-defined]
    print(index.kneighbors(X).shape)  # type: ignore[attr-defined]
    i, j = neighbors.similar_pairs(packed, 0.5)  # type: ignore[misc]
    rows, y = libsvm.load_svmlight_file("a.svm", query_id=True)  # type: ignore[misc]
    codes.kernel_from_collisions(3, packed, return_std=True).mean()  # type: ignore[attr-defined]
    print(text.ByteNgrams().transform(["a"]).vocabulary)  # type: ignore[attr-defined]
    print(i, j, rows, y)


def jobs() -> None:
    files.deduplicate_files(None, "in", "out", thresholds=0.9)  # type: ignore[call-arg]
    files.deduplicate_files(None, "in", "out", threshold="high")  # type: ignore[arg-type]
    files.train_files(None, "in", "out")  # type: ignore[arg-type]
    files.map_files(MinHash(), "in", "out", threshold=0.9)  # type: ignore[call-arg]
    files.Search(thresholds=0.9)  # type: ignore[call-arg]
