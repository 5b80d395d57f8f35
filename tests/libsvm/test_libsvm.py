"""LIBSVM files: what is dumped loads bit for bit, what is not of the format is said to be so."""

import bz2
import gzip
import lzma
import os
import struct
import sys
import time
from io import BytesIO, StringIO
from itertools import pairwise
from pathlib import Path

import numpy as np
import programs
import pytest
import scipy.sparse as sp
import sklearn
from conftest import random_csr
from hypothesis import given, settings
from hypothesis import strategies as st

from sparsemaps._tools import _blocks, _text_input
from sparsemaps.files import _summary
from sparsemaps.libsvm import (
    _pipeline,
    _write,
    dump_svmlight_file,
    iter_svmlight_file,
    load_svmlight_file,
    load_svmlight_files,
)

fuzz = settings(max_examples=100, deadline=None)

# The last bytes of a text are read with more care: with these behind it they are not the last.
PADDING = b"\n#" + b"-" * 64


def load(text, **options):
    return load_svmlight_file(BytesIO(text), **options)


def dumped(X, y, **options):
    file = BytesIO()
    dump_svmlight_file(X, y, file, **options)
    return file.getvalue()


# ---- reading -------------------------------------------------------------------------------------


def test_a_file():
    text = b"""# header
1 1:0.5 3:-2e3 # of row 0

-1\t2:+7\r
2.5
# the end"""
    X, y = load(text)
    assert isinstance(X, sp.csr_matrix)
    np.testing.assert_array_equal(X.toarray(), [[0.5, 0, -2000], [0, 7, 0], [0, 0, 0]])
    np.testing.assert_array_equal(y, [1, -1, 2.5], strict=True)
    assert X.indices.dtype == np.int32


def test_columns():
    assert load(b"1 0:1 2:1")[0].shape == (1, 3)
    assert load(b"1 1:1 3:1")[0].shape == (1, 3)
    assert load(b"1 1:1 3:1", zero_based=True)[0].shape == (1, 4)
    assert load(b"1 1:1", n_features=9)[0].shape == (1, 9)
    with pytest.raises(ValueError, match="n_features was set to 2, but input file contains 3"):
        load(b"1 3:1", n_features=2)
    wide = f"1 1:1 {2**62}:2".encode()
    X, _ = load(wide)
    assert X.shape == (1, 2**62)
    assert X.indices.dtype == np.int64
    assert X.indices.tolist() == [0, 2**62 - 1]


def test_several_files_share_their_width():
    one, two = b"1 1:1", b"0 5:1"
    X, _, X2, _ = load_svmlight_files([BytesIO(one), BytesIO(two)])
    assert X.shape == X2.shape == (1, 5)
    X, _, X2, _ = load_svmlight_files([BytesIO(b"1 0:1"), BytesIO(two)])
    assert X.shape == X2.shape == (1, 6)  # one index 0 says that all count from 0


def test_qid_and_multilabel():
    X, y, qid = load(b"1 qid:7 1:2\n0 qid:-3\n", query_id=True)
    assert qid.tolist() == [7, -3]
    assert X.toarray().tolist() == [[2], [0]]
    X, y = load(b"3,1 1:2\n 1:4\n2\n", multilabel=True)
    assert y == [(1.0, 3.0), (), (2.0,)]
    assert X.toarray().tolist() == [[2], [4], [0]]


def test_sparse_arrays_where_asked():
    if "sparse_interface" not in sklearn.get_config():
        pytest.skip("scikit-learn has no such setting yet")
    with sklearn.config_context(sparse_interface="sparray"):
        assert isinstance(load(b"1 1:1")[0], sp.csr_array)


@pytest.mark.parametrize("text", [b"", b"\n\n", b"# nothing\n"])
def test_nothing(text):
    X, y = load(text)
    assert X.shape[0] == len(y) == 0
    assert list(iter_svmlight_file(BytesIO(text))) == []


NUMBERS = [
    "0", "-0", "1", "+1", "1.", ".5", "-.5", "1e5", "1E-5", "1e+5", "nan", "-inf", "Infinity",
    "1e400", "-1e-400", "1e-340", "4.9e-324", "2.4703282292062327e-324", "2.4703282292062328e-324",
    "2.2250738585072011e-308", "2.2250738585072014e-308", "1.7976931348623157e308",
    "1.7976931348623159e308", "9007199254740993", "9007199254740992.999999999999999999",
    "0.1000000000000000055511151231257827", "123456789012345678901234567890", "1e22", "1e23",
    "3.518437208883201171875e13", "8.5e-23", "00000000000000000000000000001.5", "0e999999999999",
    "1" + "0" * 400, "0." + "0" * 400 + "1", "6929495644600919.5", "3.4028235677973366e38",
    "7.006492321624085e-46", "7.0064923216240853e-46", "16777217", "16777217.0000000000000001",
    "1.00000005960464477539", "1.000000059604644775390625", "1.0000000596046447753906251",
    "-0.000000000000000000",
]  # fmt: skip


@pytest.mark.parametrize("padding", [b"", PADDING])
@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_are_rounded_as_python_does(number, padding):
    text = f"{number} 1:{number}".encode() + padding
    X, y = load(text)
    for value in (X.data[0], y[0]):
        assert struct.pack("d", value) == struct.pack("d", float(number))


def nearest_float32(number):
    from fractions import Fraction

    value = float(number)
    if not 1e-60 < abs(value) < 1e60:  # NaN too; Fraction would take its time for the exponent
        with np.errstate(over="ignore"):
            return np.float32(value)
    with np.errstate(over="ignore"):
        near = np.float32(value)
    up, down = (np.nextafter(near, np.float32(s), dtype=np.float32) for s in ("inf", "-inf"))

    def distance(x):
        x = float(x) if np.isfinite(x) else float(np.sign(x)) * 2.0**128
        return abs(Fraction(x) - Fraction(number)), int(np.float32(x).view(np.uint32)) & 1

    with np.errstate(over="ignore"):
        return min((near, up, down), key=distance)


@pytest.mark.parametrize("padding", [b"", PADDING])
@pytest.mark.parametrize("number", NUMBERS)
def test_float32_is_rounded_once(number, padding):
    X, _ = load(f"1 1:{number}".encode() + padding, dtype=np.float32)
    assert X.dtype == np.float32
    np.testing.assert_array_equal(X.data[0], nearest_float32(number))


BAD_LINES = {
    b"1 1:1\nabc 1:1\n": "line 2, column 1: expected a number as label; found 'abc'",
    b"1,2 1:1\n": "line 1, column 1: expected a number as label; found '1,2'",
    b"# c\n\n1  2\n": "line 3, column 4: expected index:value .*; found '2'",
    b"1 a:1\n": "line 1, column 3: expected index:value .*; found 'a:1'",
    b"1 1.5:1\n": "line 1, column 3: expected index:value .*; found '1.5:1'",
    b"1 -1:1\n": "line 1, column 3: expected index:value with an index of at least 0",
    b"1 :1\n": "line 1, column 3: expected index:value .*; found ':1'",
    b"1 1:\n": "line 1, column 3: expected index:value with a number as value; found '1:'",
    b"1 1: 2\n": "line 1, column 3: .* number as value; found '1:'",
    b"1 1:x\n": "line 1, column 3: .* number as value; found '1:x'",
    b"1 1:1_0\n": "line 1, column 3: .* number as value; found '1:1_0'",
    b"1 1:2 1:3\n": "line 1, column 7: indices must be sorted and unique.*; found '1:3'",
    b"1 4:2 3:3\n": "line 1, column 7: indices must be sorted and unique.*; found '3:3'",
    b"1 99999999999999999999:1\n": r"line 1, column 3: indices must be below 2\*\*63",
    b"1 qid:x 1:1\n": "line 1, column 3: expected qid: and an integer; found 'qid:x'",
    b"1 qid 1:1\n": "line 1, column 3: expected qid: and an integer; found 'qid'",
    b"1 1:1 qid:1\n": "line 1, column 7: expected index:value .*; found 'qid:1'",
    b"1 1:1\x002\n": r"line 1, column 3: .* number as value; found '1:1.x002'",
    b"1 1:1 \xff\n": r"line 1, column 7: .*; found '.xff'",
}


@pytest.mark.parametrize("text", BAD_LINES)
def test_bad_lines(text, tmp_path):
    with pytest.raises(ValueError, match=BAD_LINES[text]):
        load(text)
    with pytest.raises(ValueError, match=BAD_LINES[text]):
        list(iter_svmlight_file(BytesIO(text), block_bytes=1))
    path = tmp_path / "bad.svm"
    path.write_bytes(text)
    with pytest.raises(ValueError, match=r"bad\.svm: line"):
        load_svmlight_file(path)


def test_index_zero_where_they_count_from_one():
    message = "line 2, column 3: indices count from 1 unless zero_based=True; found '0:1'"
    with pytest.raises(ValueError, match=message):
        load(b"1 1:1\n1 0:1", zero_based=False)
    with pytest.raises(ValueError, match=message):
        list(iter_svmlight_file(BytesIO(b"1 1:1\n1 0:1")))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_features": 0}, "n_features must be from 1 to .*, got 0"),
        ({"n_features": 1.5}, "n_features must be an integer"),
        ({"offset": -1}, "offset must be from 0 to"),
        ({"zero_based": "yes"}, "zero_based must be True, False or 'auto', got 'yes'"),
        ({"multilabel": 1}, "multilabel must be True or False"),
        ({"offset": 3}, "n_features is required when offset or length is specified"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        load(b"1 1:1", **options)


@pytest.mark.parametrize("zero_first", [b"1 +0:1", b"1 -0:1", b"2 00:3 4:1", b"1 qid:0 0:1"])
def test_index_zero_however_it_is_written(zero_first):
    text = b"1 10:1 20:1 # 0:1\n" + zero_first + b"\n"
    with pytest.raises(ValueError, match=r"line 2, column .: indices count from 1"):
        load(text, zero_based=False)
    assert load(text, zero_based=True)[0].indices[2] == 0


def test_the_largest_index():
    """2**63 - 1 is a column where indices count from 1; from 0 no matrix is that wide."""
    text = b"1 1:1 9223372036854775807:2"
    X, _ = load(text, zero_based=False)
    assert X.shape == (1, 2**63 - 1)
    assert X.indices.tolist() == [0, 2**63 - 2]
    (block,) = iter_svmlight_file(BytesIO(text))
    assert block[0].shape == (1, 2**63 - 1)
    message = "index 9223372036854775807 counted from 0 needs 9223372036854775808 columns"
    with pytest.raises(ValueError, match=message):
        load(text, zero_based=True)
    with pytest.raises(ValueError, match=message):
        list(iter_svmlight_file(BytesIO(text), zero_based=True))


@pytest.mark.parametrize("number", [2**63 - 1, 2**63, 2**70])
def test_the_largest_parameters(number):
    text = b"1 1:1\n0 3:1\n"
    largest = number < 2**63

    def tried(**options):
        if largest:
            return load(text, zero_based=True, **options)
        with pytest.raises(ValueError, match=f"{next(iter(options))} must be from"):
            load(text, zero_based=True, **options)

    if largest:
        assert tried(n_features=number)[0].shape == (2, number)
        assert tried(offset=number, n_features=9)[0].shape[0] == 0
        assert tried(length=number, n_features=9)[0].shape[0] == 2
        (block,) = iter_svmlight_file(BytesIO(text), block_bytes=number)
        assert block[1].tolist() == [1, 0]
    else:
        for name in ("n_features", "offset", "length", "max_line_bytes"):
            tried(**{name: number})
        with pytest.raises(ValueError, match="block_bytes must be from"):
            iter_svmlight_file(BytesIO(text), block_bytes=number)


def test_numpy_integers():
    """Of any width, without overflow."""
    text = b"".join(b"%d 1:1\n" % i for i in range(10, 60))
    kind = np.int8
    X, y = load(text, offset=kind(100), length=kind(100), n_features=kind(3))
    assert y.tolist() == load(text, offset=100, length=100, n_features=3)[1].tolist()
    assert X.shape == (len(y), 3)
    blocks = list(iter_svmlight_file(BytesIO(text), block_bytes=kind(100), n_features=kind(3)))
    assert sum(len(y) for _, y in blocks) == 50
    assert load_svmlight_file(BytesIO(text), max_line_bytes=kind(100))[0].shape[0] == 50


def test_query_ids_of_every_size():
    text = b"1 qid:-9223372036854775808 1:1\n1 qid:9223372036854775807 1:1\n"
    _, _, qids = load(text, query_id=True)
    assert qids.tolist() == [-(2**63), 2**63 - 1]
    assert dumped([[1.0], [1.0]], [1, 1], query_id=qids, zero_based=False) == text
    for number in (b"-9223372036854775809", b"9223372036854775808"):
        with pytest.raises(ValueError, match="expected qid: and an integer"):
            load(b"1 qid:" + number)


@pytest.mark.parametrize("n_digits", [800, 5000, 100_000])
def test_long_decimals_halfway_between_floats(n_digits):
    """However many digits decide, and beyond the limit that Python has for integers."""
    half = "1.000000059604644775390625"
    tail = "0" * (n_digits - 30)
    for digits, expected in (
        (half + tail, 1.0),
        (half + tail + "1", 1.00000011920928955078125),
        (half[:-1] + "4" + "9" * len(tail), 1.0),
    ):
        for sign in ("", "-"):
            X, _ = load(f"1 1:{sign}{digits}".encode(), dtype=np.float32)
            assert X.data[0] == float(sign + "1") * expected
            X, _ = load(f"1 1:{sign}{digits}".encode())
            assert X.data[0] == float(sign + digits)


def read_for_30_seconds(text, dtype):
    end = time.monotonic() + 30
    while time.monotonic() < end:
        list(iter_svmlight_file(BytesIO(text), block_bytes=2**30, dtype=dtype))


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ctrl_c_while_decimals_are_slow(dtype):
    """It ends the reading of a block, wherever it comes."""
    import signal
    import threading

    number = b"1.000000059604644775390625" + b"0" * 3000
    text = b"1 " + b" ".join(b"%d:" % i + number for i in range(1, 20_000)) + b"\n"
    main = threading.main_thread().ident
    for delay in (0.02, 0.1):
        timer = threading.Timer(delay, lambda: signal.pthread_kill(main, signal.SIGINT))
        timer.start()
        try:
            with pytest.raises(KeyboardInterrupt):
                read_for_30_seconds(text, dtype)
        finally:
            timer.join()


def test_bad_files(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_svmlight_file(tmp_path / "none.svm")
    with pytest.raises(TypeError, match="expected a path, a file object or a file descriptor"):
        load_svmlight_file(1.5)
    with pytest.raises(TypeError, match="binary mode"):
        load_svmlight_file(StringIO("1 1:1"))


# ---- a strict parser, as the format reads --------------------------------------------------------


def strict(text, *, multilabel=False, to_value=float):
    """Rows of (labels, qid or None, [(index, value)]), or None if `text` is not of the format."""
    rows = []
    for line in text.split(b"\n"):
        tokens = line.split(b"#")[0].split()
        if not tokens:
            continue
        try:
            if multilabel and b":" in tokens[0]:
                labels, entries, qid = (), tokens, None
            else:
                parts = tokens[0].split(b",") if multilabel else [tokens[0]]
                labels, entries, qid = tuple(sorted(map(number, parts))), tokens[1:], None
            if entries and entries[0].startswith(b"qid"):
                prefix, value = entries[0].split(b":", 1)
                qid, entries = integer(value), entries[1:]
                if prefix != b"qid" or not -(2**63) <= qid < 2**63:
                    return None
            pairs = [entry.split(b":", 1) for entry in entries]
            row = [(integer(index), number(value, to_value)) for index, value in pairs]
        except ValueError:
            return None
        indices = [-1] + [index for index, _ in row]
        if any(b <= a for a, b in pairwise(indices)):
            return None
        if indices[-1] >= 2**63:
            return None
        rows.append((labels, qid, row))
    return rows


def number(token, to_value=float):
    if b"_" in token:
        raise ValueError
    float(token)
    return float(to_value(token.decode()))


def integer(token):
    if b"_" in token:
        raise ValueError
    return int(token)


ALPHABET = b"0123456789:::   \n\n.-+eE#,qidnaf\t\r\x00\xff_x"


@fuzz
@given(
    st.one_of(st.binary(max_size=60), st.lists(st.sampled_from(ALPHABET), max_size=60)),
    st.booleans(),
    st.booleans(),
    st.sampled_from([True, False, "auto"]),
    st.sampled_from([b"", PADDING]),
)
def test_arbitrary_bytes(text, multilabel, single, zero_based, padding):
    """A correct parse, or an error that says where."""
    text = bytes(text)
    dtype, to_value = (np.float32, nearest_float32) if single else (np.float64, float)
    options = {"multilabel": multilabel, "dtype": dtype, "zero_based": zero_based}
    expected = strict(text, multilabel=multilabel, to_value=to_value)
    smallest = min((row[0][0] for _, _, row in expected or [] if row), default=None)
    if expected is None or (zero_based is False and smallest == 0):
        with pytest.raises(ValueError, match=r"line \d+, column \d+"):
            load(text + padding, **options)
        return
    X, y, qids = load(text + padding, query_id=True, **options)
    one_based = zero_based is False or (zero_based == "auto" and bool(smallest))
    assert X.dtype == dtype
    assert len(y) == X.shape[0] == len(expected)
    assert X.indptr.tolist() == np.cumsum([0, *(len(row) for _, _, row in expected)]).tolist()
    assert X.indices.tolist() == [i - one_based for _, _, row in expected for i, _ in row]
    values = [value for _, _, row in expected for _, value in row]
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(bits_of(X.data), bits_of(np.array(values, dtype)))
    labels = y if multilabel else [(label,) for label in y]
    assert [list(map(repr, row)) for row in labels] == [
        list(map(repr, map(np.float64 if not multilabel else float, row))) for row, _, _ in expected
    ]
    assert qids.tolist() == [qid for _, qid, _ in expected if qid is not None]


def bits_of(array):
    """All NaN are one."""
    return np.where(np.isnan(array), np.nan, array).astype(array.dtype).view(f"u{array.itemsize}")


finite = st.floats(allow_nan=False, allow_infinity=False)
digits = st.text("0123456789", max_size=25)


@fuzz
@given(
    digits,
    digits,
    st.one_of(st.none(), st.integers(-400, 400)),
    st.sampled_from(["", "-"]),
    st.sampled_from([b"", PADDING]),
)
def test_arbitrary_decimals(whole, fraction, exponent, sign, padding):
    text = f"{sign}{whole}.{fraction}" + ("" if exponent is None else f"e{exponent}")
    if whole + fraction:
        line = f"1 1:{text}".encode() + padding
        X, _ = load(line)
        assert struct.pack("d", X.data[0]) == struct.pack("d", float(text))
        X, _ = load(line, dtype=np.float32)
        np.testing.assert_array_equal(X.data[0], nearest_float32(text))


@fuzz
@given(st.integers(0, 10**19), st.integers(0, 30), st.booleans())
def test_plain_decimals(digits, point, single):
    """What most values look like, of every length, within a file."""
    text = f"{digits:0{point + 1}d}"
    text = text[: len(text) - point] + ("." if point else "") + text[len(text) - point :]
    X, _ = load(f"1 1:{text} 2:1".encode() + PADDING, dtype=np.float32 if single else np.float64)
    assert X.data[0] == (nearest_float32(text) if single else float(text))


# ---- writing -------------------------------------------------------------------------------------


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
        (np.ones((2, 2)), ["a", "b"], {}, "could not convert string to float|dtype='numeric'"),
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
    from sparsemaps._loops import libsvm as kernel

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
    from sparsemaps._loops import libsvm as kernel

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
    rng = np.random.default_rng(0)
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


# ---- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [str, Path])
@pytest.mark.parametrize(
    ("ending", "unpack"),
    [("", bytes), (".gz", gzip.decompress), (".bz2", bz2.decompress), (".xz", lzma.decompress)],
)
def test_paths(tmp_path, kind, ending, unpack):
    X, y = random_csr(), np.arange(40.0)
    path = kind(tmp_path / ("file.svm" + ending))
    dump_svmlight_file(X, y, path)
    assert unpack(Path(path).read_bytes()) == dumped(X, y)
    again, labels = load_svmlight_file(path, n_features=300)
    assert (again != X).nnz == 0
    np.testing.assert_array_equal(labels, y)
    assert os.listdir(tmp_path) == [Path(path).name]


def test_file_descriptor(tmp_path):
    path = tmp_path / "file.svm"
    path.write_bytes(b"1 1:1\n")
    descriptor = os.open(path, os.O_RDONLY)
    assert load_svmlight_file(descriptor)[0].shape == (1, 1)
    os.close(descriptor)  # still open


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz"])
def test_damaged_files(tmp_path, ending):
    path = tmp_path / f"file.svm.{ending}"
    dump_svmlight_file(random_csr(), np.arange(40.0), path)
    whole = path.read_bytes()
    middle = len(whole) // 2
    for damaged in (whole[:middle], b"1 1:1\n"):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"file\.svm\.\w+: cannot be decompressed: \w"):
            load_svmlight_file(path)
    path.write_bytes(whole[:middle] + b"x" * 99 + whole[middle + 99 :])
    with pytest.raises(ValueError, match=r"file\.svm\.\w+: "):  # or what it says is no such line
        load_svmlight_file(path)


def test_a_failed_dump_leaves_nothing(tmp_path):
    path = tmp_path / "file.svm"
    path.write_bytes(b"before")
    with pytest.raises(ValueError, match="neither labels nor entries"):
        dump_svmlight_file(np.eye(3)[:, :2], np.eye(3)[:, :2], path, multilabel=True)
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["file.svm"]
    with pytest.raises(FileNotFoundError):
        dump_svmlight_file(np.eye(2), [1, 2], tmp_path / "none" / "file.svm")


@pytest.mark.skipif(sys.platform == "win32", reason="no such permissions")
def test_permissions(tmp_path):
    plain, kept = tmp_path / "plain", tmp_path / "kept"
    plain.write_bytes(b"")
    expected = plain.stat().st_mode
    dump_svmlight_file(np.eye(2), [1, 2], tmp_path / "new")
    assert (tmp_path / "new").stat().st_mode == expected
    kept.write_bytes(b"")
    kept.chmod(0o640)
    dump_svmlight_file(np.eye(2), [1, 2], kept)
    assert kept.stat().st_mode & 0o777 == 0o640


# ---- blocks --------------------------------------------------------------------------------------


@pytest.mark.parametrize("block_bytes", [1, 7, 100, 10**6])
def test_blocks_are_the_file(block_bytes):
    X, y = random_csr(), np.arange(40.0)
    text = b"# comment\n\n" + dumped(X, y, query_id=np.arange(40))
    for source in (text, text[:-1]):
        blocks = list(
            iter_svmlight_file(
                BytesIO(source),
                block_bytes=block_bytes,
                zero_based=True,
                n_features=300,
                query_id=True,
            )
        )
        assert (sp.vstack([b[0] for b in blocks]) != X).nnz == 0
        np.testing.assert_array_equal(np.concatenate([b[1] for b in blocks]), y)
        np.testing.assert_array_equal(np.concatenate([b[2] for b in blocks]), np.arange(40))


def test_loading_in_pieces(monkeypatch):
    """The file is read by pieces, of which the numbers of lines and the result know nothing."""
    X, y = random_csr(), np.arange(40.0)
    text = dumped(X, y)
    Y = sp.csr_array(np.tile([[1], [0]], (20, 1)))
    multilabel = dumped(X, sp.hstack([Y, Y], format="csr") + sp.csr_array(np.ones((40, 2))),
                        multilabel=True)  # fmt: skip
    expected, expected_labels = load(text), load(multilabel, multilabel=True)
    monkeypatch.setattr(_pipeline, "BLOCK_BYTES", 50)
    found = load(text)
    assert (found[0] != expected[0]).nnz == 0
    np.testing.assert_array_equal(found[1], expected[1])
    assert load(multilabel, multilabel=True)[1] == expected_labels[1]
    with pytest.raises(ValueError, match="line 41, column 3"):
        load(text + b"1 x:1\n")


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_threads_do_not_show(tmp_path, monkeypatch, n_jobs):
    X, y = random_csr(), np.arange(40.0)
    text = dumped(X, y)
    path = tmp_path / "file.svm"
    path.write_bytes(text)
    monkeypatch.setattr(_pipeline, "BLOCK_BYTES", 300)
    found, labels = load_svmlight_file(path, n_features=300, n_jobs=n_jobs)
    np.testing.assert_array_equal(found.toarray(), X.toarray())
    np.testing.assert_array_equal(labels, y)
    blocks = list(iter_svmlight_file(path, zero_based=True, block_bytes=99, n_jobs=n_jobs))
    assert len(blocks) > 9
    np.testing.assert_array_equal(np.concatenate([y for _, y in blocks]), y)
    monkeypatch.setattr(_blocks, "_SMALLEST_BLOCK", 1)
    monkeypatch.setattr(_write, "_BLOCK_ENTRIES", 50)
    for rows in (X, X.toarray()):
        assert dumped(rows, y, n_jobs=n_jobs) == text
    # Of two errors the first one, with its line, whatever thread meets it.
    broken = text + b"1 x:1\n" + 40 * b"1 1:1\n" + b"y\n"
    for load_it in (load, lambda t, **o: list(iter_svmlight_file(BytesIO(t), block_bytes=50, **o))):
        with pytest.raises(ValueError, match="line 41, column 3"):
            load_it(broken, n_jobs=n_jobs, zero_based=True)
    with pytest.raises(ValueError, match="n_jobs must be"):
        load(text, n_jobs=0)


def test_lines_longer_than_blocks():
    line = b"1 " + b" ".join(b"%d:1" % i for i in range(1, 5000)) + b"\n"
    blocks = list(iter_svmlight_file(BytesIO(line + b"2 3:1\n" + line), block_bytes=10))
    assert [X.shape for X, _ in blocks] == [(1, 4999), (1, 3), (1, 4999)]
    assert [y.tolist() for _, y in blocks] == [[1], [2], [1]]


def test_files_that_give_less_than_asked():
    """As pipes and sockets do, with and without ``read1``."""

    class Slow:
        def __init__(self, text):
            self.text = text

        def read(self, size):
            part, self.text = self.text[: min(size, 3)], self.text[min(size, 3) :]
            return part

    class Slower(Slow):
        def read1(self, size):
            return super().read(min(size, 1))

    X, y = random_csr(), np.arange(40.0)
    for kind in (Slow, Slower):
        for n_jobs in (1, 2):
            again, labels = load_svmlight_file(
                kind(dumped(X, y)), n_features=300, zero_based=True, n_jobs=n_jobs
            )
            np.testing.assert_array_equal(again.toarray(), X.toarray())
            np.testing.assert_array_equal(labels, y)


def test_short_files_are_work_for_all_threads(tmp_path, monkeypatch):
    """They are cut into several blocks a thread, and no smaller ones than are worth it."""
    path = tmp_path / "file.svm"
    path.write_bytes(b"1 1:1\n" * 100_000)  # 600 kB
    with _text_input.open_text(path) as text:
        assert len(list(_pipeline.blocks_of(text, 1))) in (4, 5)
    with _text_input.open_text(path) as text:
        assert len(list(_pipeline.blocks_of(text, 2))) in (8, 9)
    with _text_input.open_text(path) as text:
        assert len(list(_pipeline.blocks_of(text, 50))) == -(-600_000 // 2**16)


def test_wide_indices_in_a_later_block(monkeypatch):
    monkeypatch.setattr(_pipeline, "BLOCK_BYTES", 8)
    X, _ = load(b"1 1:1\n1 2:3\n1 4000000000:5\n1 7:1\n")
    assert X.indices.dtype == np.int64
    assert X.indices.tolist() == [0, 1, 3999999999, 6]


def test_offset_and_length_cover_the_file():
    X, y = random_csr(n_rows=6, n_columns=30, density=0.2), np.arange(6.0)
    text = dumped(X, y)
    options = {"n_features": 30}
    for mark in range(1, len(text)):
        X1, y1 = load(text, length=mark, **options)
        X2, y2 = load(text, offset=mark, **options)
        assert np.concatenate([y1, y2]).tolist() == y.tolist()
        assert (sp.vstack([X1, X2]) != X).nnz == 0


def test_a_pipe():
    reader, writer = os.pipe()
    os.write(writer, b"1 1:1\n2 2:1\n")
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        assert [y.tolist() for _, y in iter_svmlight_file(file)] == [[1.0, 2.0]]


# ---- what is in a file ---------------------------------------------------------------------------


def test_summary_of_many_labels(tmp_path):
    path = tmp_path / "many.svm"
    path.write_text("".join(f"{label} qid:1\n" for label in range(30)))
    assert _summary.summarize(str(path)) == [
        "rows     30",
        "columns  none",
        "entries  0 (0.0 a row)",
        "values   none",
        "labels   30 of 0 to 29",
        "qids     30",
    ]


def test_summary_of_another_npz(tmp_path):
    np.savez(tmp_path / "matrix.npz", a=np.zeros(3))
    with pytest.raises(ValueError, match=r"matrix.npz: expected a CSR matrix"):
        _summary.summarize(str(tmp_path / "matrix.npz"))


# ---- scikit-learn's own tests --------------------------------------------------------------------


class Substitute:
    """Puts our functions in the place of scikit-learn's in its tests, and counts what passes."""

    n_passed = 0

    def pytest_collection_modifyitems(self, items):
        import sklearn.datasets.tests.test_svmlight_format as theirs

        for function in (dump_svmlight_file, load_svmlight_file, load_svmlight_files):
            assert hasattr(theirs, function.__name__)
            setattr(theirs, function.__name__, function)

    def pytest_runtest_logreport(self, report):
        self.n_passed += report.when == "call" and report.passed


def run_theirs(configuration):
    arguments = ["-q", "-p", "no:cacheprovider", "-c", configuration, "--pyargs"]
    module = "sklearn.datasets.tests.test_svmlight_format"
    substitute = Substitute()
    status = pytest.main([*arguments, module], [substitute])
    sys.exit(status if substitute.n_passed else "none has passed")


def test_scikit_learns_own_tests_pass(tmp_path):
    pytest.importorskip("sklearn.datasets.tests.test_svmlight_format")
    configuration = tmp_path / "pytest.ini"
    configuration.write_text("[pytest]\n")
    process = programs.context().Process(target=run_theirs, args=(str(configuration),))
    process.start()
    process.join()
    assert process.exitcode == 0  # what it says is on the standard error of the tests
