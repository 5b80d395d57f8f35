"""Codes of a few rows or texts, without steps that would take longer than the row itself."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsemaps._tools._typing import Array
from sparsemaps.maps._texts import TextEncoder

MOST = 16
"""The largest number of rows that are few."""


class FewRows:
    """A function from a few rows, or texts, to packed codes.

    It is kept from one call to the next: the compiled vectorizer is made once.
    """

    def __init__(self, map: Any, vectorizer: Any) -> None:
        self._map, self._vectorizer = map, vectorizer
        self._encoder = TextEncoder(map, vectorizer)
        if vectorizer is not None:
            _ = self._encoder.compiled  # which raises here if a parameter is wrong

    def codes(self, X: Any) -> Array | None:
        """The packed codes; None where `X` must be encoded as many rows are.

        That is so for many rows, and where all bits of a row are 0, as it may have no samples.
        """
        if self._vectorizer is not None:
            if not (isinstance(X, list) and 0 < len(X) <= MOST):
                return None
            found, _, _ = self._encoder.encode_block(0, X, packed=False)
        elif isinstance(X, np.ndarray) or sp.issparse(X):
            if X.ndim != 2 or not 0 < X.shape[0] <= MOST:
                return None
            found = self._map.encode(X)
        else:
            return None
        return found if found.any(axis=1).all() else None
