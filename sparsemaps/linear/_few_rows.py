"""Codes of a few rows or texts, without what would take longer than the row itself."""

import copy
from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsemaps._tools._typing import Array

MOST = 16
"""The largest number of rows that are few."""


class FewRows:
    """A function from a few rows, or texts, to packed codes.

    It is kept from one call to the next: the compiled vectorizer is made once.
    """

    def __init__(self, map: Any, vectorizer: Any) -> None:
        self._map, self._vectorizer = map, vectorizer
        self._compiled: Any = None
        if vectorizer is not None:
            from sparsemaps.text import HashingVectorizer

            if isinstance(vectorizer, HashingVectorizer) and vectorizer._is_compiled():
                self._compiled = vectorizer._vectorizer()
                self._like: Any = sp.csr_array((1, int(vectorizer.n_features)))

    def codes(self, X: Any) -> Array | None:
        """The packed codes; None for what must be encoded as many rows are.

        That is so where all bits of a row are 0, as such a row may have no samples.
        """
        if self._vectorizer is not None:
            if not (isinstance(X, list) and 0 < len(X) <= MOST):
                return None
            found = self._of_texts(X)
        elif isinstance(X, np.ndarray) or sp.issparse(X):
            if X.ndim != 2 or not 0 < X.shape[0] <= MOST:
                return None
            found = self._map.encode(X)
        else:
            return None
        return found if found.any(axis=1).all() else None

    def _of_texts(self, texts: list[Any]) -> Array:
        if self._compiled is None:
            found: Array = self._map.encode(self._vectorizer.transform(texts))
            return found
        columns, values, ends, _ = self._compiled.rows(0, texts)
        indptr = np.zeros(len(ends) + 1, np.int64)
        indptr[1:] = ends
        rows = copy.copy(self._like)  # SciPy's constructor takes longer than the hashing
        rows.data, rows.indices, rows.indptr = values, columns, indptr
        rows._shape = len(ends), rows.shape[1]
        found = self._map.encode(rows)
        self._compiled.give_back(columns, values)
        return found
