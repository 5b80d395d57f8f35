"""LIBSVM files that are written: what is dumped loads bit for bit."""

import io

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.svmlight import dumped, finite, fuzz, load
from hypothesis import given
from hypothesis import strategies as st

from sparsemaps import codes


def test_lines():
    X = np.array([[1, 2.1, 0, 1e9], [0, 0, 0, 0], [2e18, 1e-5, 1e-4, -0.25]])
    assert dumped(X, [1, 2.5, -1]) == (
        b"1 0:1 1:2.1 3:1000000000\n2.5 \n-1 0:2e+18 1:1e-05 2:0.0001 3:-0.25\n"
    )
    assert dumped(X[:1], [1], zero_based=False) == b"1 1:1 2:2.1 4:1000000000\n"
    integers = np.array([[-3, 0, 2**62]])
    assert dumped(integers, [True]) == b"1 0:-3 2:4611686018427387904\n"
    assert dumped(np.array([[0.1]], np.float32), [1]) == b"1 0:0.1\n"
    assert dumped([[1.0]], [1], query_id=[-7]) == b"1 qid:-7 0:1\n"


def test_comment():
    text = dumped([[1.0]], [1], comment="über\nzwei", zero_based=False).decode()
    lines = text.splitlines()
    assert lines[1:] == ["# Column indices are one-based", "#", "# über", "# zwei", "1 1:1"]
    assert "sparsemaps" in lines[0]
    assert dumped([[1.0]], [1], comment="") == b"1 0:1\n"
    with pytest.raises(ValueError, match="NUL"):
        dumped([[1.0]], [1], comment="a\0b")
    with pytest.raises(UnicodeDecodeError):
        dumped([[1.0]], [1], comment="ü".encode())


def test_stored_zeros_are_written():
    X = sp.csr_array((np.array([0.0, -0.0, 3.0]), [0, 1, 2], [0, 3]), shape=(1, 3))
    text = dumped(X, [1])
    assert text == b"1 0:0 1:-0 2:3\n"
    again, _ = load(text)
    assert again.data.tobytes() == X.data.tobytes()


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        (np.ones((2, 2)), [1], {}, "should be the same, got 2 and 1"),
        (np.ones((2, 2)), [[1, 2], [3, 4]], {}, r"expected y of shape \(n_samples,\)"),
        (np.ones((2, 2)), sp.csr_array(np.ones((2, 2))), {}, r"expected y of shape \(n_samples, 1"),
        (np.ones((2, 2)), [1, 2], {"query_id": [1]}, "expected query_id of shape"),
        ([[np.nan]], [1], {}, "NaN"),
        (np.ones((2, 2)), np.array([1, np.nan]), {}, "NaN"),
        (sp.csr_array(np.ones((2, 2))), np.array([np.inf, 1], np.float32), {}, "infinity"),
        (np.ones((2, 2)), [], {}, "0 sample"),
        (np.ones((2, 2)), ["a", "b"], {}, "y must have a number for each row, got 'a' in row 0"),
        ([[1.0], [0.0]], [[1], [0]], {"multilabel": True}, "row 1 has neither labels nor entries"),
    ],
)
def test_bad_dumps(X, y, options, message):
    with pytest.raises(ValueError, match=message):
        dumped(X, y, **options)


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        (np.array([[2**63 + 5]], np.uint64), [1], {}, "X must have integers of at most 2..63 - 1"),
        (
            sp.csr_array(np.array([[2**63 + 5]], np.uint64)), [1], {},
            "X must have integers of at most",
        ),
        ([[1]], np.array([2**63 + 5], np.uint64), {}, "y must have integers of at most 2"),
        ([[1]], np.array([2**53 + 1]), {}, "y must have labels that float64 holds exactly"),
        ([[1]], [1], {"query_id": [1.7]}, "query_id must be whole numbers .*, got 1.7 in row 0"),
        ([[1], [1]], [1, 1], {"query_id": [0, np.nan]}, "query_id must be .*, got nan in row 1"),
        ([[1]], [1], {"query_id": [np.inf]}, "query_id must be"),
        ([[1]], [1], {"query_id": [1e19]}, "query_id must be"),
        ([[1]], [1], {"query_id": np.array([2**63], np.uint64)}, "query_id must be"),
        ([[1]], [1], {"query_id": [2**70]}, "query_id must be"),
        ([[1]], [1], {"query_id": ["1"]}, "query_id must be integers"),
        ([[1]], [1], {"zero_based": "auto"}, "zero_based must be True or False"),
        ([[1]], [1], {"multilabel": 1}, "multilabel must be True or False"),
    ],
)  # fmt: skip
def test_numbers_that_cannot_be_written(X, y, options, message):
    with pytest.raises(ValueError, match=message):
        dumped(X, y, **options)


NO_LABELS = {
    "times": (np.arange(2).astype("M8[s]"), "y must not have times, got datetime64"),
    "masked": (np.ma.masked_equal([1, 2], 2), "y must have a value .*, got a masked one in row 1"),
    "None": ([True, None], "y must have a number for each row, got None in row 1"),
    "NaN": ([1, np.nan], "y contains NaN in row 1; all labels must be finite"),
    "infinity": ([1, -np.inf], "y contains infinity in row 1"),
    "beyond float64's digits": ([2**64, 2**64 + 1], "float64 holds exactly, got .*617 in row 1"),
    "beyond float64": ([1, 10**400], "float64 holds exactly, got 10{400} in row 1"),
    "complex": ([1, 1j], "Complex data not supported"),
    "a text": ("ab", "y must have a value for each row, got one str"),
}


@pytest.mark.parametrize("kind", NO_LABELS)
def test_labels_that_are_none(kind):
    y, message = NO_LABELS[kind]
    with pytest.raises(ValueError, match=message):
        dumped(np.ones((2, 2)), y)
    with pytest.raises(ValueError, match=message):
        codes.dump_svmlight_file(np.ones((2, 2), np.uint8), y, io.BytesIO(), 8)


def test_labels_and_ids_are_not_those_below_a_mask():
    with pytest.raises(ValueError, match=r"query_id must have .*, got a masked one in row 0"):
        dumped(np.ones((2, 2)), [1, 2], query_id=np.ma.masked_equal([1, 2], 1))
    assert dumped([[1.0]], np.ma.array([3], mask=False)) == b"3 0:1\n"
    assert dumped([[1.0]], [2**64]) == b"1.8446744073709552e+19 0:1\n"


def test_whole_query_ids_of_every_type():
    for qids in ([7.0, -3.0], np.array([7, -3], np.int8), np.array([7.0, -3.0], np.float32)):
        assert dumped([[1], [2]], [1, 1], query_id=qids) == b"1 qid:7 0:1\n1 qid:-3 0:2\n"


@pytest.mark.parametrize(
    ("indptr", "indices"),
    [
        ([0, 20000, 3], [0, 1, 2]),
        ([0, 2, 20000], [0, 1, 2]),
        ([0, 2, 1], [0, 1, 2]),
        ([1, 2, 3], [0, 1, 2]),
        ([0, -5, 3], [0, 1, 2]),
        ([0, 3], [0, 1, 2]),
        ([0, 1, 3], [0, 1, -7]),
        ([0, 1, 3], [0, 1, 10]),
    ],
)
@pytest.mark.parametrize("kind", [float, np.float32, int, bool, np.uint8])
def test_unsound_matrices(indptr, indices, kind):
    X = sp.csr_matrix((2, 10), dtype=kind)
    X.data, X.indices, X.indptr = np.ones(3, kind), np.array(indices), np.array(indptr)
    with pytest.raises(ValueError, match=r"X(\.indptr| has row)"):
        dumped(X, [1, 2])
    with pytest.raises(ValueError, match=r"y(\.indptr| has row)"):
        dumped(np.ones((2, 1)), X, multilabel=True)


def test_the_kernel_bounds_what_it_reads():
    """Its memory is sized by the rows that it is given, and it reads within the arrays."""
    from sparsemaps._loops import text as kernel

    values, indices = np.ones(3), np.arange(3)
    ends, none = np.arange(1, 3), np.empty(0, np.int64)
    assert kernel.format_rows(values, indices, np.array([0, 1, 3]), np.ones(2), ends, none, 1)
    for indptr in ([0, 20000, 3], [0, 2, 4], [-1, 2, 3], [2, 1, 3]):
        with pytest.raises(ValueError, match="indptr must not fall"):
            kernel.format_rows(values, indices, np.array(indptr), np.ones(2), ends, none, 1)
    indptr = np.array([0, 1, 3])
    for label_ends in ([1, 3], [2, 1], [-1, 2]):
        with pytest.raises(ValueError, match="label_ends must not fall"):
            kernel.format_rows(values, indices, indptr, np.ones(2), np.array(label_ends), none, 1)
    for label_ends, qids in ((np.array([1]), none), (ends, np.array([1]))):
        with pytest.raises(ValueError, match="expected labels and qids of 2 rows"):
            kernel.format_rows(values, indices, indptr, np.ones(2), label_ends, qids, 1)
    codes = np.zeros((2, 0), np.int32)
    assert kernel.format_codes(codes, 8, 1.0, np.ones(2), ends, none, 1) == b"1 \n1 \n"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_that_are_not_finite_are_written(dtype):
    """Labels that were read are written again, and another thread may change checked values."""
    from sparsemaps._loops import text as kernel

    values, indices = np.array([np.inf, -np.inf, np.nan, 1], dtype), np.arange(4)
    labels, none = np.array([-np.inf, np.nan]), np.empty(0, np.int64)
    text = kernel.format_rows(values, indices, np.array([0, 3, 4]), labels, indices[1:3], none, 1)
    assert text == b"-inf 1:inf 2:-inf 3:nan\nnan 4:1\n"
    X, y = load(text, dtype=dtype)
    np.testing.assert_array_equal(X.data, values, strict=True)
    np.testing.assert_array_equal(y, labels)


entries = st.dictionaries(st.integers(0, 2**62), finite, max_size=4)


@fuzz
@given(st.lists(st.tuples(finite, entries), min_size=1, max_size=5), st.booleans(), st.booleans())
def test_load_undoes_dump(rows, single, with_qid):
    dtype = np.float32 if single else np.float64
    indices = [sorted(row) for _, row in rows]
    with np.errstate(over="ignore"):
        values = [np.array([row[i] for i in sorted(row)], dtype) for _, row in rows]
    data = np.nan_to_num(np.concatenate(values))
    indptr = np.cumsum([0] + [len(i) for i in indices])
    flat = np.array([i for row in indices for i in row], np.int64)
    X = sp.csr_array((data, flat, indptr), shape=(len(rows), 2**62 + 1))
    y = np.array([label for label, _ in rows])
    options = {"query_id": np.arange(len(rows)) - 2**62} if with_qid else {}
    text = dumped(X, y, **options)
    again, labels, *qid = load(
        text, zero_based=True, dtype=dtype, n_features=2**62 + 1, query_id=with_qid
    )
    assert again.data.dtype == dtype
    assert again.data.tobytes() == data.tobytes()
    assert labels.tobytes() == y.tobytes()
    np.testing.assert_array_equal(again.indices, flat)
    np.testing.assert_array_equal(again.indptr, indptr)
    if with_qid:
        np.testing.assert_array_equal(qid[0], options["query_id"])


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.filterwarnings("ignore:underflow")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_shortest_digits(dtype):
    """As few digits as NumPy's repr, which is shortest too, for numbers of every size."""
    bits = np.uint32 if dtype == np.float32 else np.uint64
    rng = np.random.default_rng(SEED)
    random = rng.integers(0, np.iinfo(bits).max, 20_000, bits, endpoint=True).view(dtype)
    powers = np.ldexp(dtype(1), np.arange(-1074, 1024)).astype(dtype)
    tens = np.array([float(f"1e{e}") for e in range(-323, 309)]).astype(dtype)
    around = np.concatenate([np.nextafter(powers, dtype(0)), np.nextafter(powers, dtype(np.inf))])
    x = np.concatenate([random, powers, around, tens])
    x = x[np.isfinite(x) & (x != 0)]
    tokens = dumped(x[None], [1]).split()[1:]
    assert len(tokens) == len(x)
    for token, value in zip(tokens, x, strict=True):
        text = token.partition(b":")[2].decode()
        assert dtype(text) == value
        expected = np.format_float_scientific(value, unique=True, trim="-")
        assert significant(text) == significant(expected), (text, expected)


def significant(text):
    return text.lower().partition("e")[0].replace(".", "").lstrip("-0").rstrip("0")


@fuzz
@given(st.lists(st.sets(st.integers(0, 5)), min_size=1, max_size=6), st.booleans())
def test_multilabel_round_trip(labels, sparse):
    y = np.zeros((len(labels), 6))
    for row, columns in enumerate(labels):
        y[row, list(columns)] = 1
    X = np.arange(1.0, len(labels) + 1)[:, None]
    again, found = load(
        dumped(X, sp.csr_array(y) if sparse else y, multilabel=True), multilabel=True
    )
    assert found == [tuple(map(float, sorted(columns))) for columns in labels]
    np.testing.assert_array_equal(again.toarray(), X)
