"""Assembly of one CSR matrix from the rows of blocks of texts."""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sparsemaps._input import _sparse
from sparsemaps._tools import _sklearn, _threads
from sparsemaps._tools._growing_array import GrowingArray
from sparsemaps._tools._typing import Array, Matrix
from sparsemaps.text import _inputs

GROWTH = 2.0
"""Factor by which arrays are allocated larger than the first texts suggest. Memory that is never
written costs nothing, but moving an array takes long."""


class Loops(Protocol):
    """The compiled loops of a vectorizer, for blocks of texts. Threads may share them."""

    @property
    def has_sets(self) -> bool:
        """Whether `rows` can return sets."""

    def rows(self, first: int, block: object, sets: bool = False) -> tuple[Array, Any, Array, int]:
        """Return the columns and values of the rows of a block, the end of each row, and the number
        of n-grams. Sets have None instead of values. `first` is the number of the first text, for
        errors."""

    def give_back(self, columns: Array, values: object) -> None:
        """Take arrays that `rows` has returned, to reuse them in a later call."""


def make_rows(
    loops: Loops,
    blocks: Iterable[tuple[int, Any]],
    n_texts: int,
    width: int,
    dtype: npt.DTypeLike,
    n_jobs: int | None,
) -> Matrix:
    """Return the CSR matrix of `width` columns of the rows that `loops.rows` makes from blocks
    of texts. Without texts, it has no rows. `n_texts` is an estimate of their number; 0 is unknown.

    The values of `loops`, float32 or float64, are converted to `dtype`. Indices are int32 if
    there are fewer than 2^31 n-grams and columns.
    """
    index_type = _sparse.index_type(width)
    columns = GrowingArray(index_type)
    values = GrowingArray(np.float32 if dtype == np.float32 else np.float64)
    ends = GrowingArray(np.int64)
    ends.append(np.zeros(1, np.int64))
    n_ngrams = 0
    for part in _threads.stream(loops.rows, blocks, n_jobs):
        part_columns, part_values, part_ends, n_more = part
        ends.append(part_ends, added=columns.n)
        growth = GROWTH * n_texts / (ends.n - 1) if n_texts else 2.0
        columns.append(part_columns, growth)
        values.append(part_values, growth)
        loops.give_back(part_columns, part_values)
        n_ngrams += n_more
    n_rows = ends.n - 1
    index_type = _sparse.index_type(max(width, n_ngrams))
    container = sp.csr_array if _sklearn.sparse_arrays_asked() else sp.csr_matrix
    data = values.finish().astype(dtype, copy=False)
    indices = columns.finish().astype(index_type, copy=False)
    indptr = ends.finish().astype(index_type, copy=False)
    result = container((data, indices, indptr), (n_rows, width))
    result.indices, result.indptr = indices, indptr  # SciPy makes them int32 if possible
    result.has_canonical_format = True
    return result


def sets_of_texts(loops: Loops, texts: Iterable[Any]) -> Iterator[tuple[Array, Array]]:
    """Yield sets for blocks of texts: the columns, and the offsets (int64) that delimit the columns
    of each text. `loops` must support sets. The columns are valid only until the next iteration."""
    for first, block in _inputs.blocks(texts):
        columns, _, ends, _ = loops.rows(first, block, True)
        yield columns, np.concatenate([[0], ends])
        loops.give_back(columns, None)
