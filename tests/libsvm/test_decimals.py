"""LIBSVM text at the edges of what is read or written in one way.

Each of these kills a change of the source that other tests let pass (tests/mutants).
"""

import struct
from fractions import Fraction
from io import BytesIO

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED

from sparsemaps.libsvm import dump_svmlight_file, load_svmlight_file

PADDING = b" " + b"# " + b"x" * 60
"""Behind it, numbers are read by the loops that look at 48 bytes."""


def read(numbers, dtype=np.float64):
    """Each number, read as the value and the label of a line of its own, in both ways."""
    found = []
    for padding in (b"", PADDING):
        text = b"\n".join(number + b" 1:" + number + padding for number in numbers)
        X, y = load_svmlight_file(BytesIO(text), n_features=2, zero_based=False, dtype=dtype)
        assert X.data.dtype == dtype
        np.testing.assert_array_equal(X.data, y.astype(dtype))
        found.append(X.data)
    np.testing.assert_array_equal(*found)
    return found[0]


def assert_read_as_python_does(numbers):
    for number, value in zip(numbers, read(numbers), strict=True):
        assert struct.pack("d", value) == struct.pack("d", float(number)), number


def written(values):
    file = BytesIO()
    dump_svmlight_file(np.atleast_2d(values), [1], file)
    return [token.partition(b":")[2] for token in file.getvalue().split()[1:]]


def test_products_that_need_all_128_bits():
    """Decimals near the middle of two doubles, of every size."""
    rng = np.random.default_rng(SEED)
    numbers = []
    for value in rng.integers(1, 2**63, 3000, np.uint64).view(np.float64):
        if not 1e-300 < value < 1e300:
            continue
        above = np.nextafter(value, np.inf)
        scale = int(np.floor(np.log10(value))) - 17
        middle = (Fraction(float(value)) + Fraction(float(above))) / 2
        digits = int(middle * Fraction(10) ** -scale)
        numbers += [f"{near}e{scale}".encode() for near in (digits, digits + 1)]
    assert len(numbers) > 3000
    assert_read_as_python_does(numbers)


def test_numbers_of_nineteen_to_twenty_four_digits():
    rng = np.random.default_rng(SEED)
    numbers = []
    for n_digits in range(17, 26):
        for whole in range(1, 8):
            digits = "".join(map(str, rng.integers(1, 10, n_digits)))
            numbers.append(f"{digits[:whole]}.{digits[whole:]}".encode())
    assert_read_as_python_does(numbers)


def test_signs_and_exponents_of_plain_numbers():
    assert_read_as_python_does(
        [sign + number for sign in (b"", b"-") for number in (b"1.5", b"7e3", b"0.25e-2", b"12E1")]
    )


def test_quotients_of_large_powers():
    """10^22 is exact as a double, 10^23 is not."""
    assert_read_as_python_does(
        [f"{w}e{q}".encode() for w in range(1, 400, 3) for q in (-24, -23, -22, -21, 21, 22, 23)]
    )


def test_whole_numbers_around_2_to_the_53():
    first = 2**53
    for power in (0, 1, 5, 22, -1, -5, -22):
        assert_read_as_python_does(
            [f"{first + i}e{power}".encode() for i in range(-40, 200)]
            + [f"{2 * first + i}e{power}".encode() for i in range(-40, 40)]
        )


def test_the_ends_of_the_range():
    exponents = [*range(-350, -300), *range(290, 312)]
    numbers = [f"{w}e{q}".encode() for w in ("1", "17", "9007199254740993") for q in exponents]
    assert_read_as_python_does(numbers)


def neighbours(exponents):
    """Doubles with small and odd mantissas of so many sizes."""
    mantissas = 2**52 + np.concatenate([np.arange(60), 2**52 - 1 - np.arange(60)])
    return np.ldexp(mantissas.astype(float), np.asarray(exponents)[:, None] - 52).ravel()


def digits_of(token):
    return token.partition("e")[0].replace(".", "").strip("0")


def assert_written_as_python_does(values):
    for token, value in zip(written(values), values.tolist(), strict=True):
        assert float(token) == value
        assert digits_of(token.decode()) == digits_of(repr(value))


def test_decimals_at_the_ends_of_intervals():
    """A decimal exactly half way to a neighbour belongs to the even one of both."""
    assert_written_as_python_does(neighbours(range(50, 62)))


def test_decimals_in_the_middle():
    """Of two shortest decimals the nearer one, as Python has it."""
    assert_written_as_python_does(neighbours(range(-30, 80, 3)))


def test_powers_of_ten():
    assert_written_as_python_does(
        np.array([float(f"{m}e{e}") for e in range(-300, 300) for m in (1, 7, 123)])
    )


def test_large_floats_have_few_digits():
    values = np.array([2**24 + 2, 2**25 + 12, 123456790, 2**29 + 64], np.float32)
    file = BytesIO()
    dump_svmlight_file(values[None], [1], file)
    tokens = [token.partition(b":")[2] for token in file.getvalue().split()[1:]]
    shortest = [np.format_float_positional(v, unique=True, trim="-") for v in values]
    assert [token.decode() for token in tokens] == shortest


def test_values_that_are_repeated():
    rng = np.random.default_rng(SEED)
    for n in (1, 2, 33, 200):
        values = rng.choice([0.1, 0.25, 3.0], n)
        values[1::2] = values[::2][: len(values[1::2])]
        indices = np.sort(rng.choice(10**6, n, replace=False))
        file = BytesIO()
        dump_svmlight_file(
            sp.csr_array((values, indices, [0, n]), shape=(1, 10**6)), [1], file, zero_based=True
        )
        expected = [f"{i}:{v:g}".encode() for i, v in zip(indices, values, strict=True)]
        assert file.getvalue().split()[1:] == expected


def test_lines_that_end_with_a_carriage_return():
    for text in (b"1 1:2\r\n2 1:3\r\n", b"1\r\n2\r\n", b"\r\n1 1:2 \r\n 2 1:3 # c\r\n"):
        X, y = load_svmlight_file(BytesIO(text), n_features=1)
        assert y.tolist() == [1, 2]
        assert X.shape == (2, 1)


@pytest.mark.parametrize("value", range(10))
def test_equal_indices_of_binary_data(value):
    line = b" ".join(b"%d:%d" % (i, value) for i in range(1, 40))
    X, _ = load_svmlight_file(BytesIO(b"1 " + line + b"\n1 " + line), zero_based=False)
    assert X.shape == (2, 39)
    assert (X.data == value).all()
    twice = line.replace(b" 20:", b" 19:")
    for text in (b"1 " + twice + b" " + line, b"1 " + twice):
        with pytest.raises(ValueError, match=r"sorted and unique.*'19:"):
            load_svmlight_file(BytesIO(text))


def test_many_line_ends():
    """Of a text in which every byte is one."""
    from sparsemaps._loops import text as kernel

    for n in (0, 1, 63, 64, 65, 127 * 64, 128 * 64, 129 * 64 + 5, 300 * 64, 100_000):
        assert kernel.count_line_ends(b"\n" * n) == n
        assert kernel.count_line_ends(b"a" * n) == 0


def test_ends_of_rows_that_fall():
    from sparsemaps._loops import text as kernel

    none = np.empty(0, np.int64)
    with pytest.raises(ValueError, match="indptr must not fall"):
        kernel.format_rows(
            np.ones(9), np.arange(9), np.array([0, 6, 2, 9]), np.ones(3), np.arange(1, 4), none, 1
        )
