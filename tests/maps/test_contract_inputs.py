"""What every map promises of inputs: the same numbers whatever container, types and order."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from _data.chance import SEED
from _data.rows import random_csr
from _data.variants import MAPS, make, map_classes
from _oracles.equal import arrays_of, assert_same
from sklearn.utils.estimator_checks import parametrize_with_checks

import sparsemaps


def test_every_map_is_listed():
    assert {cls.__name__ for cls in map_classes()} == set(MAPS)


# The checks are many; what else a variant does is for the other tests.
@parametrize_with_checks([make(name, **kw) for name, kws in MAPS.items() for kw in kws[:1]])
def test_scikit_learn(estimator, check):
    check(estimator)


# ---- containers and types ------------------------------------------------------------------------


def as_read_only(X):
    X = X.copy()
    for array in (X.data, X.indices, X.indptr):
        array.flags.writeable = False
    return X


def with_explicit_zeros(X):
    X = X.copy()
    rows, columns = X.shape
    zeros = sp.csr_array((np.zeros(rows), (range(rows), np.arange(rows) % columns)), X.shape)
    both = sp.coo_array(
        (
            np.r_[X.tocoo().data, zeros.data],
            (np.r_[X.tocoo().coords[0], np.arange(rows)], np.r_[X.indices, zeros.indices]),
        ),
        X.shape,
    )
    return both.tocsr()


def with_index_types(X, indices, indptr):
    X = X.copy()
    X.indices, X.indptr = X.indices.astype(indices), X.indptr.astype(indptr)
    return X


def reversed_rows(X):
    """Every row's entries in descending order of columns."""
    X = X.copy()
    for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        X.indices[start:stop] = X.indices[start:stop][::-1].copy()
        X.data[start:stop] = X.data[start:stop][::-1].copy()
    X.has_sorted_indices = False
    return X


def with_duplicates(X):
    """Every entry as two halves."""
    half = X.tocoo()
    data = np.r_[half.data, half.data] / 2
    order = np.argsort(np.r_[half.coords[0], half.coords[0]], kind="stable")
    indices = np.r_[half.coords[1], half.coords[1]][order]
    return sp.csr_array((data[order], indices, 2 * X.indptr), X.shape)


def strided(X):
    X = X.copy()
    X.data, X.indices = np.repeat(X.data, 2)[::2], np.repeat(X.indices, 2)[::2]
    return X


def big_endian(X):
    X = X.copy()
    X.data, X.indices = X.data.astype(">f8"), X.indices.astype(">i4")
    return X


FORMS = {
    "csr_matrix": sp.csr_matrix,
    "dense": lambda X: X.toarray(),
    "dense, Fortran order": lambda X: np.asfortranarray(X.toarray()),
    "dense, strided": lambda X: np.repeat(X.toarray(), 2, axis=1)[:, ::2],
    "nested lists": lambda X: X.toarray().tolist(),
    "read-only": as_read_only,
    "int64 indices": lambda X: with_index_types(X, np.int64, np.int64),
    "int32 and int64": lambda X: with_index_types(X, np.int32, np.int64),
    "int64 and int32": lambda X: with_index_types(X, np.int64, np.int32),
    "explicit zeros": with_explicit_zeros,
    "reversed rows": reversed_rows,
    "duplicates": with_duplicates,
    "strided arrays": strided,
    "big-endian": big_endian,
    "coo": lambda X: X.tocoo(),
    "csc": lambda X: X.tocsc(),
    "lil": lambda X: X.tolil(),
    "dok": lambda X: X.todok(),
    "bsr": lambda X: X.tobsr((5, 3)),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_forms_of_the_same_matrix(first_variant, X, form):
    before = form(X)
    expected = first_variant().fit_transform(X)
    assert_same(first_variant().fit(before).transform(before), sp.csr_matrix(expected)
                if sp.issparse(expected) else expected)  # fmt: skip
    after = form(X)
    if sp.issparse(before):  # the input is left as it was
        assert (abs(before - after) > 0).nnz == 0
        for array, untouched in zip(
            arrays_of(before.tocsr()), arrays_of(after.tocsr()), strict=True
        ):
            np.testing.assert_array_equal(array, untouched)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.int64, bool, np.float16])
def test_other_types_become_float64(first_variant, dtype):
    X = np.random.default_rng(SEED).integers(0, 2, size=(10, 30)).astype(dtype)
    expected = first_variant().fit_transform(X.astype(np.float64))
    forms = (X, sp.csr_array(X)) if dtype is not np.float16 else (X,)
    for form in forms:
        Z = first_variant().fit_transform(form)
        assert Z.dtype == np.float64
        assert_same(Z, expected)


def test_float32_is_kept(new_map):
    X = random_csr(dtype=np.float32)
    Z = new_map().fit_transform(X)
    assert Z.dtype == np.float32
    wide = new_map().fit_transform(X.astype(np.float64))
    assert wide.dtype == np.float64
    assert Z.shape == wide.shape
    Z, wide = (z.toarray() if sp.issparse(z) else z for z in (Z, wide))
    np.testing.assert_allclose(Z, wide, rtol=1e-5, atol=1e-5 * abs(wide).max())


def small_integers(lengths, n_columns):
    """Rows of small integers, of which float32 holds all sums and products exactly."""
    rng = np.random.default_rng(SEED)
    columns = [np.sort(rng.choice(n_columns, n, replace=False)) for n in lengths]
    indptr = np.cumsum([0, *lengths])
    arrays = rng.integers(1, 5, indptr[-1]), np.concatenate(columns), indptr
    return sp.csr_array(arrays, (len(lengths), n_columns), dtype=float)


@pytest.mark.parametrize("output_type", [np.int32, np.int64])
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "exact_map",
    [
        sparsemaps.CountSketch(n_components=24, random_state=0),
        sparsemaps.CountSketch(n_components=100_000, random_state=0),
        sparsemaps.TensorSketch(
            n_components=4096, method="direct", dense_output=False, random_state=0
        ),
        sparsemaps.SignProjection(n_hashes=70, distribution="rademacher", random_state=0),
        sparsemaps.ConsistentWeightedSampling(n_hashes=30, random_state=0),
        sparsemaps.MinHash(n_hashes=30, random_state=0),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("lengths", "n_columns"), [([50], 1000), ([0, 1, 2, 3] * 5, 10_000), ([30] * 20, 40)]
)
def test_types_of_arrays(
    lengths, n_columns, exact_map, dtype, index_type, output_type, monkeypatch
):
    """Each loop has a copy for each pair of types. Large outputs have indices of int64."""
    X = small_integers(lengths, n_columns)
    expected = exact_map.fit(X).transform(X)
    monkeypatch.setattr(sparsemaps._input._sparse, "index_type", lambda largest: output_type)
    Z = exact_map.transform(with_index_types(X, index_type, index_type).astype(dtype))
    assert Z.dtype == dtype
    assert Z.indices.dtype == output_type
    np.testing.assert_array_equal(Z.data, expected.data.astype(dtype))
    np.testing.assert_array_equal(Z.indices, expected.indices)
    np.testing.assert_array_equal(Z.indptr, expected.indptr)


def test_memory_mapped(first_variant, X, tmp_path):
    mapped = []
    for name in ("data", "indices", "indptr"):
        np.save(tmp_path / f"{name}.npy", getattr(X, name))
        mapped.append(np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    assert_same(
        first_variant().fit_transform(sp.csr_array(tuple(mapped), X.shape)),
        first_variant().fit_transform(X),
    )
    np.save(tmp_path / "dense.npy", X.toarray())
    dense = np.load(tmp_path / "dense.npy", mmap_mode="r")
    assert_same(first_variant().fit_transform(dense), first_variant().fit_transform(X.toarray()))


def test_container_follows_the_input(new_map, X):
    if not sp.issparse(new_map().fit_transform(X)):
        pytest.skip("dense output")
    assert isinstance(new_map().fit_transform(sp.csr_array(X)), sp.csr_array)
    assert isinstance(new_map().fit_transform(sp.csr_matrix(X)), sp.csr_matrix)
    assert isinstance(new_map().fit_transform(X.toarray()), sp.csr_matrix)


@pytest.mark.skipif(
    "sparse_interface" not in sklearn.get_config(), reason="scikit-learn has no such setting yet"
)
def test_container_that_scikit_learn_asks_for(first_variant, X):
    if not sp.issparse(first_variant().fit_transform(X)):
        pytest.skip("dense output")
    with sklearn.config_context(sparse_interface="sparray"):
        for form in (sp.csr_matrix(X), sp.csr_array(X), X.toarray()):
            assert isinstance(first_variant().fit_transform(form), sp.csr_array)


# ---- shapes --------------------------------------------------------------------------------------


def zero_is_mapped_to_zero(new_map):
    """Whether the kernel of an empty row is 0: it is not where the kernel has a constant."""
    if isinstance(new_map(), sparsemaps.KernelProduct):
        return True
    points = (  # of which zero is one like others
        sparsemaps.Fastfood,
        sparsemaps.RandomBinning,
        sparsemaps.RandomFourier,
        sparsemaps.SignProjection,
    )
    if isinstance(new_map(), points):
        return False
    parameters = new_map().get_params()
    kernel = parameters.get("kernel")
    if isinstance(kernel, tuple):
        return kernel[0] == 0
    return not parameters.get("coef0") and kernel not in ("exp", "rbf")


def test_empty_rows(new_map, X):
    Z = new_map().fit_transform(X)
    empty = (Z.toarray() if sp.issparse(Z) else Z)[np.diff(X.indptr) == 0]
    assert (empty == empty[0]).all()
    assert empty.any() != zero_is_mapped_to_zero(new_map)


def test_nothing_stored(new_map):
    X = sp.csr_array((7, 5))
    Z = new_map().fit_transform(X)
    assert Z.shape[0] == 7
    assert (abs(Z).sum() == 0) == zero_is_mapped_to_zero(new_map)


def test_no_rows(first_variant, X):
    fitted = first_variant().fit(X)
    Z = fitted.transform(X[:0])
    assert Z.shape == (0, len(fitted.get_feature_names_out()))
    with pytest.raises(ValueError, match="0 sample"):
        first_variant().fit(X[:0])


def test_one_row_and_one_column(new_map, X):
    expected = new_map().fit_transform(X)
    fitted = new_map().fit(X)
    for row in (0, 1, 17):
        assert_same(fitted.transform(X[[row]]), expected[[row]])
    narrow = sp.csr_array([[0.0], [2.5]])
    Z = new_map().fit_transform(narrow)
    assert Z.shape[0] == 2
    assert abs(Z[[1]]).sum() > 0


def test_width_does_not_matter(new_map, X):
    wide = sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], 2**62 - 1))
    Z, expected = new_map().fit_transform(wide), new_map().fit_transform(X)
    if sp.issparse(Z):  # where the row itself is in the output, that is as wide
        Z = sp.csr_array((Z.data, Z.indices, Z.indptr), shape=expected.shape)
    assert_same(Z, expected)
    with pytest.raises(ValueError, match="features"):
        new_map().fit(X).transform(wide)


def test_rows_of_more_entries_than_are_taken_at_once(first_variant):
    """Most of them are zeros, which count nothing: the same rows without are taken at once."""
    rng = np.random.default_rng(SEED)
    values = np.where(rng.random((2, 300_000)) < 1e-3, rng.random((2, 300_000)), 0)
    columns, ends = np.tile(np.arange(300_000), 2), np.arange(3) * 300_000
    long = sp.csr_array((values.ravel(), columns, ends), shape=values.shape)
    assert_same(
        first_variant().fit_transform(long), first_variant().fit_transform(sp.csr_array(values))
    )


def test_order_of_rows(first_variant, X):
    order = np.random.default_rng(SEED).permutation(X.shape[0])
    assert_same(first_variant().fit_transform(X[order]), first_variant().fit_transform(X)[order])
