"""LIBSVM text to and from memory."""

from io import BytesIO

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from _data.rows import random_csr
from sparsemaps.libsvm import dump_svmlight_file, load_svmlight_file

fuzz = settings(max_examples=100, deadline=None)


def load(text, **options):
    return load_svmlight_file(BytesIO(text), **options)


def dumped(X, y, **options):
    file = BytesIO()
    dump_svmlight_file(X, y, file, **options)
    return file.getvalue()


finite = st.floats(allow_nan=False, allow_infinity=False)


def write(path, n_rows=60, seed=0):
    """A LIBSVM file of random rows."""
    X = random_csr(n_rows, seed=seed)
    dump_svmlight_file(X, np.arange(n_rows) % 3, str(path), zero_based=False)
    return path
