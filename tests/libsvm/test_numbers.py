"""Numbers in files: the form in which they are written, and what is none when it is read."""

from io import BytesIO

import numpy as np
import pytest
from _data.chance import SEED

from sparsemaps.libsvm import dump_svmlight_file, load_svmlight_file

PADDING = b" # " + b"x" * 60
"""Behind it, numbers are read by the loops that look at 48 bytes."""


def test_numbers_are_written_as_python_writes_them():
    """But for the .0 of whole numbers."""
    rng = np.random.default_rng(SEED)
    tens = np.array([float(f"{digit}e{e}") for e in range(-30, 31) for digit in ("1", "9.5")])
    sizes = 10.0 ** rng.integers(-12, 22, 1000)
    values = np.concatenate([tens, rng.uniform(1, 10, 1000) * sizes, sizes * 3])
    file = BytesIO()
    dump_svmlight_file(np.concatenate([values, -values])[None], [1], file)
    tokens = [token.partition(b":")[2].decode() for token in file.getvalue().split()[1:]]
    expected = [repr(float(value)).removesuffix(".0") for value in values]
    assert tokens == [*expected, *(f"-{text}" for text in expected)]


@pytest.mark.parametrize("behind", [b":", b"/", b";", b"a", b"\xb5", b".3."])
@pytest.mark.parametrize("padding", [b"", PADDING])
def test_what_stands_in_a_number(behind, padding):
    """Every byte but a digit ends it, the one behind 9 too."""
    with pytest.raises(ValueError, match="number as value"):
        load_svmlight_file(BytesIO(b"1 1:2" + behind + b"3" + padding))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_many_plain_entries(dtype):
    """A line that is long enough for the loops that find the ends of numbers first."""
    numbers = ["-1.5", "2", "-3", "16777217.00000000001", "-16777217.00000000001", "0.1", "-0.7"]
    numbers *= 20
    entries = " ".join(f"{column}:{number}" for column, number in enumerate(numbers, 1))
    X, _ = load_svmlight_file(BytesIO(f"1 {entries}\n".encode()), dtype=dtype)
    nearest = {"16777217.00000000001": 16777218.0, "-16777217.00000000001": -16777218.0}
    expected = [
        nearest.get(number, float(number)) if dtype == np.float32 else float(number)
        for number in numbers
    ]
    np.testing.assert_array_equal(X.data, np.array(expected, dtype))
