"""Rows of LIBSVM files and maps of arrays on Dask: the same as on one machine."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.rows import random_csr
from _data.svmlight import write
from _oracles.equal import assert_same
from _oracles.one_machine import CWS
from sklearn.base import clone

import sparsemaps.dask as sd
from sparsemaps import ConsistentWeightedSampling, CountSketch
from sparsemaps.libsvm import load_svmlight_file

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")

# Clusters that come and go leave sockets that Python warns of.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.mark.parametrize("partition_bytes", [53, 1000, 2**26])
def test_read(inputs, partition_bytes):
    X, y = sd.read_svmlight(inputs, n_features=300, partition_bytes=partition_bytes)
    loaded = [load_svmlight_file(path, n_features=300) for path in inputs]
    assert X.chunks[0] == y.chunks[0]
    assert 0 not in X.chunks[0]
    assert X.shape == (60 + 41 + 40 + 0 + 40 + 20, 300)
    computed_X, computed_y = dask.compute(X, y)
    assert_same(sp.csr_array(computed_X), sp.csr_array(sp.vstack([X for X, _ in loaded], "csr")))
    np.testing.assert_array_equal(computed_y, np.concatenate([y for _, y in loaded]))
    block = X.blocks[0].compute()
    assert sp.issparse(block)
    assert block.shape[0] == X.chunks[0][0]
    assert X._meta.format == "csr"


def test_read_without_counting(inputs):
    X, y = sd.read_svmlight(inputs, n_features=300, partition_bytes=999, count_rows=False)
    assert np.isnan(X.shape[0])
    y.compute_chunk_sizes()
    assert y.shape == (201,)


def test_rows_that_begin_with_a_blank(tmp_path):
    """The last line has a label alone, and no end."""
    text = b" 1 1:1\n# a\n \t# b\n\n \t\r\n2 1:1\n\t0 2:3\n 1"
    (tmp_path / "in").write_bytes(text)
    expected, labels = load_svmlight_file(str(tmp_path / "in"), n_features=3)
    for partition_bytes in (1, 5, 100):
        X, y = sd.read_svmlight(
            tmp_path / "in", n_features=3, zero_based=True, partition_bytes=partition_bytes,
            dtype=np.float32,
        )  # fmt: skip
        assert X.dtype == X.compute().dtype == np.float32
        assert X.shape[0] == len(labels) == 4
        np.testing.assert_array_equal(y.compute(), labels)
    np.testing.assert_array_equal(X.compute().toarray()[:, 1:], expected.toarray()[:, :2])


def test_read_nothing(tmp_path):
    (tmp_path / "in").write_bytes(b"# no rows\n")
    X, y = sd.read_svmlight(tmp_path / "in", n_features=3)
    assert X.compute().shape == (0, 3)
    assert y.compute().shape == (0,)


def test_an_input_that_changes_between_counting_and_reading(tmp_path):
    write(tmp_path / "in")
    X, _ = sd.read_svmlight(tmp_path / "in", n_features=300)
    with open(tmp_path / "in", "ab") as file:
        file.write(b"1 1:1\n")
    with pytest.raises(ValueError, match=r"the input .*in has changed meanwhile"):
        X.compute()


def test_width_is_checked(inputs):
    X, _ = sd.read_svmlight(inputs[0], n_features=10)
    with pytest.raises(ValueError, match=r"a\.svm: .*features"):
        X.compute()


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array, np.asarray])
def test_every_map(new_map, container):
    rows = random_csr(23, 40, density=0.2)
    whole = rows.toarray() if container is np.asarray else container(rows)
    blocks = [whole[:10], whole[10:11], whole[11:]]
    X = da.concatenate(
        [da.from_array(block, chunks=block.shape, asarray=False) for block in blocks]
    )
    fitted = new_map().fit(whole)
    Z = sd.transform(fitted, X)
    expected = fitted.transform(whole)
    computed = Z.compute(scheduler="synchronous")
    assert type(computed) is type(expected) or container is np.asarray
    assert_same(sp.csr_array(computed), sp.csr_array(expected))
    assert Z.shape == expected.shape
    assert Z.dtype == expected.dtype
    assert type(Z._meta) is type(expected) or container is np.asarray
    if hasattr(fitted, "encode"):
        codes = sd.encode(fitted, X)
        np.testing.assert_array_equal(codes.compute(scheduler="sync"), fitted.encode(whole))


def test_unfitted_maps_are_copied_and_blocks_of_unknown_length_are_fine(inputs):
    X, _ = sd.read_svmlight(inputs, n_features=300, partition_bytes=999, count_rows=False)
    map = ConsistentWeightedSampling(n_hashes=8)
    Z = sd.transform(map, X).compute()
    assert Z.shape == (201, 8 * 256)
    assert not hasattr(map, "seed_")


def test_columns_in_several_chunks_are_joined():
    X = np.abs(np.random.default_rng(0).normal(size=(9, 20)))
    map = clone(CWS).fit(X)
    Z = sd.transform(map, da.from_array(X, chunks=(4, 6)))
    assert_same(sp.csr_array(Z.compute()), sp.csr_array(map.transform(X)))


def test_bad_arrays():
    with pytest.raises(ValueError, match="X must be a two-dimensional Dask array, got ndarray"):
        sd.transform(CWS, np.ones((3, 3)))
    with pytest.raises(ValueError, match="X must be a two-dimensional Dask array"):
        sd.transform(CWS, da.ones(3))
    with pytest.raises(ValueError, match="CountSketch has no codes"):
        sd.encode(CountSketch(), da.ones((3, 3)))
    X = np.ones((9, 3))
    X[7, 1] = np.nan
    with pytest.raises(ValueError, match=r"block 1 of X, whose first row is 4: .*NaN in row 3"):
        sd.transform(CWS, da.from_array(X, chunks=(4, 3))).compute()


def test_parallel_post_fit():
    # Not in the test extra: dask-ml needs numba, which has wheels for some platforms only.
    wrappers = pytest.importorskip("dask_ml.wrappers")
    from sklearn.datasets import load_digits
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline

    X, y = load_digits(return_X_y=True)
    pipeline = make_pipeline(
        ConsistentWeightedSampling(n_hashes=64, random_state=0), SGDClassifier(random_state=0)
    )
    model = wrappers.ParallelPostFit(pipeline).fit(X[:500], y[:500])
    predicted = model.predict(da.from_array(X, chunks=(300, -1))).compute()
    np.testing.assert_array_equal(predicted, pipeline.predict(X))
    sparse = da.from_array(sp.csr_matrix(X), chunks=X.shape, asarray=False)
    np.testing.assert_array_equal(model.predict(sparse).compute(), predicted)
