"""The LIBSVM writer: what it writes is the shortest text, and reads back bit for bit.

Most inputs go to the kernels alone, as the checks of the public functions take 20 times as long.
"""

import io

import numpy as np
import scipy.sparse as sp
from common import run, sparsemaps

from sparsemaps._loops import text as kernel

NO_QIDS = np.empty(0, np.int64)


def by_kernels(values):
    """The text of a row of `values`, and the values that are read from it."""
    columns = np.arange(len(values), dtype=np.int32)
    ends = np.array([0, len(values)])
    text = kernel.format_rows(values, columns, ends, np.ones(1), ends[:1] + 1, NO_QIDS, 1)
    arrays, lengths, _, _, error = kernel.parse(text, False, values.dtype == np.float32)
    assert error is None, error
    return text, arrays[2][: lengths[2]]


def by_files(values):
    """The same by the public functions."""
    X = sp.csr_array((values, np.arange(len(values)), [0, len(values)]), (1, len(values)))
    file = io.BytesIO()
    sparsemaps.libsvm.dump_svmlight_file(X, np.ones(1), file, zero_based=False)
    text = file.getvalue()
    file.seek(0)
    again, _ = sparsemaps.libsvm.load_svmlight_file(
        file, dtype=values.dtype, n_features=len(values), zero_based=False
    )
    return text, again.data


def digits_of(text):
    """How many digits a number's text has, without zeros at either end."""
    return len(text.lower().partition("e")[0].replace(".", "").strip("-0"))


def target(data):
    dtype = np.float32 if len(data) % 2 else np.float64
    size = np.dtype(dtype).itemsize
    values = np.frombuffer(data[: len(data) // size * size], dtype).copy()
    values = values[np.isfinite(values) & (values != 0)]
    if not len(values):
        return
    text, read = (by_files if len(data) % 16 == 15 else by_kernels)(values)
    written = [entry.partition(b":")[2].decode() for entry in text.split()[1:]]
    assert [dtype(number) for number in written] == values.tolist(), written
    np.testing.assert_array_equal(read.astype(dtype).view(np.uint8), values.view(np.uint8))
    for number, value in zip(written, values, strict=True):
        shortest = repr(value.item()) if dtype == np.float64 else str(value)
        assert digits_of(number) <= digits_of(shortest), (number, shortest)


if __name__ == "__main__":
    run(target)
