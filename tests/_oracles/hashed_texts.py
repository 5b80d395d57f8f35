"""Comparison of hashed texts with scikit-learn's, bit for bit."""

import warnings

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer as Theirs

from sparsemaps.text import HashingVectorizer


def assert_equal(found, expected):
    assert type(found) is type(expected)
    assert found.shape == expected.shape
    for name in ("indptr", "indices", "data"):
        array, other = getattr(found, name), getattr(expected, name)
        assert array.dtype == other.dtype
        np.testing.assert_array_equal(array, other)
    assert found.has_canonical_format


def compare(texts, n_jobs=None, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about inconsistent stop words
        expected = Theirs(**parameters).transform(texts)
        found = HashingVectorizer(n_jobs=n_jobs, **parameters).transform(texts)
    assert_equal(found, expected)
