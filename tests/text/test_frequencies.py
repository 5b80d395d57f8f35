"""Tables of how many records have a column: counts, sums of shards, files."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.rows import random_csr

from sparsemaps._input._row_reader import open_matrix
from sparsemaps.text import _frequencies
from sparsemaps.text._frequencies import Frequencies

X = random_csr(400, 90, density=0.1)
COLUMNS = np.arange(X.shape[1], dtype=np.int32)
FORMS = [{}, {"n_rows": 2}, {"n_rows": 3, "count_bytes": 1}, {"count_bytes": 2}]
"""Of tables."""


def counted(X, n_buckets=2**10, n_jobs=None, **form):
    table = Frequencies(n_buckets, **form)
    table.add(open_matrix(X), n_jobs)
    return table


def bucket_of(column, n_buckets, **form):
    """The bucket of a column in each row of a table: that of a record with this column alone."""
    alone = sp.csr_array(([1.0], [column], [0, 1]), shape=(1, column + 1))
    return counted(alone, n_buckets, **form).counts.argmax(axis=1)


@pytest.mark.parametrize("n_buckets", [2, 8, 64])
@pytest.mark.parametrize("form", FORMS)
def test_a_bucket_counts_the_records_that_have_any_of_its_columns(n_buckets, form):
    """A record with two of them counts once; the least count is a column's frequency."""
    table = counted(X, n_buckets, **form)
    dense = X.toarray() != 0
    buckets = np.array([bucket_of(column, n_buckets, **form) for column in COLUMNS])
    most = np.iinfo(table.counts.dtype).max
    for number, counts in enumerate(table.counts):
        expected = [dense[:, buckets[:, number] == b].any(axis=1).sum() for b in range(n_buckets)]
        np.testing.assert_array_equal(counts, np.minimum(expected, most))
    least = table.counts[np.arange(len(table.counts)), buckets].min(axis=1)
    np.testing.assert_array_equal(table.of(COLUMNS), least)
    assert (least >= np.minimum(dense.sum(axis=0), most)).all()
    assert table.n_records == X.shape[0]


def test_rows_of_a_table_hash_differently():
    buckets = np.array([bucket_of(column, 4, n_rows=4) for column in range(200)])
    for one in range(4):
        for other in range(one):
            pairs = np.bincount(4 * buckets[:, one] + buckets[:, other], minlength=16)
            assert pairs.min() > 0


@pytest.mark.parametrize("form", FORMS)
def test_counts_of_shards_add_up(form):
    whole = counted(X, **form)
    total = Frequencies(2**10, **form)
    for shard in (X[350:], X[:7], X[7:7], X[7:350]):
        total.merge(counted(shard, **form))
    np.testing.assert_array_equal(total.counts, whole.counts)
    assert total.n_records == whole.n_records
    assert total.digest() == whole.digest()


@pytest.mark.parametrize(("count_bytes", "most"), [(1, 2**8 - 1), (2, 2**16 - 1)])
def test_counts_end_at_the_largest_number(count_bytes, most):
    ones = sp.csr_array(np.ones((1, 1)))
    table = counted(ones, count_bytes=count_bytes)
    for _ in range(count_bytes * 8):  # doubles
        table.merge(table)
    assert table.of(COLUMNS[:1]) == most
    assert table.n_records == most + 1
    table.add(open_matrix(ones))
    table.merge(counted(ones, count_bytes=count_bytes))
    assert table.of(COLUMNS[:1]) == most


def test_sums_of_large_counts_end_at_the_largest_number():
    table = counted(np.ones((3, 1)))
    table.counts[table.counts > 0] = 2**31
    table.merge(table)
    assert table.of(COLUMNS[:1]) == 2**32 - 1


def test_threads_index_types_and_order_change_nothing():
    many = sp.vstack([random_csr(3000, 500, density=0.2, seed=seed) for seed in range(3)]).tocsr()
    expected = counted(many)
    wide = many.copy()
    wide.indices, wide.indptr = many.indices.astype(np.int64), many.indptr.astype(np.int64)
    for other in (many, wide, many[::-1], many.tocsc()):
        for n_jobs in (1, 2, 5):
            assert counted(other, n_jobs=n_jobs).digest() == expected.digest()


def test_long_records_and_large_columns():
    """A record of more columns than are hashed together, and columns of 62 bits."""
    columns = np.sort(np.random.default_rng(SEED).choice(2**62, 3000, replace=False))
    record = sp.csr_array((1, 2**62))
    record.indices, record.data = columns, np.ones(3000)
    record.indptr = np.array([0, 3000])
    table = counted(sp.vstack([record, record]).tocsr(), 2**12)
    assert (table.of(columns) == 2).all()
    alone = counted(record, 2**12)
    assert alone.counts.max() == 1
    assert alone.counts.sum() == len({*alone.counts[0].nonzero()[0].tolist()})


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("times", [1, 5])
def test_a_file_has_the_same_table(tmp_path, form, times):
    table = counted(sp.vstack([X] * times).tocsr(), 16, **form)
    _frequencies.write(tmp_path / "table", table, {"of": "words"})
    again, description = _frequencies.read(str(tmp_path / "table"))
    assert again.counts.dtype == table.counts.dtype
    np.testing.assert_array_equal(again.counts, table.counts)
    assert (again.n_records, again.digest()) == (table.n_records, table.digest())
    assert description["of"] == "words"


def test_digests_tell_tables_apart():
    tables = [
        counted(X), counted(X[1:]), counted(X, 2**11), counted(X, n_rows=2),
        counted(X, count_bytes=2), Frequencies(2**10), counted(X[:0].tocsr()),
    ]  # fmt: skip
    assert len({table.digest() for table in tables}) == len(tables) - 1  # two have no records
    one, other = counted(X), counted(X)
    one.counts[0, :2] = 300, 400
    other.counts[0, :2] = 400, 300
    assert one.digest() != other.digest()


def test_tables_of_two_forms_are_not_added():
    for form in ({"n_buckets": 2**9}, {"n_rows": 2}, {"count_bytes": 1}):
        with pytest.raises(ValueError, match="1 x 1024 counts of 4 bytes and"):
            counted(X).merge(Frequencies(**{"n_buckets": 2**10, **form}))


def test_large_counts_of_a_file_are_as_many_as_its_bytes_say(tmp_path):
    table = counted(np.ones((300, 2)), 16)
    path = tmp_path / "table"
    _frequencies.write(path, table, {})
    content = path.read_bytes()
    large = np.array([300, 300], "<u4").tobytes()
    assert large in content
    for fewer in (large[4:], b"", large + large[4:]):
        n_large = f'"n_large": {len(fewer) // 4}'.encode()
        path.write_bytes(content.replace(large, fewer).replace(b'"n_large": 2', n_large))
        with pytest.raises(ValueError, match="its table cannot be read"):
            _frequencies.read(str(path))


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        (b'"n_records": 600', b'"n_records": 599'),
        (b'"n_records": 600', b'"n_records": 300'),
        (b'"shape": [1, 16]', b'"shape": [1, 15]'),
        (b'"count_bytes": 4', b'"count_bytes": 3'),
        (b'"count_bytes": 4', b'"count_bytes": 1'),
    ],
)
def test_counts_of_a_file_are_those_that_its_records_can_have(tmp_path, was, becomes):
    """Large ones: all 600 records have the two columns."""
    path = tmp_path / "table"
    _frequencies.write(path, counted(np.ones((600, 2)), 16), {})
    content = path.read_bytes()
    assert was in content
    path.write_bytes(content.replace(was, becomes))
    with pytest.raises(ValueError, match="its table cannot be read"):
        _frequencies.read(str(path))


def test_small_counts_of_a_file_are_those_that_its_records_can_have(tmp_path):
    path = tmp_path / "table"
    _frequencies.write(path, counted(np.ones((3, 2)), 16), {})
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"n_records": 3', b'"n_records": 2'))
    with pytest.raises(ValueError, match="its table cannot be read"):
        _frequencies.read(str(path))


def test_a_table_has_a_power_of_two_buckets(tmp_path):
    path = tmp_path / "table"
    _frequencies.write(path, Frequencies(12), {})
    with pytest.raises(ValueError, match="its table cannot be read"):
        _frequencies.read(str(path))


def test_a_table_begins_within_the_file(tmp_path):
    path = tmp_path / "table"
    _frequencies.write(path, counted(np.ones((3, 2)), 128), {})
    content = path.read_bytes()
    larger = content.replace(b'"shape": [1, 128]', b'"shape": [1, 256]')
    path.write_bytes(larger.replace(b'"n_large": 0', b'"n_large": 9'))
    with pytest.raises(ValueError, match="its table cannot be read"):
        _frequencies.read(str(path))
