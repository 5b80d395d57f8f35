"""What is loaded is dumped again and loads the same, or is refused."""

from io import BytesIO

import numpy as np
import pytest
import scipy.sparse as sp
from _data.svmlight import dumped, finite, fuzz, load
from hypothesis import given
from hypothesis import strategies as st

from sparsemaps.libsvm import iter_svmlight_file, load_svmlight_file, load_svmlight_files

READERS = {
    "load_svmlight_file": load_svmlight_file,
    "load_svmlight_files": lambda f, **options: load_svmlight_files([f], **options),
    "iter_svmlight_file": lambda f, **options: joined(
        list(iter_svmlight_file(f, block_bytes=16, **options))
    ),
}


def joined(blocks):
    X, y, *qids = zip(*blocks, strict=True)
    is_list = isinstance(y[0], list)
    labels = [row for rows in y for row in rows] if is_list else np.concatenate(y)
    return [sp.vstack(X, format="csr"), labels, *map(np.concatenate, qids)]


labels = st.lists(finite, max_size=3).map(tuple)
rows = st.dictionaries(st.integers(0, 60), st.one_of(finite, st.just(0.0)), max_size=4)
qids = st.integers(-(2**63), 2**63 - 1)


@fuzz
@given(
    st.lists(st.tuples(labels, finite, rows, qids), min_size=1, max_size=6),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from([np.float64, np.float32]),
    st.sampled_from(list(READERS)),
)
def test_what_is_loaded_is_dumped(table, multilabel, with_qid, zero_based, dtype, reader):
    """Empty rows, stored zeros, rows without labels: bit for bit, by every reader."""
    if multilabel:  # such a row has no line
        table = [row if row[0] or row[2] else ((0.0,), *row[1:]) for row in table]
    ends = np.cumsum([0, *(len(row) for _, _, row, _ in table)])
    columns = np.array([i for _, _, row, _ in table for i in sorted(row)], np.int32)
    with np.errstate(over="ignore"):
        values = np.array([row[i] for _, _, row, _ in table for i in sorted(row)], dtype)
    X = sp.csr_array((np.nan_to_num(values), columns, ends), shape=(len(table), 61))
    y = [tuple(row[0]) for row in table] if multilabel else np.array([row[1] for row in table])
    ids = {"query_id": np.array([row[3] for row in table])} if with_qid else {}
    options = {
        "multilabel": multilabel, "query_id": with_qid, "zero_based": zero_based, "dtype": dtype,
        "n_features": 61,
    }  # fmt: skip
    text = dumped(X, y, multilabel=multilabel, zero_based=zero_based, **ids)
    loaded = READERS[reader](BytesIO(text), **options)
    assert loaded[0].data.tobytes() == X.data.tobytes()
    np.testing.assert_array_equal(loaded[0].indices, columns)
    np.testing.assert_array_equal(loaded[0].indptr, ends)
    assert list(loaded[1]) == ([tuple(sorted(row)) for row in y] if multilabel else list(y))
    if with_qid:
        np.testing.assert_array_equal(loaded[2], ids["query_id"], strict=True)
    again = dict(zip(["query_id"], loaded[2:], strict=False))
    second = dumped(*loaded[:2], multilabel=multilabel, zero_based=zero_based, **again)
    third = READERS[reader](BytesIO(second), **options)
    assert third[0].data.tobytes() == X.data.tobytes()
    assert list(third[1]) == list(loaded[1])


def test_tuples_of_one_length_are_labels():
    """Lists of lists are an indicator matrix, as for scikit-learn."""
    X = [[1.0], [2.0]]
    assert dumped(X, [(0, 1), (1, 0)], multilabel=True) == b"0,1 0:1\n1,0 0:2\n"
    assert dumped(X, [[0, 1], [1, 0]], multilabel=True) == b"1 0:1\n0 0:2\n"
    assert dumped(X, [(7.5,), ()], multilabel=True) == b"7.5 0:1\n 0:2\n"
    assert dumped(X, [(np.int64(3), True), (2**40,)], multilabel=True) == (
        b"3,1 0:1\n1099511627776 0:2\n"
    )


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_tuples_of_many_rows(n_jobs):
    y = [tuple(range(row % 4)) for row in range(20_000)]
    text = dumped(np.ones((20_000, 3)), y, multilabel=True, n_jobs=n_jobs)
    assert load(text, multilabel=True)[1] == [tuple(map(float, row)) for row in y]


ONE = np.ones((2, 1))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1], r"must be an indicator matrix of shape .* or a list of tuples.* shape \(2,\)"),
        (np.array([3.0, 4.0]), r"shape \(2,\)"),
        ([[0, 2], [1, 0]], r"must have numbers 0 and 1, got 2 in row 0"),
        (np.array([[0, 1], [0.5, 0]]), r"numbers 0 and 1, got 0\.5 in row 1"),
        (np.array([[0, 1], [-1, 0]]), r"numbers 0 and 1, got -1 in row 1"),
        (sp.csr_array([[0, 1], [0, 3]]), r"numbers 0 and 1, got 3 in row 1"),
        (sp.csr_array(([1.0, 1.0], [0, 0], [0, 2, 2]), shape=(2, 1)), r"got 2\.0 in row 0"),
        ([("a",), (1,)], r"finite numbers .* got 'a' in row 0"),
        ([(1,), (None,)], r"got None in row 1"),
        ([(1,), (np.nan,)], r"got nan in row 1"),
        ([(1,), (np.inf,)], r"got inf in row 1"),
        ([(1,), (2**53 + 1,)], r"float64 holds exactly, got 9007199254740993 in row 1"),
        ([(1,), (10**400,)], r"got 1000"),
        ([(1,), (1j,)], r"got 1j in row 1"),
        ([(1,)], "should be the same, got 2 and 1"),
    ],
)
def test_labels_that_are_no_sets(y, message):
    with pytest.raises(ValueError, match=message):
        dumped(ONE, y, multilabel=True)


@pytest.mark.parametrize("y", [[(1.0, 2.0), (3.0, 4.0)], np.ones((2, 2)), sp.csr_array((2, 2))])
def test_several_labels_need_multilabel(y):
    with pytest.raises(ValueError, match="rows of several labels need multilabel=True"):
        dumped(ONE, y)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"1 1:2\n", 1),
        (b"# no row\n1 qid:3 1:2\n2 1:2\n", 3),
        (b"1 qid:3 1:2\n\n" * 9 + b"2 1:2 # qid:7\n3 qid:1 1:2\n", 19),
    ],
)
def test_query_ids_are_as_many_as_rows(reader, text, line):
    with pytest.raises(ValueError, match=rf"line {line}: expected qid:number in each row"):
        READERS[reader](BytesIO(text), query_id=True, zero_based=False, n_features=1)
    found = READERS[reader](BytesIO(text), zero_based=False, n_features=1)
    assert len(found) == 2


def test_query_ids_of_rows_without_labels():
    text = b" qid:3 1:1\nqid:4 1:1\n1,2 qid:5\n"
    _, y, ids = load(text, multilabel=True, query_id=True)
    assert y == [(), (), (1.0, 2.0)]
    assert ids.tolist() == [3, 4, 5]


AS_LIBSVM_READS = {
    b"1 63: .5\n": ([1], {63: 0.5}),
    b"1 63:\t.5\n": ([1], {63: 0.5}),
    b"1 1: 2  3: \t4 5:6\n": ([1], {1: 2, 3: 4, 5: 6}),
    b"1 1:\x0b2\n": ([1], {1: 2}),
    b"+1 1:1e3\n": ([1], {1: 1000}),
    b"1 1:0x1p3\n": ([1], {1: 8}),
    b"1 1:-0X1.8P+1\n": ([1], {1: -3}),
    b"0x10 1:1\n": ([16], {1: 1}),
    b"  1 1:2\n": ([1], {1: 2}),
    b"\t1 1:2\n": ([1], {1: 2}),
    b"1 1:2  \n": ([1], {1: 2}),
    b"1 1:2\r\n": ([1], {1: 2}),
    b"1 1:2": ([1], {1: 2}),
    b"1 1: 2": ([1], {1: 2}),
    b"1 1:inf 2:+.5 3:5.\n": ([1], {1: np.inf, 2: 0.5, 3: 5}),
    b"1 +1:2\n": ([1], {1: 2}),
}
"""Lines that svm-train 3.24 and liblinear-train 2.3 take, and what they read there."""

AS_LIBSVM_REFUSES = [
    b"1 63 :.5\n", b"1 0x2:1\n", b"1 1:\n", b"1 1: \n", b"1 1:\n.5\n", b"1 1:1,2\n", b"1 1:1_0\n",
    b"1 1:1 1:1\n", b"1 1:0x\n", b"1 1: 2:3\n", b"1 1: # .5\n",
]  # fmt: skip


@pytest.mark.parametrize("padding", [b"", b" 70:1 71:1 72:1 73:1 74:1 75:1 76:1 77:1 78:1"])
@pytest.mark.parametrize("text", AS_LIBSVM_READS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_lines_as_libsvm_reads_them(text, padding, dtype):
    """Also where further entries follow, which are read in another way."""
    labels, entries = AS_LIBSVM_READS[text]
    end = len(text.rstrip(b"\r\n"))
    X, y = load(text[:end] + padding + text[end:], zero_based=False, n_features=80, dtype=dtype)
    if padding:
        entries = entries | {column: 1 for column in range(70, 79)}
    assert y.tolist() == labels
    assert (X.indices + 1).tolist() == list(entries)
    assert X.data.tolist() == list(entries.values())


@pytest.mark.parametrize("text", AS_LIBSVM_REFUSES)
def test_lines_that_libsvm_refuses(text):
    with pytest.raises(ValueError, match="line 1, column"):
        load(text)
