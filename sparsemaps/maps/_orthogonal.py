"""Blocks of mutually orthogonal random vectors, for dense rows."""

import numpy as np

from sparsemaps._input._row_reader import Block
from sparsemaps._loops import maps as _loops
from sparsemaps._tools._parameters import ParameterError
from sparsemaps._tools._plurals import counted
from sparsemaps._tools._typing import Array

LARGEST_WIDTH = 2**13
"""Largest width of rows. For wider rows, a block would have more vectors than most maps have
components, and orthogonal vectors would not reduce the variance."""

LEAST_WIDTH = 128
"""Least width of blocks. In smaller blocks, directions of vectors are too far from uniform."""

_N_SIGNS = 3
"""Number of sign matrices per block. With only two, estimates are biased, and their variance
doubles for rows that differ in two entries."""


def padded_width(name: str, value: str, n_columns: int | None) -> int:
    """Return the width of blocks for rows of `n_columns` columns. Errors name the parameter and its
    value."""
    if n_columns is None or n_columns > LARGEST_WIDTH:
        columns = "any number of columns" if n_columns is None else counted(n_columns, "columns")
        rule = f"another one if rows have more than {LARGEST_WIDTH} columns"
        raise ParameterError(name, f"{value!r} for rows of {columns}", rule)
    return 1 << max(int(n_columns - 1).bit_length(), LEAST_WIDTH.bit_length() - 1)


class OrthogonalBlocks:
    """Blocks of d vectors of d entries each: the rows of H D_3 H D_2 H D_1 / root(d).

    H is the Walsh-Hadamard matrix with entries 1 and -1, and D_k are diagonal matrices of random
    signs. Each vector has a nearly uniform direction, and the vectors of a block are orthogonal.
    """

    def __init__(self, key: int, n_vectors: int, width: int) -> None:
        n_blocks = -(-n_vectors // width)
        self.width = width
        self.signs = np.empty((n_blocks, _N_SIGNS, width), np.int8)
        draws = np.empty(width, np.float32)
        for number, signs in enumerate(self.signs.reshape(-1, width)):
            _loops.draw(key, _loops.RADEMACHER, number, draws)
            signs[:] = draws

    def multiply(self, dense: Array) -> Array:
        """Return each row's inner products with all vectors, times root(d)."""
        out = np.empty((len(dense), len(self.signs) * self.width), dense.dtype)
        _loops.multiply_orthogonal(dense, self.signs, out)
        return out


def make_dense(block: Block, width: int, dtype: np.dtype[np.floating]) -> Array:
    """Return the rows of a block as a dense array, padded with zeros."""
    dense = np.zeros((block.n_rows, width), dtype)
    _loops.spread(*block, dense)
    return dense
