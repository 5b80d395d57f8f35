"""What users write, for type checkers: nothing here is run.

Lines with ``type: ignore`` are errors that a checker must find: `mypy` reports an ``ignore`` where
there is no error (``warn_unused_ignores``).
"""

import numpy as np
import scipy.sparse as sp

import sparsemaps
from sparsemaps import (
    ConsistentWeightedSampling,
    CountSketch,
    Fastfood,
    KernelProduct,
    MinHash,
    RandomBinning,
    RandomFourier,
    RandomMaclaurin,
    RandomProjection,
    SignProjection,
    TensorSketch,
    codes,
    kernels,
    libsvm,
)

X = sp.csr_array(np.eye(3))


def maps() -> None:
    CountSketch(n_components=16, dense_output=True, random_state=0, n_jobs=-1).fit(X).transform(X)
    TensorSketch(degree=3, gamma=0.5, coef0=1.0, method="direct").fit_transform(X)
    RandomMaclaurin(kernel="exp", h01=True).fit(X).get_feature_names_out()
    RandomMaclaurin(kernel=(0.0, 1.0, 0.5), random_state=np.random.default_rng(0)).fit(X)
    cauchy = RandomProjection(distribution="cauchy").fit(X)
    print(cauchy.approximate_l1(cauchy.transform(X)).shape)
    RandomFourier(gamma="scale", form="offset").fit(X).exact_kernel(X)
    Fastfood(kernel="matern", transform_type="fft", hash_dim=None).fit_any_width().transform(X)
    RandomBinning(n_grids=8, n_bins=16, pitch_density=lambda pitch: pitch * np.exp(-pitch)).fit(X)
    cws = ConsistentWeightedSampling(method="dart", signed=True).set_params(bits=4)
    columns, t = cws.fit(X).sample(X)
    packed = cws.encode(X)
    members = MinHash(n_hashes=8).fit(X).sample(X)
    print(columns + t, packed.nbytes, members.shape)
    signs = SignProjection(distribution="rademacher", dense_output=False)
    KernelProduct(maps=(cws, signs)).fit(X).encode(X)
    KernelProduct(maps=[("weights", cws), ("signs", signs)]).set_params(signs__n_hashes=8)
    again = sparsemaps.from_config(signs.fit(X).to_config())
    print(again.seed_, again.get_params()["random_state"], again.set_output(transform="default"))
    sparsemaps.show_versions()


def functions() -> None:
    K = kernels.min_max_kernel(X) * kernels.acos_kernel(X, n_jobs=2)
    print(K.sum(), kernels.rbf_kernel(X), kernels.matern_kernel(X, nu=2.5))
    libsvm.dump_svmlight_file(X, [1, 2, 3], "file.svm", zero_based=False)
    loaded, y = libsvm.load_svmlight_file("file.svm", n_features=3)
    for block in libsvm.iter_svmlight_file("file.svm", block_bytes=1000):
        print(block, loaded, y)
    packed = MinHash(n_hashes=8).fit(X).encode(X)
    print(codes.hamming(packed, packed), codes.unpack(packed, 8), codes.to_csr(packed, 8))
    print(codes.kernel_from_collisions(codes.collisions(packed, packed, 8), 8, 8))


def errors() -> None:
    CountSketch().encod(X)  # type: ignore[attr-defined]
    CountSketch().encode(X)  # type: ignore[attr-defined]
    MinHash(n_hashes="many")  # type: ignore[arg-type]
    MinHash(bit=8)  # type: ignore[call-arg]
    TensorSketch(3)  # type: ignore[call-overload]
    TensorSketch(method="both")  # type: ignore[call-overload]
    RandomFourier(gamma="auto")  # type: ignore[arg-type]
    RandomFourier(kernel="gauss")  # type: ignore[arg-type]
    SignProjection(random_state="seed")  # type: ignore[call-overload]
    KernelProduct(maps=3)  # type: ignore[arg-type]
    print(sparsemaps.CountSketches)  # type: ignore[attr-defined]
    MinHash().fit(X).exact_kernel()  # type: ignore[call-arg]
