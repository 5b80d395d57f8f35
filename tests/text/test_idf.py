"""IdfWeights: the formula in plain Python, sums of shards, files, scikit-learn's ways."""

import io
import json
import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from _data.rows import random_csr
from _oracles.equal import assert_same
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsemaps import ConsistentWeightedSampling
from sparsemaps._tools._blocks import BLOCK_ENTRIES
from sparsemaps.text import HashingVectorizer, IdfWeights

X = random_csr(300, 60, density=0.15)
X.data = np.ceil(X.data)
X = sp.csr_array(sp.hstack([X, np.ones((300, 1)), np.eye(300, 1)]))
"""Counts; a column that all records have, and one that the first has."""


@parametrize_with_checks([IdfWeights(n_buckets=2**12)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def in_plain_python(X, n, df, *, power=2.0, levels=16, sublinear_tf=True):
    """The weighted rows as lists, from the number of records that have each column."""
    rows = []
    for row in X.toarray().tolist():
        weighted = []
        for x, have in zip(row, df, strict=True):
            w = 1.0
            if n > 2:
                w = (math.log((n + 1) / (max(have, 1) + 1)) / math.log((n + 1) / 2)) ** power
            f = 1 + math.log(abs(x)) if sublinear_tf and abs(x) > 1 else abs(x)
            weighted.append(math.copysign(levels * w * f, x))
        rows.append(weighted)
    return np.array(rows)


def assert_close(Z, expected, power, dtype=np.float64):
    """Logarithms are within two units in the last place here and one in Python; a power multiplies
    the relative error of its base."""
    error = (6 * max(power, 1) + 12) * 2.0**-53
    if dtype == np.float32:
        error += 2.0**-24
    np.testing.assert_allclose(Z.toarray(), expected, rtol=error, atol=0)


def frequencies(X):
    return (X.toarray() != 0).sum(axis=0).tolist()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "parameters",
    [{}, {"power": 0.5, "levels": 0.25}, {"power": 1}, {"power": 7.5, "sublinear_tf": False}],
)
def test_the_formula(parameters, dtype):
    """With as many buckets, no two of these columns share one."""
    rows = X.astype(dtype)
    weights = IdfWeights(**parameters).fit(rows)
    Z = weights.transform(rows)
    assert Z.dtype == dtype
    expected = in_plain_python(rows, 300, frequencies(X), **parameters)
    assert_close(Z, expected, parameters.get("power", 2.0), dtype)


def test_the_rarest_column_weighs_1_and_the_most_frequent_0():
    weights = IdfWeights(levels=5).fit(X)
    Z = weights.transform(sp.csr_array([[0.0] * 60 + [3.0, 1.0]]))
    assert Z.data.tolist() == [0.0, 5.0]  # bit for bit
    assert IdfWeights(levels=5, power=0).fit(X).transform(X[:1]).toarray()[0, -2:].tolist() == [
        0,
        5,
    ]


def test_a_column_that_no_record_has_is_as_rare_as_one_of_a_single_record():
    weights = IdfWeights().fit(X[1:])  # which have no last column
    assert weights.transform(X[:1]).toarray()[0, -1] == 16


@pytest.mark.parametrize("n", [1, 2])
def test_of_one_or_two_records_all_columns_weigh_1(n):
    rows = sp.csr_array(np.array([[1.0, 2.0], [1.0, 0.0]])[:n])
    Z = IdfWeights(levels=3, sublinear_tf=False).fit_transform(rows)
    np.testing.assert_array_equal(Z.toarray(), 3 * rows.toarray())


def test_values_of_either_sign_and_below_1():
    """1 + ln x would be negative below 1 / e; x itself has the same value and slope at 1."""
    values = np.array([-7.5, -1.0, -0.5, 1e-300, 0.25, 1.0, 1.5, 1e300])
    rows = sp.csr_array(np.diag(values))
    Z = IdfWeights(levels=1).fit(rows).transform(rows)
    np.testing.assert_allclose(
        Z.data,
        [-1 - math.log(7.5), -1, -0.5, 1e-300, 0.25, 1, 1 + math.log(1.5), 1 + math.log(1e300)],
        rtol=2.0**-51,
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("parameters", [{}, {"power": 0.7}, {"sublinear_tf": False}])
def test_weights_that_are_known_beforehand_have_the_bits_of_the_formula(parameters, dtype):
    """Of no, some or all frequencies; where all values are small counts, and where some are not."""
    counts = np.array([1.0, 2.0, 255.0, 256.0, 3.0, 1e9], dtype)
    others = np.array([1.0, 2.5, 255.0, -3.0, 2.0, 1.5], dtype)
    zeros = np.array([1.0, 0.0, -0.0, 2.0], dtype)
    weights = IdfWeights(**parameters).fit(X)
    have = np.argsort(frequencies(X))[[0, 20, 40, 50, 60, 61]].astype(np.int32)
    for values in (counts[:3], counts, others, zeros):
        columns = np.tile(have[: len(values)], 400)  # of several tiles
        given = np.tile(values, 400)
        none, one, some, all_of_them = (np.empty_like(given) for _ in range(4))
        for n_entries, out in ((0, none), (1, one), (60, some), (10**6, all_of_them)):
            weights.weighting(n_entries).weigh(columns, given, out)
            assert out.tobytes() == none.tobytes()
        in_place = given.copy()
        weights.weighting().weigh(columns, in_place, in_place)
        assert in_place.tobytes() == none.tobytes()
        weights.weighting().weigh(columns, np.ones_like(given), one)
        is_sublinear = parameters.get("sublinear_tf", True)
        grown = [1 + math.log(abs(x)) if is_sublinear and abs(x) > 1 else abs(x) for x in values]
        expected = one * np.tile(np.copysign(grown, values), 400)
        np.testing.assert_allclose(none, expected, rtol=4 * np.finfo(dtype).eps)


def test_values_beyond_the_type():
    rows = sp.csr_array(np.array([[1.0, 0.0], [1.0, 3e38]], np.float32))
    weights = IdfWeights(levels=2, sublinear_tf=False).fit(rows)
    with pytest.raises(ValueError, match=r"X has 3e\+38 in row 1, column 1; times levels=2 .*32"):
        weights.transform(rows)


def test_stored_zeros_and_duplicates():
    """A stored zero is not counted; duplicates are one entry."""
    rows = sp.csr_array(([1.0, 2.0, 0.0, 1.0], [0, 0, 1, 2], [0, 3, 4]), shape=(2, 3))
    weights = IdfWeights().fit(sp.vstack([rows] * 3).tocsr())
    plain = sp.csr_array(np.array([[3.0, 0, 0], [0, 0, 1.0]]))
    same = IdfWeights().fit(sp.vstack([plain] * 3).tocsr())
    assert weights.to_config() == same.to_config()
    assert_same(weights.transform(rows), same.transform(plain))


def test_shards_add_up_bit_for_bit():
    whole = IdfWeights().fit(X)
    for n_jobs in (None, 2):
        in_parts = IdfWeights(n_jobs=n_jobs)
        for start in range(0, 300, 77):
            in_parts.partial_fit(X[start : start + 77])
        shards = [IdfWeights(n_jobs=n_jobs).fit(part) for part in (X[200:], X[:1], X[1:200])]
        merged = shards[0].merge(shards[1]).merge(shards[2])
        for weights in (in_parts, merged):
            assert weights.to_config() == whole.to_config()
            assert weights.n_records_ == 300
            assert_same(weights.transform(X), whole.transform(X))


def test_fit_begins_anew():
    assert IdfWeights().fit(X[:100]).fit(X).to_config() == IdfWeights().fit(X).to_config()


def test_saved_and_loaded(tmp_path):
    weights = IdfWeights(power=1.5, levels=7, n_buckets=2**10, sublinear_tf=False).fit(X)
    weights.save(tmp_path / "table")
    assert (tmp_path / "table").stat().st_size < 2**10 + 1000
    loaded = IdfWeights.load(tmp_path / "table")
    restored = pickle.loads(pickle.dumps(weights))
    for again in (loaded, restored):
        assert again.get_params() == weights.get_params()
        assert again.to_config() == weights.to_config() == json.loads(json.dumps(again.to_config()))
        assert_same(again.transform(X), weights.transform(X))
        both = again.partial_fit(X[:50]).merge(IdfWeights(n_buckets=2**10).fit(X[50:]))
        twice = IdfWeights(n_buckets=2**10).fit(sp.vstack([X, X]).tocsr())
        assert both.to_config()["table"] == twice.to_config()["table"]


def test_files_of_something_else(tmp_path):
    IdfWeights(n_buckets=4).fit(X).save(tmp_path / "table")
    content = (tmp_path / "table").read_bytes()
    for changed, message in (
        (content[:-1], "not a file of a table of frequencies"),
        (content.replace(b"IdfWeights", b"OtherClass"), "holds a 'OtherClass', not an IdfWeights"),
        (
            content.replace(b'"version": 1', b'"version": 9'),
            "version 9; this version of sparsemaps",
        ),
        (content.replace(b'"power"', b'"tower"'), "its parameters cannot be read"),
        (content.replace(b'"levels": 16.0', b'"levels": -1.0'), "its parameters cannot be read"),
        (content.replace(b'"n_records": 300', b'"n_records": 3  '), "its table cannot be read"),
        (content.replace(b'"n_large": ', b'"n_large":7'), "its table cannot be read"),
        (content.replace(b'"shape": [1, 4]', b'"shape": [4, 1]'), "its table cannot be read"),
        (content.replace(b"NUMPY", b"NUMPI"), "its table cannot be read"),
        (
            content.replace(b'"count_bytes": 4', b'"count_bytes": 2'),
            "its parameters cannot be read",
        ),
    ):
        (tmp_path / "table").write_bytes(changed)
        with pytest.raises(ValueError, match=message):
            IdfWeights.load(tmp_path / "table")
    with pytest.raises(ValueError, match=r"table.gz: a table of frequencies is not compressed"):
        IdfWeights(n_buckets=4).fit(X).save(tmp_path / "table.gz")


def test_parameters_that_do_not_change_the_table_are_in_effect_at_once():
    weights = IdfWeights().fit(X)
    weights.set_params(power=3, levels=2, sublinear_tf=False)
    assert_close(
        weights.transform(X),
        in_plain_python(X, 300, frequencies(X), power=3, levels=2, sublinear_tf=False),
        3,
    )
    with pytest.raises(ValueError, match=r"n_buckets must be 4194304, as before, .* got 8"):
        weights.set_params(n_buckets=8).partial_fit(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"power": -1}, "power must be from 0.0 to 100, got -1"),
        ({"power": 101}, "power must be from 0.0 to 100, got 101"),
        ({"levels": 0}, "levels must be above 0 and at most 2147483648, got 0"),
        ({"levels": math.inf}, "levels must be above 0 and at most 2147483648, got inf"),
        ({"n_buckets": 3}, "n_buckets must be a power of two"),
        ({"n_buckets": 1}, "n_buckets must be from 2 to 4294967296"),
        ({"sublinear_tf": 1}, "sublinear_tf must be True or False"),
    ],
)
def test_parameters_that_are_not_allowed(parameters, message):
    for call in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match=message):
            getattr(IdfWeights(**parameters), call)(X)
    with pytest.raises(ValueError, match=message):
        IdfWeights(n_buckets=8).fit(X).set_params(**parameters).transform(X)


def test_rows_with_an_error_are_not_counted():
    """More rows than are read at a time."""
    rows = sp.vstack([X] * 100 + [sp.csr_array(np.full((1, X.shape[1]), np.nan))]).tocsr()
    assert rows.nnz > BLOCK_ENTRIES
    weights = IdfWeights().fit(X)
    before = weights.to_config()
    for call in (weights.fit, weights.partial_fit):
        with pytest.raises(ValueError, match="X contains NaN in row 30000"):
            call(rows)
        assert weights.to_config() == before
    with pytest.raises(ValueError, match="features"):
        weights.partial_fit(X[:, :5])


def test_what_is_not_merged():
    weights = IdfWeights(n_buckets=8).fit(X)
    for other, message in (
        (IdfWeights(n_buckets=8), "other must be a fitted IdfWeights"),
        ("table", "other must be a fitted IdfWeights"),
        (IdfWeights(n_buckets=16).fit(X), "tables must have the same form"),
        (IdfWeights(n_buckets=8).fit(X[:, :9]), "got 62 and 9"),
    ):
        with pytest.raises(ValueError, match=message):
            weights.merge(other)
    for call in (lambda new: new.transform(X), lambda new: new.merge(weights),
                 lambda new: new.save(io.BytesIO()), lambda new: new.to_config()):  # fmt: skip
        with pytest.raises(NotFittedError):
            call(IdfWeights())


def test_containers_types_and_threads():
    many = sp.vstack([X] * 200).tocsr()
    weights = IdfWeights().fit(many)
    expected = weights.transform(many)
    assert isinstance(expected, sp.csr_array)
    assert isinstance(weights.transform(sp.csr_matrix(many)), sp.csr_matrix)
    wide = many.copy()
    wide.indices, wide.indptr = many.indices.astype(np.int64), many.indptr.astype(np.int64)
    for rows in (many, wide, many.tocsc(), many.toarray()):
        found = weights.set_params(n_jobs=3).transform(rows)
        np.testing.assert_array_equal(found.toarray(), expected.toarray())
    assert weights.transform(many[:0]).shape == (0, X.shape[1])
    none = weights.transform(sp.csr_array((4, X.shape[1])))
    assert none.nnz == 0
    assert many.nnz == sp.csr_array(many).nnz


def test_the_input_is_not_changed():
    rows = X.copy()
    Z = IdfWeights().fit(rows).transform(rows)
    assert_same(rows, X)
    assert not np.shares_memory(Z.indices, rows.indices)


def test_names_and_output():
    names = np.array(["a", "b", "c"], object)
    weights = IdfWeights(n_buckets=8).fit(np.eye(3))
    assert weights.get_feature_names_out(names).tolist() == ["a", "b", "c"]
    assert weights.get_feature_names_out().tolist() == ["x0", "x1", "x2"]
    assert clone(weights).get_params() == weights.get_params()
    assert sklearn.utils.get_tags(weights).input_tags.sparse


def test_a_pipeline_of_texts():
    """Words that all texts have do not count; what is left is compared."""
    texts = ["the cat sat", "the cat ran", "the dog ate", "the cow slept"]
    pipeline = make_pipeline(
        HashingVectorizer(norm=None, alternate_sign=False),
        IdfWeights(),
        ConsistentWeightedSampling(n_hashes=512, random_state=0),
    )
    Z = pipeline.fit_transform(texts)
    similarity = (Z @ Z.T).toarray()
    assert similarity[0, 1] > 0.1
    assert similarity[0, 2:].max() < 0.05
