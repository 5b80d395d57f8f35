"""What users write, for type checkers: nothing here is run."""

from typing import assert_type

import numpy as np
import numpy.typing as npt
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
    approximation,
    codes,
    files,
    kernels,
    libsvm,
    neighbors,
    text,
)
from sparsemaps._tools._typing import Array, Bytes, Counts, CsrMatrix, Floats, Rows

X = sp.csr_array(np.eye(3))


def maps() -> None:
    CountSketch(n_components=16, dense_output=True, random_state=0, n_jobs=-1).fit(X).transform(X)
    TensorSketch(degree=3, gamma=0.5, coef0=1.0, method="direct").fit_transform(X)
    TensorSketch(kernel=(0.5, 1.0), dense_output=False).fit(X).exact_kernel(X)
    RandomMaclaurin(kernel="exp", h01=True).fit(X).get_feature_names_out()
    RandomMaclaurin(kernel=(0.0, 1.0, 0.5), random_state=np.random.default_rng(0)).fit(X)
    cauchy = RandomProjection(distribution="cauchy").fit(X)
    print(cauchy.approximate_l1(cauchy.transform(X)).shape)
    RandomFourier(gamma="scale", form="offset").fit(X).exact_kernel(X)
    RandomFourier(spectrum=lambda u: 2 * u - 1, gamma=0.5).fit(X).exact_kernel(X)
    Fastfood(kernel="matern", transform_type="fft", hash_dim=None).fit_any_width().transform(X)
    RandomBinning(n_grids=8, n_bins=16, pitch_density=lambda pitch: pitch * np.exp(-pitch)).fit(X)
    cws = ConsistentWeightedSampling(method="levels", signed=True).set_params(bits=4)
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


def results() -> None:
    """What is not Any to a user."""
    assert_type(RandomFourier().fit_transform(X), Array)
    assert_type(MinHash().fit_transform(X), CsrMatrix)
    assert_type(MinHash().fit_transform(X).toarray(), Array)
    assert_type(KernelProduct().fit_transform(X), CsrMatrix)
    minhash = MinHash(n_hashes=8).fit(X)
    packed = minhash.encode(X, packed=True)
    assert_type(minhash.encode(X), Bytes)
    assert_type(packed, codes.PackedCodes)
    assert_type(packed.sampled, npt.NDArray[np.bool_])
    assert_type(codes.collisions(packed, packed), Counts)
    assert_type(codes.to_csr(packed), CsrMatrix)
    assert_type(codes.kernel_from_collisions([1, 2], packed), Floats)
    assert_type(codes.kernel_from_collisions(1, packed, return_std=True), tuple[Floats, Floats])
    assert_type(kernels.min_max_kernel(X), Array)
    assert_type(neighbors.top_k(packed, packed, 1), tuple[Rows, Counts])
    assert_type(neighbors.similar_pairs(packed, 0.5), tuple[Rows, Rows, Floats])
    index = neighbors.KernelNeighbors(MinHash()).fit(X)
    assert_type(index.kneighbors(X, 1), tuple[Floats, Rows])
    assert_type(index.kneighbors(X, return_distance=False), Rows)
    assert_type(index.kneighbors_graph(X), CsrMatrix)
    assert_type(libsvm.load_svmlight_file("a.svm"), tuple[CsrMatrix, Floats])
    assert_type(libsvm.load_svmlight_file("a.svm", query_id=True), tuple[CsrMatrix, Floats, Rows])
    for block in libsvm.iter_svmlight_file("a.svm", multilabel=True, block_bytes=1000):
        assert_type(block, tuple[CsrMatrix, list[tuple[float, ...]]])
    assert_type(text.HashingVectorizer().fit_transform(["a text"]), CsrMatrix)
    assert_type(text.ByteNgrams().transform(["a text"]), CsrMatrix)
    assert_type(approximation.min_components(MinHash(), 0.1), int)


def jobs() -> None:
    """Options of jobs are keywords, with types."""
    source = files.Texts("word:5", field="text", min_length=1, idf=None)
    done = files.deduplicate_files(
        None, "in.jsonl", "out.jsonl", source=source, threshold=0.9, keep="longest", task=None
    )
    print(done.n_kept, files.Search(threshold=0.9), files.Removal(keep="longest"))
    files.map_files(MinHash(), ["a.svm", "b.svm"], "out/", format="npy", n_jobs=2, resume=False)
    files.similar_pairs_of_files(MinHash(), "a.svm", "pairs.tsv", containment=True, max_bytes=2**30)
    print(files.Run(n_jobs=2), files.Tables(removed="removed.tsv"), files.Svmlight(zero_based=True))
