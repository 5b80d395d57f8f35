"""LIBSVM files that are read: what is not of the format is said to be so."""

import re
import struct
import sys
import time
from io import BytesIO, StringIO
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from _data.svmlight import dumped, fuzz, load
from hypothesis import given
from hypothesis import strategies as st

from sparsemaps.libsvm import iter_svmlight_file, load_svmlight_file, load_svmlight_files

# The last bytes of a text are read with more care: with these behind it they are not the last.
PADDING = b" #" + b"-" * 64  # in the line, as lines are read up to the last line end


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
    "1.00000005960464478", "-1.00000017881393432", "-0.000000000000000000",
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
    with pytest.raises(ValueError, match="indices count from 1"):
        load(b"1 0:1", zero_based=np.False_)
    assert load(b"1 1:1 3:1", zero_based=np.False_)[0].shape == (1, 3)
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
        # Blanks behind the colon of an entry are part of it.
        tokens = re.sub(rb"(?<=\d):[ \t\r\v\f]+", b":", line.split(b"#")[0]).split()
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
    if re.match(rb"[+-]?0[xX]", token):
        return float.fromhex(token.decode())
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
    if any(qid is None for _, qid, _ in expected):
        with pytest.raises(ValueError, match=r"line \d+: expected qid:number in each row"):
            load(text + padding, query_id=True, **options)
        X, y = load(text + padding, **options)
        qids = None
    else:
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
    assert qids is None or qids.tolist() == [qid for _, qid, _ in expected]


def bits_of(array):
    """All NaN are one."""
    return np.where(np.isnan(array), np.nan, array).astype(array.dtype).view(f"u{array.itemsize}")


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


READERS = {
    "load": lambda content, **options: load_svmlight_file(BytesIO(content), **options),
    "load several": lambda content, **options: load_svmlight_files([BytesIO(content)], **options),
    "iter": lambda content, **options: list(
        iter_svmlight_file(BytesIO(content), zero_based=False, **options)
    ),
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS.keys())
@pytest.mark.parametrize(
    ("line", "options"),
    [
        (b"1 2:a", {}), (b"1 2:1 1:1", {}), (b"x 1:1", {}), (b"1,2 1:1", {}), (b"1 2:1 2:1", {}),
        (b"1 1:1", {"query_id": True}), (b"1 0:1", {"zero_based": False}),
    ],
)  # fmt: skip
def test_errors_advise_no_option_that_readers_lack(reader, line, options):
    """A job sets bad lines aside; these functions do not."""
    if reader is READERS["iter"]:
        options = {name: value for name, value in options.items() if name != "zero_based"}
    with pytest.raises(ValueError, match="line 2") as error:
        reader(b"1 qid:1 1:1\n" + line + b"\n", **options)
    assert "aside" not in str(error.value)
