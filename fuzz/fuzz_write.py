"""The LIBSVM writer: what it writes is the shortest text, and reads back bit for bit."""

import io

import numpy as np
import scipy.sparse as sp
from common import run, sparsemaps


def target(data):
    single = len(data) % 2 == 1
    dtype = np.float32 if single else np.float64
    size = np.dtype(dtype).itemsize
    values = np.frombuffer(data[: len(data) // size * size], dtype).copy()
    values = values[np.isfinite(values) & (values != 0)]
    if not len(values):
        return
    X = sp.csr_array((values, np.arange(len(values)), [0, len(values)]), (1, len(values)))
    file = io.BytesIO()
    sparsemaps.libsvm.dump_svmlight_file(X, np.ones(1), file)
    text = file.getvalue()
    for entry, value in zip(text.split()[1:], values, strict=True):
        written = entry.partition(b":")[2]
        assert dtype(written) == value, (written, value)
        digits = written.lower().partition(b"e")[0].strip(b"-0.").replace(b".", b"").rstrip(b"0")
        shortest = np.format_float_scientific(value, trim="-").partition("e")[0]
        assert len(digits.lstrip(b"0")) <= len(shortest.strip("-").replace(".", "")), written
    file.seek(0)
    again, _ = sparsemaps.libsvm.load_svmlight_file(file, dtype=dtype, n_features=len(values))
    np.testing.assert_array_equal(again.data.view(np.uint8), values.view(np.uint8))


if __name__ == "__main__":
    run(target)
