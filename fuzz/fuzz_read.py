"""The LIBSVM parser: an error of one line, or the numbers that Python's float reads."""

import io

import numpy as np
from common import run, sparsemaps


def by_python(data):
    """Labels, columns and values of a file that was taken, read the slow way."""
    labels, columns, values = [], [], []
    for line in data.replace(b"\r\n", b"\n").split(b"\n"):
        label, *entries = line.partition(b"#")[0].split() or [None]
        if label is None:
            continue
        labels.append(float(label))
        for entry in entries:
            column, _, value = entry.partition(b":")
            if column != b"qid":
                columns.append(int(column))
                values.append(float(value))
    return labels, columns, values


def target(data):
    try:
        X, y = sparsemaps.libsvm.load_svmlight_file(io.BytesIO(data), zero_based=True)
    except ValueError as error:
        assert str(error)
        assert "\n" not in str(error)
        return
    X.check_format(full_check=True)
    labels, columns, values = by_python(data)
    np.testing.assert_array_equal(y, labels)
    np.testing.assert_array_equal(X.indices, columns)
    np.testing.assert_array_equal(X.data, values)


if __name__ == "__main__":
    run(target)
